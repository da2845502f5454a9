/* SPDX-License-Identifier: MIT */
/* render_json_test.c - what the object of `report --json` says of the session. */
#include "rendered.h"

static void check_json(const struct profile *profile, const char *wanted)
{
	char *text = rendered("json", profile, &in_use, 0);

	if (!strstr(text, wanted))
		UNIT_FAIL("no %s in %s", wanted, text);
	free(text);
}

UNIT_TEST(pauses_and_triggers)
{
	struct profile profile = sample_open();

	check_json(&profile, "\"paused_ns\":0,\n\"trigger\":null,\n");
	profile.meta.paused_ns = 1500000000;
	profile.meta.trigger = strdup("--every, --at-peak");
	check_json(&profile, "\"paused_ns\":1500000000,\n\"trigger\":\"--every, --at-peak\",\n");
	profile_close(&profile);
}

UNIT_MAIN()
