/* SPDX-License-Identifier: MIT */
/* push.c - see push.h. */
#include "push.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "hi_exit.h"
#include "plain_text.h"

#define NS_PER_MS 1000000u
#define START_MS 10000
/* beyond its time, for the process to say that it is over */
#define OVER_MS 2000u

/* ---- the start ------------------------------------------------------------------------------- */

static void add_label(struct push_target *target, const char *name, const char *value)
{
	struct push_label *label = &target->label[target->label_count++];

	snprintf(label->name, sizeof(label->name), "%s", name);
	plain_text_copy(label->value, sizeof(label->value), value);
	/* no server takes what is not UTF-8 */
	for (char *c = label->value; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* Labels as the servers' own agents, or OpenTelemetry's semantic conventions, name them. */
static void describe_origin(struct push_target *target, const struct push_origin *origin)
{
	static const struct {
		const char *service, *host, *pid;
	} names[] = {[PUSH_PYROSCOPE] = {"service_name", "hostname", "pid"},
		     [PUSH_PARCA] = {"comm", "node", "pid"},
		     [PUSH_OTLP] = {"service.name", "host.name", "process.pid"}};
	const enum push_protocol protocol = target->options->protocol;
	char pid[16];
	uint8_t id[8] = {0};

	snprintf(pid, sizeof(pid), "%d", (int)origin->pid);
	add_label(target, names[protocol].service, origin->service);
	add_label(target, names[protocol].host, origin->host);
	add_label(target, names[protocol].pid, pid);
	(void)!getrandom(id, sizeof(id), 0);
	for (size_t i = 0; i < sizeof(id); i++)
		snprintf(target->session_id + 2 * i, 3, "%02x", id[i]);
}

/* The spool has a directory of its own, below one that must be there. */
static bool name_spool(struct push *push, const struct push_origin *origin)
{
	const char *given = push->options->spool, *slash = strrchr(origin->prefix, '/');
	const char *from = given ? given : origin->prefix;
	size_t size = given ? strlen(given) : slash ? (size_t)(slash - origin->prefix) + 1 : 0;

	while (given && size > 1 && given[size - 1] == '/')
		size--;
	return snprintf(push->spool_path, sizeof(push->spool_path), "%.*s%s" SPOOL_DIRECTORY,
			(int)size, from, given && size && given[size - 1] != '/' ? "/" : "") <
	       (int)sizeof(push->spool_path);
}

static int explain_spool(const struct push *push, int err)
{
	fprintf(stderr,
		"heapinject: cannot keep profiles to push in %s: %s; choose another place "
		"with --push-spool\n",
		push->spool_path,
		err == -EPERM   ? "others than you own it, or may write to it"
		: err == -ELOOP ? "on the way is a symbolic link that somebody else made"
				: strerror(-err));
	return HI_EXIT_FAILED;
}

static int start_process(struct push *push, struct push_child *child)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child->socket = pair[1];
	fflush(NULL);
	push->pid = fork();
	if (!push->pid)
		push_child_run(child);
	const int err = push->pid < 0 ? -errno : 0;
	close(pair[1]);
	push->socket = pair[0];
	if (err) {
		close(pair[0]);
		push->pid = 0;
	}
	return err;
}

static void close_process(struct push *push)
{
	close(push->socket);
	push->pid = 0;
}

/* Reads what the process says first: whether it can do its work. */
static int await_greeting(struct push *push)
{
	struct pollfd wait = {push->socket, POLLIN, 0};
	ssize_t got = -1;

	while (poll(&wait, 1, START_MS) < 0 && errno == EINTR)
		;
	if (wait.revents)
		got = recv(push->socket, &push->state, sizeof(push->state), MSG_DONTWAIT);
	push->state.text[sizeof(push->state.text) - 1] = '\0';
	return got == (ssize_t)sizeof(push->state) ? push->state.err : -ECANCELED;
}

int push_start(struct push *push, const struct push_options *options,
	       const struct push_origin *origin)
{
	static struct push_child child; /* large */

	*push = (struct push){.options = options, .socket = -1};
	if (!options->url)
		return HI_EXIT_OK;
	child = (struct push_child){.target.options = options};
	describe_origin(&child.target, origin);
	int err = name_spool(push, origin) ? 0 : -ENAMETOOLONG;
	if (!err)
		err = spool_open(push->spool_path, identity_to_run_as(identity_of_caller()),
				 &child.spool, &child.user);
	push->user = child.user;
	if (err)
		return explain_spool(push, err);
	err = start_process(push, &child);
	close(child.spool);
	if (!err)
		err = await_greeting(push);
	if (!err)
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject: profiles cannot be pushed: %s\n",
		*push->state.text ? push->state.text : strerror(-err));
	if (push->pid) {
		const pid_t pid = push->pid;

		close_process(push);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return HI_EXIT_FAILED;
}

void push_describe(const struct push *push)
{
	const struct sandbox_state *sandbox = &push->state.sandbox;

	if (!push->pid)
		return;
	fprintf(stderr,
		"heapinject: profiles are pushed by process %d, %s user %u, without "
		"capabilities, its system calls %sfiltered, %s\n",
		(int)push->pid, sandbox->is_user ? "as" : "which could not become",
		(unsigned)push->user.uid, sandbox->has_filter ? "" : "not ",
		sandbox->has_landlock ? "other files out of its reach"
				      : "files not out of its reach (the kernel has no Landlock)");
}

/* ---- during the session ---------------------------------------------------------------------- */

static int send_message(const struct push *push, const struct push_message *message, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec part = {.iov_base = (void *)message, .iov_len = sizeof(*message)};
	struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		head.msg_control = control.bytes;
		head.msg_controllen = sizeof(control.bytes);
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
						.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	return sendmsg(push->socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

uint64_t push_now_unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void push_hand_over(struct push *push, int fd, uint64_t unix_ns)
{
	const struct push_message message = {.kind = PUSH_SNAPSHOT, .unix_ns = unix_ns};

	if (push->pid) {
		push->handed++;
		push->lost += fd < 0 || send_message(push, &message, fd) != 0;
	}
	if (fd >= 0)
		close(fd);
}

/* Reads all that has come. False: the process has gone. */
static bool receive(struct push *push)
{
	struct push_state state;
	ssize_t got = 1;

	while (!push->is_over && got > 0) {
		got = recv(push->socket, &state, sizeof(state), MSG_DONTWAIT);
		if (got == (ssize_t)sizeof(state)) {
			state.sandbox = push->state.sandbox;
			push->state = state;
			push->state.text[sizeof(state.text) - 1] = '\0';
			push->is_over = state.is_over;
		} else if (!got || (got < 0 && errno != EAGAIN && errno != EINTR)) {
			push->is_over = true;
			return push->state.is_over;
		}
	}
	return true;
}

/* What the process says came over a network. */
static const char *plain(const struct push *push, char text[HI_SEND_TEXT_MAX])
{
	plain_text_copy(text, HI_SEND_TEXT_MAX, push->state.text);
	return text;
}

bool push_look(struct push *push, char text[PUSH_LINE_MAX])
{
	char why[HI_SEND_TEXT_MAX];

	if (!push->pid)
		return false;
	const bool was_over = push->is_over;
	if (!receive(push) && !was_over) {
		snprintf(text, PUSH_LINE_MAX,
			 "heapinject: the process that pushes profiles has ended; they are in "
			 "their files, and in %s",
			 push->spool_path);
		return true;
	}
	if (push->state.complaint != push->said) {
		push->said = push->state.complaint;
		push->was_away = push->state.is_away;
		snprintf(text, PUSH_LINE_MAX, "heapinject: pushing to %s: %s%s%s",
			 push->options->url, plain(push, why),
			 push->was_away ? "; profiles wait in " : "",
			 push->was_away ? push->spool_path : "");
		return true;
	}
	if (push->was_away && !push->state.is_away) {
		push->was_away = false;
		snprintf(text, PUSH_LINE_MAX, "heapinject: pushing to %s works again",
			 push->options->url);
		return true;
	}
	return false;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void print_count(uint32_t number, const char *rest)
{
	if (number)
		fprintf(stderr, "; %u %s %s", (unsigned)number, number == 1 ? "was" : "were", rest);
}

static const char *explain_twice(enum push_protocol protocol)
{
	switch (protocol) {
	case PUSH_PARCA:
		return ", which Parca counts twice";
	case PUSH_OTLP:
		return ", with the same profile_id, by which it can tell";
	default:
		return ", with the same labels and time, of which Pyroscope keeps one";
	}
}

static void report(const struct push *push)
{
	const struct push_state *state = &push->state;

	fprintf(stderr, "heapinject: pushed %u profile%s to %s", (unsigned)state->sent,
		state->sent == 1 ? "" : "s", push->options->url);
	print_count(state->partial, "taken in part");
	print_count(state->refused, "refused");
	print_count(state->removed, "dropped, as the spool is full");
	print_count(state->failed + push->lost, "not put into the spool");
	fputc('\n', stderr);
	if (state->lost_answers)
		fprintf(stderr,
			"heapinject: %u answer%s lost, so that the server may have got a profile "
			"twice%s\n",
			(unsigned)state->lost_answers, state->lost_answers == 1 ? " was" : "s were",
			explain_twice(push->options->protocol));
	if (state->waiting)
		fprintf(stderr,
			"heapinject: %u profile%s in %s; the next session with the same --push "
			"sends %s\n",
			(unsigned)state->waiting, state->waiting == 1 ? " waits" : "s wait",
			push->spool_path, state->waiting == 1 ? "it" : "them");
}

/* Prints what there is to say, and waits until the process is over. */
static void await_over(struct push *push, uint64_t end_ns, bool quiet)
{
	char text[PUSH_LINE_MAX];

	for (;;) {
		while (push_look(push, text))
			if (!quiet)
				fprintf(stderr, "%s\n", text);
		const uint64_t now_ns = clock_now_ns();

		if (push->is_over || now_ns >= end_ns)
			return;
		struct pollfd wait = {push->socket, POLLIN, 0};
		(void)poll(&wait, 1, (int)((end_ns - now_ns) / NS_PER_MS + 1));
	}
}

void push_finish(struct push *push, bool waits, bool quiet)
{
	const uint64_t wait_ms = waits ? push->options->wait_ns / NS_PER_MS : 0;
	const struct push_message end = {.kind = PUSH_END, .wait_ms = wait_ms};

	if (!push->pid)
		return;
	if (!push->is_over && !send_message(push, &end, -1))
		await_over(push, clock_now_ns() + (wait_ms + OVER_MS) * NS_PER_MS, quiet);
	if (waits && !quiet)
		report(push);
	/* one that is not over yet reads the end of the socket, and ends by itself */
	const pid_t pid = push->pid;
	const bool is_over = push->is_over;
	close_process(push);
	if (is_over)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}
