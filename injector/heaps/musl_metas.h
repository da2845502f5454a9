/* SPDX-License-Identifier: MIT */
/*
 * musl_metas.h - what musl's malloc (mallocng, since musl 1.2.1) says of its groups of slots.
 *
 * A group is up to 32 slots of one size, and a block is in a slot. What is known of a group is not
 * in it but in a meta, and metas are in areas of one page each, apart from the blocks. A group has
 * its own mapping, or it is in a slot of a group of larger slots.
 *
 * The context is in the C library's data, and is recognized without a symbol: its first word is
 * random, and each area repeats it. Layouts of musl 1.2.1 to 1.2.5, 64-bit.
 */
#ifndef HI_MUSL_METAS_H
#define HI_MUSL_METAS_H

#include "heap.h"

#define MUSL_UNIT 16u
#define MUSL_HEAD_BYTES 4u        /* of a slot, before it */
#define MUSL_GROUP_HEAD_BYTES 16u /* the last four are the head of the first slot */
#define MUSL_CLASSES 48u
#define MUSL_CLASS_MAPPED 63u /* one block with a mapping of its own */
#define MUSL_AREA_BYTES 4096u
#define MUSL_AREA_METAS 101u
#define MUSL_AREA_HEAD_BYTES 24u
#define MUSL_META_BYTES 40u

struct musl_meta {
	remote_addr at;            /* where it is itself */
	remote_addr mem;           /* the group; 0 = this meta is of none */
	uint32_t available, freed; /* masks of slots: what is in neither has a block */
	uint8_t last, size_class;  /* the last slot's index */
	bool is_freeable;
	uint64_t mapped_bytes; /* 0: the group has no mapping of its own */
};

struct musl_metas {
	uint64_t secret;
	remote_addr area_head, area_tail;
	remote_addr *area;
	size_t area_count, area_room;
	struct musl_meta *meta; /* those of groups, by `at` */
	size_t count, room;
};

/*
 * Finds the context and reads all metas. -ENOENT: never used. -EPROTO: it is not this allocator, or
 * what was found does not agree with itself: refusal. Or -ENOMEM, or an error of the memory. Close
 * it in either case.
 */
must_check int musl_metas_find(const struct heap_source *source, const struct elf_image *image,
			       struct musl_metas *out_metas, char out_refusal[HEAP_TEXT_MAX]);
void musl_metas_close(struct musl_metas *metas);

/* The meta at this address, or NULL. */
const struct musl_meta *musl_metas_at(const struct musl_metas *metas, remote_addr at);
/*
 * Reads it again. -ENODATA: it cannot be read, or is of no group any more, or makes no sense.
 */
must_check int musl_meta_read(const struct heap_source *source, const struct musl_metas *metas,
			      remote_addr at, struct musl_meta *out_meta);

/* From a slot of the group to the next one. */
uint64_t musl_stride(const struct musl_meta *meta);
/* From the group's begin to the end of its last slot. */
uint64_t musl_group_bytes(const struct musl_meta *meta);

#endif
