/* SPDX-License-Identifier: MIT */
/*
 * analyzer_child: the real analyzer behind its pipes: fed, asked for its status, for dumps,
 * finished, killed, abandoned.
 */
#include "analyzer_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "file_service.h"
#include "hi_exit.h"
#include "stream_writer.h"
#include "unit.h"

struct scene {
	struct analyzer_child child;
	struct file_broker broker; /* of a session without objects */
	struct outputs outputs;    /* only for dumps */
	struct file_service service;
	int heap, pprof;
	FILE *stream;
};

static unsigned count_fds(void)
{
	unsigned count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void scene_open(struct scene *scene)
{
	scene->broker = FILE_BROKER_CLOSED;
	scene->heap = memfd_create("heap", MFD_CLOEXEC);
	scene->pprof = memfd_create("pprof", MFD_CLOEXEC);
	const struct analyzer_files files = {
		.heap_fd = scene->heap, .pprof_fd = scene->pprof, .pagemap_fd = -1};
	CHECK_EQ(analyzer_child_start(&scene->child, identity_to_run_as(identity_of_caller()),
				      &files),
		 0);
	CHECK(scene->child.pid > 0);
	CHECK_EQ(file_service_open(&scene->service, scene->child.ask_fd, &scene->broker,
				   &scene->outputs),
		 0);
	/* ours to close; the end of the stream is the child's own */
	scene->stream = fdopen(dup(scene->child.stream_fd), "w");
	CHECK(scene->stream);
}

static void feed(struct scene *scene, bool whole)
{
	const uint64_t frame[] = {0x10080, 0x10100};
	stream_header(scene->stream, 1);
	stream_module(scene->stream, 1, 0x10000, 0x20000, "/opt/server");
	stream_alloc(scene->stream, 0x5000, 640, frame, 2);
	stream_alloc(scene->stream, 0x6000, 360, frame, 2);
	stream_stats(scene->stream);
	if (whole)
		stream_end(scene->stream);
	fflush(scene->stream);
}

static off_t size_of(int file)
{
	return lseek(file, 0, SEEK_END);
}

static int finish(struct scene *scene, char *summary, size_t size)
{
	FILE *out = fmemopen(summary, size, "w");
	fclose(scene->stream);
	const int result = analyzer_child_finish(&scene->child, out, NULL);
	fclose(out);
	return result;
}

static void close_files(struct scene *scene)
{
	file_service_close(&scene->service);
	close(scene->heap);
	close(scene->pprof);
}

UNIT_TEST(a_stream_becomes_two_files_and_a_summary)
{
	struct scene scene;
	char summary[4096] = "", head[64] = "";
	const unsigned fds = count_fds();
	scene_open(&scene);
	feed(&scene, true);
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), HI_EXIT_OK);
	CHECK(strlen(summary) > 20);
	CHECK(pread(scene.heap, head, sizeof(head) - 1, 0) > 0);
	CHECK_EQ(strncmp(head, "heap profile:", 13), 0);
	CHECK(strstr(head, "2: "));
	CHECK(strstr(head, "1000 ["));
	CHECK_EQ(pread(scene.pprof, head, 2, 0), 2);
	CHECK_EQ(memcmp(head, "\x1f\x8b", 2), 0);
	close_files(&scene);
	CHECK_EQ(scene.child.pid, 0);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1); /* reaped */
	CHECK_EQ(count_fds(), fds);
}

UNIT_TEST(the_newest_status_is_handed_out_once)
{
	struct scene scene;
	struct hi_analyzer_status status = {.samples = 99};
	char summary[4096];
	scene_open(&scene);
	CHECK_EQ(analyzer_child_status(&scene.child, &status), 0); /* never waits */
	CHECK_EQ(status.samples, 99);
	feed(&scene, false);
	stream_alloc(scene.stream, 0x7000, 24, &(uint64_t){0x10090}, 1);
	stream_stats(scene.stream);
	fflush(scene.stream);
	WAIT_FOR((void)analyzer_child_status(&scene.child, &status), status.samples == 3);
	CHECK_EQ(status.live_bytes, 1024);
	CHECK_EQ(status.live_objects, 3);
	CHECK_EQ(status.bad_records, 0);
	CHECK_EQ(analyzer_child_status(&scene.child, &status), 0);
	stream_end(scene.stream);
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), HI_EXIT_OK);
	close_files(&scene);
}

