/* SPDX-License-Identifier: MIT */
/*
 * url_fuzz.c - URLs of profiles: what is made of an argument, and what of it may be shown.
 *
 * libFuzzer: -max_len=4200
 */
#include <strings.h>

#include "fuzz.h"
#include "remote_url.h"

/* What other pages are beside a URL that is right. */
static void check_pages(const char *url)
{
	char other[REMOTE_URL_MAX], again[REMOTE_URL_MAX];
	const char *rest = strstr(url, "://");

	FUZZ_CHECK(rest && remote_url_is(url) && !strchr(url, '#'));
	if (remote_url_with_seconds(url, 30, other))
		FUZZ_CHECK(remote_url_seconds(other) == 30);
	if (remote_url_with_path(url, "/pprof/heap", other)) {
		FUZZ_CHECK(!remote_url_is_bare(other));
		FUZZ_CHECK(remote_url_is_loopback(other) == remote_url_is_loopback(url));
		if (remote_url_beside(other, "symbol", again))
			FUZZ_CHECK(strstr(again, "/pprof/symbol") && !strchr(again, '?'));
		else
			FUZZ_CHECK(strlen(other) + strlen("symbol") >= REMOTE_URL_MAX);
	}
	FUZZ_CHECK(remote_url_seconds(url) <= REMOTE_URL_SECONDS_MAX);
}

static size_t scheme_size(const char *text)
{
	return strncasecmp(text, "http://", 7) == 0    ? 7
	       : strncasecmp(text, "https://", 8) == 0 ? 8
						       : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), url[REMOTE_URL_MAX];
	const size_t length = strlen(text);

	if (remote_url_is(text) && !remote_url_check(text)) {
		remote_url_complete(text, url);
		check_pages(url);
		(void)remote_url_hide(text);
		/* what is shown is no longer, has no user, hides nothing more, and is still right
		 */
		FUZZ_CHECK(strlen(text) <= length);
		const char *host = text + scheme_size(text);
		FUZZ_CHECK(!memchr(host, '@', strcspn(host, "/?#")));
		FUZZ_CHECK(!remote_url_check(text));
		FUZZ_CHECK(!remote_url_hide(text));
	}
	free(text);
	return 0;
}
