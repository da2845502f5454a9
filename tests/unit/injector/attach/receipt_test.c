/* SPDX-License-Identifier: MIT */
/* receipt_test.c - what a receipt says, and which error it keeps; no process is attached to. */
#include "receipt.h"

#include <errno.h>

#include "unit.h"

UNIT_TEST(the_first_failure_is_kept)
{
	struct receipt receipt = {0};
	CHECK_EQ(receipt_fail(&receipt, "a step that succeeds", 0), 0);
	CHECK(!receipt.failed_step);
	CHECK_EQ(receipt_fail(&receipt, "restoring GOT slots", -EIO), -EIO);
	CHECK_EQ(receipt_fail(&receipt, "unloading the payload", -EBUSY), -EBUSY);
	CHECK_EQ(receipt.err, -EIO);
	CHECK(strcmp(receipt.failed_step, "restoring GOT slots") == 0);
}

UNIT_TEST(the_first_obstacle_is_kept)
{
	struct receipt receipt = {0};
	receipt_note_obstacle(&receipt, (const char[BLOCKED_TEXT]){""});
	receipt_note_obstacle(&receipt, (const char[BLOCKED_TEXT]){"thread 7 waits"});
	receipt_note_obstacle(&receipt, (const char[BLOCKED_TEXT]){"thread 8 waits"});
	CHECK(strcmp(receipt.obstacle, "thread 7 waits") == 0);
}

UNIT_TEST(whatever_may_lead_to_the_gate_is_a_doubt)
{
	CHECK(!receipt_has_doubts(&(struct receipt){.fixed_words = 1, .fixed_registers = 1}));
	CHECK(receipt_has_doubts(&(struct receipt){.copies_in_files = 1}));
	CHECK(receipt_has_doubts(&(struct receipt){.copies_too_many = true}));
	CHECK(receipt_has_doubts(&(struct receipt){.copies_left = 1}));
	CHECK(receipt_has_doubts(&(struct receipt){.swapped = 4096}));
	CHECK(receipt_has_doubts(&(struct receipt){.is_unseen = true}));
	CHECK(receipt_has_doubts(&(struct receipt){.doubts.count[DOUBT_CODE] = 1}));
}

static const char *print_receipt(const struct receipt *receipt)
{
	static char text[4096];
	FILE *file = fmemopen(text, sizeof(text), "w");
	receipt_print(receipt, file);
	fclose(file);
	return text;
}

UNIT_TEST(the_receipt_tells_what_was_left)
{
	struct receipt receipt = {
		.slots = {.written = 12, .restored = 9, .overwritten = 1, .vanished = 2},
		.fixed_words = 5,
		.fixed_registers = 6};
	CHECK(strstr(print_receipt(&receipt), "had inherited this") &&
	      !strstr(print_receipt(&receipt), "before"));
	receipt.has_before = true;
	receipt.before.map_count = receipt.after.map_count = 33;
	const char *text = print_receipt(&receipt);
	CHECK(strstr(text, "12 written, 9 restored, 1 since changed by the target, 2 gone"));
	CHECK(strstr(text, "5 in memory and 6 in registers"));
	CHECK(strstr(text, "none of ours left"));
	CHECK(strstr(text, "unchanged"));
	CHECK(!strstr(text, "FAILED"));

	CHECK(!strstr(text, "all of them") && !strstr(text, "not hooked") &&
	      strstr(text, "0 stops of single threads"));
	receipt.held = (struct held){.count = 9, .longest_ns = 1500000, .sum_ns = 7250000};
	receipt.world_stops = (struct stop_world_account){.longest_ns = 2000000,
							  .longest_awake_ns = 1000000,
							  .used_ns = 2500000,
							  .allowed_ns = 500000000};
	receipt.world_stops.count[STOP_WORLD_SLOTS] = 2;
	CHECK(strstr(print_receipt(&receipt),
		     "9 stops of single threads, at most 1.50 ms each, 7.25 ms added up"));
	CHECK(strstr(text, "all of them 2 times, at most 2.00 ms each, those that did not sleep "
			   "1.00, for slots of libraries that may be unloaded (2); 2.50 of"));
	CHECK(!strstr(text, "copies of pointers") && !strstr(text, "given up"));
	receipt.world_stops.given_up = 1;
	receipt.is_unhooked = true;
	CHECK(strstr(print_receipt(&receipt), "1 attempt more, given up after") &&
	      strstr(text, "not hooked"));

	CHECK(!strstr(text, "earlier") && !strstr(text, "never came back") &&
	      !strstr(text, "search"));

	receipt.earlier_gates = 1;
	receipt.frames_leaked = 7;
	receipt.unsearched = 5 << 20;
	CHECK(strstr(print_receipt(&receipt),
		     "1 inert page of plain jumps of earlier sessions stays"));
	CHECK(strstr(text, "7 never came back"));
	CHECK(strstr(text, "5 MB of shared memory were not searched"));
	CHECK(!strstr(text, "swapped out"));

	receipt.own_mappings_left = 3;
	receipt.after.sig_blocked = 1;
	CHECK(strstr(print_receipt(&receipt), "3 mappings"));
	CHECK(strstr(text, "changed (by the target"));
	receipt.gate_kept = true;
	CHECK(strstr(print_receipt(&receipt), "still being passed around"));
	receipt.swapped = 8192;
	CHECK(strstr(print_receipt(&receipt), "8 KB are swapped out and were not searched"));
	CHECK(strstr(text, "may lie in memory that is swapped out"));
	receipt.is_unseen = true;
	snprintf(receipt.unseen, sizeof(receipt.unseen), "thread 5 (x) waits");
	CHECK(strstr(print_receipt(&receipt), "registers of a thread") &&
	      strstr(text, "not seen       registers: thread 5 (x) waits"));
	receipt.copies_left = 2;
	CHECK(strstr(print_receipt(&receipt), "could not be fixed up"));
	receipt.copies_in_files = 1;
	CHECK(strstr(print_receipt(&receipt), "files are not changed"));
	receipt.failed_step = "unloading the payload";
	receipt.err = -EBUSY;
	snprintf(receipt.obstacle, sizeof(receipt.obstacle), "thread 7 (y) waits");
	CHECK(strstr(print_receipt(&receipt),
		     "FAILED         unloading the payload: Device or resource busy"));
	CHECK(strstr(text, "once this is over:") && strstr(text, "thread 7 (y) waits"));
	receipt.target_gone = true;
	CHECK(strstr(print_receipt(&receipt), "is gone"));
}

UNIT_MAIN()
