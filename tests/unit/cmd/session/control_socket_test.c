/* SPDX-License-Identifier: MIT */
/*
 * control_socket: a request reaches its session; directories that others may write are not trusted.
 */
#include "control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "clock.h"
#include "unit.h"

static char runtime[] = "/tmp/control_test.XXXXXX";

static void use_runtime_directory(void)
{
	CHECK(mkdtemp(runtime));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
}

/* Waits for a request. */
static int accept_request(struct control_socket *listener, char *request, size_t size)
{
	int connection;
	while ((connection = control_socket_accept(listener, request, size)) == -EAGAIN)
		usleep(1000);
	return connection;
}

static void remove_runtime_directory(void)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -rf %s", runtime);
	(void)!system(command);
}

UNIT_TEST(carries_a_request_and_an_answer)
{
	struct control_socket listener;
	use_runtime_directory();
	CHECK_EQ(control_socket_listen(&listener, 4711), 0);
	const pid_t client = fork();
	if (client == 0) {
		char answer[64] = "";
		const int connection = control_socket_request(4711, "detach");
		_exit(connection >= 0 && read(connection, answer, sizeof(answer) - 1) == 3 &&
				      !strcmp(answer, "ok\n")
			      ? 0
			      : 1);
	}
	char request[64];
	const int connection = accept_request(&listener, request, sizeof(request));
	CHECK(connection >= 0);
	CHECK_STR(request, "detach");
	CHECK_EQ(write(connection, "ok\n", 3), 3);
	int status;
	waitpid(client, &status, 0);
	CHECK_EQ(status, 0);
	control_socket_close(&listener);
	CHECK(control_socket_request(4711, "detach") < 0);
	remove_runtime_directory();
}

/* Those that connect and say nothing keep nobody else waiting, however many there are. */
UNIT_TEST(silent_clients_hold_nobody_up)
{
	enum { SILENT = 3 * CONTROL_CLIENTS_MAX };
	struct control_socket listener;
	char request[64], byte;
	int silent[SILENT];
	use_runtime_directory();
	CHECK_EQ(control_socket_listen(&listener, 4711), 0);
	for (int i = 0; i < SILENT; i++) {
		silent[i] = control_socket_request(4711, "");
		CHECK(silent[i] >= 0);
		CHECK_EQ(control_socket_accept(&listener, request, sizeof(request)), -EAGAIN);
		/* none of them goes for the time that this takes */
		listener.clients.client[listener.clients.count - 1].until_ns = UINT64_MAX;
	}
	CHECK(listener.clients.count <= CONTROL_CLIENTS_MAX);
	/* the first ones had to go */
	CHECK_EQ(recv(silent[0], &byte, 1, MSG_DONTWAIT), 0);
	CHECK_EQ(recv(silent[SILENT - 1], &byte, 1, MSG_DONTWAIT), -1);
	const int other = control_socket_request(4711, "status");
	const int connection = control_socket_accept(&listener, request, sizeof(request));
	CHECK(connection >= 0);
	CHECK_STR(request, "status");
	/* one of them speaks after all */
	CHECK_EQ(write(silent[SILENT - 1], "dump\nrest", 9), 9);
	const int late = control_socket_accept(&listener, request, sizeof(request));
	CHECK(late >= 0);
	CHECK_STR(request, "dump");
	close(late);
	close(connection);
	close(other);
	for (int i = 0; i < SILENT; i++)
		close(silent[i]);
	CHECK_EQ(control_socket_accept(&listener, request, sizeof(request)), -EAGAIN);
	CHECK_EQ(listener.clients.count, 0); /* they have hung up */
	control_socket_close(&listener);
	remove_runtime_directory();
}

/* A second of silence is enough. */
UNIT_TEST(silent_clients_are_closed)
{
	struct control_socket listener;
	char request[64], byte;
	use_runtime_directory();
	CHECK_EQ(control_socket_listen(&listener, 4711), 0);
	const int silent = control_socket_request(4711, "");
	CHECK_EQ(control_socket_accept(&listener, request, sizeof(request)), -EAGAIN);
	CHECK_EQ(listener.clients.count, 1);
	listener.clients.client[0].until_ns = clock_now_ns();
	CHECK_EQ(control_socket_accept(&listener, request, sizeof(request)), -EAGAIN);
	CHECK_EQ(read(silent, &byte, 1), 0);
	close(silent);
	control_socket_close(&listener);
	remove_runtime_directory();
}

