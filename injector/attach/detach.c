/* SPDX-License-Identifier: MIT */
/*
 * detach.c - the steps of a detach, in the reverse order of attach.c. A step that fails is
 * reported; later steps that are still safe are done all the same.
 *
 * Why it is safe is in the order: first no thread can newly come in (disarm, restore), then no
 * thread is inside (quiesce), then no pointer leads inside (escaped). Only then the payload is
 * removed.
 */
#include "detach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escaped_fix_up.h"
#include "freezer.h"
#include "heir.h"
#include "memory_sharers.h"
#include "quiesce.h"
#include "restore.h"
#include "snapshot.h"
#include "stale_frames.h"
#include "stop_world.h"

/* long: a thread that gets no CPU does not get out either; nothing waits for us meanwhile */
#define QUIESCE_DEADLINE_MS 30000
/* a count unchanged for so long may be one that no thread will lower */
#define QUIESCE_LOOK_MS 2500
/*
 * as long: to unload by dlclose, a thread must be at a safe point; a busy one is at one in one of
 * hundreds of looks
 */
#define BORROW_DEADLINE_MS 30000
/*
 * at least so much of the allowance for stops of all threads is left to detach: even if the session
 * used it up, changes must be undone
 */
#define STOP_WORLD_ALLOWED_MS 1000
#define ROUNDS_MAX 16

/* Threads that are frozen look like others that do not stop. */
static void name_frozen(struct receipt *receipt, pid_t pid)
{
	char remedy[sizeof(receipt->obstacle) - sizeof("its control group is frozen; ")];

	if (freezer_is_frozen(pid, remedy, sizeof(remedy)))
		snprintf(receipt->obstacle, sizeof(receipt->obstacle),
			 "its control group is frozen; %s", remedy);
}

/* Names the thread that prevented a failed step, if one is in state D. */
static void name_blocked(struct receipt *receipt, pid_t pid)
{
	struct memory_threads threads;
	if (receipt->obstacle[0] || memory_threads_list(pid, &threads))
		return;
	for (size_t i = 0; i < threads.count && !receipt->obstacle[0]; i++)
		if (blocked_state(threads.thread[i].pid, threads.thread[i].tid) == 'D')
			blocked_explain(threads.thread[i].pid, threads.thread[i].tid,
					receipt->obstacle);
	memory_threads_close(&threads);
}

/*
 * Reads the original of each gate entry from the gate's own words. They exist as long as the gate,
 * whichever injector attached.
 */
static int read_originals(const struct attachment *attachment, struct escaped_target *out_target)
{
	const struct hi_control *control = attachment->control;
	*out_target = (struct escaped_target){
		.pid = attachment->pid,
		.memory = &attachment->memory,
		.gate = arena_gate(control),
		.gate_count = arena_gate_count(control),
		.skip_lo = control->arena,
		.skip_hi = control->arena + control->arena_size,
	};
	for (unsigned entry = 0; entry < out_target->gate_count; entry++) {
		int err = memory_read_u64(&attachment->memory,
					  arena_words(control, entry) +
						  offsetof(struct hi_gate_words, original),
					  &out_target->original[entry]);
		if (err)
			return err;
	}
	return 0;
}

static struct quiesce_target describe_inside(const struct attachment *attachment,
					     const struct escaped_target *escaped)
{
	const struct hi_control *control = attachment->control;
	return (struct quiesce_target){
		.escaped = escaped,
		.gate_lo = arena_gate(control),
		.gate_hi = arena_gate(control) + HI_GATE_BYTES,
		.payload_lo = control->payload_base,
		.payload_hi = control->payload_base + control->payload_size,
		.probes_lo = control->arena + control->probes.offset,
		.probes_hi = control->arena + control->probes.offset + control->probes.size,
		.thread_slots = arena_state(control) + arena_state_layout(control).thread_slots,
		.near_page = control->near_page,
		.near_pages = HI_NEAR_PAGES_MAX,
		.return_gadget = control->return_gadget,
	};
}

