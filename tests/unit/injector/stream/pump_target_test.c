/* SPDX-License-Identifier: MIT */
/* pump_target_test.c - what describes the target: header, modules, mappings, figures, end. */
#include "pumped.h"

#include <errno.h>

UNIT_TEST(the_header_carries_every_string)
{
	static const char cmdline[] = "server\0--port\0007";
	prepare();
	const struct pump_target target = {
		.pid = 1234,
		.start_ticks = 4711,
		.interval = 65536,
		.comm = "server",
		.exe = "/opt/server",
		.host = "",
		.version = "1.2",
		.cmdline = cmdline,
		.cmdline_size = sizeof(cmdline),
	};
	CHECK_EQ(pump_header(&pump, &target), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	const union stream_any *got = expect(HI_STREAM_HEADER);
	CHECK_EQ(got->header.magic, HI_STREAM_MAGIC);
	CHECK_EQ(got->header.version, HI_STREAM_VERSION);
	CHECK_EQ(got->header.pid, 1234);
	CHECK_EQ(got->header.interval, 65536);
	CHECK(got->header.start_unix_ns > 1600000000ull * 1000000000u);
	CHECK_EQ(got->header.cmdline_size, sizeof(cmdline));
	const char *text = (const char *)got->bytes + sizeof(got->header);
	CHECK_EQ(memcmp(text, "server", 6), 0);
	CHECK_EQ(memcmp(text + 6, cmdline, sizeof(cmdline)), 0);
	CHECK_EQ(memcmp(text + 6 + sizeof(cmdline), "/opt/server1.2", 14), 0);
	CHECK_EQ(expect(HI_STREAM_PROCESS)->process.start_ticks, 4711);
	finish();
}

UNIT_TEST(a_look_at_the_heap)
{
	const struct heap_figures figures = {.anonymous = 1,
					     .used_bytes = 2,
					     .used_count = 3,
					     .used = 4,
					     .free = 5,
					     .cached = 6,
					     .trimmable = 7,
					     .own = 8,
					     .unsure = 9,
					     .cost_ns = 10,
					     .name = "glibc 2.36",
					     .refusal = "it takes too long"};

	prepare();
	CHECK_EQ(pump_heap(&pump, &figures, 4711), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	const struct hi_stream_heap *heap = &expect(HI_STREAM_HEAP)->heap;
	CHECK_EQ(heap->time_ns, 4711);
	CHECK_EQ(heap->anonymous_bytes, 1);
	CHECK_EQ(heap->used_bytes, 2);
	CHECK_EQ(heap->used_count, 3);
	CHECK_EQ(heap->used_resident_bytes, 4);
	CHECK_EQ(heap->free_resident_bytes, 5);
	CHECK_EQ(heap->cache_resident_bytes, 6);
	CHECK_EQ(heap->trim_bytes, 7);
	CHECK_EQ(heap->own_resident_bytes, 8);
	CHECK_EQ(heap->unsure_resident_bytes, 9);
	CHECK_EQ(heap->cost_ns, 10);
	CHECK_EQ(heap->name_size, 10);
	CHECK_EQ(memcmp(heap + 1, "glibc 2.36it takes too long", 27), 0);
	CHECK_EQ(heap->refusal_size, 17);
	expect_nothing();
	finish();
}

UNIT_TEST(a_module_comes_before_the_events_in_it)
{
	prepare();
	const struct elf_image *libc = own_image(&own, "libc.so");
	CHECK_EQ(pump_modules(&pump, &own.images), 0);
	put_alloc(libc->text[0].lo + 16, 1, 1);
	round_once();
	unsigned modules = 0;
	bool has_libc = false;
	const union stream_any *got;
	while ((got = next()) && got->record.type == HI_STREAM_MODULE) {
		const char *text =
			(const char *)got->bytes + sizeof(got->module) + got->module.build_id_size;
		modules++;
		CHECK(got->module.module >= 1 && got->module.module <= own.images.count);
		if (got->module.lo != libc->text[0].lo)
			continue;
		has_libc = true;
		CHECK_EQ(got->module.hi, libc->text[0].hi);
		CHECK_EQ(got->module.file_offset, libc->text[0].file_offset);
		CHECK_EQ(got->module.bias, libc->bias);
		CHECK_EQ(got->module.inode, libc->inode);
		CHECK_EQ(got->module.build_id_size, libc->build_id_size);
		CHECK_EQ(memcmp(got->bytes + sizeof(got->module), libc->build_id,
				libc->build_id_size),
			 0);
		CHECK_EQ(got->module.path_size, strlen(libc->path));
		CHECK_EQ(memcmp(text, libc->path, got->module.path_size), 0);
		CHECK_EQ(memcmp(text + got->module.path_size, libc->open_path,
				got->module.open_path_size),
			 0);
	}
	CHECK(has_libc);
	CHECK(modules >= own.images.count);
	CHECK(got);
	CHECK_EQ(got->record.type, HI_STREAM_THREAD);
	expect(HI_STREAM_ALLOC);
	expect_nothing();
	CHECK_EQ(pump_modules(&pump, &own.images), 0); /* nothing new */
	CHECK_EQ(stream_out_flush(&out), 0);
	expect_nothing();
	finish();
}

/* Objects that were never mapped: an image with `texts` texts of a page each. */
static struct elf_image invent(const char *path, struct elf_text *text, remote_addr lo,
			       size_t texts)
{
	for (size_t i = 0; i < texts; i++)
		text[i] = (struct elf_text){.lo = lo + i * 0x10000,
					    .hi = lo + i * 0x10000 + 0x1000,
					    .file_offset = i * 0x1000};
	return (struct elf_image){
		.path = (char *)(uintptr_t)path,
		.open_path = (char *)(uintptr_t) "",
		.inode = strlen(path),
		.bias = lo,
		.text = text,
		.text_count = texts,
	};
}

UNIT_TEST(a_library_that_moved_is_gone_before_it_is_there_again)
{
	struct elf_text text[2][2];
	struct elf_image image[2] = {invent("/lib/a", text[0], 0x1000000, 1),
				     invent("/lib/bb", text[1], 0x2000000, 1)};
	const struct elf_images images = {.image = image, .count = 2};
	prepare();
	CHECK_EQ(pump_modules(&pump, &images), 0);
	image[0] = invent("/lib/a", text[0], 0x3000000, 1);
	CHECK_EQ(pump_modules(&pump, &images), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 2);
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	const union stream_any *got = expect(HI_STREAM_MODULE);
	CHECK_EQ(got->module.module, 3);
	CHECK_EQ(got->module.lo, 0x3000000);
	expect_nothing();
	finish();
}

UNIT_TEST(all_texts_of_an_object_carry_one_number_and_go_with_it)
{
	struct elf_text text[2];
	struct elf_image image = invent("/lib/a", text, 0x1000000, 2);
	struct elf_images images = {.image = &image, .count = 1};
	prepare();
	CHECK_EQ(pump_modules(&pump, &images), 0);
	images.count = 0;
	CHECK_EQ(pump_modules(&pump, &images), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	expect_nothing();
	CHECK_EQ(pump.sent_count, 0);
	finish();
}

/* A sample of when so many objects had been loaded, by a stack that is known. */
static void put_loaded(uint16_t loads)
{
	uint64_t record[2 * HI_RING_UNIT / 8] = {0};
	struct hi_record_known known = {.address = 0x5000 + 16u * loads,
					.bytes = 48,
					.stack = put_stack(128, 2),
					.loads = loads,
					.function = HI_FN_MALLOC};
	put_header(&known.header, sizeof(record), HI_RECORD_KNOWN);
	memcpy(record, &known, sizeof(known));
	put(record, sizeof(record));
}

/* A pump whose stream has one library, the fifth that was loaded; another one comes after it. */
struct replaced {
	struct elf_text text[2][2];
	struct elf_image image[2];
	struct elf_images before, after;
};

static void prepare_replaced(struct replaced *of)
{
	prepare();
	of->image[0] = invent("/lib/a", of->text[0], 0x1000000, 1);
	of->image[1] = invent("/lib/bb", of->text[1], 0x1000000, 1);
	of->before = (struct elf_images){.image = &of->image[0], .count = 1};
	of->after = (struct elf_images){.image = &of->image[1], .count = 1};
	CHECK_EQ(pump_follow_modules(&pump, &(struct pump_objects){&of->before, 5, false}), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 1);
	expect_nothing();
	put_loaded(5);
	round_once();
	expect(HI_STREAM_THREAD);
	expect(HI_STREAM_STACK);
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	expect_nothing();
}

static void follow(const struct elf_images *images, uint64_t loads, bool are_blurred)
{
	CHECK_EQ(pump_follow_modules(&pump, &(struct pump_objects){images, loads, are_blurred}), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	expect_nothing();
}

UNIT_TEST(a_library_comes_between_the_samples_of_before_and_after)
{
	struct replaced of;
	prepare_replaced(&of);
	put_loaded(5);
	put_loaded(6);
	follow(&of.after, 6, false);
	round_once();
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 2);
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	expect_nothing();
	finish();
}

UNIT_TEST(a_library_that_goes_goes_after_its_last_samples)
{
	const struct elf_images none = {.count = 0};
	struct replaced of;
	prepare_replaced(&of);
	put_loaded(5);
	follow(&none, 5, false);
	round_once();
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	expect_nothing();
	finish();
}

/* Another one came and went in between: where it lay, and whether the first was still there. */
UNIT_TEST(samples_of_what_nobody_saw_are_marked)
{
	struct replaced of;
	prepare_replaced(&of);
	put_loaded(5);
	put_loaded(6);
	put_loaded(7);
	follow(&of.after, 7, false);
	round_once();
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	const union stream_any *got = expect(HI_STREAM_ALLOC);
	CHECK_EQ(got->alloc.record.flags & HI_STREAM_UNSURE, HI_STREAM_UNSURE);
	CHECK_EQ(got->alloc.stack, 0);
	CHECK_EQ(got->alloc.frame_count, 2);
	CHECK_EQ(got->alloc.address, 0x5000 + 16 * 6);
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 2);
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	expect_nothing();
	/* a straggler, and what was loaded since */
	put_loaded(6);
	put_loaded(8);
	round_once();
	CHECK(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE);
	CHECK(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE);
	expect_nothing();
	finish();
}

UNIT_TEST(a_list_that_changed_while_it_was_read_is_not_believed)
{
	struct replaced of;
	prepare_replaced(&of);
	put_loaded(6);
	follow(&of.after, 6, true);
	round_once();
	CHECK(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE);
	expect_nothing();
	put_loaded(6);
	round_once();
	CHECK(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE);
	expect_nothing();
	follow(&of.after, 6, false);
	round_once();
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 2);
	put_loaded(6);
	round_once();
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	expect_nothing();
	finish();
}

/* What is new to the stream then may have been there before: it is not what was loaded since. */
UNIT_TEST(after_such_a_list_what_is_gone_is_gone_at_once)
{
	struct replaced of;
	prepare_replaced(&of);
	of.image[1] = invent("/lib/bb", of.text[1], 0x3000000, 1);
	follow(&of.after, 6, true);
	round_once();
	expect_nothing();
	put_loaded(7);
	follow(&of.after, 7, false);
	round_once();
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 2);
	CHECK(!(expect(HI_STREAM_ALLOC)->alloc.record.flags & HI_STREAM_UNSURE));
	expect_nothing();
	finish();
}

