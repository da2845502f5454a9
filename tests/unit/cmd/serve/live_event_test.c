/* SPDX-License-Identifier: MIT */
/* live_event_test.c - a message is one line whatever is in it, and stays as long as it is held. */
#include "live_event.h"

#include <string.h>

#include "unit.h"

static struct live_event *make(const char *look, const char *why)
{
	static const struct kept_profiles kept = {.profile = {{.time = 1000}, {.time = 1060}},
						  .count = 2};
	const struct live_news news = {.time = 1100,
				       .every_s = 60,
				       .kept = &kept,
				       .look = look,
				       .look_size = look ? strlen(look) : 0,
				       .why = why,
				       .why_size = why ? strlen(why) : 0,
				       .is_missing = !look};

	return live_event_make(&news);
}

UNIT_TEST(a_look)
{
	struct live_event *event = make("{\"a\":\n1,\r\n\"b\":[]}\n", NULL);

	CHECK(event);
	CHECK_STR(event->text, "data: {\"time\":1100,\"every\":60,\"profiles\":[1000,1060],"
			       "\"look\":{\"a\": 1,  \"b\":[]} ,\"why\":\"\",\"isMissing\":false,"
			       "\"maySteer\":false}\n\n");
	CHECK_EQ(event->size, strlen(event->text));
	live_event_let_go(event);
}

/* What a session says may end no message, and begin no other one. */
UNIT_TEST(a_complaint_with_all_that_disturbs)
{
	struct live_event *event = make(NULL, "no \"session\"\n\ndata: {}\r\n\\ \x1b[0m\x7f");

	CHECK(event);
	CHECK(strstr(event->text, "\"look\":null,"));
	CHECK(strstr(event->text, "\"why\":\"no \\u0022session\\u0022\\u000a\\u000adata: "
				  "{}\\u000d\\u000a\\u005c \\u001b[0m\\u007f\","));
	CHECK(strchr(event->text, '\n') == event->text + event->size - 2);
	CHECK(!strchr(event->text, '\r'));
	live_event_let_go(event);
}

UNIT_TEST(it_stays_while_somebody_has_it)
{
	struct live_event *event = make("{}", NULL), *other = live_event_hold(event);

	CHECK(other == event);
	CHECK_EQ(event->holders, 2);
	live_event_let_go(event);
	CHECK(strstr(other->text, "1060"));
	live_event_let_go(other);
	CHECK(!live_event_hold(NULL));
	live_event_let_go(NULL);
}

UNIT_MAIN()
