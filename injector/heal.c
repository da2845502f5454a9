/* SPDX-License-Identifier: MIT */
/* heal.c - see heal.h. */
#include "heal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHUNK_BYTES (1u << 20)
#define CHUNK_PAGES (CHUNK_BYTES / HI_PAGE_BYTES)
#define PAGE_PRESENT (3ull << 62) /* pagemap: in memory, or in swap */

struct scan {
	const struct heal_target *target;
	int pagemap; /* -1: cannot be read; then everything is */
	uint64_t *words;
	size_t healed;
};

static bool is_gate_entry(const struct heal_target *target, uint64_t value, unsigned *out_entry)
{
	const uint64_t distance = value - target->gate;
	if (distance >= (uint64_t)target->gate_count * HI_GATE_STRIDE || distance % HI_GATE_STRIDE)
		return false;
	*out_entry = (unsigned)(distance / HI_GATE_STRIDE);
	return true;
}

/* Compared once more right before it is written: the target may have stored something else since. */
static void heal_word(struct scan *scan, remote_addr at, uint64_t value, unsigned entry)
{
	uint64_t now;
	if (memory_read_u64(scan->target->memory, at, &now) || now != value)
		return;
	if (!memory_write_u64(scan->target->memory, at, scan->target->original[entry]))
		scan->healed++;
}

static void scan_bytes(struct scan *scan, remote_addr lo, size_t size)
{
	const struct iovec local = {scan->words, size}, remote = {(void *)(uintptr_t)lo, size};
	const ssize_t got = process_vm_readv(scan->target->memory->tid, &local, 1, &remote, 1, 0);
	for (ssize_t i = 0; i < got / 8; i++) {
		unsigned entry;
		const remote_addr at = lo + (remote_addr)i * 8;
		const bool ours = at >= scan->target->skip_lo && at < scan->target->skip_hi;
		if (!ours && is_gate_entry(scan->target, scan->words[i], &entry))
			heal_word(scan, at, scan->words[i], entry);
	}
}

/* Runs of resident pages in [lo, lo + pages). */
static void scan_chunk(struct scan *scan, remote_addr lo, size_t pages)
{
	uint64_t present[CHUNK_PAGES];
	const ssize_t want = (ssize_t)(pages * sizeof present[0]);
	if (scan->pagemap < 0 || pread(scan->pagemap, present, (size_t)want, (off_t)(lo / HI_PAGE_BYTES * sizeof present[0])) != want) {
		scan_bytes(scan, lo, pages * HI_PAGE_BYTES);
		return;
	}
	size_t begin = 0;
	while (begin < pages) {
		size_t end = begin;
		while (end < pages && (present[end] & PAGE_PRESENT))
			end++;
		if (end > begin)
			scan_bytes(scan, lo + begin * HI_PAGE_BYTES, (end - begin) * HI_PAGE_BYTES);
		begin = end + 1;
	}
}

static void scan_mapping(struct scan *scan, const struct mapping *mapping)
{
	for (remote_addr at = mapping->lo; at < mapping->hi; at += CHUNK_BYTES) {
		const uint64_t left = mapping->hi - at;
		scan_chunk(scan, at, (left < CHUNK_BYTES ? left : CHUNK_BYTES) / HI_PAGE_BYTES);
	}
}

int heal_pass(const struct heal_target *target, size_t *out_healed)
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
	for (size_t i = 0; i < maps.count; i++)
		if (maps.mapping[i].readable && maps.mapping[i].writable && !maps.mapping[i].shared)
			scan_mapping(&scan, &maps.mapping[i]);
	if (scan.pagemap >= 0)
		close(scan.pagemap);
	free(scan.words);
	maps_close(&maps);
	*out_healed = scan.healed;
	return 0;
}
