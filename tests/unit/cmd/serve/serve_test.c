/* SPDX-License-Identifier: MIT */
/* route, site, call_addresses, token, metrics: the parts of a request, and what is answered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call_addresses.h"
#include "metrics.h"
#include "route.h"
#include "site.h"
#include "token.h"
#include "unit.h"

UNIT_TEST(paths_lead_to_pages)
{
	static const struct {
		const char *path;
		enum serve_page page;
		pid_t pid;
	} rows[] = {
		{"/", SERVE_LIST, 0},
		{"/metrics", SERVE_METRICS, 0},
		{"/pprof/heap", SERVE_HEAP, 0},
		{"/pid/42/pprof/growth", SERVE_HEAP, 42},
		{"/pid/42/debug/pprof/allocs", SERVE_ALLOCS, 42},
		{"/pid/42/pprof/symbol", SERVE_SYMBOL, 42},
		{"/pid/42/", SERVE_LIVE, 42},
		{"/pid/42", SERVE_LIVE, 42},
		{"/pid/42/report", SERVE_REPORT, 42},
		{"/pid/42/events", SERVE_EVENTS, 42},
		{"/profiles", SERVE_PROFILES, 0},
		{"/pid/42/detach", SERVE_DETACH, 42},
		{"/pid/42/attach", SERVE_ATTACH, 42},
		{"/pid/42/explain", SERVE_INSPECT_EXPLAIN, 42},
		{"/pid/42/census", SERVE_INSPECT_CENSUS, 42},
		{"/pid/42/leaks", SERVE_INSPECT_LEAKS, 42},
		{"/pid/42/owners", SERVE_INSPECT_OWNERS, 42},
		/* of a process that is named, and no other */
		{"/detach", SERVE_NOTHING, 0},
		{"/census", SERVE_NOTHING, 0},
		{"/pid/42/census/", SERVE_NOTHING, 0},
		{"/pid/0/attach", SERVE_NOTHING, 0},
		{"/debug/pprof/growth", SERVE_PPROF, 0},
		{"/debug/pprof/cmdline", SERVE_COMMAND_NUL, 0},
		{"", SERVE_NOTHING, 0},
		{"/pid/", SERVE_NOTHING, 0},
		{"/pid/0/", SERVE_NOTHING, 0},
		{"/pid/-1/", SERVE_NOTHING, 0},
		{"/pid/2147483648/", SERVE_NOTHING, 0},
		{"/pid/42/metrics", SERVE_NOTHING, 0},
		{"/pid/42/../43/text", SERVE_NOTHING, 0},
		{"/text/", SERVE_NOTHING, 0},
		{"//text", SERVE_NOTHING, 0},
		{"/../etc/passwd", SERVE_NOTHING, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct serve_route route = serve_route_find(rows[i].path);

		CHECK_EQ(route.page, rows[i].page);
		CHECK_EQ(route.pid, rows[i].pid);
	}
}

static struct serve_site site_of(const char *address)
{
	struct serve_site site = {.port = 4040};

	CHECK_EQ(serve_address_read(address, &site.address), 0);
	return site;
}

UNIT_TEST(only_our_host_is_ours)
{
	const struct serve_site loopback = site_of("127.0.0.1"), other = site_of("192.0.2.7"),
				all = site_of("::");

	CHECK(serve_site_is_host(&loopback, "127.0.0.1:4040"));
	CHECK(serve_site_is_host(&loopback, "localhost:4040"));
	CHECK(serve_site_is_host(&loopback, "LOCALHOST:4040"));
	CHECK(serve_site_is_host(&loopback, "[::1]:4040"));
	CHECK(serve_site_is_host(&other, "192.0.2.7:4040"));
	CHECK(!serve_site_is_host(&loopback, "192.0.2.7:4040"));
	CHECK(!serve_site_is_host(&other, "192.0.2.8:4040"));
	CHECK(serve_site_is_host(&all, "192.0.2.8:4040"));
	CHECK(serve_site_is_host(&all, "[2001:db8::1]:4040"));
	static const char *const foreign[] = {"",
					      "127.0.0.1",
					      "127.0.0.1:",
					      "127.0.0.1:80",
					      "evil.example:4040",
					      "localhost.evil.example:4040",
					      "127.0.0.1:4040.evil.example",
					      "[::1:4040",
					      "::1:4040",
					      "127.0.0.1:40400",
					      "127.1:4040",
					      "[::1]x:4040",
					      "me@127.0.0.1:4040",
					      "127.0.0.1:+4040",
					      "127.0.0.1:04040"};
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		CHECK(!serve_site_is_host(&all, foreign[i]));
	CHECK(!serve_site_is_host(&all, NULL));
}

