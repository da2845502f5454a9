/* SPDX-License-Identifier: MIT */
/* named_functions.c - see named_functions.h. */
#include "named_functions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf_symbols.h"
#include "forwarding.h"
#include "hi_path.h"
#include "hooked.h"
#include "unwind_table.h"

_Static_assert(NAMED_FUNCTIONS_MAX == HI_NAMED_MAX, "rows of HI_HOOKS");
_Static_assert((int)NAMED_BLOCK_RESULT == (int)HI_NAMED_RESULT &&
		       (int)NAMED_BLOCK_MOVED == (int)HI_NAMED_MOVED &&
		       (int)NAMED_BLOCK_STORED == (int)HI_NAMED_STORED,
	       "words of the gate");

/* What was found of one name. */
struct search {
	const struct named_function *function;
	const struct elf_image *now;
	const struct elf_image *image, *other; /* in which it is; NULL = it was not found */
	remote_addr at;
	bool is_indirect;
	char near[NAMED_FUNCTION_NAME_MAX]; /* a longer name that has it */
	char copy[NAMED_FUNCTION_NAME_MAX]; /* of the function, by the compiler; "" = none */
};

/* libapr-1.so.0 is libapr-1.so.0.7.2, too, as the links of the dynamic linker are. */
static bool is_in(const struct elf_image *image, const char *object)
{
	const char *file = hi_base_name(image->path);
	const size_t length = strlen(object);

	return !*object ||
	       (strncmp(file, object, length) == 0 && (!file[length] || file[length] == '.'));
}

/* Another name, which may be that of a copy. */
static void note_other(struct search *search, const char *name)
{
	const char *wanted = search->function->name;
	const size_t length = strlen(wanted);
	char *note = search->near;

	if (strnlen(name, sizeof(search->near)) == sizeof(search->near) || !strstr(name, wanted))
		return;
	if (strncmp(name, wanted, length) == 0 && hi_copied_name(name) == length)
		note = search->copy;
	if (!*note)
		snprintf(note, sizeof(search->near), "%s", name);
}

static void take(void *context, const struct elf_function *function)
{
	struct search *search = context;

	if (strcmp(function->name, search->function->name) != 0) {
		note_other(search, function->name);
		return;
	}
	search->is_indirect |= function->is_indirect;
	if (search->image && search->at != function->address)
		search->other = search->now;
	search->image = search->now;
	search->at = function->address;
}

static const char *place_of(const struct elf_image *image)
{
	return image->is_main ? "the program itself" : hi_base_name(image->path);
}

static int refuse(const struct search *search, char problem[NAMED_PROBLEM_MAX])
{
	const char *name = search->function->name, *object = search->function->object;

	if (!search->image)
		snprintf(problem, NAMED_PROBLEM_MAX,
			 "it has no function %s%s%s: the name is another one, its symbols are "
			 "stripped, or it was inlined%s%s",
			 name, *object ? " in " : "", object, *search->near ? "; it has " : "",
			 search->near);
	else if (search->is_indirect)
		snprintf(problem, NAMED_PROBLEM_MAX,
			 "%s in %s chooses its code when it is linked: name that function", name,
			 place_of(search->image));
	else if (*search->copy)
		snprintf(problem, NAMED_PROBLEM_MAX,
			 "the compiler has made a copy of %s for some callers, which would not be "
			 "seen: %s",
			 name, search->copy);
	else if (search->image == search->other)
		snprintf(problem, NAMED_PROBLEM_MAX,
			 "%s has more than one function %s, and it is not known which is meant",
			 place_of(search->image), name);
	else
		snprintf(problem, NAMED_PROBLEM_MAX,
			 "%s is in %s and in %s: say which is meant, as in %s!%s", name,
			 place_of(search->other), place_of(search->image),
			 hi_base_name(search->image->path), name);
	return -EINVAL;
}

static int find(const struct elf_images *images, const struct named_function *function,
		remote_addr *out_at, char problem[NAMED_PROBLEM_MAX])
{
	struct search search = {.function = function};
	size_t room = ELF_SYMBOLS_BYTES_MAX;

	for (size_t i = 0; i < images->count; i++) {
		search.now = &images->image[i];
		if (!search.now->is_vdso && is_in(search.now, function->object)) {
			const struct elf_image *before = search.image;

			elf_symbols_visit(search.now, &room, take, &search);
			if (before && search.image != before)
				search.other = before;
		}
	}
	*out_at = search.at;
	return !search.image || search.other || search.is_indirect || *search.copy
		       ? refuse(&search, problem)
		       : 0;
}

