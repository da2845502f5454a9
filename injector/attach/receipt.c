/* SPDX-License-Identifier: MIT */
/* receipt.c - see receipt.h. */
#include "receipt.h"

#include <string.h>

int receipt_fail(struct receipt *receipt, const char *step, int err)
{
	if (err && !receipt->failed_step) {
		receipt->failed_step = step;
		receipt->err = err;
	}
	return err;
}

void receipt_note_obstacle(struct receipt *receipt, const char obstacle[BLOCKED_TEXT])
{
	if (!receipt->obstacle[0])
		memcpy(receipt->obstacle, obstacle, sizeof(receipt->obstacle));
}

bool receipt_has_doubts(const struct receipt *receipt)
{
	return receipt->copies_in_files > 0 || receipt->copies_too_many || receipt->swapped > 0 ||
	       receipt->is_unseen || receipt->copies_left > 0 || doubts_any(&receipt->doubts);
}

/* ---- what was undone ------------------------------------------------------------------------- */

/* Prints what was not searched, and what that means. */
static void print_unsearched(const struct receipt *receipt, FILE *out)
{
	if (receipt->unsearched)
		fprintf(out,
			"                 %llu MB of shared memory were not searched for copies, "
			"as they are beyond the limit: a program that keeps function\n"
			"                 pointers there, as hardly any does, should be restarted "
			"before it calls one\n",
			(unsigned long long)(receipt->unsearched >> 20));
	if (receipt->swapped)
		fprintf(out,
			"                 %llu KB are swapped out and were not searched: that "
			"would have brought them back in\n",
			(unsigned long long)(receipt->swapped >> 10));
}

static void print_slots(const struct receipt *receipt, FILE *out)
{
	fprintf(out,
		"  GOT slots      %zu written, %zu restored, %zu since changed by the target, %zu "
		"gone with their libraries\n",
		receipt->slots.written, receipt->slots.restored, receipt->slots.overwritten,
		receipt->slots.vanished);
	fprintf(out, "  copies         %zu in memory and %zu in registers fixed up\n",
		receipt->fixed_words, receipt->fixed_registers);
	print_unsearched(receipt, out);
}

static void print_undone(const struct receipt *receipt, FILE *out)
{
	if (receipt->functions)
		fprintf(out, "  functions      %zu hooked at their entry, %zu restored\n",
			receipt->functions, receipt->functions_restored);
	if (receipt->slots.written || !receipt->functions)
		print_slots(receipt, out);
}

/* ---- what is left ---------------------------------------------------------------------------- */

static void print_gate(const struct receipt *receipt, FILE *out)
{
	const char *doubt = doubts_text(&receipt->doubts);
	const char *why = "copies of allocator pointers are still being passed around";
	if (receipt->copies_in_files)
		why = "copies of allocator pointers lie in a file that is mapped shared, and files "
		      "are not changed";
	else if (receipt->copies_too_many)
		why = "copies of allocator pointers are too many to fix up while the process is "
		      "stopped";
	else if (receipt->copies_left)
		why = "copies of allocator pointers could not be fixed up, as not all threads "
		      "could be stopped at once";
	else if (receipt->is_unseen)
		why = "registers of a thread could not be looked at";
	else if (receipt->swapped)
		why = "copies of allocator pointers may lie in memory that is swapped out";
	else if (doubt) {
		fprintf(out,
			"  left behind    an inert page of plain jumps: copies of allocator "
			"pointers %s\n",
			doubt);
		return;
	}
	fprintf(out, "  left behind    an inert page of plain jumps: %s\n", why);
}

static void print_left(const struct receipt *receipt, FILE *out)
{
	if (receipt->gate_kept)
		print_gate(receipt, out);
	else if (receipt->own_mappings_left)
		fprintf(out, "  left behind    %zu mappings\n", receipt->own_mappings_left);
	else if (receipt->has_before)
		fprintf(out,
			"  mappings       none of ours left; %llu of its own before, %llu now\n",
			(unsigned long long)receipt->before.map_count,
			(unsigned long long)receipt->after.map_count);
	else
		fprintf(out, "  mappings       none of ours left\n");
	if (receipt->earlier_gates)
		fprintf(out,
			"                 %zu inert page%s of plain jumps of earlier sessions "
			"stay%s\n",
			receipt->earlier_gates, receipt->earlier_gates == 1 ? "" : "s",
			receipt->earlier_gates == 1 ? "s" : "");
	if (receipt->frames_leaked)
		fprintf(out,
			"  calls          %llu never came back (jumped out of, or their thread was "
			"cancelled): every thread was seen to be outside\n",
			(unsigned long long)receipt->frames_leaked);
}

/* ---- what it was, and is --------------------------------------------------------------------- */

static bool same_signals(const struct hi_snapshot *a, const struct hi_snapshot *b)
{
	return a->sig_blocked == b->sig_blocked && a->sig_ignored == b->sig_ignored &&
	       a->sig_caught == b->sig_caught;
}

static void print_compared(const struct receipt *receipt, FILE *out)
{
	fprintf(out, "  descriptors    %llu before, %llu now\n",
		(unsigned long long)receipt->before.fd_count,
		(unsigned long long)receipt->after.fd_count);
	fprintf(out, "  threads        %llu before, %llu now\n",
		(unsigned long long)receipt->before.thread_count,
		(unsigned long long)receipt->after.thread_count);
	fprintf(out, "  signal state   %s\n",
		same_signals(&receipt->before, &receipt->after)
			? "unchanged"
			: "changed (by the target itself: we set none)");
}

