/* SPDX-License-Identifier: MIT */
/* escaped.c - see escaped.h. */
#include "escaped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "arch.h"
#include "hi_page.h"
#include "pages.h"

#define CHUNK_BYTES (256u << 10) /* stays in the cache between the kernel's copy and the search */
/* limit for all shared memory together: some tens of milliseconds of reading */
#define SHARED_MAX (256ull << 20)
#define FILES_MAX (64ull << 20) /* limit for all files that are mapped shared */
/* limit per inaccessible mapping where each page's pagemap word must be read */
#define RESERVED_MAX (64ull << 30)
#define PAGE_BYTES hi_page_bytes()
#define READ_TRIES 8     /* of a page that is there and cannot be read */
#define OVERLAP_BYTES 7u /* a copy may begin in the last bytes of a piece and end in the next */

enum place { IN_PRIVATE, IN_SHARED, IN_FILE, PLACES };

struct scan {
	const struct escaped_target *target;
	struct pages *pages;
	struct arch_pattern pattern[2]; /* patterns of a copy: plain and disguised */
	uint64_t *words;                /* words[-1] holds the end of the last piece */
	remote_addr end;                /* the address at which the last piece ended */
	const struct mapping *mapping;
	struct escaped_pointers copies;
	size_t room;
	enum place place; /* where the scanned piece lies */
	uint64_t left[PLACES];
};

bool escaped_is_gate_entry(const struct escaped_target *target, uint64_t value, unsigned *out_entry)
{
	const uint64_t distance = value - target->gate;
	if (distance >= (uint64_t)target->gate_count * HI_GATE_STRIDE || distance % HI_GATE_STRIDE)
		return false;
	*out_entry = (unsigned)(distance / HI_GATE_STRIDE);
	return true;
}

bool escaped_is_copy(const struct escaped_target *target, uint64_t value, uint64_t *out_value)
{
	unsigned entry;
	if (escaped_is_gate_entry(target, value, &entry)) {
		*out_value = target->original[entry];
		return true;
	}
	if (!target->pointer_guard ||
	    !escaped_is_gate_entry(target, arch_reveal_pointer(value, target->pointer_guard),
				   &entry))
		return false;
	*out_value = arch_disguise_pointer(target->original[entry], target->pointer_guard);
	return true;
}

/* The high bits that all addresses in [lo, hi] have in common. */
static struct arch_pattern pattern_of(uint64_t lo, uint64_t hi)
{
	uint64_t mask = UINT64_MAX;
	while ((lo & mask) != (hi & mask))
		mask <<= 1;
	return (struct arch_pattern){.mask = mask, .value = lo & mask};
}

/*
 * Disguising mixes in a word and then permutes the bits (arch.h). The mask's bits are permuted,
 * too.
 */
static struct arch_pattern disguised(struct arch_pattern plain, uint64_t guard)
{
	const uint64_t mask = arch_disguise_pointer(plain.mask, 0);
	return (struct arch_pattern){.mask = mask,
				     .value = arch_disguise_pointer(plain.value, guard) & mask};
}

