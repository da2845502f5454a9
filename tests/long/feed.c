/* SPDX-License-Identifier: MIT */
/*
 * feed.c - a session of many hours for the analyzer, out of the record stream of a minute.
 *
 *   feed STREAM PREFIX --seconds N --every SECONDS --speed N --settled SECONDS
 *
 * The stream (`heapinject attach -o -`) is given to the analyzer as a session gives it: in its
 * sandbox, over the pipe, with a thread that opens its files. Then what follows --settled is given
 * again and again, each time as much later, at so many times the speed (0: as fast as it is read),
 * until the stream is as long as --seconds says. Of a sum that counts from
 * the beginning of a session, each turn adds what it has added the first time. What a turn has
 * allocated and not freed is freed before the next one, as if the program went on as it did.
 *
 * As often as --every says a profile is written, and a line tells: seconds of the stream, resident
 * and anonymous kilobytes of the analyzer, the most that it has had, milliseconds from the request
 * to the profile, its bytes. The analyzer has nothing else to do while it writes one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "elf_image.h"
#include "hi_dump.h"
#include "hi_exit.h"
#include "hi_stream.h"
#include "live.h"
#include "sink.h"

#define SECOND_NS 1000000000ull
#define NAP_NS 2000000
#define ADDRESS_MASK ((1ull << HI_STREAM_EVENT_ADDRESS_BITS) - 1)

/* The recording. A time in it, and what a turn makes of it. */
static const uint8_t *stream;
static size_t stream_size;
static uint64_t settled_ns, end_ns; /* turns after the first have what lies between */
static uint64_t speed, every_ns;
static struct hi_stream_stats stats_settled, stats_end;
static struct hi_stream_frees frees_settled[HI_SIZE_CLASSES], frees_end[HI_SIZE_CLASSES];
static struct live survivors;
static struct sink sink;
static uint64_t begun_ns, due_ns;

_Noreturn static void fail(const char *what, int err)
{
	fprintf(stderr, "feed: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

/* ---- the recording --------------------------------------------------------------------------- */

static const struct hi_stream_record *record_at(size_t at)
{
	return (const void *)(stream + at);
}

static void load(const char *path)
{
	struct stat status;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes;

	if (fd < 0 || fstat(fd, &status))
		fail(path, errno);
	stream_size = (size_t)status.st_size;
	bytes = malloc(stream_size + 8);
	for (size_t got = 0; bytes && got < stream_size;) {
		const ssize_t more = read(fd, bytes + got, stream_size - got);

		if (more <= 0)
			fail(path, errno);
		got += (size_t)more;
	}
	if (!bytes)
		fail(path, ENOMEM);
	close(fd);
	stream = bytes;
	for (size_t at = 0; at < stream_size; at += record_at(at)->size)
		if (stream_size - at < 8 || record_at(at)->size < 8 ||
		    record_at(at)->size > stream_size - at)
			fail("the stream is not whole", EBADMSG);
}

/* Where a record has its time; NULL: it has none that a turn changes. */
static uint64_t *time_of(struct hi_stream_record *record)
{
	switch (record->type) {
	case HI_STREAM_MAPS:
	case HI_STREAM_ALLOC:
	case HI_STREAM_FREE:
	case HI_STREAM_UNFREE:
	case HI_STREAM_EVENTS:
	case HI_STREAM_INTERVAL:
	case HI_STREAM_STATS:
	case HI_STREAM_MEMORY:
	case HI_STREAM_HEAP:
	case HI_STREAM_UNSAMPLED_FREES:
	case HI_STREAM_THINNED:
		return &((struct hi_stream_end *)(void *)record)->time_ns;
	default:
		return NULL;
	}
}

static uint64_t time_at(size_t at)
{
	const uint64_t *time = time_of((struct hi_stream_record *)(uintptr_t)record_at(at));

	return time ? *time : 0;
}

static void note_alloc(uint64_t address)
{
	struct live_block *place = live_place(&survivors, address);

	if (!place)
		fail("blocks", ENOMEM);
	survivors.count += !place->address;
	place->address = address;
}

static void note_free(uint64_t address)
{
	struct live_block block;

	(void)live_drop(&survivors, address, &block);
}

static void note_events(const struct hi_stream_record *record)
{
	const uint8_t *at = (const uint8_t *)record + sizeof(struct hi_stream_events),
		      *end = (const uint8_t *)record + record->size;

	while (end - at >= HI_STREAM_EVENT_FREE_BYTES) {
		const struct hi_stream_event *event = (const void *)at;
		const uint64_t address = event->what & ADDRESS_MASK;

		if (!(event->what >> HI_STREAM_EVENT_ADDRESS_BITS)) {
			note_free(address);
			at += HI_STREAM_EVENT_FREE_BYTES;
			continue;
		}
		if (event->lived_ns == HI_STREAM_LIVES)
			note_alloc(address);
		else
			note_free(address);
		at += sizeof(*event);
	}
}

static void note_frees(const struct hi_stream_unsampled_frees *record)
{
	const struct hi_stream_frees *list = (const void *)(record + 1);

	for (uint32_t i = 0; i < record->classes; i++) {
		if (list[i].size_class >= HI_SIZE_CLASSES)
			continue;
		if (record->time_ns < settled_ns)
			frees_settled[list[i].size_class] = list[i];
		frees_end[list[i].size_class] = list[i];
	}
}

/* What a turn adds, and what it leaves. */
static void survey(void)
{
	for (size_t at = 0; at < stream_size; at += record_at(at)->size) {
		const struct hi_stream_record *record = record_at(at);
		const bool is_settled = time_at(at) >= settled_ns;

		if (time_at(at) > end_ns)
			end_ns = time_at(at);
		if (record->type == HI_STREAM_STATS) {
			memcpy(&stats_end, record, sizeof(stats_end));
			if (!is_settled)
				stats_settled = stats_end;
		} else if (record->type == HI_STREAM_UNSAMPLED_FREES) {
			note_frees((const void *)record);
		} else if (is_settled && record->type == HI_STREAM_EVENTS) {
			note_events(record);
		} else if (is_settled && record->type == HI_STREAM_ALLOC) {
			note_alloc(((const struct hi_stream_alloc *)record)->address);
		} else if (is_settled && record->type == HI_STREAM_FREE) {
			note_free(((const struct hi_stream_free *)record)->address);
		}
	}
	if (end_ns <= settled_ns)
		fail("the stream ends before it has settled", EINVAL);
}

/* ---- the analyzer ---------------------------------------------------------------------------- */

static void write_all(const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		const ssize_t written =
			write(sink.analyzer.stream_fd, (const uint8_t *)bytes + done, size - done);
		struct pollfd writable = {sink.analyzer.stream_fd, POLLOUT, 0};

		if (written >= 0)
			done += (size_t)written;
		else if (errno == EAGAIN)
			(void)poll(&writable, 1, -1);
		else
			fail("the analyzer", errno);
	}
}

static void nap(void)
{
	const struct timespec pause = {.tv_nsec = NAP_NS};
	struct hi_analyzer_status status;

	(void)sink_status(&sink, &status);
	nanosleep(&pause, NULL);
}

static void await_reader(void)
{
	int waiting = 1;

	while (!ioctl(sink.analyzer.stream_fd, FIONREAD, &waiting) && waiting)
		nap();
}

static uint64_t kilobytes(const char *key)
{
	char path[64], line[256];
	uint64_t value = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)sink.analyzer.pid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = strtoull(line + strlen(key) + 1, NULL, 10);
	if (file)
		fclose(file);
	return value;
}

