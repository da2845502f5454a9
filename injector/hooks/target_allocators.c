/* SPDX-License-Identifier: MIT */
/* target_allocators.c - see target_allocators.h. Enter at allocators_find. */
#include "target_allocators.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch.h"
#include "elf_debug.h"
#include "elf_section.h"
#include "elf_symbols.h"
#include "hook_table.h"
#include "slots.h"

#define PREFIXES_MAX (8u + HI_PREFIXES_MAX)

struct search {
	const struct elf_images *images;
	const struct hi_prefixes *asked;
	struct allocators allocators;
	size_t room; /* bytes of symbol tables that may still be read */
};

/* Is it the payload, loaded by dlopen into a parent of this process? */
static bool is_ours(const struct elf_image *image)
{
	return strncmp(image->path, "/memfd:" HI_MEMFD_NAME, sizeof("/memfd:" HI_MEMFD_NAME) - 1) ==
	       0;
}

static bool exports_malloc(const struct elf_image *image)
{
	remote_addr address;

	return elf_image_symbol(image, hook_table[HI_FN_MALLOC].symbol, &address, NULL) == 0;
}

static const struct elf_image *main_image(const struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		if (images->image[i].is_main)
			return &images->image[i];
	return NULL;
}

/* ---- the first ------------------------------------------------------------------------------- */

/*
 * The functions that the allocator's object lacks, as other objects find them (libc's reallocarray,
 * in a program with jemalloc). Not those of an object loaded by dlopen: the rest of the program
 * would not be bound to it, and it may be unloaded. Nor those of the program: what is called cfree
 * there may be anything. Nor operators: those of another object are wrappers of malloc.
 */
static void add_functions_of_others(struct search *search, struct allocator *allocator)
{
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++) {
		const struct elf_image *image;
		remote_addr address;

		if (hook_table[function].allocator_only ||
		    elf_images_resolve(search->images, hook_table[function].symbol, &address,
				       &image))
			continue;
		if (image != allocator->image && image->is_pinned && !image->is_main)
			allocator->original[function] = address;
	}
}

