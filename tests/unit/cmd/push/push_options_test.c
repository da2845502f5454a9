/* SPDX-License-Identifier: MIT */
/* push_options: which server, by which protocol, with which labels and secret. */
#include "push_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

static const char *complete(struct push_options *options)
{
	const char *value;

	return push_options_complete(options, &value);
}

static const char *complete_url(const char *url, struct push_options *options)
{
	*options = (struct push_options){.url = url};
	return complete(options);
}

UNIT_TEST(addresses_of_this_machine_are_direct)
{
	static const char *const here[] = {"http://localhost:4040", "HTTP://LOCALHOST",
					   "http://127.0.0.1:1/x/", "http://127.9.9.9",
					   "http://[::1]:4040",     "https://localhost"};
	static const char *const elsewhere[] = {
		"https://example.org", "https://127.example.org", "https://10.0.0.1:4040",
		"https://[2001:db8::1]:4040/x", "https://localhost.example.org"};
	struct push_options options;

	for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++) {
		CHECK(!complete_url(here[i], &options));
		CHECK(options.is_direct);
	}
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++) {
		CHECK(!complete_url(elsewhere[i], &options));
		CHECK(!options.is_direct);
	}
}

UNIT_TEST(plain_http_stays_here)
{
	struct push_options options = {.url = "http://127.example.org:4040"};

	CHECK(complete(&options));
	options.is_plain = true;
	CHECK(!complete(&options));
}

UNIT_TEST(what_is_no_url_is_refused)
{
	static const char *const bad[] = {"",
					  "localhost:4040",
					  "ftp://localhost",
					  "http://",
					  "http:///x",
					  "http://:80",
					  "http://localhost:",
					  "http://localhost:12x",
					  "http://localhost:123456",
					  "http://[::1",
					  "http://[::1]x",
					  "http://a b",
					  "http://localhost/?a=b",
					  "http://localhost/#a",
					  "http://user@localhost",
					  "http://user:word@localhost"};
	struct push_options options;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(complete_url(bad[i], &options));
}

UNIT_TEST(the_port_of_parca_chooses_its_protocol)
{
	struct push_options options;

	CHECK(!complete_url("http://localhost:7070", &options));
	CHECK_EQ(options.protocol, PUSH_PARCA);
	CHECK(!complete_url("http://localhost:17070", &options));
	CHECK_EQ(options.protocol, PUSH_PYROSCOPE);
	options.protocol = PUSH_PARCA;
	CHECK(!complete(&options));
	CHECK_EQ(options.protocol, PUSH_PARCA);
}

UNIT_TEST(otlp_is_chosen_by_port_or_path_and_wants_to_be_allowed)
{
	static const char *const urls[] = {"http://localhost:4318", "https://localhost:4318/x",
					   "http://localhost:1/v1development/profiles",
					   "http://localhost/x/v1development/profiles//"};
	struct push_options options;

	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		const char *why = complete_url(urls[i], &options);

		CHECK_EQ(options.protocol, PUSH_OTLP);
		CHECK(why && strstr(why, "--experimental"));
		options.is_experimental = true;
		CHECK(!complete(&options));
	}
	CHECK(!complete_url("http://localhost:14318", &options));
	CHECK_EQ(options.protocol, PUSH_PYROSCOPE);
	/* allowed, it is not chosen by that */
	options = (struct push_options){.url = "http://localhost:1", .is_experimental = true};
	CHECK(!complete(&options));
	CHECK_EQ(options.protocol, PUSH_PYROSCOPE);
}

UNIT_TEST(names_of_labels_have_dots_for_otlp_alone)
{
	struct push_options options = {.url = "http://localhost:1"};

	CHECK(!push_options_add_label(&options, "deployment.environment.name=test"));
	CHECK(push_options_add_label(&options, ".a=b"));
	CHECK(complete(&options));
	options.protocol = PUSH_PARCA;
	CHECK(complete(&options));
	options.protocol = PUSH_OTLP;
	options.is_experimental = true;
	CHECK(!complete(&options));
}

