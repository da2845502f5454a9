/* SPDX-License-Identifier: MIT */
/* file_writer.c - see file_writer.h. */
#include "file_writer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool file_writer_find(int fd, pid_t *out_pid)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		return false;
	*out_pid = lock.l_pid > 0 ? lock.l_pid : 0;
	return true;
}

/* The number between the last two dots before `end`, which moves to the former. -1 = none. */
static long number_before(const char *name, const char **end)
{
	const char *digit = *end;
	long number;

	while (digit > name && isdigit((unsigned char)digit[-1]))
		digit--;
	if (digit == *end || digit == name || digit[-1] != '.')
		return -1;
	errno = 0;
	number = strtol(digit, NULL, 10);
	*end = digit - 1;
	return errno || number > INT_MAX ? -1 : number;
}

bool file_writer_target(const char *name, pid_t *out_pid)
{
	static const char *const endings[] = {".heap", ".pb.gz"};
	const size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const size_t length = strlen(endings[i]);
		const char *end = name + size - length;

		if (size <= length || strcmp(end, endings[i]) != 0 || number_before(name, &end) < 0)
			continue;
		const long pid = number_before(name, &end);
		if (pid <= 0)
			return false;
		*out_pid = (pid_t)pid;
		return true;
	}
	return false;
}