UNIT_TEST(the_last_session_leaves_no_directory)
{
	struct control_socket first, second;
	char directory[300];
	use_runtime_directory();
	snprintf(directory, sizeof(directory), "%s/heapinject", runtime);
	CHECK_EQ(control_socket_listen(&first, 4711), 0);
	CHECK_EQ(control_socket_listen(&second, 4712), 0);
	control_socket_close(&first);
	CHECK_EQ(access(directory, F_OK), 0);
	control_socket_close(&second);
	CHECK_EQ(access(directory, F_OK), -1);
	remove_runtime_directory();
}

UNIT_TEST(replaces_the_socket_of_a_dead_session)
{
	struct control_socket dead, listener;
	use_runtime_directory();
	CHECK_EQ(control_socket_listen(&dead, 4711), 0);
	close(dead.fd);
	CHECK_EQ(control_socket_request(4711, "detach"), -ECONNREFUSED);
	CHECK_EQ(control_socket_listen(&listener, 4711), 0);
	CHECK(control_socket_request(4711, "detach") >= 0);
	control_socket_close(&listener);
	remove_runtime_directory();
}

UNIT_TEST(distrusts_a_directory_that_others_may_write)
{
	struct control_socket listener;
	char directory[300];
	use_runtime_directory();
	snprintf(directory, sizeof(directory), "%s/heapinject", runtime);
	CHECK_EQ(mkdir(directory, 0777), 0);
	CHECK_EQ(chmod(directory, 0777), 0);
	CHECK_EQ(control_socket_listen(&listener, 4711), -EPERM);
	remove_runtime_directory();
}

UNIT_TEST(knows_which_sockets_there_are)
{
	struct control_socket first, second;
	pid_t pids[4];
	use_runtime_directory();
	CHECK_EQ(control_socket_list(0, pids, 4), 0);
	CHECK_EQ(control_socket_listen(&first, 4711), 0);
	CHECK_EQ(control_socket_listen(&second, 4712), 0);
	CHECK_EQ(control_socket_list(0, pids, 4), 2);
	CHECK_EQ(pids[0] + pids[1], 4711 + 4712);
	CHECK_EQ(control_socket_list(0, pids, 1), 1);
	CHECK_EQ(control_socket_list(2147480011, pids, 4), 0); /* no process */
	control_socket_close(&first);
	control_socket_close(&second);
	remove_runtime_directory();
}

UNIT_TEST(forgets_the_sockets_of_dead_sessions)
{
	const pid_t gone = 2147480011; /* no process */
	struct control_socket dead, dead_of_gone, live_of_gone;
	pid_t pids[4];
	use_runtime_directory();
	CHECK_EQ(control_socket_listen(&live_of_gone, gone), 0);
	CHECK_EQ(control_socket_listen(&dead, getpid()), 0);
	CHECK_EQ(control_socket_listen(&dead_of_gone, gone + 1), 0);
	close(dead.fd);
	close(dead_of_gone.fd);
	control_socket_sweep();
	CHECK_EQ(control_socket_list(0, pids, 4), 2);
	CHECK_EQ(pids[0] + (int64_t)pids[1], getpid() + (int64_t)gone);
	control_socket_forget(gone); /* somebody listens */
	CHECK_EQ(control_socket_list(0, pids, 4), 2);
	control_socket_forget(getpid());
	CHECK_EQ(control_socket_list(0, pids, 4), 1);
	CHECK_EQ(pids[0], gone);
	control_socket_close(&live_of_gone);
	remove_runtime_directory();
}

