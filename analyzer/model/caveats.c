/* SPDX-License-Identifier: MIT */
/* caveats.c - see caveats.h. Start at effects[]. */
#include "caveats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A profile that saw only a part of the allocations may give no interval of a sum. A profile that
 * missed frees may still give the interval of what was allocated.
 */
static const struct {
	const char *name;
	bool withdraws_inuse, withdraws_alloc, withholds_verdicts;
	bool too_high, too_low;
} effects[HI_CAVEATS] = {
	[HI_CAVEAT_MISSED_FREES] = {"missed-frees", .withdraws_inuse = true,
				    .withholds_verdicts = true, .too_high = true},
	[HI_CAVEAT_IMPOSSIBLE] = {"impossible", .withdraws_inuse = true, .withholds_verdicts = true,
				  .too_high = true},
	[HI_CAVEAT_UNHOOKED] = {"unhooked", .withdraws_inuse = true, .withdraws_alloc = true,
				.withholds_verdicts = true, .too_low = true},
	/* What is said to grow does grow. But a sum is not that of the process. */
	[HI_CAVEAT_OTHER_MEANS] = {"other-means", .withdraws_inuse = true, .withdraws_alloc = true,
				   .too_low = true},
	/* Nothing is missing of what malloc gives. */
	[HI_CAVEAT_OTHER_HEAP] = {.name = "other-heap"},
	/*
	 * The sums are right, of what was allocated outside of the pauses. But what was allocated
	 * in a pause and is freed later makes what is in use seem to shrink or, as new blocks take
	 * its place, to grow.
	 */
	[HI_CAVEAT_PAUSED] = {"paused", .withholds_verdicts = true, .too_low = true},
	/*
	 * A dropped sample is missing. The block of a dropped free stays in use. Which places they
	 * are of, nobody knows.
	 */
	[HI_CAVEAT_DROPPED] = {"dropped", .withdraws_inuse = true, .withdraws_alloc = true,
			       .withholds_verdicts = true, .too_high = true, .too_low = true},
};

const char *caveats_name(enum hi_caveat kind)
{
	return effects[kind].name;
}

const char *caveats_word(enum hi_caveat kind)
{
	return kind == HI_CAVEAT_OTHER_HEAP ? "Note" : "Warning";
}

enum hi_caveat caveats_kind(const char *name, size_t size)
{
	int kind = 0;

	while (kind < HI_CAVEATS &&
	       (strlen(effects[kind].name) != size || memcmp(effects[kind].name, name, size) != 0))
		kind++;
	return (enum hi_caveat)kind;
}

int caveats_set(struct profile_meta *meta, enum hi_caveat kind, const char *text)
{
	if (meta->caveat[kind])
		return 0;
	meta->caveat[kind] = strndup(text, CAVEATS_TEXT_MAX - 1);
	return meta->caveat[kind] ? 0 : -ENOMEM;
}

void caveats_clear(struct profile_meta *meta)
{
	for (int kind = 0; kind < HI_CAVEATS; kind++) {
		free(meta->caveat[kind]);
		meta->caveat[kind] = NULL;
	}
}

int caveats_take_over(struct profile_meta *to, const struct profile_meta *from)
{
	int err = 0;

	for (int kind = 0; kind < HI_CAVEATS && !err; kind++)
		if (from->caveat[kind])
			err = caveats_set(to, (enum hi_caveat)kind, from->caveat[kind]);
	return err;
}

uint32_t caveats_bits(const struct profile_meta *meta)
{
	uint32_t bits = 0;

	for (int kind = 0; kind < HI_CAVEATS; kind++)
		bits |= meta->caveat[kind] ? 1u << kind : 0;
	return bits;
}

bool caveats_withdraw(const struct profile_meta *meta, bool is_inuse)
{
	for (int kind = 0; kind < HI_CAVEATS; kind++)
		if (meta->caveat[kind] &&
		    (is_inuse ? effects[kind].withdraws_inuse : effects[kind].withdraws_alloc))
			return true;
	return false;
}

bool caveats_withhold_verdicts(uint32_t bits)
{
	bool withheld = false;

	for (int kind = 0; kind < HI_CAVEATS; kind++)
		withheld |= (bits >> kind & 1) && effects[kind].withholds_verdicts;
	return withheld;
}

bool caveats_too_high(uint32_t bits)
{
	bool too_high = false;

	for (int kind = 0; kind < HI_CAVEATS; kind++)
		too_high |= (bits >> kind & 1) && effects[kind].too_high;
	return too_high;
}

bool caveats_too_low(uint32_t bits)
{
	bool too_low = false;

	for (int kind = 0; kind < HI_CAVEATS; kind++)
		too_low |= (bits >> kind & 1) && effects[kind].too_low;
	return too_low;
}
