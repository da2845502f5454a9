/* SPDX-License-Identifier: MIT */
/* recover.c - see recover.h. */
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arena_reserve.h"
#include "hi_page.h"
#include "probes.h"
#include "probes_name.h"
#include "proc_file.h"

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

/*
 * The parts must be adjacent, as arena_layout places them, up to the end of the arena; parts of
 * fixed size must have that size.
 */
static bool parts_are_sound(const struct hi_control *control)
{
	const struct hi_part *parts[] = {&control->ring,  &control->stacks, &control->tables,
					 &control->near,  &control->state,  &control->stage,
					 &control->image, &control->probes, &control->gate,
					 &control->words};
	uint64_t end = HI_CONTROL_BYTES;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i]->offset != end || parts[i]->size % hi_page_bytes() ||
		    __builtin_add_overflow(end, parts[i]->size, &end))
			return false;
	return end == control->arena_size &&
	       control->near.size == HI_NEAR_PAGES_MAX * hi_page_bytes() &&
	       control->gate.size == HI_GATE_BYTES && control->words.size == HI_GATE_BYTES &&
	       control->bucket_bits < 32 && control->bucket_levels <= HI_LEVELS_MAX &&
	       control->occupancy_bits < 32 && control->known_bits < 32 &&
	       control->walk_bits < 32 && control->state.size == arena_state_layout(control).size;
}

/*
 * A slot lies in private memory of a loaded object. Anywhere else another process can have put our
 * value there, and can remove the page while a thread of the target stores to it: a file that is
 * mapped shared, and then truncated.
 */
static bool may_be_slot(const struct attachment *attachment, const struct maps *maps,
			remote_addr at)
{
	const struct mapping *mapping = maps_find(maps, at);
	return elf_images_find(&attachment->images, at) && mapping && !mapping->shared &&
	       mapping->hi - at >= sizeof(uint64_t);
}

/*
 * A journal names words in which a value of ours is to be replaced. An entry whose value was never
 * ours could name any word of the target. Such entries are skipped. A slot that is lost this way,
 * because the objects cannot be read any more, is found as any copy is.
 */
static void drop_forged_entries(const struct attachment *attachment, const struct maps *maps,
				struct hi_control *control)
{
	const uint32_t used = control->journal_count < HI_JOURNAL_CAPACITY ? control->journal_count
									   : HI_JOURNAL_CAPACITY;
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		const uint64_t distance = entry->new_value - arena_gate(control);
		if (!control->has_slots || entry->kind > HI_JOURNAL_PINNED ||
		    distance >= (uint64_t)control->gate_count * HI_GATE_STRIDE ||
		    distance % HI_GATE_STRIDE ||
		    entry->slot - control->arena < control->arena_size ||
		    !may_be_slot(attachment, maps, entry->slot))
			entry->state = HI_JOURNAL_RESTORED;
	}
}

/*
 * Every child that was forked while attached shares the memory of the journal, and a child may have
 * fewer rights than its parent. So the journal is trusted for where our slots are, but not for the
 * values to restore: those come from the words of the gate entry, of which each process has a copy
 * of its own, and for a slot that was not bound yet from its object's file, which names the stub.
 * Nor is the journal trusted for which pages are to be read-only.
 *
 * The journal that a child sees is its parent's, and the parent goes on: a slot written back in the
 * parent was not written back in the child, and an entry may have been reused for another word. But
 * a word that holds the address of a gate entry is recognized by that alone.
 */
static int rely_on_gate(const struct attachment *attachment, struct hi_control *control)
{
	const uint32_t used = control->journal_count < HI_JOURNAL_CAPACITY ? control->journal_count
									   : HI_JOURNAL_CAPACITY;
	uint64_t original[HI_GATE_ENTRIES];
	int err = 0;
	for (unsigned i = 0; i < HI_GATE_ENTRIES && !err; i++)
		err = memory_read_u64(&attachment->memory,
				      arena_words(control, i) +
					      offsetof(struct hi_gate_words, original),
				      &original[i]);
	for (uint32_t i = 0; i < used && !err; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		const struct elf_image *image = elf_images_find(&attachment->images, entry->slot);
		const uint64_t number = (entry->new_value - arena_gate(control)) / HI_GATE_STRIDE;
		if (entry->state == HI_JOURNAL_FREE || number >= control->gate_count)
			continue;
		if (!image || !entry->old_value ||
		    entry->old_value != slots_stub_at(image, entry->slot))
			entry->old_value = original[number];
		entry->read_only = entry->read_only && image && slots_is_relro(image, entry->slot);
		if (attachment->is_inherited)
			entry->state = HI_JOURNAL_WRITTEN;
	}
	return err;
}

