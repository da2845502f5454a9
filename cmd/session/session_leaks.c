/* SPDX-License-Identifier: MIT */
/* session_leaks.c - see session_leaks.h. Start at session_leaks_find(). */
#include "session_leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "exit_watch.h"
#include "hi_block.h"
#include "hi_dump.h"
#include "hi_exit.h"
#include "reach.h"

/* the program waits for all of this in its exit */
#define STREAM_DEADLINE_MS 60000
#define BLOCKS_NS 60000000000ull
#define MARK_NS 60000000000ull
#define BLOCKS_MAX (1u << 26)
#define NAP_NS 1000000

/* ---- the live blocks ------------------------------------------------------------------------- */

/* Waits until the analyzer has answered, or the time is over. */
static int await(struct session *session, uint64_t deadline_ns, bool (*is_there)(struct session *))
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	while (!is_there(session)) {
		const int err = stream_out_flush(&session->sink.out);

		if (err)
			return err;
		if (clock_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
	return 0;
}

static bool has_no_dump(struct session *session)
{
	dumps_look(&session->dumps);
	return !session->dumps.is_pending;
}

static struct {
	struct outputs_dump dump;
	int err;
} answer;

static bool has_answer(struct session *session)
{
	return sink_dump_result(&session->sink, &answer.err, &answer.dump);
}

/* A descriptor of the blocks, as hi_block.h says, or negative errno. */
static int ask_for_blocks(struct session *session)
{
	const uint64_t deadline_ns = clock_now_ns() + BLOCKS_NS;
	int err = await(session, deadline_ns, has_no_dump);

	if (!err)
		err = sink_expect_dump(&session->sink, true);
	if (!err)
		err = pump_dump(&session->pump, HI_DUMP_BLOCKS);
	if (!err)
		err = await(session, deadline_ns, has_answer);
	if (!err)
		err = answer.err;
	return err ? err : answer.dump.heap_fd;
}

static int read_all(int fd, void *into, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t got = pread(fd, (char *)into + done, size - done, (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EPROTO;
		done += (size_t)got;
	}
	return 0;
}

_Static_assert(sizeof(struct reach_block) == sizeof(struct hi_block) &&
		       offsetof(struct reach_block, caller) == offsetof(struct hi_block, caller),
	       "blocks are read as they come");

static int read_blocks(int fd, struct reach_block **out_block, size_t *out_count)
{
	struct stat file;

	if (fstat(fd, &file))
		return -errno;
	const size_t count = (size_t)file.st_size / sizeof(**out_block);
	if (count > BLOCKS_MAX)
		return -E2BIG;
	struct reach_block *block = malloc((count + 1) * sizeof(*block));
	if (!block)
		return -ENOMEM;
	const int err = read_all(fd, block, count * sizeof(*block));
	if (err) {
		free(block);
		return err;
	}
	*out_block = block;
	*out_count = count;
	return 0;
}

/* ---- what is leaked -------------------------------------------------------------------------- */

static int send_leaked(struct session *session, const struct reach *reach)
{
	const struct marks *marks = &reach->marks;
	struct hi_stream_leaked_block *list = malloc((marks->count + 1) * sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < marks->count; i++)
		if (marks->state[i] != MARK_REACHED)
			list[count++] = (struct hi_stream_leaked_block){
				.address = reach->block[i].address,
				.leader = reach->block[marks->leader[i]].address,
				.is_direct = marks->state[i] == MARK_LEAKED};
	const int err = pump_leaked(&session->pump, list, count, STREAM_DEADLINE_MS);
	free(list);
	return err;
}

static int mark(struct session *session, struct reach_block *block, size_t count)
{
	struct attachment *attachment = &session->attachment;
	struct reach reach = {0};
	const uint64_t begin_ns = clock_now_ns();
	int err = attachment_follow(attachment);

	if (!err)
		err = attachment_read_images(attachment);
	if (err)
		return err;
	struct reach_target target = {.pid = attachment->pid,
				      .memory = &attachment->memory,
				      .maps = &attachment->maps,
				      .images = &attachment->images};
	target.thread = exit_watch_threads(&target.thread_count);
	err = reach_mark(&target, block, count, begin_ns + MARK_NS, &reach);
	const uint64_t end_ns = clock_now_ns();
	if (!err)
		err = send_leaked(session, &reach);
	if (!err && session->options->verbose)
		fprintf(stderr,
			"heapinject: searched %llu bytes for pointers to %zu blocks at its exit, "
			"in %.2f s\n",
			(unsigned long long)reach.read_bytes, count,
			(double)(end_ns - begin_ns) / 1e9);
	reach_close(&reach);
	return err;
}

static int find_leaks(struct session *session)
{
	struct reach_block *block = NULL;
	size_t count = 0;
	int err = pump_drain(&session->pump, STREAM_DEADLINE_MS);

	if (err)
		return err;
	const int fd = ask_for_blocks(session);
	if (fd < 0)
		return fd;
	err = read_blocks(fd, &block, &count);
	close(fd);
	if (err)
		return err;
	err = mark(session, block, count);
	free(block);
	return err;
}

/* ---- the session ----------------------------------------------------------------------------- */

int session_leaks_check(const struct session *session)
{
	/* the dynamic linker's calls, and those through stored addresses, pass no slot */
	if (!session->options->finds_leaks || !session->attachment.slots_written)
		return HI_EXIT_OK;
	fprintf(stderr,
		"heapinject: cannot find what %s leaks: some functions of its allocator cannot be "
		"hooked at their entry, so that not all calls are seen; run it without "
		"--fail-if-leaks\n",
		session->preflight.comm);
	return HI_EXIT_REFUSED;
}

bool session_leaks_are_due(struct session *session)
{
	const bool was_held = session->leaks.is_held;

	session->leaks.is_held =
		session->options->finds_leaks && exit_watch_look() == EXIT_WATCH_HELD;
	/* the search is no time in which the program could have allocated */
	if (session->leaks.is_held && !was_held)
		pump_stop_clock(&session->pump);
	return was_held && session->leaks.is_held;
}

void session_leaks_find(struct session *session)
{
	struct session_leaks *leaks = &session->leaks;

	leaks->err = find_leaks(session);
	leaks->is_known = !leaks->err;
	exit_watch_end();
}

void session_leaks_end(struct session *session, enum hi_stream_end_reason reason)
{
	if (!session->options->finds_leaks)
		return;
	/* the watch sees an exec only if it ends other threads */
	if (!session->leaks.is_known && !session->leaks.err)
		session->leaks.missed =
			reason == HI_STREAM_END_EXEC ? EXIT_WATCH_EXEC : exit_watch_look();
	exit_watch_end();
}

static const char *explain(const struct session *session)
{
	const struct session_leaks *leaks = &session->leaks;

	if (leaks->err == -ETIMEDOUT)
		return "the search took too long";
	if (leaks->err)
		return strerror(-leaks->err);
	if (leaks->is_known)
		return "the analyzer has not answered";
	switch (leaks->missed) {
	case EXIT_WATCH_SIGNAL:
		return "a signal has ended it";
	case EXIT_WATCH_EXEC:
		return "it has replaced its program";
	case EXIT_WATCH_MISSED:
		return "not all its threads could be held at its exit";
	default:
		return "the session ended before its exit";
	}
}

void session_leaks_report(const struct session *session, FILE *out)
{
	if (!session->options->finds_leaks)
		return;
	if (session->sink.leaks)
		fputs(session->sink.leaks, out);
	else
		fprintf(out, "\nLeaked: cannot tell: %s\n", explain(session));
	fflush(out);
}

void session_leaks_json(const struct session *session, FILE *out)
{
	if (!session->options->finds_leaks)
		return;
	fputs(session->sink.leaks_json ? session->sink.leaks_json
				       : ",\"leaks\":{\"verdict\":\"cannot tell\"}",
	      out);
}

int session_leaks_exit_code(const struct session *session)
{
	if (!session->options->finds_leaks)
		return HI_EXIT_OK;
	switch (session->sink.leaks_letter) {
	case HI_ANALYZER_LEAKED:
		return HI_EXIT_LEAKS;
	case HI_ANALYZER_NOT_LEAKED:
		return HI_EXIT_OK;
	default:
		return HI_EXIT_UNSURE;
	}
}
