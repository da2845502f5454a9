/* SPDX-License-Identifier: MIT */
/* remote_page.c - see remote_page.h. */
#include "remote_page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int complain(int err, char *complaint)
{
	snprintf(complaint, HTTP_COMPLAINT_MAX, "%s", strerror(-err));
	return err;
}

int remote_page_fetch(const struct http_request *request, int *out_fd,
		      char complaint[HTTP_COMPLAINT_MAX])
{
	const int fd = memfd_create("heapinject-answer", MFD_CLOEXEC);

	if (fd < 0)
		return complain(-errno, complaint);
	int err = http_fetch(request, fd, complaint);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = complain(-errno, complaint);
	if (err)
		close(fd);
	else
		*out_fd = fd;
	return err;
}

int remote_page_open(const struct http_request *request, struct input *out_page,
		     char complaint[HTTP_COMPLAINT_MAX])
{
	int fd, err = remote_page_fetch(request, &fd, complaint);

	if (err)
		return err;
	err = input_open(out_page, fd);
	if (err) {
		close(fd);
		return complain(err, complaint);
	}
	return 0;
}

void remote_page_close(struct input *page)
{
	const int fd = page->fd;

	input_close(page);
	close(fd);
}