static struct hi_named_arguments arguments_of(const struct named_function *function,
					      bool is_filtered)
{
	return (struct hi_named_arguments){.size = (uint8_t)function->size,
					   .count = (uint8_t)function->count,
					   .block = (uint8_t)function->block_argument,
					   .kind = (uint8_t)function->block,
					   .pool = (uint8_t)function->pool,
					   .is_filtered = is_filtered,
					   .size_is_int = function->size_is_int,
					   .size_is_known = function->size_is_known,
					   .count_is_int = function->count_is_int};
}

static bool have_pools(const struct named_functions *named)
{
	bool have = false;

	for (size_t i = 0; i < named->alloc_count; i++)
		have |= named->alloc[i].pool != 0;
	for (size_t i = 0; i < named->free_count; i++)
		have |= named->free[i].pool != 0;
	return have;
}

/* Compilers add a number to the name of such a function: get.0, p__get.12. */
static bool is_nested_in_source(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1);
}

static int add(const struct elf_images *images, const struct named_function *function,
	       enum hi_function hook, bool is_filtered, struct allocators *allocators,
	       char problem[NAMED_PROBLEM_MAX])
{
	remote_addr at;
	const int err = find(images, function, &at, problem);

	if (err)
		return err;
	if (is_nested_in_source(function->name)) {
		snprintf(problem, NAMED_PROBLEM_MAX,
			 "%s is a function inside another one, and is given a register that hooks "
			 "use",
			 function->name);
		return -EINVAL;
	}
	for (unsigned other = 0; other < HOOKS_MAX; other++)
		if (hook_original(allocators, other) == at) {
			snprintf(problem, NAMED_PROBLEM_MAX,
				 "%s is hooked already, as a function of an allocator or under "
				 "another name",
				 function->name);
			return -EINVAL;
		}
	allocators->allocator[0].original[hook] = at;
	allocators->named[hook - HI_FN_NAMED_ALLOC_0] = arguments_of(function, is_filtered);
	return 0;
}

int named_functions_find(const struct elf_images *images, const struct named_functions *named,
			 struct allocators *allocators, char out_problem[NAMED_PROBLEM_MAX])
{
	const bool is_filtered = !have_pools(named);
	int err = 0;

	for (size_t i = 0; i < named->alloc_count && !err; i++)
		err = add(images, &named->alloc[i], named_function_hook(false, i), is_filtered,
			  allocators, out_problem);
	for (size_t i = 0; i < named->free_count && !err; i++)
		err = add(images, &named->free[i], named_function_hook(true, i), is_filtered,
			  allocators, out_problem);
	return err;
}

int named_functions_check(const struct allocators *allocators, const struct entries *entries,
			  const struct named_functions *named, char out_problem[NAMED_PROBLEM_MAX])
{
	for (unsigned hook = HI_FN_NAMED_ALLOC_0; hook < HI_FUNCTION_COUNT; hook++) {
		const bool is_free = hook >= HI_FN_NAMED_FREE_0;
		const struct named_function *function =
			is_free ? &named->free[hook - HI_FN_NAMED_FREE_0]
				: &named->alloc[hook - HI_FN_NAMED_ALLOC_0];

		if (!hook_original(allocators, hook) || entries->entry[hook].at)
			continue;
		snprintf(out_problem, NAMED_PROBLEM_MAX, "%s cannot be hooked at its entry: %s",
			 function->name,
			 entries->obstacle[hook]
				 ? hooked_obstacle_text(entries->obstacle[hook])
				 : "nothing is with --hook slot, or while memory is locked "
				   "(mlock), or it jumps to another one at once");
		return -EINVAL;
	}
	return 0;
}

static enum forwarding forwarding_at(const struct elf_images *images, remote_addr at, unsigned kept)
{
	const struct elf_image *image = elf_images_find(images, at);
	enum forwarding result;
	struct eh_section section;
	struct eh_frame frame;

	if (!image || unwind_table_section(image, &section) ||
	    eh_frame_parse(&section, 0, UINT64_MAX, &frame))
		return FORWARDING_UNKNOWN;
	result = forwarding_of(image, &frame, at, kept);
	eh_frame_close(&frame);
	return result;
}

int named_functions_forward(const struct elf_images *images, const struct allocators *allocators,
			    const struct named_functions *named, unsigned kept,
			    char out_problem[NAMED_PROBLEM_MAX])
{
	for (size_t i = 0; i < named->alloc_count; i++) {
		const remote_addr at = hook_original(allocators, named_function_hook(false, i));
		const enum forwarding found = forwarding_at(images, at, kept);

		if (found == FORWARDING_WORKS)
			continue;
		snprintf(out_problem, NAMED_PROBLEM_MAX, "%s cannot be called by a hook: %s",
			 named->alloc[i].name, forwarding_text(found));
		return -EINVAL;
	}
	return 0;
}