/*
 * The injector was killed before the first mapping was grown to the size of the arena
 * (arena_reserve.h): the first mapping is all there is.
 */
static bool is_begun(const struct maps *maps, remote_addr base)
{
	const struct mapping *after = maps_find(maps, base + ARENA_FIRST_BYTES);
	return !after || !is_arena(after, base);
}

/* The last part keeps its name until the arena is unmapped. */
static bool ends_with_words(const struct hi_control *control, const struct maps *maps,
			    remote_addr base)
{
	const struct mapping *first = maps_find(maps, base + control->words.offset),
			     *last = maps_find(maps, base + control->arena_size - 1);
	return first && is_arena(first, base) && last && is_arena(last, base);
}

/*
 * A block that does not fit the mappings in which it was found is not used: everything that it says
 * is ours will be unmapped. From the state on, part sizes are known, and not every part has our
 * name: the state is anonymous, and so is a gate that was already made inert. The process that the
 * block names may be another one: one that shared this memory or still does, or the parent from
 * which this one inherited it (and which then went on, perhaps with its arena elsewhere).
 */
static bool is_sound(const struct hi_control *control, const struct maps *maps, remote_addr base)
{
	const bool is_only_begun = is_begun(maps, base);
	return control->magic == HI_WIRE_MAGIC && control->version == HI_WIRE_VERSION &&
	       (control->arena == base || !control->arena || is_only_begun) &&
	       control->gate_count <= HI_GATE_ENTRIES &&
	       control->code_word_count <= HI_CODE_WORDS_MAX &&
	       control->code_functions <= HI_GATE_ENTRIES && control->loader <= HI_LOADER_DLOPEN &&
	       parts_are_sound(control) && control->arena_size <= UINT64_MAX - base &&
	       all_is_arena(maps, base,
			    is_only_begun ? ARENA_FIRST_BYTES : control->state.offset) &&
	       (is_only_begun || ends_with_words(control, maps, base));
}

static int copy_control(struct attachment *attachment, const struct maps *maps, remote_addr base)
{
	struct hi_control *control = arena_control_new();
	if (!control)
		return -ENOMEM;
	const bool is_only_begun = is_begun(maps, base);
	int err = memory_read(&attachment->memory, base, control,
			      is_only_begun ? ARENA_FIRST_BYTES : sizeof(*control));
	if (!err && !is_sound(control, maps, base))
		err = -EPROTO;
	if (err) {
		arena_control_free(control);
		return err;
	}
	/* Values that can be computed are not taken from the block. */
	/* the block may lack it: the injector may have died between mapping and recording it */
	control->arena = base;
	if (control->loader == HI_LOADER_MAP) {
		control->payload_base = base + control->image.offset;
		control->payload_size = control->image.size;
	}
	attachment->is_inherited = arena_is_inherited(base, &attachment->memory);
	attachment->is_early = maps_find(maps, base)->shared;
	if (attachment->is_early) { /* there is nothing to undo but mappings */
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
	char link[PATH_MAX];
	DIR *dir = opendir(proc_path(attachment->pid, attachment->tid, "fd").text);
	if (!dir)
		return;
	for (const struct dirent *entry;
	     (entry = readdir(dir)) && attachment->leftover_count < LEFTOVER_MAX;) {
		const ssize_t size = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		if (size <= 0)
			continue;
		link[size] = 0;
		if (!strncmp(link, prefix, strlen(prefix)) || is_probes_name(link))
			attachment->leftover_fd[attachment->leftover_count++] = atoi(entry->d_name);
	}
	closedir(dir);
}

/*
 * An injector that was just killed has closed its files, or we would not hold the lock. But it may
 * still trace threads: the kernel detaches those last. A tracer that has no memory is exiting; a
 * debugger has memory.
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
			is_away =
				is_held_by_the_dead(&thread) || remote_is_on_its_way_back(&thread);
	}
	free(tids);
	return is_away;
}

/*
 * Waits until no thread is held by a dying injector: only then it is certain what is left. After
 * five seconds it goes on: a program may block all signals itself.
 */
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
	/*
	 * With an arena, the loader closes its own descriptors: if we closed them again, their
	 * numbers might be the application's by then.
	 */
	find_descriptors(attachment, base ? ARENA_PATH " " : ARENA_PATH);
	attachment->had_file = probes_remove_left(attachment->pid, attachment->tid);
	/* without the objects, stubs of unbound slots are not known */
	(void)!attachment_read_images(attachment);
	err = base ? copy_control(attachment, &maps, base) : -ENOENT;
	maps_close(&maps);
	return err ? err : payload_image_open(&attachment->payload);
}
