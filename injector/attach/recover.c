/* SPDX-License-Identifier: MIT */
/* recover.c - see recover.h. */
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arena_reserve.h"

#define DYING_TRIES 1000 /* five seconds, on a machine that is short of CPUs */
#define DYING_PAUSE_NS 5000000

static bool is_arena(const struct mapping *mapping, remote_addr base)
{
	return !strcmp(mapping->path, ARENA_PATH) && mapping->lo - mapping->file_offset == base;
}

static bool all_is_arena(const struct maps *maps, remote_addr base, uint64_t size)
{
	for (remote_addr at = base; at < base + size;) {
		const struct mapping *mapping = maps_find(maps, at);
		if (!mapping || !is_arena(mapping, base))
			return false;
		at = mapping->hi;
	}
	return true;
}

/* One behind the other, as arena_layout places them, up to the end of the arena; where a size is known beforehand, of that size. */
static bool parts_are_sound(const struct hi_control *control)
{
	const struct hi_part *parts[] = {&control->ring,  &control->stacks, &control->tables, &control->relays, &control->state,
					 &control->stage, &control->image,  &control->gate,   &control->words};
	uint64_t end = HI_CONTROL_BYTES;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i]->offset != end || parts[i]->size % HI_PAGE_BYTES || __builtin_add_overflow(end, parts[i]->size, &end))
			return false;
	return end == control->arena_size && control->relays.size == HI_RELAYS_MAX * HI_PAGE_BYTES && control->gate.size == HI_GATE_BYTES &&
	       control->words.size == HI_GATE_BYTES && control->bucket_bits < 32 && control->bucket_levels <= HI_LEVELS_MAX && control->occupancy_bits < 32 &&
	       control->known_bits < 32 && control->walk_bits < 32 && control->state.size == arena_state_layout(control).size;
}

/*
 * Slots lie in what an object has for itself. Elsewhere somebody else can have put our value, and take the page away while a thread of the target stores there:
 * a file that is mapped shared, and then truncated.
 */
static bool may_be_slot(const struct attachment *attachment, const struct maps *maps, remote_addr at)
{
	const struct mapping *mapping = maps_find(maps, at);
	return elf_images_find(&attachment->images, at) && mapping && !mapping->shared && mapping->hi - at >= sizeof(uint64_t);
}

/*
 * A journal tells where a value of ours is to be replaced; an entry whose value never was ours could name any word of the target. Such entries are passed over:
 * a slot that is lost so, as the objects cannot be read any more, is found as any copy is.
 */
static void drop_forged_entries(const struct attachment *attachment, const struct maps *maps, struct hi_control *control)
{
	const uint32_t used = control->journal_count < HI_JOURNAL_CAPACITY ? control->journal_count : HI_JOURNAL_CAPACITY;
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		const uint64_t distance = entry->new_value - arena_gate(control);
		if (!control->has_slots || entry->kind > HI_JOURNAL_PINNED || distance >= (uint64_t)control->gate_count * HI_GATE_STRIDE ||
		    distance % HI_GATE_STRIDE || entry->slot - control->arena < control->arena_size || !may_be_slot(attachment, maps, entry->slot))
			entry->state = HI_JOURNAL_RESTORED;
	}
}

/*
 * The journal lies in memory that every child has which was forked while attached, and a child may have fewer rights than its parent. So where a slot of ours
 * stands is its word, but not what the slot is to hold again: the words of the gate entry, of which each process has a copy of its own, name what that served,
 * and its object's file names the stub of a slot that was not bound yet. Nor which pages are to be read-only.
 *
 * The journal that a child sees is its parent's, which goes on: what was written back there was not here, and an entry may have come to tell of another word.
 * But a word that holds the address of a gate entry is known by that alone.
 */
static int rely_on_gate(const struct attachment *attachment, struct hi_control *control)
{
	const uint32_t used = control->journal_count < HI_JOURNAL_CAPACITY ? control->journal_count : HI_JOURNAL_CAPACITY;
	uint64_t original[HI_GATE_ENTRIES];
	int err = 0;
	for (unsigned i = 0; i < HI_GATE_ENTRIES && !err; i++)
		err = memory_read_u64(&attachment->memory, arena_words(control, i) + offsetof(struct hi_gate_words, original), &original[i]);
	for (uint32_t i = 0; i < used && !err; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		const struct elf_image *image = elf_images_find(&attachment->images, entry->slot);
		const uint64_t number = (entry->new_value - arena_gate(control)) / HI_GATE_STRIDE;
		if (entry->state == HI_JOURNAL_FREE || number >= control->gate_count)
			continue;
		if (!image || !entry->old_value || entry->old_value != slots_stub_at(image, entry->slot))
			entry->old_value = original[number];
		entry->read_only = entry->read_only && image && slots_is_relro(image, entry->slot);
		if (attachment->is_inherited)
			entry->state = HI_JOURNAL_WRITTEN;
	}
	return err;
}

/* Killed before the first mapping was made as large as the arena (arena_reserve.h): it is all there is. */
static bool is_begun(const struct maps *maps, remote_addr base)
{
	const struct mapping *after = maps_find(maps, base + ARENA_FIRST_BYTES);
	return !after || !is_arena(after, base);
}