/* The names of frames come from the files of the program, as in a session. */
static void keep_file(const struct hi_stream_module *module)
{
	char path[PATH_MAX];
	struct elf_image image = {.fd = -1};

	snprintf(path, sizeof(path), "%.*s", (int)module->path_size,
		 (const char *)(module + 1) + module->build_id_size);
	image.path = path;
	image.fd = open(path, O_RDONLY | O_CLOEXEC);
	image.device = module->device;
	image.inode = module->inode;
	file_broker_keep(&sink.broker, module->module, &image);
	if (image.fd >= 0)
		close(image.fd);
}

static void dump(uint64_t now_ns)
{
	static struct outputs_dump written; /* large */
	struct hi_stream_dump record = {{sizeof(record), HI_STREAM_DUMP, HI_DUMP_EVERY}, now_ns};
	struct stat file = {0};
	int err = sink_expect_dump(&sink, false);

	if (err)
		fail("a profile", err);
	await_reader();
	const uint64_t before_ns = clock_now_ns();
	write_all(&record, sizeof(record));
	while (!sink_dump_result(&sink, &err, &written))
		nap();
	const uint64_t took_ns = clock_now_ns() - before_ns;
	if (err || stat(written.heap_path, &file))
		fail("a profile", err ? err : errno);
	begun_ns += took_ns; /* the pace is that of the rest */
	printf("%.0f %" PRIu64 " %" PRIu64 " %" PRIu64 " %.1f %" PRIu64 "\n",
	       (double)now_ns / (double)SECOND_NS, kilobytes("VmRSS"), kilobytes("RssAnon"),
	       kilobytes("VmHWM"), (double)took_ns / 1e6, (uint64_t)file.st_size);
	fflush(stdout);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* What was added in a turn, `turn` times. */
static void add(uint64_t *total, uint64_t settled, uint64_t end, uint64_t turn)
{
	*total += turn * (end - settled);
}

static void advance_stats(struct hi_stream_stats *stats, uint64_t turn)
{
	add(&stats->samples, stats_settled.samples, stats_end.samples, turn);
	add(&stats->frees, stats_settled.frees, stats_end.frees, turn);
	add(&stats->payload_cpu_ns, stats_settled.payload_cpu_ns, stats_end.payload_cpu_ns, turn);
	add(&stats->target_cpu_ns, stats_settled.target_cpu_ns, stats_end.target_cpu_ns, turn);
}

static void advance_frees(struct hi_stream_unsampled_frees *record, uint64_t turn)
{
	struct hi_stream_frees *list = (void *)(record + 1);

	for (uint32_t i = 0; i < record->classes; i++) {
		const uint32_t size_class = list[i].size_class;

		if (size_class >= HI_SIZE_CLASSES)
			continue;
		const struct hi_stream_frees *end = &frees_end[size_class],
					     *settled = &frees_settled[size_class];
		add(&list[i].count, settled->count, end->count, turn);
		add(&list[i].bytes, settled->bytes, end->bytes, turn);
		const uint64_t seen = list[i].seen + turn * (end->seen - settled->seen);
		list[i].seen = seen < UINT32_MAX ? (uint32_t)seen : UINT32_MAX;
	}
}

static void free_survivors(uint64_t now_ns)
{
	const struct live_block *block;

	for (size_t at = 0; (block = live_next(&survivors, &at));) {
		const struct hi_stream_free record = {
			{sizeof(record), HI_STREAM_FREE, 0}, now_ns, block->address, 0, 0};

		write_all(&record, sizeof(record));
	}
}

/* Waits until it is time for what happens at now_ns, and has a profile written when one is due. */
static void keep_pace(uint64_t now_ns)
{
	if (now_ns >= due_ns) {
		dump(now_ns);
		due_ns += every_ns;
	}
	while (speed && clock_now_ns() - begun_ns < now_ns / speed)
		nap();
}

static void give(const struct hi_stream_record *record, uint64_t turn)
{
	static uint64_t room[HI_STREAM_RECORD_MAX / sizeof(uint64_t)];
	struct hi_stream_record *copy = (void *)room;

	memcpy(copy, record, record->size);
	uint64_t *const time = time_of(copy);
	const uint64_t shift_ns = turn * (end_ns - settled_ns);
	if (time) {
		*time += shift_ns;
		keep_pace(*time);
	}
	if (record->type == HI_STREAM_EVENTS)
		((struct hi_stream_events *)(void *)copy)->last_ns += shift_ns;
	else if (record->type == HI_STREAM_STATS)
		advance_stats((void *)copy, turn);
	else if (record->type == HI_STREAM_UNSAMPLED_FREES)
		advance_frees((void *)copy, turn);
	write_all(copy, copy->size);
}

/* turn: 0 = the stream as it was recorded, up to its end record. */
static void give_turn(uint64_t turn)
{
	for (size_t at = 0; at < stream_size; at += record_at(at)->size) {
		const struct hi_stream_record *record = record_at(at);

		if (record->type == HI_STREAM_END)
			continue;
		if (!turn && record->type == HI_STREAM_MODULE)
			keep_file((const void *)record);
		if (!turn || time_at(at) >= settled_ns)
			give(record, turn);
	}
}

static uint64_t number_after(char **argv, const char *option)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, option) && argv[1])
			return strtoull(argv[1], NULL, 10);
	fail(option, EINVAL);
}

