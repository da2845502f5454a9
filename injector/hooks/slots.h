/* SPDX-License-Identifier: MIT */
/*
 * The room hooks/: which functions of the target are hooked, where, and what of the payload takes the call.
 *
 *   slots.h            by the GOT slots that lead to them: enter here; binding.h: where a slot leads that is not bound yet
 *   entries.h          by their own first instruction
 *   nesting.h          which of them call others, so that nothing is counted twice
 *   return_gadget.h    where originals return to that a hook calls
 *   unhooked.h         allocators that no hook reaches
 *   payload_image.h    what the payload has for it (payload_blob.S: its file, embedded)
 *
 * Plans only: what is found here is written by arena/ and attach/, under the journal. Uses elf/, unwind/, target/, arch/.
 */

/*
 * slots.h - the GOT slots through which a target reaches its allocator.
 *
 * R_*_JUMP_SLOT, R_*_GLOB_DAT and R_*_64 relocations against a name of HI_FUNCTIONS, in every object except ld.so, the vdso and the payload. A slot is taken
 * only if it holds the original (the first definition in link-map order), or its own object's lazy stub and is certain to be bound to the original; anything
 * else (another interposer, a canonical PLT address of a non-PIE program) is counted and left alone. Nothing here writes.
 */
#ifndef HI_SLOTS_H
#define HI_SLOTS_H

#include "elf_images.h"
#include "hi_wire.h"

struct slot {
	remote_addr address;
	uint64_t value;       /* what it holds now */
	remote_addr original; /* what the gate entry must serve */
	enum hi_function function;
	uint16_t version; /* of the reference: its number in this object */
	bool lazy;        /* value is the object's own lazy stub */
	bool pinned;      /* of an object that is never unloaded */
	size_t image;     /* index into images */
};

#define SLOTS_OTHERS_MAX 8u
struct slots {
	struct slot *slot;                               /* sorted by address */
	const struct elf_image *other[SLOTS_OTHERS_MAX]; /* objects to whose malloc, or its kin, some slots of others lead; those beyond the room left out */
	size_t other_count;
	size_t count;
	size_t ours;    /* slots that lead to what was to be ignored: left out */
	size_t foreign; /* slots that hold neither original nor stub, or a stub that may lead elsewhere: skipped */
};

/* The originals by function; 0 = this target has no such function, or it must not be hooked (libstdc++'s operators). */
struct allocator {
	remote_addr original[HI_FUNCTION_COUNT];
	/* Of throwing operator new: malloc or memalign, where their blocks are the same; else the nothrow variant. 0 = there is none. */
	remote_addr plain[HI_FUNCTION_COUNT], nothrow[HI_FUNCTION_COUNT];
	remote_addr new_handler; /* the word in which the C++ library keeps its new-handler, 0 = not known */
	remote_addr usable_size
		[HI_FUNCTION_COUNT];   /* malloc_usable_size of the object that defines malloc and the function; 0 = it has none, or none that may be asked */
	const struct elf_image *image; /* object that defines malloc */
};
/* What the function is called in symbol tables. */
const char *slots_symbol(enum hi_function function);
/* Which one the object means by the slot at this address; HI_FUNCTION_COUNT: none. */
enum hi_function slots_function_at(const struct elf_image *image, remote_addr slot);
/*
 * What its file says of a slot. The stub that calls the dynamic linker, which it holds until it is bound; 0: it is not to hold one, or the file cannot be read.
 * And does it lie in what is made read-only once it is relocated?
 */
remote_addr slots_stub_at(const struct elf_image *image, remote_addr slot);
bool slots_is_relro(const struct elf_image *image, remote_addr slot);
/* -ENOENT: nothing in the link map defines malloc. */
must_check int allocator_find(const struct elf_images *images, struct allocator *out_allocator);
/* Fills in its new_handler, if that can be known. */
void allocator_find_new_handler(const struct elf_images *images, const struct memory *memory, struct allocator *allocator);

/* ignore_lo/hi: range of gate addresses already written, whose slots are not foreign but ours; they are left out. */
must_check int slots_find(const struct elf_images *images, const struct allocator *allocator, const struct memory *memory, remote_addr ignore_lo,
			  remote_addr ignore_hi, struct slots *out_slots);
void slots_close(struct slots *slots);

#endif