static void note(struct receipt *receipt, const struct quiesced *quiesced)
{
	receipt->threads_checked = quiesced->threads;
	receipt->fixed_registers += quiesced->registers.changed;
	receipt->doubts.count[DOUBT_TAGGED] += quiesced->registers.doubtful;
	if (quiesced->longest_stop_ns > receipt->longest_check_ns)
		receipt->longest_check_ns = quiesced->longest_stop_ns;
}

/*
 * Waits until every thread is outside. If counts stop changing, stale_frames_forget checks now and
 * then whether they still belong to any thread.
 */
static int wait_until_outside(const struct quiesce_target *target, struct receipt *receipt,
			      struct quiesced *quiesced)
{
	int left_ms = QUIESCE_DEADLINE_MS, look_ms = QUIESCE_LOOK_MS, err;
	do {
		uint64_t leaked = 0;
		err = quiesce(target, look_ms, quiesced);
		note(receipt, quiesced);
		const int stale = err == -EBUSY && quiesced->frames
					  ? stale_frames_forget(target, &leaked)
					  : -EAGAIN;
		if (!stale)
			receipt->frames_leaked += leaked;
		if (stale == -EBUSY)
			break;
		left_ms -= look_ms;
		look_ms = quiesced->frames ? QUIESCE_LOOK_MS : left_ms;
	} while (err == -EBUSY && left_ms > 0);
	return err;
}

/*
 * Waits until every thread is outside. out_found: some threads had copies in registers, which they
 * may have stored or passed on before.
 */
static int look_at_threads(const struct quiesce_target *target, struct escaped_target *escaped,
			   struct receipt *receipt, bool *out_found)
{
	const size_t fixed_before = receipt->fixed_registers;
	struct quiesced quiesced;
	int err = receipt_fail(receipt, "waiting until no thread is in the payload",
			       wait_until_outside(target, receipt, &quiesced));
	receipt->frames_inside = err ? quiesced.frames : 0;
	receipt->thread_inside = err && !quiesced.frames ? quiesced.stuck : 0;
	if (!err && quiesced.unseen) {
		receipt->is_unseen = true;
		blocked_explain(quiesced.unseen_pid, quiesced.unseen, receipt->unseen);
	}
	*out_found = receipt->fixed_registers > fixed_before;
	const remote_addr guard = escaped->pointer_guard_at
					  ? escaped->pointer_guard_at
					  : arch_pointer_guard_at(quiesced.thread_pointer);
	if (!err && memory_read_u64(escaped->memory, guard, &escaped->pointer_guard))
		escaped->pointer_guard = 0;
	return err;
}

/*
 * Fixes up the copies in memory. If not all threads could be stopped, the copies stay, and so does
 * the gate that they lead to.
 */
static int look_at_memory(const struct escaped_target *escaped, struct receipt *receipt,
			  bool *out_found)
{
	struct escaped_pointers copies;
	struct fixed_up fixed_up = {0};
	int err = receipt_fail(receipt, "looking for escaped pointers",
			       escaped_find(escaped, &copies));
	if (err)
		return err;
	receipt->copies_too_many = copies.count == ESCAPED_POINTERS_MAX ||
				   receipt->fixed_words + copies.count > ESCAPED_POINTERS_MAX;
	if (!receipt->copies_too_many)
		err = escaped_fix_up(escaped, &copies, &fixed_up);
	*out_found = copies.count > 0;
	const size_t copies_seen = copies.count;
	for (size_t i = 0; i < DOUBTS; i++)
		receipt->doubts.count[i] += copies.doubts.count[i];
	receipt->copies_in_files = copies.in_files;
	receipt->unsearched = copies.unsearched;
	receipt->swapped = copies.swapped;
	escaped_pointers_close(&copies);
	receipt->fixed_words += fixed_up.words;
	receipt->fixed_registers += fixed_up.registers.changed;
	receipt->copies_left = err == -EAGAIN ? copies_seen : 0;
	return err == -EAGAIN ? 0 : receipt_fail(receipt, "fixing up escaped pointers", err);
}

