/* SPDX-License-Identifier: MIT */
/*
 * serve_fuzz.c - the parts of a request to `heapinject serve`: the input is path, Host, Origin and
 * token, and the addresses to name, each as it may come.
 *
 * libFuzzer: -max_len=1024
 */
#include <errno.h>

#include "call_addresses.h"
#include "fuzz.h"
#include "route.h"
#include "site.h"
#include "token.h"

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
	const int err = call_addresses_read((const char *)data, size, &calls);
	FUZZ_CHECK(err ? err == -EINVAL && !calls.address : calls.count <= size + 1);
	free(calls.address);
	free(text);
	return 0;
}
