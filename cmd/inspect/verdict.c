/* SPDX-License-Identifier: MIT */
/* verdict.c - see verdict.h. */
#include "verdict.h"

#include <stdio.h>
#include <string.h>

#include "hi_runtimes.h"
#include "hi_units.h"

/* Parts of what is resident, from which on one of them is the reason. */
#define SHARE_NEEDLESS 0.3
#define SHARE_MOST 0.5
#define SHARE_LIMIT 0.85
/* Less than this may be anything. */
#define GROWTH_BYTES_A_SECOND (64u << 10)
#define GROWTH_SHARE 0.001
/* Of the free memory, from which on it is a matter of many arenas. */
#define ARENAS_MANY 4u

struct text {
	char of[HI_UNITS_TEXT_MAX];
};

static struct text size_text(double bytes)
{
	struct text text;

	hi_format_bytes(bytes, text.of, sizeof(text.of));
	return text;
}

struct facts {
	const struct verdict_facts *seen;
	const struct account *before, *now;
	uint64_t limit;
	double all; /* resident and swapped */
	double seconds;
};

static double part_bytes(const struct account *account, enum account_part part)
{
	return (double)(account->part[part].resident + account->part[part].swapped);
}

/* Without what a session has in it: that is not the program's. */
static double sum_bytes(const struct account *account)
{
	double sum = 0;

	for (unsigned i = 0; i < ACCOUNT_PARTS; i++)
		if (i != ACCOUNT_SESSION)
			sum += part_bytes(account, (enum account_part)i);
	return sum;
}

/* Of an allocator, in use: what a program holds by its blocks. */
static double held_bytes(const struct account *account)
{
	return part_bytes(account, ACCOUNT_USED) + part_bytes(account, ACCOUNT_HEADS) +
	       part_bytes(account, ACCOUNT_METADATA);
}

static double share(const struct facts *facts, double bytes)
{
	return facts->all > 0 ? bytes / facts->all : 0;
}

static double growth_of(const struct facts *facts, enum account_part part)
{
	return part_bytes(facts->now, part) - part_bytes(facts->before, part);
}

#define SAY(into, ...) snprintf(into, sizeof(into), __VA_ARGS__)

/* ---- what each is ---------------------------------------------------------------------------- */

static const char *allocator_name(const struct account *account)
{
	for (size_t i = 0; i < account->heaps.count; i++)
		if (!*account->heaps.found[i].refusal)
			return account->heaps.found[i].name;
	return "the allocator";
}

static bool is_glibc(const struct account *account)
{
	return !strncmp(allocator_name(account), "glibc", 5);
}

static void say_caches(const struct facts *facts, double bytes, struct verdict *verdict)
{
	verdict->kind = VERDICT_CACHES;
	SAY(verdict->why, "%s (%.0f%%) are freed blocks in caches of threads", size_text(bytes).of,
	    100 * share(facts, bytes));
	if (is_glibc(facts->now))
		SAY(verdict->remedy,
		    "GLIBC_TUNABLES=glibc.malloc.tcache_count=0 (or smaller than 7) at its next "
		    "start; fewer threads");
	else
		SAY(verdict->remedy, "%s has options that bound its thread caches",
		    allocator_name(facts->now));
}

static double free_in_other_arenas(const struct account *account)
{
	double sum = 0;

	for (size_t i = 1; i < account->arena_count; i++)
		sum += (double)account->arena[i].free_resident;
	return sum;
}

static void say_arenas(const struct facts *facts, double bytes, struct verdict *verdict)
{
	const struct account *now = facts->now;

	verdict->kind = VERDICT_ARENAS;
	SAY(verdict->why,
	    "%s (%.0f%%) are free memory that the allocator keeps, %s of it in its %zu arenas "
	    "for threads beside the main one",
	    size_text(bytes).of, 100 * share(facts, bytes), size_text(free_in_other_arenas(now)).of,
	    now->arena_count - 1);
	SAY(verdict->remedy,
	    "MALLOC_ARENA_MAX=2 at its next start; malloc_trim(0) would give back %s now",
	    size_text((double)now->trimmable).of);
}

