/* SPDX-License-Identifier: MIT */
/*
 * render_list_test.c - figures by source line and by machine code, on small profiles without files.
 */
#include "unit.h"

#include <errno.h>

#include "render_formats.h"
#include "sample_profile.h"

typedef int render_view(const struct profile *profile, const struct render_options *options,
			FILE *out);

static char *view(render_view *render, const struct profile *profile,
		  const struct render_options *options, int err)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	CHECK_EQ(render(profile, options, out), err);
	fclose(out);
	return text;
}

static void check_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		UNIT_FAIL("no \"%s\" in:\n%s", part, text);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	while ((text = strstr(text, part))) {
		count++;
		text++;
	}
	return count;
}

static struct profile small_profile(void)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;serve;copy<store", 3, 1024);
	sample_stack(&profile, "main;serve", 1, 1024);
	sample_stack(&profile, "main;again;again;again", 2, 1024);
	return profile;
}

UNIT_TEST(lines_without_sources)
{
	struct profile profile = small_profile();
	char *text = view(
		render_list, &profile,
		&(struct render_options){.type = INUSE_SPACE, .argument = "^(serve|store|copy)$"},
		0);

	check_has(text,
		  "ROUTINE ======================== serve in src/file.c\n"
		  "       1kB        4kB (flat, cum) 66.67% of Total\n"
		  "no source: looked for src/file.c; --source-path names directories with sources\n"
		  "       1kB        4kB     10:\n"
		  "ROUTINE");
	check_has(text, "copy in src/file.c\n       3kB        3kB (flat, cum) 50.00% of Total\n");
	check_has(text, "store in src/file.c\n         .        3kB (flat, cum) 50.00% of Total\n");
	check_has(text, "         .        3kB     11:\n");
	CHECK_EQ(count_of(text, "ROUTINE"), 3);
	CHECK(strstr(text, " serve in") < strstr(text, " copy in"));
	free(text);
	profile_close(&profile);
}

UNIT_TEST(a_stack_counts_once)
{
	struct profile profile = small_profile();
	char *text = view(render_list, &profile,
			  &(struct render_options){.type = INUSE_OBJECTS, .argument = "again"}, 0);

	check_has(text, "         2          2 (flat, cum) 33.33% of Total\n");
	check_has(text, "         2          2     10:\n");
	free(text);
	text = view(render_disasm, &profile,
		    &(struct render_options){.type = INUSE_OBJECTS, .argument = "again"}, 0);
	check_has(text, "         2          2 (flat, cum) 33.33% of Total\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(intervals)
{
	struct profile profile = small_profile();
	char *text = view(render_list, &profile,
			  &(struct render_options){
				  .type = INUSE_SPACE, .argument = "serve", .intervals = true},
			  0);

	check_has(text, "      flat 1kB .. 1kB, 95%\n       cum 4kB .. 4kB, 95%\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(code_of_no_file)
{
	struct profile profile = small_profile();
	char *text = view(render_disasm, &profile,
			  &(struct render_options){.type = INUSE_SPACE, .argument = "^store$"}, 0);

	check_has(text, "ROUTINE ======================== store in no file\n"
			"       3kB        3kB (flat, cum) 50.00% of Total\n"
			"no code: it was generated at run time, or where it was is not known\n"
			"       3kB        3kB ");
	free(text);
	/* Inlined everywhere: the code that it is in. */
	text = view(render_disasm, &profile,
		    &(struct render_options){.type = INUSE_SPACE, .argument = "^copy$"}, 0);
	check_has(text, "ROUTINE ======================== store in no file\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(code_of_a_file_that_is_gone)
{
	struct profile profile = sample_open();
	char path[] = "/nowhere/program";
	const struct profile_module module = {.lo = 0x400000,
					      .hi = 0x500000,
					      .path = path,
					      .number = 1,
					      .build_id = {0xab, 0xcd},
					      .build_id_size = 2};
	uint32_t index, frame;

	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x400100, (int32_t)index, &frame), 0);
	sample_frames(&profile, &frame, 1, 1, 1024);
	char *text = view(render_disasm, &profile,
			  &(struct render_options){.type = INUSE_SPACE, .argument = "program"}, 0);
	check_has(text, "ROUTINE ======================== program+0x4000ff in /nowhere/program\n");
	check_has(text, "no code: no file with build-id abcd, neither /nowhere/program nor by that "
			"id; --binary names the program's\n");
	check_has(text, "       1kB        1kB     4000ff:\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(nothing_to_show)
{
	struct profile profile = small_profile();
	char *text =
		view(render_list, &profile,
		     &(struct render_options){.type = INUSE_SPACE, .argument = "nothing"}, -ESRCH);

	CHECK_STR(text, "");
	check_has(render_error(), "no function matches \"nothing\"");
	free(text);
	text = view(render_disasm, &profile,
		    &(struct render_options){.type = INUSE_SPACE, .argument = "*("}, -EINVAL);
	CHECK_STR(text, "");
	check_has(render_error(), "is no regular expression");
	free(text);
	for (size_t i = 0; i < profile.row_count; i++)
		profile.row[i].inuse_count = profile.row[i].inuse_bytes = 0;
	text = view(render_list, &profile,
		    &(struct render_options){.type = INUSE_SPACE, .argument = "main"}, 0);
	check_has(text, "Nothing to show: no sample of this type passes through a function that "
			"matches \"main\".\n");
	free(text);
	profile_close(&profile);
}

UNIT_MAIN()

/* Names are hostile: what they hold is text on the page, never markup. */
UNIT_TEST(weblist_escapes_what_it_shows)
{
	struct profile profile = sample_open();
	char *text;

	sample_stack(&profile, "main;serve;\"x\">'&y\x01", 3, 1024);
	free(profile.frame[0].line[0].file);
	profile.frame[0].line[0].file = strdup("</p><script>alert(1)</script>");
	text = view(render_weblist, &profile,
		    &(struct render_options){.type = INUSE_SPACE, .argument = "."}, 0);
	check_has(text, "<h2>&#34;x&#34;&#62;&#39;&#38;y?</h2>");
	check_has(text, "&#60;/p&#62;&#60;script&#62;alert(1)");
	check_has(text, "<p>         .        3kB (flat, cum) 100% of Total</p>");
	CHECK_EQ(count_of(text, "<script>"), 1);
	CHECK_EQ(count_of(text, "<h2>"), 3);
	check_has(text, "</html>");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(weblist_says_what_it_has_not)
{
	struct profile profile = small_profile();
	char *text = view(
		render_weblist, &profile,
		&(struct render_options){.type = INUSE_SPACE, .argument = "^(serve|store)$"}, 0);

	check_has(text, "<li>no code: it was generated at run time");
	CHECK_EQ(count_of(text, "<li>"), 1);
	check_has(text, "<p>no source: looked for src/file.c");
	check_has(text, "<div class=\"has\">         .        3kB     11:</div>");
	CHECK_EQ(count_of(text, "<details>"), 0);
	free(text);
	free(view(render_weblist, &profile,
		  &(struct render_options){.type = INUSE_SPACE, .argument = "none_such"}, -ESRCH));
	free(view(render_weblist, &profile,
		  &(struct render_options){.type = INUSE_SPACE, .argument = "["}, -EINVAL));
	profile_close(&profile);
}
