/* SPDX-License-Identifier: MIT */
/* live_patch.c - see live_patch.h. */
#include "live_patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "clock.h"
#include "hi_page.h"
#include "hi_wire.h"
#include "stop_world.h"

#define BORROW_DEADLINE_MS 3000
#define CALL_DEADLINE_MS 5000
#define RANGES_AT_ONCE 4 /* some tenths of a millisecond each, if the thread gets a CPU */
/* a thread that was held for so long, waiting for a CPU, opens no more ranges */
#define HELD_NS 2000000
#define STOP_WORLD_DEADLINE_MS 10000
#define BACK_DEADLINE_NS 3000000000ull
#define RETRY_NS 2000000
#define IN_PAGE (hi_page_bytes() - 1)

struct storer {
	const struct live_patch_target *target;
	struct maps maps;
	bool has_pending; /* set by look_at_all: some change remains to be made */
	bool has_failed;  /* some words could not be changed; another patcher may do it */
	uint64_t held_ns; /* the longest time that a thread was held */
	struct remote remote;
};

/*
 * Pages of one mapping with words to change: those of the list from the end of the previous range
 * up to `end`.
 */
struct range {
	remote_addr lo, hi;
	size_t end;
	int protection; /* that the pages must have in the end */
	bool is_shut;   /* the pages are not writable at first */
	bool is_open;   /* the pages may be writable now, and must not be in the end */
	bool is_wanted;
};

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Reads the word from outside: that is good enough for a word that is not ours to change. */
static int look(const struct storer *storer, struct word_patch *change)
{
	uint64_t now;
	const int err = memory_read_u64(storer->target->memory, change->at, &now);
	if (err == -EFAULT)
		change->state = PATCH_GONE;
	else if (!err && now != change->expected) {
		change->expected = now;
		change->state = PATCH_DIFFERS;
	}
	return err == -EFAULT ? 0 : err;
}

static void widen(struct range *range, const struct mapping *mapping,
		  const struct word_patch *change)
{
	const remote_addr page = change->at & ~IN_PAGE;
	if (!range->hi)
		*range = (struct range){
			.lo = page,
			.protection = PROT_READ | (mapping->executable ? PROT_EXEC : 0),
			.is_shut = !mapping->writable,
			/* left writable by a dead injector */
			.is_open = mapping->writable && change->read_only,
		};
	if (mapping->writable && !change->read_only)
		range->protection |= PROT_WRITE;
	range->lo = page < range->lo ? page : range->lo;
	range->hi = page + hi_page_bytes() > range->hi ? page + hi_page_bytes() : range->hi;
	range->is_wanted |= change->state == PATCH_PENDING;
}

/*
 * Only examines the words and changes nothing: most detaches after an injector's death find that
 * everything is done.
 */
static int look_at_all(void *context, struct word_patch *change, size_t count)
{
	struct storer *storer = context;
	for (size_t i = 0; i < count; i++) {
		const struct mapping *mapping = maps_find(&storer->maps, change[i].at);
		if (change[i].state != PATCH_PENDING)
			continue;
		if (mapping && mapping->writable && change[i].read_only) {
			storer->has_pending = true;
			continue;
		}
		const int err = look(storer, &change[i]);
		if (err)
			return err;
		storer->has_pending |= change[i].state == PATCH_PENDING;
	}
	return 0;
}

/*
 * Groups the pending changes into ranges: words of one mapping that are adjacent in the list.
 * `ranges` has room for count of them.
 */
static int find_ranges(const struct storer *storer, struct word_patch *change, size_t count,
		       struct range *ranges, size_t *out_count)
{
	const struct mapping *last = NULL;
	bool was_read_only = false;
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		if (change[i].state != PATCH_PENDING)
			continue;
		const struct mapping *mapping = maps_find(&storer->maps, change[i].at);
		/* by the target's own threads: from outside more can be read */
		const bool is_in_reach = mapping && mapping->readable;
		const int err = look(storer, &change[i]);
		if (err || (change[i].state == PATCH_PENDING && !is_in_reach))
			return err ? err : -EACCES;
		if (change[i].state == PATCH_GONE || !is_in_reach)
			continue;
		if (mapping != last || change[i].read_only != was_read_only)
			ranges[found++] = (struct range){0};
		widen(&ranges[found - 1], mapping, &change[i]);
		ranges[found - 1].end = i + 1;
		last = mapping;
		was_read_only = change[i].read_only;
	}
	*out_count = found;
	return 0;
}

