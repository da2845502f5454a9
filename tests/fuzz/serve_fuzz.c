/* SPDX-License-Identifier: MIT */
/*
 * serve_fuzz.c - the parts of a request to `heapinject serve`: the input is path, Host, Origin and
 * token, what each name behind the question mark has, and the addresses to name, as it may come.
 *
 * libFuzzer: -max_len=1024
 */
#include <errno.h>

#include "call_addresses.h"
#include "fuzz.h"
#include "query.h"
#include "route.h"
#include "site.h"
#include "token.h"

static void take_query(const char *text)
{
	static const char *const names[] = {"view",         "base",        "seconds",
					    "display_type", "sample_type", "console"};
	struct query query = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *complaint = query_take(&query, names[i], text);

		FUZZ_CHECK(!complaint || strchr(complaint, '\n'));
	}
	(void)query_take(&query, text, text);
	FUZZ_CHECK(query.seconds <= QUERY_SECONDS_MAX);
	FUZZ_CHECK(!query.sample_type || !strncmp(query.sample_type, "--", 2));
	FUZZ_CHECK(!query.view || strspn(text, "0123456789") == strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct serve_token token = {"0123456789abcdef"};
	struct serve_site site = {.port = 4040};
	struct call_addresses calls;
	char *text = fuzz_text(data, size);
	const struct serve_route route = serve_route_find(text);

	FUZZ_CHECK(!route.pid || serve_page_has_session(route.page));
	FUZZ_CHECK(!serve_address_read("192.0.2.7", &site.address));
	if (serve_site_is_host(&site, text))
		FUZZ_CHECK(strstr(text, ":4040") && !strpbrk(text, "/@ "));
	if (serve_site_is_origin(&site, text))
		FUZZ_CHECK(serve_site_is_host(&site, text + strlen("http://")));
	FUZZ_CHECK(serve_token_is(&token, text) == !strcmp(text, token.text));
	take_query(text);
	const int err = call_addresses_read((const char *)data, size, &calls);
	FUZZ_CHECK(err ? err == -EINVAL && !calls.address : calls.count <= size + 1);
	free(calls.address);
	free(text);
	return 0;
}
