/* SPDX-License-Identifier: MIT */
/*
 * http.c - see http.h. The numbers are those of <curl/curl.h>, which libcurl never changes; so the
 * build does not need its headers. Start at http_fetch().
 */
#include "http.h"

#include <errno.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "printable.h"
#include "progress_bar.h"
#include "shared_library.h"

#define REDIRECTS_MAX 5L
#define CONNECT_MS_MAX 10000L
#define SHOWN_MAX 100u /* bytes of an answer that is an error */
#define NS_PER_MS 1000000u

enum { PROTOCOL_HTTP = 1, PROTOCOL_HTTPS = 2 };
enum curl_option {
	OPTION_NO_PROGRESS = 43,
	OPTION_FOLLOW_LOCATION = 52,
	OPTION_POST_FIELD_SIZE = 60,
	OPTION_MAX_REDIRECTS = 68,
	OPTION_NO_SIGNAL = 99,
	OPTION_TIMEOUT_MS = 155,
	OPTION_CONNECT_TIMEOUT_MS = 156,
	OPTION_PROTOCOLS = 181,
	OPTION_REDIRECT_PROTOCOLS = 182,
	OPTION_WRITE_DATA = 10001,
	OPTION_URL = 10002,
	OPTION_PROXY = 10004,
	OPTION_ERROR_BUFFER = 10010,
	OPTION_POST_FIELDS = 10015,
	OPTION_USER_AGENT = 10018,
	OPTION_PROGRESS_DATA = 10057,
	OPTION_CA_FILE = 10065,
	OPTION_ACCEPT_ENCODING = 10102,
	OPTION_WRITE_FUNCTION = 20011,
	OPTION_PROGRESS_FUNCTION = 20219,
	OPTION_FILE_SIZE_MAX = 30117
};
enum { INFO_RESPONSE_CODE = 0x200002 };
enum {
	CURL_NO_CONNECTION = 7,
	CURL_TIMED_OUT = 28,
	CURL_BAD_CERTIFICATE = 60,
	CURL_TOO_LARGE = 63,
	CURL_ERROR_SIZE = 256
};

static struct {
	void *(*init)(void);
	int (*set)(void *curl, int option, ...);
	int (*perform)(void *curl);
	int (*get_info)(void *curl, int info, ...);
	const char *(*explain)(int code);
	void (*cleanup)(void *curl);
} library;

struct transfer {
	const struct http_request *request;
	int fd, err;
	size_t size;
	struct timespec start;
	char begin[SHOWN_MAX + 1]; /* of the answer */
};

static bool load_library(void)
{
	static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	void *from = NULL;

	if (library.init)
		return true;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !from; i++)
		from = shared_library_open(files[i]);
	return from && shared_library_find(from, "curl_easy_setopt", &library.set) &&
	       shared_library_find(from, "curl_easy_perform", &library.perform) &&
	       shared_library_find(from, "curl_easy_getinfo", &library.get_info) &&
	       shared_library_find(from, "curl_easy_strerror", &library.explain) &&
	       shared_library_find(from, "curl_easy_cleanup", &library.cleanup) &&
	       shared_library_find(from, "curl_easy_init", &library.init);
}

/* Takes a part of the answer; a result other than its size ends the transfer. */
static size_t take(char *bytes, size_t one, size_t count, void *argument)
{
	struct transfer *transfer = argument;
	const size_t size = one * count,
		     room = transfer->size < SHOWN_MAX ? SHOWN_MAX - transfer->size : 0;
	size_t done = 0;

	memcpy(transfer->begin + (SHOWN_MAX - room), bytes, size < room ? size : room);
	if (size > transfer->request->size_max - transfer->size) {
		transfer->err = -EFBIG;
		return 0;
	}
	while (done < size) {
		const ssize_t written = write(transfer->fd, bytes + done, size - done);

		if (written < 0 && errno != EINTR) {
			transfer->err = -errno;
			return 0;
		}
		done += written > 0 ? (size_t)written : 0;
	}
	transfer->size += size;
	return size;
}

static int64_t elapsed_ms(const struct transfer *transfer)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - transfer->start.tv_sec) * 1000 +
	       (now.tv_nsec - transfer->start.tv_nsec) / 1000000;
}

static int show_progress(void *argument, int64_t all, int64_t done, int64_t all_sent, int64_t sent)
{
	const struct transfer *transfer = argument;
	const uint64_t expected_ms = transfer->request->expected_ns / NS_PER_MS;
	const int64_t ms = elapsed_ms(transfer);

	(void)all;
	(void)done;
	(void)all_sent;
	(void)sent;
	if (expected_ms && ms > 0)
		progress_bar_share((uint64_t)ms < expected_ms ? (size_t)ms : (size_t)expected_ms,
				   (size_t)expected_ms);
	return 0;
}

static long timeout_ms(const struct http_request *request)
{
	const uint64_t ms = request->timeout_ns / NS_PER_MS;

	/* 0 would be none */
	return !ms ? 1 : ms < INT32_MAX ? (long)ms : INT32_MAX;
}

