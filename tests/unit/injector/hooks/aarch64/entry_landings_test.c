/* SPDX-License-Identifier: MIT */
/* entry_landings: entries behind landing pads, of functions of this program. */
#include "entry_landings.h"

#include "own_images.h"

/* A loop that begins behind the pad, a branch there from elsewhere, and a function without any. */
__asm__(".pushsection .text, \"ax\", @progbits\n"
	".globl looped, entered, plain\n"
	"looped: hint #34\n1: subs x0, x0, #1\n b.ne 1b\n ret\n"
	"entered: hint #34\n2: mov x0, #2\n ret\n"
	"enters: cbz x0, 2b\n ret\n"
	"plain: hint #34\n mov x0, #3\n ret\n"
	".popsection");
extern const uint8_t looped[], entered[], plain[];

static void add(struct entries *entries, unsigned hook, const uint8_t *function)
{
	entries->entry[hook].at = address_of(function);
	entries->entry[hook].jump_at = address_of(function) + 4;
}

UNIT_TEST(an_entry_to_which_code_leads_is_dropped)
{
	static struct entries entries;
	struct own own = own_open();

	entries_clear(&entries);
	add(&entries, HI_FN_MALLOC, looped);
	add(&entries, HI_FN_CALLOC, entered);
	add(&entries, HI_FN_FREE, plain);
	/* without a landing pad the function begins there: loops and calls lead to it, too */
	entries.entry[HI_FN_REALLOC].at = entries.entry[HI_FN_REALLOC].jump_at =
		address_of(looped) + 4;
	entry_landings_check(&own.images, &entries);
	CHECK(!entries.entry[HI_FN_MALLOC].at);
	CHECK_EQ(entries.obstacle[HI_FN_MALLOC], ENTRY_UNMOVABLE);
	CHECK(!entries.entry[HI_FN_CALLOC].at);
	CHECK(entries.entry[HI_FN_FREE].at);
	CHECK(entries.entry[HI_FN_REALLOC].at);
	own_close(&own);
}

UNIT_MAIN()
