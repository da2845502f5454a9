/* SPDX-License-Identifier: MIT */
/*
 * stack_sums_test.c - stacks that read the same are one, and the formats that list them: with their
 * signs, or not at all.
 */
#include "stack_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "rendered.h"

/* 3 kB less by one way, 1 kB more by another, 2 kB the same. */
static struct profile comparison(void)
{
	struct profile profile = sample_open(), base = sample_open();

	sample_stack(&base, "main;gone", 3, 1024);
	sample_stack(&base, "main;same", 2, 1024);
	sample_stack(&profile, "main;same", 2, 1024);
	sample_stack(&profile, "main;new", 1, 1024);
	sample_compare(&profile, &base);
	return profile;
}

UNIT_TEST(stacks_that_read_the_same_are_one)
{
	struct profile profile = sample_open();
	struct stack_sums sums;

	sample_stack(&profile, "main;store", 1, 64);
	sample_stack(&profile, "main;store", 1, 4096);
	/* by another frame, of another address */
	sample_stack(&profile, "main;store<operator new", 1, 32);
	CHECK_EQ(stack_sums_open(&profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &sums), 0);
	CHECK_EQ(sums.count, 2);
	stack_sums_close(&sums);
	sample_stack(&profile, "main;operator new<store", 1, 32);
	CHECK_EQ(stack_sums_open(&profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &sums), 0);
	CHECK_EQ(sums.count, 2); /* what it allocates with is left out */
	CHECK_EQ(sums.sum[0].count, 2);
	CHECK_STR(sums.functions.name[sums.sum[0].step[1]], "store");
	CHECK_STR(sums.file[sums.sum[0].step[1]], "src/file.c");
	CHECK(sums.sum[0].value[INUSE_SPACE] == 64 + 4096 + 32);
	CHECK(sums.sum[0].value[ALLOC_OBJECTS] == 6);
	stack_sums_close(&sums);
	CHECK_EQ(stack_sums_open(&profile, STEPS_BY_CALL, STEPS_LEAF_FIRST, &sums), 0);
	CHECK_EQ(sums.count, 3);
	CHECK_STR(sums.functions.name[sums.functions.call[sums.sum[0].step[1]].function], "main");
	stack_sums_close(&sums);
	profile_close(&profile);
}

static int compare_steps(const struct stack_sum *a, const struct stack_sum *b)
{
	for (size_t i = 0; i < a->count && i < b->count; i++) {
		if (a->step[i] != b->step[i])
			return a->step[i] < b->step[i] ? -1 : 1;
	}
	return a->count < b->count ? -1 : a->count > b->count;
}

/*
 * Of few functions and all lengths, so that many begin alike, some are the beginning of others, and
 * some the same but for an address.
 */
static struct profile many_stacks(size_t count)
{
	struct profile profile = sample_open();
	uint64_t random = 1;

	for (size_t i = 0; i < count; i++) {
		char names[256] = "";
		const size_t depth = 1 + (random >> 33) % 12;

		for (size_t k = 0; k < depth; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			snprintf(names + strlen(names), sizeof(names) - strlen(names),
				 k ? ";f%d%s" : "f%d%s", (int)(random >> 33) % 3,
				 (random >> 40) % 8 ? "" : "<g");
		}
		sample_stack(&profile, names, 1 + i % 3, 64);
	}
	return profile;
}

UNIT_TEST(sums_are_in_the_order_of_their_steps)
{
	struct profile profile = many_stacks(3000);

	for (int by = STEPS_BY_FUNCTION; by <= STEPS_BY_CALL; by++) {
		struct stack_sums sums;
		double total = 0;

		CHECK_EQ(stack_sums_open(&profile, (enum stack_steps)by,
					 by == STEPS_BY_CALL ? STEPS_LEAF_FIRST : STEPS_ROOT_FIRST,
					 &sums),
			 0);
		CHECK(sums.count > 1000 && sums.count <= profile.stack_count);
		for (size_t i = 0; i < sums.count; i++) {
			total += sums.sum[i].value[INUSE_OBJECTS];
			CHECK(i == 0 || compare_steps(&sums.sum[i - 1], &sums.sum[i]) < 0);
		}
		CHECK_EQ(total, 3000 * 2);
		stack_sums_close(&sums);
	}
	profile_close(&profile);
}

