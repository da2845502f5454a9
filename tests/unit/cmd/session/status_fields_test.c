/* SPDX-License-Identifier: MIT */
/* status_fields, status_print: what a session tells of itself, and what is shown of it. */
#include "status_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "status_print.h"
#include "unit.h"

static char *printed(const struct status_fields *fields,
		     void (*print)(const struct status_fields *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(fields, out);
	fclose(out);
	return text;
}

static const struct status_fields whole = {
	.injector = 4711,
	.uid = 4000000000u, /* nobody's */
	.pid = 42,
	.since_unix_ns = 1700000000000000000,
	.elapsed_ns = 65000000000,
	.duration_ns = 125000000000,
	.interval = 524288,
	.profile_ns = 61000000000,
	.budget_ppm = 10000,
	.samples = 100,
	.inuse_bytes = 1048576,
	.allocated_bytes = 2097152,
	.dropped = 3,
	.payload_cpu_ns = 650000000,
	.target_cpu_ns = 6500000000,
	.own_cpu_ns = 1300000000,
	.files_written = 2,
	.keep = 32,
	.grows = 1,
	.slope = 1000,
	.slope_low = 900,
	.slope_high = 1100,
	.pushed = 8,
	.push_waiting = 2,
	.push_lost = 1,
	.push_away = 1,
	.heap_used = 3 << 20,
	.heap_kept = 2 << 20,
	.heap_trim = 1 << 20,
	.heap_of = "glibc 2.36",
	.push_url = "http://127.0.0.1:4040",
	.program = "redis",
	.last_file = "/tmp/a \"b\".42.0002.heap",
	.final_file = "/tmp/a \"b\".42.0003.heap",
	.triggers = "--at-peak 64M",
};

UNIT_TEST(what_is_written_is_read)
{
	static struct status_fields read;
	char *text = printed(&whole, status_fields_write), *again;

	CHECK_EQ(status_fields_read(text, &read), 0);
	CHECK_EQ(read.injector, 0); /* not told, but seen */
	again = printed(&read, status_fields_write);
	CHECK_STR(again, text);
	CHECK_EQ(read.own_cpu_ns, whole.own_cpu_ns);
	CHECK_STR(read.final_file, whole.final_file);
	free(text);
	free(again);
}

UNIT_TEST(a_session_may_be_of_another_version_or_hostile)
{
	static struct status_fields read;
	static char lengthy[3 * PATH_MAX];

	CHECK_EQ(status_fields_read("pid 1\nlater 5\nlater\n\nsamples 7", &read), 0);
	CHECK_EQ(read.samples, 7);
	CHECK_STR(read.program, "");
	CHECK_EQ(status_fields_read("", &read), -EPROTO);
	CHECK_EQ(status_fields_read("pid 0\n", &read), -EPROTO);
	CHECK_EQ(status_fields_read("pid 99999999999\n", &read), -EPROTO);
	CHECK_EQ(status_fields_read("pid 1\nsamples -1\n", &read), -EPROTO);
	CHECK_EQ(status_fields_read("pid 1\nsamples 1 2\n", &read), -EPROTO);
	CHECK_EQ(status_fields_read("pid 1\nprogram a\033[2Jb\n", &read), 0);
	CHECK_STR(read.program, "a?[2Jb");
	memset(lengthy, 'x', sizeof(lengthy) - 1);
	memcpy(lengthy, "pid 1\nprogram ", strlen("pid 1\nprogram "));
	CHECK_EQ(status_fields_read(lengthy, &read), 0);
	CHECK_EQ(strlen(read.program), sizeof(read.program) - 1);
}

UNIT_TEST(the_text_has_all_of_it)
{
	static const char *const lines[] = {
		"42 redis: attached to by 4000000000 (heapinject is pid 4711)\n",
		", for 1m05s, 1m00s left\n",
		"  interval   512kB, within 1% of its CPU time\n",
		"  profile    of the last 1m01s\n",
		"  samples    100, dropped 3\n",
		"  memory     1MB in use of 2MB allocated\n",
		("  heap       3MB in use, 2MB retained, of which a trim would give back 1MB, by "
		 "the count of glibc 2.36\n"),
		"  overhead   1.00% of a CPU in the process, 10.00% of its CPU time; 2.00% of a",
		"  files      2 written, the newest /tmp/a \"b\".42.0002.heap; keeps 32\n",
		"  at the end /tmp/a \"b\".42.0003.heap\n",
		"  triggers   --at-peak 64M\n",
		"  pushed     8 to http://127.0.0.1:4040, 2 wait, 1 lost; it takes none",
	};
	char *text = printed(&whole, status_print_text);

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		CHECK(strstr(text, lines[i]));
	free(text);
	text = printed(&(struct status_fields){.pid = 1, .interval = 1, .paused = 1},
		       status_print_text);
	CHECK(strstr(text, "every allocation; paused: nothing is sampled now\n"));
	CHECK(strstr(text, ", until it is stopped\n"));
	CHECK(strstr(text, "  triggers   none\n"));
	CHECK(!strstr(text, "  heap "));
	free(text);
	text = printed(&(struct status_fields){.pid = 1, .heap_unread = "DPDK: no reader"},
		       status_print_text);
	CHECK(strstr(text, "  heap       not known: DPDK: no reader\n"));
	free(text);
}

UNIT_TEST(json_has_every_member)
{
	char *text = printed(&whole, status_print_json);

	CHECK_STR(text, "{\"pid\":42,\"program\":\"redis\",\"heapinject_pid\":4711,"
			"\"user\":\"4000000000\",\"uid\":4000000000,"
			"\"family_pid\":null,\"in_other_container\":false,"
			"\"since_unix_ns\":1700000000000000000,\"elapsed_ns\":65000000000,"
			"\"left_ns\":60000000000,\"interval_bytes\":524288,\"budget_ppm\":10000,"
			"\"paused\":false,\"profile_ns\":61000000000,\"paused_ns\":0,\"samples\":"
			"100,\"dropped\":3,"
			"\"inuse_bytes\":1048576,\"allocated_bytes\":2097152,"
			"\"heap_allocator\":\"glibc 2.36\",\"heap_unread\":null,"
			"\"heap_used_bytes\":3145728,\"heap_retained_bytes\":2097152,"
			"\"heap_trimmable_bytes\":1048576,"
			"\"grows\":true,\"slope_bytes_per_second\":1000,"
			"\"slope_low_bytes_per_second\":900,"
			"\"slope_high_bytes_per_second\":1100,"
			"\"payload_cpu_ns\":650000000,\"target_cpu_ns\":6500000000,"
			"\"own_cpu_ns\":1300000000,\"files_written\":2,"
			"\"push_url\":\"http://127.0.0.1:4040\",\"pushed\":8,"
			"\"push_waiting\":2,\"push_lost\":1,\"push_away\":true,"
			"\"last_file\":\"/tmp/a \\\"b\\\".42.0002.heap\","
			"\"final_file\":\"/tmp/a \\\"b\\\".42.0003.heap\",\"keep\":32,"
			"\"triggers\":\"--at-peak 64M\"}");
	free(text);
}

UNIT_MAIN()