UNIT_TEST(a_label_is_replaced_by_one_of_its_name)
{
	struct push_options options = {0};

	CHECK(!push_options_add_label(&options, "a_1=x=y"));
	CHECK(!push_options_add_label(&options, "b="));
	CHECK(!push_options_add_label(&options, "a_1=z"));
	CHECK_EQ(options.label_count, 2);
	CHECK_STR(options.label[0].name, "a_1");
	CHECK_STR(options.label[0].value, "z");
	CHECK_STR(options.label[1].value, "");
}

UNIT_TEST(what_is_no_label_is_refused)
{
	static const char *const bad[] = {"",      "a",          "=b",   "1=b",
					  "a-b=c", "__name__=x", "a=\n", "a=\xc3"};
	struct push_options options = {0};
	char text[PUSH_LABEL_VALUE_MAX + 4] = "a=";

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(push_options_add_label(&options, bad[i]));
	memset(text + 2, 'x', PUSH_LABEL_VALUE_MAX + 1);
	CHECK(push_options_add_label(&options, text));
	CHECK_EQ(options.label_count, 0);
	for (int i = 0; i < (int)PUSH_LABELS_MAX; i++) {
		snprintf(text, sizeof(text), "l%d=x", i);
		CHECK(!push_options_add_label(&options, text));
	}
	CHECK(push_options_add_label(&options, "more=x"));
	CHECK(!push_options_add_label(&options, "l0=y"));
}

UNIT_TEST(a_secret_comes_from_the_environment_and_leaves_it)
{
	struct push_options options = {.url = "http://localhost"};

	CHECK_EQ(setenv(PUSH_TOKEN_VARIABLE, "abc", 1), 0);
	CHECK(!complete(&options));
	CHECK_STR(options.authorization, "Bearer abc");
	CHECK(!getenv(PUSH_TOKEN_VARIABLE));
	CHECK_EQ(setenv(PUSH_TOKEN_VARIABLE, "", 1), 0);
	CHECK(complete(&options));
	CHECK(!getenv(PUSH_TOKEN_VARIABLE));
	/* nor does it stay where nothing is pushed */
	CHECK_EQ(setenv(PUSH_TOKEN_VARIABLE, "abc", 1), 0);
	CHECK(!complete(&(struct push_options){0}));
	CHECK(!getenv(PUSH_TOKEN_VARIABLE));
}

/* RFC 4648 has these. */
UNIT_TEST(users_and_passwords_are_encoded)
{
	static const char *const pairs[][2] = {
		{":", "Basic Og=="},
		{"f:", "Basic Zjo="},
		{"a:b", "Basic YTpi"},
		{"Aladdin:open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct push_options options = {.url = "http://localhost"};

		CHECK_EQ(setenv(PUSH_TOKEN_VARIABLE, pairs[i][0], 1), 0);
		CHECK(!complete(&options));
		CHECK_STR(options.authorization, pairs[i][1]);
	}
}

UNIT_TEST(a_file_that_all_may_read_has_no_secret)
{
	char path[] = "/tmp/push_options_test.XXXXXX";
	const int fd = mkstemp(path);
	struct push_options options = {.url = "http://localhost", .token_file = path};

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, "abc\nmore\n", 9), 9);
	CHECK(!complete(&options));
	CHECK_STR(options.authorization, "Bearer abc");
	CHECK_EQ(fchmod(fd, 0604), 0);
	CHECK(complete(&options));
	CHECK_EQ(unlink(path), 0);
	CHECK(complete(&options));
}

UNIT_TEST(the_other_options_want_a_url)
{
	CHECK(!complete(&(struct push_options){0}));
	CHECK(complete(&(struct push_options){.tenant = "a"}));
	CHECK(complete(&(struct push_options){.label_count = 1}));
	CHECK(complete(&(struct push_options){.has_wait = true}));
	CHECK(complete(&(struct push_options){.is_experimental = true}));
}

UNIT_MAIN()