/*
 * Does rounds until one finds no thread inside and no register or word that leads there. The gate
 * stays, inert, in these cases: the program keeps passing copies around, so that rounds never end;
 * copies lie in files, or cannot be identified for certain, and must not be changed; memory is
 * swapped out, and must not be brought back in for us. has_slots: false where only entries of
 * functions were changed: then the program never saw an address of ours.
 */
static int look_until_clear(const struct quiesce_target *target, struct escaped_target *escaped,
			    bool has_slots, struct receipt *receipt)
{
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		bool in_registers, in_memory = false;
		receipt->doubts = (struct doubts){0};
		int err = look_at_threads(target, escaped, receipt, &in_registers);
		if (!err && has_slots)
			err = look_at_memory(escaped, receipt, &in_memory);
		if (err)
			return err;
		receipt->gate_kept = receipt_has_doubts(receipt);
		if (!(in_registers || in_memory) || receipt->copies_left ||
		    receipt->copies_too_many)
			return 0;
	}
	receipt->gate_kept = true;
	return 0;
}

struct unload {
	struct attachment *attachment;
	struct receipt *receipt;
};

/* Finds what is needed to borrow a thread of the target. */
static int find_gadgets(struct attachment *attachment)
{
	int err = attachment->images.count ? 0 : attachment_read_images(attachment);
	return err ? err
		   : remote_gadgets_find(&attachment->maps, &attachment->memory,
					 &attachment->gadgets);
}

/* 5. Borrows one thread once more and unmaps everything. Runs in a tracing thread of its own. */
static int unload(void *context)
{
	struct attachment *attachment = ((struct unload *)context)->attachment;
	struct receipt *receipt = ((struct unload *)context)->receipt;
	struct hi_control *control = attachment->control;
	const struct loader *loader = loader_by_id((enum hi_loader)control->loader);
	const struct loader_target target = attachment_loader_target(attachment);
	struct remote remote;
	int err = find_gadgets(attachment);
	if (!err)
		err = loader->borrow(&target, &remote, BORROW_DEADLINE_MS);
	if (err)
		return err;
	control->phase = HI_PHASE_UNLOADING;
	err = attachment_store(attachment);
	if (!err)
		err = loader->unload(&target, &remote);
	if (!err) /* an image that is gone must not be unloaded again */
		err = attachment_store(attachment);
	for (size_t i = 0; !err && i < attachment->leftover_count; i++)
		err = arena_close_fd(&remote, attachment->leftover_fd[i]);
	if (!err)
		err = arena_unmap(control, &remote, &attachment->payload, receipt->gate_kept);
	int closed = remote_close(&remote);
	receipt->detach_stop_ns = remote.stopped_ns;
	return err ? err : closed;
}

static void compare(const struct attachment *attachment, struct receipt *receipt)
{
	receipt->before = attachment->control->before;
	receipt->has_before = !attachment->is_inherited; /* else `before` describes its parent */
	int err = snapshot_take(attachment->pid, attachment->tid, &receipt->after);
	struct snapshot_left left = {0};
	if (!err)
		err = snapshot_left(attachment->pid, attachment->tid, attachment->control->arena,
				    attachment->control->arena + attachment->control->arena_size,
				    &left);
	(void)receipt_fail(receipt, "comparing it with what it was", err);
	receipt->own_mappings_left = left.of_session;
	receipt->earlier_gates = left.earlier;
	receipt->is_clean = !err && !receipt->own_mappings_left;
}

/* 1. and 2.: Disarms the gate and restores code and slots, so that no thread newly comes in. */
static int restore_program(struct attachment *attachment, struct receipt *receipt)
{
	struct hi_control *control = attachment->control;
	control->phase = HI_PHASE_DISARMED;
	/* a note for a later injector; the steps below are what counts */
	(void)!attachment_store(attachment);
	int disarmed = receipt_fail(receipt, "disarming the gate",
				    arena_disarm(control, &attachment->memory));
	(void)!find_gadgets(attachment); /* if this fails, all threads are stopped instead of one */
	const int code = receipt_fail(receipt, "restoring its functions",
				      restore_code(attachment, BORROW_DEADLINE_MS, receipt));
	const int restored =
		receipt_fail(receipt, "restoring GOT slots", restore_slots(attachment, receipt));
	control->phase = HI_PHASE_RESTORED;
	(void)!attachment_store(attachment);
	return disarmed ? disarmed : code ? code : restored;
}