/* The last part keeps its name to the end. */
static bool ends_with_words(const struct hi_control *control, const struct maps *maps, remote_addr base)
{
	const struct mapping *first = maps_find(maps, base + control->words.offset), *last = maps_find(maps, base + control->arena_size - 1);
	return first && is_arena(first, base) && last && is_arena(last, base);
}

/*
 * A block that does not fit the mappings it was found in is not followed: what it says is ours will be unmapped. From the state on sizes are known, and not
 * every part has our name: the state is anonymous, and so is a gate that was made inert already. The process it names may be another one: it shared this
 * memory, or still does, or it is the parent from which this one has inherited it (and which then went on, perhaps to another place for its arena).
 */
static bool is_sound(const struct hi_control *control, const struct maps *maps, remote_addr base)
{
	const bool is_only_begun = is_begun(maps, base);
	return control->magic == HI_WIRE_MAGIC && control->version == HI_WIRE_VERSION && (control->arena == base || !control->arena || is_only_begun) &&
	       control->gate_count <= HI_GATE_ENTRIES && control->code_word_count <= HI_CODE_WORDS_MAX && control->loader <= HI_LOADER_DLOPEN &&
	       parts_are_sound(control) && control->arena_size <= UINT64_MAX - base &&
	       all_is_arena(maps, base, is_only_begun ? ARENA_FIRST_BYTES : control->state.offset) && (is_only_begun || ends_with_words(control, maps, base));
}

static int copy_control(struct attachment *attachment, const struct maps *maps, remote_addr base)
{
	struct hi_control *control = arena_control_new();
	if (!control)
		return -ENOMEM;
	const bool is_only_begun = is_begun(maps, base);
	int err = memory_read(&attachment->memory, base, control, is_only_begun ? ARENA_FIRST_BYTES : sizeof *control);
	if (!err && !is_sound(control, maps, base))
		err = -EPROTO;
	if (err) {
		arena_control_free(control);
		return err;
	}
	/* What is known need not be believed. */
	control->arena = base; /* nor is it always told: killed between the mapping and the note of it */
	if (control->loader == HI_LOADER_MAP) {
		control->payload_base = base + control->image.offset;
		control->payload_size = control->image.size;
	}
	attachment->is_inherited = arena_is_inherited(base, &attachment->memory);
	attachment->is_early = maps_find(maps, base)->shared;
	if (attachment->is_early) { /* nor is there anything to undo but mappings */
		control->phase = HI_PHASE_LOADING;
		control->journal_count = 0;
	}
	if (is_only_begun)
		control->arena_size = ARENA_FIRST_BYTES;
	attachment->control = control;
	attachment->control_is_copy = true;
	if (!attachment->is_early)
		err = rely_on_gate(attachment, control);
	drop_forged_entries(attachment, maps, control);
	return err;
}

static void find_descriptors(struct attachment *attachment, const char *prefix)
{
	char path[64], link[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/fd", (int)attachment->pid, (int)attachment->tid);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (const struct dirent *entry; (entry = readdir(dir)) && attachment->leftover_count < LEFTOVER_MAX;) {
		const ssize_t size = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
		if (size <= 0)
			continue;
		link[size] = 0;
		if (!strncmp(link, prefix, strlen(prefix)))
			attachment->leftover_fd[attachment->leftover_count++] = atoi(entry->d_name);
	}
	closedir(dir);
}

/*
 * An injector that was just killed has closed its files, or we would not hold the lock; but threads that it held are let go of last. It is on its way out once
 * it has no memory any more; a debugger has.
 */
static bool is_held_by_the_dead(const struct proc_status *held)
{
	struct proc_status tracer;
	if (!held->tracer)
		return false;
	return proc_status_read(held->tracer, held->tracer, &tracer) || !tracer.resident_bytes;
}

static bool is_any_not_back(pid_t pid)
{
	pid_t *tids;
	size_t count;
	bool is_away = false;
	if (proc_tasks(pid, &tids, &count))
		return false;
	for (size_t i = 0; i < count && !is_away; i++) {
		struct proc_status thread;
		if (!proc_status_read(pid, tids[i], &thread))
			is_away = is_held_by_the_dead(&thread) || remote_is_on_its_way_back(&thread);
	}
	free(tids);
	return is_away;
}

/* Only then it is sure what is left. In the end we go on: a program may block all signals itself. */
static void wait_until_all_are_back(pid_t pid)
{
	const struct timespec pause = {.tv_nsec = DYING_PAUSE_NS};
	for (unsigned tries = 0; tries < DYING_TRIES && is_any_not_back(pid); tries++)
		nanosleep(&pause, NULL);
}

int recover(struct attachment *attachment)
{
	struct maps maps;
	wait_until_all_are_back(attachment->pid);
	int err = maps_read(attachment->pid, attachment->tid, &maps);
	if (err)
		return err;
	const remote_addr base = arena_find(&maps);
	/* With an arena the loader closes its own: if we closed them once more, their numbers might be the application's by then. */
	find_descriptors(attachment, base ? ARENA_PATH " " : ARENA_PATH);
	(void)!attachment_read_images(attachment); /* without its objects no slot is known to have been unbound */
	err = base ? copy_control(attachment, &maps, base) : -ENOENT;
	maps_close(&maps);
	return err ? err : payload_image_open(&attachment->payload);
}
