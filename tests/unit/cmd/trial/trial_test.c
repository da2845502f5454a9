/* SPDX-License-Identifier: MIT */
/* trial_test.c - trials of small lists with libc's allocator, and what a table says of trials. */
#include "trial.h"

#include <sys/mman.h>

#include "trial_print.h"
#include "unit.h"

#define MEGABYTE (1u << 20)
#define PLENTY (1ull << 30)

static const struct allocator own = {"own", "own", {NULL}, "MALLOC_ARENA_MAX=1", NULL, "libc"};

/* A list of these events. */
static struct trial_list make_list(const struct hi_trial_event *event, size_t count)
{
	struct trial_list list = {.fd = memfd_create("list", MFD_CLOEXEC),
				  .head = {.magic = HI_TRIAL_MAGIC,
					   .events = count,
					   .blocks = 4,
					   .threads = 3,
					   .most_at = 4}};

	CHECK_EQ(write(list.fd, &list.head, sizeof(list.head)), sizeof(list.head));
	CHECK_EQ(write(list.fd, event, count * sizeof(*event)), count * sizeof(*event));
	return list;
}

static struct trial try(const struct hi_trial_event *event, size_t count,
			const struct trial_limits *limits)
{
	struct trial_list list = make_list(event, count);
	struct trial_progress progress;
	struct trial trial;

	trial_progress_open(&progress, true);
	trial_run(&list, &own, limits, &progress, &trial);
	trial_list_close(&list);
	return trial;
}

static const struct trial_limits limits = {.memory_bytes = PLENTY, .time_ns = 60000000000u};

UNIT_TEST(the_peak_is_what_was_touched)
{
	const struct hi_trial_event event[] = {
		{.block = 0, .op = HI_TRIAL_MALLOC, .bytes = 8 * MEGABYTE},
		{.block = 1, .op = HI_TRIAL_CALLOC, .bytes = 2 * MEGABYTE},
		{.block = 1, .op = HI_TRIAL_REALLOC, .bytes = 4 * MEGABYTE},
		{.block = 2, .op = HI_TRIAL_ALIGNED, .alignment_bits = 12, .bytes = 5000},
		{.block = 0, .op = HI_TRIAL_FREE},
	};
	const struct trial trial = try(event, 5, &limits);

	CHECK_EQ(trial.outcome, TRIAL_DONE);
	CHECK(trial.report.peak_bytes >= 12 * MEGABYTE && trial.report.peak_bytes < 13 * MEGABYTE);
	CHECK(trial.report.final_bytes > 4 * MEGABYTE && trial.report.final_bytes < 5 * MEGABYTE);
	CHECK_EQ(trial.report.refused, 0);
}

/* Threads take turns; each has its own part of the list. */
UNIT_TEST(threads_keep_the_order)
{
	static struct hi_trial_event event[9000];

	for (uint32_t i = 0; i < 9000; i += 3) {
		const uint16_t thread = (uint16_t)(i / 3 % 3);
		event[i] = (struct hi_trial_event){
			.block = 1, .thread = thread, .op = HI_TRIAL_MALLOC, .bytes = 100};
		event[i + 1] = (struct hi_trial_event){.block = 1,
						       .thread = (uint16_t)((thread + 1) % 3),
						       .op = HI_TRIAL_REALLOC,
						       .bytes = 5000};
		event[i + 2] =
			(struct hi_trial_event){.block = 1, .thread = thread, .op = HI_TRIAL_FREE};
	}
	const struct trial trial = try(event, 9000, &limits);

	CHECK_EQ(trial.outcome, TRIAL_DONE);
	CHECK(trial.report.peak_bytes < MEGABYTE);
}

UNIT_TEST(lists_that_make_no_sense_are_refused)
{
	const struct hi_trial_event bad[] = {
		{.block = 4, .op = HI_TRIAL_MALLOC, .bytes = 1},
		{.thread = 3, .op = HI_TRIAL_MALLOC, .bytes = 1},
		{.op = HI_TRIAL_OPS, .bytes = 1},
		{.op = HI_TRIAL_ALIGNED, .alignment_bits = 40, .bytes = 1},
		{.op = HI_TRIAL_ALIGNED, .alignment_bits = 1, .bytes = 1},
		{.op = HI_TRIAL_TIME, .block = UINT32_MAX},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct trial trial = try(&bad[i], 1, &limits);

		CHECK_EQ(trial.outcome, TRIAL_FAILED);
		CHECK(*trial.why);
	}
}

UNIT_TEST(it_takes_no_more_memory_than_it_may)
{
	const struct trial_limits few = {.memory_bytes = 64 * MEGABYTE, .time_ns = 60000000000u};
	const struct hi_trial_event event[] = {
		{.block = 0, .op = HI_TRIAL_MALLOC, .bytes = 40 * MEGABYTE},
		{.block = 1, .op = HI_TRIAL_MALLOC, .bytes = 40 * MEGABYTE},
	};

	CHECK_EQ(try(event, 1, &few).outcome, TRIAL_DONE);
	CHECK_EQ(try(event, 2, &few).outcome, TRIAL_TOO_LARGE);
}

