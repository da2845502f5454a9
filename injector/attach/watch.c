/* SPDX-License-Identifier: MIT */
/* watch.c - see watch.h. */
#include "watch.h"

#include <errno.h>

#include "clock.h"
#include "journal.h"
#include "stop_world.h"

/*
 * Libraries that may be unloaded are hooked once the list of objects has not changed for this long:
 * hooking them stops all threads, which should not happen for a plug-in that is unloaded again at
 * once.
 */
#define SETTLED_NS 200000000ull
/* after reading the mappings, pause at least this many times the CPU time that it took */
#define LEARN_SHARE 4

struct patch {
	struct attachment *attachment;
	const struct slots *slots;
	enum journal_kind which;
};

static int write_slots(const struct patcher *patcher, void *context)
{
	const struct patch *patch = context;
	struct attachment *attachment = patch->attachment;
	const struct journal journal = {attachment->control, attachment->arena.shared};
	const struct journal_plan plan = {
		.slots = patch->slots,
		.entry = attachment->entry,
		.memory = &attachment->memory,
		.maps = &attachment->maps,
		.which = patch->which,
	};
	return journal_write(&journal, &plan, patcher, &attachment->slots_written);
}

/* All threads are stopped: if the list of objects is the known one, the mappings are, too. */
static int write_unloadable(void *context)
{
	const struct patch *patch = context;
	const struct patcher patcher = patcher_for_stopped(&patch->attachment->memory);
	uint64_t link_map;
	const int err = link_map_fingerprint(&patch->attachment->memory,
					     patch->attachment->images.r_debug, NULL, &link_map);
	if (err)
		return err;
	return link_map == patch->attachment->link_map ? write_slots(&patcher, context) : -EAGAIN;
}

static bool has_any(const struct slots *slots, enum journal_kind which)
{
	for (size_t i = 0; i < slots->count; i++)
		if (slots->slot[i].pinned == (which == JOURNAL_PINNED))
			return true;
	return false;
}

static bool may_unload(const struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		if (images->image[i].dynamic && !images->image[i].is_vdso &&
		    !images->image[i].is_pinned)
			return true;
	return false;
}

static int patch_new_slots(struct attachment *attachment, enum journal_kind which)
{
	const remote_addr gate = arena_gate(attachment->control);
	struct slots slots;
	if (!attachment_needs_slots(attachment))
		return 0;
	/* reading all relocations takes milliseconds */
	if (which == JOURNAL_UNLOADABLE && !may_unload(&attachment->images))
		return 0;
	int err = slots_find(&attachment->images, &attachment->by_slot, &attachment->memory, gate,
			     gate + HI_GATE_BYTES, &slots);
	if (err)
		return err;
	const struct patch patch = {attachment, &slots, which};
	const struct live_patch_target target = attachment_patch_target(attachment);
	struct live_patch_held held;
	uint64_t held_ns;
	if (has_any(&slots, which) && which == JOURNAL_PINNED)
		err = live_patch_do(&target, write_slots, (void *)&patch, &held);
	else if (has_any(&slots, which))
		err = stop_world_do(attachment->pid, STOP_WORLD_SLOTS, write_unloadable,
				    (void *)&patch, &held_ns);
	slots_close(&slots);
	return err;
}

/*
 * Writes the slots of unloadable libraries when they are due. If some thread did not stop
 * (-EAGAIN), tries again later.
 */
static int patch_settled(struct attachment *attachment)
{
	if (!attachment->unloadable_due_ns || clock_now_ns() < attachment->unloadable_due_ns)
		return 0;
	const int err = patch_new_slots(attachment, JOURNAL_UNLOADABLE);
	attachment->unloadable_missed = err == -EAGAIN;
	attachment->unloadable_due_ns = err == -EAGAIN ? clock_now_ns() + SETTLED_NS : 0;
	return err == -EAGAIN ? 0 : err;
}

/*
 * The list of loaded objects has changed. Unwind tables are published first, so that a stack
 * through new code is walked correctly from its first sample on.
 */
static int refresh(struct attachment *attachment, struct pump *pump)
{
	int err = attachment_follow(attachment);
	if (!err)
		err = attachment_read_images(attachment);
	if (err)
		return err;
	journal_retire(&(struct journal){attachment->control, attachment->arena.shared},
		       &attachment->memory, &attachment->images);
	err = publisher_build(&attachment->publisher, &attachment->images);
	publisher_publish_tables(&attachment->publisher, &attachment->images,
				 attachment->arena.shared, attachment->arena.tables);
	publisher_publish_regions(&attachment->publisher, &attachment->maps,
				  attachment->arena.shared);
	int sent = pump_modules(pump, &attachment->images);
	if (!err)
		err = sent;
	int patched = patch_new_slots(attachment, JOURNAL_PINNED);
	/* objects loaded before the attach have settled */
	attachment->unloadable_due_ns = clock_now_ns() + (attachment->link_map ? SETTLED_NS : 0);
	return err ? err : patched;
}

static int learn_stack(struct attachment *attachment, struct pump *pump)
{
	struct maps maps;
	if (!pump->unknown_sp || clock_now_ns() < attachment->publisher.rest_until_ns)
		return 0;
	const uint64_t used_ns = clock_used_ns();
	int err = publisher_learn(&attachment->publisher, pump->unknown_sp);
	pump->unknown_sp = 0;
	if (!err)
		err = attachment_follow(attachment);
	if (!err)
		err = maps_read(attachment->pid, attachment->tid, &maps);
	if (err)
		return err;
	publisher_publish_regions(&attachment->publisher, &maps, attachment->arena.shared);
	maps_close(&maps);
	attachment->publisher.rest_until_ns =
		clock_now_ns() + LEARN_SHARE * (clock_used_ns() - used_ns);
	return 0;
}

/* Reads the list of objects, and remembers what it has read for the next round. */
static int look_anew(struct attachment *attachment, struct pump *pump)
{
	uint64_t link_map = 0;
	look_begin(&attachment->look);
	int err = link_map_fingerprint(&attachment->memory, attachment->images.r_debug,
				       &attachment->look, &link_map);
	if (!err && link_map == attachment->link_map)
		return 0;
	if (!err)
		err = refresh(attachment, pump);
	/* the journal is full, and will still be full in the next round */
	if (!err || err == -ENOSPC)
		attachment->link_map = link_map;
	else
		look_spoil(&attachment->look);
	return err;
}

int watch_round(struct attachment *attachment, struct pump *pump)
{
	const int learned = learn_stack(attachment, pump);
	const int looked = look_again(&attachment->look, &attachment->memory);
	attachment->is_unchanged = !looked;
	if (looked == -ESRCH)
		(void)!attachment_follow(attachment);
	const uint64_t link_map = attachment->link_map;
	int err = looked ? look_anew(attachment, pump) : 0;
	if (!err && link_map == attachment->link_map)
		err = patch_settled(attachment);
	if (!err)
		err = learned;
	return err == -EFAULT ? -EAGAIN : err; /* an object was unloaded while it was read */
}
