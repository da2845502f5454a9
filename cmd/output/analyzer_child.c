/* SPDX-License-Identifier: MIT */
/* analyzer_child.c - see analyzer_child.h. */
#include "analyzer_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "held_memory.h"

#define STREAM_PIPE_BYTES (1 << 20)
#define SUMMARY_BYTES_MAX (1u << 20) /* leaked blocks by stack, in JSON */
#define HELD_BYTES (24u << 20)
#define NICE_AT_THE_END 5
/* more than a pipe holds; bounds the reads if the child keeps writing */
#define STATUSES_AT_ONCE 64

/* The near ends are the injector's, the far ends the child's. */
struct ends {
	int stream, status, summary, ask;
};
#define NO_ENDS ((struct ends){-1, -1, -1, -1})

static void close_ends(const struct ends *ends)
{
	const int all[] = {ends->stream, ends->status, ends->summary, ends->ask};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] >= 0)
			close(all[i]);
}

static int open_pipe(int flags, int *out_read, int *out_write)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC | flags))
		return -errno;
	*out_read = pair[0];
	*out_write = pair[1];
	return 0;
}

static int open_socket(int *out_near, int *out_far)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	*out_near = pair[0];
	*out_far = pair[1];
	return 0;
}

static int open_ends(struct ends *near, struct ends *far)
{
	int err = open_pipe(0, &far->stream, &near->stream);

	if (!err)
		err = open_pipe(O_NONBLOCK, &near->status, &far->status);
	if (!err)
		err = open_pipe(0, &near->summary, &far->summary);
	if (!err)
		err = open_socket(&near->ask, &far->ask);
	if (err)
		return err;
	/* fewer wake-ups; if it fails, a pipe of ordinary size works as well */
	(void)fcntl(near->stream, F_SETPIPE_SZ, STREAM_PIPE_BYTES);
	return fcntl(near->stream, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

/* ---- the child ------------------------------------------------------------------------------- */

/* The first message of the child, sent on the socket. */
struct greeting {
	int err;
	struct sandbox_state sandbox;
};

/*
 * Ctrl-C at the terminal reaches the whole process group, and the child must survive it to write
 * the files. The child ends when the stream ends.
 */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to report */
}

_Noreturn static void run_child(const struct ends *far, struct identity user,
				const struct analyzer_files *files)
{
	struct hi_analyzer_outputs outputs = {
		.stream_fd = far->stream,
		.status_fd = far->status,
		.heap_fd = files->heap_fd,
		.pprof_fd = files->pprof_fd,
		.summary_fd = far->summary,
		.ask_fd = far->ask,
		.pagemap_fd = files->pagemap_fd,
		.names_live = files->names_live,
		.suppressions = files->suppressions,
	};
	int *const kept[] = {&outputs.stream_fd, &outputs.status_fd,  &outputs.heap_fd,
			     &outputs.pprof_fd,  &outputs.summary_fd, &outputs.ask_fd,
			     &outputs.pagemap_fd};
	struct greeting greeting = {0};

	ignore_signals();
	if (files->holds_memory)
		(void)!held_memory_take(HELD_BYTES);
	greeting.err = sandbox_keep(kept, sizeof(kept) / sizeof(*kept));
	if (!greeting.err)
		greeting.err = sandbox_enter(user, outputs.ask_fd, &greeting.sandbox);
	struct iovec part = {.iov_base = &greeting, .iov_len = sizeof(greeting)};
	const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (sendmsg(outputs.ask_fd, &message, MSG_NOSIGNAL) < 0 || greeting.err)
		_exit(1);
	_exit(hi_analyzer_collect(&outputs));
}

/* ---- the injector's side --------------------------------------------------------------------- */

static int reap(struct analyzer_child *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->status_fd);
	close(child->summary_fd);
	close(child->ask_fd);
	child->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECANCELED;
}

static int read_greeting(struct analyzer_child *child)
{
	struct greeting greeting;
	ssize_t got;

	do
		got = recv(child->ask_fd, &greeting, sizeof(greeting), 0);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(greeting))
		return -ECANCELED;
	child->sandbox = greeting.sandbox;
	return greeting.err;
}

