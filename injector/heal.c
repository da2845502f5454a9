/* SPDX-License-Identifier: MIT */
/* heal.c - see heal.h. */
#include "heal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pages.h"
#include "standstill.h"

#define CHUNK_BYTES (256u << 10)  /* stays in the cache from when the kernel has copied it until it has been looked at */
#define SHARED_MAX (256ull << 20) /* of all shared memory together: some tens of milliseconds of reading */
#define FILES_MAX (64ull << 20)   /* of all files that are mapped shared */
#define STANDSTILL_MS 300
#define COPIES_AT_ONCE 4096   /* some milliseconds of work */
#define COPIES_MAX (1u << 18) /* in one look: what is beyond will be found by the next */

enum place { IN_PRIVATE, IN_SHARED, IN_FILE, PLACES };

struct scan {
	const struct heal_target *target;
	struct arch_pattern pattern[2]; /* of a copy, in plain and in disguise */
	uint64_t *words;
	struct heal_copies copies;
	size_t room;
	enum place place; /* that is being scanned now */
	uint64_t left[PLACES];
};

static bool is_gate_entry(const struct heal_target *target, uint64_t value, unsigned *out_entry)
{
	const uint64_t distance = value - target->gate;
	if (distance >= (uint64_t)target->gate_count * HI_GATE_STRIDE || distance % HI_GATE_STRIDE)
		return false;
	*out_entry = (unsigned)(distance / HI_GATE_STRIDE);
	return true;
}

/* Is value a copy, in plain or in disguise? Then out_value is what should stand there. */
static bool is_copy(const struct heal_target *target, uint64_t value, uint64_t *out_value)
{
	unsigned entry;
	if (is_gate_entry(target, value, &entry)) {
		*out_value = target->original[entry];
		return true;
	}
	if (!target->pointer_guard || !is_gate_entry(target, arch_reveal_pointer(value, target->pointer_guard), &entry))
		return false;
	*out_value = arch_disguise_pointer(target->original[entry], target->pointer_guard);
	return true;
}

/* What all addresses in [lo, hi] have in common. */
static struct arch_pattern pattern_of(uint64_t lo, uint64_t hi)
{
	uint64_t mask = UINT64_MAX;
	while ((lo & mask) != (hi & mask))
		mask <<= 1;
	return (struct arch_pattern){.mask = mask, .value = lo & mask};
}

/* The disguise is a word mixed in, and then bits in another order: a mask goes that way, too. */
static struct arch_pattern disguised(struct arch_pattern plain, uint64_t guard)
{
	const uint64_t mask = arch_disguise_pointer(plain.mask, 0);
	return (struct arch_pattern){.mask = mask, .value = arch_disguise_pointer(plain.value, guard) & mask};
}

/* ---- looking ----------------------------------------------------------------------------------------------------------------------- */