static void say_free(const struct facts *facts, double bytes, struct verdict *verdict)
{
	const struct account *now = facts->now;
	const double trimmable = (double)now->trimmable;
	const char *trim = is_glibc(now) ? "malloc_trim(0)" : "a purge";

	if (is_glibc(now) && now->arena_count > ARENAS_MANY &&
	    free_in_other_arenas(now) > SHARE_MOST * bytes) {
		say_arenas(facts, bytes, verdict);
		return;
	}
	if (trimmable >= SHARE_MOST * bytes) {
		verdict->kind = VERDICT_RETENTION;
		SAY(verdict->why,
		    "%s (%.0f%%) are memory that the program has freed and the allocator keeps: "
		    "no leak; %s would give back %s",
		    size_text(bytes).of, 100 * share(facts, bytes), trim, size_text(trimmable).of);
		SAY(verdict->remedy, "%s",
		    is_glibc(now) ? "have it call malloc_trim(0) after peaks"
				  : "let it purge after peaks (jemalloc: background_thread, "
				    "dirty_decay_ms; tcmalloc: ReleaseFreeMemory)");
		return;
	}
	verdict->kind = VERDICT_FRAGMENTATION;
	SAY(verdict->why,
	    "%s (%.0f%%) are free memory between blocks in use, of which %s would give back "
	    "only %s: fragmentation, no leak",
	    size_text(bytes).of, 100 * share(facts, bytes), trim, size_text(trimmable).of);
	SAY(verdict->remedy,
	    "blocks that live long lie between those that do not (which: heapinject census PID "
	    "--pins): allocate the long-lived ones together%s; redis can move its own (CONFIG SET "
	    "activedefrag yes)",
	    is_glibc(now) ? ", or take another allocator (jemalloc, tcmalloc)" : "");
}

static void say_stacks(const struct facts *facts, double bytes, struct verdict *verdict)
{
	const struct account_sum *stacks = &facts->now->part[ACCOUNT_STACKS];

	verdict->kind = VERDICT_STACKS;
	SAY(verdict->why, "%s (%.0f%%) are stacks: %llu of %zu threads", size_text(bytes).of,
	    100 * share(facts, bytes), (unsigned long long)stacks->count, facts->now->threads);
	SAY(verdict->remedy, "fewer threads, or less on their stacks; what a stack has touched "
			     "once stays resident");
}

static void say_shared(const struct facts *facts, double bytes, struct verdict *verdict)
{
	verdict->kind = VERDICT_SHARED;
	SAY(verdict->why, "%s (%.0f%%) are shared memory (tmpfs, memfd, System V)",
	    size_text(bytes).of, 100 * share(facts, bytes));
	SAY(verdict->remedy, "it counts for every process that maps it, and stays until its files "
			     "are removed: the largest mappings are named above");
}

static void say_files(const struct facts *facts, double bytes, struct verdict *verdict)
{
	verdict->kind = VERDICT_FILES;
	SAY(verdict->why, "%s (%.0f%%) are files that it has mapped, unchanged",
	    size_text(bytes).of, 100 * share(facts, bytes));
	SAY(verdict->remedy, "nothing: the kernel takes these pages back when it needs memory");
}

/* The allocator that could not be read, or NULL. */
static const struct heap_found *unread(const struct account *account)
{
	for (size_t i = 0; i < account->heaps.count; i++)
		if (*account->heaps.found[i].refusal)
			return &account->heaps.found[i];
	return NULL;
}

static void say_mappings(const struct facts *facts, double bytes, struct verdict *verdict)
{
	const struct heap_found *found = unread(facts->now);
	const uint32_t runtimes = facts->now->runtimes;
	const struct text size = size_text(bytes);
	const double percent = 100 * share(facts, bytes);
	char heaps[256];

	verdict->kind = found && !runtimes ? VERDICT_UNKNOWN : VERDICT_MAPPINGS;
	if (runtimes)
		SAY(verdict->why,
		    "%s (%.0f%%) are anonymous mappings that are no known allocator's: here %s",
		    size.of, percent, hi_runtimes_heaps(runtimes, heaps, sizeof(heaps)));
	else if (found)
		SAY(verdict->why,
		    "%s (%.0f%%) are anonymous mappings, which may be memory of %s that could not "
		    "be read: %s",
		    size.of, percent, found->name, found->refusal);
	else
		SAY(verdict->why,
		    "%s (%.0f%%) are anonymous mappings that are no known allocator's", size.of,
		    percent);
	if (runtimes)
		hi_runtimes_describe(runtimes, verdict->remedy, sizeof(verdict->remedy));
	else
		SAY(verdict->remedy,
		    "who maps them: a runtime with a heap of its own, or a pool by mmap; strace -f "
		    "-e trace=mmap,munmap -k -p PID shows callers");
}

