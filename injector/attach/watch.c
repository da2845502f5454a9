/* SPDX-License-Identifier: MIT */
/* watch.c - see watch.h. */
#include "watch.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "journal.h"
#include "stop_world.h"
#include "watch_code.h"

/*
 * A library that may be unloaded is hooked once it has been there for this long: hooking it stops
 * all threads, which should not happen for a plug-in that is unloaded again at once.
 */
#define SETTLED_NS 50000000ull
/* since when objects are there that were found at the attach: they have settled */
#define AT_ATTACH_NS 1u
/* reads the objects again if some were loaded meanwhile */
#define READ_TRIES 3
#define FINGERPRINT_FACTOR 0x9e3779b97f4a7c15ull
/* after reading the mappings, pause at least this many times the CPU time that it took */
#define LEARN_SHARE 4

struct patch {
	struct attachment *attachment;
	const struct slots *slots;
	enum journal_kind which;
};

/* How many objects were loaded so far; 0 = not known. */
static uint64_t read_loads(const struct attachment *attachment, struct look *look)
{
	uint64_t loads = 0;
	if (!attachment->load_count ||
	    look_read(look, &attachment->memory, attachment->load_count, &loads, sizeof(loads)))
		return 0;
	return loads;
}

/*
 * That of the list of loaded objects, and of how many were loaded so far: an object that is
 * unloaded and loaded again looks the same in the list.
 */
static int fingerprint(const struct attachment *attachment, struct look *look,
		       uint64_t *out_fingerprint)
{
	const uint64_t loads = read_loads(attachment, NULL);
	uint64_t link_map;
	const int err = link_map_fingerprint(&attachment->memory, attachment->images.r_debug, look,
					     &link_map);
	if (!err)
		*out_fingerprint = link_map ^ (loads + 1) * FINGERPRINT_FACTOR;
	return err;
}

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
	const int err = fingerprint(patch->attachment, NULL, &link_map);
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

/* When the object was seen first (clock.h); 0 = it is none that may be unloaded. */
static uint64_t since(const struct unloadable *known, const struct elf_image *image)
{
	for (size_t i = 0; i < known->count; i++)
		if (known->object[i].lo == image->lo && known->object[i].inode == image->inode &&
		    known->object[i].device == image->device)
			return known->object[i].since_ns;
	return 0;
}

/* Names the allocators of objects that have come, which are not hooked: they may go again. */
static int name_allocators(struct attachment *attachment, struct pump *pump)
{
	const struct elf_images *images = &attachment->images;
	struct unhooked_list *list = &attachment->unhooked, more = {0};
	struct allocators allocators = attachment->allocators;
	const size_t known = list->count;
	bool *is_new = calloc(images->count + 1, sizeof(*is_new));
	if (!is_new)
		return -ENOMEM;
	for (size_t i = 0; i < images->count; i++)
		is_new[i] = since(&attachment->unloadable, &images->image[i]) >
			    attachment->unloadable.named_ns;
	const int err = allocators_find_more(images, is_new, &attachment->memory,
					     attachment->prefixes, &allocators);
	free(is_new);
	if (err)
		return err;
	attachment->unloadable.named_ns = clock_now_ns();
	unhooked_add(&allocators, attachment->allocators.count, list);
	for (size_t i = known; i < list->count; i++)
		more.unhooked[more.count++] = list->unhooked[i];
	return pump_unhooked(pump, &more);
}

/*
 * Writes the slots of unloadable libraries when they are due. If some thread did not stop
 * (-EAGAIN), tries again later.
 */
static int patch_settled(struct attachment *attachment, struct pump *pump)
{
	if (attachment->is_blurred || !attachment->unloadable_due_ns ||
	    clock_now_ns() < attachment->unloadable_due_ns)
		return 0;
	const int err = patch_new_slots(attachment, JOURNAL_UNLOADABLE);
	attachment->unloadable_missed = err == -EAGAIN;
	attachment->unloadable_due_ns = err == -EAGAIN ? clock_now_ns() + SETTLED_NS : 0;
	if (err)
		return err == -EAGAIN ? 0 : err;
	attachment->unloadable.hooked_ns = clock_now_ns();
	return name_allocators(attachment, pump);
}

/*
 * Of the objects in the list the last ones were loaded last. So if some were loaded since the last
 * look, only so many of the last ones can be new, though they look like objects of before.
 */
static bool may_be_new(const struct elf_image *image, size_t objects, uint64_t added)
{
	return image->link_order >= 0 && (size_t)image->link_order + added >= objects;
}

/*
 * Notes since when each object that may be unloaded has been there, and when those are due that
 * are not hooked yet.
 */
