/* SPDX-License-Identifier: MIT */
/* allocator.c - see allocator.h. Enter at allocator_open. */
#include "allocator.h"

#include <string.h>

#include "arch.h"
#include "elf_segment.h"
#include "elf_symbols.h"
#include "hook_table.h"

/* How certain it is that a symbol's name means the function: the highest rank counts. */
enum rank { RANK_NONE, RANK_LOCAL, RANK_GLOBAL, RANK_EXPORTED };

/* Symbols by which allocators are known. */
enum mark {
	MARK_TCMALLOC, /* the same function as malloc */
	MARK_MIMALLOC, /* the same */
	/* of the same allocators, where malloc has that name itself: a program may have one, too */
	MARK_TCMALLOC_INSIDE,
	MARK_MIMALLOC_INSIDE,
	MARK_JEMALLOC, /* with the prefix */
	MARK_GLIBC,
	MARK_GLIBC_SAME, /* the same function as malloc; gperftools has that, too */
	MARK_GLIBC_START,
	MARK_MUSL,
	MARK_MUSL_SAME, /* the same function as malloc */
	MARK_COUNT
};
static const char *const marks[MARK_COUNT] = {
	[MARK_TCMALLOC] = "tc_malloc",
	[MARK_MIMALLOC] = "mi_malloc",
	[MARK_TCMALLOC_INSIDE] = "tc_version",
	[MARK_MIMALLOC_INSIDE] = "mi_version",
	[MARK_JEMALLOC] = "mallctl",
	[MARK_GLIBC] = "gnu_get_libc_version",
	[MARK_GLIBC_SAME] = "__libc_malloc",
	[MARK_GLIBC_START] = "__libc_start_main",
	[MARK_MUSL] = "__optreset",
	[MARK_MUSL_SAME] = "default_malloc",
};

/* Names of glibc's own that are not weak, as mini debug information has no weak ones. */
static const struct {
	const char *name;
	enum hi_function function;
} glibc_names[] = {
	{"__libc_calloc", HI_FN_CALLOC},
	{"__libc_memalign", HI_FN_MEMALIGN},
	{"__libc_valloc", HI_FN_VALLOC},
	{"__libc_pvalloc", HI_FN_PVALLOC},
	{"__libc_reallocarray", HI_FN_REALLOCARRAY},
	{"__posix_memalign", HI_FN_POSIX_MEMALIGN},
};
#define GLIBC_NAMES (sizeof(glibc_names) / sizeof(glibc_names[0]))

