/* SPDX-License-Identifier: MIT */
/* remote_profile.c - see remote_profile.h. */
#include "remote_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "printable.h"
#include "progress_bar.h"
#include "remote_argument.h"
#include "remote_names.h"
#include "remote_page.h"

#define SECOND_NS UINT64_C(1000000000)
#define TIMEOUT_NS (60 * SECOND_NS)
#define PROFILE_SIZE_MAX ((size_t)256 << 20)
#define CMDLINE_SIZE_MAX ((size_t)1 << 20)
#define CMDLINE_MAX 4096u

static int fetch(struct remote_profile *remote, const struct remote_options *options,
		 char *complaint)
{
	const uint64_t expected_ns = remote_url_seconds(remote->url) * SECOND_NS;
	const struct http_request request = {
		.url = remote->url,
		.timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS + expected_ns,
		.expected_ns = expected_ns,
		.size_max = PROFILE_SIZE_MAX,
		.is_direct = remote_url_is_loopback(remote->url),
	};

	progress_bar_phase("waiting for the server");
	return remote_page_fetch(&request, &remote->fd, complaint);
}

/* Without a path: Go's page, or else that of gperftools. */
static int fetch_bare(const char *url, const struct remote_options *options,
		      struct remote_profile *remote, char *complaint)
{
	static const char *const paths[] = {"/debug/pprof/heap", "/pprof/heap"};
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && err == -ENOENT; i++) {
		if (!remote_url_with_path(url, paths[i], remote->url)) {
			snprintf(complaint, HTTP_COMPLAINT_MAX, "the URL is too long");
			return -ENAMETOOLONG;
		}
		err = fetch(remote, options, complaint);
	}
	return err;
}

int remote_profile_fetch(const char *argument, const struct remote_options *options,
			 struct remote_profile *out, char complaint[HTTP_COMPLAINT_MAX])
{
	char url[REMOTE_URL_MAX];
	int err;

	remote_url_complete(remote_argument_url(argument), out->url);
	if (!options->seconds || !remote_url_with_seconds(out->url, options->seconds, url))
		memcpy(url, out->url, sizeof(url));
	memcpy(out->url, url, sizeof(url));
	err = remote_url_is_bare(url) ? fetch_bare(url, options, out, complaint)
				      : fetch(out, options, complaint);
	if (err == -ENOENT) {
		const size_t used = strlen(complaint);

		snprintf(complaint + used, HTTP_COMPLAINT_MAX - used,
			 "; heap profiles are at " REMOTE_PROFILE_PATHS);
	}
	return err;
}

/* The program's arguments end with NUL, or each is a line. Any other answer is none. */
static int add_cmdline(const struct remote_profile *remote, struct profile *profile)
{
	char url[REMOTE_URL_MAX], complaint[HTTP_COMPLAINT_MAX];
	const struct http_request request = {
		.url = url,
		.timeout_ns = TIMEOUT_NS / 6,
		.size_max = CMDLINE_SIZE_MAX,
		.is_direct = remote_url_is_loopback(remote->url),
	};
	struct input page;
	const uint8_t *bytes;

	if (!remote_url_beside(remote->url, "cmdline", url) ||
	    remote_page_open(&request, &page, complaint))
		return 0;
	size_t size = input_peek(&page, CMDLINE_MAX, &bytes);
	size = size < CMDLINE_MAX ? size : CMDLINE_MAX;
	while (size && (!bytes[size - 1] || bytes[size - 1] == '\n'))
		size--;
	char *cmdline = malloc(size + 1);
	for (size_t i = 0; i < size && cmdline; i++)
		cmdline[i] = bytes[i] && bytes[i] != '\n' ? (char)bytes[i] : ' ';
	remote_page_close(&page);
	if (!cmdline)
		return -ENOMEM;
	cmdline[size] = '\0';
	printable(cmdline);
	if (size)
		profile->meta.cmdline = cmdline;
	else
		free(cmdline);
	return 0;
}

static bool lacks_names(const struct profile *profile)
{
	for (size_t i = 0; i < profile->frame_count; i++) {
		if (!profile->frame[i].line_count && profile->frame[i].address)
			return true;
	}
	return false;
}

static int add_names(const struct remote_profile *remote, struct profile *profile, char *complaint)
{
	char url[REMOTE_URL_MAX];
	struct timespec now;

	if (!remote_url_beside(remote->url, "symbol", url)) {
		snprintf(complaint, HTTP_COMPLAINT_MAX,
			 "the profile is not below /pprof/, where a page \"symbol\" would be");
		return -ENOENT;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	return remote_names_add(url, remote_url_is_loopback(url),
				(uint64_t)now.tv_sec * SECOND_NS + TIMEOUT_NS, profile, complaint);
}

int remote_profile_complete(const struct remote_profile *remote, struct profile *profile,
			    char complaint[HTTP_COMPLAINT_MAX])
{
	char why[HTTP_COMPLAINT_MAX] = "";
	int err = profile->meta.cmdline ? 0 : add_cmdline(remote, profile);

	if (err || !lacks_names(profile))
		return err;
	err = add_names(remote, profile, why);
	if (err && err != -ENOMEM)
		memcpy(complaint, why, HTTP_COMPLAINT_MAX);
	return err == -ENOMEM ? err : 0;
}