/*
 * MODULE_GONE takes the whole object from the reader: what of it is still mapped must be told anew.
 */
UNIT_TEST(the_texts_that_an_object_keeps_are_described_again)
{
	struct elf_text text[2];
	struct elf_image image = invent("/lib/a", text, 0x1000000, 2);
	const struct elf_images images = {.image = &image, .count = 1};
	prepare();
	CHECK_EQ(pump_modules(&pump, &images), 0);
	text[0].hi += 0x1000;
	CHECK_EQ(pump_modules(&pump, &images), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	expect(HI_STREAM_MODULE);
	expect(HI_STREAM_MODULE);
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	const union stream_any *got = expect(HI_STREAM_MODULE);
	CHECK_EQ(got->module.lo, 0x1000000);
	CHECK_EQ(got->module.hi, 0x1002000);
	const uint32_t number = got->module.module;
	got = expect(HI_STREAM_MODULE);
	CHECK_EQ(got->module.lo, 0x1010000);
	CHECK_EQ(got->module.module, number);
	expect_nothing();
	finish();
}

UNIT_TEST(maps_stats_and_end_go_out_as_they_are)
{
	const struct hi_stream_stats stats = {.samples = 1,
					      .frees = 2,
					      .dropped_allocs = 3,
					      .payload_cpu_ns = 4,
					      .resident_bytes = 5};
	prepare();
	CHECK_EQ(pump_maps(&pump, &own.maps), 0);
	CHECK_EQ(pump_stats(&pump, &stats), 0);
	CHECK_EQ(pump_end(&pump, HI_STREAM_END_DETACH), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	const union stream_any *got = expect(HI_STREAM_MAPS);
	CHECK_EQ(got->maps.text_size, own.maps.text_size);
	CHECK_EQ(memcmp(got->bytes + sizeof(got->maps), own.maps.text, own.maps.text_size), 0);
	got = expect(HI_STREAM_STATS);
	CHECK_EQ(got->stats.samples, 1);
	CHECK_EQ(got->stats.resident_bytes, 5);
	const uint64_t stats_ns = got->stats.time_ns;
	CHECK(stats_ns > 0);
	got = expect(HI_STREAM_END);
	CHECK_EQ(got->record.flags, HI_STREAM_END_DETACH);
	CHECK(got->end.time_ns >= stats_ns);
	expect_nothing();
	finish();
}

UNIT_TEST(maps_that_no_record_can_hold_are_cut_between_two_lines)
{
	static char text[HI_STREAM_RECORD_MAX + 100];
	const struct maps maps = {.text = text, .text_size = sizeof(text)};
	struct hi_stream_maps record;
	memset(text, 'x', sizeof(text));
	for (size_t line = 99; line < sizeof(text); line += 100)
		text[line] = '\n';
	prepare();
	CHECK_EQ(pump_maps(&pump, &maps), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(pread(file, &record, sizeof(record), read_to), sizeof(record));
	CHECK(record.record.size <= HI_STREAM_RECORD_MAX &&
	      record.text_size > HI_STREAM_RECORD_MAX - 200);
	CHECK_EQ(record.text_size % 100, 0);
	finish();
}

UNIT_MAIN()