struct reader {
	struct allocator *allocator;
	size_t prefix_length;
	enum rank rank[HI_FUNCTION_COUNT];
	unsigned file[HI_FUNCTION_COUNT];     /* of local ones, as in elf_symbols.h */
	bool is_ambiguous[HI_FUNCTION_COUNT]; /* two of the same name and rank */
	bool is_doubtful[HI_FUNCTION_COUNT];  /* it may be the allocator's */
	remote_addr mark[MARK_COUNT];
	remote_addr glibc[GLIBC_NAMES];
	remote_addr usable_size;
	remote_addr chooses_malloc; /* the function that chooses it; 0 = it is not so */
	/* copies that the compiler made, by function; the first of each */
	struct {
		remote_addr at;
		char name[HI_ALLOCATOR_NAME_MAX];
	} copy[HI_FUNCTION_COUNT];
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Two functions of the same name and rank: it cannot be told which one is meant. */
static void take(struct reader *reader, enum hi_function which, const struct elf_function *function)
{
	const enum rank rank = function->is_exported ? RANK_EXPORTED
			       : function->is_local  ? RANK_LOCAL
						     : RANK_GLOBAL;
	remote_addr *original = &reader->allocator->original[which];

	if (rank < reader->rank[which])
		return;
	reader->is_ambiguous[which] =
		rank == reader->rank[which] &&
		(*original != function->address || reader->is_ambiguous[which]);
	*original = reader->is_ambiguous[which] ? 0 : function->address;
	reader->rank[which] = rank;
	reader->file[which] = function->file;
}

/* name: without the prefix */
static enum hi_function function_called(const struct reader *reader, const char *name)
{
	return reader->prefix_length ? hook_prefixed_function_of(name) : hook_function_of(name);
}

/* True: the function is a copy of another one. */
static bool take_copy(struct reader *reader, const struct elf_function *function)
{
	const size_t length = hi_copied_name(function->name);
	char name[HI_ALLOCATOR_NAME_MAX] = "";
	enum hi_function which;

	if (length <= reader->prefix_length || length >= sizeof(name))
		return length != 0;
	memcpy(name, function->name, length);
	which = function_called(reader, name + reader->prefix_length);
	if (which == HI_FN_NONE || reader->copy[which].at)
		return true;
	reader->copy[which].at = function->address;
	strncpy(reader->copy[which].name, function->name, sizeof(reader->copy[which].name) - 1);
	return true;
}

static void look_at(void *context, const struct elf_function *function)
{
	struct reader *reader = context;
	const char *name = function->name;
	enum hi_function which;

	for (unsigned mark = 0; mark < MARK_COUNT; mark++)
		if (name[0] == marks[mark][0] && strcmp(name, marks[mark]) == 0)
			reader->mark[mark] = function->address;
	if (strncmp(name, "_ZN8tcmalloc", 12) == 0)
		reader->mark[MARK_TCMALLOC_INSIDE] = function->address;
	if (strncmp(name, "_mi_", 4) == 0)
		reader->mark[MARK_MIMALLOC_INSIDE] = function->address;
	for (size_t i = 0; i < GLIBC_NAMES && name[0] == '_'; i++)
		if (strcmp(name, glibc_names[i].name) == 0)
			reader->glibc[i] = function->address;
	if (reader->prefix_length &&
	    strncmp(name, reader->allocator->prefix, reader->prefix_length) != 0)
		return;
	if (take_copy(reader, function))
		return;
	name += reader->prefix_length;
	which = function_called(reader, name);
	if (function->is_indirect)
		reader->chooses_malloc =
			which == HI_FN_MALLOC ? function->address : reader->chooses_malloc;
	else if (which != HI_FN_NONE && (!function->is_exported || reader->prefix_length))
		take(reader, which, function);
	else if (strcmp(name, marks[MARK_JEMALLOC]) == 0)
		reader->mark[MARK_JEMALLOC] = function->address;
	else if (strcmp(name, "malloc_usable_size") == 0)
		reader->usable_size = function->address;
}

/* Of what the object exports, the default version is what its users are bound to. */
static void take_exported(struct reader *reader)
{
	struct allocator *allocator = reader->allocator;

	/* some marks are no functions */
	for (unsigned mark = 0; mark < MARK_COUNT; mark++)
		if (!reader->mark[mark])
			(void)!elf_image_symbol(allocator->image, marks[mark], &reader->mark[mark],
						NULL);
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (!reader->prefix_length && !hook_table[function].prefixed_only &&
		    !elf_image_symbol(allocator->image, hook_table[function].symbol,
				      &allocator->original[function], NULL))
			reader->rank[function] = RANK_EXPORTED;
}

/*
 * A function that only one source file can call, or that is hidden, belongs to the allocator only
 * if its malloc is hidden, too. Without a prefix it may be the program's own even then, unless it
 * is of the same file.
 */
static void drop_local(struct reader *reader)
{
	struct allocator *allocator = reader->allocator;

	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++) {
		if (reader->rank[function] != RANK_LOCAL)
			continue;
		const bool may_be = reader->rank[HI_FN_MALLOC] == RANK_LOCAL &&
				    (reader->is_ambiguous[function] ||
				     (!reader->prefix_length &&
				      reader->file[function] != reader->file[HI_FN_MALLOC]));

		if (may_be || reader->rank[HI_FN_MALLOC] != RANK_LOCAL)
			allocator->original[function] = 0;
		reader->is_doubtful[function] = may_be;
	}
}

/*
 * In a program that is linked statically. What has such a name without underscores may be the
 * program's own, and anything: in glibc these are weak.
 */
static void add_glibc_names(const struct reader *reader)
{
	struct allocator *allocator = reader->allocator;

	for (size_t i = 0; i < GLIBC_NAMES; i++)
		if (reader->glibc[i])
			allocator->original[glibc_names[i].function] = reader->glibc[i];
}