static int push(struct scan *scan, remote_addr at)
{
	struct heal_copies *copies = &scan->copies;
	if (copies->count == COPIES_MAX)
		return 0;
	if (copies->count == scan->room) {
		const size_t room = scan->room ? scan->room * 2 : 64;
		remote_addr *grown = reallocarray(copies->at, room, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		copies->at = grown;
		scan->room = room;
	}
	copies->at[copies->count++] = at;
	return 0;
}

static int scan_bytes(struct scan *scan, remote_addr lo, size_t size)
{
	const struct iovec local = {scan->words, size}, remote = {(void *)(uintptr_t)lo, size};
	const ssize_t got = process_vm_readv(scan->target->memory->tid, &local, 1, &remote, 1, 0);
	const size_t count = got > 0 ? (size_t)got / 8 : 0;
	int err = 0;
	for (size_t i = 0; !err && (i = arch_find_pattern(scan->words, i, count, scan->pattern)) < count; i++) {
		uint64_t original;
		const remote_addr at = lo + (remote_addr)i * 8;
		const bool ours = at >= scan->target->skip_lo && at < scan->target->skip_hi;
		if (ours || !is_copy(scan->target, scan->words[i], &original))
			continue;
		if (scan->place == IN_FILE)
			scan->copies.in_files++;
		else
			err = push(scan, at);
	}
	return err;
}

/* A run of pages that hold something. */
static int scan_run(void *context, remote_addr lo, uint64_t size)
{
	struct scan *scan = context;
	int err = 0;
	for (uint64_t done = 0; done < size && !err; done += CHUNK_BYTES) {
		const uint64_t piece = size - done < CHUNK_BYTES ? size - done : CHUNK_BYTES;
		if (piece > scan->left[scan->place]) {
			scan->copies.unsearched += piece;
			continue;
		}
		scan->left[scan->place] -= piece;
		err = scan_bytes(scan, lo + done, piece);
	}
	return err;
}

/* Of shared memory what the program can write to; not devices, nor what is our own. */
static bool is_searched(const struct mapping *mapping, enum place *out_place)
{
	const char *path = mapping->path;
	const bool is_memory = !strcmp(path, "/dev/zero") || !strncmp(path, "/SYSV", 5) || !strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/shm/", 9);
	*out_place = !mapping->shared ? IN_PRIVATE : is_memory ? IN_SHARED : IN_FILE;
	if (!mapping->shared)
		return mapping->readable; /* read-only ones, too: what was written there may have been sealed since */
	if (!mapping->readable || !mapping->writable || !strncmp(path, "/memfd:" HI_MEMFD_NAME, sizeof "/memfd:" HI_MEMFD_NAME - 1))
		return false;
	return is_memory || (path[0] == '/' && strncmp(path, "/dev/", 5) != 0);
}

int heal_find(const struct heal_target *target, struct heal_copies *out_copies)
{
	struct maps maps;
	int err = maps_read(target->pid, target->memory->tid, &maps);
	if (err)
		return err;
	struct scan scan = {.target = target, .words = malloc(CHUNK_BYTES), .left = {UINT64_MAX, SHARED_MAX, FILES_MAX}};
	if (!scan.words) {
		maps_close(&maps);
		return -ENOMEM;
	}
	scan.pattern[0] = pattern_of(target->gate, target->gate + (uint64_t)HI_GATE_STRIDE * (target->gate_count ? target->gate_count - 1 : 0));
	scan.pattern[1] = target->pointer_guard ? disguised(scan.pattern[0], target->pointer_guard) : scan.pattern[0];
	struct pages pages;
	pages_open(&pages, target->pid, target->memory->tid);
	for (size_t i = 0; i < maps.count && !err; i++) {
		const struct mapping *mapping = &maps.mapping[i];
		if (is_searched(mapping, &scan.place))
			err = pages_walk(&pages, mapping->lo, mapping->hi, mapping->shared, scan_run, &scan);
	}
	pages_close(&pages);
	free(scan.words);
	maps_close(&maps);
	if (err)
		heal_copies_close(&scan.copies);
	else
		*out_copies = scan.copies;
	return err;
}

void heal_copies_close(struct heal_copies *copies)
{
	free(copies->at);
	*copies = (struct heal_copies){0};
}

/* ---- turning back -------------------------------------------------------------------------------------------------------------------- */

/* A hoisted call target: `mov malloc@GOT, %r12` before a loop. The register still holds it long after the slot was written back. */
int heal_registers(const struct heal_target *target, const struct tracee *tracee, struct arch_regs *out_regs, size_t *healed)
{
	struct arch_regs regs;
	int err = tracee_get_regs(tracee, &regs);
	if (err)
		return err;
	size_t changed = 0;
	for (unsigned entry = 0; entry < target->gate_count; entry++)
		changed += arch_replace_register(&regs, target->gate + (uint64_t)entry * HI_GATE_STRIDE, target->original[entry]);
	if (arch_rewind_interrupted(&regs) || changed)
		err = tracee_set_regs(tracee, &regs);
	if (err)
		return err;
	*healed += changed;
	*out_regs = regs;
	return 0;
}

struct batch {
	const struct heal_target *target;
	const remote_addr *at;
	size_t count;
	struct healed *result;
};

static int heal_words(const struct batch *batch)
{
	int err = 0;
	for (size_t i = 0; i < batch->count && !err; i++) {
		uint64_t now, original;
		if (memory_read_u64(batch->target->memory, batch->at[i], &now) || !is_copy(batch->target, now, &original))
			continue;
		err = memory_write_u64(batch->target->memory, batch->at[i], original);
		if (!err)
			batch->result->words++;
	}
	return err;
}

/* Registers first: their threads must not go on with a broken-off call, whatever fails. */
static int heal_batch(void *context)
{
	const struct batch *batch = context;
	struct standstill standstill;
	int first = standstill_begin(&standstill, batch->target->pid, STANDSTILL_MS);
	if (first)
		return first;
	for (size_t i = 0; i < standstill.count; i++) {
		struct arch_regs regs;
		const int err = heal_registers(batch->target, &standstill.tracee[i], &regs, &batch->result->registers);
		if (err && err != -ESRCH && !first)
			first = err;
	}
	const int err = heal_words(batch);
	uint64_t held_ns;
	const int ended = standstill_end(&standstill, &held_ns);
	if (held_ns > batch->result->longest_stop_ns)
		batch->result->longest_stop_ns = held_ns;
	return first ? first : err ? err : ended;
}

int heal_copies(const struct heal_target *target, const struct heal_copies *copies, struct healed *result)
{
	int err = 0;
	for (size_t done = 0; done < copies->count && !err; done += COPIES_AT_ONCE) {
		const size_t left = copies->count - done;
		struct batch batch = {target, copies->at + done, left < COPIES_AT_ONCE ? left : COPIES_AT_ONCE, result};
		err = tracee_worker(heal_batch, &batch);
	}
	return err;
}
