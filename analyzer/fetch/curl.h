/* SPDX-License-Identifier: MIT */
/*
 * curl.h - libcurl, loaded when it is first needed. The numbers are those of <curl/curl.h>, which
 * libcurl never changes; so the build does not need its headers.
 */
#ifndef HI_CURL_H
#define HI_CURL_H

#include <stdbool.h>

enum { CURL_PROTOCOL_HTTP = 1, CURL_PROTOCOL_HTTPS = 2 };
enum curl_option {
	OPTION_NO_PROGRESS = 43,
	OPTION_FOLLOW_LOCATION = 52,
	OPTION_POST_FIELD_SIZE = 60,
	OPTION_MAX_REDIRECTS = 68,
	OPTION_HTTP_VERSION = 84,
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
	OPTION_HEADERS = 10023,
	OPTION_HEADER_DATA = 10029,
	OPTION_PROGRESS_DATA = 10057,
	OPTION_CA_FILE = 10065,
	OPTION_ACCEPT_ENCODING = 10102,
	OPTION_WRITE_FUNCTION = 20011,
	OPTION_HEADER_FUNCTION = 20079,
	OPTION_PROGRESS_FUNCTION = 20219,
	OPTION_FILE_SIZE_MAX = 30117,
	OPTION_POST_FIELD_SIZE_LARGE = 30120
};
enum { CURL_HTTP_1_1 = 2, CURL_HTTP_2_BY_TLS = 4, CURL_HTTP_2_PRIOR_KNOWLEDGE = 5 };
enum { INFO_RESPONSE_CODE = 0x200002, INFO_SIZE_UPLOAD = 0x600007, INFO_RETRY_AFTER = 0x600039 };
enum {
	CURL_UNSUPPORTED = 1,
	CURL_NO_CONNECTION = 7,
	CURL_TIMED_OUT = 28,
	CURL_ABORTED_BY_CALLBACK = 42,
	CURL_BAD_CERTIFICATE = 60,
	CURL_TOO_LARGE = 63,
	CURL_ERROR_SIZE = 256
};

struct curl_library {
	void *(*init)(void);
	int (*set)(void *curl, int option, ...);
	int (*perform)(void *curl);
	int (*get_info)(void *curl, int info, ...);
	const char *(*explain)(int code);
	void (*cleanup)(void *curl);
	void *(*list_append)(void *list, const char *text);
	void (*list_free)(void *list);
};

/* NULL = it is not there. */
const struct curl_library *curl_load(void);
/* Why it is not there; `what`: begins the sentence, as "URLs are read". */
void curl_explain_none(const char *what, const char *when_static, char *text, unsigned size);
/* A server that closes its connection does not end the program meanwhile. */
int curl_perform(const struct curl_library *library, void *curl);

#endif
