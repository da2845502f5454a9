/* SPDX-License-Identifier: MIT */
/*
 * hi_trial.h - trials of allocators: the allocations and frees of a recording as a list of events,
 * which a small program, the player, makes again with an allocator of its own. The analyzer writes
 * the list, the player reads it and reports to the command.
 *
 * The list is a struct hi_trial_head, and `events` times struct hi_trial_event. The player checks
 * each number: the list was made of a stream that may be hostile. A block has a number from when
 * it is allocated until it is freed; then another one gets that number. So the player needs no
 * addresses, and has a table that is as large as the most blocks at once.
 */
#ifndef HI_TRIAL_H
#define HI_TRIAL_H

#include <stdint.h>

#define HI_TRIAL_MAGIC 0x314c414952544948ull /* "HITRIAL1" */
#define HI_TRIAL_EVENTS_MAX 200000000ull     /* 3.2 GB; what follows is left out */
#define HI_TRIAL_BLOCKS_MAX (1u << 28)
/* threads of the player; more threads of the recording share these */
#define HI_TRIAL_THREADS_MAX 256u
#define HI_TRIAL_ALIGNMENT_BITS_MAX 12u /* a page; what is guessed is no larger */
#define HI_TRIAL_TEXT_MAX 200u
/* Allocators give memory back after a time, so the list says what time it is; about so often. */
#define HI_TRIAL_TIME_NS 1000000u

enum hi_trial_op {
	HI_TRIAL_NOTHING, /* what was a free became a part of a realloc that comes later */
	HI_TRIAL_MALLOC,
	HI_TRIAL_CALLOC,
	HI_TRIAL_ALIGNED,
	HI_TRIAL_REALLOC, /* of this very block, which keeps its number */
	HI_TRIAL_FREE,
	HI_TRIAL_TIME, /* bytes: nanoseconds since the session began */
	HI_TRIAL_OPS,
};

struct hi_trial_event {
	uint32_t block;         /* from 0 */
	uint16_t thread;        /* from 0, which is the player's main thread */
	uint8_t op;             /* enum hi_trial_op */
	uint8_t alignment_bits; /* of ALIGNED: log2 */
	uint64_t bytes;         /* as requested; of FREE 0 */
};

/* Why there is no list. */
enum hi_trial_refusal {
	HI_TRIAL_LISTED,
	HI_TRIAL_SAMPLED,    /* not every allocation was recorded */
	HI_TRIAL_NO_STREAM,  /* text says why */
	HI_TRIAL_EMPTY,      /* no allocation is in it */
	HI_TRIAL_NO_MEMORY,  /* of the analyzer */
	HI_TRIAL_NOT_WRITTEN /* the list; err says why */
};

struct hi_trial_head {
	uint64_t magic;
	uint64_t events;
	uint32_t blocks;  /* their numbers are below */
	uint32_t threads; /* likewise */
	uint32_t refusal; /* enum hi_trial_refusal */
	int32_t err;
	/* requested bytes and blocks of the session that were in use at most at once, and at the
	 * end; the event after which the bytes were most */
	uint64_t most_bytes, most_blocks, most_at, last_bytes, last_blocks;
	uint64_t allocations, reallocs, frees; /* a realloc is neither of the others */
	uint64_t aligned;                      /* allocations whose alignment is guessed */
	uint64_t unknown_frees; /* of blocks that are older than the session, or were dropped */
	uint64_t missed_frees;  /* blocks whose address came again, without a free */
	uint64_t dropped;       /* records that the session lost */
	uint64_t left_out;      /* events beyond HI_TRIAL_EVENTS_MAX */
	uint64_t recorded_threads;
	uint64_t duration_ns, paused_ns;
	/* anonymous memory of the recorded process; 0 = not known */
	uint64_t anonymous_begin, anonymous_most, anonymous_end;
	uint64_t pid;
	char name[32];                    /* of the recorded program */
	char text[HI_TRIAL_TEXT_MAX];     /* what is wrong with the stream; empty = nothing */
	char unhooked[HI_TRIAL_TEXT_MAX]; /* allocators that were not recorded; empty = none */
};

/* What the player writes into its pipe, one struct at a time. */
enum hi_trial_state {
	HI_TRIAL_BEGINS = 1, /* object is known */
	HI_TRIAL_GOES_ON,
	HI_TRIAL_DONE,
	HI_TRIAL_TOO_LARGE, /* it would take more memory than it may */
	HI_TRIAL_FAILED,    /* err, or 0: the list makes no sense */
};

struct hi_trial_report {
	uint64_t magic;
	uint32_t state; /* enum hi_trial_state */
	int32_t err;
	uint64_t done;                    /* events so far */
	uint64_t peak_bytes, final_bytes; /* resident memory of the heap */
	uint64_t wall_ns, cpu_ns;
	uint64_t refused;               /* allocations for which the allocator had no memory */
	char object[HI_TRIAL_TEXT_MAX]; /* the object that has malloc */
};

_Static_assert(sizeof(struct hi_trial_event) == 16, "trial event");

#endif
