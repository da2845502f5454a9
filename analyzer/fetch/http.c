/* SPDX-License-Identifier: MIT */
/* http.c - see http.h. Start at http_fetch(). */
#include "http.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "curl.h"
#include "printable.h"
#include "progress_bar.h"

#define REDIRECTS_MAX 5L
#define CONNECT_MS_MAX 10000L
#define SHOWN_MAX 100u /* bytes of an answer that is an error */
#define NS_PER_MS 1000000u

struct transfer {
	const struct curl_library *libcurl;
	const struct http_request *request;
	int fd, err;
	size_t size;
	struct timespec start;
	char begin[SHOWN_MAX + 1]; /* of the answer */
};

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
static void restrict_transfer(const struct curl_library *library, void *curl,
			      const struct http_request *request)
{
	const char *authorities = getenv("SSL_CERT_FILE");

	if (authorities && *authorities)
		library->set(curl, OPTION_CA_FILE, authorities);
	if (request->is_direct)
		library->set(curl, OPTION_PROXY, "");
	library->set(curl, OPTION_PROTOCOLS, (long)(CURL_PROTOCOL_HTTP | CURL_PROTOCOL_HTTPS));
	library->set(curl, OPTION_REDIRECT_PROTOCOLS,
		     (long)(CURL_PROTOCOL_HTTP | CURL_PROTOCOL_HTTPS));
	library->set(curl, OPTION_FOLLOW_LOCATION, 1L);
	library->set(curl, OPTION_MAX_REDIRECTS, REDIRECTS_MAX);
	library->set(curl, OPTION_TIMEOUT_MS, timeout_ms(request));
	library->set(curl, OPTION_CONNECT_TIMEOUT_MS,
		     timeout_ms(request) < CONNECT_MS_MAX ? timeout_ms(request) : CONNECT_MS_MAX);
	library->set(curl, OPTION_FILE_SIZE_MAX, (int64_t)request->size_max);
}

static void set_up(void *curl, struct transfer *transfer, char *error)
{
	const struct http_request *request = transfer->request;
	const struct curl_library *library = transfer->libcurl;

	library->set(curl, OPTION_URL, request->url);
	restrict_transfer(library, curl, request);
	library->set(curl, OPTION_NO_SIGNAL, 1L);
	library->set(curl, OPTION_ERROR_BUFFER, error);
	library->set(curl, OPTION_ACCEPT_ENCODING, "gzip");
	library->set(curl, OPTION_USER_AGENT, "heapinject");
	library->set(curl, OPTION_WRITE_FUNCTION, take);
	library->set(curl, OPTION_WRITE_DATA, transfer);
	library->set(curl, OPTION_PROGRESS_FUNCTION, show_progress);
	library->set(curl, OPTION_PROGRESS_DATA, transfer);
	library->set(curl, OPTION_NO_PROGRESS, 0L);
	if (request->post) {
		library->set(curl, OPTION_POST_FIELD_SIZE, (long)strlen(request->post));
		library->set(curl, OPTION_POST_FIELDS, request->post);
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
	snprintf(complaint, HTTP_COMPLAINT_MAX, "%s%s",
		 *error ? error : transfer->libcurl->explain(code), remedy(transfer, code));
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

int http_fetch(const struct http_request *request, int fd, char complaint[HTTP_COMPLAINT_MAX])
{
	struct transfer transfer = {.libcurl = curl_load(), .request = request, .fd = fd};
	char error[CURL_ERROR_SIZE] = "";
	long status = 0;

	if (!transfer.libcurl) {
		curl_explain_none("URLs are read",
				  "the static program reads no URLs; fetch it with curl -o FILE, "
				  "and give that",
				  complaint, HTTP_COMPLAINT_MAX);
		return -ENOSYS;
	}
	void *curl = transfer.libcurl->init();
	if (!curl) {
		snprintf(complaint, HTTP_COMPLAINT_MAX, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	clock_gettime(CLOCK_MONOTONIC, &transfer.start);
	set_up(curl, &transfer, error);
	const int code = curl_perform(transfer.libcurl, curl);
	transfer.libcurl->get_info(curl, INFO_RESPONSE_CODE, &status);
	const int err = code ? explain(&transfer, code, error, complaint)
			     : judge(&transfer, status, complaint);
	transfer.libcurl->cleanup(curl);
	return err;
}
