/* SPDX-License-Identifier: MIT */
/* preflight_checks.c - what the checks share. */
#include "preflight_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain_text.h"

int refuse(struct subject *subject, enum preflight_verdict verdict, const char *remedy,
	   const char *cause, ...)
{
	struct preflight *out = subject->out;
	va_list arguments;

	out->verdict = verdict;
	va_start(arguments, cause);
	vsnprintf(out->cause, sizeof(out->cause), cause, arguments);
	va_end(arguments);
	snprintf(out->remedy, sizeof(out->remedy), "%s", remedy);
	return PREFLIGHT_REFUSED;
}

const char *system_root = "";

ssize_t read_system(const char *path, char *into, size_t size)
{
	char full[4096 + 512];
	ssize_t got;
	int fd;

	into[0] = '\0';
	snprintf(full, sizeof(full), "%s%s", system_root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, into, size - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	into[got > 0 ? got : 0] = '\0';
	return got;
}

long read_system_number(const char *path, long otherwise)
{
	char text[32];

	return read_system(path, text, sizeof(text)) > 0 ? strtol(text, NULL, 10) : otherwise;
}

void comm_of(pid_t pid, char comm[16])
{
	struct proc_status status;

	if (proc_status_read(pid, pid, &status) == 0)
		plain_text_copy(comm, 16, status.comm);
	else
		strcpy(comm, "?");
}

bool has_capability(const struct proc_status *status, unsigned capability)
{
	return status->cap_effective >> capability & 1;
}

bool is_dead(char state)
{
	return state == 'Z' || state == 'X';
}

int for_each_thread(struct subject *subject,
		    int (*look)(struct subject *, pid_t, const struct proc_status *))
{
	const pid_t pid = subject->out->pid;
	struct proc_status status;
	pid_t *tids;
	size_t count, i;
	int result = proc_tasks(pid, &tids, &count);

	if (result)
		return result;
	for (i = 0; i < count && !result; i++) {
		if (proc_status_read(pid, tids[i], &status) == 0 && !is_dead(status.state))
			result = look(subject, tids[i], &status);
	}
	free(tids);
	return result;
}
