/* SPDX-License-Identifier: MIT */
/* cli_page.c - see cli_page.h. */
#include "cli_page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hi_exit.h"
#include "inspect_page.h"
#include "new_file.h"

int cli_page_create(struct cli_page *page)
{
	page->fd = new_file_create(page->path);
	if (page->fd >= 0)
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject: cannot create %s: %s\n", page->path, strerror(-page->fd));
	return HI_EXIT_FAILED;
}

static int write_file(int fd, const struct inspect_page *page)
{
	FILE *file = fdopen(fd, "w");

	if (!file)
		return -ENOMEM;
	inspect_page_write(page, file);
	const bool is_lost = ferror(file);

	return fclose(file) ? -errno : is_lost ? -EIO : 0;
}

int cli_page_write(const struct cli_page *page, const char *command, cli_page_json *print_json,
		   const void *context)
{
	struct timespec now;
	char *json = NULL;
	size_t size;
	FILE *out = open_memstream(&json, &size);
	int err = out ? 0 : -ENOMEM;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out) {
		print_json(context, out);
		err = fclose(out) ? -ENOMEM : 0;
	}
	if (!err)
		err = write_file(page->fd, &(const struct inspect_page){command, json, now.tv_sec});
	free(json);
	if (err)
		fprintf(stderr,
			"heapinject: %s cannot be written: %s; it is incomplete: remove it\n",
			page->path, strerror(-err));
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}
