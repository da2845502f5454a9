/* SPDX-License-Identifier: MIT */
/*
 * refused.c - files of profilers that are no heap profiles, or that others have to convert. They
 * are known by their first bytes, so that the message can say what they are, and what to do.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read_common.h"
#include "read_formats.h"
#include "scan.h"

#define LINE_MAX_SHOWN 64u
#define CPU_WORDS 5u
#define JFR "FLR"

static const struct {
	const char *begin; /* of the file */
	const char *what;
} known[] = {
	{JFR, "a flight recording of Java (JFR), which is not read: async-profiler's jfrconv "
	      "--alloc makes collapsed stacks of it"},
	{"JAVA PROFILE 1.0",
	 "a heap dump of Java (HPROF): it has objects, and not who allocated them"},
	{"PERFILE2", "a recording of perf: no heap profile"},
	{"--- contention", "a contention profile: it counts waiting for locks, and no memory"},
	{"--- mutex:", "a contention profile of Go: it counts waiting for locks, and no memory"},
	{"--- threadz ", "a list of threads and their stacks: no heap profile"},
	{"--- profile", "a CPU profile: it counts time, and no memory"},
	{"--- cpu", "a CPU profile: it counts time, and no memory"},
	{"# callgrind format", "callgrind's output, which is not read"},
	{"version: 1\ncreator: callgrind", "callgrind's output, which is not read"},
	{"desc: (none)\ncmd:", "massif's output, which is not read: ms_print shows it"},
	{"desc: --", "massif's output, which is not read: ms_print shows it"},
	{"{\"dhatFileVersion\"", "DHAT's output, which is not read: dh_view.html shows it"},
	{"{\"snapshot\":", "a heap snapshot of V8: it has objects, and not who allocated them"},
	{"{\"head\":",
	 "a sampling heap profile of V8, which is not read: pprof-nodejs writes what is"},
	{"{\"$schema\":\"https://www.speedscope.app/", "a speedscope file, which is not read"},
	{"{\"meta\":{\"", "a profile of the Firefox Profiler, which is not read"},
	{"[{\"schema\":{", "a data frame of Grafana, which is not read"},
	{"heap_v1/", "a heap profile of an old jemalloc, which is not read"},
	{"\xfd"
	 "7zXZ",
	 "compressed by xz, which is not read: xz -dc FILE | heapinject report -"},
	{"BZh91AY&SY",
	 "compressed by bzip2, which is not read: bzip2 -dc FILE | heapinject report -"},
	{"\x04\x22\x4d\x18",
	 "compressed by lz4, which is not read: lz4 -dc FILE | heapinject report -"},
	{"PK\x03\x04", "a zip archive, which is not read: unzip -p FILE | heapinject report -"},
	{"\x1f\x8b\x08", "compressed twice: gzip -dc FILE | heapinject report -"},
	{"\x7f"
	 "ELF",
	 "a program or library: no heap profile; -p FILE names the program of one"},
	{"<!doctype html", "a web page; as such --html is written, and not read"},
	{"<!DOCTYPE html", "a web page, and no heap profile"},
	{"<?xml", "a picture or another XML file; as such --svg is written, and not read"},
};

static uint64_t word_at(const uint8_t *bytes, size_t index, size_t width, bool is_big)
{
	uint64_t word = 0;

	for (size_t i = 0; i < width; i++)
		word = word << 8 | bytes[index * width + (is_big ? i : width - 1 - i)];
	return word;
}

/*
 * gperftools' CPU profile: words of 4 or 8 bytes in either order, 0, 3 or more header words,
 * version 0 (1 for Java), the period, 0.
 */
static bool is_cpu_profile(const uint8_t *bytes, size_t size)
{
	for (size_t width = 4; width <= 8; width += 4) {
		for (int is_big = 0; is_big < 2 && size >= CPU_WORDS * width; is_big++) {
			const uint64_t words = word_at(bytes, 1, width, is_big),
				       period = word_at(bytes, 3, width, is_big);

			if (word_at(bytes, 0, width, is_big) == 0 && words >= 3 && words < 64 &&
			    word_at(bytes, 2, width, is_big) <= 1 && period > 0 &&
			    period < 1000000000 && word_at(bytes, 4, width, is_big) == 0)
				return true;
		}
	}
	return false;
}

/* "goroutine profile: total 12": of Go, with a word in front. */
static bool is_count_profile(const char *line, size_t *out_name)
{
	static const char total[] = " profile: total ";
	const size_t name = strcspn(line, " ");
	const char *cursor = line + name + strlen(total);
	uint64_t count;

	*out_name = name;
	return name > 0 && strncmp(line + name, total, strlen(total)) == 0 &&
	       scan_number(&cursor, 10, &count) && !*cursor;
}

/* What the file is. "" = it is none of these. */
static void explain(const uint8_t *bytes, size_t size, char *text, size_t text_size)
{
	char line[LINE_MAX_SHOWN] = "";
	size_t name;

	*text = 0;
	for (size_t i = 0; i < size && i + 1 < sizeof(line) && bytes[i] != '\n'; i++)
		line[i] = (char)bytes[i];
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !*text; i++) {
		/* that of a flight recording has its 0, too */
		const size_t length = strlen(known[i].begin) + (strcmp(known[i].begin, JFR) == 0);

		if (size >= length && memcmp(bytes, known[i].begin, length) == 0)
			snprintf(text, text_size, "%s", known[i].what);
	}
	if (!*text && is_count_profile(line, &name))
		snprintf(text, text_size, "a %.*s profile of Go: it counts stacks, and no memory",
			 (int)name, line);
	if (!*text && is_cpu_profile(bytes, size))
		snprintf(text, text_size,
			 "a CPU profile of gperftools: it counts time, and no "
			 "memory");
}

bool refused_recognize(const uint8_t *bytes, size_t size)
{
	char text[256];

	explain(bytes, size, text, sizeof(text));
	return *text;
}

int refused_read(struct input *input, struct profile *profile)
{
	const uint8_t *bytes;
	const size_t size = input_peek(input, LINE_MAX_SHOWN, &bytes);
	char text[256];

	explain(bytes, size, text, sizeof(text));
	read_damage(profile, "%s", *text ? text : "no heap profile");
	return -EBADMSG;
}
