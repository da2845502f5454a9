/* SPDX-License-Identifier: MIT */
/*
 * send.c - see hi_send.h. The answer matters by its status, and by its first bytes, which say what
 * is wrong. gRPC has its status in a trailer, or in a header if there is no answer; libcurl passes
 * both to take_header(). No redirect is followed, as the headers may have a secret.
 */
#include "hi_send.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "curl.h"

#define CONNECT_MS_MAX 10000u
#define ANSWER_MAX (1u << 20)
#define RETRY_AFTER_MAX 86400

struct sending {
	const struct curl_library *libcurl;
	const struct hi_send *request;
	struct hi_sent *sent;
	size_t size;   /* of the answer so far */
	size_t filled; /* of sent->text */
	char error[CURL_ERROR_SIZE];
};

/* A frame of gRPC begins with five bytes that are no text. */
static size_t take_answer(char *bytes, size_t one, size_t count, void *argument)
{
	struct sending *sending = argument;
	struct hi_sent *sent = sending->sent;
	const size_t size = one * count;

	for (size_t i = 0; i < size && sending->filled < HI_SEND_TEXT_MAX - 1; i++)
		if (!sending->request->is_grpc && bytes[i])
			sent->text[sending->filled++] = bytes[i];
	for (size_t i = 0; i < size && sent->answer_size < HI_SEND_ANSWER_MAX; i++)
		sent->answer[sent->answer_size++] = (uint8_t)bytes[i];
	sending->size += size;
	return sending->size > ANSWER_MAX ? 0 : size;
}

/* The value of a header line with that name, which ends with a colon; NULL = it has another one. */
static const char *value_of(const char *line, const char *name)
{
	const size_t size = strlen(name);

	return strncasecmp(line, name, size) ? NULL : line + size + strspn(line + size, " \t");
}

static size_t take_header(char *bytes, size_t one, size_t count, void *argument)
{
	struct sending *sending = argument;
	struct hi_sent *sent = sending->sent;
	const size_t size = one * count;
	char line[HI_SEND_TEXT_MAX];
	const char *value;

	snprintf(line, sizeof(line), "%.*s", (int)(size < sizeof(line) ? size : sizeof(line) - 1),
		 bytes);
	line[strcspn(line, "\r\n")] = '\0';
	if ((value = value_of(line, "content-type:")) != NULL)
		sent->is_page = !strncasecmp(value, "text/html", strlen("text/html"));
	if (!sending->request->is_grpc)
		return size;
	if ((value = value_of(line, "grpc-status:")) != NULL)
		sent->grpc_status = atoi(value);
	if ((value = value_of(line, "grpc-message:")) != NULL)
		snprintf(sent->text, sizeof(sent->text), "%s", value);
	return size;
}

static int look(void *argument, int64_t all, int64_t done, int64_t all_sent, int64_t sent)
{
	const struct sending *sending = argument;

	(void)all;
	(void)done;
	(void)all_sent;
	(void)sent;
	return sending->request->gives_up && sending->request->gives_up(sending->request->context);
}

static long version_of(const struct hi_send *request)
{
	if (!request->is_grpc)
		return CURL_HTTP_1_1;
	return strncasecmp(request->url, "https:", 6) ? CURL_HTTP_2_PRIOR_KNOWLEDGE
						      : CURL_HTTP_2_BY_TLS;
}

/* Returns an error of libcurl. */
static int set_up(struct sending *sending, void *curl, void *headers)
{
	const struct hi_send *request = sending->request;
	const struct curl_library *library = sending->libcurl;
	const char *authorities = getenv("SSL_CERT_FILE");
	const uint64_t connect_ms =
		request->timeout_ms < CONNECT_MS_MAX ? request->timeout_ms : CONNECT_MS_MAX;

	if (authorities && *authorities)
		library->set(curl, OPTION_CA_FILE, authorities);
	if (request->is_direct)
		library->set(curl, OPTION_PROXY, "");
	library->set(curl, OPTION_URL, request->url);
	library->set(curl, OPTION_PROTOCOLS, (long)(CURL_PROTOCOL_HTTP | CURL_PROTOCOL_HTTPS));
	library->set(curl, OPTION_FOLLOW_LOCATION, 0L);
	library->set(curl, OPTION_TIMEOUT_MS, (long)request->timeout_ms);
	library->set(curl, OPTION_CONNECT_TIMEOUT_MS, (long)connect_ms);
	library->set(curl, OPTION_NO_SIGNAL, 1L);
	library->set(curl, OPTION_USER_AGENT, "heapinject");
	library->set(curl, OPTION_HEADERS, headers);
	library->set(curl, OPTION_POST_FIELD_SIZE_LARGE, (int64_t)request->size);
	library->set(curl, OPTION_POST_FIELDS, request->body);
	library->set(curl, OPTION_WRITE_FUNCTION, take_answer);
	library->set(curl, OPTION_WRITE_DATA, sending);
	library->set(curl, OPTION_HEADER_FUNCTION, take_header);
	library->set(curl, OPTION_HEADER_DATA, sending);
	library->set(curl, OPTION_PROGRESS_FUNCTION, look);
	library->set(curl, OPTION_PROGRESS_DATA, sending);
	library->set(curl, OPTION_NO_PROGRESS, 0L);
	library->set(curl, OPTION_ERROR_BUFFER, sending->error);
	return library->set(curl, OPTION_HTTP_VERSION, version_of(request));
}