int analyzer_child_start(struct analyzer_child *child, struct identity user,
			 const struct analyzer_files *files)
{
	struct ends near = NO_ENDS, far = NO_ENDS;
	int err = open_ends(&near, &far);
	const pid_t pid = err ? -1 : fork();

	if (pid == 0)
		run_child(&far, user, files);
	if (!err && pid < 0)
		err = -errno;
	close_ends(&far);
	if (err) {
		close_ends(&near);
		return err;
	}
	struct analyzer_child started = {.pid = pid,
					 .stream_fd = near.stream,
					 .status_fd = near.status,
					 .summary_fd = near.summary,
					 .ask_fd = near.ask};
	err = read_greeting(&started);
	if (err)
		analyzer_child_abandon(&started);
	else
		*child = started;
	return err;
}

int analyzer_child_status(const struct analyzer_child *child, struct hi_analyzer_status *out_status)
{
	struct hi_analyzer_status status;
	int found = 0;

	while (found < STATUSES_AT_ONCE &&
	       read(child->status_fd, &status, sizeof(status)) == (ssize_t)sizeof(status)) {
		*out_status = status;
		found++;
	}
	return found > 0;
}

/* Where the summary goes, and how much of it is through. */
struct relay {
	FILE *text, *answer;
	size_t relayed;
	unsigned bar; /* how many bytes of a bar have come: 0 to 2 */
};

static bool is_plain(char byte)
{
	return byte == '\n' || (byte >= ' ' && byte <= '~');
}

/* Copies one byte. Of UTF-8 only the bars pass, E2 96 81 to E2 96 88. */
static void relay_byte(struct relay *relay, char byte)
{
	static const unsigned char bar[] = {0xe2, 0x96};
	const unsigned char value = (unsigned char)byte;

	if (byte == HI_ANALYZER_ANSWER && relay->answer) {
		relay->text = relay->answer;
		relay->bar = 0;
	} else if (byte == HI_ANALYZER_LEAKS && relay->text == relay->answer) {
		putc(byte, relay->text);
		relay->bar = 0;
	} else if (relay->bar < sizeof(bar) && value == bar[relay->bar]) {
		relay->bar++;
	} else if (relay->bar == sizeof(bar) && value >= 0x81 && value <= 0x88) {
		fprintf(relay->text, "\342\226%c", byte);
		relay->bar = 0;
	} else {
		for (; relay->bar; relay->bar--)
			putc('?', relay->text);
		putc(is_plain(byte) ? byte : '?', relay->text);
	}
}

/* Copies one part of the summary. False: end of the summary. */
static bool relay_summary(int summary_fd, struct relay *relay)
{
	char text[4096];
	const ssize_t got = read(summary_fd, text, sizeof(text));

	for (ssize_t i = 0; i < got && relay->relayed < SUMMARY_BYTES_MAX; i++, relay->relayed++)
		relay_byte(relay, text[i]);
	return got > 0 || (got < 0 && errno == EINTR);
}

void analyzer_child_end_stream(struct analyzer_child *child)
{
	if (child->stream_fd < 0)
		return;
	close(child->stream_fd);
	child->stream_fd = -1;
	/*
	 * Only the reader of the files still waits. Without the lower priority the child would, on
	 * a busy machine, look names up at the cost of the program that was just detached.
	 */
	(void)setpriority(PRIO_PROCESS, (id_t)child->pid, NICE_AT_THE_END);
}

void analyzer_child_set_nice(const struct analyzer_child *child, int nice)
{
	if (child->pid)
		(void)setpriority(PRIO_PROCESS, (id_t)child->pid, nice);
}

int analyzer_child_finish(struct analyzer_child *child, FILE *out, FILE *answer)
{
	struct relay relay = {.text = out, .answer = answer};

	analyzer_child_end_stream(child);
	while (relay_summary(child->summary_fd, &relay))
		;
	return reap(child);
}

void analyzer_child_abandon(struct analyzer_child *child)
{
	if (!child->pid)
		return;
	if (child->stream_fd >= 0)
		close(child->stream_fd);
	kill(child->pid, SIGKILL);
	reap(child);
}
