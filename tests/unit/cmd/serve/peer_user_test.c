/* SPDX-License-Identifier: MIT */
/* peer_user_test.c - the kernel says whose process has the other end of a connection. */
#include "peer_user.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int listen_at_loopback(int family, union address *out_address)
{
	socklen_t size = sizeof(*out_address);
	const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*out_address = (union address){0};
	out_address->any.sa_family = (sa_family_t)family;
	if (family == AF_INET)
		out_address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		out_address->v6.sin6_addr = in6addr_loopback;
	if (fd < 0 || bind(fd, &out_address->any, size) || listen(fd, 4) ||
	    getsockname(fd, &out_address->any, &size))
		return -1;
	return fd;
}

static int connect_to(const union address *address)
{
	const int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_EQ(connect(fd, &address->any, sizeof(*address)), 0);
	return fd;
}

static void check_own(int family)
{
	union address address;
	uid_t uid = (uid_t)-1;
	const int listener = listen_at_loopback(family, &address);

	if (listener < 0) /* this machine has no such addresses */
		return;
	const int client = connect_to(&address), server = accept(listener, NULL, NULL);

	CHECK_EQ(peer_user(server, &uid), 0);
	CHECK_EQ(uid, geteuid());
	close(client);
	uid = (uid_t)-1;
	CHECK_EQ(peer_user(server, &uid), -ENOENT);
	CHECK_EQ(uid, (uid_t)-1);
	close(server);
	close(listener);
}

UNIT_TEST(a_connection_of_our_own)
{
	check_own(AF_INET);
	check_own(AF_INET6);
}

/* The kernel says root of a socket that nobody has any more, though its bytes are still there. */
UNIT_TEST(who_has_gone_is_nobody)
{
	union address address;
	const int listener = listen_at_loopback(AF_INET, &address), client = connect_to(&address),
		  server = accept(listener, NULL, NULL);
	uid_t uid;
	char byte;

	CHECK_EQ(write(client, "x", 1), 1);
	close(client);
	CHECK_EQ(peer_user(server, &uid), -ENOENT);
	CHECK_EQ(read(server, &byte, 1), 1);
	close(server);
	close(listener);
}

static void check_gone(int family)
{
	union address address;
	const int listener = listen_at_loopback(family, &address);

	if (listener < 0)
		return;
	const int client = connect_to(&address), server = accept(listener, NULL, NULL);

	CHECK(!peer_is_gone(server));
	CHECK_EQ(write(client, "x", 1), 1);
	CHECK(!peer_is_gone(server));
	/* it sends no more, and reads */
	CHECK_EQ(shutdown(client, SHUT_WR), 0);
	CHECK_EQ(recv(server, &(char){0}, 1, 0), 1);
	CHECK(!peer_is_gone(server));
	close(client);
	CHECK(peer_is_gone(server));
	close(server);
	close(listener);
}

UNIT_TEST(who_only_sends_no_more_is_not_gone)
{
	check_gone(AF_INET);
	check_gone(AF_INET6);
}

UNIT_TEST(who_has_broken_off_is_gone)
{
	const struct linger at_once = {.l_onoff = 1};
	union address address;
	const int listener = listen_at_loopback(AF_INET, &address), client = connect_to(&address),
		  server = accept(listener, NULL, NULL);

	setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(client);
	CHECK(peer_is_gone(server));
	close(server);
	close(listener);
}

UNIT_TEST(a_connection_of_another_user)
{
	union address address;
	int go_on[2];
	uid_t uid;
	char byte = 0;

	if (geteuid() != 0)
		return;
	const int listener = listen_at_loopback(AF_INET, &address);
	CHECK_EQ(pipe(go_on), 0);
	const pid_t child = fork();
	if (child == 0) {
		if (setuid(65534))
			_exit(1);
		connect_to(&address);
		_exit(read(go_on[0], &byte, 1) != 1);
	}
	const int server = accept(listener, NULL, NULL);
	CHECK_EQ(peer_user(server, &uid), 0);
	CHECK_EQ(uid, 65534);
	CHECK_EQ(write(go_on[1], "x", 1), 1);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	close(server);
	close(listener);
}

UNIT_TEST(what_is_no_connection)
{
	uid_t uid;

	CHECK(peer_user(-1, &uid) < 0);
	CHECK(peer_user(STDIN_FILENO, &uid) < 0);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(peer_user(fd, &uid) < 0);
	close(fd);
}

UNIT_MAIN()
