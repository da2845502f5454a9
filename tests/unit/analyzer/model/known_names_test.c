/* SPDX-License-Identifier: MIT */
/*
 * known_names_test.c - names go from one profile to the next, but only for the same code in the
 * same place.
 */
#include "known_names.h"

#include "sample_profile.h"

/* One module, and two frames in it without names. */
static struct profile profile_of(const struct profile_module *module)
{
	struct profile profile = sample_open();
	uint32_t index;

	CHECK_EQ(profile_add_module(&profile, module, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x1010, 0, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x1020, 0, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x9000, -1, &index), 0);
	return profile;
}

static struct profile_module module_like(void)
{
	static char path[] = "/usr/bin/server";

	return (struct profile_module){.lo = 0x1000,
				       .hi = 0x2000,
				       .bias = 0x1000,
				       .device = 1,
				       .inode = 2,
				       .build_id = {1, 2, 3},
				       .build_id_size = 3,
				       .path = path};
}

/* The first frame, and the one in no module, have a name. */
static void learn(struct known_names *names)
{
	static char store[] = "store", put[] = "put", file[] = "store.c";
	const struct profile_line lines[] = {{.function = put, .file = file, .line = 7},
					     {.function = store, .file = file, .line = 9}};
	const struct profile_module module = module_like();
	struct profile profile = profile_of(&module);

	CHECK_EQ(profile_frame_lines(&profile.frame[0], lines, 2), 0);
	CHECK_EQ(profile_frame_lines(&profile.frame[2], lines, 2), 0);
	/* nothing is known yet, and what has names keeps them */
	CHECK_EQ(known_names_apply(names, &profile), 0);
	CHECK_EQ(known_names_learn(names, &profile), 0);
	CHECK_EQ(profile.frame[1].line_count, 0);
	profile_close(&profile);
}

UNIT_TEST(the_same_code_has_the_same_names)
{
	const struct profile_module module = module_like();
	struct known_names names = {0};

	learn(&names);
	struct profile profile = profile_of(&module);
	CHECK_EQ(known_names_apply(&names, &profile), 0);
	CHECK_EQ(profile.frame[0].line_count, 2);
	CHECK_STR(profile.frame[0].line[0].function, "put");
	CHECK_STR(profile.frame[0].line[1].file, "store.c");
	CHECK_EQ(profile.frame[0].line[1].line, 9);
	CHECK_EQ(profile.frame[1].line_count, 0);
	CHECK_EQ(profile.frame[2].line_count, 0); /* generated code may be other code by now */
	profile_close(&profile);
	known_names_close(&names);
}

UNIT_TEST(other_code_has_not)
{
	static char other_path[] = "/usr/bin/other";
	struct profile_module others[7];
	struct known_names names = {0};

	for (size_t i = 0; i < 7; i++)
		others[i] = module_like();
	others[0].build_id[2] = 4;
	others[1].build_id_size = 2;
	others[2].inode = 3;
	others[3].path = other_path;
	others[4].bias = 0;
	others[5].lo = 0x1001;
	others[6].device = 2;
	learn(&names);
	for (size_t i = 0; i < 7; i++) {
		struct profile profile = profile_of(&others[i]);

		CHECK_EQ(known_names_apply(&names, &profile), 0);
		CHECK_EQ(profile.frame[0].line_count, 0);
		profile_close(&profile);
	}
	known_names_close(&names);
}

UNIT_MAIN()
