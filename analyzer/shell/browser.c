/* SPDX-License-Identifier: MIT */
/*
 * browser.c - see browser.h.
 */
#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPENER "xdg-open"

int browser_file(const char *ending, char out_path[BROWSER_PATH_MAX])
{
	const char *directory = getenv("TMPDIR");

	if (snprintf(out_path, BROWSER_PATH_MAX, "%s/heapinject.XXXXXX%s",
		     directory && *directory ? directory : "/tmp", ending) >= BROWSER_PATH_MAX)
		return -ENAMETOOLONG;
	const int fd = mkostemps(out_path, (int)strlen(ending), O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool has_display(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland);
}

/* Searches xdg-open in the directories of PATH. */
static bool find_opener(char path[PATH_MAX])
{
	const char *at = getenv("PATH");

	while (at && *at) {
		const size_t size = strcspn(at, ":");
		if (size && size < PATH_MAX - sizeof(OPENER) - 1 &&
		    snprintf(path, PATH_MAX, "%.*s/" OPENER, (int)size, at) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
		at += size + (at[size] == ':');
	}
	return false;
}

/*
 * Becomes a process in a session of its own whose parent is init, so that neither Ctrl-C nor the
 * end of the shell affects it.
 */
__attribute__((noreturn)) static void become_opener(const char *opener, const char *path)
{
	const int null = open("/dev/null", O_RDWR);

	setsid();
	if (fork())
		_exit(0);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	execl(opener, OPENER, path, (char *)NULL);
	_exit(127);
}

int browser_open(const char *path)
{
	char opener[PATH_MAX];

	if (!has_display() || !find_opener(opener))
		return -ENOENT;
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0)
		become_opener(opener, path);
	if (child < 0)
		return -errno;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}
