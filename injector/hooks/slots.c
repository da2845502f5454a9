/* SPDX-License-Identifier: MIT */
/*
 * slots.c - see slots.h.
 *
 * A slot that holds the original is taken. So is a slot that still holds its object's own lazy
 * stub, if it is certain to be bound to the original (binding.h), and if no other slot of the same
 * object shows that this object is bound to another allocator: a block must never be freed by an
 * allocator other than the one that allocated it. Enter at slots_find.
 */
#include "slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "binding.h"
#include "elf_segment.h"
#include "hook_table.h"

#define WORD_BYTES 8u

struct scan {
	const struct elf_images *images;
	const struct allocator *allocator;
	const struct memory *memory;
	remote_addr ignore_lo, ignore_hi;
	struct definitions definitions[HI_FUNCTION_COUNT];
	struct slots slots;
	size_t capacity;
};

const char *slots_symbol_at(const struct elf_image *image, remote_addr slot)
{
	const size_t relocations =
		image->dynamic ? elf_dynamic_relocation_count(image->dynamic) : 0;

	for (size_t i = 0; i < relocations; i++) {
		bool is_jump_slot, is_absolute;
		Elf64_Rela relocation;
		Elf64_Sym symbol;

		elf_dynamic_relocation(image->dynamic, i, &relocation);
		if (image->bias + relocation.r_offset != slot ||
		    !arch_is_slot_relocation((unsigned)ELF64_R_TYPE(relocation.r_info),
					     &is_jump_slot, &is_absolute))
			continue;
		return elf_dynamic_symbol(image->dynamic, (uint32_t)ELF64_R_SYM(relocation.r_info),
					  &symbol);
	}
	return NULL;
}

static bool is_in_text(const struct elf_image *image, remote_addr address)
{
	for (size_t i = 0; i < image->text_count; i++)
		if (address >= image->text[i].lo && address < image->text[i].hi)
			return true;
	return false;
}

/*
 * The value that the link editor stored there, relocated by the bias. A copy from memory does not
 * show what the file held.
 */
remote_addr slots_stub_at(const struct elf_image *image, remote_addr slot)
{
	const void *bytes;
	uint64_t initial;

	if (image->memory_copy ||
	    elf_segment_bytes(image->elf, slot - image->bias, sizeof(initial), &bytes) < 0)
		return 0;
	memcpy(&initial, bytes, sizeof(initial));
	return is_in_text(image, image->bias + initial) ? image->bias + initial : 0;
}

bool slots_is_relro(const struct elf_image *image, remote_addr slot)
{
	GElf_Phdr relro;

	return elf_segment_find(image->elf, PT_GNU_RELRO, &relro) &&
	       slot - image->bias - relro.p_vaddr < relro.p_memsz;
}

/* Does the slot hold the stub that calls the dynamic linker? */
static bool is_lazy_stub(const struct elf_image *image, remote_addr slot, bool is_import,
			 uint64_t value)
{
	/* If an imported function's slot leads into its own object, it leads to a stub. */
	if (image->memory_copy)
		return is_import && is_in_text(image, value);
	return value && value == slots_stub_at(image, slot);
}

/* True if the slot's value is some other object's definition of the same function. */
static bool is_other_definition(const struct scan *scan, const struct slot *slot)
{
	const struct elf_image *image = elf_images_find(scan->images, slot->value);
	remote_addr address;

	return image &&
	       elf_image_symbol(image, hook_table[slot->function].symbol, &address, NULL) == 0 &&
	       address == slot->value;
}

/*
 * Records an object to whose functions a slot leads. Operators are not recorded: operator new of
 * another object may call the hooked malloc, as libstdc++'s does. Nor are calls that an allocator
 * makes to its own functions; but in a library that came by dlopen they are those of a part of the
 * program that brings its own (RTLD_DEEPBIND).
 */
static void note_other(struct slots *slots, const struct elf_image *definer,
		       const struct elf_image *importer, enum hi_function function)
{
	if ((definer == importer && importer->is_pinned) || hook_table[function].allocator_only)
		return;
	for (size_t i = 0; i < slots->other_count; i++)
		if (slots->other[i] == definer)
			return;
	if (slots->other_count < SLOTS_OTHERS_MAX)
		slots->other[slots->other_count++] = definer;
}