static int protect(struct storer *storer, const struct range *range, int protection)
{
	return remote_syscall_or_fail(
		&storer->remote, SYS_mprotect,
		(uint64_t[6]){range->lo, range->hi - range->lo, (uint64_t)protection}, NULL);
}

/*
 * In each call the held thread waits twice for a CPU, and each range that is opened has to be
 * closed: at a load of 40 most calls took 0.03 ms, some 50 ms, and four ranges 210 ms in all. So no
 * more ranges are opened after the first that takes long.
 */
static bool is_held_long(const struct storer *storer)
{
	return (int64_t)clock_now_ns() - storer->remote.tracee.since_ns >= HELD_NS;
}

/*
 * Makes ranges writable. A call that failed may have taken effect all the same, for example if the
 * thread stopped too late. out_count: how many ranges it got to.
 */
static int open_ranges(struct storer *storer, struct range *ranges, size_t count, size_t *out_count)
{
	size_t i = 0;
	int err = 0;
	for (; i < count && !err && !(i && is_held_long(storer)); i++) {
		if (!ranges[i].is_shut || !ranges[i].is_wanted)
			continue;
		ranges[i].is_open = true;
		err = protect(storer, &ranges[i], ranges[i].protection | PROT_WRITE);
	}
	*out_count = i;
	return err;
}

static int close_ranges(struct storer *storer, struct range *ranges, size_t count)
{
	int first = 0;
	for (size_t i = 0; i < count; i++) {
		const int err =
			ranges[i].is_open ? protect(storer, &ranges[i], ranges[i].protection) : 0;
		ranges[i].is_open &= err != 0;
		if (err && !first)
			first = err;
	}
	return first;
}

/* ---- stores ---------------------------------------------------------------------------------- */

/*
 * Is the code to be called the payload's? A payload that is unmapped or was overwritten is not
 * called.
 */
static int check_code(const struct live_patch_target *target)
{
	const struct payload_image *payload = target->payload;
	uint8_t code[PAYLOAD_STORE_MAX];
	if (memory_read(target->memory, target->payload_base + payload->store, code,
			payload->store_size))
		return -ENOENT;
	return memcmp(code, payload->file + payload->store, payload->store_size) == 0 ? 0 : -ENOENT;
}

static int store_list(struct storer *storer, struct hi_store *list, size_t count)
{
	const struct live_patch_target *target = storer->target;
	const remote_addr at = target->state + offsetof(struct hi_state, store);
	/* the end of store_stack */
	const remote_addr stack = target->state + offsetof(struct hi_state, armed);
	const uint64_t argument[4] = {at, count};
	int err = memory_write(target->memory, at, list, count * sizeof(*list));
	if (!err)
		err = remote_call(&storer->remote, target->payload_base + target->payload->store,
				  argument, stack, CALL_DEADLINE_MS, NULL);
	if (!err)
		err = memory_read(target->memory, at, list, count * sizeof(*list));
	return err;
}

/* Stores pending changes, up to HI_STORES of them. *next: how far it got. */
static int store_some(struct storer *storer, struct word_patch *change, size_t count, size_t *next)
{
	struct hi_store list[HI_STORES];
	struct word_patch *of[HI_STORES];
	size_t used = 0;
	for (; *next < count && used < HI_STORES; ++*next) {
		if (change[*next].state != PATCH_PENDING)
			continue;
		of[used] = &change[*next];
		list[used] = (struct hi_store){.at = of[used]->at,
					       .expected = of[used]->expected,
					       .value = of[used]->value};
		used++;
	}
	const int err = used ? store_list(storer, list, used) : 0;
	for (size_t i = 0; !err && i < used; i++) {
		of[i]->state = list[i].expected == of[i]->expected ? PATCH_DONE : PATCH_DIFFERS;
		of[i]->expected = list[i].expected;
	}
	return err;
}

/* Changes the words of the first *count ranges, or of fewer: *count is then their number. */
static int change_ranges(struct storer *storer, struct word_patch *change, size_t *next,
			 struct range *ranges, size_t *count)
{
	int err = open_ranges(storer, ranges, *count, count);
	const size_t end = ranges[*count - 1].end;
	while (!err && *next < end)
		err = store_some(storer, change, end, next);
	const int closed = close_ranges(storer, ranges, *count);
	return err ? err : closed;
}

