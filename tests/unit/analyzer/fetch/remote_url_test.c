/* SPDX-License-Identifier: MIT */
/* remote_url_test.c - what is a URL, what is made of it, and what of it is shown. */
#include "remote_url.h"

#include "unit.h"

static void check_complete(const char *text, const char *wanted)
{
	char url[REMOTE_URL_MAX];

	CHECK(remote_url_is(text));
	CHECK(!remote_url_check(text));
	remote_url_complete(text, url);
	CHECK_STR(url, wanted);
}

static void check_hidden(const char *text, const char *wanted)
{
	char shown[REMOTE_URL_MAX];

	snprintf(shown, sizeof(shown), "%s", text);
	CHECK_EQ(remote_url_hide(shown), strcmp(text, wanted) != 0);
	CHECK_STR(shown, wanted);
	CHECK(!remote_url_hide(shown));
	/* nor is it left behind the end */
	for (size_t i = strlen(shown); i < strlen(text); i++)
		CHECK(!shown[i]);
}

UNIT_TEST(what_is_a_url)
{
	static const char *const files[] = {
		"heap.1.0001.heap",
		"-",
		"a:b",
		"host",
		":80",
		"host:",
		"host:0",
		"host:65536",
		"host:80x",
		"dir/host:80",
		"[::1]",
		"://x",
		"redis.1.0001.heap:",
		"me@host:80",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		CHECK(!remote_url_is(files[i]));
	check_complete("host:80", "http://host:80");
	check_complete("[::1]:6060/debug/pprof/heap", "http://[::1]:6060/debug/pprof/heap");
	check_complete("host:80/pprof/heap?seconds=3#top", "http://host:80/pprof/heap?seconds=3");
	check_complete("https://me:word@host/a", "https://me:word@host/a");
	check_complete("HTTP://host", "HTTP://host");
}

UNIT_TEST(what_is_wrong_with_a_url)
{
	static const char *const wrong[] = {
		"file:///etc/passwd",  "ftp://host/heap",      "http://",
		"http:///heap",        "http://host:x/",       "http://host:0/",
		"http://me:a/b@host/", "http://host/a b",      "http://host/\r\nX: 1",
		"http://host/\x7f",    "http://host/\xc3\xa4",
	};
	char large[REMOTE_URL_MAX + 1];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK(remote_url_is(wrong[i]));
		CHECK(remote_url_check(wrong[i]) != NULL);
	}
	memset(large, 'a', REMOTE_URL_MAX);
	memcpy(large, "http://", 7);
	large[REMOTE_URL_MAX] = '\0';
	CHECK(remote_url_check(large) != NULL);
	large[REMOTE_URL_MAX / 2] = '\0';
	CHECK(!remote_url_check(large));
}

UNIT_TEST(what_is_secret_is_hidden)
{
	check_hidden("http://host/heap?seconds=3&gc=1&debug=0",
		     "http://host/heap?seconds=3&gc=1&debug=0");
	check_hidden("http://me:word@host:80/heap", "http://host:80/heap");
	check_hidden("http://me:a@b@host:80/heap@2", "http://host:80/heap@2");
	check_hidden("host:80/heap?token=abc&seconds=3", "host:80/heap?token=*&seconds=3");
	check_hidden("host:80/heap?a=&b&c=*&d=1#e=f", "host:80/heap?a=&b&c=*&d=*#e=*");
	check_hidden("https://me@host?x=1", "https://host?x=*");
}

UNIT_TEST(paths)
{
	char url[REMOTE_URL_MAX];

	CHECK(remote_url_is_bare("http://host:80"));
	CHECK(remote_url_is_bare("http://host:80/"));
	CHECK(remote_url_is_bare("http://me:word@host/?gc=1"));
	CHECK(!remote_url_is_bare("http://host/heap"));
	CHECK(remote_url_with_path("http://me:word@host:80/?gc=1", "/a/b", url));
	CHECK_STR(url, "http://me:word@host:80/a/b?gc=1");
	CHECK(remote_url_with_path("http://host", "/a/b", url));
	CHECK_STR(url, "http://host/a/b");
	CHECK(remote_url_beside("http://host/x/pprof/heap?seconds=3", "symbol", url));
	CHECK_STR(url, "http://host/x/pprof/symbol");
	CHECK(!remote_url_beside("http://host/pprof", "symbol", url));
	CHECK(!remote_url_beside("http://host/heap?a=/pprof/heap", "symbol", url));
	CHECK(!remote_url_beside("http://pprof/heap", "symbol", url));
}

UNIT_TEST(seconds)
{
	char url[REMOTE_URL_MAX];

	CHECK_EQ(remote_url_seconds("http://host/heap?gc=1&seconds=30&a=b"), 30);
	CHECK_EQ(remote_url_seconds("http://host/seconds=30?xseconds=3"), 0);
	CHECK_EQ(remote_url_seconds("http://host/heap?seconds=99999999"), REMOTE_URL_SECONDS_MAX);
	CHECK_EQ(remote_url_seconds("http://host/heap?seconds=-1"), 0);
	CHECK(remote_url_with_seconds("http://host/heap", 5, url));
	CHECK_STR(url, "http://host/heap?seconds=5");
	CHECK(remote_url_with_seconds("http://host/heap?gc=1", 5, url));
	CHECK_STR(url, "http://host/heap?gc=1&seconds=5");
	CHECK(remote_url_with_seconds("http://host/heap?seconds=30&gc=1", 5, url));
	CHECK_STR(url, "http://host/heap?seconds=5&gc=1");
}

UNIT_TEST(servers_of_this_machine)
{
	CHECK(remote_url_is_loopback("http://127.0.0.1:80/"));
	CHECK(remote_url_is_loopback("http://me:word@LOCALHOST"));
	CHECK(remote_url_is_loopback("http://[::1]:80"));
	CHECK(!remote_url_is_loopback("http://127.0.0.1.example.org/"));
	CHECK(!remote_url_is_loopback("http://localhost.example.org/"));
	CHECK(!remote_url_is_loopback("http://host/localhost"));
}

UNIT_MAIN()
