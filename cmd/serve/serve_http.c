/* SPDX-License-Identifier: MIT */
/* serve_http.c - see serve_http.h. */
#include "serve_http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "jobs.h"
#include "serve_http_reply.h"
#include "serve_http_request.h"
#include "serve_http_stream.h"
#include "serve_http_visitors.h"

#define CONNECTION_BYTES (32u << 10) /* of the headers */
#define IDLE_SECONDS 15u
#define LOOK_MS 500

static struct {
	struct MHD_Daemon *daemon;
	struct serve_jobs jobs;
	struct follow follow;
	struct request_server requests;
} server;

static int timeout_ms(void)
{
	MHD_UNSIGNED_LONG_LONG wanted;

	if (MHD_get_timeout(server.daemon, &wanted) == MHD_YES && wanted < LOOK_MS)
		return (int)wanted;
	return LOOK_MS;
}

static int loop(int children_fd, int stop_fd)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server.daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd ready[] = {{.fd = info ? info->epoll_fd : -1, .events = POLLIN},
				 {.fd = children_fd, .events = POLLIN},
				 {.fd = stop_fd, .events = POLLIN}};
	struct signalfd_siginfo child;

	while (!(ready[2].revents & POLLIN)) {
		if (poll(ready, 3, timeout_ms()) < 0 && errno != EINTR)
			return -errno;
		while (read(children_fd, &child, sizeof(child)) > 0)
			;
		serve_jobs_drop_unwanted(&server.jobs, request_is_wanted);
		serve_jobs_collect(&server.jobs, serve_now_ns());
		follow_tick(&server.follow, serve_now_ns());
		streams_tick(serve_now_ns(), false);
		visitors_part_with_the_slow(serve_now_ns());
		if (MHD_run(server.daemon) != MHD_YES)
			return -EIO;
	}
	return 0;
}

int serve_http_run(const struct serve_setup *setup, int listener, int stop_fd)
{
	sigset_t child;
	int err = reply_open(), children_fd;

	if (err)
		return err;
	server.requests = (struct request_server){setup, &server.jobs, &server.follow};
	follow_open(&server.follow, setup->options, &server.jobs);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	children_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children_fd < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	server.daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, request_take,
		&server.requests, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener,
		MHD_OPTION_CONNECTION_LIMIT, VISITORS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, request_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
		visitors_note, NULL, MHD_OPTION_UNESCAPE_CALLBACK, request_decode, NULL,
		MHD_OPTION_END);
	err = server.daemon ? loop(children_fd, stop_fd) : -EIO;
	serve_jobs_stop(&server.jobs);
	streams_tick(serve_now_ns(), true);
	if (server.daemon)
		MHD_stop_daemon(server.daemon);
	follow_close(&server.follow);
	close(children_fd);
	return err;
}
