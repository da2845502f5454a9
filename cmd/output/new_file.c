/* SPDX-License-Identifier: MIT */
/* new_file.c - see new_file.h. */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "directory.h"
#include "hi_path.h"
#include "identity.h"

static int create(const char *path)
{
	int directory;
	const int err = directory_open(path, &directory);

	if (err)
		return err;
	const int fd = openat(directory, hi_base_name(path),
			      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	const int create_err = fd < 0 ? -errno : 0;

	close(directory);
	return create_err ? create_err : fd;
}

int new_file_create(const char *path)
{
	struct identity_window window;
	const int err = identity_begin(identity_of_caller(), &window);

	if (err)
		return err;
	const int fd = create(path);

	identity_end(&window);
	return fd;
}