UNIT_TEST(what_the_allocator_refuses_is_counted)
{
	const struct trial_limits all = {.memory_bytes = UINT64_MAX, .time_ns = 60000000000u};
	const struct hi_trial_event event[] = {
		{.block = 0, .op = HI_TRIAL_MALLOC, .bytes = 1ull << 62},
		{.block = 0, .op = HI_TRIAL_FREE},
		{.block = 0, .op = HI_TRIAL_MALLOC, .bytes = 10},
	};
	const struct trial trial = try(event, 3, &all);

	CHECK_EQ(trial.outcome, TRIAL_DONE);
	CHECK_EQ(trial.report.refused, 1);
}

UNIT_TEST(a_trial_that_takes_too_long_is_given_up)
{
	const struct trial_limits none = {.memory_bytes = PLENTY, .time_ns = 0};
	const struct hi_trial_event event = {.op = HI_TRIAL_MALLOC, .bytes = 10};

	CHECK_EQ(try(&event, 1, &none).outcome, TRIAL_TOO_LONG);
}

/* ---- the table ------------------------------------------------------------------------------- */

static char *printed(const struct trial_results *results, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (json)
		trial_print_json(results, out);
	else
		trial_print(results, out);
	fclose(out);
	return text;
}

static void check_has(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		UNIT_FAIL("\"%s\" is not in:\n%s", wanted, text);
}

UNIT_TEST(the_table_says_what_became_of_each)
{
	static struct allocators allocators;
	const struct hi_trial_head head = {.name = "server",
					   .pid = 12,
					   .allocations = 90,
					   .frees = 9,
					   .dropped = 1,
					   .unknown_frees = 3,
					   .aligned = 4,
					   .recorded_threads = 300,
					   .anonymous_begin = 5 * MEGABYTE,
					   .anonymous_most = 7 * MEGABYTE,
					   .text = "cut off",
					   .unhooked = "je_malloc in x"};
	trial_allocators_add_all(&allocators);
	CHECK_EQ(allocators.count, 6);
	struct trial trial[6] = {
		{.outcome = TRIAL_DONE, .report = {.peak_bytes = 20 * MEGABYTE}},
		{.outcome = TRIAL_DONE,
		 .report = {.peak_bytes = 10 * MEGABYTE, .final_bytes = 3 * MEGABYTE}},
		{.outcome = TRIAL_TOO_LARGE},
		{.outcome = TRIAL_NOT_INSTALLED},
		{.outcome = TRIAL_TOO_LONG},
		{.outcome = TRIAL_FAILED, .why = "odd"}};
	const struct trial_results results = {
		.head = &head,
		.allocators = &allocators,
		.trial = trial,
		.limits = {.memory_bytes = 9 * MEGABYTE, .time_ns = 5000000000u}};
	char *text = printed(&results, false);

	check_has(text, "glibc, 1 arena                   20MB   +100.0%");
	check_has(text, "glibc, 2 arenas                  10MB     least          3MB");
	check_has(text, "takes more than the 9MB that it may");
	check_has(text, "jemalloc                    not installed: apt install libjemalloc2\n");
	check_has(text, "given up after 5s; --timeout gives it longer");
	check_has(text, "mimalloc                    failed: odd");
	check_has(text, "as it was recorded                7MB");
	check_has(text, "1 records (1.00%) were lost");
	check_has(text, "3 frees are left out");
	check_has(text, "the alignment of 4 blocks");
	check_has(text, "300 threads are replayed by 256");
	check_has(text, "not recorded: what je_malloc in x gives");
	check_has(text, "The record stream was cut off: all that follows is of what was read.");
	free(text);
	text = printed(&results, true);
	check_has(text, "{\"allocator\":\"jemalloc\",\"outcome\":\"not installed\",\"package\":"
			"\"libjemalloc2\"}");
	check_has(text, "\"peak_rss\":10485760,\"final_rss\":3145728");
	check_has(text, "\"outcome\":\"failed\",\"why\":\"odd\"");
	free(text);
}

UNIT_TEST(allocators_are_chosen_by_name_or_path)
{
	struct allocators allocators = {0};

	CHECK(!trial_allocators_add(&allocators, "glibc"));
	CHECK_EQ(allocators.count, 3);
	CHECK(!trial_allocators_add(&allocators, "mimalloc"));
	CHECK_STR(allocators.one[3].package, "libmimalloc2.0");
	CHECK(!trial_allocators_add(&allocators, "/proc/self/exe"));
	CHECK_STR(allocators.one[4].preload[0], "/proc/self/exe");
	CHECK(trial_allocators_add(&allocators, "hoard"));
	CHECK(trial_allocators_add(&allocators, "/no/such.so"));
	CHECK(trial_allocators_add(&allocators, "/a b.so"));
	CHECK_EQ(allocators.count, 5);
	while (!trial_allocators_add(&allocators, "glibc"))
		CHECK(allocators.count <= ALLOCATORS_MAX);
}

UNIT_MAIN()
