/* SPDX-License-Identifier: MIT */
/* push_intake.c - see push_intake.h. Start at push_intake_serve(). */
#include "push_intake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "hi_units.h"

#define NS_PER_MS 1000000u
#define PROFILE_MAX ((off_t)64 << 20)
/* until a session that is gone without a word has been gone for long enough */
#define ABANDONED_MS 10000u

int push_intake_read(int fd, uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t got = pread(fd, bytes + done, size - done, (off_t)done);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			return -ENODATA;
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int push_intake_id(char id[SPOOL_ID_MAX])
{
	uint8_t bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0, at = 0; i < sizeof(bytes); i++) {
		at += (size_t)snprintf(id + at, SPOOL_ID_MAX - at, "%02x%s", bytes[i],
				       i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
	}
	return 0;
}

/* What becomes of one profile. */
struct intake {
	unsigned removed;            /* older ones, to make room */
	char text[HI_SEND_TEXT_MAX]; /* what is wrong; "" = what the errno says */
};

static void explain_size(const struct pushing *pushing, uint64_t size, struct intake *intake)
{
	char needed[HI_UNITS_TEXT_MAX], most[HI_UNITS_TEXT_MAX], usual[HI_UNITS_TEXT_MAX];

	snprintf(intake->text, sizeof(intake->text),
		 "a profile is not sent: it has %s, and all that waits may have %s; set "
		 "--push-spool-max to several times as much (without it %s)",
		 hi_format_bytes((double)size, needed, sizeof(needed)),
		 hi_format_bytes((double)pushing->spool.bytes_max, most, sizeof(most)),
		 hi_format_bytes((double)PUSH_SPOOL_BYTES, usual, sizeof(usual)));
}

static int spool_request(struct pushing *pushing, const struct push_snapshot *snapshot,
			 struct intake *intake)
{
	struct spool_bytes request;
	uint8_t *bytes;
	int err = push_request_build(&pushing->child->target, snapshot, &bytes, &request.size);

	if (err)
		return err;
	request.bytes = bytes;
	err = spool_add(&pushing->spool, snapshot->unix_ns, snapshot->id, request,
			&intake->removed);
	if (err == -EFBIG)
		explain_size(pushing, request.size, intake);
	free(bytes);
	return err;
}

static int spool_file(struct pushing *pushing, int fd, uint64_t unix_ns, struct intake *intake)
{
	char id[SPOOL_ID_MAX];
	struct stat status;
	struct push_snapshot snapshot = {.unix_ns = unix_ns, .id = id};
	int err = fd < 0 ? -EBADF : fstat(fd, &status) ? -errno : 0;

	if (!err && (!status.st_size || status.st_size > PROFILE_MAX))
		err = status.st_size ? -EFBIG : -ENODATA;
	if (err)
		return err;
	snapshot.size = (size_t)status.st_size;
	uint8_t *const bytes = malloc(snapshot.size);
	err = bytes ? push_intake_read(fd, bytes, snapshot.size) : -ENOMEM;
	snapshot.profile = bytes;
	if (!err)
		err = push_intake_id(id);
	if (!err)
		err = spool_request(pushing, &snapshot, intake);
	free(bytes);
	return err;
}

/* Returns 1 = a message, 0 = the session has gone. *out_fd: -1 = none came. */
static int receive(int socket, struct push_message *message, int *out_fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	struct msghdr head = {.msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes)};
	ssize_t got;

	*out_fd = -1;
	do
		got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	const struct cmsghdr *sent = got > 0 ? CMSG_FIRSTHDR(&head) : NULL;
	if (sent && sent->cmsg_level == SOL_SOCKET && sent->cmsg_type == SCM_RIGHTS)
		memcpy(out_fd, CMSG_DATA(sent), sizeof(*out_fd));
	return got == (ssize_t)sizeof(*message);
}

static void take_snapshot(struct pushing *pushing, const struct push_message *message, int fd)
{
	struct intake intake = {0};
	const int err = spool_file(pushing, fd, message->unix_ns, &intake);

	pthread_mutex_lock(&pushing->lock);
	pushing->state.removed += intake.removed;
	pushing->state.failed += err != 0;
	if (err) {
		if (!*intake.text)
			snprintf(intake.text, sizeof(intake.text),
				 "a profile cannot be put into the spool: %s", strerror(-err));
		pushing_complain(pushing, intake.text);
	}
	pushing->has_new = true;
	if (err || intake.removed)
		pushing_tell(pushing);
	pthread_cond_signal(&pushing->changed);
	pthread_mutex_unlock(&pushing->lock);
}

static void begin_end(struct pushing *pushing, uint64_t wait_ms)
{
	pthread_mutex_lock(&pushing->lock);
	pushing->is_ending = true;
	pushing->end_ns = clock_now_ns() + wait_ms * NS_PER_MS;
	pthread_cond_signal(&pushing->changed);
	pthread_mutex_unlock(&pushing->lock);
}

void *push_intake_serve(void *argument)
{
	struct pushing *pushing = argument;
	struct push_message message;
	int fd;

	while (receive(pushing->child->socket, &message, &fd)) {
		if (message.kind == PUSH_SNAPSHOT)
			take_snapshot(pushing, &message, fd);
		if (fd >= 0)
			close(fd);
		if (message.kind == PUSH_END) {
			begin_end(pushing, message.wait_ms);
			return NULL;
		}
	}
	begin_end(pushing, ABANDONED_MS);
	return NULL;
}
