/* SPDX-License-Identifier: MIT */
/*
 * publish: the two lists that the payload reads while it walks a stack, and the tables behind them.
 * Images are this process's own; the regions come from invented maps.
 */
#include "publish.h"
#include "arena.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "own_images.h"

#define TABLES_BYTES (16u << 20)

static struct publisher publisher;
static struct hi_control *control;
static uint8_t *tables;

static void prepare(uint64_t tables_bytes)
{
	publisher_open(&publisher);
	control = arena_control_new();
	tables = calloc(1, tables_bytes);
	CHECK(control && tables);
	control->tables.size = tables_bytes;
}

static void finish(void)
{
	publisher_close(&publisher);
	arena_control_free(control);
	free(tables);
}

static const struct hi_regions *regions(void)
{
	return &control->regions[control->current_regions];
}

static const struct hi_unwind_directory *directory(void)
{
	return &control->directory[control->current_directory];
}

static void publish_regions(const char *text)
{
	struct maps maps;
	CHECK_EQ(maps_parse(text, strlen(text), &maps), 0);
	publisher_publish_regions(&publisher, &maps, control);
	maps_close(&maps);
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Memory of files holds a stack where one was seen only. */
static const char target_maps[] =
	"10000000-10001000 rw-s 00000000 00:01 77      /memfd:a (deleted)\n"
	"20000000-20010000 rw-s 00000000 00:01 77      /memfd:a (deleted)\n"
	"20010000-20020000 r--s 00000000 00:01 77      /memfd:a (deleted)\n"
	"30000000-30010000 rw-p 00000000 00:01 77      /memfd:a (deleted)\n"
	"40000000-40010000 r--p 00000000 00:00 0\n"
	"7ff000000000-7ff000021000 rw-p 00000000 00:00 0      [stack]\n"
	"7ff000030000-7ff000032000 r-xp 00000000 00:00 0      [vdso]\n";

UNIT_TEST(the_main_stack_is_a_region_with_room_to_grow)
{
	prepare(TABLES_BYTES);
	publish_regions(target_maps);
	CHECK_EQ(regions()->count, 1);
	CHECK_EQ(regions()->range[0].lo, 0x7ff000021000 - (64ull << 20));
	CHECK_EQ(regions()->range[0].hi, 0x7ff000021000);
	CHECK_EQ(control->main_stack, 0x7ff000021000);
	finish();
}

UNIT_TEST(all_memory_without_a_file_is_listed)
{
	prepare(TABLES_BYTES);
	publish_regions("10000000-10001000 ---p 00000000 00:00 0\n"
			"10001000-10010000 rw-p 00000000 00:00 0\n"
			"10010000-10020000 -w-p 00000000 00:00 0\n"
			"10030000-10040000 rwxp 00000000 00:00 0\n"
			"10050000-10060000 rw-p 00000000 08:01 9      /a/library\n"
			"20000000-20030000 rw-p 00000000 00:00 0      [heap]\n");
	CHECK_EQ(regions()->count, 3);
	CHECK_EQ(regions()->range[0].lo, 0x10001000);
	CHECK_EQ(regions()->range[0].hi, 0x10010000);
	CHECK_EQ(regions()->range[1].lo, 0x10030000);
	CHECK_EQ(regions()->range[2].lo, 0x20000000);
	CHECK_EQ(control->main_stack, 0);
	finish();
}

UNIT_TEST(the_main_stack_grows_no_further_than_its_neighbour)
{
	prepare(TABLES_BYTES);
	publish_regions("7fefff000000-7fefff800000 r--p 00000000 00:00 0\n"
			"7ff000000000-7ff000021000 rw-p 00000000 00:00 0      [stack]\n");
	CHECK_EQ(regions()->count, 1);
	CHECK_EQ(regions()->range[0].lo, 0x7fefff800000);
	finish();
}

UNIT_TEST(a_learned_stack_pointer_makes_its_mapping_a_region)
{
	prepare(TABLES_BYTES);
	CHECK_EQ(publisher_learn(&publisher, 0x3000fff8), 0);
	CHECK_EQ(publisher_learn(&publisher, 0x20000000), 0);
	CHECK_EQ(publisher_learn(&publisher, 0x20015000), 0); /* cannot be written: no stack */
	CHECK_EQ(publisher_learn(&publisher, 0x25000000), 0); /* not mapped (any more) */
	CHECK_EQ(publisher_learn(&publisher, 0x10001000), 0); /* one past the end */
	publish_regions(target_maps);
	CHECK_EQ(regions()->count, 3);
	CHECK_EQ(regions()->range[0].lo, 0x20000000);
	CHECK_EQ(regions()->range[0].hi, 0x20010000);
	CHECK_EQ(regions()->range[1].lo, 0x30000000);
	finish();
}

/*
 * The payload searches the list by halves: it must be sorted and without overlaps, whatever was
 * learned in whatever order.
 */
UNIT_TEST(regions_are_sorted_and_do_not_overlap)
{
	char text[64 * 600], *at = text;
	for (unsigned i = 0; i < 600; i++) /* neighbours touch in threes */
		at += sprintf(at, "%x-%x rw-s 00000000 00:01 5\n", 0x1000000 + (i + i / 3) * 0x1000,
			      0x1001000 + (i + i / 3) * 0x1000);
	prepare(TABLES_BYTES);
	for (unsigned i = 0; i < 2000; i++)
		CHECK_EQ(publisher_learn(&publisher,
					 0x1000000 + (i * 7919u % 900) * 0x1000 + i % 0x1000),
			 0);
	publish_regions(text);
	CHECK_EQ(regions()->count, 600);
	for (uint32_t i = 0; i < regions()->count; i++) {
		CHECK(regions()->range[i].lo < regions()->range[i].hi);
		CHECK(i == 0 || regions()->range[i - 1].hi <= regions()->range[i].lo);
	}
	finish();
}

UNIT_TEST(more_regions_than_there_is_room_for_are_cut)
{
	enum { MAPPINGS = HI_REGION_CAPACITY + 80 };
	char *text = malloc(64 * MAPPINGS), *at = text;
	prepare(TABLES_BYTES);
	for (unsigned i = 0; i < MAPPINGS; i++)
		at += sprintf(at, "%x-%x rw-p 00000000 00:00 0%s\n", 0x1000000 + i * 0x2000,
			      0x1001000 + i * 0x2000, i == MAPPINGS - 3 ? " [stack]" : "");
	publish_regions(text);
	CHECK_EQ(regions()->count, HI_REGION_CAPACITY);
	CHECK_EQ(regions()->range[HI_REGION_CAPACITY - 2].lo,
		 0x1000000 + (HI_REGION_CAPACITY - 2) * 0x2000);
	CHECK_EQ(regions()->range[HI_REGION_CAPACITY - 1].hi, 0x1001000 + (MAPPINGS - 3) * 0x2000);
	CHECK_EQ(control->directory[0].generation, 0); /* what lies behind the list in the block */
	free(text);
	finish();
}

UNIT_TEST(what_was_learned_long_ago_is_forgotten_in_time)
{
	prepare(TABLES_BYTES);
	for (unsigned i = 0; i < 100000; i++)
		CHECK_EQ(publisher_learn(&publisher, 0x20000008), 0);
	CHECK(publisher.learned_count <= 4096);
	/* the latest is never the one to go */
	CHECK_EQ(publisher_learn(&publisher, 0x30000008), 0);
	publish_regions(target_maps);
	CHECK_EQ(regions()->count, 3);
	finish();
}

static int thread_ready[2];

static void *wait_in_read(void *stack_address)
{
	char byte;
	*(void *volatile *)stack_address = &byte;
	(void)!read(thread_ready[0], &byte, 1);
	return NULL;
}

static void publish_own_regions(void)
{
	struct maps maps;
	CHECK_EQ(maps_read(getpid(), getpid(), &maps), 0);
	publisher_publish_regions(&publisher, &maps, control);
	maps_close(&maps);
}

static bool is_in_a_region(const void *address)
{
	bool found = false;
	for (uint32_t r = 0; r < regions()->count; r++)
		found |= address && regions()->range[r].lo <= address_of(address) &&
			 address_of(address) < regions()->range[r].hi;
	return found;
}

UNIT_TEST(the_stack_of_a_blocked_thread_is_a_region)
{
	pthread_t thread;
	void *volatile stack_address = NULL;
	prepare(TABLES_BYTES);
	CHECK_EQ(pipe(thread_ready), 0);
	CHECK_EQ(pthread_create(&thread, NULL, wait_in_read, (void *)&stack_address), 0);
	/* not before it is in its system call */
	WAIT_FOR(publish_own_regions(), is_in_a_region(stack_address));
	CHECK_EQ(write(thread_ready[1], "", 1), 1);
	pthread_join(thread, NULL);
	finish();
}

/* A payload may stand in the middle of the current list while the next is written. */
UNIT_TEST(the_current_lists_are_left_alone_until_the_next_are_whole)
{
	struct own own = own_open();
	struct hi_regions *before = malloc(sizeof(*before));
	struct hi_unwind_directory *modules_before = malloc(sizeof(*modules_before));
	prepare(TABLES_BYTES);
	CHECK_EQ(publisher_build(&publisher, &own.images), 0);
	for (unsigned round = 1; round <= 6; round++) {
		const uint32_t old = control->current_regions,
			       old_directory = control->current_directory;
		memcpy(before, &control->regions[old], sizeof(*before));
		memcpy(modules_before, &control->directory[old_directory], sizeof(*modules_before));
		CHECK_EQ(publisher_learn(&publisher, round % 2 ? 0x20000000 : 0x30000000), 0);
		publish_regions(target_maps);
		publisher_publish_tables(&publisher, &own.images, control, tables);
		CHECK_EQ(control->current_regions, !old);
		CHECK_EQ(control->current_directory, !old_directory);
		CHECK_EQ(memcmp(before, &control->regions[old], sizeof(*before)), 0);
		CHECK_EQ(memcmp(modules_before, &control->directory[old_directory],
				sizeof(*modules_before)),
			 0);
		/* even, and another than before */
		CHECK_EQ(regions()->generation, (round + 1) / 2 * 2);
		CHECK_EQ(directory()->generation, (round + 1) / 2 * 2);
	}
	free(before);
	free(modules_before);
	finish();
	own_close(&own);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The row that the payload would find. */
static const struct hi_unwind_row *lookup(remote_addr pc)
{
	for (uint32_t i = 0; i < directory()->count; i++) {
		const struct hi_unwind_module *module = &directory()->module[i];
		if (pc < module->lo || pc >= module->hi)
			continue;
		const struct hi_unwind_row *row = (const void *)(tables + module->rows);
		const uint32_t *index = (const void *)(tables + module->index);
		uint32_t at = index[(pc - module->lo) / HI_INDEX_BYTES];
		while (at + 1 < module->row_count && row[at + 1].pc <= pc - module->lo)
			at++;
		return &row[at];
	}
	return NULL;
}

UNIT_TEST(what_is_published_is_what_was_built)
{
	struct own own = own_open();
	const struct elf_image *image = own_image(&own, "libc.so");
	struct unwind_table table;
	prepare(TABLES_BYTES);
	CHECK_EQ(publisher_build(&publisher, &own.images), 0);
	CHECK(publisher_bytes(&publisher) <= TABLES_BYTES);
	const uint64_t announced = publisher_bytes(&publisher);
	publisher_publish_tables(&publisher, &own.images, control, tables);
	CHECK_EQ(publisher.used, announced);
	CHECK_EQ(publisher_bytes(&publisher), announced);
	CHECK_EQ(publisher.missing, 0);
	CHECK_EQ(unwind_table_build(image, &image->text[0], &table), 0);
	for (remote_addr pc = table.lo; pc < table.hi; pc += 97) {
		const struct hi_unwind_row *got = lookup(pc);
		CHECK(got);
		CHECK_EQ(memcmp(got, unwind_table_find(&table, pc), sizeof(*got)), 0);
	}
	unwind_table_close(&table);
	finish();
	own_close(&own);
}

UNIT_TEST(unwind_information_without_end_is_not_read)
{
	struct own own = own_open();
	const struct elf_image *image = own_image(&own, "libc.so");
	prepare(TABLES_BYTES);
	publisher.build_room = unwind_table_cost(image) - 1;
	CHECK_EQ(publisher_build(&publisher, &own.images), 0);
	CHECK(publisher.build_room < unwind_table_cost(image));
	publisher_publish_tables(&publisher, &own.images, control, tables);
	CHECK(!lookup(image->text[0].lo)); /* there the frame-pointer chain must do */
	finish();
	own_close(&own);
}

UNIT_TEST(the_directory_is_sorted_and_within_the_tables)
{
	struct own own = own_open();
	prepare(TABLES_BYTES);
	CHECK_EQ(publisher_build(&publisher, &own.images), 0);
	publisher_publish_tables(&publisher, &own.images, control, tables);
	CHECK(directory()->count >= 3); /* program, libc, ld.so */
	for (uint32_t i = 0; i < directory()->count; i++) {
		const struct hi_unwind_module *module = &directory()->module[i];
		CHECK(i == 0 || directory()->module[i - 1].hi <= module->lo);
		/* offset 0 is nobody's: it would pass for "not known" */
		CHECK(module->rows >= HI_PAGE_BYTES);
		CHECK_EQ(module->rows % 8, 0);
		CHECK(module->rows + module->row_count * sizeof(struct hi_unwind_row) <=
		      TABLES_BYTES);
		CHECK(module->index + module->index_count * sizeof(uint32_t) <= TABLES_BYTES);
		CHECK_EQ(module->index_count, (module->hi - module->lo) / HI_INDEX_BYTES + 2);
	}
	finish();
	own_close(&own);
}

/*
 * Images that are libc's, loaded `distance` apart from one another: same file, other addresses. The
 * texts are to be freed.
 */
static struct elf_images copies_of_libc(const struct own *own, size_t count, uint64_t distance)
{
	const struct elf_image *libc = own_image(own, "libc.so");
	struct elf_images images = {.image = calloc(count, sizeof(*images.image)), .count = count};
	for (size_t i = 0; i < count; i++) {
		images.image[i] = *libc;
		images.image[i].text = malloc(sizeof(*libc->text));
		images.image[i].text[0] = libc->text[0];
		images.image[i].text[0].lo += i * distance;
		images.image[i].text[0].hi += i * distance;
		images.image[i].bias += i * distance;
		images.image[i].text_count = 1;
	}
	return images;
}

static void free_copies(struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		free(images->image[i].text);
	free(images->image);
}

UNIT_TEST(the_same_file_elsewhere_uses_the_same_rows)
{
	struct own own = own_open();
	struct elf_images images = copies_of_libc(&own, 2, 1ull << 32);
	prepare(TABLES_BYTES);
	CHECK_EQ(publisher_build(&publisher, &images), 0);
	publisher_publish_tables(&publisher, &images, control, tables);
	const uint64_t used = publisher.used;
	CHECK_EQ(directory()->count, 2);
	CHECK_EQ(directory()->module[1].lo - directory()->module[0].lo, 1ull << 32);
	CHECK_EQ(directory()->module[0].rows, directory()->module[1].rows);
	CHECK_EQ(directory()->module[0].index, directory()->module[1].index);
	/* Gone, and back again somewhere else. */
	images.count = 0;
	publisher_publish_tables(&publisher, &images, control, tables);
	CHECK_EQ(directory()->count, 0);
	images.count = 2;
	CHECK_EQ(publisher_build(&publisher, &images), 0);
	publisher_publish_tables(&publisher, &images, control, tables);
	CHECK_EQ(directory()->count, 2);
	CHECK_EQ(publisher.used, used);
	finish();
	free_copies(&images);
	own_close(&own);
}

/* A library that was replaced on disk and loaded anew has the old one's path, but not its rows. */
UNIT_TEST(another_file_of_the_same_name_has_rows_of_its_own)
{
	struct own own = own_open();
	struct elf_images images = copies_of_libc(&own, 2, 1ull << 32);
	images.image[1].inode++;
	prepare(TABLES_BYTES);
	CHECK_EQ(publisher_build(&publisher, &images), 0);
	publisher_publish_tables(&publisher, &images, control, tables);
	CHECK_EQ(directory()->count, 2);
	CHECK(directory()->module[0].rows != directory()->module[1].rows);
	finish();
	free_copies(&images);
	own_close(&own);
}

UNIT_TEST(more_modules_than_there_is_room_for_are_cut)
{
	struct own own = own_open();
	struct elf_images images = copies_of_libc(&own, HI_MODULE_CAPACITY + 30, 1ull << 25);
	prepare(TABLES_BYTES);
	/* then copy 0 is written, and what an overrun would reach is copy 1 */
	control->current_directory = 1;
	control->directory[1].generation = 4242;
	CHECK_EQ(publisher_build(&publisher, &images), 0);
	publisher_publish_tables(&publisher, &images, control, tables);
	CHECK_EQ(directory()->count, HI_MODULE_CAPACITY);
	CHECK_EQ(control->directory[1].generation, 4242);
	finish();
	free_copies(&images);
	own_close(&own);
}

UNIT_TEST(tables_without_room_are_counted_and_nothing_is_overrun)
{
	struct own own = own_open();
	const struct elf_image *libc = own_image(&own, "libc.so");
	prepare(TABLES_BYTES);
	CHECK_EQ(publisher_build(&publisher, &own.images), 0);
	/* Enough for small objects; for libc's table alone eight bytes too little. */
	struct unwind_table table;
	CHECK_EQ(unwind_table_build(libc, &libc->text[0], &table), 0);
	control->tables.size = HI_PAGE_BYTES +
			       (table.row_count * sizeof(*table.row) +
				table.index_count * sizeof(*table.index) + 7) /
				       8 * 8 -
			       8;
	unwind_table_close(&table);
	memset(tables, 0xee, TABLES_BYTES);
	for (int round = 0; round < 3; round++) {
		publisher_publish_tables(&publisher, &own.images, control, tables);
		CHECK(publisher.missing >= 1);
		CHECK(publisher.missing < own.images.count); /* texts, not tries */
		CHECK(publisher.used <= control->tables.size);
		CHECK(directory()->count >= 1);
		for (uint32_t i = 0; i < directory()->count; i++)
			CHECK(directory()->module[i].lo != libc->text[0].lo);
	}
	for (size_t i = control->tables.size; i < TABLES_BYTES; i++)
		if (tables[i] != 0xee)
			UNIT_FAIL("byte %zu, behind the end, was written", i);
	/* Nothing is lost: with room it is published after all. */
	control->tables.size = TABLES_BYTES;
	publisher_publish_tables(&publisher, &own.images, control, tables);
	CHECK(lookup(libc->text[0].lo + 4096));
	CHECK_EQ(publisher.missing, 0);
	finish();
	own_close(&own);
}

/* A table of two rows for code that begins at lo. */
static struct unwind_table code_at(remote_addr lo, int16_t cfa)
{
	struct unwind_table table = {.lo = lo, .hi = lo + HI_PAGE_BYTES, .row_count = 2};
	table.row = calloc(2, sizeof(*table.row));
	CHECK(table.row);
	table.row[1] = (struct hi_unwind_row){.pc = 0x100, .cfa = cfa, .kind = HI_UNWIND_SP};
	CHECK_EQ(unwind_table_index(&table), 0);
	return table;
}

UNIT_TEST(changing_code_is_published_among_the_objects)
{
	struct own own = own_open();
	struct unwind_table code[2] = {code_at(0x10000, 3), code_at(1ull << 47, 4)};
	prepare(TABLES_BYTES);
	publisher_reserve_code(&publisher, 4096);
	CHECK_EQ(publisher_build(&publisher, &own.images), 0);
	CHECK_EQ(publisher_set_code(&publisher, code, 2, tables), 0);
	publisher_publish_tables(&publisher, &own.images, control, tables);
	CHECK_EQ(lookup(0x10100)->cfa, 3);
	CHECK_EQ(lookup((1ull << 47) + 0x100)->cfa, 4);
	for (uint32_t i = 1; i < directory()->count; i++)
		CHECK(directory()->module[i - 1].hi <= directory()->module[i].lo);
	CHECK_EQ(control->code_lo, 0x10000);
	CHECK_EQ(control->code_lo + control->code_bytes, (1ull << 47) + HI_PAGE_BYTES);
	/* What is read now stays as it is while the next tables are written. */
	const struct hi_unwind_row *before = lookup(0x10100);
	code[0].row[1].cfa = 5;
	CHECK_EQ(publisher_set_code(&publisher, code, 1, tables), 0);
	CHECK_EQ(before->cfa, 3);
	publisher_publish_tables(&publisher, &own.images, control, tables);
	CHECK_EQ(lookup(0x10100)->cfa, 5);
	CHECK(!lookup((1ull << 47) + 0x100));
	/* What finds no room leaves none that would be wrong. */
	code[0].row_count = 512;
	CHECK_EQ(publisher_set_code(&publisher, code, 1, tables), -ENOSPC);
	publisher_publish_tables(&publisher, &own.images, control, tables);
	CHECK(!lookup(0x10100));
	unwind_table_close(&code[0]);
	unwind_table_close(&code[1]);
	finish();
	own_close(&own);
}

/* As of the gate and the payload, added in any order, and of code that changes, in between. */
UNIT_TEST(own_code_is_published_among_the_objects)
{
	struct own own = own_open();
	struct unwind_table table[3] = {code_at(1ull << 47, 3), code_at(0x10000, 4),
					code_at(0x20000, 5)};
	prepare(TABLES_BYTES);
	publisher.room = TABLES_BYTES;
	publisher_reserve_code(&publisher, 4096);
	CHECK_EQ(publisher_build(&publisher, &own.images), 0);
	CHECK_EQ(publisher_set_code(&publisher, &table[2], 1, tables), 0);
	CHECK_EQ(publisher_add_own(&publisher, &table[0], tables), 0);
	CHECK_EQ(publisher_add_own(&publisher, &table[1], tables), 0);
	CHECK_EQ(publisher_add_own(&publisher, &table[2], tables), -ENOSPC); /* it has two */
	for (int round = 0; round < 2; round++) {
		publisher_publish_tables(&publisher, &own.images, control, tables);
		CHECK_EQ(lookup((1ull << 47) + 0x100)->cfa, 3);
		CHECK_EQ(lookup(0x10100)->cfa, 4);
		CHECK_EQ(lookup(0x20100)->cfa, 5);
		for (uint32_t i = 1; i < directory()->count; i++)
			CHECK(directory()->module[i - 1].hi <= directory()->module[i].lo);
	}
	publisher.own_count = 0;
	publisher.room = publisher.used;
	CHECK_EQ(publisher_add_own(&publisher, &table[0], tables), -ENOSPC);
	for (size_t i = 0; i < 3; i++)
		unwind_table_close(&table[i]);
	finish();
	own_close(&own);
}

UNIT_MAIN()
