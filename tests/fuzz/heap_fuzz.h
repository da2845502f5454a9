/* SPDX-License-Identifier: MIT */
/*
 * heap_fuzz.h - a reader of heaps on a heap that lies. The heap is that of a real program
 * (heap_victim.c) with the allocator; the input says which words of its structures become what.
 * They are written to its memory, its heap is walked, and they are written back.
 *
 * Whatever stands there: the walk ends soon, and neither its pieces nor its units overlap.
 */
#ifndef HEAP_FUZZ_H
#define HEAP_FUZZ_H

#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>

#include "clock.h"
#include "fuzz.h"
#include "heaps.h"

#define PATCHES_MAX 16
#define WALK_NS 15000000000ull
#define KEPT_WORDS 2 /* of a block that is free: what the allocator may have there */
#define WORD sizeof(uint64_t)

struct range {
	remote_addr lo, hi;
	bool is_block;
};

/* What is to be fuzzed: in which program, and which reader has to be there. */
struct heap_fuzz {
	const char *victim;  /* beside the fuzzer */
	const char *preload; /* NULL: nothing */
	const char *name;    /* how the reader's name of the allocator begins */
	const char *object;  /* a part of the path of the file that the allocator is in */
};

static struct {
	struct memory memory;
	struct maps maps;
	struct elf_images images;
	struct pages pages;
	struct ranges {
		struct range *range;
		size_t count, room;
	} pieces, units;   /* of the last walk */
	remote_addr *word; /* those that may be changed */
	size_t words, words_room;
	struct heaps heaps;
} fuzzed;

static pid_t start_victim(const struct heap_fuzz *fuzz)
{
	char path[PATH_MAX], own[PATH_MAX], byte;
	int ready[2];
	const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	FUZZ_CHECK(length > 0 && pipe(ready) == 0);
	own[length] = 0;
	snprintf(path, sizeof(path), "%s/%s", dirname(own), fuzz->victim);
	const pid_t pid = fork();

	FUZZ_CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fuzz->preload)
			setenv("LD_PRELOAD", fuzz->preload, 1);
		dup2(ready[1], STDOUT_FILENO);
		execl(path, path, (char *)NULL);
		perror(path);
		_exit(127);
	}
	close(ready[1]);
	FUZZ_CHECK(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	return pid;
}

static void add_range(struct ranges *ranges, const struct range *range)
{
	if (ranges->count == ranges->room) {
		ranges->room = ranges->room ? 2 * ranges->room : 4096;
		ranges->range = realloc(ranges->range, ranges->room * sizeof(*ranges->range));
		FUZZ_CHECK(ranges->range);
	}
	ranges->range[ranges->count++] = *range;
}

static int add_piece(void *context, const struct heap_piece *piece)
{
	(void)context;
	add_range(&fuzzed.pieces,
		  &(struct range){
			  .lo = piece->address - piece->head_bytes,
			  .hi = piece->address + piece->bytes + piece->tail_bytes,
			  .is_block = piece->kind == HEAP_USED || piece->kind == HEAP_FREE ||
				      piece->kind == HEAP_CACHED,
		  });
	return 0;
}

static int add_unit(void *context, const struct heap_unit *unit)
{
	(void)context;
	FUZZ_CHECK(unit->lo < unit->hi);
	add_range(&fuzzed.units, &(struct range){.lo = unit->lo, .hi = unit->hi});
	return 0;
}

static int add_trimmable(void *context, remote_addr lo, remote_addr hi)
{
	(void)context;
	FUZZ_CHECK(lo < hi);
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

static void sort(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->range, ranges->count, sizeof(*ranges->range), by_address);
}

static int walk(void)
{
	const struct heap_visitor visitor = {add_piece, add_trimmable, add_unit, NULL};
	struct heap_source source = {
		.memory = &fuzzed.memory,
		.maps = &fuzzed.maps,
		.images = &fuzzed.images,
		.pages = &fuzzed.pages,
		.deadline_ns = clock_now_ns() + WALK_NS,
	};

	fuzzed.pieces.count = fuzzed.units.count = 0;
	const int err = heaps_walk(&source, &visitor, &fuzzed.heaps);

	sort(&fuzzed.pieces);
	sort(&fuzzed.units);
	return err;
}

/* ---- words that may be changed --------------------------------------------------------------- */