/* After sudo XDG_RUNTIME_DIR may still be the caller's, who could lead us anywhere from there. */
UNIT_TEST(puts_nothing_into_the_directory_of_another_user)
{
	struct control_socket listener;
	char directory[300];
	if (geteuid() != 0)
		SKIP("only root comes from sudo");
	use_runtime_directory();
	CHECK_EQ(chown(runtime, 65534, 65534), 0);
	CHECK_EQ(control_socket_listen(&listener, 2147480011), 0);
	snprintf(directory, sizeof(directory), "%s/heapinject", runtime);
	CHECK(access(directory, F_OK));
	const int connection = control_socket_request(2147480011, "detach");
	CHECK(connection >= 0);
	CHECK_EQ(control_socket_peer(connection), getpid());
	control_socket_close(&listener);
	CHECK_EQ(access("/run/heapinject/2147480011.sock", F_OK), -1);
	remove_runtime_directory();
}

/* Who waits there under the name of a session must be of our user, or root. */
UNIT_TEST(asks_no_stranger)
{
	char directory[300];
	int ready[2];
	if (geteuid() != 0)
		SKIP("only root can be two users");
	use_runtime_directory();
	snprintf(directory, sizeof(directory), "%s/heapinject", runtime);
	CHECK_EQ(mkdir(directory, 0700), 0);
	CHECK_EQ(pipe(ready), 0);
	const pid_t stranger = fork();
	if (stranger == 0) {
		alarm(UNIT_TIME_LIMIT_S); /* whatever becomes of us */
		/* whose listening counts; binding takes root here */
		if (setegid(65534) || seteuid(65534))
			_exit(1);
		const int early = socket(AF_UNIX, SOCK_STREAM, 0);
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		snprintf(address.sun_path, sizeof(address.sun_path), "%s/heapinject/4711.sock",
			 runtime);
		if (seteuid(0) || bind(early, (struct sockaddr *)&address, sizeof(address)) ||
		    seteuid(65534) || listen(early, 1))
			_exit(2);
		_exit(write(ready[1], "", 1) != 1 || pause());
	}
	char byte;
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(control_socket_request(4711, "detach"), -EPERM);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	remove_runtime_directory();
}

/* ---- root asks the session of another user --------------------------------------------------- */

#define PID 2147480012 /* no process has that */

static uid_t owner, stranger; /* of nobody else, as far as possible */
static char default_directory[64], session_socket[96];

static void use_other_users(void)
{
	struct stat status;
	if (geteuid() != 0)
		SKIP("only root may ask the sessions of others");
	unsetenv("XDG_RUNTIME_DIR");
	do { /* somebody who has sessions of their own is left alone */
		owner = owner ? owner + 1 : 20000 + (uid_t)getpid() % 20000;
		stranger = owner + 20000;
		snprintf(default_directory, sizeof(default_directory), "/tmp/heapinject-%u",
			 (unsigned)owner);
	} while (!lstat(default_directory, &status));
	snprintf(session_socket, sizeof(session_socket), "%s/%d.sock", default_directory, PID);
}

static void remove_all(const char *path)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -rf %s", path);
	(void)!system(command);
}

/*
 * A process of that user. It listens as sessions do if `listens`, and answers one request with its
 * own name for it.
 */
static pid_t start_session(uid_t user, bool listens)
{
	int ready[2];
	char byte, request[64];
	CHECK_EQ(pipe(ready), 0);
	const pid_t session = fork();
	if (session == 0) {
		struct control_socket listener;
		alarm(UNIT_TIME_LIMIT_S); /* whatever becomes of us */
		if (setresgid(user, user, user) || setresuid(user, user, user) ||
		    (listens && control_socket_listen(&listener, PID)))
			_exit(1);
		if (write(ready[1], "", 1) != 1 || !listens)
			_exit(pause());
		const int connection = accept_request(&listener, request, sizeof(request));
		_exit(connection < 0 || dprintf(connection, "heard %s", request) < 0);
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return session;
}

static void end_session(pid_t session)
{
	kill(session, SIGKILL);
	waitpid(session, NULL, 0);
}

UNIT_TEST(root_reaches_the_session_of_another_user)
{
	char answer[64] = "";
	use_other_users();
	const pid_t session = start_session(owner, true);
	CHECK_EQ(control_socket_request(PID, "dump"), -ENOENT);
	const int connection = control_socket_request_of(session, PID, "dump");
	CHECK(connection >= 0);
	CHECK_EQ(read(connection, answer, sizeof(answer) - 1), 10);
	CHECK_STR(answer, "heard dump");
	CHECK_EQ(geteuid(), 0);
	end_session(session);
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -ESRCH);
	remove_all(default_directory);
}