static int push(struct scan *scan, remote_addr at)
{
	struct escaped_pointers *copies = &scan->copies;
	if (copies->count == ESCAPED_POINTERS_MAX)
		return 0;
	if (copies->count == scan->room) {
		const size_t room = scan->room ? scan->room * 2 : 64;
		remote_addr *grown = reallocarray(copies->at, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		copies->at = grown;
		scan->room = room;
	}
	copies->at[copies->count++] = at;
	return 0;
}

/*
 * Looks for copies that are not aligned words. Includes the end of the previous piece if this one
 * follows it.
 */
static void scan_shapes(struct scan *scan, remote_addr lo, size_t size)
{
	const size_t more = scan->end == lo ? OVERLAP_BYTES : 0;
	doubts_find(&scan->copies.doubts,
		    &(struct doubts_gate){scan->target->gate, scan->target->gate_count,
					  scan->target->skip_lo, scan->target->skip_hi},
		    (const uint8_t *)scan->words - more, size + more, lo - more,
		    scan->mapping->executable);
	scan->words[-1] = scan->words[size / 8 - 1];
	scan->end = lo + size;
}

/* Scans whole pages that have been read into scan->words. */
static int scan_words(struct scan *scan, remote_addr lo, size_t size)
{
	const size_t count = size / 8;
	/* for example of code that is generated elsewhere; we could not write there either */
	const bool is_view = scan->mapping->shared && !scan->mapping->writable;
	int err = 0;
	for (size_t i = 0;
	     !err && (i = arch_find_pattern(scan->words, i, count, scan->pattern)) < count; i++) {
		uint64_t original;
		const remote_addr at = lo + (remote_addr)i * 8;
		const bool ours = at >= scan->target->skip_lo && at < scan->target->skip_hi;
		if (ours || !escaped_is_copy(scan->target, scan->words[i], &original))
			continue;
		if (is_view)
			scan->copies.doubts
				.count[scan->mapping->executable ? DOUBT_CODE : DOUBT_READ_ONLY]++;
		else if (scan->place == IN_FILE)
			scan->copies.in_files++;
		else
			err = push(scan, at);
	}
	scan_shapes(scan, lo, size);
	return err;
}

static int count_page(void *context, remote_addr at, uint64_t size)
{
	(void)at;
	*(uint64_t *)context += size / PAGE_BYTES;
	return 0;
}

/* The kernel's own pages of a process, and devices, hold no pointers of the program. */
static bool is_of_program(const struct mapping *mapping)
{
	return strncmp(mapping->path, "[v", 2) != 0 && strncmp(mapping->path, "/dev/", 5) != 0;
}

static bool is_there(struct scan *scan, remote_addr at)
{
	uint64_t pages = 0;

	return pages_walk(scan->pages, at, at + PAGE_BYTES, scan->place == IN_SHARED, count_page,
			  &pages) == 0 &&
	       pages > 0;
}

/*
 * The target could not read the next page; the injector may read pages that the target cannot. If
 * that fails, too, and the page is still there, its contents are unknown: unless it was gone when
 * it was to be read, and has come back since, as the end of a heap does that shrinks and grows.
 */
static int scan_page(struct scan *scan, remote_addr at)
{
	for (int i = 0; i < READ_TRIES; i++) {
		if (!memory_read(scan->target->memory, at, scan->words, PAGE_BYTES))
			return scan_words(scan, at, PAGE_BYTES);
		if (scan->place == IN_FILE ||
		    (scan->place == IN_PRIVATE && !is_of_program(scan->mapping)) ||
		    !is_there(scan, at))
			return 0;
	}
	scan->copies.doubts.count[DOUBT_UNREAD]++;
	return 0;
}

static int scan_bytes(struct scan *scan, remote_addr lo, size_t size)
{
	int err = 0;
	for (size_t done = 0; done < size && !err;) {
		const struct iovec local = {scan->words, size - done},
				   remote = {(void *)(uintptr_t)(lo + done), size - done};
		const ssize_t got = scan->mapping->readable
					    ? process_vm_readv(scan->target->memory->tid, &local, 1,
							       &remote, 1, 0)
					    : -1;
		const size_t whole = got > 0 ? (size_t)got / PAGE_BYTES * PAGE_BYTES : 0;
		err = whole ? scan_words(scan, lo + done, whole) : scan_page(scan, lo + done);
		done += whole ? whole : PAGE_BYTES;
	}
	return err;
}

/* Scans a run of pages that hold something. */
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

/*
 * Is this mapping searched? Of shared mappings: memory, and files that the program can write to; no
 * devices, and no mappings of our own.
 */
static bool is_searched(const struct mapping *mapping, const struct pages *pages,
			enum place *out_place)
{
	const char *path = mapping->path;
	const bool is_memory = !strcmp(path, "/dev/zero") || !strncmp(path, "/SYSV", 5) ||
			       !strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/shm/", 9) ||
			       !strncmp(path, "/secretmem", 10);
	if (!strncmp(path, "/memfd:" HI_MEMFD_NAME, sizeof("/memfd:" HI_MEMFD_NAME) - 1))
		return false;
	*out_place = !mapping->shared ? IN_PRIVATE : is_memory ? IN_SHARED : IN_FILE;
	/*
	 * also what it cannot write or access: that may have been sealed since, or be made
	 * accessible again
	 */
	if (!mapping->shared)
		return mapping->readable || pages->can_scan ||
		       mapping->hi - mapping->lo <= RESERVED_MAX;
	return is_memory || (mapping->readable && mapping->writable && path[0] == '/' &&
			     strncmp(path, "/dev/", 5) != 0);
}

int escaped_find(const struct escaped_target *target, struct escaped_pointers *out_copies)
{
	struct maps maps;
	int err = maps_read(target->pid, target->memory->tid, &maps);
	if (err)
		return err;
	uint64_t *buffer = malloc(CHUNK_BYTES + sizeof(*buffer));
	if (!buffer) {
		maps_close(&maps);
		return -ENOMEM;
	}
	struct pages pages;
	struct scan scan = {.target = target,
			    .pages = &pages,
			    .words = buffer + 1,
			    .left = {UINT64_MAX, SHARED_MAX, FILES_MAX}};
	scan.pattern[0] = pattern_of(
		target->gate,
		target->gate + (uint64_t)HI_GATE_STRIDE *
				       (target->gate_count ? target->gate_count - 1 : 0));
	scan.pattern[1] = target->pointer_guard ? disguised(scan.pattern[0], target->pointer_guard)
						: scan.pattern[0];
	pages_open(&pages, target->pid, target->memory->tid);
	for (size_t i = 0; i < maps.count && !err; i++) {
		const struct mapping *mapping = scan.mapping = &maps.mapping[i];
		if (is_searched(mapping, &pages, &scan.place))
			err = pages_walk(&pages, mapping->lo, mapping->hi, mapping->shared,
					 scan_run, &scan);
	}
	scan.copies.swapped = pages.swapped;
	pages_close(&pages);
	free(buffer);
	maps_close(&maps);
	if (err)
		escaped_pointers_close(&scan.copies);
	else
		*out_copies = scan.copies;
	return err;
}

void escaped_pointers_close(struct escaped_pointers *copies)
{
	free(copies->at);
	*copies = (struct escaped_pointers){0};
}