/*
 * What is to be named. Without a prefix, and beside a C library's malloc, what has such a name may
 * be the program's own. A copy at the address of the function is the function.
 */
static void settle_names(const struct reader *reader)
{
	struct allocator *allocator = reader->allocator;
	const bool is_certain = reader->prefix_length || allocator->family == ALLOCATOR_JEMALLOC ||
				allocator->family == ALLOCATOR_TCMALLOC ||
				allocator->family == ALLOCATOR_MIMALLOC;

	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++) {
		const remote_addr at = reader->copy[function].at;
		char *copy = hook_table[function].gate == GATE_FREE ? allocator->free_copy
								    : allocator->copy;

		if (reader->is_doubtful[function] && !allocator->original[function] &&
		    !*allocator->doubtful && hook_table[function].gate != GATE_FREE)
			strcpy(allocator->doubtful, hook_table[function].symbol);
		if (at && at != allocator->original[function] && !*copy &&
		    (is_certain || allocator->original[function]))
			memcpy(copy, reader->copy[function].name, HI_ALLOCATOR_NAME_MAX);
	}
}

static enum allocator_family family_of(const struct reader *reader)
{
	const remote_addr function = reader->allocator->original[HI_FN_MALLOC],
			  *mark = reader->mark;

	if (mark[MARK_TCMALLOC] == function && mark[MARK_TCMALLOC_INSIDE])
		return ALLOCATOR_TCMALLOC;
	if (mark[MARK_MIMALLOC] == function && mark[MARK_MIMALLOC_INSIDE])
		return ALLOCATOR_MIMALLOC;
	if (mark[MARK_JEMALLOC])
		return ALLOCATOR_JEMALLOC;
	if (reader->prefix_length)
		return ALLOCATOR_UNKNOWN;
	/* beside a libc that is linked into the program, malloc may be another one's all the same
	 */
	if (!reader->allocator->image->is_main)
		return mark[MARK_GLIBC]  ? ALLOCATOR_GLIBC
		       : mark[MARK_MUSL] ? ALLOCATOR_MUSL
					 : ALLOCATOR_UNKNOWN;
	if (mark[MARK_GLIBC_SAME] == function && mark[MARK_GLIBC_START])
		return ALLOCATOR_GLIBC;
	return mark[MARK_MUSL_SAME] == function ? ALLOCATOR_MUSL : ALLOCATOR_UNKNOWN;
}

/*
 * A program into which everything is linked has libc's malloc and libstdc++'s operators, which are
 * wrappers of it. So where malloc is a C library's, operators are not the allocator's.
 */
static void drop_operators_of_others(struct allocator *allocator)
{
	if (allocator->family != ALLOCATOR_GLIBC && allocator->family != ALLOCATOR_MUSL)
		return;
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (hook_table[function].allocator_only)
			allocator->original[function] = 0;
}

/* ---- usable size ----------------------------------------------------------------------------- */

/*
 * malloc_usable_size is the only function of the target's libraries that the payload calls of its
 * own accord. So it is called only in allocators in which it was examined: it reads what belongs to
 * the block, and does nothing else (docs/safety.md). Wrappers of malloc may do anything in this
 * function; that of gperftools goes through a slot that is not bound yet, and aborts for blocks of
 * its emergency allocator.
 *
 * In glibc and musl a thread that frees may call it, too, be it one that never allocates. In such a
 * thread jemalloc's builds the thread's cache; mimalloc's was not examined.
 */
static void settle_usable_size(struct allocator *allocator, remote_addr usable_size)
{
	const enum allocator_family family = allocator->family;

	if (family == ALLOCATOR_UNKNOWN || family == ALLOCATOR_TCMALLOC)
		return;
	allocator->is_asked_at_free =
		usable_size && (family == ALLOCATOR_GLIBC || family == ALLOCATOR_MUSL);
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (allocator->original[function])
			allocator->usable_size[function] = usable_size;
}

/* ---- operator new ---------------------------------------------------------------------------- */

/*
 * Does operator delete only pass the block on to free? In a library it may do so through a slot,
 * whose target is not known here.
 */
