/* SPDX-License-Identifier: MIT */
/* serve.c - see serve.h. */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "follow.h"
#include "hi_exit.h"
#include "identity.h"
#include "serve_http.h"

#define BACKLOG 512
#define DESCRIPTORS_WANTED (FOLLOW_MAX * KEPT_PROFILES_MAX + 1024)
#define URL_HOST_MAX (INET6_ADDRSTRLEN + 2)

union socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t fill(const struct serve_address *address, uint16_t port,
		      union socket_address *out_address)
{
	*out_address = (union socket_address){0};
	if (address->family == AF_INET) {
		out_address->v4 = (struct sockaddr_in){
			.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = address->ip.v4};
		return sizeof(out_address->v4);
	}
	out_address->v6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = address->ip.v6};
	return sizeof(out_address->v6);
}

/* Returns a listening socket, or negative errno. */
static int listen_at(struct serve_site *site)
{
	const int on = 1, fd = socket(site->address.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	union socket_address address;
	socklen_t size = fill(&site->address, site->port, &address);
	int err = 0;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (site->address.family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, &address.any, size) || listen(fd, BACKLOG) ||
	    getsockname(fd, &address.any, &size))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	site->port =
		ntohs(site->address.family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
	return fd;
}

static void announce(const struct serve_setup *setup, bool is_new)
{
	const struct serve_address *address = &setup->site.address;
	const bool is_v6 = address->family == AF_INET6;
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(address->family, &address->ip, text, sizeof(text)))
		text[0] = '\0';
	printf("Serving at http://%s%s%s:%u/ until it is stopped\n", is_v6 ? "[" : "", text,
	       is_v6 ? "]" : "", (unsigned)setup->site.port);
	if (is_new)
		printf("Token, which is shown once, for \"Authorization: Bearer\" or as the "
		       "password of any user: %s\n",
		       setup->token.text);
	fflush(stdout);
}

/* *out_is_new: the token was made here. */
static int choose_token(const struct serve_options *options, struct serve_setup *setup,
			bool *out_is_new)
{
	*out_is_new = false;
	if (options->token)
		return serve_token_read(options->token, &setup->token);
	if (serve_address_is_loopback(&setup->site.address))
		return 0;
	*out_is_new = true;
	return serve_token_make(&setup->token);
}

/* A descriptor that is readable once a signal asks for the end, or negative errno. */
static int await_stop(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	const int fd = signalfd(-1, &ends, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Each profile that is kept is a descriptor. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS_WANTED)
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_WANTED ? limit.rlim_max : DESCRIPTORS_WANTED;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int serve_run(const struct serve_options *options)
{
	static struct serve_setup setup;
	bool is_new;
	int listener, stop_fd, err;

	setup = (struct serve_setup){.options = options,
				     .site.port = options->port,
				     .own_user = geteuid(),
				     .caller = identity_of_caller().uid};
	if (serve_address_read(options->host, &setup.site.address)) {
		fprintf(stderr, "heapinject serve: --host wants an address of this machine, as "
				"127.0.0.1, ::1 or 0.0.0.0, or localhost\n");
		return HI_EXIT_USAGE;
	}
	raise_descriptors();
	if (choose_token(options, &setup, &is_new))
		return HI_EXIT_FAILED;
	listener = listen_at(&setup.site);
	if (listener < 0) {
		fprintf(stderr, "heapinject: cannot listen at %s, port %u: %s\n", options->host,
			(unsigned)options->port, strerror(-listener));
		return HI_EXIT_FAILED;
	}
	stop_fd = await_stop();
	err = stop_fd < 0 ? stop_fd : 0;
	if (!err) {
		announce(&setup, is_new);
		err = serve_http_run(&setup, listener, stop_fd);
		close(stop_fd);
	}
	if (!err)
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject: cannot serve: %s\n", strerror(-err));
	return HI_EXIT_FAILED;
}
