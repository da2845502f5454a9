/* SPDX-License-Identifier: MIT */
/* Formats of viewers: Firefox Profiler's and Grafana's. Whole readers are in integration writes. */
#include <errno.h>

#include "rendered.h"

static struct profile two_stacks(void)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;a", 1, 64);
	sample_stack(&profile, "main;b<c", 2, 100);
	return profile;
}

static struct profile comparison(void)
{
	struct profile profile = two_stacks(), base = sample_open();

	sample_stack(&base, "main;a", 3, 64);
	sample_compare(&profile, &base);
	return profile;
}

UNIT_TEST(firefox_has_a_tree_of_calls)
{
	struct profile profile = two_stacks();
	char *text = rendered("firefox", &profile, &in_use, 0);

	check_has(text, "\"preprocessedProfileVersion\":57,");
	/* main, a, and below main c with b inlined into it */
	check_has(text,
		  "\"stackTable\":{\"frame\":[0,1,3,2],\n\"prefix\":[null,0,0,2],\n\"length\":4}");
	check_has(text, "\"inlineDepth\":[0,0,1,0,0],");
	check_has(text, "\"weight\":[64,-64,64,200,-200,200],\n\"stack\":[1,1,1,3,3,3],\n"
			"\"memoryAddress\":[1,1,2,3,3,4],\n");
	check_has(text, "\"name\":\"in use\"");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(firefox_has_the_memory_of_the_process)
{
	struct profile profile = two_stacks();
	char *text;

	profile_add_moment(&profile.meta,
			   &(struct profile_moment){.time_ns = 1000000, .anonymous = 50});
	profile_add_moment(&profile.meta,
			   &(struct profile_moment){.time_ns = 9500000000, .anonymous = 20});
	text = rendered("firefox", &profile, &in_use, 0);
	check_has(text, "\"samples\":{\"time\":[1.000000,9500.000000],\n\"count\":[50,-30],"
			"\n\"length\":2}");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(grafana_has_a_nested_set)
{
	struct profile profile = two_stacks();
	char *text = rendered("grafana", &profile, &in_use, 0);

	check_has(text, "\"values\":[\n[0,1,2,2,3],\n[\"total\",\"main\",\"a\",\"c\",\"b\"],\n"
			"[264,264,64,200,200],\n[0,0,64,0,200]]}}]");
	check_has(text, "{\"name\":\"value\",\"type\":\"number\",\"config\":{\"unit\":\"bytes\"}}");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(grafana_has_the_base_on_the_left)
{
	struct profile profile = comparison();
	char *text = rendered("grafana", &profile, &in_use, 0);

	check_has(text,
		  "[\"total\",\"main\",\"a\",\"c\",\"b\"],\n[192,192,192,0,0],\n[0,0,192,0,0],\n"
		  "[264,264,64,200,200],\n[0,0,64,0,200]]}}]");
	free(text);
	free(rendered("firefox", &profile, &in_use, -EINVAL));
	profile_close(&profile);
}

UNIT_TEST(unknown_stacks_and_odd_names_are_kept)
{
	struct profile profile = sample_open();
	char *text;

	sample_frames(&profile, NULL, 0, 2, 64);
	sample_stack(&profile, "a\"b\x01", 1, 32);
	text = rendered("grafana", &profile, &in_use, 0);
	check_has(text, "[\"total\",\"[unknown]\",\"a\\\"b?\"],\n[160,128,32],");
	free(text);
	text = rendered("firefox", &profile, &in_use, 0);
	check_has(text, "\"stringArray\":[\n\"a\\\"b?\",\n\"[unknown]\",");
	check_has(text, "\"stackTable\":{\"frame\":[1,0],\n\"prefix\":[null,null],\n\"length\":2}");
	free(text);
	profile_close(&profile);
}

UNIT_MAIN()