static int borrow(struct storer *storer)
{
	const struct live_patch_target *target = storer->target;
	return remote_open(&storer->remote, target->pid, target->memory, target->gadgets,
			   BORROW_DEADLINE_MS);
}

static int give_back(struct storer *storer)
{
	const int err = remote_close(&storer->remote);
	if (storer->remote.stopped_ns > storer->held_ns)
		storer->held_ns = storer->remote.stopped_ns;
	return err;
}

/*
 * Closes ranges that a failed step left open. If that fails, too, they are left to a later detach,
 * like those that a dead injector left.
 */
static void close_once_more(struct storer *storer, struct range *ranges, size_t count)
{
	bool is_any_open = false;
	for (size_t i = 0; i < count; i++)
		is_any_open |= ranges[i].is_open;
	if (!is_any_open || borrow(storer))
		return;
	(void)close_ranges(storer, ranges, count);
	(void)give_back(storer);
}

/*
 * A thread that was let go in the middle of storing finishes when it gets a CPU. If it found a page
 * closed then, the target would crash. So waits until it has returned; false: it has not.
 */
static bool is_back(const struct storer *storer)
{
	const uint64_t deadline_ns = clock_now_ns() + BACK_DEADLINE_NS;
	struct proc_status thread;
	while (!proc_status_read(storer->target->pid, storer->remote.tracee.tid, &thread) &&
	       remote_is_on_its_way_back(&thread)) {
		if (clock_now_ns() >= deadline_ns)
			return false;
		tracee_pause(RETRY_NS);
	}
	return true;
}

/*
 * Holds no thread for long: after some ranges the thread goes on, and perhaps another one is
 * borrowed.
 */
static int change_running(struct storer *storer, struct word_patch *change, size_t count,
			  struct range *ranges)
{
	size_t range_count, next = 0;
	int err = find_ranges(storer, change, count, ranges, &range_count);
	for (size_t done = 0; !err && done < range_count;) {
		size_t some =
			range_count - done < RANGES_AT_ONCE ? range_count - done : RANGES_AT_ONCE;
		err = borrow(storer);
		if (err)
			break;
		err = change_ranges(storer, change, &next, ranges + done, &some);
		const bool was_let_go = !storer->remote.is_guarded;
		const int given_back = give_back(storer);
		err = err ? err : given_back;
		if (err && (!was_let_go || is_back(storer)))
			close_once_more(storer, ranges + done, some);
		done += some;
	}
	return err;
}

static int change_all_running(void *context, struct word_patch *change, size_t count)
{
	struct storer *storer = context;
	struct range *ranges = calloc(count + 1, sizeof(*ranges));
	const int err = ranges ? change_running(storer, change, count, ranges) : -ENOMEM;
	free(ranges);
	storer->has_failed |= err != 0;
	return err;
}

/* ---- errands --------------------------------------------------------------------------------- */

struct errand {
	struct storer storer;
	int (*work)(const struct patcher *, void *);
	void *context;
};

static int run_borrowed(void *context)
{
	struct errand *errand = context;
	struct storer *storer = &errand->storer;
	const struct patcher patcher = {.change = change_all_running, .context = storer};
	const int err = check_code(storer->target);
	storer->has_failed = err != 0;
	return err ? err : errand->work(&patcher, errand->context);
}

static int run_stopped(void *context)
{
	const struct errand *errand = context;
	const struct patcher patcher = patcher_for_stopped(errand->storer.target->memory);
	return errand->work(&patcher, errand->context);
}

int live_patch_do(const struct live_patch_target *target,
		  int (*work)(const struct patcher *, void *), void *context,
		  struct live_patch_held *out_held)
{
	struct errand errand = {.storer = {.target = target}, .work = work, .context = context};
	struct storer *storer = &errand.storer;
	const struct patcher looker = {.change = look_at_all, .context = storer};
	*out_held = (struct live_patch_held){0};
	int err = maps_read(target->pid, target->tid, &storer->maps);
	if (!err)
		err = work(&looker, context);
	if (!err && storer->has_pending) {
		err = tracee_worker(run_borrowed, &errand);
		out_held->one_ns = storer->held_ns;
		if (err && err != -ESRCH && err != -ENOEXEC && storer->has_failed)
			err = stop_world_wait(target->pid, STOP_WORLD_WORDS, run_stopped, &errand,
					      STOP_WORLD_DEADLINE_MS, &out_held->all_ns);
	}
	maps_close(&storer->maps);
	return err;
}
