/* SPDX-License-Identifier: MIT */
/* control_socket: a request reaches its session; folders that others may write are not trusted. */
#include "injector/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "unit.h"

static char runtime[] = "/tmp/control_test.XXXXXX";

static void use_runtime_folder(void)
{
	CHECK(mkdtemp(runtime));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
}

static void remove_runtime_folder(void)
{
	char command[300];
	snprintf(command, sizeof command, "rm -rf %s", runtime);
	(void)!system(command);
}

UNIT_TEST(carries_a_request_and_an_answer)
{
	struct control_socket listener;
	use_runtime_folder();
	CHECK_EQ(control_socket_listen(&listener, 4711), 0);
	const pid_t client = fork();
	if (client == 0) {
		char answer[64] = "";
		const int connection = control_socket_request(4711, "detach");
		_exit(connection >= 0 && read(connection, answer, sizeof answer - 1) == 3 && !strcmp(answer, "ok\n") ? 0 : 1);
	}
	char request[64];
	const int connection = control_socket_accept(&listener, request, sizeof request);
	CHECK(connection >= 0);
	CHECK_STR(request, "detach");
	CHECK_EQ(write(connection, "ok\n", 3), 3);
	int status;
	waitpid(client, &status, 0);
	CHECK_EQ(status, 0);
	control_socket_close(&listener);
	CHECK(control_socket_request(4711, "detach") < 0);
	remove_runtime_folder();
}

UNIT_TEST(replaces_the_socket_of_a_dead_session)
{
	struct control_socket dead, listener;
	use_runtime_folder();
	CHECK_EQ(control_socket_listen(&dead, 4711), 0);
	close(dead.fd);
	CHECK_EQ(control_socket_request(4711, "detach"), -ECONNREFUSED);
	CHECK_EQ(control_socket_listen(&listener, 4711), 0);
	CHECK(control_socket_request(4711, "detach") >= 0);
	control_socket_close(&listener);
	remove_runtime_folder();
}

UNIT_TEST(distrusts_a_folder_that_others_may_write)
{
	struct control_socket listener;
	char folder[300];
	use_runtime_folder();
	snprintf(folder, sizeof folder, "%s/heapinject", runtime);
	CHECK_EQ(mkdir(folder, 0777), 0);
	CHECK_EQ(chmod(folder, 0777), 0);
	CHECK_EQ(control_socket_listen(&listener, 4711), -EPERM);
	remove_runtime_folder();
}

/* After sudo XDG_RUNTIME_DIR may still be the caller's, who could lead us anywhere from there. */
UNIT_TEST(puts_nothing_into_the_directory_of_another_user)
{
	struct control_socket listener;
	char folder[300];
	if (geteuid() != 0)
		SKIP("only root comes from sudo");
	use_runtime_folder();
	CHECK_EQ(chown(runtime, 65534, 65534), 0);
	CHECK_EQ(control_socket_listen(&listener, 2147480011), 0);
	snprintf(folder, sizeof folder, "%s/heapinject", runtime);
	CHECK(access(folder, F_OK));
	const int connection = control_socket_request(2147480011, "detach");
	CHECK(connection >= 0);
	CHECK_EQ(control_socket_peer(connection), getpid());
	control_socket_close(&listener);
	CHECK_EQ(access("/run/heapinject/2147480011.sock", F_OK), -1);
	remove_runtime_folder();
}

/* Who waits there under the name of a session must be of our user, or root. */
UNIT_TEST(asks_no_stranger)
{
	struct control_socket listener;
	int ready[2];
	if (geteuid() != 0)
		SKIP("only root can be two users");
	use_runtime_folder();
	CHECK_EQ(control_socket_listen(&listener, 4711), 0); /* makes the folder */
	control_socket_close(&listener);
	CHECK_EQ(pipe(ready), 0);
	const pid_t stranger = fork();
	if (stranger == 0) {
		alarm(UNIT_TIME_LIMIT_S);             /* whatever becomes of us */
		if (setegid(65534) || seteuid(65534)) /* whose listening counts; binding takes root here */
			_exit(1);
		const int early = socket(AF_UNIX, SOCK_STREAM, 0);
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		snprintf(address.sun_path, sizeof address.sun_path, "%s/heapinject/4711.sock", runtime);
		if (seteuid(0) || bind(early, (struct sockaddr *)&address, sizeof address) || seteuid(65534) || listen(early, 1))
			_exit(2);
		_exit(write(ready[1], "", 1) != 1 || pause());
	}
	char byte;
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(control_socket_request(4711, "detach"), -EPERM);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	remove_runtime_folder();
}

UNIT_MAIN()