/* Ctrl-C at a terminal reaches the child, too; it has the files to write. */
UNIT_TEST(signals_of_the_terminal_do_not_end_it)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct scene scene;
	struct hi_analyzer_status status = {.samples = 0};
	char summary[4096];
	scene_open(&scene);
	feed(&scene, false);
	/* it has begun: its handlers are in place */
	WAIT_FOR((void)analyzer_child_status(&scene.child, &status), status.samples);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		CHECK_EQ(kill(scene.child.pid, signals[i]), 0);
	stream_end(scene.stream);
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), HI_EXIT_OK);
	CHECK(size_of(scene.heap) > 0);
	close_files(&scene);
}

/* What the end of the pipe means where the injector was killed. */
UNIT_TEST(a_stream_without_an_end_still_makes_files)
{
	struct scene scene;
	char summary[4096];
	scene_open(&scene);
	feed(&scene, false);
	(void)finish(&scene, summary, sizeof(summary));
	CHECK(size_of(scene.heap) > 0);
	CHECK(size_of(scene.pprof) > 0);
	close_files(&scene);
}

UNIT_TEST(a_stream_that_is_none_is_a_failure)
{
	struct scene scene;
	char summary[4096] = "";
	scene_open(&scene);
	fputs("this is no record stream, and never was one\n", scene.stream);
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), HI_EXIT_FAILED);
	CHECK(strstr(summary, "unusable"));
	close_files(&scene);
}

UNIT_TEST(a_child_that_was_killed_is_told)
{
	struct scene scene;
	char summary[4096];
	scene_open(&scene);
	CHECK_EQ(kill(scene.child.pid, SIGKILL), 0);
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), -ECANCELED);
	CHECK_EQ(scene.child.pid, 0);
	close_files(&scene);
}

UNIT_TEST(an_abandoned_child_is_gone_and_has_written_nothing)
{
	struct scene scene;
	const unsigned fds = count_fds();
	scene_open(&scene);
	fclose(scene.stream);
	analyzer_child_abandon(&scene.child);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
	CHECK_EQ(size_of(scene.heap), 0);
	CHECK_EQ(size_of(scene.pprof), 0);
	analyzer_child_abandon(&scene.child); /* none any more */
	close_files(&scene);
	CHECK_EQ(count_fds(), fds);
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static char directory[] = "/tmp/analyzer_child_test.XXXXXX", prefix[64];

static void with_outputs(struct scene *scene)
{
	CHECK(mkdtemp(directory));
	snprintf(prefix, sizeof(prefix), "%s/p", directory);
	CHECK_EQ(outputs_create(&scene->outputs, prefix, 12), 0);
}

static void without_outputs(struct scene *scene)
{
	char command[300];
	outputs_close(&scene->outputs, false);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	CHECK_EQ(system(command), 0);
}

/* What the child makes of a dump here: 0 or an error. */
static int dump_now(struct scene *scene, uint64_t time_ns, struct outputs_dump *dump)
{
	int err = 1;
	CHECK_EQ(file_service_expect(&scene->service, false), 0);
	stream_dump(scene->stream, time_ns);
	fflush(scene->stream);
	file_service_wait(&scene->service);
	CHECK_EQ(file_service_result(&scene->service, &err, dump), 1);
	return err;
}

static void check_heap(const char *path, const char *totals, const char *duration,
		       const char *end_reason)
{
	static char text[8192];
	const int fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	const ssize_t got = read(fd, text, sizeof(text) - 1);
	CHECK(got > 0);
	text[got] = 0;
	close(fd);
	if (!strstr(text, totals) || !strstr(text, duration) || !strstr(text, end_reason) ||
	    !strstr(text, "\n# end\n"))
		UNIT_FAIL("%s: no \"%s\", \"%s\", \"%s\" in it, or no end: %s", path, totals,
			  duration, end_reason, text);
}

UNIT_TEST(a_dump_is_the_profile_so_far)
{
	struct scene scene;
	struct outputs_dump dump;
	char summary[4096], head[2];
	scene_open(&scene);
	with_outputs(&scene);
	feed(&scene, false);
	CHECK_EQ(dump_now(&scene, 5000000000, &dump), 0);
	check_heap(dump.heap_path, "heap profile:      2:     1000 [", "# duration_ns 5000000000\n",
		   "# end_reason 8\n");
	stream_alloc(scene.stream, 0x7000, 24, &(uint64_t){0x10090}, 1);
	CHECK_EQ(dump_now(&scene, 6000000000, &dump), 0);
	check_heap(dump.heap_path, "heap profile:      3:     1024 [", "# duration_ns 6000000000\n",
		   "# end_reason 8\n");
	const int fd = open(dump.pprof_path, O_RDONLY);
	CHECK_EQ(read(fd, head, 2), 2);
	CHECK_EQ(memcmp(head, "\x1f\x8b", 2), 0);
	close(fd);
	stream_free(scene.stream, 0x7000);
	stream_end(scene.stream);
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), HI_EXIT_OK);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", scene.heap);
	check_heap(path, "heap profile:      2:     1000 [", "# duration_ns ", "# end_reason 1\n");
	without_outputs(&scene);
	close_files(&scene);
}

