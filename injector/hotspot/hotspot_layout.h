/* SPDX-License-Identifier: MIT */
/*
 * hotspot_layout.h - where the fields of HotSpot's structures are, as the JVM itself describes them
 * for debuggers.
 *
 * libjvm exports gHotSpotVMStructs, a table of types, fields, offsets and addresses of static
 * fields, with gHotSpotVMTypes (sizes) and gHotSpotVMIntConstants. Versions differ in what they
 * have: nothing is known here but names. Everything is read from the target's memory, bounded, and
 * may be damaged.
 */
#ifndef HI_HOTSPOT_LAYOUT_H
#define HI_HOTSPOT_LAYOUT_H

#include "elf_images.h"
#include "memory.h"

/* What of HotSpot is read. An _OF_9 is where versions from 9 to about 21 have it. */
enum hotspot_field {
	HOTSPOT_HEAPS,
	HOTSPOT_ONE_HEAP,
	HOTSPOT_ARRAY_LENGTH,
	HOTSPOT_ARRAY_LENGTH_OF_9,
	HOTSPOT_ARRAY_DATA,
	HOTSPOT_HEAP_MEMORY,
	HOTSPOT_HEAP_SEGMENTS,
	HOTSPOT_SEGMENT_BITS,
	HOTSPOT_SPACE_LOW,
	HOTSPOT_SPACE_HIGH,
	HOTSPOT_SPACE_END,
	HOTSPOT_BLOCK_HEADER,
	HOTSPOT_BLOCK_LENGTH,
	HOTSPOT_BLOCK_USED,
	HOTSPOT_CALL_STUB_RETURN,
	HOTSPOT_BLOB_NAME,
	HOTSPOT_BLOB_SIZE,
	HOTSPOT_BLOB_COMPLETE,
	HOTSPOT_BLOB_FRAME,
	HOTSPOT_BLOB_CODE,
	HOTSPOT_BLOB_CODE_END,
	HOTSPOT_BLOB_CODE_OFFSET,
	HOTSPOT_BLOB_DATA_OFFSET,
	HOTSPOT_COMPILED_METHOD,
	HOTSPOT_COMPILED_METHOD_OF_9,
	HOTSPOT_METHOD_CONST,
	HOTSPOT_CONST_POOL,
	HOTSPOT_CONST_NAME,
	HOTSPOT_CONST_SIGNATURE,
	HOTSPOT_POOL_HOLDER,
	HOTSPOT_POOL_LENGTH,
	HOTSPOT_KLASS_NAME,
	HOTSPOT_SYMBOL_LENGTH,
	HOTSPOT_SYMBOL_BODY,
	HOTSPOT_COUNTERS,
	HOTSPOT_COUNTERS_USED,
	HOTSPOT_COUNTERS_FIRST,
	HOTSPOT_COUNTER_LENGTH,
	HOTSPOT_COUNTER_NAME,
	HOTSPOT_COUNTER_VALUE,
	HOTSPOT_FIELD_COUNT
};

/* Where an interpreted frame has its caller's sp, in words from bp, on all CPUs that are known. */
#define HOTSPOT_SENDER_SP (-1)

struct hotspot_layout {
	struct {
		uint64_t at;  /* offset in its type; of a static field its address */
		uint8_t size; /* in bytes, of a number: 1, 2, 4 or 8 */
		bool is_known;
	} field[HOTSPOT_FIELD_COUNT];
	uint64_t block_size, pool_size; /* sizeof(HeapBlock), sizeof(ConstantPool) */
	int32_t sender_sp;              /* HOTSPOT_SENDER_SP; another one is not supported */
	int8_t method_slot; /* an interpreted frame has its Method so many words from bp; 0 = ? */
};

/*
 * Reads the description. -ENOENT: it is no HotSpot; -ENOTSUP: what frames need is not described, or
 * is not as expected; or the error of a read.
 */
must_check int hotspot_layout_read(const struct elf_image *libjvm, const struct memory *memory,
				   struct hotspot_layout *out_layout);

static inline bool hotspot_has(const struct hotspot_layout *layout, enum hotspot_field field)
{
	return layout->field[field].is_known;
}
/* The number that a field of a structure has. The structure's bytes begin at `bytes`. */
uint64_t hotspot_number(const struct hotspot_layout *layout, enum hotspot_field field,
			const uint8_t *bytes);
/* The same of a structure in the target. */
must_check int hotspot_read(const struct hotspot_layout *layout, const struct memory *memory,
			    remote_addr structure, enum hotspot_field field, uint64_t *out_number);

#endif