static int push_slot(struct scan *scan, const struct slot *slot)
{
	struct slots *slots = &scan->slots;

	if (slots->count == scan->capacity) {
		const size_t capacity = scan->capacity ? scan->capacity * 2 : 128;
		struct slot *grown = reallocarray(slots->slot, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		slots->slot = grown;
		scan->capacity = capacity;
	}
	slots->slot[slots->count++] = *slot;
	return 0;
}

/* Is this relocation a pointer to one of the functions? Fills in the slot. */
static bool read_slot(const struct scan *scan, const struct elf_image *image,
		      const Elf64_Rela *relocation, struct slot *out_slot)
{
	bool is_jump_slot, is_absolute;
	Elf64_Sym symbol;
	const char *name;

	if (!arch_is_slot_relocation((unsigned)ELF64_R_TYPE(relocation->r_info), &is_jump_slot,
				     &is_absolute))
		return false;
	name = elf_dynamic_symbol(image->dynamic, (uint32_t)ELF64_R_SYM(relocation->r_info),
				  &symbol);
	out_slot->function = name ? hook_function_of(name) : HI_FN_NONE;
	if (out_slot->function == HI_FN_NONE)
		return false;
	out_slot->version =
		elf_dynamic_version(image->dynamic, (uint32_t)ELF64_R_SYM(relocation->r_info));
	out_slot->original = scan->allocator->original[out_slot->function];
	out_slot->address = image->bias + relocation->r_offset;
	if (!out_slot->original || (is_absolute && relocation->r_addend) ||
	    out_slot->address % WORD_BYTES ||
	    memory_read_u64(scan->memory, out_slot->address, &out_slot->value) < 0)
		return false;
	out_slot->lazy = is_jump_slot && out_slot->value != out_slot->original &&
			 is_lazy_stub(image, out_slot->address, symbol.st_shndx == SHN_UNDEF,
				      out_slot->value);
	return true;
}

static struct reference reference_of(const struct scan *scan, const struct slot *slot)
{
	return (struct reference){
		.images = scan->images,
		.importer = &scan->images->image[slot->image],
		.definitions = &scan->definitions[slot->function],
		.version = slot->version,
	};
}

/*
 * Is this lazy slot certain to be bound to the original, by itself or because another slot of its
 * object is? The slots of its object are those from index `first` on.
 */
static bool is_certain(const struct scan *scan, const struct slot *slot, size_t first)
{
	const struct reference reference = reference_of(scan, slot);
	const struct elf_image *definer = elf_images_find(scan->images, slot->original);

	if (binding_is_certain(&reference, definer))
		return true;
	for (size_t i = first; i < scan->slots.count; i++) {
		const struct slot *bound = &scan->slots.slot[i];
		const struct reference other = reference_of(scan, bound);

		if (!bound->lazy && elf_images_find(scan->images, bound->original) == definer &&
		    binding_follows(&reference, &other))
			return true;
	}
	return false;
}

/*
 * Drops the lazy slots from index `first` on: all of them, or those that may be bound to another
 * definition.
 */
static void drop_lazy(struct scan *scan, size_t first, bool all)
{
	struct slots *slots = &scan->slots;
	size_t kept = first;

	for (size_t i = first; i < slots->count; i++)
		if (!slots->slot[i].lazy || (!all && is_certain(scan, &slots->slot[i], first)))
			slots->slot[kept++] = slots->slot[i];
	slots->foreign += slots->count - kept;
	slots->count = kept;
}

static int scan_image(struct scan *scan, size_t number)
{
	const struct elf_image *image = &scan->images->image[number];
	const size_t first = scan->slots.count,
		     relocations = elf_dynamic_relocation_count(image->dynamic);
	bool bound_elsewhere = false;
	int err = 0;

	for (size_t i = 0; !err && i < relocations; i++) {
		struct slot slot = {.image = number, .pinned = image->is_pinned};
		Elf64_Rela relocation;

		elf_dynamic_relocation(image->dynamic, i, &relocation);
		if (!read_slot(scan, image, &relocation, &slot))
			continue;
		if (slot.value >= scan->ignore_lo && slot.value < scan->ignore_hi)
			scan->slots.ours++;
		else if (slot.value == slot.original || slot.lazy) {
			err = push_slot(scan, &slot);
		} else {
			scan->slots.foreign++;
			if (!is_other_definition(scan, &slot))
				continue;
			note_other(&scan->slots, elf_images_find(scan->images, slot.value), image,
				   slot.function);
			bound_elsewhere = true;
		}
	}
	drop_lazy(scan, first, bound_elsewhere);
	return err;
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Sorts by address, and leaves one of each: DT_RELA and DT_JMPREL may overlap. */
static void sort_slots(struct slots *slots)
{
	size_t kept = 0;

	if (slots->count)
		qsort(slots->slot, slots->count, sizeof(*slots->slot), compare_slots);
	for (size_t i = 0; i < slots->count; i++)
		if (kept == 0 || slots->slot[kept - 1].address != slots->slot[i].address)
			slots->slot[kept++] = slots->slot[i];
	slots->count = kept;
}

/* ld.so's slots are not scanned, unless it is also the C library (musl). */
static bool is_scanned(const struct scan *scan, const struct elf_image *image)
{
	return image->dynamic && !image->is_vdso &&
	       (!image->is_loader || image == scan->allocator->image);
}

int slots_find(const struct elf_images *images, const struct allocator *allocator,
	       const struct memory *memory, remote_addr ignore_lo, remote_addr ignore_hi,
	       struct slots *out_slots)
{
	struct scan scan = {.images = images,
			    .allocator = allocator,
			    .memory = memory,
			    .ignore_lo = ignore_lo,
			    .ignore_hi = ignore_hi};
	int err = 0;

	for (int function = 0; !err && function < HI_FUNCTION_COUNT; function++)
		if (allocator->original[function])
			err = definitions_find(images, hook_table[function].symbol,
					       &scan.definitions[function]);
	for (size_t i = 0; !err && i < images->count; i++)
		if (is_scanned(&scan, &images->image[i]))
			err = scan_image(&scan, i);
	for (int function = 0; function < HI_FUNCTION_COUNT; function++)
		definitions_close(&scan.definitions[function]);
	if (err) {
		slots_close(&scan.slots);
		return err;
	}
	sort_slots(&scan.slots);
	*out_slots = scan.slots;
	return 0;
}

void slots_close(struct slots *slots)
{
	free(slots->slot);
	*slots = (struct slots){0};
}
