/* SPDX-License-Identifier: MIT */
/* watch.c - see watch.h. */
#include "watch.h"

#include <errno.h>

#include "journal.h"

static int patch_new_slots(struct attachment *attachment)
{
	const remote_addr gate = arena_gate(attachment->control);
	struct slots slots;
	int err = slots_find(&attachment->images, &attachment->allocator, &attachment->memory, gate, gate + HI_GATE_BYTES, &slots);
	if (err)
		return err;
	size_t written = 0;
	err = journal_write(attachment->control, &attachment->memory, &slots, attachment->entry, &written);
	attachment->slots_written += written;
	slots_close(&slots);
	return err;
}

/* The list of loaded objects is another than the one we know. Tables come first: a stack through new code is then walked right from its first sample on. */
static int refresh(struct attachment *attachment, struct pump *pump)
{
	int err = attachment_follow(attachment);
	if (!err)
		err = attachment_read_images(attachment);
	if (err)
		return err;
	journal_retire(attachment->control, &attachment->memory, &attachment->images);
	err = publisher_build(&attachment->publisher, &attachment->images);
	publisher_publish_tables(&attachment->publisher, &attachment->images, attachment->control, attachment->arena.tables);
	publisher_publish_regions(&attachment->publisher, &attachment->maps, attachment->pid, attachment->control);
	int sent = pump_modules(pump, &attachment->images);
	if (!err)
		err = sent;
	int patched = patch_new_slots(attachment);
	return err ? err : patched;
}

static int learn_stack(struct attachment *attachment, struct pump *pump)
{
	struct maps maps;
	int err = publisher_learn(&attachment->publisher, pump->unknown_sp);
	pump->unknown_sp = 0;
	if (!err)
		err = attachment_follow(attachment);
	if (!err)
		err = maps_read(attachment->pid, attachment->tid, &maps);
	if (err)
		return err;
	publisher_publish_regions(&attachment->publisher, &maps, attachment->pid, attachment->control);
	maps_close(&maps);
	return 0;
}

int watch_round(struct attachment *attachment, struct pump *pump)
{
	uint64_t link_map = 0;
	int learned = pump->unknown_sp ? learn_stack(attachment, pump) : 0;
	int err = link_map_fingerprint(&attachment->memory, attachment->images.r_debug, &link_map);
	if (!err && link_map == attachment->link_map)
		return learned;
	if (!err)
		err = refresh(attachment, pump);
	if (!err || err == -ENOSPC) /* the journal is full, and will be no emptier in the next round */
		attachment->link_map = link_map;
	return err == -EFAULT ? -EAGAIN : err; /* what was being read has just been unloaded */
}
