/* SPDX-License-Identifier: MIT */
/* control_socket: a request reaches its session; folders that others may write are not trusted. */
#include "injector/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

UNIT_MAIN()
