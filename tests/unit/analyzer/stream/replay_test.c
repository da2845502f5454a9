/* SPDX-License-Identifier: MIT */
/*
 * replay_test.c - streams become the profile that they describe: what they say of the process, its
 * modules, its threads and its dumps.
 */
#include "hi_dump.h"
#include "replayed.h"

#include "caveats.h"
#include "hi_runtimes.h"

UNIT_TEST(metadata)
{
	struct profile profile;
	FILE *file = stream_begin(4096);

	stream_stats(file);
	stream_maps(file, "1000-3000 rw-p 00000000 00:00 0 [heap]\n");
	stream_maps(file, "old\n");
	stream_maps(file, "1000-9000 rw-p 00000000 00:00 0 [heap]\n");
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.pid, 1234);
	CHECK_STR(profile.meta.comm, "server");
	CHECK_STR(profile.meta.cmdline, "/opt/server --port 7");
	CHECK_STR(profile.meta.exe, "/opt/server");
	CHECK_STR(profile.meta.host, "box");
	CHECK_STR(profile.meta.version, "0.1.0");
	CHECK_STR(profile.meta.maps, "1000-9000 rw-p 00000000 00:00 0 [heap]\n");
	CHECK_EQ(profile.meta.mapped_begin.bytes[MAPPED_BRK], 0x2000);
	CHECK_EQ(profile.meta.mapped_end.bytes[MAPPED_BRK], 0x8000);
	CHECK_EQ(profile.meta.interval, 4096);
	CHECK_EQ(profile.meta.duration_ns, 5000);
	CHECK_EQ(profile.meta.dropped_allocs, 3);
	CHECK_EQ(profile.meta.end_reason, HI_STREAM_END_DURATION);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.module_count, 1);
	CHECK_STR(profile.module[0].path, "/opt/server");
	CHECK_EQ(profile.module[0].build_id_size, 4);
	profile_close(&profile);
}

UNIT_TEST(what_the_process_has)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_memory(file, 100, 1000);
	stream_memory(file, 300, 2000);
	stream_memory(file, 200, 3000);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.memory.anonymous_begin, 100);
	CHECK_EQ(profile.meta.memory.anonymous_end, 200);
	CHECK_EQ(profile.meta.memory.writable_end, 3000);
	CHECK_EQ(profile.meta.memory.spread, 0);
	CHECK(!profile.meta.caveat[HI_CAVEAT_OTHER_MEANS]);
	profile_close(&profile);
}

UNIT_TEST(runtimes_with_a_heap_of_their_own)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_runtime(file, HI_RUNTIME_JVM);
	stream_runtime(file, HI_RUNTIME_COUNT); /* of a later version */
	stream_runtime(file, 0xffff);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.runtimes, 1u << HI_RUNTIME_JVM);
	CHECK_EQ(caveats_bits(&profile.meta), 1u << HI_CAVEAT_OTHER_HEAP);
	CHECK(!strncmp(profile.meta.caveat[HI_CAVEAT_OTHER_HEAP], "it runs a JVM: the Java heap",
		       28));
	CHECK(!profile.meta.damage);
	profile_close(&profile);
}

UNIT_TEST(allocators_that_are_not_hooked)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_unhooked(file, HI_UNHOOKED_PREFIXED, "je_malloc", "");
	stream_unhooked(file, HI_UNHOOKED_DIRECT, "malloc", "/lib/a\tb.so");
	for (int i = 0; i < 1000; i++) /* as many as somebody likes */
		stream_unhooked(file, HI_UNHOOKED_DIRECT, "malloc", "/lib/c.so");
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_STR(profile.meta.unhooked,
		  "je_malloc in the program itself and malloc in /lib/a?b.so (by direct calls) and "
		  "malloc in /lib/c.so (by direct calls) and "
		  "malloc in /lib/c.so (by direct calls)");
	CHECK(profile.meta.caveat[HI_CAVEAT_UNHOOKED] != NULL);
	CHECK(!strncmp(profile.meta.caveat[HI_CAVEAT_UNHOOKED],
		       "its allocations go to je_malloc in the program itself and ", 57));
	CHECK(!profile.meta.damage);
	profile_close(&profile);
}

