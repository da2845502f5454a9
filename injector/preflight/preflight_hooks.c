/* SPDX-License-Identifier: MIT */
/*
 * preflight_hooks.c - is there anything to hook in the program, and what would be hooked how?
 *
 * Everything is read from outside. Enter at check_hooks.
 */
#include "preflight_checks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "elf_debug.h"
#include "entries_find.h"
#include "entries_keep.h"
#include "glibc_version.h"
#include "hook_table.h"
#include "link_map.h"
#include "nesting.h"
#include "plain_text.h"
#include "pool_operators.h"
#include "runtimes.h"

static bool defines(const struct elf_images *images, const char *symbol)
{
	remote_addr address;

	return elf_images_resolve(images, symbol, &address, NULL) == 0;
}

static int check_sanitizers(struct subject *subject)
{
	static const struct {
		const char *symbol, *name;
	} runtimes[] = {
		{"__asan_init", "AddressSanitizer"},
		{"__hwasan_init", "HWAddressSanitizer"},
		{"__msan_init", "MemorySanitizer"},
		{"__tsan_init", "ThreadSanitizer"},
	};
	size_t i;

	for (i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		if (defines(&subject->images, runtimes[i].symbol))
			return refuse(subject, PREFLIGHT_INSTRUMENTED, "profile a build without it",
				      "it is built with %s, which owns the heap", runtimes[i].name);
	}
	return 0;
}

static void find_libc(const struct elf_images *images, struct preflight *out)
{
	const struct elf_image *libc;
	remote_addr address;
	size_t i;

	if (elf_images_resolve(images, "gnu_get_libc_version", &address, &libc) == 0) {
		const int minor = glibc_version(libc->elf);

		out->libc = PREFLIGHT_LIBC_GLIBC;
		if (minor)
			snprintf(out->libc_version, sizeof(out->libc_version), "2.%d", minor);
		return;
	}
	for (i = 0; i < images->count; i++) {
		if (images->image[i].is_loader && strstr(images->image[i].path, "musl"))
			out->libc = PREFLIGHT_LIBC_MUSL;
	}
}

/*
 * True if there is no object besides the program and the vdso. (A static PIE has an r_debug, but
 * nothing fills it.)
 */
static bool is_static(const struct elf_images *images)
{
	size_t i;

	for (i = 0; i < images->count; i++) {
		if (!images->image[i].is_main && !images->image[i].is_vdso)
			return false;
	}
	return true;
}

/*
 * Is the dynamic linker still loading the program, or loading something else at the moment? Then
 * the objects found now are not the final ones.
 */
static bool is_loading(const struct subject *subject)
{
	uint64_t fingerprint;

	return !subject->images.r_debug ||
	       link_map_fingerprint(&subject->memory, subject->images.r_debug, NULL,
				    &fingerprint) == -EAGAIN;
}

static int refuse_loading(struct subject *subject)
{
	return refuse(subject, PREFLIGHT_LOADING, "try again in a moment",
		      "its dynamic linker is at work");
}

/*
 * Counts the slots to hook. Slots that lead to an inherited arena count too: attach makes them the
 * program's own again.
 */
static int count_slots(struct subject *subject, const struct allocator *allocator)
{
	const remote_addr arena = subject->out->is_inherited ? arena_find(&subject->maps) : 0;
	struct slots slots = {0};
	uint64_t size = 0;

	if (arena && memory_read_u64(&subject->memory,
				     arena + offsetof(struct hi_control, arena_size), &size))
		size = 0;
	const int err = slots_find(&subject->images, allocator, &subject->memory, arena,
				   arena + size, &slots);

	if (err)
		return err;
	subject->out->slot_count = slots.count + slots.ours;
	subject->out->foreign_slot_count = slots.foreign;
	slots_close(&slots);
	return 0;
}

static size_t count_code(const struct maps *maps)
{
	size_t count = 0;

	for (size_t i = 0; i < maps->count; i++)
		count += maps->mapping[i].executable;
	return count;
}

/*
 * Checks again with new maps. Another heapinject may have attached since the maps were read: then
 * slots lead to addresses that are not in the old maps. Or a program that has just been started may
 * have loaded its libraries since.
 */
static int check_maps_of_now(struct subject *subject)
{
	struct subject now = *subject;
	int answer = maps_read(subject->out->pid, subject->out->tid, &now.maps);
	if (answer)
		return answer;
	answer = check_earlier_session(&now);
	if (!answer && count_code(&now.maps) != count_code(&subject->maps))
		answer = refuse_loading(subject);
	maps_close(&now.maps);
	return answer;
}

/* What would tell where its malloc is. */
static void describe_remedy(const struct subject *subject, char *text, size_t size)
{
	char id[2 * BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < subject->images.count; i++) {
		const struct elf_image *image = &subject->images.image[i];

		if (!image->is_main)
			continue;
		for (size_t at = 0; at < image->build_id_size; at++)
			snprintf(id + 2 * at, 3, "%02x", image->build_id[at]);
	}
	if (*id)
		snprintf(text, size,
			 "install its debug symbols, run debuginfod-find debuginfo %s, or use a "
			 "build whose symbol table is not stripped",
			 id);
	else
		snprintf(text, size, "use a build whose symbol table (.symtab) is not stripped");
}

