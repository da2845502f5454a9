/* SPDX-License-Identifier: MIT */
/* refused_test.c - what is no heap profile is called by its name. */
#include "read_file.h"

UNIT_TEST(other_files_are_refused_by_name)
{
	static const uint64_t cpu[] = {0, 3, 0, 10000, 0, 1, 1, 0x401000};
	static const uint32_t cpu_of_32_bits[] = {0, 3, 0, 10000, 0, 1, 1, 0x401000};
	static const struct {
		const void *bytes;
		size_t size; /* 0 = a string */
		const char *name;
	} files[] = {
		{cpu, sizeof(cpu), "a CPU profile of gperftools"},
		{cpu_of_32_bits, sizeof(cpu_of_32_bits), "a CPU profile of gperftools"},
		{"FLR\0\0\2\0\0", 8, "(JFR)"},
		{"--- contentionz 1 ---\nformat = java\n", 0, "a contention profile"},
		{"--- mutex:\ncycles/second=1\nsampling period=1\n", 0, "a contention profile"},
		{"goroutine profile: total 2\n1 @ 0x1\n", 0, "a goroutine profile of Go"},
		{"PERFILE2\1", 0, "of perf"},
		{"JAVA PROFILE 1.0.2", 0, "(HPROF)"},
		{"desc: --massif\ncmd: x\n", 0, "massif"},
		{"desc: (none)\ncmd: x\n", 0, "massif"},
		{"{\"meta\":{\"version\":30,", 0, "Firefox Profiler"},
		{"[{\"schema\":{\"name\":", 0, "Grafana"},
		{"\xfd"
		 "7zXZ\0\0\4\xe6",
		 9, "xz -dc FILE"},
		{"BZh91AY&SY\x1a", 0, "bzip2 -dc FILE"},
		{"\x04\x22\x4d\x18\x64\x40", 0, "lz4 -dc FILE"},
		{"PK\3\4\x14", 0, "zip"},
		{"\x7f"
		 "ELF\2\1\1",
		 0, "a program or library"},
		{"<!doctype html>\n<html>", 0, "a web page"},
		{"<?xml version=\"1.0\"?>", 0, "--svg"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct profile profile;

		CHECK_EQ(read_bytes(files[i].bytes,
				    files[i].size ? files[i].size : strlen(files[i].bytes),
				    &profile),
			 -EBADMSG);
		if (!profile.meta.damage || !strstr(profile.meta.damage, files[i].name))
			UNIT_FAIL("no \"%s\" in \"%s\"", files[i].name, profile.meta.damage);
		profile_close(&profile);
	}
}

/* A function may be called like a beginning. */
UNIT_TEST(others_are_not_refused)
{
	struct profile profile;

	CHECK_EQ(read_string("FLR;main 10\n", &profile), 0);
	CHECK(total_of(&profile, INUSE_SPACE) == 10);
	profile_close(&profile);
	CHECK_EQ(read_string("desc: of;main 10\n", &profile), 0);
	profile_close(&profile);
}

UNIT_MAIN()