UNIT_TEST(collapsed_comparison_has_two_columns)
{
	struct profile profile = comparison();
	char *text = rendered("collapsed", &profile, &in_use, 0);

	CHECK_STR(text, "main;same 2048 2048\nmain;new 0 1024\nmain;gone 3072 0\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(speedscope_tells_more_and_less_apart)
{
	struct profile profile = comparison();
	char *text = rendered("speedscope", &profile, &in_use, 0);

	check_has(text, "\"activeProfileIndex\":6,");
	check_has(text, "\"name\":\"inuse_space, "
			"grown\",\"unit\":\"bytes\",\"startValue\":0,\"samples\":[\n[0,2]],"
			"\"weights\":[1024],\"endValue\":1024}");
	check_has(text, "\"name\":\"inuse_space, "
			"shrunk\",\"unit\":\"bytes\",\"startValue\":0,\"samples\":[\n[0,3]],"
			"\"weights\":[3072],\"endValue\":3072}");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(json_has_signs)
{
	struct profile profile = comparison();
	char *text = rendered("json", &profile, &in_use, 0);

	check_has(text, "\"is_comparison\":true");
	check_has(text,
		  "{\"value\":-2048,\"low\":-2048,\"high\":-2048,\"base\":5120}],\n\"modules\"");
	check_has(text, "\"side\":\"base\"");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(formats_without_signs_take_no_comparison)
{
	static const char *const formats[] = {"heap", "callgrind", "dhat", "massif"};
	struct profile profile = comparison();

	for (size_t i = 0; i < 4; i++) {
		char *text = rendered(formats[i], &profile, &in_use, -EINVAL);

		CHECK_STR(text, "");
		check_has(render_error(), "no place for what has become less");
		free(text);
	}
	profile_close(&profile);
}

UNIT_TEST(names_cannot_break_out)
{
	struct profile profile = sample_open();
	char *text;

	sample_stack(&profile, "main;a\"b\\c\n\x01 \xff{}", 1, 64);
	text = rendered("json", &profile, &in_use, 0);
	check_has(text, "\"function\":\"a\\\"b\\\\c?? ?{}\"");
	free(text);
	text = rendered("speedscope", &profile, &in_use, 0);
	check_has(text, "{\"name\":\"a\\\"b\\\\c?? ?{}\",\"file\":\"src/file.c\"}");
	free(text);
	text = rendered("dhat", &profile, &in_use, 0);
	check_has(text, ": a\\\"b\\\\c?? ?{} (src/file.c:10)\"");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(stacks_of_nothing_count)
{
	struct profile profile = sample_open();
	char *text;

	sample_frames(&profile, NULL, 0, 2, 64);
	text = rendered("collapsed", &profile, &in_use, 0);
	CHECK_STR(text, "[unknown] 128\n");
	free(text);
	text = rendered("speedscope", &profile, &in_use, 0);
	check_has(text, "{\"name\":\"[unknown]\"}\n]}");
	check_has(text, "\"samples\":[\n[0]],\"weights\":[128]");
	free(text);
	text = rendered("dhat", &profile, &in_use, 0);
	check_has(text, "\"fs\":[1]}");
	free(text);
	text = rendered("callgrind", &profile, &in_use, 0);
	check_has(text, "fn=(1) [unknown]\n0 128 2 128 2\n");
	free(text);
	text = rendered("massif", &profile, &in_use, 0);
	check_has(text, "n0: 128 (heap allocation functions)");
	free(text);
	profile_close(&profile);
}

/* Another tool's file may say only what is in use. */
UNIT_TEST(what_was_allocated_need_not_be_known)
{
	struct profile profile = sample_open();
	char *text;

	sample_stack(&profile, "main;store", 2, 64);
	profile.row[0].alloc_count = profile.row[0].alloc_bytes = 0;
	text = rendered("heap", &profile, &in_use, 0);
	check_has(text, "\n     2:      128 [     2:      128] @ ");
	free(text);
	text = rendered("dhat", &profile, &in_use, 0);
	check_has(text, "{\"tb\":128,\"tbk\":2,");
	free(text);
	text = rendered("pprof", &profile, &in_use, 0);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(no_picture_on_a_terminal)
{
	static const char *const formats[] = {"png", "pdf", "pprof"};
	struct profile profile = comparison();
	const int fd = posix_openpt(O_RDWR | O_NOCTTY);

	if (fd < 0 || !isatty(fd))
		SKIP("no terminal to be had");
	FILE *out = fdopen(fd, "w");
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(renderer_named(formats[i])->render(&profile, &in_use, out), -EINVAL);
		check_has(render_error(), "name a file (-o)");
	}
	fclose(out);
	profile_close(&profile);
}

UNIT_MAIN()