/* 3. and 4.: Waits until no thread is inside and no pointer leads inside. */
static int empty(struct attachment *attachment, struct receipt *receipt)
{
	struct escaped_target escaped;
	int err = restore_program(attachment, receipt);
	if (!err)
		err = receipt_fail(receipt, "reading the gate",
				   read_originals(attachment, &escaped));
	if (err)
		return err;
	struct quiesce_target target = describe_inside(attachment, &escaped);
	/*
	 * Without a walker (objects cannot be read any more) the proof rests on counts and
	 * registers.
	 */
	if (attachment_read_images(attachment) ||
	    stackwalker_open(attachment->pid, &attachment->images, &target.walker))
		target.walker = NULL;
	const char *guard = arch_pointer_guard_symbol();
	if (!guard ||
	    elf_images_resolve(&attachment->images, guard, &escaped.pointer_guard_at, NULL))
		escaped.pointer_guard_at = 0;
	err = look_until_clear(&target, &escaped, attachment->control->has_slots, receipt);
	if (target.walker)
		stackwalker_close(target.walker);
	return err;
}

int detach(struct attachment *attachment, struct receipt *out_receipt)
{
	struct receipt receipt = {.attach_stop_ns = attachment->attach_stop_ns};
	if ((attachment_check(attachment) || attachment_follow(attachment)) &&
	    heir_take(attachment)) {
		receipt.target_gone = receipt.is_clean = true;
		*out_receipt = receipt;
		return 0;
	}
	int err = 0;
	stop_world_allow(STOP_WORLD_ALLOWED_MS);
	/* Otherwise no slot was ever written, and no thread can be inside. */
	if (attachment->control->phase > HI_PHASE_LOADING || attachment->control->journal_count)
		err = empty(attachment, &receipt);
	receipt.died = attachment->died;
	/* the dynamic linker need not know the threads of its heir */
	if (!err && attachment->died && attachment->control->loader == HI_LOADER_DLOPEN)
		err = receipt_fail(&receipt, "unloading the library of a process that is gone",
				   -ENOTSUP);
	if (!err)
		err = receipt_fail(&receipt, "unloading the payload",
				   tracee_worker(unload, &(struct unload){.attachment = attachment,
									  .receipt = &receipt}));
	if (err)
		name_frozen(&receipt, attachment->pid);
	if (err == -EAGAIN || err == -EBUSY)
		name_blocked(&receipt, attachment->pid);
	receipt.is_unhooked = attachment->unloadable_missed;
	receipt.held = held_so_far();
	receipt.world_stops = stop_world_account();
	if (attachment_check(attachment))
		receipt.target_gone = receipt.is_clean = receipt.went_meanwhile = true;
	else
		compare(attachment, &receipt);
	*out_receipt = receipt;
	return receipt.target_gone ? 0 : err;
}

static int close_descriptors(void *context)
{
	struct attachment *attachment = context;
	struct remote remote;
	int err = attachment_read_images(attachment);
	if (!err)
		err = remote_gadgets_find(&attachment->maps, &attachment->memory,
					  &attachment->gadgets);
	if (!err)
		err = remote_open(&remote, attachment->pid, &attachment->memory,
				  &attachment->gadgets, BORROW_DEADLINE_MS);
	if (err)
		return err;
	for (size_t i = 0; !err && i < attachment->leftover_count; i++)
		err = arena_close_fd(&remote, attachment->leftover_fd[i]);
	int closed = remote_close(&remote);
	return err ? err : closed;
}

int detach_descriptors(struct attachment *attachment)
{
	return attachment->leftover_count ? tracee_worker(close_descriptors, attachment) : 0;
}
