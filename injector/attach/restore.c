/* SPDX-License-Identifier: MIT */
/* restore.c - see restore.h. */
#include "restore.h"

#include <errno.h>
#include <stdio.h>

#include "code_swap.h"

/* a vfork parent, or a thread in state D: retried until then, while no thread is held */
#define STOP_WORLD_DEADLINE_MS 10000

struct restoring {
	struct attachment *attachment;
	struct receipt *receipt;
	int borrow_deadline_ms;
	const struct maps *maps; /* of restore_code */
};

/* ---- slots ----------------------------------------------------------------------------------- */

static int restore_unloadable(void *context)
{
	struct restoring *restoring = context;
	const struct patcher patcher = patcher_for_stopped(&restoring->attachment->memory);
	return journal_restore(restoring->attachment->control, &patcher, JOURNAL_UNLOADABLE,
			       &restoring->receipt->slots);
}

/* Restores slots of libraries that may be unloaded while the injector writes (journal.h). */
static int restore_world_stopped(struct attachment *attachment, struct receipt *receipt)
{
	uint64_t held_ns;
	if (!journal_left(attachment->control, JOURNAL_UNLOADABLE))
		return 0;
	const int err =
		stop_world_wait(attachment->pid, STOP_WORLD_SLOTS, restore_unloadable,
				&(struct restoring){.attachment = attachment, .receipt = receipt},
				STOP_WORLD_DEADLINE_MS, &held_ns);
	if (err == -EAGAIN)
		receipt_note_obstacle(receipt, stop_world_account().obstacle);
	return err;
}

/* Restores slots first: a call that no longer goes through the gate needs no bypass. */
static int restore_pinned(const struct patcher *patcher, void *context)
{
	struct restoring *restoring = context;
	const int restored = journal_restore(restoring->attachment->control, patcher,
					     JOURNAL_PINNED, &restoring->receipt->slots);
	const int bypassed = arena_bypass(restoring->attachment->control,
					  &restoring->attachment->memory, patcher);
	return restored ? restored : bypassed;
}

int restore_slots(struct attachment *attachment, struct receipt *receipt)
{
	const struct live_patch_target target = attachment_patch_target(attachment);
	receipt->slots.written = journal_left(attachment->control, JOURNAL_PINNED) +
				 journal_left(attachment->control, JOURNAL_UNLOADABLE);
	struct live_patch_held held;
	const int pinned = live_patch_do(
		&target, restore_pinned,
		&(struct restoring){.attachment = attachment, .receipt = receipt}, &held);
	if (held.one_ns > receipt->restore_stop_ns)
		receipt->restore_stop_ns = held.one_ns;
	if (pinned == -EAGAIN)
		receipt_note_obstacle(receipt, stop_world_account().obstacle);
	const int unloadable = restore_world_stopped(attachment, receipt);
	return pinned ? pinned : unloadable;
}

/* ---- code ------------------------------------------------------------------------------------ */

static int undo_code(void *context)
{
	struct restoring *restoring = context;
	struct attachment *attachment = restoring->attachment;
	struct remote remote;
	int err = remote_open(&remote, attachment->pid, &attachment->memory, &attachment->gadgets,
			      restoring->borrow_deadline_ms);
	if (err)
		return err;
	err = code_swap_undo(attachment->control, restoring->maps, &remote);
	const int closed = remote_close(&remote);
	restoring->receipt->restore_stop_ns = remote.stopped_ns;
	return err ? err : closed;
}

/* -EIO: a change is still there. If its destination were unmapped, the target would crash. */
static int drop_changes(struct attachment *attachment, const struct maps *maps,
			int borrow_deadline_ms, struct receipt *receipt)
{
	const int err = tracee_worker(
		undo_code, &(struct restoring){.attachment = attachment,
					       .receipt = receipt,
					       .maps = maps,
					       .borrow_deadline_ms = borrow_deadline_ms});
	if (err)
		return err;
	return code_swap_look(attachment->control, &attachment->memory, &attachment->images) ==
			       CODE_ORIGINAL
		       ? 0
		       : -EIO;
}

int restore_code(struct attachment *attachment, int borrow_deadline_ms, struct receipt *receipt)
{
	struct maps maps = {0};
	int err;

	receipt->functions = attachment->control->code_functions;
	/* whatever the journal says: the target may have overwritten it */
	if (!attachment->control->code[0].size)
		return 0;
	if (attachment->images.count == 0 && attachment_read_images(attachment))
		return -EIO;
	err = maps_of(&attachment->memory, &maps);
	if (err)
		return err;
	switch (code_swap_look(attachment->control, &attachment->memory, &attachment->images)) {
	case CODE_ORIGINAL: /* by an undo that did not come to its end */
		if (code_swap_is_apart(attachment->control, &maps))
			err = drop_changes(attachment, &maps, borrow_deadline_ms, receipt);
		break;
	case CODE_CHANGED:
		err = drop_changes(attachment, &maps, borrow_deadline_ms, receipt);
		break;
	case CODE_FOREIGN:
		snprintf(receipt->obstacle, sizeof(receipt->obstacle),
			 "somebody has a breakpoint, or a probe (perf, bpftrace), in the "
			 "allocator's code");
		err = -ETXTBSY;
	}
	maps_close(&maps);
	if (!err)
		receipt->functions_restored = receipt->functions;
	return err;
}
