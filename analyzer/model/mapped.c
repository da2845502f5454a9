/* SPDX-License-Identifier: MIT */
/* mapped.c - see mapped.h. */
#include "mapped.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* the guard below a stack; more than that is address space that somebody has reserved */
#define GUARD_MAX (64u << 10)
#define STACK_MIN (64u << 10) /* allocators have guards, too, below smaller mappings */

/* PartitionAlloc has a guard of this size at both ends of each of its pieces of address space */
#define PARTITION_PAGE (16u << 10)
#define SUPER_PAGE (2u << 20)

/*
 * of the growth: address space that grew by more is not what became resident; of a stack little is
 */
#define FAR_MORE 2.0

#define THREADS_MIN 0.9 /* of the stacks that have come */

struct line {
	uint64_t lo, hi;
	char access[5];
	char path[64]; /* its beginning; empty: anonymous */
};

static bool parse(const char *text, struct line *line)
{
	int path_at = 0;

	*line = (struct line){0};
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %*u%*[ ]%n", &line->lo, &line->hi,
		   line->access, &path_at) != 3 ||
	    line->hi <= line->lo || strlen(line->access) != 4)
		return false;
	for (size_t i = 0; path_at && i < sizeof(line->path) - 1 && text[path_at + (int)i] &&
			   text[path_at + (int)i] != '\n';
	     i++)
		line->path[i] = text[path_at + (int)i];
	return true;
}

static bool begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_guard(const struct line *line)
{
	return !line->path[0] && begins_with(line->access, "---") &&
	       line->hi - line->lo <= GUARD_MAX;
}

/* mozjemalloc has a few pages at the beginning of each of its chunks, and a guard above them. */
static bool is_header(const struct line *line)
{
	return !line->path[0] && line->access[1] == 'w' && line->hi - line->lo < STACK_MIN;
}

static bool is_above_guard(const struct line *line, const struct line below[2])
{
	const struct line *guard = &below[0], *lower = &below[1];

	return is_guard(guard) && guard->hi == line->lo &&
	       !(is_header(lower) && lower->hi == guard->lo) &&
	       line->lo % SUPER_PAGE != PARTITION_PAGE;
}

/* below: the two lines before it, the nearer one first. */
static enum mapped_kind kind_of(const struct line *line, const struct line below[2])
{
	if (begins_with(line->path, "[heap]"))
		return MAPPED_BRK;
	if (begins_with(line->path, "[stack"))
		return MAPPED_STACK;
	if (line->access[3] == 's' || begins_with(line->path, "/memfd:") ||
	    begins_with(line->path, "/SYSV") || begins_with(line->path, "/dev/shm/"))
		return MAPPED_SHARED;
	if (line->path[0] == '/')
		return MAPPED_FILE;
	if (line->access[1] != 'w')
		return MAPPED_KINDS; /* reserved, or the kernel's */
	return is_above_guard(line, below) && line->hi - line->lo >= STACK_MIN ? MAPPED_STACK
									       : MAPPED_ANONYMOUS;
}

struct mapped mapped_of(const char *text)
{
	struct mapped mapped = {0};
	struct line line, below[2] = {0};

	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		if (!parse(text, &line))
			continue;
		const enum mapped_kind kind = kind_of(&line, below);

		if (kind != MAPPED_KINDS && !strstr(line.path, "heapinject"))
			mapped.bytes[kind] += line.hi - line.lo;
		mapped.stacks += kind == MAPPED_STACK;
		below[1] = below[0];
		below[0] = line;
		if (!strchr(text, '\n'))
			break;
	}
	return mapped;
}

void mapped_look(struct mapped *mapped, const char *text)
{
	const uint64_t threads = mapped->threads;

	*mapped = mapped_of(text);
	mapped->threads = threads;
}

/*
 * Whether there are more stacks only because there are more threads, by nine tenths: the two are
 * not looked at in the same moment.
 */
static bool are_stacks(const struct mapped *begin, const struct mapped *end)
{
	const double stacks = (double)end->stacks - (double)begin->stacks,
		     threads = (double)end->threads - (double)begin->threads;

	return stacks <= 0 || (begin->threads && threads >= THREADS_MIN * stacks);
}

static double difference(const struct mapped *begin, const struct mapped *end, int kind)
{
	return (double)end->bytes[kind] - (double)begin->bytes[kind];
}

double mapped_more(const struct mapped *begin, const struct mapped *end, enum mapped_kind kind)
{
	const double bytes = difference(begin, end, kind);

	if (kind == MAPPED_STACK && !are_stacks(begin, end))
		return 0;
	return kind == MAPPED_ANONYMOUS && !are_stacks(begin, end)
		       ? bytes + difference(begin, end, MAPPED_STACK)
		       : bytes;
}

static bool is_known(const struct mapped *mapped)
{
	uint64_t all = 0;

	for (int kind = 0; kind < MAPPED_KINDS; kind++)
		all |= mapped->bytes[kind];
	return all != 0;
}

enum mapped_kind mapped_grown(const struct mapped *begin, const struct mapped *end, double growth,
			      double part)
{
	enum mapped_kind most = MAPPED_KINDS;
	double most_bytes = part * growth;

	for (int kind = 0; kind < MAPPED_KINDS && is_known(begin) && is_known(end); kind++) {
		const double bytes = mapped_more(begin, end, (enum mapped_kind)kind);

		if (bytes > 0 && bytes >= most_bytes &&
		    (kind == MAPPED_STACK || bytes <= FAR_MORE * growth)) {
			most = (enum mapped_kind)kind;
			most_bytes = bytes;
		}
	}
	return most;
}

const char *mapped_name(enum mapped_kind kind)
{
	static const char *const names[MAPPED_KINDS] = {
		[MAPPED_BRK] = "the heap of brk",
		[MAPPED_ANONYMOUS] = "memory that it maps (mmap)",
		[MAPPED_STACK] = "stacks of threads",
		[MAPPED_SHARED] = "shared memory",
		[MAPPED_FILE] = "mapped files",
	};

	return kind < MAPPED_KINDS ? names[kind] : "";
}