static void print_process(const struct receipt *receipt, FILE *out)
{
	if (receipt->died)
		fprintf(out,
			"  process        %d is gone; others lived on in its memory, and one of "
			"them took its place\n",
			(int)receipt->died);
	else if (receipt->has_before)
		print_compared(receipt, out);
	else
		fprintf(out, "  process        it had inherited this when it was forked, from a "
			     "parent that was attached to\n");
}

/* ---- how long threads were stopped ----------------------------------------------------------- */

/* Prints the stops of all threads at once. */
static void print_world_stops(const struct stop_world_account *account, FILE *out)
{
	static const char *const purpose[] = {
		[STOP_WORLD_SLOTS] = "slots of libraries that may be unloaded",
		[STOP_WORLD_COPIES] = "copies of pointers",
		[STOP_WORLD_WORDS] = "slots that no thread of it could store",
		[STOP_WORLD_LOOK] = "a copy of its memory",
	};
	const char *separator = " for ";
	unsigned count = 0;
	for (size_t i = 0; i < STOP_WORLD_PURPOSES; i++)
		count += account->count[i];
	if (!count && !account->given_up)
		return;
	fprintf(out,
		"                 all of them %u time%s, at most %.2f ms each, those that did not "
		"sleep %.2f,",
		count, count == 1 ? "" : "s", (double)account->longest_ns / 1e6,
		(double)account->longest_awake_ns / 1e6);
	for (size_t i = 0; i < STOP_WORLD_PURPOSES; i++)
		if (account->count[i]) {
			fprintf(out, "%s%s (%u)", separator, purpose[i], account->count[i]);
			separator = ", ";
		}
	fprintf(out, "%s%.2f of %.0f ms allowed are used\n", count ? "; " : " ",
		(double)account->used_ns / 1e6, (double)account->allowed_ns / 1e6);
	if (account->given_up)
		fprintf(out,
			"                 %u attempt%s more, given up after %.2f ms at most: %s\n",
			account->given_up, account->given_up == 1 ? "" : "s",
			(double)account->given_up_longest_ns / 1e6,
			account->obstacle[0] ? account->obstacle : "somebody else traces a thread");
}

static void print_stops(const struct receipt *receipt, FILE *out)
{
	fprintf(out, "  stopped        ");
	if (receipt->attach_stop_ns) /* unknown if the session's injector died */
		fprintf(out, "one thread %.2f ms at attach, ",
			(double)receipt->attach_stop_ns / 1e6);
	fprintf(out, "one %.2f and %.2f ms at detach; %zu checked, at most %.2f ms each\n",
		(double)receipt->restore_stop_ns / 1e6, (double)receipt->detach_stop_ns / 1e6,
		receipt->threads_checked, (double)receipt->longest_check_ns / 1e6);
	print_world_stops(&receipt->world_stops, out);
	fprintf(out,
		"                 %llu stops of single threads, at most %.2f ms each, %.2f ms "
		"added up\n",
		(unsigned long long)receipt->held.count, (double)receipt->held.longest_ns / 1e6,
		(double)receipt->held.sum_ns / 1e6);
}

/* ---- what could not be done ------------------------------------------------------------------ */

static void print_missed(const struct receipt *receipt, FILE *out)
{
	if (receipt->is_unhooked)
		fprintf(out,
			"  not hooked     libraries that came by dlopen: not all threads could be "
			"stopped at once%s%s\n",
			receipt->world_stops.obstacle[0] ? "; " : "",
			receipt->world_stops.obstacle);
	if (receipt->is_unseen)
		fprintf(out, "  not seen       registers: %s\n", receipt->unseen);
}

static void print_failure(const struct receipt *receipt, FILE *out)
{
	if (receipt->failed_step)
		fprintf(out,
			"  FAILED         %s: %s; it is inert and can wait; try `heapinject "
			"detach` again%s%s\n",
			receipt->failed_step, strerror(-receipt->err),
			receipt->obstacle[0] ? " once this is over:\n                 " : "",
			receipt->obstacle);
	if (receipt->frames_inside)
		fprintf(out,
			"                 %llu calls are still inside, or were left by jumps or "
			"exceptions\n",
			(unsigned long long)receipt->frames_inside);
	if (receipt->thread_inside)
		fprintf(out,
			"                 thread %d is inside, or did not stop when asked to\n",
			(int)receipt->thread_inside);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void print_gone(const struct receipt *receipt, FILE *out)
{
	fprintf(out, "Detach receipt: the process or its program %s; nothing was left to restore\n",
		receipt->went_meanwhile ? "went while it was being detached from" : "is gone");
}

void receipt_print(const struct receipt *receipt, FILE *out)
{
	if (receipt->target_gone) {
		print_gone(receipt, out);
		return;
	}
	fprintf(out, "Detach receipt:\n");
	print_undone(receipt, out);
	print_left(receipt, out);
	print_process(receipt, out);
	print_stops(receipt, out);
	print_missed(receipt, out);
	print_failure(receipt, out);
}