/* Nothing in the process is known to be malloc. */
static int refuse_unnamed(struct subject *subject)
{
	const int answer = check_maps_of_now(subject);
	char remedy[sizeof(subject->out->remedy)];

	if (answer)
		return answer;
	if (subject->out->runtimes >> HI_RUNTIME_GO & 1)
		return refuse(subject, PREFLIGHT_NO_HOOKS,
			      "use Go's own profiles (runtime/pprof, net/http/pprof)",
			      "it is a Go program without cgo, and Go's heap is its own");
	describe_remedy(subject, remedy, sizeof(remedy));
	return refuse(subject, PREFLIGHT_NO_HOOKS, remedy,
		      "no function of its allocator is known: no symbol names its malloc%s",
		      subject->out->libc == PREFLIGHT_LIBC_STATIC ? ", which is linked statically"
								  : "");
}

/* The user says that there is an allocator: to profile the rest would not be what is asked for. */
static int refuse_prefix(struct subject *subject, const char *prefix)
{
	const int answer = check_maps_of_now(subject);

	if (answer)
		return answer;
	return refuse(subject, PREFLIGHT_NO_HOOKS,
		      "look for its name with nm; of a stripped program, install the debug symbols",
		      "--prefix %s: no symbol of it, or more than one, is called %smalloc", prefix,
		      prefix);
}

static int refuse_unhookable(struct subject *subject)
{
	const int answer = check_maps_of_now(subject);

	if (answer)
		return answer;
	return refuse(subject, PREFLIGHT_NO_HOOKS,
		      "heapinject check -v PID says why, function by function",
		      "no function of its allocator can be hooked (the allocator is in %s)",
		      subject->out->allocator);
}

static void describe_allocators(struct preflight *out, const struct allocators *allocators,
				const struct entries *entries)
{
	out->allocator_count = allocators->count;
	for (unsigned hook = 0; hook < allocators->count * HI_FUNCTION_COUNT; hook++) {
		const struct allocator *allocator = hook_allocator(allocators, hook);
		struct preflight_allocator *to = &out->allocators[hook / HI_FUNCTION_COUNT];
		const enum hi_function function = hook_function(hook);

		if (!function) {
			plain_text_copy(to->prefix, sizeof(to->prefix), allocator->prefix);
			plain_text_copy(to->path, sizeof(to->path), allocator->image->path);
			to->is_main = allocator->image->is_main;
			to->family = allocator->family;
			to->is_left_alone = !allocator->original[HI_FN_MALLOC];
			to->hides_functions = allocator->hides_functions;
		}
		if (!allocator->original[function])
			continue;
		to->function[function] = (struct preflight_function){
			.address = allocator->original[function],
			.way = hooked_way_of(entries, hook),
			.covered_by = hook_function(entries->covered_by[hook]),
			.by = entries->entry[hook].by,
			.obstacle = entries->obstacle[hook],
		};
		to->entry_count += entries->entry[hook].at != 0;
	}
}

/*
 * Counts the hooks that attach would set by default; inherited changes will have been removed by
 * then.
 */
static int count_hooks(struct subject *subject, struct allocators *allocators)
{
	struct allocator *by_slot = &allocators->allocator[0];
	struct preflight *out = subject->out;
	const struct memory *memory = out->is_inherited ? NULL : &subject->memory;
	struct code_ranges ranges;
	struct entries entries;
	int err = 0;

	entries_clear(&entries);
	if (!out->status.locked_bytes)
		err = entries_find(&subject->images, &subject->maps, memory, allocators, &entries);
	if (!err) {
		(void)entries_keep(allocators, &subject->maps, &entries, &ranges);
		err = nesting_find(&subject->images, allocators, &entries);
	}
	out->entry_count = entries_count(&entries);
	unhooked_find(allocators, &entries, &out->unhooked);
	describe_allocators(out, allocators, &entries);
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (entries_have(&entries, function))
			by_slot->original[function] = 0;
	return err ? err : count_slots(subject, by_slot);
}

int check_hooks(struct subject *subject)
{
	struct preflight *out = subject->out;
	struct allocators allocators;
	int err = elf_images_read(out->pid, &subject->maps, &subject->memory, &subject->images);

	if (err == -ENOEXEC) /* during exec there is no program yet */
		return refuse(subject, PREFLIGHT_LOADING, "try again in a moment",
			      "its program is being loaded, or cannot be read");
	if (err)
		return err;
	if (is_static(&subject->images)) {
		out->libc = PREFLIGHT_LIBC_STATIC;
		err = check_maps_of_now(subject);
	} else if (is_loading(subject)) {
		return refuse_loading(subject);
	}
	if (!err)
		err = check_sanitizers(subject);
	if (err)
		return err;
	if (out->libc != PREFLIGHT_LIBC_STATIC)
		find_libc(&subject->images, out);
	out->runtimes = runtimes_find(&subject->images, out->pid, out->tid);
	elf_debug_find(&subject->images, out->pid, out->tid);
	err = allocators_find(&subject->images, &subject->memory, subject->prefixes, &allocators);
	if (err == -ENOENT)
		return refuse_unnamed(subject);
	if (err)
		return err;
	for (size_t i = 0; subject->prefixes && i < subject->prefixes->count; i++)
		if (!(allocators.prefixes_found >> i & 1))
			return refuse_prefix(subject, subject->prefixes->prefix[i]);
	plain_text_copy(out->allocator, sizeof(out->allocator),
			allocators.allocator[0].image->path);
	pool_operators_find(&subject->images, &allocators);
	err = count_hooks(subject, &allocators);
	if (err)
		return err;
	return out->entry_count || out->slot_count ? 0 : refuse_unhookable(subject);
}
