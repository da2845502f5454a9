/* SPDX-License-Identifier: MIT */
/* glance: what a process that has read a stranger's profile says is checked, byte by byte. */
#include "glance.h"
#include "order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "unit.h"

#define GLANCE_MAGIC 0x316b6f6f6c6968u /* as in glance.c */

struct answer_bytes {
	char bytes[1 << 20];
	size_t size;
};

static struct answer_bytes text;

static void add(const void *bytes, size_t size)
{
	memcpy(text.bytes + text.size, bytes, size);
	text.size += size;
}

static void add_head(uint32_t count)
{
	static struct status_fields status;
	const uint64_t magic = GLANCE_MAGIC;
	struct hi_rows_head head = {.magic = HI_ROWS_MAGIC, .count = count, .live = NAN};

	text.size = 0;
	status.samples = 7;
	memset(head.answer, 'x', sizeof(head.answer)); /* no end */
	add(&magic, sizeof(magic));
	add(&status, sizeof(status));
	add(&head, sizeof(head));
}

static void add_row(enum hi_row_kind kind, const char *name, double slope, double live,
		    const char *stack)
{
	struct hi_row row = {.kind = kind,
			     .slope = slope,
			     .live = live,
			     .is_growing = slope > 10,
			     .stack_size = (uint32_t)strlen(stack)};

	snprintf(row.name, sizeof(row.name), "%s", name);
	memset(row.verdict, 'v', sizeof(row.verdict));
	add(&row, sizeof(row));
	add(stack, strlen(stack));
}

UNIT_TEST(rows_are_read_and_strings_end)
{
	struct glance glance = {0};

	add_head(2);
	add_row(HI_ROW_FUNCTION, "one", INFINITY, 2, "one a.c:1\nmain\n");
	add_row(HI_ROW_STACK, "two", 3, 4, "");
	CHECK_EQ(glance_read(text.bytes, text.size, &glance), 0);
	CHECK(glance.has_rows);
	CHECK_EQ(glance.count, 2);
	CHECK_EQ(glance.status.samples, 7);
	CHECK_STR(glance.row[0].stack, "one a.c:1\nmain\n");
	CHECK_STR(glance.row[1].stack, "");
	CHECK_EQ(strlen(glance.head.answer), sizeof(glance.head.answer) - 1);
	CHECK_EQ(strlen(glance.row[0].row.verdict), sizeof(glance.row[0].row.verdict) - 1);
	CHECK(glance.head.live == 0 && glance.row[0].row.slope == 0); /* no numbers */
	glance_close(&glance);
}

UNIT_TEST(a_status_alone_is_an_answer)
{
	struct glance glance = {0};

	add_head(0);
	text.size -= sizeof(struct hi_rows_head);
	CHECK_EQ(glance_read(text.bytes, text.size, &glance), 0);
	CHECK(!glance.has_rows);
	glance_close(&glance);
}

UNIT_TEST(what_is_cut_anywhere_is_refused_and_keeps_the_last_look)
{
	struct glance glance = {0};

	add_head(2);
	add_row(HI_ROW_FUNCTION, "one", 1, 2, "one\n");
	add_row(HI_ROW_STACK, "two", 3, 4, "two\n");
	const size_t head = text.size - 2 * (sizeof(struct hi_row) + 4) - sizeof(glance.head);
	CHECK_EQ(glance_read(text.bytes, text.size, &glance), 0);
	for (size_t size = 0; size < text.size; size++) {
		if (size == head)
			continue; /* the status alone */
		/* a copy of that size, so that a sanitizer sees what is read beyond it */
		char *cut = malloc(size + 1);
		memcpy(cut, text.bytes, size);
		CHECK_EQ(glance_read(cut, size, &glance), -EPROTO);
		free(cut);
	}
	CHECK_EQ(glance.count, 2);
	glance_close(&glance);
}

UNIT_TEST(numbers_that_lie_are_refused)
{
	struct glance glance = {0};
	uint32_t lie;

	CHECK_EQ(glance_read("heapinject: no session\n", 23, &glance), -EPROTO);
	CHECK_EQ(glance_read(NULL, 0, &glance), -EPROTO);
	add_head(HI_ROWS_MAX + 1);
	CHECK_EQ(glance_read(text.bytes, text.size, &glance), -EPROTO);
	add_head(1);
	const size_t row = text.size;
	add_row(HI_ROW_STACK, "one", 1, 2, "one\n");
	lie = HI_ROW_KINDS;
	memcpy(text.bytes + row + offsetof(struct hi_row, kind), &lie, sizeof(lie));
	CHECK_EQ(glance_read(text.bytes, text.size, &glance), -EPROTO);
	lie = HI_ROW_STACK;
	memcpy(text.bytes + row + offsetof(struct hi_row, kind), &lie, sizeof(lie));
	lie = UINT32_MAX;
	memcpy(text.bytes + row + offsetof(struct hi_row, stack_size), &lie, sizeof(lie));
	CHECK_EQ(glance_read(text.bytes, text.size, &glance), -EPROTO);
	glance_close(&glance);
}

/* The names in that order, "one two ". */
static const char *ordered(const struct glance *glance, const struct order *order)
{
	static char names[8 * sizeof(glance->row[0].row.name)];
	size_t index[8];
	const size_t count = order_rows(glance, order, index);

	names[0] = 0;
	for (size_t i = 0; i < count; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
			 glance->row[index[i]].row.name);
	return names;
}

UNIT_TEST(rows_are_put_in_order_and_filtered)
{
	struct glance glance = {0};
	struct order order = {.kind = HI_ROW_FUNCTION};

	add_head(4);
	add_row(HI_ROW_FUNCTION, "beta", 20, 1, "beta\nMain\n");
	add_row(HI_ROW_STACK, "other", 99, 99, "");
	add_row(HI_ROW_FUNCTION, "alpha", 5, 30, "alpha\n");
	add_row(HI_ROW_FUNCTION, "gamma", -1, 20, "gamma\nmain\n");
	CHECK_EQ(glance_read(text.bytes, text.size, &glance), 0);
	CHECK_STR(ordered(&glance, &order), "beta alpha gamma ");
	order.key = ORDER_LIVE;
	CHECK_STR(ordered(&glance, &order), "alpha gamma beta ");
	order.key = ORDER_NAME;
	CHECK_STR(ordered(&glance, &order), "alpha beta gamma ");
	snprintf(order.filter, sizeof(order.filter), "MAIN");
	CHECK_STR(ordered(&glance, &order), "beta gamma ");
	snprintf(order.filter, sizeof(order.filter), "nothing");
	CHECK_STR(ordered(&glance, &order), "");
	order = (struct order){.kind = HI_ROW_STACK};
	CHECK_STR(ordered(&glance, &order), "other ");
	glance_close(&glance);
}

UNIT_MAIN()
