/* SPDX-License-Identifier: MIT */
/*
 * render_flame_test.c - the flame graph as an SVG file: figures, names that would break it, and
 * both sides of a comparison.
 */
#include "unit.h"

#include "pictures.h"

static const struct render_options in_use = {.type = INUSE_SPACE};

/* A parser takes it, and there is one box for each title. */
static const char well_formed[] =
	"import sys, xml.etree.ElementTree as tree\n"
	"root = tree.fromstring(sys.stdin.buffer.read())\n"
	"name = \"{http://www.w3.org/2000/svg}\"\n"
	"boxes = [g for g in root.iter(name + \"g\")]\n"
	"assert boxes or \"Nothing to show\" in \"\".join(root.itertext()), \"no boxes\"\n"
	"assert all(len(g.findall(name + \"rect\")) == 1 and g.find(name + \"title\").text for g "
	"in boxes)\n"
	"x = lambda g: float(g.find(name + \"rect\").get(\"x\"))\n"
	"width = lambda g: float(g.find(name + \"rect\").get(\"width\"))\n"
	"assert all(11.9 <= x(g) and x(g) + width(g) <= 1188.1 for g in boxes), \"outside\"\n";

UNIT_TEST(boxes_and_titles)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;serve;copy<store", 3, 1024);
	sample_stack(&profile, "main;serve", 1, 1024);
	char *text = picture_of(render_flame, &profile, &in_use);
	picture_check(text, well_formed);
	picture_has(text, "<title>serve\n4kB, 100%; itself 1kB</title>");
	picture_has(text, "<title>store\n3kB, 75.00%</title>");
	/* copy, three quarters of the width, in the topmost row */
	picture_has(text, "x=\"12.00\" y=\"78\" width=\"881.40\"");
	picture_has(text, "heapinject: server (pid 1234) on host");
	picture_has(text, "Total: 4kB in use");
	picture_has_not(text, "(other)");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(intervals_in_titles)
{
	struct profile profile = sample_open();

	profile.meta.interval = 512 * 1024;
	sample_stack(&profile, "main;serve", 10, 1024);
	char *text = picture_of(render_flame, &profile, &in_use);
	picture_check(text, well_formed);
	picture_has(text, "; 95% interval 2.");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(names_that_would_break_it)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;evil", 1, 10);
	picture_rename(&profile, "evil", "</title><script>alert(1)</script>");
	sample_stack(&profile, "main;a&b\"c'd\x01\xff]]>-->", 1, 10);
	sample_stack(
		&profile,
		"main;\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac",
		100, 10);
	for (unsigned i = 0; i < 30; i++) {
		char names[32];
		snprintf(names, sizeof(names),
			 "main;"
			 "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
			 "\xe2\x82\xac%u",
			 i);
		sample_stack(&profile, names, 1 + i, 10);
	}
	char *text = picture_of(render_flame, &profile, &in_use);
	picture_check(text, well_formed);
	picture_has_not(text, "<script>alert");
	picture_has(text, "&lt;/title&gt;&lt;script&gt;alert(1)");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(comparison)
{
	struct profile new = sample_open(), old = sample_open();

	sample_stack(&new, "main;kept", 5, 10);
	sample_stack(&new, "main;added", 1, 10);
	sample_stack(&old, "main;kept", 10, 10);
	sample_stack(&old, "main;gone", 4, 10);
	sample_compare(&new, &old);
	char *text = picture_of(render_flame, &new, &in_use);
	picture_check(text, well_formed);
	picture_has(text,
		    "<title>kept\n50B, 83.33%; -50B, -50.0%; itself 50B</title><rect class=\"d2\"");
	picture_has(text,
		    "<title>added\n10B, 16.67%; +10B, new; itself 10B</title><rect class=\"d8\"");
	picture_has(text, ">\u2212 kept</text>");
	picture_has(text, ">+ added</text>");
	picture_has_not(text, "gone");
	free(text);
	profile_close(&new);
}

UNIT_TEST(nothing_to_show)
{
	struct profile profile = sample_open();
	char *text = picture_of(render_flame, &profile, &in_use);

	picture_check(text, well_formed);
	picture_has(text, "Nothing to show");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(limit_is_kept)
{
	struct profile profile = sample_open();
	char names[64];
	unsigned boxes = 0;

	for (unsigned i = 0; i < 300; i++) {
		snprintf(names, sizeof(names), "main;a%u;b%u", i % 10, i);
		sample_stack(&profile, names, 10 + i, 16);
	}
	char *text = picture_of(render_flame, &profile,
				&(struct render_options){.type = INUSE_SPACE, .limit = 50});
	picture_check(text, well_formed);
	for (const char *at = text; (at = strstr(at, "<g class=")); at++)
		boxes++;
	CHECK(boxes <= 50 && boxes > 25);
	picture_has(text, "light paths are summed up as (other)");
	free(text);
	profile_close(&profile);
}

UNIT_MAIN()
