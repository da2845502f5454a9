/* SPDX-License-Identifier: MIT */
/* known_stacks and stack_rows: from files by hand. */
#include "stack_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define TEXTS "lose a.c:1 < main\0hold\x1b[2J\0"

/* A file with these blocks, to be closed. */
static int file_of(const struct hi_stacked *head, const struct hi_stacked_block *block,
		   const char *texts, size_t text_bytes)
{
	const int fd = memfd_create("stacks", MFD_CLOEXEC);
	const ssize_t size = (ssize_t)(head->block_count * sizeof(*block));

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, head, sizeof(*head)), sizeof(*head));
	CHECK_EQ(write(fd, block, (size_t)size), size);
	CHECK_EQ(write(fd, texts, text_bytes), text_bytes);
	return fd;
}

static const struct hi_stacked_block four[] = {
	{0x3000, 1, 0}, {0x1000, 0, 0}, {0x4000, 0, 0}, {0x9000, 1, 0}};
static const struct hi_stacked four_head = {HI_STACKED_MAGIC, 4, 2, sizeof(TEXTS) - 1};

static struct known_stacks read_four(void)
{
	const int fd = file_of(&four_head, four, TEXTS, sizeof(TEXTS) - 1);
	struct known_stacks stacks;

	CHECK_EQ(known_stacks_read(fd, &stacks), 0);
	close(fd);
	return stacks;
}

UNIT_TEST(blocks_come_by_address_and_stacks_as_plain_text)
{
	struct known_stacks stacks = read_four();

	CHECK_EQ(stacks.count, 4);
	for (size_t i = 1; i < 4; i++)
		CHECK(stacks.block[i - 1].address < stacks.block[i].address);
	CHECK_EQ(stacks.text_count, 2);
	CHECK_STR(stacks.text[0], "lose a.c:1 < main");
	CHECK(!strchr(stacks.text[1], '\x1b'));
	known_stacks_close(&stacks);
}

/* What a file says of itself has to be so. */
UNIT_TEST(a_file_that_is_none_is_refused)
{
	static const struct hi_stacked_block outside[] = {{0x1000, 2, 0}};
	static const struct {
		struct hi_stacked head;
		size_t text_bytes;
	} bad[] = {
		{{HI_STACKED_MAGIC + 1, 4, 2, sizeof(TEXTS) - 1}, sizeof(TEXTS) - 1},
		{{HI_STACKED_MAGIC, 4, 3, sizeof(TEXTS) - 1}, sizeof(TEXTS) - 1},
		{{HI_STACKED_MAGIC, 4, 2, sizeof(TEXTS) - 2}, sizeof(TEXTS) - 2},
		{{HI_STACKED_MAGIC, 4, 2, sizeof(TEXTS) - 1}, 5},
	};
	struct known_stacks stacks;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const int fd = file_of(&bad[i].head, four, TEXTS, bad[i].text_bytes);

		CHECK_EQ(known_stacks_read(fd, &stacks), -EBADMSG);
		CHECK_EQ(stacks.count, 0);
		close(fd);
	}
	const struct hi_stacked much = {HI_STACKED_MAGIC, 1ull << 60, 2, 0};
	int fd = memfd_create("stacks", MFD_CLOEXEC);

	CHECK_EQ(write(fd, &much, sizeof(much)), sizeof(much));
	CHECK_EQ(known_stacks_read(fd, &stacks), -EBADMSG);
	CHECK_EQ(ftruncate(fd, 8), 0);
	CHECK_EQ(known_stacks_read(fd, &stacks), -EBADMSG);
	close(fd);
	const struct hi_stacked one = {HI_STACKED_MAGIC, 1, 2, sizeof(TEXTS) - 1};

	fd = file_of(&one, outside, TEXTS, sizeof(TEXTS) - 1);
	CHECK_EQ(known_stacks_read(fd, &stacks), -EBADMSG);
	close(fd);
}

static const char *printed(const struct stack_rows *rows, size_t group, bool json)
{
	static char text[2048];
	FILE *out = fmemopen(text, sizeof(text), "w");

	memset(text, 0, sizeof(text));
	if (json)
		stack_rows_print_json(rows, group, out);
	else
		stack_rows_print(rows, group, out);
	fclose(out);
	return text;
}

UNIT_TEST(each_group_has_the_stacks_of_its_blocks)
{
	static const struct mark_block block[] = {
		{0x1000, 8}, {0x2000, 8}, {0x3000, 8}, {0x4000, 8}, {0x5000, 8}};
	static const uint32_t group[] = {7, 7, 7, 7, 1};
	struct known_stacks stacks = read_four();
	struct stack_rows rows;

	CHECK_EQ(stack_rows_find(&stacks, block, 5, group, &rows), 0);
	CHECK_EQ(rows.sampled, 3);
	const char *text = printed(&rows, 7, false);
	CHECK(strstr(text, " 66.7% of 3 sampled: lose a.c:1 < main\n"));
	CHECK(strstr(text, " 33.3% of 3 sampled: hold"));
	CHECK(strstr(text, "lose") < strstr(text, "hold"));
	CHECK_STR(printed(&rows, 1, false), "");
	CHECK_STR(printed(&rows, 1, true), ",\"sampled\":0,\"stacks\":[]");
	CHECK(strstr(
		printed(&rows, 7, true),
		",\"sampled\":3,\"stacks\":[{\"sampled\":2,\"stack\":\"lose a.c:1 < main\"},"));
	stack_rows_close(&rows);
	known_stacks_close(&stacks);
}

UNIT_TEST(without_a_session_nothing_is_said)
{
	const struct stack_rows none = {0};

	CHECK_STR(printed(&none, 0, false), "");
	CHECK_STR(printed(&none, 0, true), "");
}

UNIT_MAIN()