static const struct range *piece_of(remote_addr address)
{
	const struct ranges *pieces = &fuzzed.pieces;
	size_t low = 0, high = pieces->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (pieces->range[middle].hi <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < pieces->count && pieces->range[low].lo <= address ? &pieces->range[low] : NULL;
}

/* All but what the program has in its blocks. */
static int add_words(void *context, remote_addr at, uint64_t size)
{
	(void)context;
	for (const remote_addr end = at + size; at + WORD <= end; at += WORD) {
		const struct range *piece = piece_of(at);

		if (piece && piece->is_block && at >= piece->lo + (KEPT_WORDS + 2) * WORD)
			continue;
		if (fuzzed.words == fuzzed.words_room) {
			fuzzed.words_room = fuzzed.words_room ? 2 * fuzzed.words_room : 65536;
			fuzzed.word =
				realloc(fuzzed.word, fuzzed.words_room * sizeof(*fuzzed.word));
			FUZZ_CHECK(fuzzed.word);
		}
		fuzzed.word[fuzzed.words++] = at;
	}
	return 0;
}

static void find_words(const char *object)
{
	for (size_t i = 0; i < fuzzed.maps.count; i++) {
		const struct mapping *mapping = &fuzzed.maps.mapping[i];

		if (mapping->writable && !mapping->shared &&
		    (!*mapping->path || strcmp(mapping->path, "[heap]") == 0 ||
		     strstr(mapping->path, object)))
			FUZZ_CHECK(!pages_walk(&fuzzed.pages, mapping->lo, mapping->hi, true,
					       add_words, NULL));
	}
	FUZZ_CHECK(fuzzed.words > 1000);
}

static bool is_read(const char *name)
{
	for (size_t i = 0; i < fuzzed.heaps.count; i++)
		if (strncmp(fuzzed.heaps.found[i].name, name, strlen(name)) == 0)
			return !*fuzzed.heaps.found[i].refusal;
	return false;
}

/* Once. */
static void heap_fuzz_begin(const struct heap_fuzz *fuzz)
{
	const pid_t pid = start_victim(fuzz);

	FUZZ_CHECK(!memory_open(&fuzzed.memory, pid, pid));
	FUZZ_CHECK(!maps_read(pid, pid, &fuzzed.maps));
	FUZZ_CHECK(!elf_images_read(pid, &fuzzed.maps, &fuzzed.memory, &fuzzed.images));
	pages_open(&fuzzed.pages, pid, pid);
	FUZZ_CHECK(!walk() && is_read(fuzz->name));
	find_words(fuzz->object);
}

/* ---- one input ------------------------------------------------------------------------------- */

static remote_addr any_word(const uint8_t **data, size_t *size)
{
	return fuzzed.word[fuzz_take(data, size, 3) % fuzzed.words];
}

static uint64_t read_word(remote_addr at)
{
	uint64_t value;

	FUZZ_CHECK(!memory_read_u64(&fuzzed.memory, at, &value));
	return value;
}

static uint64_t changed(uint64_t old, const uint8_t **data, size_t *size)
{
	switch (fuzz_take(data, size, 1) % 6) {
	case 0:
		return fuzz_take(data, size, 8);
	case 1:
		return old + (uint64_t)(int64_t)(int8_t)fuzz_take(data, size, 1);
	case 2:
		return old ^ 1ull << fuzz_take(data, size, 1) % 64;
	case 3:
		return read_word(any_word(data, size));
	case 4:
		return any_word(data, size) - (fuzz_take(data, size, 1) % 4) * WORD;
	default:
		return 0;
	}
}

static void check_apart(const struct ranges *ranges)
{
	for (size_t i = 1; i < ranges->count; i++) {
		const struct range *one = &ranges->range[i - 1], *next = &ranges->range[i];

		if (one->hi > next->lo)
			fprintf(stderr, "0x%lx to 0x%lx and 0x%lx to 0x%lx overlap\n", one->lo,
				one->hi, next->lo, next->hi);
		FUZZ_CHECK(one->hi <= next->lo);
	}
}

static void heap_fuzz_walk(const uint8_t *data, size_t size)
{
	struct {
		remote_addr at;
		uint64_t old;
	} patch[PATCHES_MAX];
	unsigned count = 0;

	while (size && count < PATCHES_MAX) {
		patch[count].at = any_word(&data, &size);
		patch[count].old = read_word(patch[count].at);
		FUZZ_CHECK(!memory_write_u64(&fuzzed.memory, patch[count].at,
					     changed(patch[count].old, &data, &size)));
		count++;
	}
	const int err = walk();

	while (count-- > 0)
		FUZZ_CHECK(!memory_write_u64(&fuzzed.memory, patch[count].at, patch[count].old));
	if (err)
		fprintf(stderr, "the walk ends with %d\n", err);
	FUZZ_CHECK(!err);
	check_apart(&fuzzed.pieces);
	check_apart(&fuzzed.units);
}

/* The whole fuzzer: the members of struct heap_fuzz. */
#define HEAP_FUZZ(...)                                               \
	int LLVMFuzzerInitialize(int *argc, char ***argv);           \
	int LLVMFuzzerInitialize(int *argc, char ***argv)            \
	{                                                            \
		static const struct heap_fuzz fuzz = {__VA_ARGS__};  \
                                                                     \
		(void)argc;                                          \
		(void)argv;                                          \
		heap_fuzz_begin(&fuzz);                              \
		return 0;                                            \
	}                                                            \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
	{                                                            \
		heap_fuzz_walk(data, size);                          \
		return 0;                                            \
	}

#endif
