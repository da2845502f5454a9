/* SPDX-License-Identifier: MIT */
/* leaked_test.c - the live blocks of a stream, and the report of those that a LEAKED record lists.
 */
#include "leaked.h"

#include "hi_block.h"
#include "hi_dump.h"
#include "replayed.h"

#define DIRECT(address)                \
	{                              \
		address, address, 1, 0 \
	}
#define INDIRECT(address, leader)     \
	{                             \
		address, leader, 0, 0 \
	}

static struct leaked leaked;
static struct hi_block blocks[16];
static size_t block_count;

static void on_blocks(void *context, const struct profile *profile, const struct live *live)
{
	FILE *file = memory_file();

	(void)context;
	CHECK_EQ(leaked_write_blocks(profile, live, file), 0);
	rewind(file);
	block_count = fread(blocks, sizeof(*blocks), 16, file);
	fclose(file);
}

static int on_leaked(void *context, const struct profile *profile, const struct live *live,
		     const struct hi_stream_leaked *record)
{
	(void)context;
	return leaked_add(&leaked, profile, live, record);
}

static void put_blocks_wanted(FILE *file)
{
	struct hi_stream_dump record = {
		.record.type = HI_STREAM_DUMP, .record.flags = HI_DUMP_BLOCKS, .time_ns = 3000};

	stream_put(file, &record, sizeof(record), NULL, 0);
}

static void put_leaked(FILE *file, const struct hi_stream_leaked_block *list, uint32_t count)
{
	struct hi_stream_leaked record = {
		.record.type = HI_STREAM_LEAKED, .time_ns = 3000, .count = count};

	stream_put(file, &record, sizeof(record), list, count * sizeof(*list));
}

static struct profile replay_all(FILE *file)
{
	static const struct replay_observer observer = {.on_blocks = on_blocks,
							.on_leaked = on_leaked};
	static const struct {
		uint64_t address;
		const char *name;
	} names[] = {{REPLAYED_LO + 0x100, "lose"},
		     {REPLAYED_LO + 0x300, "hang"},
		     {REPLAYED_LO + 0x200, "main"}};
	struct profile profile;
	struct input input;

	CHECK_EQ(profile_open(&profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(replay_stream(&input, &observer, &profile), 0);
	input_close(&input);
	fclose(file);
	for (size_t i = 0; i < profile.frame_count; i++) {
		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
			struct profile_line line = {.function = (char *)(uintptr_t)names[n].name,
						    .file = NULL};

			if (profile.frame[i].address == names[n].address)
				CHECK_EQ(profile_frame_lines(&profile.frame[i], &line, 1), 0);
		}
	}
	return profile;
}

/* The report, in the caller's memory. */
static const char *printed(const struct profile *profile, const char *suppressions)
{
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");

	memset(text, 0, sizeof(text));
	CHECK_EQ(leaked_print(&leaked, profile, suppressions, out), 0);
	fclose(out);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		UNIT_FAIL("no \"%s\" in: %s", part, text);
}

/* Without STATS: that of stream_stats() says that records were dropped. */
static FILE *begin(void)
{
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x10000, 100, site_a, 2);
	stream_alloc(file, 0x20000, 50, site_b, 2);
	stream_alloc(file, 0x30000, 50, site_b, 2);
	stream_alloc(file, 0x40000, 7, site_b, 2);
	stream_alloc(file, 0x50000, 1000, site_a, 2);
	stream_free(file, 0x50000);
	return file;
}

UNIT_TEST(the_live_blocks_are_those_that_were_not_freed)
{
	FILE *file = begin();
	uint64_t bytes = 0;

	put_blocks_wanted(file);
	stream_alloc(file, 0x60000, 1, site_a, 2);
	stream_end(file);
	struct profile profile = replay_all(file);

	CHECK_EQ(block_count, 4);
	for (size_t i = 0; i < block_count; i++) {
		bytes += blocks[i].bytes;
		CHECK_EQ(blocks[i].caller, blocks[i].address == 0x10000 ? site_a[0] : site_b[0]);
	}
	CHECK_EQ(bytes, 207);
	CHECK(!leaked.is_known);
	profile_close(&profile);
}