static bool deletes_by_free(const struct allocator *allocator)
{
	const struct elf_image *image = allocator->image;
	const remote_addr release = allocator->original[HI_FN_DELETE],
			  free = allocator->original[HI_FN_FREE];
	const void *code;

	if (!release || !free || release == free)
		return release == free;
	if (!image->elf ||
	    elf_segment_bytes(image->elf, release - image->bias, ARCH_ENTRY_MAX, &code))
		return false;
	const remote_addr target = arch_entry_target(code, release);

	return target && (target == free || !image->is_main);
}

/*
 * Are blocks of operator new the same as blocks of malloc? Of an allocator under a prefix
 * (mi_new) that is known. Operators without one may be the program's own, and do more than the
 * allocator that is linked into the program beside them: put a header before the block, align it,
 * clear it. They are the allocator's only if operator delete does nothing but free the block:
 * jemalloc's jumps to free, mimalloc and gperftools have but one function that frees. (That of
 * gperftools' debugging variant, which tells the two kinds of blocks apart, does not.)
 */
static bool is_new_malloc(const struct allocator *allocator)
{
	const enum allocator_family family = allocator->family;

	if (family == ALLOCATOR_TCMALLOC)
		return allocator->original[HI_FN_DELETE] &&
		       allocator->original[HI_FN_DELETE] == allocator->original[HI_FN_FREE];
	return (family == ALLOCATOR_JEMALLOC || family == ALLOCATOR_MIMALLOC) &&
	       (*allocator->prefix || deletes_by_free(allocator));
}

/*
 * Throwing operator new, and the function that the hook calls instead, so that no exception passes
 * through the hook. An operator without such a function is not hooked: the hook would have nothing
 * to call. A function of another object will not do, because its blocks may be from elsewhere.
 */
static void settle_operators(struct allocator *allocator)
{
	const bool is_malloc = is_new_malloc(allocator);
	const remote_addr *original = allocator->original;

	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++) {
		const struct hook *hook = &hook_table[function];

		if (hook->plain == HI_FN_NONE || !original[function])
			continue;
		/* an allocator that has operators has both variants, a program hardly ever */
		if (is_malloc && original[hook->plain] &&
		    (hook->nothrow == HI_FN_NONE || original[hook->nothrow]))
			allocator->plain[function] = original[hook->plain];
		else if (hook->nothrow != HI_FN_NONE && original[hook->nothrow])
			allocator->nothrow[function] = original[hook->nothrow];
		else
			/* a wrapper of malloc, most likely, which is hooked itself */
			allocator->original[function] = 0;
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool allocator_open(const struct elf_image *image, const char *prefix, size_t *room,
		    struct allocator *out_allocator)
{
	struct reader reader = {.allocator = out_allocator, .prefix_length = strlen(prefix)};

	*out_allocator = (struct allocator){.image = image};
	if (reader.prefix_length >= sizeof(out_allocator->prefix))
		return false;
	memcpy(out_allocator->prefix, prefix, reader.prefix_length);
	elf_symbols_visit(image, room, look_at, &reader);
	take_exported(&reader);
	drop_local(&reader);
	out_allocator->family = family_of(&reader);
	if (out_allocator->family == ALLOCATOR_GLIBC && image->is_main) {
		add_glibc_names(&reader);
		/* glibc has had none for new programs since 2.26 */
		out_allocator->original[HI_FN_CFREE] = 0;
	}
	settle_names(&reader);
	drop_operators_of_others(out_allocator);
	settle_usable_size(out_allocator, reader.usable_size);
	settle_operators(out_allocator);
	out_allocator->malloc = out_allocator->original[HI_FN_MALLOC];
	/* where the chosen one is, or what a copy takes, is not known: it is only named */
	if (!reader.chooses_malloc)
		reader.chooses_malloc = reader.copy[HI_FN_MALLOC].at;
	if (!out_allocator->malloc && *prefix && reader.chooses_malloc) {
		memset(out_allocator->original, 0, sizeof(out_allocator->original));
		out_allocator->malloc = reader.chooses_malloc;
		out_allocator->family = ALLOCATOR_UNKNOWN;
	}
	return out_allocator->malloc != 0;
}