static int note_unloadable(struct attachment *attachment, uint64_t loads)
{
	const struct elf_images *images = &attachment->images;
	const struct unloadable *known = &attachment->unloadable;
	const uint64_t new_ns = known->object ? clock_now_ns() : AT_ATTACH_NS;
	struct unloadable noted = {
		.loads = loads, .hooked_ns = known->hooked_ns, .named_ns = known->named_ns};
	size_t objects = 0;
	noted.object = calloc(images->count + 1, sizeof(*noted.object));
	if (!noted.object)
		return -ENOMEM;
	for (size_t i = 0; i < images->count; i++)
		objects += images->image[i].link_order >= 0;
	attachment->unloadable_due_ns = 0;
	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];
		uint64_t since_ns = since(known, image);
		if (!image->dynamic || image->is_vdso || image->is_pinned)
			continue;
		if (!since_ns || may_be_new(image, objects + images->unread, loads - known->loads))
			since_ns = new_ns;
		noted.object[noted.count++] = (struct unloadable_object){image->lo, image->inode,
									 image->device, since_ns};
		if (since_ns > noted.hooked_ns &&
		    (!attachment->unloadable_due_ns ||
		     since_ns + SETTLED_NS < attachment->unloadable_due_ns))
			attachment->unloadable_due_ns = since_ns + SETTLED_NS;
	}
	free(attachment->unloadable.object);
	attachment->unloadable = noted;
	return 0;
}

/*
 * Is an object mapped that is not in the list: not yet, or no longer? One that has been there for
 * a while was mapped by something else.
 */
static bool is_any_on_its_way(const struct attachment *attachment)
{
	const struct elf_images *images = &attachment->images;
	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];
		const uint64_t since_ns = since(&attachment->unloadable, image);
		if (image->dynamic && !image->is_listed && !image->is_vdso &&
		    (!since_ns || clock_now_ns() - since_ns < SETTLED_NS))
			return true;
	}
	return false;
}

/*
 * The images, and how many objects had been loaded when they were read. They are those of that
 * moment only if the list is the same before and after, and the dynamic linker was not at work: it
 * maps an object before it counts it.
 */
static int read_objects(struct attachment *attachment, struct pump_objects *out_objects)
{
	int err = 0;
	*out_objects = (struct pump_objects){.images = &attachment->images, .are_blurred = true};
	for (int i = 0; i < READ_TRIES && out_objects->are_blurred && !err; i++) {
		uint64_t before = 0, after = 0;
		const int begin = fingerprint(attachment, NULL, &before);
		out_objects->loads = read_loads(attachment, NULL);
		err = attachment_read_images(attachment);
		const int end = fingerprint(attachment, NULL, &after);
		out_objects->are_blurred =
			begin || end || before != after || is_any_on_its_way(attachment);
	}
	attachment->is_blurred = out_objects->are_blurred;
	return err;
}

/*
 * The list of loaded objects has changed. Unwind tables are published first, so that a stack
 * through new code is walked correctly from its first sample on. Nothing that is kept is learned
 * from objects that changed while they were read: the next round reads them again.
 */
static int refresh(struct attachment *attachment, struct pump *pump)
{
	struct pump_objects objects;
	int err = attachment_follow(attachment);
	const int sent = pump_settle_modules(pump);
	if (!err)
		err = read_objects(attachment, &objects);
	if (err)
		return err;
	journal_retire(&(struct journal){attachment->control, attachment->arena.shared},
		       &attachment->memory, &attachment->images);
	if (!objects.are_blurred)
		err = publisher_build(&attachment->publisher, &attachment->images);
	watch_code_begin(attachment);
	publisher_publish_tables(&attachment->publisher, &attachment->images,
				 attachment->arena.shared, attachment->arena.tables);
	publisher_publish_regions(&attachment->publisher, &attachment->maps,
				  attachment->arena.shared);
	const int followed = pump_follow_modules(pump, &objects);
	if (!err)
		err = sent ? sent : followed;
	int patched = patch_new_slots(attachment, JOURNAL_PINNED);
	const int noted = note_unloadable(attachment, objects.loads);
	return err ? err : patched ? patched : noted;
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
	(void)read_loads(attachment, &attachment->look);
	int err = fingerprint(attachment, &attachment->look, &link_map);
	if (!err && link_map == attachment->link_map && !attachment->is_blurred)
		return 0;
	if (!err)
		err = refresh(attachment, pump);
	/* the journal is full, and will still be full in the next round */
	if (!err || err == -ENOSPC)
		attachment->link_map = link_map;
	if ((err && err != -ENOSPC) || attachment->is_blurred)
		look_spoil(&attachment->look);
	return err;
}

int watch_begin(struct attachment *attachment)
{
	attachment->unloadable.named_ns = AT_ATTACH_NS;
	return note_unloadable(attachment, read_loads(attachment, NULL));
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
	watch_code_round(attachment, pump);
	if (!err && link_map == attachment->link_map)
		err = patch_settled(attachment, pump);
	if (!err)
		err = learned;
	return err == -EFAULT ? -EAGAIN : err; /* an object was unloaded while it was read */
}