/* Who is not root asks nobody else's. */
UNIT_TEST(nobody_but_root_reaches_it)
{
	use_other_users();
	const pid_t session = start_session(owner, true);
	CHECK_EQ(seteuid(stranger), 0);
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -EPERM);
	CHECK_EQ(seteuid(0), 0);
	end_session(session);
	remove_all(default_directory);
}

/* /tmp is for everybody: a name there may be somebody else's. */
UNIT_TEST(root_goes_through_no_link_of_a_stranger)
{
	static char elsewhere[] = "/tmp/control_test.XXXXXX";
	use_other_users();
	const pid_t session = start_session(owner, true);
	CHECK(mkdtemp(elsewhere));
	CHECK_EQ(rmdir(elsewhere), 0);
	CHECK_EQ(rename(default_directory, elsewhere), 0);
	CHECK_EQ(symlink(elsewhere, default_directory), 0);
	CHECK_EQ(lchown(default_directory, stranger, stranger), 0);
	CHECK(control_socket_request_of(session, PID, "dump") < 0);
	/* nor of the owner: sessions make directories */
	CHECK_EQ(lchown(default_directory, owner, owner), 0);
	CHECK(control_socket_request_of(session, PID, "dump") < 0);
	CHECK_EQ(unlink(default_directory), 0);
	CHECK_EQ(rename(elsewhere, default_directory), 0);
	CHECK(control_socket_request_of(session, PID, "dump") >= 0); /* it was there all the time */
	end_session(session);
	remove_all(default_directory);
}

UNIT_TEST(root_trusts_no_directory_of_a_stranger)
{
	use_other_users();
	const pid_t session = start_session(owner, true);
	CHECK_EQ(chmod(default_directory, 0777), 0);
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -EPERM);
	CHECK_EQ(chmod(default_directory, 0755), 0);
	CHECK_EQ(chown(default_directory, stranger, stranger), 0);
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -EPERM);
	CHECK_EQ(chown(default_directory, owner, owner), 0);
	CHECK(control_socket_request_of(session, PID, "dump") >= 0);
	end_session(session);
	remove_all(default_directory);
}

UNIT_TEST(root_trusts_no_socket_of_a_stranger)
{
	char moved[128];
	use_other_users();
	const pid_t session = start_session(owner, true);
	CHECK_EQ(lchown(session_socket, stranger, stranger), 0);
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -EPERM);
	CHECK_EQ(lchown(session_socket, owner, owner), 0);
	snprintf(moved, sizeof(moved), "%s.moved", session_socket);
	CHECK_EQ(rename(session_socket, moved), 0);
	CHECK_EQ(symlink(moved, session_socket), 0);
	CHECK_EQ(lchown(session_socket, owner, owner), 0);
	/* it might lead to any socket */
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -EPERM);
	CHECK_EQ(unlink(session_socket), 0);
	close(open(session_socket, O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(lchown(session_socket, owner, owner), 0);
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -EPERM); /* a plain file */
	CHECK_EQ(rename(moved, session_socket), 0);
	CHECK(control_socket_request_of(session, PID, "dump") >= 0);
	end_session(session);
	remove_all(default_directory);
}

/* Who listens there must be of that user, too, no matter whose the file is said to be. */
UNIT_TEST(root_asks_no_stranger_instead)
{
	char there[64];
	use_other_users();
	const pid_t session = start_session(owner, false), impostor = start_session(stranger, true);
	snprintf(there, sizeof(there), "/tmp/heapinject-%u", (unsigned)stranger);
	CHECK_EQ(rename(there, default_directory), 0);
	CHECK_EQ(chown(default_directory, owner, owner), 0);
	CHECK_EQ(lchown(session_socket, owner, owner), 0);
	CHECK_EQ(control_socket_request_of(session, PID, "dump"), -EPERM);
	end_session(impostor);
	end_session(session);
	remove_all(default_directory);
}

UNIT_MAIN()
