/* SPDX-License-Identifier: MIT */
/*
 * dumps: when one is due, and what those hear who ask for one. The analyzer's place is taken by a
 * socket whose other end is closed, or silent.
 */
#include "control_descriptor.h"
#include "dumps.h"
#include "file_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "unit.h"

#define SECOND 1000000000ull

static struct progress quiet = {.quiet = true};

static void sink_with_child(struct sink *sink, int *out_child)
{
	int pair[2];

	*sink = (struct sink){.broker = {.roots = ROOTS_CLOSED}, .outputs = {.directory_fd = -1}};
	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	CHECK_EQ(file_service_open(&sink->service, pair[0], &sink->broker, &sink->outputs), 0);
	close(pair[0]);
	*out_child = pair[1];
}

/* One who asks: our end. */
static int ask(struct dumps *dumps)
{
	int pair[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	dumps_ask(dumps, pair[1]);
	return pair[0];
}

static const char *answer(int client)
{
	static char text[512];
	const ssize_t got = read(client, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = 0;
	return text;
}

UNIT_TEST(one_is_due_each_so_often)
{
	struct dumps dumps;
	struct sink sink = {.outputs = {.directory_fd = -1}};
	unsigned due = 0;

	dumps_open(&dumps, &sink, &quiet, 2 * SECOND);
	CHECK(!dumps_is_due(&dumps, 0));
	CHECK(!dumps_is_due(&dumps, 2 * SECOND - 1));
	for (uint64_t now = 0; now < 11 * SECOND; now += SECOND / 200)
		due += dumps_is_due(&dumps, now);
	CHECK_EQ(due, 5);                         /* at 2, 4, 6, 8 and 10 */
	CHECK(dumps_is_due(&dumps, 31 * SECOND)); /* late: one, not ten */
	CHECK(!dumps_is_due(&dumps, 31 * SECOND + 1));
	CHECK(dumps_is_due(&dumps, 32 * SECOND)); /* and in step again */
	dumps_open(&dumps, &sink, &quiet, 0);
	CHECK(!dumps_is_due(&dumps, 3600 * SECOND));
}

UNIT_TEST(each_knows_its_triggers)
{
	struct dumps dumps;
	struct sink sink;
	int child;

	sink_with_child(&sink, &child);
	dumps_open(&dumps, &sink, &quiet, SECOND);
	dumps_want(&dumps, HI_DUMP_PEAK);
	CHECK(dumps_is_due(&dumps, 1));
	CHECK_EQ(dumps_begin(&dumps, 1), 0);
	CHECK_EQ(dumps.trigger, HI_DUMP_PEAK);
	dumps_want(&dumps, HI_DUMP_ALLOC); /* waits for the first */
	CHECK(!dumps_is_due(&dumps, 2));
	const struct hi_file_request done = {.kind = HI_FILE_DUMP_DONE, .place = ENOSPC};
	CHECK_EQ(send(child, &done, sizeof(done), 0), sizeof(done));
	file_service_wait(&sink.service);
	dumps_look(&dumps);
	CHECK(dumps_is_due(&dumps, SECOND));
	CHECK_EQ(dumps_begin(&dumps, SECOND), 0);
	CHECK_EQ(dumps.trigger, HI_DUMP_ALLOC | HI_DUMP_EVERY);
	CHECK(!dumps_is_due(&dumps, SECOND + 1));
	file_service_close(&sink.service);
	close(child);
}

UNIT_TEST(one_at_a_time)
{
	struct dumps dumps;
	struct sink sink;
	int child;

	sink_with_child(&sink, &child);
	dumps_open(&dumps, &sink, &quiet, SECOND);
	CHECK(dumps_is_due(&dumps, SECOND));
	CHECK_EQ(dumps_begin(&dumps, SECOND), 0);
	const int client = ask(&dumps);
	/* the first is not done; nor is it what was asked for */
	CHECK(!dumps_is_due(&dumps, 2 * SECOND));
	dumps_look(&dumps);
	CHECK(dumps.is_pending);
	const struct hi_file_request done = {.kind = HI_FILE_DUMP_DONE, .place = ENOSPC};
	CHECK_EQ(send(child, &done, sizeof(done), 0), sizeof(done));
	file_service_wait(&sink.service);
	dumps_look(&dumps);
	CHECK(!dumps.is_pending);
	CHECK_STR(answer(client), "");
	CHECK(dumps_is_due(&dumps, 2 * SECOND + 1)); /* now for who has asked */
	CHECK_EQ(dumps_begin(&dumps, 2 * SECOND + 1), 0);
	CHECK_EQ(send(child, &done, sizeof(done), 0), sizeof(done));
	file_service_wait(&sink.service);
	dumps_look(&dumps);
	CHECK_STR(answer(client), "failed\nthe profile could not be written: No space left on "
				  "device; the session goes on\n");
	CHECK_EQ(read(client, &(char){0}, 1), 0); /* and the connection is closed */
	file_service_close(&sink.service);
	close(client);
	close(child);
}

UNIT_TEST(watchers_share_a_profile_and_wait_for_files)
{
	struct dumps dumps;
	struct sink sink;
	int child, pair[2][2];
	char text[8], said[16];

	sink_with_child(&sink, &child);
	dumps_open(&dumps, &sink, &quiet, SECOND);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair[i]), 0);
		dumps_show(&dumps, DUMPS_PROFILE, pair[i][1]);
	}
	dumps_want(&dumps, HI_DUMP_PEAK);
	const struct hi_file_request full = {.kind = HI_FILE_DUMP_DONE, .place = ENOSPC},
				     done = {.kind = HI_FILE_DUMP_DONE};
	CHECK(dumps_is_due(&dumps, 1));
	CHECK_EQ(dumps_begin(&dumps, 1), 0);
	CHECK_EQ(dumps.trigger, HI_DUMP_PEAK);
	CHECK(!dumps_is_due(&dumps, 2));
	CHECK_EQ(send(child, &full, sizeof(full), 0), sizeof(full));
	file_service_wait(&sink.service);
	dumps_look(&dumps);
	CHECK(dumps_is_due(&dumps, 2));
	CHECK_EQ(dumps_begin(&dumps, 2), 0);
	CHECK_EQ(dumps.trigger, HI_DUMP_SHOWN);
	const struct file_source source = {.ask_fd = child};
	const int file = file_source_open(&source, NULL,
					  &(struct hi_file_request){.kind = HI_FILE_DUMP_HEAP});
	CHECK(file >= 0);
	CHECK_EQ(send(child, &done, sizeof(done), 0), sizeof(done));
	file_service_wait(&sink.service);
	dumps_look(&dumps);
	CHECK_EQ(dumps.written, 0);
	for (int i = 0; i < 2; i++) {
		const int fd = control_descriptor_take(pair[i][0], said, sizeof(said));
		CHECK(fd >= 0);
		CHECK_EQ(read(fd, text, sizeof(text)), 0);
		CHECK_EQ(write(fd, text, 1), -1);
		CHECK_EQ(read(pair[i][0], text, 1), 0); /* and the connection is closed */
		close(fd);
		close(pair[i][0]);
	}
	CHECK(!dumps_is_due(&dumps, 3));
	close(file);
	file_service_close(&sink.service);
	close(child);
}

