/* SPDX-License-Identifier: MIT */
/*
 * slots_test.c - the slots of this very process, watched before and after the dynamic linker binds
 * them, and after somebody else has rewritten them.
 *
 * pvalloc, which nothing else here calls, is the example of a slot that is not bound yet.
 */
#include "slots.h"

#include <dlfcn.h>
#include <malloc.h>

#include "target_allocators.h"
#include "hook_table.h"
#include "own_images.h"

/* An import that stays unbound until called. Volatile, so that the compiler keeps the call. */
static volatile size_t one = 1;

static void call_pvalloc(void)
{
	free(pvalloc(one));
}

struct view {
	struct own own;
	struct allocator allocator;
	struct slots slots;
};

static struct view view_open(void)
{
	struct view view = {.own = own_open()};
	struct allocators allocators;

	CHECK_EQ(allocators_find(&view.own.images, &view.own.memory, NULL, &allocators), 0);
	view.allocator = allocators.allocator[0];
	CHECK_EQ(slots_find(&view.own.images, &view.allocator, &view.own.memory, 0, 0, &view.slots),
		 0);
	return view;
}

static void view_close(struct view *view)
{
	slots_close(&view->slots);
	own_close(&view->own);
}

/* The program's slot of a function, by relocation; NULL: not taken. */
static const struct slot *program_slot(const struct view *view, enum hi_function function)
{
	for (size_t i = 0; i < view->slots.count; i++)
		if (view->slots.slot[i].function == function &&
		    view->own.images.image[view->slots.slot[i].image].is_main)
			return &view->slots.slot[i];
	return NULL;
}

UNIT_TEST(no_slot_leads_to_operators_of_another_object)
{
	CHECK(dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL) != NULL);
	struct view view = view_open();

	if (elf_image_symbol(view.allocator.image, "_Znwm", &(remote_addr){0}, NULL) == 0)
		SKIP("the allocator of this build defines them itself");
	for (size_t i = 0; i < view.slots.count; i++)
		CHECK(!hook_table[view.slots.slot[i].function].allocator_only);
	view_close(&view);
}

UNIT_TEST(slots_hold_originals_or_stubs)
{
	struct view view = view_open();
	bool in_libc = false;

	CHECK(view.slots.count > 0);
	for (size_t i = 0; i < view.slots.count; i++) {
		const struct slot *slot = &view.slots.slot[i];
		const struct elf_image *image = &view.own.images.image[slot->image];

		CHECK(i == 0 || slot[-1].address < slot->address);
		CHECK_EQ(slot->value, *(const uint64_t *)(uintptr_t)slot->address);
		CHECK_EQ(slot->original, view.allocator.original[slot->function]);
		CHECK(slot->lazy ? slot->value != slot->original : slot->value == slot->original);
		CHECK(elf_images_find(&view.own.images, slot->address) == image);
		CHECK(!slot->lazy || elf_images_find(&view.own.images, slot->value) == image);
		CHECK(!image->is_loader && !image->is_vdso);
		in_libc |= strstr(image->path, "libc.so") != NULL;
	}
	/* strdup, getline and the rest of libc call malloc through libc's own slots. */
	CHECK(in_libc);
	view_close(&view);
}

UNIT_TEST(lazy_slot_becomes_bound)
{
	struct view before = view_open();
	const struct slot *lazy = program_slot(&before, HI_FN_PVALLOC);

	CHECK(lazy != NULL);
	if (!lazy->lazy)
		SKIP("this build binds at start");
	CHECK(elf_images_find(&before.own.images, lazy->value)->is_main);
	call_pvalloc();
	struct view after = view_open();
	const struct slot *bound = program_slot(&after, HI_FN_PVALLOC);
	CHECK(bound && !bound->lazy);
	CHECK_EQ(bound->address, lazy->address);
	CHECK_EQ(bound->original, lazy->original);
	CHECK_EQ(bound->value, lazy->original);
	view_close(&before);
	view_close(&after);
}

/* Rewrites the program's slot of a function as another tool would. */
static void rewrite(enum hi_function function, uint64_t value)
{
	struct view view = view_open();
	const struct slot *slot = program_slot(&view, function);

	CHECK(slot != NULL);
	CHECK_EQ(memory_write_u64(&view.own.memory, slot->address, value), 0);
	view_close(&view);
}

UNIT_TEST(slots_of_another_interposer_are_left_alone)
{
	struct view before = view_open();

	rewrite(HI_FN_PVALLOC, address_of(call_pvalloc));
	struct view after = view_open();
	CHECK(program_slot(&after, HI_FN_PVALLOC) == NULL);
	CHECK_EQ(after.slots.foreign, before.slots.foreign + 1);
	CHECK_EQ(after.slots.count + 1, before.slots.count);
	view_close(&before);
	view_close(&after);
}

UNIT_TEST(own_gate_entries_are_neither_taken_nor_foreign)
{
	const remote_addr gate = 0x7f0000000000;
	struct view before = view_open();
	struct slots slots;

	rewrite(HI_FN_PVALLOC, gate + 128);
	CHECK_EQ(slots_find(&before.own.images, &before.allocator, &before.own.memory, gate,
			    gate + 4096, &slots),
		 0);
	CHECK_EQ(slots.count + 1, before.slots.count);
	CHECK_EQ(slots.foreign, before.slots.foreign);
	slots_close(&slots);
	view_close(&before);
}

/*
 * An object of which one slot is bound to another definition of the function (as RTLD_DEEPBIND
 * does) will bind its lazy ones there, too. The other definition is made up: the allocator is taken
 * for one that a later object defines.
 */
UNIT_TEST(lazy_slots_of_an_object_bound_elsewhere_are_left_alone)
{
	struct view view = view_open();
	struct allocator other = view.allocator;
	struct slots slots;
	size_t lazy = 0;

	const struct slot *unbound = program_slot(&view, HI_FN_PVALLOC);
	if (!unbound || !unbound->lazy)
		SKIP("this build binds at start");
	other.original[HI_FN_MALLOC] = address_of(call_pvalloc);
	free(malloc(one));
	CHECK_EQ(slots_find(&view.own.images, &other, &view.own.memory, 0, 0, &slots), 0);
	for (size_t i = 0; i < slots.count; i++)
		lazy += slots.slot[i].lazy && view.own.images.image[slots.slot[i].image].is_main;
	CHECK_EQ(lazy, 0);
	CHECK(slots.foreign > view.slots.foreign);
	slots_close(&slots);
	view_close(&view);
}

UNIT_MAIN()