UNIT_TEST(names_of_code_without_a_file)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_code(file, 100, 200, "int A.b()");
	stream_code(file, 150, 300, "void C.d()");
	stream_code(file, 300, 300, "of no size");
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.code_names.count, 1);
	CHECK_STR(code_names_find(&profile.code_names, 299), "void C.d()");
	CHECK(!code_names_find(&profile.code_names, 100));
	CHECK(profile.meta.damage != NULL);
	profile_close(&profile);
}

UNIT_TEST(what_is_hooked)
{
	struct profile profile;
	FILE *file = stream_begin(1);
	char text[32];
	size_t lines = 0;

	stream_hooked(file, "glibc in /lib/libc.so.6:\n1 function at its entry");
	stream_hooked(file, "jemalloc as je_malloc");
	stream_hooked(file, "jemalloc as je_malloc");
	stream_hooked(file, "");
	for (int i = 0; i < 1000; i++) { /* as many as somebody likes */
		snprintf(text, sizeof(text), "number %d", i);
		stream_hooked(file, text);
	}
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!strncmp(profile.meta.hooked,
		       "glibc in /lib/libc.so.6:?1 function at its entry\njemalloc as je_malloc\n"
		       "number 0\n",
		       80));
	for (const char *at = profile.meta.hooked; *at; at++)
		lines += *at == '\n';
	CHECK_EQ(lines, 16);
	CHECK(!profile.meta.damage);
	profile_close(&profile);
}

UNIT_TEST(frees_that_are_not_hooked)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_unhooked(file, HI_UNHOOKED_FREE, "je_sdallocx", "");
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.unhooked && !profile.meta.caveat[HI_CAVEAT_UNHOOKED]);
	CHECK_STR(profile.meta.caveat[HI_CAVEAT_MISSED_FREES],
		  "its frees go to je_sdallocx in the program itself, which is not hooked: what is "
		  "in use is too high");
	CHECK(!profile.meta.damage);
	profile_close(&profile);
}

UNIT_TEST(modules_count_at_the_time_of_the_event)
{
	struct profile profile;
	FILE *file = stream_begin(1);
	const uint64_t at_end[] = {REPLAYED_LO + 0x1000}, before[] = {REPLAYED_LO},
		       behind[] = {REPLAYED_LO + 0x1001}, plugin[] = {0x500010};

	stream_alloc(file, 0x7000, 1, at_end, 1);
	stream_alloc(file, 0x7001, 2, before, 1);
	stream_alloc(file, 0x7006, 7, behind, 1);
	stream_module(file, 2, 0x500000, 0x501000, "/lib/first.so");
	stream_alloc(file, 0x7002, 3, plugin, 1);
	stream_module_gone(file, 2);
	stream_alloc(file, 0x7003, 4, plugin, 1);
	stream_module(file, 3, 0x4ff000, 0x502000, "/lib/second.so");
	stream_alloc(file, 0x7004, 5, plugin, 1);
	/* the other's departure was missed */
	stream_module(file, 4, 0x500000, 0x500800, "/lib/third.so");
	stream_alloc(file, 0x7005, 6, plugin, 1);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);

	static const int32_t expected[] = {0, -1, -1, 1, -1, 2, 3};
	CHECK_EQ(profile.row_count, 7);
	for (size_t i = 0; i < 7; i++)
		CHECK_EQ(profile.frame[profile.stack[profile.row[i].key.stack].frame[0]].module,
			 expected[i]);
	profile_close(&profile);
}

UNIT_TEST(no_frames_is_a_frame_of_its_own)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x7000, 48, NULL, 0);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.stack[0].frame_count, 1);
	profile_close(&profile);
}