static void explain(struct sending *sending, void *curl, int code)
{
	struct hi_sent *sent = sending->sent;
	int64_t uploaded = 0;

	sending->libcurl->get_info(curl, INFO_SIZE_UPLOAD, &uploaded);
	sent->err = code == CURL_TIMED_OUT             ? -ETIMEDOUT
		    : code == CURL_ABORTED_BY_CALLBACK ? -ECANCELED
						       : -EIO;
	sent->was_taken = (uint64_t)uploaded >= sending->request->size;
	snprintf(sent->text, sizeof(sent->text), "%s",
		 sent->err == -ECANCELED ? "the server has not answered in time"
		 : *sending->error       ? sending->error
					 : sending->libcurl->explain(code));
}

static void read_result(struct sending *sending, void *curl)
{
	struct hi_sent *sent = sending->sent;
	int64_t wait_s = 0;

	sending->libcurl->get_info(curl, INFO_RESPONSE_CODE, &sent->status);
	sending->libcurl->get_info(curl, INFO_RETRY_AFTER, &wait_s);
	if (wait_s > 0)
		sent->retry_after_s = wait_s < RETRY_AFTER_MAX ? (uint64_t)wait_s : RETRY_AFTER_MAX;
}

static void *make_headers(const struct curl_library *library, const struct hi_send *request)
{
	void *list = NULL;

	for (const char *const *header = request->headers; *header; header++) {
		void *const longer = library->list_append(list, *header);

		if (!longer) {
			library->list_free(list);
			return NULL;
		}
		list = longer;
	}
	return list;
}

static void make_plain(char *text)
{
	text[strcspn(text, "\r\n")] = '\0';
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

void hi_send(const struct hi_send *request, struct hi_sent *out_sent)
{
	struct sending sending = {
		.libcurl = curl_load(), .request = request, .sent = out_sent, .error = ""};

	*out_sent = (struct hi_sent){.err = -ENOMEM, .grpc_status = HI_SEND_NO_GRPC_STATUS};
	snprintf(out_sent->text, sizeof(out_sent->text), "%s", strerror(ENOMEM));
	if (!sending.libcurl)
		return;
	void *const headers = make_headers(sending.libcurl, request);
	void *const curl = headers ? sending.libcurl->init() : NULL;
	if (curl) {
		out_sent->err = 0;
		memset(out_sent->text, 0, sizeof(out_sent->text));
		int code = set_up(&sending, curl, headers);
		if (!code)
			code = curl_perform(sending.libcurl, curl);
		read_result(&sending, curl);
		if (code)
			explain(&sending, curl, code);
		make_plain(out_sent->text);
		sending.libcurl->cleanup(curl);
	}
	sending.libcurl->list_free(headers);
}

bool hi_send_prepare(bool is_grpc, char text[HI_SEND_TEXT_MAX])
{
	const struct curl_library *library = curl_load();
	void *const curl = library ? library->init() : NULL;
	int code = 0;

	*text = '\0';
	if (!library)
		curl_explain_none("profiles are pushed",
				  "the static program pushes no profiles; take the other one, or "
				  "have the server fetch them (heapinject serve)",
				  text, HI_SEND_TEXT_MAX);
	else if (!curl)
		snprintf(text, HI_SEND_TEXT_MAX, "%s", strerror(ENOMEM));
	else if (is_grpc)
		code = library->set(curl, OPTION_HTTP_VERSION, (long)CURL_HTTP_2_PRIOR_KNOWLEDGE);
	if (code)
		snprintf(text, HI_SEND_TEXT_MAX,
			 "this libcurl has no HTTP/2, by which profiles are pushed to Parca");
	if (curl)
		library->cleanup(curl);
	return !*text;
}
