/* SPDX-License-Identifier: MIT */
/*
 * libhold.c - preloaded: holds a program at its end, when its own destructors have run. Says so by
 * a file, and goes on when that is gone.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void hold(void)
{
	const char *path = getenv("HOLD_FILE");

	if (!path)
		return;
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	/* not for ever, whatever becomes of the test */
	for (unsigned i = 0; i < 1200 && !access(path, F_OK); i++)
		usleep(100000);
}

__attribute__((destructor)) static void at_end(void)
{
	hold();
}

/* Of programs that leave without exit handlers. */
void _exit(int status)
{
	hold();
	((void (*)(int))dlsym(RTLD_NEXT, "_exit"))(status);
	for (;;)
		;
}