UNIT_TEST(threads_have_their_parts_of_a_row)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_thread(file, 1, 101, "server");
	stream_thread(file, 2, 102, "server");
	stream_alloc_on(file, 0x7000, 48, 1);
	stream_by = 2;
	stream_alloc_on(file, 0x7100, 48, 1);
	stream_alloc_on(file, 0x7200, 48, 1);
	stream_thread(file, 2, 102, "worker"); /* what it had before is the worker's, too */
	stream_alloc_on(file, 0x7300, 48, 1);
	stream_by = 1;
	stream_free(file, 0x7200); /* no matter which thread frees it */
	stream_free(file, 0x7300);
	stream_unfree(file, 0x7300);
	stream_alloc_on(file, 0x7100, 48, 1); /* its free was missed */
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.row_count, 1);
	CHECK_EQ(profile.row[0].inuse_count, 3);
	CHECK_EQ(profile.breakdown.count, 2);
	CHECK_EQ(replayed_part(&profile, "server")->alloc_count, 2);
	CHECK_EQ(replayed_part(&profile, "server")->inuse_bytes, 2 * 48);
	CHECK_EQ(replayed_part(&profile, "worker")->alloc_count, 3);
	CHECK_EQ(replayed_part(&profile, "worker")->alloc_bytes, 3 * 48);
	CHECK_EQ(replayed_part(&profile, "worker")->inuse_count, 1);
	CHECK_EQ(profile.breakdown.thread[replayed_part(&profile, "worker")->thread].tid, 102);
	profile_close(&profile);
}

struct seen {
	unsigned dumps;
	uint64_t samples, duration_ns;
	char trigger[HI_DUMP_TEXT_MAX];
	uint32_t triggers;
};

static void pass_over(void *context, struct profile *profile, uint64_t bad_records)
{
	(void)context;
	(void)profile;
	(void)bad_records;
}

static void look(void *context, struct profile *profile, const struct live *live, uint32_t triggers)
{
	struct seen *seen = context;

	CHECK_EQ(live->count, 1);

	seen->dumps++;
	seen->triggers = triggers;
	seen->samples = profile->meta.samples;
	seen->duration_ns = profile->meta.duration_ns;
	snprintf(seen->trigger, sizeof(seen->trigger), "%s",
		 profile->meta.trigger ? profile->meta.trigger : "none");
}

UNIT_TEST(a_dump_is_of_what_went_before_it)
{
	FILE *file = stream_begin(1);
	struct hi_stream_record cut = {.size = sizeof(cut), .type = HI_STREAM_DUMP};
	struct hi_stream_dump dump = {.record.type = HI_STREAM_DUMP,
				      .record.flags = HI_DUMP_PEAK | HI_DUMP_SIGNAL};
	struct seen seen = {0};
	const struct replay_observer observer = {
		.on_stats = pass_over, .on_dump = look, .context = &seen};
	struct profile profile;
	struct input input;

	stream_alloc(file, 0x7000, 64, site_a, 2);
	stream_dump(file, 7000000000);
	dump.time_ns = 7000000000;
	stream_put(file, &dump, sizeof(dump), NULL, 0);
	stream_alloc(file, 0x7100, 64, site_a, 2);
	fwrite(&cut, 1, sizeof(cut), file); /* says not when: it is none */
	stream_end(file);
	CHECK_EQ(profile_open(&profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(replay_stream(&input, &observer, &profile), 0);
	CHECK_EQ(seen.dumps, 2);
	CHECK_EQ(seen.triggers, HI_DUMP_PEAK | HI_DUMP_SIGNAL);
	CHECK_STR(seen.trigger, "--at-peak, --on-signal");
	CHECK(!profile.meta.trigger); /* the end has none */
	CHECK_EQ(seen.samples, 1);
	CHECK_EQ(seen.duration_ns, 7000000000);
	CHECK_EQ(profile.meta.samples, 2);
	CHECK(strstr(profile.meta.damage, "a record does not hold what it announces"));
	input_close(&input);
	fclose(file);
	profile_close(&profile);
}

UNIT_MAIN()
