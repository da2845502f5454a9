/* SPDX-License-Identifier: MIT */
/* port_find: sockets that listen, and the processes that have them. */
#include "port_find.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "unit.h"

static const char table[] =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
	"timeout "
	"inode\n"
	"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        "
	"0 "
	"4711 1 0000000000000000 100 0 0 10 0\n"
	"   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        "
	"0 "
	"4712 1 0000000000000000 20 4 30 10 -1\n"
	"   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        "
	"0 "
	"4713 1 0000000000000000 100 0 0 10 0\n"
	"  10: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A "
	"00000000:00000000 00:00000000 00000000     0        0 4714 1 0000000000000000 100 0 0 10 "
	"0\n"
	"no line of it\n"
	"   3: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000";

UNIT_TEST(only_what_listens_on_the_port_is_taken)
{
	static struct port_sockets sockets;

	port_sockets_parse(table, 8080, &sockets);
	CHECK_EQ(sockets.count, 2);
	CHECK_EQ(sockets.inode[0], 4711);
	CHECK_EQ(sockets.inode[1], 4714);
	port_sockets_parse("", 8080, &sockets);
	CHECK_EQ(sockets.count, 2);
}

/* Returns the port of a socket that listens. */
static uint16_t listen_somewhere(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&address, size) && !listen(fd, 1));
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	return ntohs(address.sin_port);
}

static pid_t start(void)
{
	const pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

UNIT_TEST(all_that_share_the_socket_are_found)
{
	struct processes_found found = {0};
	const pid_t other = start();
	const uint16_t port = listen_somewhere();
	const pid_t one = start(), two = start();

	CHECK_EQ(port_find(port, &found), 0);
	CHECK_EQ(found.count, 2); /* and not this process */
	for (size_t i = 0; i < found.count; i++)
		CHECK(found.process[i].pid == one || found.process[i].pid == two);
	processes_found_close(&found);
	kill(one, SIGKILL);
	kill(two, SIGKILL);
	kill(other, SIGKILL);
	CHECK_EQ(waitpid(one, NULL, 0), one);
	CHECK_EQ(waitpid(two, NULL, 0), two);
	CHECK_EQ(waitpid(other, NULL, 0), other);
	CHECK_EQ(port_find(port, &found), -EACCES); /* only this process has it */
}

UNIT_MAIN()
