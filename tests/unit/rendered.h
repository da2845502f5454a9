/* SPDX-License-Identifier: MIT */
/* rendered.h - a view as text, for the tests of the views. */
#ifndef HI_TEST_RENDERED_H
#define HI_TEST_RENDERED_H

#include "render.h"
#include "sample_profile.h"
#include "unit.h"

/* What most cases ask for. */
static const struct render_options in_use = {.type = INUSE_SPACE};

static inline const struct renderer *renderer_named(const char *name)
{
	const struct renderer *renderer = renderers;

	while (renderer->name && strcmp(renderer->name, name))
		renderer++;
	CHECK(renderer->name);
	return renderer;
}

/*
 * To be freed; error: what render() must return. Not inlined, for then gcc 12 warns of a pointer to
 * a variable that is no more, where there is none.
 */
__attribute__((noinline, unused)) static char *rendered(const char *format,
							const struct profile *profile,
							const struct render_options *options,
							int err)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	CHECK_EQ(renderer_named(format)->render(profile, options, out), err);
	fclose(out);
	return text;
}

static inline void check_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		UNIT_FAIL("no \"%s\" in:\n%s", part, text);
}

static inline void check_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		UNIT_FAIL("\"%s\" in:\n%s", part, text);
}

#endif