UNIT_TEST(only_our_origin_is_ours)
{
	const struct serve_site site = site_of("localhost");

	CHECK(serve_site_is_origin(&site, NULL));
	CHECK(serve_site_is_origin(&site, "http://127.0.0.1:4040"));
	CHECK(!serve_site_is_origin(&site, "https://127.0.0.1:4040"));
	CHECK(!serve_site_is_origin(&site, "http://127.0.0.1:4041"));
	CHECK(!serve_site_is_origin(&site, "http://evil.example"));
	CHECK(!serve_site_is_origin(&site, "null"));
	CHECK(!serve_site_is_origin(&site, ""));
}

UNIT_TEST(addresses_of_this_machine_alone)
{
	struct serve_address address;

	CHECK_EQ(serve_address_read("localhost", &address), 0);
	CHECK(serve_address_is_loopback(&address));
	CHECK_EQ(serve_address_read("127.9.9.9", &address), 0);
	CHECK(serve_address_is_loopback(&address));
	CHECK_EQ(serve_address_read("[::1]", &address), 0);
	CHECK(serve_address_is_loopback(&address));
	CHECK_EQ(serve_address_read("0.0.0.0", &address), 0);
	CHECK(!serve_address_is_loopback(&address));
	CHECK_EQ(serve_address_read("::ffff:127.0.0.1", &address), 0);
	CHECK(!serve_address_is_loopback(&address)); /* wants a token: the safe side */
	CHECK_EQ(serve_address_read("server.example", &address), -EINVAL);
	CHECK_EQ(serve_address_read("", &address), -EINVAL);
	CHECK_EQ(serve_address_read("[]", &address), -EINVAL);
}

static int read_calls(const char *text, struct call_addresses *out)
{
	return call_addresses_read(text, strlen(text), out);
}

UNIT_TEST(addresses_to_name)
{
	struct call_addresses calls;

	CHECK_EQ(read_calls("0x401000+0X40200f+ffffffffffffffff\n", &calls), 0);
	CHECK_EQ(calls.count, 3);
	CHECK_EQ(calls.address[0], 0x401000);
	CHECK_EQ(calls.address[1], 0x40200f);
	CHECK_EQ(calls.address[2], UINT64_MAX);
	free(calls.address);
	CHECK_EQ(read_calls("", &calls), 0);
	CHECK_EQ(calls.count, 0);
	free(calls.address);
	static const char *const bad[] = {"0x",      "+",        "0x1+",
					  "+0x1",    "0x1++0x2", "0x1 0x2",
					  "0x1,0x2", "0xg",      "0x10000000000000000",
					  "-1",      "0x1\n2"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(read_calls(bad[i], &calls), -EINVAL);
}

UNIT_TEST(a_token_is_itself_alone)
{
	struct serve_token token, other;
	char longer[SERVE_TOKEN_MAX + 100];

	CHECK_EQ(serve_token_make(&token), 0);
	CHECK_EQ(serve_token_make(&other), 0);
	CHECK(strlen(token.text) >= 32 && strcmp(token.text, other.text) != 0);
	CHECK(serve_token_is(&token, token.text));
	CHECK(!serve_token_is(&token, other.text));
	CHECK(!serve_token_is(&token, NULL));
	CHECK(!serve_token_is(&token, ""));
	snprintf(longer, sizeof(longer), "%s ", token.text);
	CHECK(!serve_token_is(&token, longer));
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CHECK(!serve_token_is(&token, longer));
	longer[0] = token.text[0];
	longer[1] = '\0';
	CHECK(!serve_token_is(&token, longer));
}

UNIT_TEST(metrics_are_escaped)
{
	static const struct status_fields fields = {.pid = 42,
						    .inuse_bytes = 7,
						    .slope = 1000,
						    .slope_low = 900,
						    .slope_high = 1100,
						    .payload_cpu_ns = 1500000000,
						    .program = "a\"b\\c"};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	serve_metrics_print(&fields, 1, out);
	fclose(out);
	CHECK(strstr(text, "\nheapinject_sessions 1\n"));
	CHECK(strstr(text,
		     "heapinject_growth_low_bytes_per_second{pid=\"42\",program=\"a\\\"b\\\\c\"} "
		     "900\n"));
	CHECK(strstr(text,
		     "heapinject_growth_high_bytes_per_second{pid=\"42\",program=\"a\\\"b\\\\c\"} "
		     "1100\n"));
	CHECK(strstr(text, "# TYPE heapinject_inuse_bytes gauge\n"
			   "heapinject_inuse_bytes{pid=\"42\",program=\"a\\\"b\\\\c\"} 7\n"));
	CHECK(strstr(text, "payload_cpu_seconds_total{pid=\"42\",program=\"a\\\"b\\\\c\"} 1.5"));
	free(text);
}

UNIT_MAIN()