static void say_huge(const struct facts *facts, double bytes, struct verdict *verdict)
{
	verdict->kind = VERDICT_HUGE_PAGES;
	SAY(verdict->why,
	    "about %s (%.0f%%) are pages of zeros in transparent huge pages, which the program "
	    "never wrote to",
	    size_text(bytes).of, 100 * share(facts, bytes));
	SAY(verdict->remedy, "prctl(PR_SET_THP_DISABLE) in it, MADV_NOHUGEPAGE where it asks for "
			     "them, or \"never\" in /sys/kernel/mm/transparent_hugepage/enabled");
}

static void say_held(const struct facts *facts, double bytes, struct verdict *verdict)
{
	const struct account *now = facts->now;
	const bool is_near = facts->limit && facts->all > SHARE_LIMIT * (double)facts->limit;
	char watched[128] = "";

	if (facts->before && growth_of(facts, ACCOUNT_USED) > 0)
		SAY(watched,
		    ", %s more within %.0f s, which may come and go: --duration 60 says more",
		    size_text(growth_of(facts, ACCOUNT_USED)).of, facts->seconds);
	else if (facts->before)
		SAY(watched, ", and did not become more within %.0f s", facts->seconds);
	verdict->kind = is_near && facts->before ? VERDICT_LIMIT : VERDICT_HELD;
	SAY(verdict->why, "%s (%.0f%%) are %llu blocks that the program holds%s%s%s%s",
	    size_text(bytes).of, 100 * share(facts, bytes),
	    (unsigned long long)now->part[ACCOUNT_USED].count, watched,
	    is_near ? "; its limit is " : "", is_near ? size_text((double)facts->limit).of : "",
	    is_near ? ", hardly more than it needs" : "");
	SAY(verdict->remedy, "%s",
	    is_near ? "a higher limit; which stacks allocate: heapinject attach PID"
		    : "whether it grows slowly, and which stacks allocate: heapinject attach PID");
}

static void say_unsure(const struct facts *facts, double bytes, struct verdict *verdict)
{
	verdict->kind = VERDICT_UNKNOWN;
	SAY(verdict->why, "%s (%.0f%%) are memory of %s that is not understood",
	    size_text(bytes).of, 100 * share(facts, bytes), allocator_name(facts->now));
	SAY(verdict->remedy, "it changes too fast, or is damaged: look once more");
}

static void say_mixed(const struct facts *facts, double bytes, struct verdict *verdict)
{
	(void)bytes;
	verdict->kind = VERDICT_UNKNOWN;
	SAY(verdict->why, "no part stands out of its %s", size_text(facts->all).of);
	SAY(verdict->remedy, "see the largest parts above");
}

/* ---- which it is ----------------------------------------------------------------------------- */

typedef void say_function(const struct facts *facts, double bytes, struct verdict *verdict);
struct reason {
	double bytes, from; /* from: the share from which on it counts */
	say_function *say;
};

static void find_largest(const struct facts *facts, struct verdict *verdict)
{
	const struct account *now = facts->now;
	const struct reason needless[] = {
		{part_bytes(now, ACCOUNT_FREE), SHARE_NEEDLESS, say_free},
		{part_bytes(now, ACCOUNT_CACHED), SHARE_NEEDLESS, say_caches},
		{part_bytes(now, ACCOUNT_STACKS), SHARE_NEEDLESS, say_stacks},
		{part_bytes(now, ACCOUNT_SHARED), SHARE_NEEDLESS, say_shared},
		{part_bytes(now, ACCOUNT_ANONYMOUS), SHARE_NEEDLESS, say_mappings},
		{part_bytes(now, ACCOUNT_UNSURE), SHARE_NEEDLESS, say_unsure},
		{part_bytes(now, ACCOUNT_FILES), SHARE_MOST, say_files},
		{held_bytes(now), SHARE_MOST, say_held},
	};
	struct reason best = {0, 0, say_mixed};

	for (size_t i = 0; i < sizeof(needless) / sizeof(needless[0]); i++)
		if (share(facts, needless[i].bytes) >= needless[i].from &&
		    needless[i].bytes > best.bytes)
			best = needless[i];
	/* they are in one of the parts, whatever that is */
	if (share(facts, (double)now->huge_zero) >= SHARE_NEEDLESS)
		best = (struct reason){(double)now->huge_zero, 0, say_huge};
	best.say(facts, best.bytes, verdict);
}

