/* SPDX-License-Identifier: MIT */
/* heal.c - see heal.h. */
#include "heal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "standstill.h"

#define CHUNK_BYTES (1u << 20)
#define CHUNK_PAGES (CHUNK_BYTES / HI_PAGE_BYTES)
#define PAGE_PRESENT (3ull << 62) /* pagemap: in memory, or in swap */
#define PAGE_OF_FILE (1ull << 61) /* as the file has it: nothing that the target wrote */
#define STANDSTILL_MS 300
#define COPIES_AT_ONCE 4096 /* some milliseconds of work */

struct scan {
	const struct heal_target *target;
	int pagemap; /* -1: cannot be read; then everything is */
	uint64_t *words;
	struct heal_copies copies;
	size_t room;
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

/* ---- looking ----------------------------------------------------------------------------------------------------------------------- */

static int push(struct scan *scan, remote_addr at)
{
	struct heal_copies *copies = &scan->copies;
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
	int err = 0;
	for (ssize_t i = 0; i < got / 8 && !err; i++) {
		uint64_t original;
		const remote_addr at = lo + (remote_addr)i * 8;
		const bool ours = at >= scan->target->skip_lo && at < scan->target->skip_hi;
		if (!ours && is_copy(scan->target, scan->words[i], &original))
			err = push(scan, at);
	}
	return err;
}

static bool is_written(uint64_t page)
{
	return (page & PAGE_PRESENT) && !(page & PAGE_OF_FILE);
}

/* Runs of pages in [lo, lo + pages) that the target has written to. */
static int scan_chunk(struct scan *scan, remote_addr lo, size_t pages)
{
	uint64_t page[CHUNK_PAGES];
	const ssize_t want = (ssize_t)(pages * sizeof page[0]);
	if (scan->pagemap < 0 || pread(scan->pagemap, page, (size_t)want, (off_t)(lo / HI_PAGE_BYTES * sizeof page[0])) != want)
		return scan_bytes(scan, lo, pages * HI_PAGE_BYTES);
	size_t begin = 0;
	int err = 0;
	while (begin < pages && !err) {
		size_t end = begin;
		while (end < pages && is_written(page[end]))
			end++;
		if (end > begin)
			err = scan_bytes(scan, lo + begin * HI_PAGE_BYTES, (end - begin) * HI_PAGE_BYTES);
		begin = end + 1;
	}
	return err;
}

static int scan_mapping(struct scan *scan, const struct mapping *mapping)
{
	int err = 0;
	for (remote_addr at = mapping->lo; at < mapping->hi && !err; at += CHUNK_BYTES) {
		const uint64_t left = mapping->hi - at;
		err = scan_chunk(scan, at, (left < CHUNK_BYTES ? left : CHUNK_BYTES) / HI_PAGE_BYTES);
	}
	return err;
}

int heal_find(const struct heal_target *target, struct heal_copies *out_copies)
{
	struct maps maps;
	int err = maps_read(target->pid, target->memory->tid, &maps);
	if (err)
		return err;
	struct scan scan = {.target = target, .words = malloc(CHUNK_BYTES)};
	if (!scan.words) {
		maps_close(&maps);
		return -ENOMEM;
	}
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/pagemap", (int)target->pid, (int)target->memory->tid);
	scan.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	/* Read-only ones, too: what was written there may have been sealed since. */
	for (size_t i = 0; i < maps.count && !err; i++)
		if (maps.mapping[i].readable && !maps.mapping[i].shared)
			err = scan_mapping(&scan, &maps.mapping[i]);
	if (scan.pagemap >= 0)
		close(scan.pagemap);
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
