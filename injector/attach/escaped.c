/* SPDX-License-Identifier: MIT */
/* escaped.c - see escaped.h. */
#include "escaped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "pages.h"
#include "stop_world.h"

#define CHUNK_BYTES (256u << 10) /* stays in the cache between the kernel's copy and the search */
/* limit for all shared memory together: some tens of milliseconds of reading */
#define SHARED_MAX (256ull << 20)
#define FILES_MAX (64ull << 20) /* limit for all files that are mapped shared */
/* limit per inaccessible mapping where each page's pagemap word must be read */
#define RESERVED_MAX (64ull << 30)
#define PAGE_BYTES 4096u
#define OVERLAP_BYTES 7u   /* a copy may begin in the last bytes of a piece and end in the next */
#define STOP_WORLD_MS 3000 /* after this time, threads that do not stop are left alone */
#define ASK_AGAIN_NS 2000000
#define COPIES_AT_ONCE 4096 /* some milliseconds of work */
#define RUN_WORDS 512       /* adjacent words that are read and written at once */

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

static bool is_gate_entry(const struct escaped_target *target, uint64_t value, unsigned *out_entry)
{
	const uint64_t distance = value - target->gate;
	if (distance >= (uint64_t)target->gate_count * HI_GATE_STRIDE || distance % HI_GATE_STRIDE)
		return false;
	*out_entry = (unsigned)(distance / HI_GATE_STRIDE);
	return true;
}

