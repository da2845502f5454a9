/* SPDX-License-Identifier: MIT */
/* control_descriptor: what a session gives is read, and only memory that nobody can change. */
#include "control_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "unit.h"

/* The descriptor, as a client takes it; negative errno. */
static int given(int fd)
{
	char text[64];
	int pair[2];
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	CHECK_EQ(control_descriptor_give(pair[0], fd), 0);
	const int taken = control_descriptor_take(pair[1], text, sizeof(text));
	CHECK_STR(text, "ok\n");
	close(pair[0]);
	close(pair[1]);
	return taken;
}

UNIT_TEST(only_sealed_memory_is_taken)
{
	char text[8];
	const int memory = memfd_create("profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const int path = open("/etc/passwd", O_PATH | O_CLOEXEC);
	CHECK_EQ(write(memory, "heap", 4), 4);
	CHECK_EQ(given(path), -EPERM);   /* which the caller's rights would open */
	CHECK_EQ(given(memory), -EPERM); /* it may yet change */
	CHECK_EQ(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), 0);
	for (int client = 0; client < 2; client++) { /* each from the beginning */
		const int taken = given(memory);
		CHECK(taken >= 0);
		CHECK_EQ(read(taken, text, sizeof(text)), 4);
		close(taken);
	}
	close(memory);
	close(path);
}

UNIT_MAIN()
