/* SPDX-License-Identifier: MIT */
/* rows: what `top` is told of a profile is what leaks and answer say of it, and adds up. */
#include "answer_scene.h"
#include "heapfile.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_rows.h"
#include "leaks.h"
#include "stream_file.h"
#include "unit.h"

#define ROWS_MAX 16

struct told {
	struct hi_rows_head head;
	struct hi_row row[ROWS_MAX];
	char stack[ROWS_MAX][1024];
	size_t count;
};

static struct told told;

/* Returns the exit code. */
static int tell(FILE *file)
{
	const int out = memfd_create("rows", MFD_CLOEXEC);

	told = (struct told){.count = 0};
	fflush(file);
	CHECK_EQ(lseek(fileno(file), 0, SEEK_SET), 0);
	const int exit_code = hi_analyzer_rows(fileno(file), out);
	CHECK_EQ(lseek(out, 0, SEEK_SET), 0);
	if (read(out, &told.head, sizeof(told.head)) == (ssize_t)sizeof(told.head)) {
		CHECK_EQ(told.head.magic, HI_ROWS_MAGIC);
		CHECK(told.head.count <= ROWS_MAX);
		for (; told.count < told.head.count; told.count++) {
			struct hi_row *row = &told.row[told.count];

			CHECK_EQ(read(out, row, sizeof(*row)), sizeof(*row));
			CHECK(row->stack_size < sizeof(told.stack[0]));
			CHECK_EQ(read(out, told.stack[told.count], row->stack_size),
				 row->stack_size);
		}
		CHECK_EQ(read(out, &(char){0}, 1), 0);
	}
	close(out);
	return exit_code;
}

static const struct hi_row *row_named(enum hi_row_kind kind, const char *name)
{
	for (size_t i = 0; i < told.count; i++)
		if (told.row[i].kind == kind && !strcmp(told.row[i].name, name))
			return &told.row[i];
	return NULL;
}

UNIT_TEST(rows_are_those_of_leaks_and_functions_add_up)
{
	struct profile profile = scene_open(), again;
	struct stack_text text;
	struct leaks leaks;
	struct input input;
	FILE *file = memory_file();
	double live = 0;

	scene_leak(&profile, "main;one;leak_here;malloc", 16384, 100);
	scene_leak(&profile, "main;other;leak_here;malloc", 16384, 50);
	scene_blocks(&profile, "main;steady;malloc", 5000, 400, 2);
	scene_process(&profile, 150 * 16384);
	CHECK_EQ(heapfile_write(&profile, file), 0);
	CHECK_EQ(tell(file), HI_EXIT_OK);
	/* the same file, read as report does */
	CHECK_EQ(profile_open(&again), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(heapfile_read(&input, &again), 0);
	CHECK_EQ(stack_text_open(&again, &text), 0);
	CHECK_EQ(leaks_open(&text, &(struct leaks_tail){.share = LEAKS_TAIL_SHARE}, &leaks), 0);
	size_t stacks = 0;
	for (size_t i = 0; i < told.count; i++) {
		const struct hi_row *row = &told.row[i];

		if (row->kind == HI_ROW_FUNCTION) {
			live += row->live;
			continue;
		}
		CHECK(stacks < leaks.count);
		const struct leak *leak = &leaks.leak[stacks++];
		CHECK_STR(row->verdict, trend_word(leak->trend.verdict));
		CHECK(row->slope == leak->trend.slope);
		CHECK(row->slope_low == leak->trend.slope_low);
		CHECK(row->age_ns == leak->age_ns);
		CHECK(row->live >= leak->bytes.value); /* without the youngest */
	}
	CHECK_EQ(stacks, leaks.count);
	const double total = estimate_total(&again, INUSE_SPACE).value;
	CHECK(scene_is_near(live, total, 1e-9) && total > 0);
	CHECK(scene_is_near(told.head.live, total, 1e-9));
	const struct hi_row *leaky = row_named(HI_ROW_FUNCTION, "leak_here");
	CHECK(leaky && leaky->is_growing);
	CHECK(scene_is_near(leaky->slope, leaks.answer.row[0].trend.slope, 1e-9));
	CHECK(scene_is_near(leaky->live, leaks.answer.row[0].live, 1e-9));
	CHECK_EQ(leaky->bar[HI_ROWS_BARS - 1], HI_ROWS_BAR_MAX);
	CHECK(leaky->bar[0] < leaky->bar[HI_ROWS_BARS / 2]);
	CHECK(strstr(told.head.answer, "grows by") && strstr(told.head.answer, "leak_here"));
	CHECK(strstr(told.stack[leaky - told.row], "leak_here") &&
	      strstr(told.stack[leaky - told.row], "one")); /* the stack that holds most */
	CHECK(!row_named(HI_ROW_FUNCTION, "steady") ||
	      !row_named(HI_ROW_FUNCTION, "steady")->is_growing);
	leaks_close(&leaks);
	stack_text_close(&text);
	input_close(&input);
	profile_close(&again);
	profile_close(&profile);
	fclose(file);
}

UNIT_TEST(what_is_no_profile_is_told_as_nothing)
{
	FILE *file = memory_file();

	CHECK_EQ(tell(file), HI_EXIT_FAILED);
	fputs("heap profile: nonsense\n\033[31m", file);
	CHECK_EQ(tell(file), HI_EXIT_FAILED);
	CHECK_EQ(told.count, 0);
	fclose(file);
}

UNIT_MAIN()
