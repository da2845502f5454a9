/* SPDX-License-Identifier: MIT */
/* triggers: the words of the options, and which figures make a dump due. */
#include "triggers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "unit.h"

#define MB 1048576ull

UNIT_TEST(signals_have_names)
{
	static const struct {
		const char *text;
		int offset_min, signal;
	} good[] = {{"USR1", 0, SIGUSR1}, {"SIGUSR2", 0, SIGUSR2}, {"RTMIN", 1, 0},
		    {"SIGRTMIN+3", 1, 3}, {"RTMIN+0", 1, 0},       {"10", 0, SIGUSR1}};
	static const char *const bad[] = {"",        "USR3",     "TERM",      "SIG",  "15",
					  "0",       "-1",       "RTMIN+",    "65",   "RTMIN+99",
					  "RTMAX-x", "RTMIN+-1", "usr1 more", "10 x", "RTMAX-99"};
	int signal;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		CHECK_EQ(triggers_parse_signal(good[i].text, &signal), 0);
		CHECK_EQ(signal, good[i].offset_min ? SIGRTMIN + good[i].signal : good[i].signal);
	}
	CHECK_EQ(triggers_parse_signal("RTMAX", &signal), 0);
	CHECK_EQ(signal, SIGRTMAX);
	CHECK_EQ(triggers_parse_signal("RTMAX-2", &signal), 0);
	CHECK_EQ(signal, SIGRTMAX - 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(triggers_parse_signal(bad[i], &signal), -EINVAL);
}

UNIT_TEST(resident_memory_is_bytes_or_a_share)
{
	struct trigger_options options = {0};

	CHECK_EQ(triggers_parse_rss("512M", &options), 0);
	CHECK_EQ(options.rss_bytes, 512 * MB);
	CHECK_EQ(triggers_parse_rss("80%", &options), 0);
	CHECK_EQ(options.rss_ppm, 800000);
	CHECK_EQ(options.rss_bytes, 0);
	CHECK_EQ(triggers_parse_rss("0", &options), -EINVAL);
	CHECK_EQ(triggers_parse_rss("0%", &options), -EINVAL);
	CHECK_EQ(triggers_parse_rss("101%", &options), -ERANGE);
	CHECK_EQ(triggers_parse_rss("80%M", &options), -EINVAL);
}

UNIT_TEST(options_are_told_as_they_are_given)
{
	const struct trigger_options none = {0}, all = {.every_ns = 300000000000,
							.alloc_bytes = 1024 * MB,
							.peak_bytes = 64 * MB,
							.rss_ppm = 805000,
							.signal = SIGUSR1,
							.limit = {{700000, 995000}, 2}};
	char text[TRIGGERS_TEXT_MAX];

	CHECK(!triggers_are_any(&none));
	CHECK_STR(triggers_describe(&none, text), "");
	CHECK(triggers_are_any(&all));
	CHECK_STR(triggers_describe(&all, text), "--every 5m00s --every-alloc 1G --at-peak 64M "
						 "--at-rss 80.5% --on-signal USR1 "
						 "--at 70%,99.5%");
	CHECK_STR(triggers_describe(
			  &(struct trigger_options){.signal = SIGRTMIN + 3, .rss_bytes = 3 * MB},
			  text),
		  "--at-rss 3M --on-signal RTMIN+3");
}

static uint32_t look_at(struct triggers *triggers, uint64_t now_ns, uint64_t allocated,
			uint64_t inuse)
{
	return triggers_look(triggers, &(struct trigger_figures){.now_ns = now_ns,
								 .allocated_bytes = allocated,
								 .inuse_bytes = inuse,
								 .has_blocks = true});
}

/* So much later each time that all may fire again. */
static uint32_t look(struct triggers *triggers, uint64_t allocated, uint64_t inuse)
{
	static uint64_t now_ns;

	return look_at(triggers, now_ns += TRIGGERS_REST_NS, allocated, inuse);
}