static const char *const grows_as[ACCOUNT_PARTS] = {
	[ACCOUNT_USED] = "blocks that the program allocates and does not free",
	[ACCOUNT_STACKS] = "stacks of threads",
	[ACCOUNT_ANONYMOUS] = "anonymous mappings that are no known allocator's",
	[ACCOUNT_SHARED] = "shared memory",
	[ACCOUNT_FILES] = "files that it reads by mappings, which the kernel takes back",
};
static const enum verdict_kind grows_kind[ACCOUNT_PARTS] = {
	[ACCOUNT_USED] = VERDICT_GROWS,         [ACCOUNT_STACKS] = VERDICT_STACKS,
	[ACCOUNT_ANONYMOUS] = VERDICT_MAPPINGS, [ACCOUNT_SHARED] = VERDICT_SHARED,
	[ACCOUNT_FILES] = VERDICT_FILES,
};

/*
 * Blocks come and go: only what rises again and again grows. What never falls may stand still at
 * some looks: large blocks come one at a time.
 */
static bool keeps_rising(const struct verdict_facts *seen)
{
	const unsigned flat = seen->falling ? seen->steps / 4 : seen->steps / 2;

	return seen->rising >= seen->steps - flat;
}

/* False: nothing grows that could be named. */
static bool find_growth(const struct facts *facts, struct verdict *verdict)
{
	const double all = sum_bytes(facts->now) - sum_bytes(facts->before);
	const double least = GROWTH_BYTES_A_SECOND * facts->seconds;
	enum account_part most = ACCOUNT_USED;

	for (unsigned i = 0; i < ACCOUNT_PARTS; i++)
		if (grows_as[i] && growth_of(facts, (enum account_part)i) > growth_of(facts, most))
			most = (enum account_part)i;
	if (most == ACCOUNT_USED && !keeps_rising(facts->seen))
		return false;
	const double growth = growth_of(facts, most);
	if (growth < least || growth < GROWTH_SHARE * facts->all || growth < SHARE_MOST * all)
		return false;
	verdict->kind = grows_kind[most];
	SAY(verdict->why, "it grows by %s a second, %s a second of it by %s",
	    size_text(all > 0 ? all / facts->seconds : 0).of, size_text(growth / facts->seconds).of,
	    grows_as[most]);
	SAY(verdict->remedy, "%s",
	    most == ACCOUNT_USED
		    ? "a leak, a cache that fills, or a load that rises: heapinject attach PID "
		      "says which stacks, and which of them grow"
		    : "the largest mappings are named above; look once more in a minute");
	return true;
}

void verdict_find(const struct verdict_facts *seen, struct verdict *out_verdict)
{
	const struct facts facts = {
		.seen = seen,
		.before = seen->before,
		.now = seen->now,
		.limit = seen->limit,
		.all = sum_bytes(seen->now),
		.seconds =
			seen->before ? (double)(seen->now->at_ns - seen->before->at_ns) / 1e9 : 0,
	};

	*out_verdict = (struct verdict){0};
	if (!facts.before || !find_growth(&facts, out_verdict))
		find_largest(&facts, out_verdict);
}

const char *verdict_name(enum verdict_kind kind)
{
	static const char *const name[VERDICT_KINDS] = {
		[VERDICT_GROWS] = "grows",
		[VERDICT_HELD] = "held",
		[VERDICT_RETENTION] = "retention",
		[VERDICT_ARENAS] = "arenas",
		[VERDICT_FRAGMENTATION] = "fragmentation",
		[VERDICT_CACHES] = "thread-caches",
		[VERDICT_HUGE_PAGES] = "huge-pages",
		[VERDICT_STACKS] = "stacks",
		[VERDICT_MAPPINGS] = "mappings",
		[VERDICT_SHARED] = "shared-memory",
		[VERDICT_FILES] = "files",
		[VERDICT_LIMIT] = "limit",
		[VERDICT_UNKNOWN] = "unknown",
	};

	return name[kind];
}
