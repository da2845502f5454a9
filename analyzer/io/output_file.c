/* SPDX-License-Identifier: MIT */
/*
 * output_file.c - see output_file.h. Start at output_open().
 */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (64u << 10)

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/*
 * A view may be a gigabyte, in pieces of a few bytes. So the stream gets a large buffer, and no
 * lock for each piece, as there is one thread. Without memory for the buffer (NULL) it keeps its
 * own. A terminal must show each line as soon as it is written.
 */
static void set_buffer(FILE *stream, char *buffer)
{
	const int fd = fileno(stream);

	if (buffer && !isatty(fd))
		setvbuf(stream, buffer, _IOFBF, BUFFER_SIZE);
	__fsetlocking(stream, FSETLOCKING_BYCALLER);
}

/*
 * mkostemp makes files that only their owner may read; this one gets the permissions of any new
 * file.
 */
static int open_temporary(const char *path, char **out_temporary)
{
	const mode_t mask = umask(0);
	char *temporary;
	int fd;

	umask(mask);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		free(temporary);
		return fd;
	}
	fchmod(fd, 0666 & ~mask); /* if this fails, only the owner may read the file */
	*out_temporary = temporary;
	return fd;
}

static int open_special(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int output_open(struct output_file *out_file, const char *path)
{
	struct output_file file = {.stream = stdout, .path = path};
	int fd;

	if (!path) {
		static char buffer[BUFFER_SIZE]; /* as long as the stream */

		set_buffer(stdout, buffer);
		*out_file = file;
		return 0;
	}
	fd = is_special(path) ? open_special(path) : open_temporary(path, &file.temporary);
	if (fd < 0)
		return fd;
	file.stream = fdopen(fd, "w");
	if (!file.stream) {
		close(fd);
		output_abandon(&file);
		return -ENOMEM;
	}
	file.buffer = malloc(BUFFER_SIZE);
	set_buffer(file.stream, file.buffer);
	*out_file = file;
	return 0;
}

bool output_is_seen(const struct output_file *file)
{
	struct stat status;

	return fstat(fileno(file->stream), &status) || S_ISFIFO(status.st_mode) ||
	       S_ISSOCK(status.st_mode) || isatty(fileno(file->stream));
}

int output_close(struct output_file *file)
{
	int err = ferror(file->stream) ? -EIO : 0;

	errno = 0;
	if ((file->path ? fclose(file->stream) : fflush(file->stream)) && !err)
		err = errno ? -errno : -EIO;
	file->stream = NULL;
	free(file->buffer);
	file->buffer = NULL;
	if (!err && file->temporary && rename(file->temporary, file->path))
		err = -errno;
	if (err) {
		output_abandon(file);
		return err;
	}
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

void output_abandon(struct output_file *file)
{
	if (file->stream && file->path)
		fclose(file->stream);
	file->stream = NULL;
	free(file->buffer);
	file->buffer = NULL;
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	file->temporary = NULL;
}
