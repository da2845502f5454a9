/* SPDX-License-Identifier: MIT */
/*
 * Room hooks/: which functions of the target are hooked, where, and which code of the payload
 * takes the call.
 *
 *   hook_table.h       what is known of each function
 *   target_allocators.h  which allocators there are: start here; allocator.h: one of them
 *   slots.h            hooks by the GOT slots that lead to them
 *   binding.h          where a slot leads that is not bound yet
 *   entries.h          hooks by the functions' own first instruction
 *   nesting.h          which of them call others, so that no block is counted twice
 *   return_gadget.h    the place to which originals return that a hook calls
 *   unhooked.h         allocators that no hook reaches
 *   runtimes.h         language runtimes whose memory malloc does not give
 *   payload_image.h    the payload's code for it (payload_blob.S: its file, embedded)
 *
 * Only plans: arena/ and attach/ write what is found here, under the journal. Uses elf/, unwind/,
 * target/, arch/.
 */

/*
 * slots.h - the GOT slots through which a target reaches its allocator.
 *
 * R_*_JUMP_SLOT, R_*_GLOB_DAT and R_*_64 relocations against a symbol of HI_HOOKS, in every object
 * except ld.so, the vdso and the payload. A slot is taken only if it holds the original
 * (allocator.h), or if it holds its own object's lazy stub and is certain to be bound to the
 * original. Any other slot (another interposer, a canonical PLT address of a non-PIE program) is
 * counted and left alone. Nothing here writes.
 */
#ifndef HI_SLOTS_H
#define HI_SLOTS_H

#include "allocator.h"

struct slot {
	remote_addr address;
	uint64_t value;       /* what it holds now */
	remote_addr original; /* the function that the gate entry must call */
	enum hi_function function;
	uint16_t version; /* version of the reference, as numbered in this object */
	bool lazy;        /* value is the object's own lazy stub */
	bool pinned;      /* the slot belongs to an object that is never unloaded */
	size_t image;     /* index into images */
};

#define SLOTS_OTHERS_MAX 8u
struct slots {
	struct slot *slot; /* sorted by address */
	/*
	 * objects to whose malloc, or related functions, some slots of other objects lead; those
	 * that do not fit are left out
	 */
	const struct elf_image *other[SLOTS_OTHERS_MAX];
	size_t other_count;
	size_t count;
	size_t ours; /* slots that lead into the range to be ignored: left out */
	/* slots that hold neither original nor stub, or a stub that may lead elsewhere: skipped */
	size_t foreign;
};

/* The symbol that the object refers to with the slot at this address; NULL: none. */
const char *slots_symbol_at(const struct elf_image *image, remote_addr slot);
/*
 * Facts about a slot from its object's file. slots_stub_at: the stub that calls the dynamic linker,
 * whose address the slot holds until it is bound; 0: the slot does not hold a stub at first, or the
 * file cannot be read. slots_is_relro: does the slot lie in memory that is made read-only after
 * relocation?
 */
remote_addr slots_stub_at(const struct elf_image *image, remote_addr slot);
bool slots_is_relro(const struct elf_image *image, remote_addr slot);

/*
 * ignore_lo/hi: range of gate addresses that the injector has already written. Slots that lead
 * there are the injector's, not foreign; they are left out.
 */
must_check int slots_find(const struct elf_images *images, const struct allocator *allocator,
			  const struct memory *memory, remote_addr ignore_lo, remote_addr ignore_hi,
			  struct slots *out_slots);
void slots_close(struct slots *slots);

#endif