/* Is value a copy, plain or disguised? Then out_value is its replacement. */
static bool is_copy(const struct escaped_target *target, uint64_t value, uint64_t *out_value)
{
	unsigned entry;
	if (is_gate_entry(target, value, &entry)) {
		*out_value = target->original[entry];
		return true;
	}
	if (!target->pointer_guard ||
	    !is_gate_entry(target, arch_reveal_pointer(value, target->pointer_guard), &entry))
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

/* ---- looking --------------------------------------------------------------------------------- */

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
		if (ours || !is_copy(scan->target, scan->words[i], &original))
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

static int note_unread(void *context, remote_addr at, uint64_t size)
{
	struct scan *scan = context;
	(void)at;
	scan->copies.doubts.count[DOUBT_UNREAD] += size / PAGE_BYTES;
	return 0;
}

/* The kernel's own pages of a process, and devices, hold no pointers of the program. */
static bool is_of_program(const struct mapping *mapping)
{
	return strncmp(mapping->path, "[v", 2) != 0 && strncmp(mapping->path, "/dev/", 5) != 0;
}

/*
 * The target could not read the next page; the injector may read pages that the target cannot. If
 * that fails, too, and the page is still there, its contents are unknown.
 */
static int scan_page(struct scan *scan, remote_addr at)
{
	if (!memory_read(scan->target->memory, at, scan->words, PAGE_BYTES))
		return scan_words(scan, at, PAGE_BYTES);
	if (scan->place == IN_FILE || (scan->place == IN_PRIVATE && !is_of_program(scan->mapping)))
		return 0;
	return pages_walk(scan->pages, at, at + PAGE_BYTES, scan->place == IN_SHARED, note_unread,
			  scan);
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

/* ---- fixing up ------------------------------------------------------------------------------- */

/*
 * Counts exact copies in registers that no call uses and that are not changed: the base of a
 * segment, for example.
 */
static size_t count_exact(const struct escaped_target *target, const struct arch_regs *regs)
{
	size_t count = 0;
	for (size_t at = 0; at + sizeof(uint64_t) <= sizeof(*regs); at += sizeof(uint64_t)) {
		uint64_t word;
		unsigned entry;
		memcpy(&word, (const uint8_t *)regs + at, sizeof(word));
		count += is_gate_entry(target, word, &entry);
	}
	return count;
}

static size_t count_doubtful(const struct escaped_target *target, const uint8_t *bytes, size_t size)
{
	struct doubts doubts = {0};
	doubts_find(&doubts,
		    &(struct doubts_gate){.gate = target->gate, .count = target->gate_count}, bytes,
		    size, 0, false);
	return doubts.count[DOUBT_UNALIGNED] + doubts.count[DOUBT_TAGGED];
}

/*
 * Fixes up whole words of vector registers; `state` has the kernel's layout, in which they are
 * aligned.
 */
static size_t replace_words(const struct escaped_target *target, uint8_t *state, size_t size)
{
	size_t changed = 0;
	for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
		uint64_t word;
		unsigned entry;
		memcpy(&word, state + at, sizeof(word));
		if (!is_gate_entry(target, word, &entry))
			continue;
		memcpy(state + at, &target->original[entry], sizeof(word));
		changed++;
	}
	return changed;
}

/*
 * Vector registers hold a gate address when code copies a structure that contains one: for a
 * moment, or for as long as a loop takes.
 */
static int fix_up_vectors(const struct escaped_target *target, const struct tracee *tracee,
			  struct fixed_registers *fixed_up)
{
	_Alignas(64) uint8_t state[ARCH_XSTATE_MAX];
	size_t size = sizeof(state);
	int err = tracee_get_xstate(tracee, state, &size);
	if (err)
		return err;
	const size_t changed = replace_words(target, state, size);
	fixed_up->changed += changed;
	fixed_up->doubtful += count_doubtful(target, state, size);
	return changed ? tracee_set_xstate(tracee, state, size) : 0;
}

/*
 * A hoisted call target: `mov malloc@GOT, %r12` before a loop. The register still holds it long
 * after the slot was written back.
 */
int escaped_fix_up_registers(const struct escaped_target *target, const struct tracee *tracee,
			     struct arch_regs *out_regs, struct fixed_registers *fixed_up)
{
	struct arch_regs regs;
	int err = tracee_get_regs(tracee, &regs);
	if (err)
		return err;
	size_t changed = 0;
	for (unsigned entry = 0; entry < target->gate_count; entry++)
		changed += arch_replace_register(&regs,
						 target->gate + (uint64_t)entry * HI_GATE_STRIDE,
						 target->original[entry]);
	if (changed)
		err = tracee_set_regs(tracee, &regs);
	if (err)
		return err;
	fixed_up->changed += changed;
	*out_regs = regs;
	arch_set_pc(&regs, 0); /* a pc at the first instruction of an entry is not a copy */
	fixed_up->doubtful += count_doubtful(target, (const uint8_t *)&regs, sizeof(regs)) +
			      count_exact(target, &regs);
	return fix_up_vectors(target, tracee, fixed_up);
}

struct batch {
	const struct escaped_target *target;
	const remote_addr *at;
	size_t count;
	struct fixed_up *result;
};

/* How many words from number `first` on are adjacent, up to RUN_WORDS. */
static size_t run_length(const struct batch *batch, size_t first)
{
	size_t length = 1;
	while (length < RUN_WORDS && first + length < batch->count &&
	       batch->at[first + length] == batch->at[first] + length * 8)
		length++;
	return length;
}

/* Writes adjacent copies at once. Words that are not copies are not written. */
static int write_originals(const struct batch *batch, remote_addr at, uint64_t *word, size_t count)
{
	int err = 0;
	for (size_t i = 0, end; i < count && !err; i = end + 1) {
		for (end = i; end < count && is_copy(batch->target, word[end], &word[end]);)
			end++;
		if (end == i)
			continue;
		uint64_t now;
		err = memory_write(batch->target->memory, at + i * 8, word + i, (end - i) * 8);
		if (!err)
			batch->result->words += end - i;
		else if (memory_read_u64(batch->target->memory, at + i * 8, &now))
			err = 0; /* unmapped since: a file was truncated */
	}
	return err;
}

static int fix_up_words(const struct batch *batch)
{
	uint64_t word[RUN_WORDS];
	int err = 0;
	for (size_t i = 0, length; i < batch->count && !err; i += length) {
		length = run_length(batch, i);
		if (memory_read(batch->target->memory, batch->at[i], word, length * 8)) {
			length = 1; /* a part is gone: word by word */
			if (memory_read_u64(batch->target->memory, batch->at[i], word))
				continue;
		}
		err = write_originals(batch, batch->at[i], word, length);
	}
	return err;
}

static int fix_up_batch(void *context)
{
	const struct batch *batch = context;
	struct stop_world world;
	int first = stop_world_begin(&world, batch->target->pid, STOP_WORLD_COPIES);
	if (first)
		return first;
	for (size_t i = 0; i < world.count; i++) {
		struct arch_regs regs;
		/* otherwise its registers are not seen, neither here nor in quiesce */
		const bool has_stopped = world.tracee[i].state == TRACEE_STOPPED;
		const int err = has_stopped
					? escaped_fix_up_registers(batch->target, &world.tracee[i],
								   &regs, &batch->result->registers)
					: 0;
		if (err && err != -ESRCH && !first)
			first = err;
	}
	const int err = fix_up_words(batch);
	uint64_t held_ns;
	const int ended = stop_world_end(&world, &held_ns);
	return first ? first : err ? err : ended;
}

/* Retries until all threads can be stopped. No thread is held between two tries. */
static int fix_up_when_stopped(struct batch *batch, uint64_t deadline_ns)
{
	const struct timespec pause = {.tv_nsec = ASK_AGAIN_NS};
	int err;
	while ((err = tracee_worker(fix_up_batch, batch)) == -EAGAIN &&
	       clock_now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
	return err;
}

int escaped_fix_up(const struct escaped_target *target, const struct escaped_pointers *copies,
		   struct fixed_up *result)
{
	const uint64_t deadline_ns = clock_now_ns() + STOP_WORLD_MS * 1000000ull;
	int err = 0;
	for (size_t done = 0; done < copies->count && !err; done += COPIES_AT_ONCE) {
		const size_t left = copies->count - done;
		struct batch batch = {target, copies->at + done,
				      left < COPIES_AT_ONCE ? left : COPIES_AT_ONCE, result};
		err = fix_up_when_stopped(&batch, deadline_ns);
	}
	return err;
}