UNIT_TEST(a_dump_that_finds_no_room_ends_nothing)
{
	struct scene scene;
	struct outputs_dump dump;
	struct rlimit limit;
	char summary[4096] = "", path[300];
	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 0;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0); /* the child inherits it */
	scene_open(&scene);
	with_outputs(&scene);
	feed(&scene, false);
	CHECK_EQ(dump_now(&scene, 5000000000, &dump), -EFBIG);
	CHECK_EQ(dump_now(&scene, 6000000000, &dump), -EFBIG);
	stream_end(scene.stream);
	/* the end has no room either, and says so */
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), HI_EXIT_FAILED);
	CHECK(strstr(summary, "cannot write the heap profile: File too large"));
	snprintf(path, sizeof(path), "%s.12.0001.heap.tmp", prefix);
	CHECK(access(path, F_OK));
	snprintf(path, sizeof(path), "%s.12.0002.heap", prefix);
	CHECK(access(path, F_OK));
	without_outputs(&scene);
	close_files(&scene);
}

UNIT_TEST(a_child_that_is_killed_amid_a_dump_leaves_no_half_file)
{
	struct scene scene;
	struct outputs_dump dump;
	char summary[4096], path[300];
	int err = 0;
	scene_open(&scene);
	with_outputs(&scene);
	feed(&scene, false);
	CHECK_EQ(kill(scene.child.pid, SIGSTOP), 0);
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	stream_dump(scene.stream, 5000000000);
	fflush(scene.stream);
	CHECK_EQ(kill(scene.child.pid, SIGKILL), 0);
	file_service_wait(&scene.service);
	CHECK_EQ(file_service_result(&scene.service, &err, &dump), 1);
	CHECK_EQ(err, -EPIPE);
	CHECK_EQ(finish(&scene, summary, sizeof(summary)), -ECANCELED);
	snprintf(path, sizeof(path), "%s.12.0002.heap", prefix);
	CHECK(access(path, F_OK));
	without_outputs(&scene);
	close_files(&scene);
}

/* The pump must never wait for the analyzer. */
UNIT_TEST(the_stream_does_not_block)
{
	static char block[1 << 16];
	struct scene scene;
	ssize_t put = 0;
	scene_open(&scene);
	CHECK_EQ(kill(scene.child.pid, SIGSTOP), 0);
	for (int i = 0; i < 1000 && put >= 0; i++)
		put = write(scene.child.stream_fd, block, sizeof(block));
	CHECK_EQ(put, -1);
	CHECK_EQ(errno, EAGAIN);
	fclose(scene.stream);
	analyzer_child_abandon(&scene.child);
	close_files(&scene);
}

UNIT_TEST(without_descriptors_it_does_not_start_and_leaks_none)
{
	struct analyzer_child child = {.pid = 4711};
	int last = -1, fd;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 64, .rlim_max = 64}), 0);
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		last = fd;
	for (int room = 0; room < 8; room++) { /* eight it needs: every error path */
		CHECK_EQ(analyzer_child_start(&child, identity_to_run_as(identity_of_caller()),
					      &(struct analyzer_files){.heap_fd = -1,
								       .pprof_fd = -1,
								       .pagemap_fd = -1}),
			 -EMFILE);
		CHECK_EQ(child.pid, 4711);
		int again[10], count = 0;
		while (count < 10 && (again[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
			count++;
		CHECK_EQ(count, room);
		while (count > 0)
			close(again[--count]);
		close(last--);
	}
}

UNIT_MAIN()