/* Whom it may speak to. An empty proxy is none, whatever the environment says. */
static void restrict_transfer(void *curl, const struct http_request *request)
{
	const char *authorities = getenv("SSL_CERT_FILE");

	if (authorities && *authorities)
		library.set(curl, OPTION_CA_FILE, authorities);
	if (request->is_direct)
		library.set(curl, OPTION_PROXY, "");
	library.set(curl, OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
	library.set(curl, OPTION_REDIRECT_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
	library.set(curl, OPTION_FOLLOW_LOCATION, 1L);
	library.set(curl, OPTION_MAX_REDIRECTS, REDIRECTS_MAX);
	library.set(curl, OPTION_TIMEOUT_MS, timeout_ms(request));
	library.set(curl, OPTION_CONNECT_TIMEOUT_MS,
		    timeout_ms(request) < CONNECT_MS_MAX ? timeout_ms(request) : CONNECT_MS_MAX);
	library.set(curl, OPTION_FILE_SIZE_MAX, (int64_t)request->size_max);
}

static void set_up(void *curl, struct transfer *transfer, char *error)
{
	const struct http_request *request = transfer->request;

	library.set(curl, OPTION_URL, request->url);
	restrict_transfer(curl, request);
	library.set(curl, OPTION_NO_SIGNAL, 1L);
	library.set(curl, OPTION_ERROR_BUFFER, error);
	library.set(curl, OPTION_ACCEPT_ENCODING, "gzip");
	library.set(curl, OPTION_USER_AGENT, "heapinject");
	library.set(curl, OPTION_WRITE_FUNCTION, take);
	library.set(curl, OPTION_WRITE_DATA, transfer);
	library.set(curl, OPTION_PROGRESS_FUNCTION, show_progress);
	library.set(curl, OPTION_PROGRESS_DATA, transfer);
	library.set(curl, OPTION_NO_PROGRESS, 0L);
	if (request->post) {
		library.set(curl, OPTION_POST_FIELD_SIZE, (long)strlen(request->post));
		library.set(curl, OPTION_POST_FIELDS, request->post);
	}
}

/* What to do about it, with what separates it from the error. */
static const char *remedy(const struct transfer *transfer, int code)
{
	switch (code) {
	case CURL_NO_CONNECTION:
		return "; does the program run, and serve profiles on this port?";
	case CURL_TIMED_OUT:
		return elapsed_ms(transfer) + 100 < timeout_ms(transfer->request)
			       ? "; is this the right host and port?"
			       : "; --timeout allows more";
	case CURL_BAD_CERTIFICATE:
		return "; SSL_CERT_FILE names a file with certificates to trust";
	default:
		return "";
	}
}

static int explain(const struct transfer *transfer, int code, const char *error, char *complaint)
{
	if (transfer->err == -EFBIG || code == CURL_TOO_LARGE) {
		snprintf(complaint, HTTP_COMPLAINT_MAX,
			 "the answer is larger than %zu MB; what is right so is fetched by curl -o "
			 "FILE, and read from there",
			 transfer->request->size_max >> 20);
		return -EFBIG;
	}
	if (transfer->err) {
		snprintf(complaint, HTTP_COMPLAINT_MAX, "%s", strerror(-transfer->err));
		return transfer->err;
	}
	snprintf(complaint, HTTP_COMPLAINT_MAX, "%s%s", *error ? error : library.explain(code),
		 remedy(transfer, code));
	printable(complaint);
	return code == CURL_TIMED_OUT ? -ETIMEDOUT : -EIO;
}

static int judge(struct transfer *transfer, long status, char *complaint)
{
	char *begin = transfer->begin;

	if (status / 100 == 2)
		return 0;
	begin[strcspn(begin, "\r\n")] = '\0';
	printable(begin);
	snprintf(complaint, HTTP_COMPLAINT_MAX, "the server answers with status %ld%s%s%s%s",
		 status, *begin ? ": \"" : "", begin, *begin ? "\"" : "",
		 status == 401 ? "; a user and a password are given as http://USER:PASSWORD@HOST"
			       : "");
	return status == 404 ? -ENOENT : -EREMOTEIO;
}

/* A server that closes its connection must not end the program. */
static int perform(void *curl)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;
	const bool is_ignored = sigaction(SIGPIPE, &ignore, &before) == 0;
	const int code = library.perform(curl);

	if (is_ignored)
		sigaction(SIGPIPE, &before, NULL);
	return code;
}

int http_fetch(const struct http_request *request, int fd, char complaint[HTTP_COMPLAINT_MAX])
{
	struct transfer transfer = {.request = request, .fd = fd};
	char error[CURL_ERROR_SIZE] = "";
	long status = 0;

	if (!load_library()) {
		snprintf(complaint, HTTP_COMPLAINT_MAX, "%s",
			 shared_library_is_loadable()
				 ? "URLs are read by libcurl.so.4, which is not installed (Debian: "
				   "libcurl4)"
				 : "the static program reads no URLs; fetch it with curl -o FILE, "
				   "and give that");
		return -ENOSYS;
	}
	void *curl = library.init();
	if (!curl) {
		snprintf(complaint, HTTP_COMPLAINT_MAX, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	clock_gettime(CLOCK_MONOTONIC, &transfer.start);
	set_up(curl, &transfer, error);
	const int code = perform(curl);
	library.get_info(curl, INFO_RESPONSE_CODE, &status);
	const int err = code ? explain(&transfer, code, error, complaint)
			     : judge(&transfer, status, complaint);
	library.cleanup(curl);
	return err;
}
