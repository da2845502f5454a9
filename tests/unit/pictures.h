/* SPDX-License-Identifier: MIT */
/*
 * pictures.h - for the tests of the views in XML and HTML: a view as text, given to a program that
 * checks it.
 */
#ifndef HI_TEST_PICTURES_H
#define HI_TEST_PICTURES_H

#include "render_formats.h"
#include "sample_profile.h"
#include "unit.h"

/* sample_stack() takes '<' for an inlined call: such a name is given to a frame afterwards. */
static inline void picture_rename(struct profile *profile, const char *name, const char *new_name)
{
	for (size_t i = 0; i < profile->frame_count; i++) {
		char **function = &profile->frame[i].line[0].function;
		if (strcmp(*function, name) == 0) {
			free(*function);
			*function = strdup(new_name);
			return;
		}
	}
	UNIT_FAIL("no function %s", name);
}

typedef int render_function(const struct profile *profile, const struct render_options *options,
			    FILE *out);

static inline char *picture_of(render_function *render, const struct profile *profile,
			       const struct render_options *options)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	CHECK_EQ(render(profile, options, out), 0);
	fclose(out);
	CHECK_EQ(strlen(text), size);
	return text;
}

static inline void picture_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		UNIT_FAIL("no \"%s\" in:\n%s", part, text);
}

static inline void picture_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		UNIT_FAIL("\"%s\" in:\n%s", part, text);
}

/* Gives the text to a Python program on its standard input, which says nothing if all is well. */
static inline void picture_check(const char *text, const char *program)
{
	char command[4096];
	FILE *python;

	if (system("python3 -c '' 2>/dev/null") != 0)
		SKIP("python3 is not installed");
	CHECK((size_t)snprintf(command, sizeof(command), "python3 -c '%s' >&2", program) <
	      sizeof(command));
	python = popen(command, "w");
	CHECK(python);
	fputs(text, python);
	CHECK_EQ(pclose(python), 0);
}

/*
 * The head of a check of an HTML page: its data, which are in the <script> element of this id, as
 * `data`, the file as `text`, the elements as `page.tags`. No page asks the network for anything,
 * or is too large to be sent.
 */
#define PICTURE_READ_PAGE(id_)                                                                     \
	"import sys, json, html.parser\n"                                                          \
	"class Page(html.parser.HTMLParser):\n"                                                    \
	"    tags, data, into = [], \"\", None\n"                                                  \
	"    def handle_starttag(self, tag, attributes):\n"                                        \
	"        self.tags.append((tag, dict(attributes)))\n"                                      \
	"        self.into = dict(attributes).get(\"id\") if tag == \"script\" else None\n"        \
	"    def handle_endtag(self, tag):\n"                                                      \
	"        self.into = None\n"                                                               \
	"    def handle_data(self, text):\n"                                                       \
	"        self.data += text if self.into == \"" id_ "\" else \"\"\n"                        \
	"page = Page()\n"                                                                          \
	"text = sys.stdin.buffer.read().decode()\n"                                                \
	"page.feed(text)\n"                                                                        \
	"data = json.loads(page.data)\n"                                                           \
	"assert chr(60) not in page.data\n"                                                        \
	"assert sum(tag == \"script\" for tag, _ in page.tags) == 2, page.tags\n"                  \
	"assert not any(\"src\" in a or (a.get(\"href\") or \"data:\")[:5] != \"data:\" for _, a " \
	"in page.tags), page.tags\n"                                                               \
	"assert any(\"default-src\" in (a.get(\"content\") or \"\") for _, a in page.tags)\n"      \
	"assert len(text) < 1000000, len(text)\n"

#endif