int main(int argc, char **argv)
{
	static struct preflight self = {.comm = "feed"};
	uint64_t turn = 0;

	if (argc < 3)
		fail("STREAM PREFIX --seconds N --every SECONDS --speed N --settled SECONDS",
		     EINVAL);
	const uint64_t whole_ns = number_after(argv, "--seconds") * SECOND_NS;
	every_ns = number_after(argv, "--every") * SECOND_NS;
	speed = number_after(argv, "--speed");
	settled_ns = number_after(argv, "--settled") * SECOND_NS;
	load(argv[1]);
	survey();
	self.pid = self.tid = getpid();
	if (proc_status_read(self.pid, self.tid, &self.status))
		fail("/proc/self", errno);
	const struct sink_options into = {.prefix = argv[2]};
	if (sink_open(&sink, &into, &self) != HI_EXIT_OK)
		return 1;
	begun_ns = clock_now_ns();
	due_ns = every_ns;
	do {
		if (turn)
			free_survivors(settled_ns + turn * (end_ns - settled_ns));
		give_turn(turn++);
	} while (due_ns <= whole_ns);
	const struct hi_stream_end end = {{sizeof(end), HI_STREAM_END, HI_STREAM_END_DURATION},
					  turn * (end_ns - settled_ns) + settled_ns};
	write_all(&end, sizeof(end));
	const int exit_code = sink_finish(&sink, stderr);
	sink_close(&sink);
	return exit_code;
}