UNIT_TEST(the_report_has_each_stack_with_its_figures)
{
	static const struct hi_stream_leaked_block list[] = {
		DIRECT(0x10000), INDIRECT(0x20000, 0x10000), INDIRECT(0x30000, 0x10000),
		DIRECT(0x40000), DIRECT(0x50000) /* which is not live */};
	FILE *file = begin();

	put_leaked(file, list, 3);
	put_leaked(file, list + 3, 2);
	stream_end(file);
	struct profile profile = replay_all(file);
	const char *text = printed(&profile, NULL);

	CHECK_EQ(text[0], HI_ANALYZER_LEAKS);
	CHECK_EQ(text[1], HI_ANALYZER_LEAKED);
	has(text, "      direct   blocks     indirect   blocks\n"
		  "        100B        1            0        0\n"
		  "    lose < main\n"
		  "          7B        1         100B        2\n"
		  "    hang < main\n"
		  "Leaked: 207B in 4 blocks: 107B in 2 that nothing refers to, 100B in 2 that only "
		  "leaked blocks do\n\v");
	has(text, ",\"leaks\":{\"verdict\":\"leaks\",\"direct_bytes\":107,\"direct_blocks\":2,"
		  "\"indirect_bytes\":100,\"indirect_blocks\":2,\"suppressed_bytes\":0,"
		  "\"suppressed_blocks\":0,\"stack_count\":2,\"stacks\":[{\"direct_bytes\":100,"
		  "\"direct_blocks\":1,\"indirect_bytes\":0,\"indirect_blocks\":0,"
		  "\"stack\":[\"lose\",\"main\"]},");
	leaked_close(&leaked);
	profile_close(&profile);
}

UNIT_TEST(what_is_suppressed_takes_along_what_was_found_from_it)
{
	static const struct hi_stream_leaked_block list[] = {
		DIRECT(0x10000), INDIRECT(0x20000, 0x10000), DIRECT(0x30000)};
	FILE *file = begin();

	put_leaked(file, list, 3);
	stream_end(file);
	struct profile profile = replay_all(file);
	const char *text = printed(&profile, "# ours\nleak:^lose$\n");

	CHECK_EQ(text[1], HI_ANALYZER_LEAKED);
	has(text,
	    "Leaked: 50B in 1 block: 50B in 1 that nothing refers to, 0 in 0 that only leaked "
	    "blocks do\n  (suppressed: 150B in 2 blocks)\n");
	text = printed(&profile, "leak:main");
	CHECK_EQ(text[1], HI_ANALYZER_NOT_LEAKED);
	has(text, "Leaked: nothing\n  (suppressed: 200B in 3 blocks)\n");
	text = printed(&profile, "leak:server");
	CHECK_EQ(text[1], HI_ANALYZER_NOT_LEAKED);
	text = printed(&profile, "leak:^os");
	CHECK_EQ(text[1], HI_ANALYZER_LEAKED);
	leaked_close(&leaked);
	profile_close(&profile);
}

UNIT_TEST(no_leaks)
{
	FILE *file = begin();

	put_leaked(file, NULL, 0);
	stream_end(file);
	struct profile profile = replay_all(file);
	const char *text = printed(&profile, NULL);

	CHECK(leaked.is_known);
	CHECK_EQ(text[1], HI_ANALYZER_NOT_LEAKED);
	has(text, "Leaked: nothing\n\v");
	has(text, "\"verdict\":\"no leaks\"");
	leaked_close(&leaked);
	profile_close(&profile);
}

/* Records were dropped: of a block that is not known it is not known what it refers to. */
UNIT_TEST(it_is_unsure_if_not_all_was_seen)
{
	static const struct hi_stream_leaked_block list[] = {DIRECT(0x10000)};
	FILE *file = begin();

	put_leaked(file, list, 1);
	stream_end(file);
	struct profile profile = replay_all(file);

	CHECK_EQ(printed(&profile, NULL)[1], HI_ANALYZER_LEAKED);
	profile.meta.dropped_frees = 1;
	CHECK_EQ(printed(&profile, NULL)[1], HI_ANALYZER_LEAKS_UNSURE);
	has(printed(&profile, NULL), "not everything that it allocated and freed was seen");
	has(printed(&profile, NULL), "\"verdict\":\"cannot tell\"");
	profile.meta.dropped_frees = 0;
	profile.meta.interval = 512;
	CHECK_EQ(printed(&profile, NULL)[1], HI_ANALYZER_LEAKS_UNSURE);
	leaked_close(&leaked);
	profile_close(&profile);
}

UNIT_TEST(lines_of_suppressions_are_checked)
{
	char many[8000] = "";

	CHECK_EQ(hi_analyzer_check_suppressions(""), 0);
	CHECK_EQ(hi_analyzer_check_suppressions("leak:one\n\n  # two\n  leak:three"), 0);
	CHECK_EQ(hi_analyzer_check_suppressions("leak:one\nrace:two\n"), 2);
	CHECK_EQ(hi_analyzer_check_suppressions("leak:\n"), 1);
	for (int i = 0; i < 300; i++)
		strcat(many, "leak:a_name\n");
	CHECK(hi_analyzer_check_suppressions(many) > 240);
}

UNIT_MAIN()