UNIT_TEST(what_is_shown_of_each_kind_is_a_dump_of_its_own)
{
	struct dumps dumps;
	struct sink sink;
	int child, pair[2][2];

	sink_with_child(&sink, &child);
	dumps_open(&dumps, &sink, &quiet, 0);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair[i]), 0);
		dumps_show(&dumps, i ? DUMPS_PROFILE : DUMPS_STACKED, pair[i][1]);
	}
	const struct hi_file_request full = {.kind = HI_FILE_DUMP_DONE, .place = ENOSPC};
	static const uint32_t triggers[] = {HI_DUMP_SHOWN, HI_DUMP_STACKED};
	for (unsigned i = 0; i < 2; i++) {
		CHECK(dumps_is_due(&dumps, 1));
		CHECK_EQ(dumps_begin(&dumps, 1), 0);
		CHECK_EQ(dumps.trigger, triggers[i]);
		CHECK_EQ(dumps.waiting.count, 1);
		CHECK_EQ(send(child, &full, sizeof(full), 0), sizeof(full));
		file_service_wait(&sink.service);
		dumps_look(&dumps);
		CHECK(strstr(answer(pair[!i][0]), "failed\n"));
		close(pair[!i][0]);
	}
	CHECK(!dumps_is_due(&dumps, 2));
	file_service_close(&sink.service);
	close(child);
}

UNIT_TEST(an_analyzer_that_is_gone_is_told)
{
	struct dumps dumps;
	struct sink sink;
	int child;

	sink_with_child(&sink, &child);
	dumps_open(&dumps, &sink, &quiet, 0);
	const int client = ask(&dumps);
	CHECK(dumps_is_due(&dumps, SECOND));
	close(child);
	int err = dumps_begin(&dumps, SECOND); /* the thread may see it a moment later */
	file_service_wait(&sink.service);
	dumps_look(&dumps);
	CHECK(err == 0 || err == -EPIPE);
	CHECK(strstr(answer(client), "failed\n"));
	CHECK(!dumps.is_pending);
	file_service_close(&sink.service);
	close(client);
}

UNIT_TEST(a_session_that_streams_has_no_files)
{
	struct dumps dumps;
	struct sink sink = {.streams = true};

	dumps_open(&dumps, &sink, &quiet, 0);
	const int client = ask(&dumps);
	CHECK(strstr(answer(client), "failed\nthe session writes its record stream to standard "
				     "output (-o -) and has no files; "));
	CHECK(!dumps_is_due(&dumps, SECOND));
	close(client);
}

UNIT_TEST(a_caller_that_still_waits_at_the_end_is_answered)
{
	struct dumps dumps;
	struct sink sink;
	int child, client[DUMPS_CLIENTS_MAX + 1];

	sink_with_child(&sink, &child);
	dumps_open(&dumps, &sink, &quiet, 0);
	for (int i = 0; i <= DUMPS_CLIENTS_MAX; i++)
		client[i] = ask(&dumps);
	CHECK_STR(answer(client[DUMPS_CLIENTS_MAX]),
		  "failed\ntoo many ask for a profile at once; try again\n");
	CHECK_STR(answer(client[0]), "");
	dumps_close(&dumps);
	for (int i = 0; i < DUMPS_CLIENTS_MAX; i++)
		CHECK_EQ(strncmp(answer(client[i]), "failed\nthe session has ended", 28), 0);
	file_service_close(&sink.service);
}

UNIT_MAIN()