static bool imports(const struct elf_image *image, const char *name)
{
	const uint32_t count = image->dynamic ? elf_dynamic_symbol_count(image->dynamic) : 0;
	Elf64_Sym symbol;

	for (uint32_t i = 1; i < count; i++) {
		const char *found = elf_dynamic_symbol(image->dynamic, i, &symbol);

		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

/*
 * Is it in the program itself, and has functions that others have not? A libc's malloc has none
 * beside those that every program may call.
 */
static bool is_linked_in(const struct allocator *allocator)
{
	return allocator->image->is_main && allocator->image->elf &&
	       allocator->family != ALLOCATOR_GLIBC && allocator->family != ALLOCATOR_MUSL;
}

static bool hides_functions(const struct allocator *allocator)
{
	return is_linked_in(allocator) && !elf_debug_has_symbols(allocator->image);
}

/*
 * Code that exceptions may pass, which C has not, shows that a program is C++. The operators beside
 * a libc's malloc call it.
 */
static bool hides_operators(const struct allocator *allocator)
{
	const struct elf_image *image = allocator->image;
	GElf_Shdr header;

	return is_linked_in(allocator) && !allocator->original[HI_FN_NEW] &&
	       (image->debug.is_partial || !elf_debug_has_symbols(image)) &&
	       elf_section_find(image->elf, ".gcc_except_table", &header) &&
	       !imports(image, hook_table[HI_FN_NEW].symbol);
}

static int find_first(struct search *search)
{
	struct allocator *first = &search->allocators.allocator[0];
	const struct elf_image *image;
	remote_addr address;

	/* a program without dynamic symbols has what is linked into it */
	if (elf_images_resolve(search->images, hook_table[HI_FN_MALLOC].symbol, &address, &image))
		image = main_image(search->images);
	if (!image || !allocator_open(image, "", &search->room, first))
		return -ENOENT;
	first->hides_operators = hides_operators(first);
	add_functions_of_others(search, first);
	search->allocators.count = 1;
	return 0;
}

/* ---- the others ------------------------------------------------------------------------------ */

/* Makes an allocator one that is only named. */
static void leave_alone(struct allocator *allocator)
{
	memset(allocator->original, 0, sizeof(allocator->original));
}

/* The allocator whose malloc this is; NULL: none. */
static struct allocator *find_by_malloc(struct search *search, remote_addr malloc)
{
	for (size_t i = 0; i < search->allocators.count; i++)
		if (search->allocators.allocator[i].malloc == malloc)
			return &search->allocators.allocator[i];
	return NULL;
}

/* Adds what one allocator has under a second prefix (tc_new of gperftools). */
static void add_functions(struct allocator *to, const struct allocator *from)
{
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++) {
		if (to->original[function] || !from->original[function])
			continue;
		to->original[function] = from->original[function];
		to->plain[function] = from->plain[function];
		to->nothrow[function] = from->nothrow[function];
		to->usable_size[function] = from->usable_size[function];
	}
}

/* Number of a prefix that was asked for; asked->count: it was not. */
static size_t number_asked(const struct hi_prefixes *asked, const char *prefix)
{
	size_t number = 0;

	while (number < asked->count && strcmp(asked->prefix[number], prefix) != 0)
		number++;
	return number;
}

static bool is_known(const char *prefix)
{
	char name[HI_ALLOCATOR_NAME_MAX + sizeof("malloc")];

	snprintf(name, sizeof(name), "%s%s", prefix, hook_table[HI_FN_MALLOC].symbol);
	return hi_allocator_prefix(name) != 0;
}

/* Drops functions that only some allocators have, unless it is known to be one of these. */
static void drop_unknown(struct allocator *allocator)
{
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (hook_table[function].allocator_only &&
		    (allocator->family != ALLOCATOR_JEMALLOC || function < HI_FN_MALLOCX ||
		     function > HI_FN_SDALLOCX))
			allocator->original[function] = 0;
}

/* False: there is none. */
static bool open_prefixed(struct search *search, const struct elf_image *image, const char *prefix,
			  struct allocator *found)
{
	const size_t asked = number_asked(search->asked, prefix);

	if (!allocator_open(image, prefix, &search->room, found))
		return false;
	found->reach = ALLOCATOR_PREFIXED;
	if (asked == search->asked->count)
		return true;
	search->allocators.prefixes_found |= 1u << asked;
	if (!is_known(prefix))
		drop_unknown(found);
	return true;
}

/*
 * Makes one with a prefix that was asked for the first, in a program of which no malloc is known:
 * it is linked statically, and there are no slots.
 */
static int find_first_asked(struct search *search)
{
	struct allocator *first = &search->allocators.allocator[0];
	const struct elf_image *image = main_image(search->images);

	for (size_t i = 0; image && i < search->asked->count; i++)
		if (open_prefixed(search, image, search->asked->prefix[i], first)) {
			search->allocators.count = 1;
			return 0;
		}
	return -ENOENT;
}

static void add(struct search *search, const struct elf_image *image, const char *prefix,
		enum allocator_reach reach)
{
	struct allocators *allocators = &search->allocators;
	struct allocator found, *known;

	if (*prefix ? !open_prefixed(search, image, prefix, &found)
		    : !allocator_open(image, prefix, &search->room, &found))
		return;
	found.reach = reach;
	known = find_by_malloc(search, found.malloc);
	if (known) {
		add_functions(known, &found);
		return;
	}
	if (allocators->count == ALLOCATORS_MAX)
		return;
	/* what functions take is not known, whatever they are called */
	if (found.family == ALLOCATOR_UNKNOWN &&
	    (!*prefix || number_asked(search->asked, prefix) == search->asked->count))
		leave_alone(&found);
	allocators->allocator[allocators->count++] = found;
}

/* What an object has, by the names of its functions. */
struct names {
	const struct hi_prefixes *asked;
	char prefix[PREFIXES_MAX][HI_ALLOCATOR_NAME_MAX];
	size_t prefix_count;
	bool has_malloc;
	remote_addr dpdk; /* rte_malloc; 0 = none */
	remote_addr operators[OPERATORS_NEW];
};

/* Length of the prefix, if the name is that of malloc with one; else 0. */
static size_t prefix_of(const struct hi_prefixes *asked, const char *name)
{
	for (size_t i = 0; i < asked->count; i++) {
		const size_t length = strlen(asked->prefix[i]);

		if (strncmp(name, asked->prefix[i], length) == 0 &&
		    strcmp(name + length, hook_table[HI_FN_MALLOC].symbol) == 0)
			return length;
	}
	return hi_allocator_prefix(name);
}

static void note_name(void *context, const struct elf_function *function)
{
	struct names *names = context;
	const size_t copied = hi_copied_name(function->name);
	char base[HI_ALLOCATOR_NAME_MAX] = "";

	if (copied < sizeof(base))
		memcpy(base, function->name, copied);
	const char *name = *base ? base : function->name;
	const size_t length = prefix_of(names->asked, name);
	char prefix[HI_ALLOCATOR_NAME_MAX] = "";

	if (strcmp(function->name, HI_DPDK_PREFIX "malloc") == 0)
		names->dpdk = function->address;
	for (unsigned i = 0; i < OPERATORS_NEW && function->name[0] == '_'; i++)
		if (strcmp(function->name, hook_table[HI_FN_NEW + i].symbol) == 0)
			names->operators[i] = function->address;
	names->has_malloc |= strcmp(function->name, hook_table[HI_FN_MALLOC].symbol) == 0;
	if (!length || names->prefix_count == PREFIXES_MAX)
		return;
	memcpy(prefix, function->name, length);
	for (size_t i = 0; i < names->prefix_count; i++)
		if (strcmp(names->prefix[i], prefix) == 0)
			return;
	memcpy(names->prefix[names->prefix_count++], prefix, sizeof(prefix));
}

/* Is it in the list of another namespace? (Or mapped by something else than the dynamic linker.) */
static bool is_apart(const struct search *search, const struct elf_image *image)
{
	return search->images->r_debug && image->link_order < 0 && image->dynamic;
}

static void add_dpdk(struct search *search, const struct elf_image *image, remote_addr malloc)
{
	struct allocators *allocators = &search->allocators;

	if (allocators->count < ALLOCATORS_MAX)
		allocators->allocator[allocators->count++] =
			(struct allocator){.image = image,
					   .reach = ALLOCATOR_PREFIXED,
					   .family = ALLOCATOR_DPDK,
					   .prefix = HI_DPDK_PREFIX,
					   .malloc = malloc};
}

static void look_into(struct search *search, const struct elf_image *image)
{
	struct names names = {.asked = search->asked};

	elf_symbols_visit(image, &search->room, note_name, &names);
	for (size_t i = 0; i < names.prefix_count; i++)
		add(search, image, names.prefix[i], ALLOCATOR_PREFIXED);
	if (image->is_main)
		memcpy(search->allocators.operator_new, names.operators, sizeof(names.operators));
	if (names.dpdk)
		add_dpdk(search, image, names.dpdk);
	/* what it exports comes after the first, and is used only by those bound to it */
	if (is_apart(search, image) && exports_malloc(image))
		add(search, image, "", ALLOCATOR_APART);
	else if (names.has_malloc && (image->is_main || !exports_malloc(image)))
		add(search, image, "", ALLOCATOR_DIRECT);
}

/* Objects to whose malloc slots of other objects lead. */
static int find_bound(struct search *search, const struct memory *memory)
{
	struct slots slots = {0};
	const int err =
		slots_find(search->images, &search->allocators.allocator[0], memory, 0, 0, &slots);

	if (err)
		return err;
	for (size_t i = 0; i < slots.other_count; i++)
		add(search, slots.other[i], "",
		    is_apart(search, slots.other[i]) ? ALLOCATOR_APART : ALLOCATOR_BOUND);
	slots_close(&slots);
	return 0;
}

static const struct hi_prefixes no_prefixes;

static bool may_have_one(const struct elf_image *image)
{
	return !image->is_vdso && !image->is_loader && !is_ours(image);
}

/* Is there a malloc that slots may lead to, besides the first? */
static bool has_several(const struct search *search)
{
	remote_addr address;

	for (size_t i = 0; i < search->images->count; i++)
		if (may_have_one(&search->images->image[i]) &&
		    !elf_image_symbol(&search->images->image[i], hook_table[HI_FN_MALLOC].symbol,
				      &address, NULL) &&
		    address != search->allocators.allocator[0].malloc)
			return true;
	return false;
}

int allocators_find_more(const struct elf_images *images, const bool *is_new,
			 const struct memory *memory, const struct hi_prefixes *asked,
			 struct allocators *allocators)
{
	struct search search = {.images = images,
				.asked = asked ? asked : &no_prefixes,
				.allocators = *allocators,
				.room = ELF_SYMBOLS_BYTES_MAX};
	int err = 0;

	for (size_t i = 0; i < images->count; i++)
		if (is_new[i] && may_have_one(&images->image[i]))
			look_into(&search, &images->image[i]);
	/* reading all relocations takes milliseconds */
	if (has_several(&search))
		err = find_bound(&search, memory);
	if (!err)
		*allocators = search.allocators;
	return err;
}

/* An allocator's operators are hooked, or wrap its other functions, which are. */
static bool has_allocator(const struct search *search, const struct elf_image *image)
{
	for (size_t i = 0; i < search->allocators.count; i++)
		if (search->allocators.allocator[i].image == image)
			return true;
	return false;
}

/* Operators that the program has from a library. */
static void find_operators(struct search *search)
{
	for (unsigned i = 0; i < OPERATORS_NEW; i++) {
		const struct elf_image *image;
		remote_addr address;

		if (!search->allocators.operator_new[i] &&
		    !elf_images_resolve(search->images, hook_table[HI_FN_NEW + i].symbol, &address,
					&image) &&
		    !has_allocator(search, image))
			search->allocators.operator_new[i] = address;
	}
}

/* Is an allocator in it that takes memory by mmap where the heap cannot grow? */
static bool has_frugal(const struct search *search, const struct elf_image *image)
{
	for (size_t i = 0; i < search->allocators.count; i++) {
		const struct allocator *allocator = &search->allocators.allocator[i];

		if (allocator->image == image && allocator->family != ALLOCATOR_UNKNOWN)
			return true;
	}
	return false;
}

static bool takes_heap(const struct search *search)
{
	for (size_t i = 0; i < search->images->count; i++) {
		const struct elf_image *image = &search->images->image[i];
		remote_addr address;

		if (!may_have_one(image) || has_frugal(search, image) ||
		    !elf_image_symbol(image, "__libc_start_main", &address, NULL))
			continue;
		/* what a static program calls is not known */
		if (search->images->r_debug ? imports(image, "sbrk") || imports(image, "brk")
					    : image->is_main)
			return true;
	}
	return false;
}

int allocators_find(const struct elf_images *images, const struct memory *memory,
		    const struct hi_prefixes *asked, struct allocators *out_allocators)
{
	struct search search = {.images = images,
				.asked = asked ? asked : &no_prefixes,
				.room = ELF_SYMBOLS_BYTES_MAX};
	int err = find_first(&search);

	if (err == -ENOENT)
		err = find_first_asked(&search);
	for (size_t i = 0; i < images->count && !err; i++)
		if (may_have_one(&images->image[i]))
			look_into(&search, &images->image[i]);
	if (!err)
		err = find_bound(&search, memory);
	for (size_t i = 0; i < search.allocators.count; i++)
		search.allocators.allocator[i].hides_functions =
			hides_functions(&search.allocators.allocator[i]);
	find_operators(&search);
	search.allocators.takes_heap = takes_heap(&search);
	if (!err)
		*out_allocators = search.allocators;
	return err;
}

/* ---- the new-handler ------------------------------------------------------------------------- */

/*
 * Takes it from the code of the function that returns it. If the library can be unloaded, the word
 * would be unmapped with it.
 */
void allocators_find_new_handler(const struct elf_images *images, const struct memory *memory,
				 struct allocators *allocators)
{
	const struct elf_image *image;
	uint8_t code[ARCH_ENTRY_MAX];
	remote_addr getter;

	if (!elf_images_resolve(images, "_ZSt15get_new_handlerv", &getter, &image) &&
	    image->is_pinned && !memory_read(memory, getter, code, sizeof(code)))
		allocators->new_handler = arch_returned_word(code, getter);
}