UNIT_TEST(so_much_more_was_allocated)
{
	const struct trigger_options options = {.alloc_bytes = 10};
	struct triggers triggers;

	triggers_open(&triggers, &options, 0);
	CHECK(triggers_need_figures(&triggers));
	CHECK_EQ(triggers_look(&triggers, &(struct trigger_figures){.allocated_bytes = 100}), 0);
	CHECK_EQ(look(&triggers, 9, 9), 0);
	CHECK_EQ(look(&triggers, 10, 9), HI_DUMP_ALLOC);
	CHECK_EQ(look(&triggers, 19, 9), 0);
	CHECK_EQ(look(&triggers, 55, 9), HI_DUMP_ALLOC); /* one, not four */
	CHECK_EQ(look(&triggers, 59, 9), 0);
	CHECK_EQ(look(&triggers, 60, 9), HI_DUMP_ALLOC);
	triggers_reset(&triggers);
	CHECK_EQ(look(&triggers, 9, 9), 0);
	CHECK_EQ(look(&triggers, 10, 9), HI_DUMP_ALLOC);
}

UNIT_TEST(so_much_more_is_in_use)
{
	const struct trigger_options options = {.peak_bytes = 10};
	struct triggers triggers;

	triggers_open(&triggers, &options, 0);
	CHECK_EQ(look(&triggers, 0, 10), 0);
	CHECK_EQ(look(&triggers, 0, 11), HI_DUMP_PEAK);
	CHECK_EQ(look(&triggers, 0, 2), 0);
	CHECK_EQ(look(&triggers, 0, 21), 0);
	CHECK_EQ(look(&triggers, 0, 22), HI_DUMP_PEAK);
	CHECK_EQ(look(&triggers, 0, 30), 0);
	triggers_dumped(&triggers); /* by another trigger: 30 is the highest now */
	CHECK_EQ(look(&triggers, 0, 40), 0);
	CHECK_EQ(look(&triggers, 0, 41), HI_DUMP_PEAK);
}

/* Each dump has the figures looked at anew, so that nothing else bounds how many there are. */
UNIT_TEST(amounts_of_blocks_fire_four_times_a_second)
{
	const struct trigger_options options = {.alloc_bytes = 1, .peak_bytes = 1};
	struct triggers triggers;
	unsigned dumps = 0;

	triggers_open(&triggers, &options, 0);
	for (uint64_t ms = 0; ms < 1000; ms += 5)
		dumps += look_at(&triggers, ms * 1000000, 100 + ms, 100 + ms) != 0;
	CHECK_EQ(dumps, 4);
	CHECK_EQ(look_at(&triggers, 1000000000, 2000, 800), HI_DUMP_ALLOC);
	CHECK_EQ(look_at(&triggers, 1100000000, 2000, 9000), 0);
	/* what came due in the rest is not lost */
	CHECK_EQ(look_at(&triggers, 1250000000, 2000, 9000), HI_DUMP_PEAK);
}

UNIT_TEST(resident_memory_counts_once)
{
	const struct trigger_options options = {.rss_ppm = 500000};
	struct triggers triggers;

	triggers_open(&triggers, &options, 1000);
	CHECK_EQ(triggers_look(&triggers, &(struct trigger_figures){.resident_bytes = 500}), 0);
	CHECK_EQ(triggers_look(&triggers, &(struct trigger_figures){.resident_bytes = 501}),
		 HI_DUMP_RSS);
	CHECK_EQ(triggers_look(&triggers, &(struct trigger_figures){.resident_bytes = 900}), 0);
	triggers_open(&triggers, &options, 0); /* the limit is not known */
	CHECK_EQ(triggers_look(&triggers, &(struct trigger_figures){.resident_bytes = 900}), 0);
}

UNIT_TEST(a_signal_and_figures_may_come_together)
{
	const struct trigger_options options = {.alloc_bytes = 10, .signal = SIGUSR1};
	struct triggers triggers;
	char text[HI_DUMP_TEXT_MAX];

	triggers_open(&triggers, &options, 0);
	CHECK_EQ(triggers_look(&triggers, &(struct trigger_figures){.has_signal = true}),
		 HI_DUMP_SIGNAL);
	const uint32_t both = triggers_look(
		&triggers, &(struct trigger_figures){
				   .has_signal = true, .has_blocks = true, .allocated_bytes = 10});
	CHECK_EQ(both, HI_DUMP_SIGNAL | HI_DUMP_ALLOC);
	CHECK_STR(hi_dump_describe(both, text), "--every-alloc, --on-signal");
	CHECK(strlen(hi_dump_describe(UINT32_MAX, text)) < HI_DUMP_TEXT_MAX - 1);
}

UNIT_MAIN()
