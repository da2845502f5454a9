/* SPDX-License-Identifier: MIT */
/*
 * hi_wire.h - what the injector and the payload share inside the target.
 *
 * The only header the payload takes from outside its folder. Nothing here calls anything.
 *
 * THE ARENA. One reservation in the target, backed by one memfd named "heapinject"; an offset in the arena is the same offset in the
 * memfd, so any line of /proc/PID/maps that carries the name gives base = start - file offset, and with it the control block
 * at offset 0. That is how `heapinject detach` finds the remains of an injector that was killed.
 *
 *   part      mapping                        child after fork     writer
 *   control   its first page r-- private,    kept                 injector; the payload only adds to `counters`
 *             the others rw- shared
 *   rings     rw- shared                     kept                 payload reserves and commits, injector clears and advances
 *   stacks    rw- shared                     kept                 payload appends; injector reads, and says how far it may go
 *   tables    r-- shared                     kept                 injector, through its own mapping of the memfd
 *   relays    rw- shared; in use r-x private kept                 nobody
 *             and each elsewhere
 *   state     rw- private anonymous          first page kept, the payload; injector before arming
 *                                            rest reads zero
 *                                            (WIPEONFORK)
 *   stage     rw- shared; for a moment         kept                 nobody
 *             code that is to be swapped in
 *   image     r-x private (map loader only)  kept                 nobody
 *   gate      r-x private                    kept                 nobody
 *   words     rw- private                    kept                 injector (/proc/PID/mem); payload may only bypass
 *
 * Where copies of gate addresses cannot be ruled out, gate and words outlive the rest, with bare jumps in the gate: all below them goes in one call.
 *
 * THE CALL PATH. A GOT slot points at a gate entry, or the first instruction of the function is a jump there. Entry i lies at gate + i * HI_GATE_STRIDE,
 * and its words at words + i * HI_GATE_STRIDE, where words = gate + HI_GATE_BYTES: the distance is one constant, so the entries are copies of a few
 * templates in the payload. An entry either tail-jumps to words->original, or, when a sample is due (or the freed block may be a sampled one), loads the
 * address of its words into r10 and jumps to words->hook. Disarming is hook = original in every entry.
 *
 * FORK. In a child `armed`, the slots and the occupancy read zero. A zero thread slot never equals a thread pointer and a zero occupancy byte means
 * "not ours", so the gate falls through; a hook that does run sees armed == 0 and tail-jumps to words->original, which is kept.
 * But a signal handler may fork in the middle of a hook, and its child goes on there. So whatever a hook may touch exists in a child, all
 * addresses it goes by are kept, and before each store to the ring it looks at `armed` once more: the child tells nothing.
 * So a child has all that its parent has, and the control block leads to it. `unforked`, which reads zero there, tells the two apart. As the first page of the
 * block is private, what whoever cleans up in one process notes in it (through /proc/PID/mem) is seen in that process alone; as nothing in the process may
 * write to it, it stays the file's page until then, and shows what the injector notes in the file.
 *
 * All integers are little-endian and naturally aligned. Offsets and sizes are asserted below: change them and HI_WIRE_VERSION together.
 */
#ifndef HI_WIRE_H
#define HI_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define HI_WIRE_MAGIC 0x31544a4e49504548ull /* "HEPINJT1" */
#define HI_WIRE_VERSION 13u
#define HI_MEMFD_NAME "heapinject" /* shows as /memfd:heapinject (deleted) */
#define HI_PAGE_BYTES 4096u

/* ---- functions that can be hooked -------------------------------------------------------------------------------------- */

/*
 * One row per hooked function: X(id, symbol, kind, where). A symbol that an object does not define is simply not hooked.
 * kind ALLOC: first argument is the size; SIZE2: size is argument 1 times argument 2; SIZEARG2, SIZEARG3: size is the second or third argument;
 * FREE: first argument is the block; REALLOC: first the block, then the size; ALWAYS: anything else.
 * where ANY: whichever object defines it; ALLOCATOR: hooked only where the object that defines malloc defines it as well (jemalloc, tcmalloc, mimalloc).
 * Elsewhere it is a wrapper around malloc, and would count twice: libstdc++'s operators reach malloc through libstdc++'s slot.
 */
#define HI_FUNCTIONS(X)                                                                         \
	X(MALLOC, "malloc", ALLOC, ANY)                                                         \
	X(CALLOC, "calloc", SIZE2, ANY)                                                         \
	X(REALLOC, "realloc", REALLOC, ANY)                                                     \
	X(REALLOCARRAY, "reallocarray", ALWAYS, ANY)                                            \
	X(FREE, "free", FREE, ANY)                                                              \
	X(FREE_SIZED, "free_sized", FREE, ANY)                                                  \
	X(FREE_ALIGNED_SIZED, "free_aligned_sized", FREE, ANY)                                  \
	X(CFREE, "cfree", FREE, ANY)                                                            \
	X(POSIX_MEMALIGN, "posix_memalign", SIZEARG3, ANY) /* (void **out, alignment, size) */  \
	X(ALIGNED_ALLOC, "aligned_alloc", SIZEARG2, ANY)                                        \
	X(MEMALIGN, "memalign", ALWAYS, ANY) /* it may call aligned_alloc: see payload */       \
	X(VALLOC, "valloc", ALLOC, ANY)                                                         \
	X(PVALLOC, "pvalloc", ALLOC, ANY)                                                       \
	X(MALLOCX, "mallocx", ALLOC, ALLOCATOR)                                                 \
	X(RALLOCX, "rallocx", REALLOC, ALLOCATOR)                                               \
	X(XALLOCX, "xallocx", ALWAYS, ALLOCATOR)                                                \
	X(DALLOCX, "dallocx", FREE, ALLOCATOR)                                                  \
	X(SDALLOCX, "sdallocx", FREE, ALLOCATOR)                                                \
	X(NEW, "_Znwm", ALLOC, ALLOCATOR)                                                       \
	X(NEW_ARRAY, "_Znam", ALLOC, ALLOCATOR)                                                 \
	X(NEW_NOTHROW, "_ZnwmRKSt9nothrow_t", ALLOC, ALLOCATOR)                                 \
	X(NEW_ARRAY_NOTHROW, "_ZnamRKSt9nothrow_t", ALLOC, ALLOCATOR)                           \
	X(NEW_ALIGNED, "_ZnwmSt11align_val_t", ALLOC, ALLOCATOR)                                \
	X(NEW_ARRAY_ALIGNED, "_ZnamSt11align_val_t", ALLOC, ALLOCATOR)                          \
	X(NEW_ALIGNED_NOTHROW, "_ZnwmSt11align_val_tRKSt9nothrow_t", ALLOC, ALLOCATOR)          \
	X(NEW_ARRAY_ALIGNED_NOTHROW, "_ZnamSt11align_val_tRKSt9nothrow_t", ALLOC, ALLOCATOR)    \
	X(DELETE, "_ZdlPv", FREE, ALLOCATOR)                                                    \
	X(DELETE_ARRAY, "_ZdaPv", FREE, ALLOCATOR)                                              \
	X(DELETE_NOTHROW, "_ZdlPvRKSt9nothrow_t", FREE, ALLOCATOR)                              \
	X(DELETE_ARRAY_NOTHROW, "_ZdaPvRKSt9nothrow_t", FREE, ALLOCATOR)                        \
	X(DELETE_SIZED, "_ZdlPvm", FREE, ALLOCATOR)                                             \
	X(DELETE_ARRAY_SIZED, "_ZdaPvm", FREE, ALLOCATOR)                                       \
	X(DELETE_ALIGNED, "_ZdlPvSt11align_val_t", FREE, ALLOCATOR)                             \
	X(DELETE_ARRAY_ALIGNED, "_ZdaPvSt11align_val_t", FREE, ALLOCATOR)                       \
	X(DELETE_ALIGNED_NOTHROW, "_ZdlPvSt11align_val_tRKSt9nothrow_t", FREE, ALLOCATOR)       \
	X(DELETE_ARRAY_ALIGNED_NOTHROW, "_ZdaPvSt11align_val_tRKSt9nothrow_t", FREE, ALLOCATOR) \
	X(DELETE_SIZED_ALIGNED, "_ZdlPvmSt11align_val_t", FREE, ALLOCATOR)                      \
	X(DELETE_ARRAY_SIZED_ALIGNED, "_ZdaPvmSt11align_val_t", FREE, ALLOCATOR)

#define HI_ENUM(id, symbol, kind, where) HI_FN_##id,
enum hi_function { HI_FUNCTIONS(HI_ENUM) HI_FUNCTION_COUNT };
_Static_assert(HI_FUNCTION_COUNT <= 64, "the journal has one bit for each");
#undef HI_ENUM

/* ---- the gate ---------------------------------------------------------------------------------------------------------- */

#define HI_GATE_EXIT_BYTES 16u /* of an entry: the way on to its function; hi_gate_<class>_exit in the image */
#define HI_NESTED_FROM_MAX 2u
#define HI_GATE_STRIDE 192u                              /* bytes from entry to entry, and from words to words */
#define HI_GATE_BYTES (3u * HI_PAGE_BYTES)               /* code; the words follow directly and are as large */
#define HI_GATE_ENTRIES (HI_GATE_BYTES / HI_GATE_STRIDE) /* 64: one per function in use; a second allocator beside is not hooked */

/*
 * The words of one gate entry. Written by the injector before the first slot points at the entry. Later only `hook` changes, by one aligned store of a thread
 * of the target: to `original`, when the injector detaches (by hi_store_words) or the payload finds it silent.
 */
struct hi_gate_words {
	uint64_t original;       /*  0: the function the slot led to, or the entry's own exit; never changes, served even after everything else is gone */
	uint64_t hook;           /*  8: payload hook until detach, which looks at `armed` first; then == original */
	uint64_t thread_slots;   /* 16: address of struct hi_thread_table, in state */
	uint64_t occupancy;      /* 24: address of the occupancy bytes, in state */
	uint64_t state;          /* 32: address of struct hi_state */
	uint64_t nothrow;        /* 40: throwing operator new only: what leads to its nothrow variant in the same object, else 0; if `plain` is 0 */
	uint32_t occupancy_mask; /* 48: number of occupancy bytes - 1; that of a block is hi_gate_hash(its address) & this */
	uint32_t function;       /* 52: enum hi_function */
	uint64_t usable_size;    /* 56: malloc_usable_size, or its like, in the object that defines `original`; 0 = it has none */
	uint64_t restore_at;     /* 64: of the last entry only, which is no function's: address of the errno of a thread that was made to call dlopen, */
	uint64_t restore_value;  /* 72: and what it is to be again. 32 bits */
	uint64_t nests; /* 80: 1 = the original may reach another function that is hooked at its entry: called from within the visit, so that this is known */
	struct {
		uint64_t lo, hi;           /* code of others that do so by a call: what is called from there belongs to their callers' bytes */
	} nested_from[HI_NESTED_FROM_MAX]; /* 88; unused ones are 0 */
	uint64_t return_gadget;            /* 120: where hooks have originals return to, 0 = to the payload. See struct hi_control */
	uint64_t plain;       /* 128: throwing operator new only: what leads to malloc, or memalign, whose blocks are the same; 0 = they may not be */
	uint64_t new_handler; /* 136: address of the word that holds the C++ library's new-handler; 0 = not known */
	uint64_t reserved[6];
};
#define HI_GATE_RESTORE (HI_GATE_ENTRIES - 1u) /* that entry */
_Static_assert(sizeof(struct hi_gate_words) == HI_GATE_STRIDE, "entry and words must advance together");

/* ---- state: private anonymous memory of the payload, wiped in a forked child -------------------------------------------------- */

#define HI_THREAD_SLOT_BITS 14u
#define HI_THREAD_SLOTS (1u << HI_THREAD_SLOT_BITS)
#define HI_THREAD_WAYS 4u /* slots side by side that a thread may have, home ^ 0 to home ^ 3: the gate looks at all of them */
#define HI_HASH 0x9e3779b97f4a7c15ull

/*
 * Home of a block's occupancy byte: this modulo their number. The factor fits into an instruction, and all address bits above the lowest reach the low bits of
 * the result.
 */
#define HI_HASH_GATE 0x61c88647u
static inline uint32_t hi_gate_hash(uint64_t address)
{
	return (uint32_t)(address * HI_HASH_GATE >> 32);
}

/*
 * Home of a thread, by its thread pointer. Stacks of one size lie at regular distances, and so do the thread pointers at their ends: modulo 2^(shift + bits)
 * the product goes round the table in equal steps, and how evenly it fills the table depends on what the distance and the factor have in common. This factor
 * was searched for: 4,096 threads at any distance of 1 to 4,200 pages all find a place among the HI_THREAD_WAYS slots of their home (payload_thread_slot_test).
 */
#define HI_HASH_THREAD 0x233bde3du
#define HI_HASH_THREAD_SHIFT 30u
static inline uint32_t hi_thread_hash(uint64_t thread)
{
	return (uint32_t)(thread * HI_HASH_THREAD >> HI_HASH_THREAD_SHIFT) & (HI_THREAD_SLOTS - 1);
}

/*
 * What a thread may know about itself without TLS. Found by hashing the thread pointer; claimed by compare-and-swap on `owner`.
 * The gate compares `fast_owner` and subtracts from `countdown`; both belong to the owning thread. A thread that loses its slot to another
 * just draws a new countdown: the exponential distribution has no memory, so nothing is biased.
 *
 * WHO IS INSIDE. A visit to a hook adds one to a count and takes it away when it leaves. A locked instruction for each would be a good part of what a
 * visit costs in exact mode, and a thread that is alone with its count needs none: one instruction that reads, adds and writes is whole for a signal handler of
 * that thread. Alone with `in_flight` of a slot is the first owner, who found `owner` 0 and swapped itself in; nothing ever makes it 0 again, and whoever takes
 * a slot over leaves HI_SLOT_GUEST there for good, the first owner included should it come back. So a thread adds to in_flight where it finds `owner` to be
 * itself and nothing else, and that holds for one thread only, ever. (Its thread pointer may be given to another thread once it has ended.)
 * All others, who are called guests, take a PLACE for the time of the visit (struct hi_place): later owners, owners for whom no scratch was left, and threads
 * that have no slot. A place has one holder at a time, and knows it, so that a guest can tell a nested call of its own from the visit of another thread. A
 * guest that has no slot draws a countdown for this one call, in a slot that belongs to the place: that is as good a sample as any, as the exponential
 * distribution has no memory. Where no place is free a call is passed over, and counted in `passing` while it is inside.
 * The injector learns that nobody is inside as follows: (1) it clears `armed` and has original stored to each gate entry's hook; (2) it stops each thread once;
 * (3) it reads the counts. An add that is not locked may be seen late by others, but no later than its thread is seen to have stopped: what a thread did
 * before that is in (3), and after that it does not come in.
 */
struct hi_thread_slot {
	uint64_t fast_owner;  /*  0: == owner's thread where the gate may count down by itself; 0 in exact mode, so that every call is a sample */
	int64_t countdown;    /*  8: bytes until the next sample; a sample is due when countdown - size <= 0 */
	uint64_t owner;       /* 16: thread pointer, 0 = free; with HI_SLOT_GUEST if it goes by places */
	uint32_t in_flight;   /* 24: hook frames of its first owner that will return into the payload; that thread adds, without a lock */
	uint32_t scratch;     /* 28: number of the scratch that goes with in_flight */
	uint64_t random;      /* 32: generator state */
	uint64_t last_seen;   /* 40: cycle counter at the last slow path; an old one may be evicted */
	uint64_t cycles;      /* 48: cycle counter ticks spent in the payload's slow path, originals not counted */
	uint16_t interval_shift;   /* 56: the countdown was drawn with a mean of control->interval << this */
	uint16_t own_ring;    /* 58: number of the ring that only its first owner writes to; 0 = it has none (see "rings" below) */
	uint32_t region_told; /* 60: cycle counter >> HI_REGION_TOLD_SHIFT when this thread last wrote a HI_RECORD_REGION: it does so rarely */
};
_Static_assert(sizeof(struct hi_thread_slot) == 64, "one cache line a thread");
#define HI_SLOT_GUEST 1ull /* no bit of a thread pointer */
#define HI_REGION_TOLD_SHIFT 20u

/*
 * A place is taken by a compare-and-swap of both halves, from any with count 0 to the holder's mark and 1; calls nested in that visit add to count and take
 * away again, and with count 0 it is free. HI_PLACE_WAYS of them side by side, by the holder's thread pointer, are one cache line.
 */
struct hi_place {
	uint32_t holder; /* mark of its thread: where two threads have the same ways, these differ (but for odds of 2^-32) */
	uint32_t count;  /* hook frames of the holder that will return into the payload; atomic add */
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct hi_place) == 8, "a place is swapped as a whole");
#define HI_PLACE_BITS 10u
#define HI_PLACES (1u << HI_PLACE_BITS)
#define HI_PLACE_WAYS 8u

#define HI_SLOTS_A_PAGE (HI_PAGE_BYTES / 64u)

/* All that threads know of themselves, and all counts of who is inside. */
struct hi_thread_table {
	struct hi_thread_slot slot[HI_THREAD_SLOTS];
	struct hi_thread_slot place_slot[HI_PLACES]; /* of the place's holder, where it has no other: `owner` and `in_flight` are not used */
	struct hi_place place[HI_PLACES];
	uint32_t reserved0;
	uint32_t passing;                                         /* hook frames of threads that found no place; atomic add */
	uint64_t claimed[HI_THREAD_SLOTS / HI_SLOTS_A_PAGE / 64]; /* one bit a page of slots: some were claimed, and no other page need be read */
	uint64_t reserved1[3];
};
_Static_assert(sizeof(struct hi_thread_table) % 64 == 0, "whole cache lines");

#define HI_BUCKET_ENTRIES 8u /* block addresses in one live-set bucket: one cache line */
#define HI_BUCKET_PROBES 2u  /* buckets side by side that an address may lie in; a power of two */
#define HI_LEVEL_BITS 2u     /* each level of the live set has 2^this times as many buckets as the one above it */
#define HI_LEVELS_MAX 8u

/*
 * Where a thread puts an alloc record together (struct hi_scratch, below): on the stack it might not fit, as some stacks are small. They have numbers. Those
 * below HI_OWN_SCRATCHES are given out one after the other, each to a slot that is claimed for the first time, and go with its in_flight; 0 is nobody's. From
 * there on each belongs to a place. A scratch is for the one visit that found its count at 0; whoever finds another value (a signal handler that interrupted
 * that visit) takes no sample.
 */
#define HI_OWN_SCRATCHES 4096u
#define HI_SCRATCHES (HI_OWN_SCRATCHES + HI_PLACES)
#define HI_SCRATCH_BYTES 1152u

/*
 * The rules by which pcs were left of late, so that a pc that comes again costs no search: HI_RULES entries, direct-mapped, at pc ^ pc >> HI_RULE_BITS modulo
 * HI_RULES. Threads write them without a lock. `check` ties the two words together, and to the directory they were found in: neither a pair of which another
 * thread has written one half nor what was right before a library came or went is a match.
 */
#define HI_RULE_BITS 12u
#define HI_RULES (1u << HI_RULE_BITS)
struct hi_rule_entry {
	uint64_t check; /* pc + mark of the directory it was found in, ^ value * HI_HASH */
	uint64_t value; /* the rule, and where that of the caller lies, packed by rules.h */
};
_Static_assert(sizeof(struct hi_rule_entry) == 16, "rule entry");

/*
 * Walks that were made before, as a tree: a node is a frame together with those that it was called by on the way from the leaf. Threads write them without a
 * lock, and never again once they are linked in, but for the links. How: payload/stack_trie.c. A link is an offset in bytes from the first node, which is none:
 * 0 leads nowhere. Links to leaves, and to callers beyond the second, are in uint32_t[1 << walk_bits], by a hash of callee and pc.
 */
struct hi_walk_node {
	uint64_t pc; /*  0: return address; of a leaf with the mark of the directory added; 0 = the stack ended by a return address of zero */
	union {
		struct {
			uint8_t kind;   /*  8: bits that stack_trie.c defines; 0 = there is no node */
			int8_t bp_slot; /*  9: how it is left: the caller's bp is so many words above the CFA, 0 = it is unchanged */
			int16_t bp_at;  /* 10: if the CFA goes by bp: that lies so many words above sp */
			int32_t cfa;    /* 12: the CFA is so many bytes above sp, or bp */
		};
		uint64_t rule; /* these four */
	};
	uint32_t caller; /* 16: link to the node of a caller */
	uint32_t other;  /* 20: link to the node of a second caller of the same callee */
	uint32_t callee; /* 24: link back; 0 = it is a leaf */
	uint32_t stack;  /* 28: id of the stack that ends here, 0 = it goes on */
};
_Static_assert(sizeof(struct hi_walk_node) == 32, "two nodes a cache line");

/*
 * A word of the target that its running threads read as an address of code: a GOT slot, or the hook of a gate entry. Writes from outside may be seen half done
 * (docs/architecture.md, "Words that are read while they change"), so a thread that the injector has borrowed stores it, from a list in the state.
 */
struct hi_store {
	uint64_t at;       /* aligned, in a page that may be written */
	uint64_t expected; /* what it holds; afterwards what it held: if that is something else, nothing was stored */
	uint64_t value;
};
#define HI_STORES 64u

/*
 * Head of the state. The injector fills it and sets `armed` last; the payload clears `armed` for good when the injector has been silent for
 * control->deadman_cycles. Layout of the state: this head (two pages), the thread table, the occupancy bytes, the buckets, the scratch, the rules, the
 * known stacks, the nodes of known walks and the links to them, each starting on a page. Addresses are in the target.
 */
struct hi_state {
	uint64_t control; /*  0 */
	uint64_t ring;
	uint64_t tables;
	uint64_t tables_size;
	uint64_t thread_slots;  /* 32: struct hi_thread_table */
	uint64_t occupancy;     /* one byte a home (see occupancy_mask): how many live samples call it home, saturating at 255 (then it sticks) */
	uint64_t buckets;       /* uint64_t[HI_BUCKET_ENTRIES] each, 0 = free; 1 << bucket_bits of them, then those of the other levels */
	uint64_t scratch;       /* HI_SCRATCH_BYTES, HI_SCRATCHES times */
	uint32_t bucket_bits;   /* 64 */
	uint32_t bucket_levels; /* 0: no live set is kept, every free is told */
	uint64_t gate;          /* first gate entry, and how many bytes of code: so that the payload knows its own addresses */
	uint64_t gate_bytes;
	uint64_t rules;        /* struct hi_rule_entry[HI_RULES] */
	uint64_t walk_nodes;   /* struct hi_walk_node[1 << walk_bits] */
	uint64_t walk_edges;   /* uint32_t[1 << walk_bits] */
	uint64_t walk_bits;    /* 0: walks are not remembered */
	uint64_t known_stacks; /* uint64_t[1 << known_bits]: see "stacks" below */
	uint64_t stacks;       /* struct hi_stacks */
	uint64_t stacks_size;
	uint32_t known_bits;
	uint32_t occupancy_bits;
	uint64_t ring_capacity; /* of each ring; a power of two */
	uint32_t ring_mask;     /* their number - 1 */
	uint32_t ring_ahead; /* a producer asks for the line so many bytes behind its record, as it will be written soon; 0 = the CPU knows no such request */
	uint64_t fast_clock; /* 1: the CPU has the faster of two ways to read the clock in order (payload/arch) */
	struct hi_store store[HI_STORES] __attribute__((aligned(512))); /* for hi_store_words, */
	uint8_t store_stack[2048] __attribute__((aligned(2048)));       /* and what it runs on */
	uint64_t armed __attribute__((aligned(HI_PAGE_BYTES)));         /* 4096: 1 = sample. From here on all is zero in a forked child */
	uint64_t levels_used;                                           /* these by the payload. One bit a level of the live set: something was put there */
	uint64_t rings_owned;                                           /* so many rings have been given to threads of their own */
	uint64_t walk_nodes_used;                                       /* how many were asked for; the first is none */
	uint64_t threads;                                               /* 0, 1, or more threads have come to a hook */
	uint64_t scratches_used;                                        /* so many slots asked for a scratch */
	uint64_t unforked;                                              /* 1, from the beginning */
};
_Static_assert(offsetof(struct hi_state, store) == 512 && offsetof(struct hi_state, store_stack) == 2048, "list and stack behind the head");
_Static_assert(offsetof(struct hi_state, armed) == HI_PAGE_BYTES && sizeof(struct hi_state) == 2 * HI_PAGE_BYTES, "a page that is kept, a page that is wiped");

/* ---- control block: shared, at arena offset 0 ------------------------------------------------------------------------------ */

/* How far the injector has come; written before the step is begun, so that undo knows what may exist. */
enum hi_phase {
	HI_PHASE_NONE = 0,
	HI_PHASE_LOADING = 1, /* arena and payload are being mapped; no slot written */
	HI_PHASE_ARMING = 2,  /* slots are being written */
	HI_PHASE_ARMED = 3,
	HI_PHASE_DISARMED = 4,  /* gate bypassed; slots are being written back */
	HI_PHASE_RESTORED = 5,  /* slots written back; quiescing, fixing up escaped pointers */
	HI_PHASE_UNLOADING = 6, /* mappings are being removed */
};

enum hi_loader { HI_LOADER_MAP = 0, HI_LOADER_DLOPEN = 1 };

/* Where the allocator's functions are hooked. */
enum hi_hook {
	HI_HOOK_AUTO = 0,  /* at their entries where that can be, else by slots */
	HI_HOOK_SLOT = 1,  /* by GOT slots alone */
	HI_HOOK_ENTRY = 2, /* at their entries, or not at all */
};

/*
 * Event counters: each is added to by the payload (relaxed atomic add), and only ever read by the injector. What goes well is not among them: a word that all
 * threads add to is slow, and the reader of the ring counts records as they come.
 */
struct hi_counters {
	uint64_t dropped_allocs;   /* ring too full for an alloc record: the block is not in the live set either */
	uint64_t dropped_frees;    /* ring full for a free record: in-use is overstated by that block */
	uint64_t live_set_full;    /* sample given up because its buckets were full */
	uint64_t no_thread_slot;   /* allocations that were passed over, at most: of more threads than there is room for inside at once */
	uint64_t stacks_untold;    /* stack that found no room among the known ones: its record carries the frames */
	uint64_t stacks_truncated; /* samples whose walk did not end at HI_END_COMPLETE */
	uint64_t deadman;          /* times the payload disarmed itself */
	uint64_t commit_lost;      /* record skipped by the reader before its producer committed it */
	uint64_t passed_bytes;     /* that no_thread_slot allocations stand for, at most */
	uint64_t reserved[7];
};

#define HI_REGION_CAPACITY 32760u /* half of what a process may map at most (vm.max_map_count): a stack and the page that guards it are two */
/*
 * Address ranges in which a stack may lie: [lo, hi), sorted, not overlapping. Written by the injector into the list that is
 * not current, then published by storing its index. A payload that was preempted while reading an old list may see a mix:
 * it re-checks `generation` after its lookup and treats a change as "unknown region". What of a range may be read: payload/stack.c.
 */
struct hi_regions {
	uint64_t generation; /* odd while being written */
	uint32_t count;
	uint32_t reserved;
	struct {
		uint64_t lo, hi;
	} range[HI_REGION_CAPACITY];
};

#define HI_MODULE_CAPACITY 1020u
/*
 * Directory of unwind tables: executable ranges [lo, hi) of the target, sorted, with the offsets of their rows in the tables part.
 * Published like hi_regions. Rows of a module that went away stay readable, so that a stale lookup gives a wrong stack, never a fault.
 */
struct hi_unwind_module {
	uint64_t lo, hi; /* text addresses covered */
	uint64_t rows;   /* offset in tables: struct hi_unwind_row[row_count], sorted by pc; row 0 has pc 0 */
	uint64_t index;  /* offset in tables: uint32_t[index_count]: first row to look at for each HI_INDEX_BYTES of text */
	uint32_t row_count;
	uint32_t index_count; /* (hi - lo) / HI_INDEX_BYTES + 2 */
};
_Static_assert(sizeof(struct hi_unwind_module) == 40, "unwind module");
#define HI_INDEX_BYTES 256u /* index[k] = last row with pc <= k * HI_INDEX_BYTES */

struct hi_unwind_directory {
	uint64_t generation;
	uint32_t count;
	uint32_t reserved;
	struct hi_unwind_module module[HI_MODULE_CAPACITY];
};

/*
 * One unwind row covers [pc, next row's pc), as offsets from the module's lo. The return address is always at CFA - 8 (x86-64).
 * 8 bytes; names follow .eh_frame. Lookup uses the return address minus one, except for the frame above a signal frame.
 */
enum hi_unwind_kind {
	HI_UNWIND_NONE = 0,     /* no information: gap, or an expression the table cannot carry; try the frame-pointer chain */
	HI_UNWIND_SP = 1,       /* CFA = sp + 8 * cfa */
	HI_UNWIND_BP = 2,       /* CFA = bp + 8 * cfa */
	HI_UNWIND_BP_DEREF = 3, /* CFA = *(bp + 8 * cfa): frames that realigned their stack; the caller's bp is at *bp, as their distance to the CFA varies */
	HI_UNWIND_PLT = 4,      /* CFA = sp + 8 + ((pc & 15) >= cfa ? 8 : 0): .plt entries of lazy binding */
	HI_UNWIND_END = 5,      /* return address undefined: the proper end of a stack */
	HI_UNWIND_SIGNAL = 6,   /* signal trampoline: registers are in the ucontext at sp (x86-64: rt_sigframe after its return address) */
	/* Hand-written code. Of cfa the lower HI_UNWIND_LOW_BITS are one number, `low`, and the rest another, `high`, which may be negative. */
	HI_UNWIND_SPILLED = 7,  /* CFA = *(sp + 8 * high) + 8 * low: the old sp was spilled */
	HI_UNWIND_REGISTER = 8, /* CFA = word `low` of the ucontext + 8 * high: only in the frame that a signal interrupted; elsewhere as NONE */
	HI_UNWIND_SCRATCH = 9,  /* the same of a register that calls do not keep, but for functions that were written to: in all frames from that one up */
	HI_UNWIND_INDEXED = 10, /* CFA = *(sp + 8 + 8 * word `low` of the ucontext) + 8 * high: likewise */
};
#define HI_UNWIND_LOW_BITS 5u
#define HI_UNWIND_LOW(cfa) ((cfa) & ((1 << HI_UNWIND_LOW_BITS) - 1))
#define HI_UNWIND_HIGH(cfa) ((cfa) >> HI_UNWIND_LOW_BITS)
struct hi_unwind_row {
	uint32_t pc;
	int16_t cfa;    /* signed, in units of 8 bytes; for HI_UNWIND_PLT a plain number 0..15 */
	uint8_t kind;   /* enum hi_unwind_kind */
	int8_t bp_slot; /* caller's bp is at CFA + 8 * bp_slot; 0 = bp unchanged (BP_DEREF: see there); bp_slot is negative */
};
_Static_assert(sizeof(struct hi_unwind_row) == 8, "unwind row");

#define HI_JOURNAL_CAPACITY 16384u
enum hi_journal_state {
	HI_JOURNAL_FREE = 0,
	HI_JOURNAL_PLANNED = 1, /* about to be written: the slot may hold either value */
	HI_JOURNAL_WRITTEN = 2,
	HI_JOURNAL_RESTORED = 3, /* written back, or found not to hold ours any more */
};
/* What kind of word was changed. */
enum hi_journal_kind {
	HI_JOURNAL_UNLOADABLE = 0, /* a GOT slot of an object that may be unloaded: written only while all threads stand still */
	HI_JOURNAL_PINNED = 1, /* a GOT slot of an object that is never unloaded */
};
/* One GOT slot. Complete and PLANNED before the word is touched; undo writes old_value only where it holds new_value. */
struct hi_journal_entry {
	uint64_t slot;      /* address in the target */
	uint64_t old_value; /* what it held: the resolved original, or the lazy stub */
	uint64_t new_value; /* gate entry */
	uint64_t original;  /* what the gate entry serves: escaped copies of new_value are fixed_up to this */
	uint32_t state;     /* enum hi_journal_state */
	uint16_t function;  /* enum hi_function */
	uint8_t kind;       /* enum hi_journal_kind */
	uint8_t read_only;  /* 1: its page could not be written (RELRO), and shall not be when we are gone */
};
_Static_assert(sizeof(struct hi_journal_entry) == 40, "journal entry");

/* One word of a function's first instruction, or of the filling before it. */
#define HI_CODE_WORDS_MAX 128u
struct hi_code_word {
	uint64_t at;                   /* lies in `code` of the control block */
	uint64_t old_value, new_value; /* undo takes the page back as its file has it, where it holds nothing but these */
};

/* What the target looked like before; compared at detach, and after a crash of the injector all there is to compare with. */
struct hi_snapshot {
	uint64_t fd_count;
	uint64_t thread_count;
	uint64_t sig_blocked, sig_ignored, sig_caught; /* of the leader, as in /proc/PID/status */
	uint64_t map_count;
	uint64_t reserved[2];
};

/* Parts of the arena: offset and size in bytes, both whole pages. */
struct hi_part {
	uint64_t offset;
	uint64_t size;
};

#define HI_INTERVAL_SHIFT_MAX 40u
#define HI_CODE_RANGES_MAX 4u
#define HI_CODE_BYTES_MAX (4u << 20) /* of all of them */
#define HI_RELAYS_MAX 16u            /* pages with a jump each, to which a function's entry can lead where it cannot lead to the gate */

struct hi_control {
	uint64_t magic;      /* HI_WIRE_MAGIC, stored last by the injector */
	uint32_t version;    /* HI_WIRE_VERSION */
	uint32_t phase;      /* enum hi_phase */
	uint32_t loader;     /* enum hi_loader */
	uint32_t pid;        /* of the target, as the injector sees it */
	uint64_t start_time; /* of the target: field 22 of /proc/PID/stat, clock ticks since boot */
	uint32_t injector_pid;
	uint32_t reserved_id;
	uint64_t arena; /* base address in the target, 0 until known */
	uint64_t arena_size;
	struct hi_part ring, stacks, tables, relays, state, stage, image, gate, words;
	uint64_t payload_base; /* load address of the payload image; inside the arena for the map loader */
	uint64_t payload_size;
	uint64_t dlopen_handle; /* dlopen loader only */
	uint32_t gate_count;    /* gate entries in use */
	uint32_t bucket_bits;   /* of the live set: sizes the state */
	uint32_t bucket_levels; /* likewise */
	uint32_t occupancy_bits;
	uint32_t known_bits; /* of the known stacks: likewise */
	uint32_t walk_bits;  /* of the known walks: likewise */
	uint32_t has_slots; /* 1: GOT slots lead to the gate, or soon may. Stored before the first is written; not in the journal, which a child can write to */
	uint32_t reserved;
	/* Of each page of `relays` that is mapped once more, wherever it has to lie: the address of the jump in it, 0 = none. Stored before it is mapped. */
	uint64_t relay[HI_RELAYS_MAX];
	/* Code of the target that another copy takes the place of while functions are hooked at their entries: whole pages, 0 = none. */
	struct {
		uint64_t lo, size;
	} code[HI_CODE_RANGES_MAX];
	/*
	 * The address of an indirect call in code of the target's own, by a register that calls keep; 0 = none is used. An original that a hook calls returns
	 * there, and from there to the payload: what takes the stack in the original finds unwind rows for this address, which say of its function's frame what
	 * is true of the hook's, and lead on to the hook's caller. For the payload there are none, where unwinders look.
	 */
	uint64_t return_gadget;
	struct hi_snapshot before;
	/* The words of `code` that are other in what takes its place. Complete before it does. */
	uint64_t code_functions; /* a bit for each function that they are of */
	uint32_t code_word_count;
	uint32_t reserved_code;
	struct hi_code_word code_word[HI_CODE_WORDS_MAX];
	/*
	 * Up to here private, and nothing that a hook touches. The injector writes it by /proc/PID/mem: the arena's file is shared with all children of the
	 * target that were forked meanwhile, and some may have fewer rights.
	 */
	uint64_t heartbeat __attribute__((aligned(HI_PAGE_BYTES))); /* cycle counter, stored by the injector every pump round */
	uint64_t deadman_cycles;                                    /* silence after which the payload disarms itself; 0 = never */
	uint64_t interval;                                          /* mean bytes between samples as asked for; 1 = every allocation */
	uint64_t main_stack;                                        /* upper end of the main thread's stack, 0 = not known */
	uint32_t current_regions;                                   /* index into regions[] */
	uint32_t current_directory;                                 /* index into directory[] */
	uint32_t interval_shift;                                         /* countdowns are drawn with a mean of interval << this from now on; <= HI_INTERVAL_SHIFT_MAX */
	uint32_t ring_mask;                                         /* number of rings - 1: HI_RINGS - 1, or 0 */
	uint32_t journal_count;                                     /* entries in use, including RESTORED ones */
	struct hi_counters counters __attribute__((aligned(64)));
	struct hi_regions regions[2] __attribute__((aligned(64)));
	struct hi_unwind_directory directory[2] __attribute__((aligned(64)));
	struct hi_journal_entry journal[HI_JOURNAL_CAPACITY] __attribute__((aligned(64)));
};
_Static_assert(offsetof(struct hi_control, heartbeat) == HI_PAGE_BYTES, "one page is private");
/* Size of the control part of the arena, in whole pages. */
#define HI_CONTROL_BYTES ((sizeof(struct hi_control) + HI_PAGE_BYTES - 1) / HI_PAGE_BYTES * HI_PAGE_BYTES)

/* ---- rings --------------------------------------------------------------------------------------------------------------------- */

/*
 * As many rings as control->ring_mask says lie one behind the other, each with a head of its own, so that threads seldom meet; all are of one size. The first
 * half is for all: the record of a thread goes to the one that bears the number of its slot (modulo how many there are), and if that is full to the next, and
 * so on. Each of the second half belongs to a thread, the first owner of the slot that says so, as long as there are any left: its records go there first. It
 * changes the head by an instruction that is not locked, as "who is inside" has it of in_flight, and so need not wait until its stores of before have left the
 * CPU, which after a fresh block was written to takes longer than all else. With one ring in all it is for all.
 *
 * One ring: many producers, one reader. Positions count bytes since the start and only grow; position % capacity is the place in data[].
 * A record starts on a HI_RING_UNIT boundary and may wrap around the end of data[] (copy word by word, modulo capacity).
 *
 * Producer: read tail, then reserve [head, head + size) by compare-and-swap on head (locked, unless the ring is its own), where head + size - tail <= limit
 * (capacity for frees, three quarters of it for allocs, so that a free always finds room); store the first word as size | type << 32 | HI_RING_BUSY; store the
 * rest; then commit by compare-and-swap of the first word to the same without HI_RING_BUSY (release). Failure of that swap means that the reader gave the
 * record up: count commit_lost. The swap is one instruction, but it is not locked: no other producer writes that word, and to wait until all stores before it
 * have left the CPU would cost more than they.
 * Reader: at tail, first word 0 = reserved but not begun; BUSY = begun; else take it, ZERO THE WHOLE RECORD, then advance tail (release). It may do that for
 * many records at once, and look at head as seldom: each look and each store takes the line from the CPU of a producer, which then has to fetch it back.
 * A producer that died leaves zeros or a BUSY word behind: after a while the reader skips a BUSY record by its size, and zeros unit by unit up to the next
 * non-zero word below head. All of data[] starts zeroed.
 * As the producer's swap is not locked, it may write over what the reader wrote since it read. So the reader first sets HI_RING_GIVEN_UP in a BUSY word (by
 * compare-and-swap), and skips the record if the mark is still there some milliseconds later. A swap that begins after the mark fails; one that had read before
 * it has written by then, as nothing interrupts an instruction, and was a commit: the record is taken.
 * The reader trusts nothing: sizes, types and counts are checked against these definitions before use.
 *
 * ORDER. What must be kept is the order of events about one address: B, the next one after A, may lie in another ring. Three facts lead to it.
 *   1. B is reserved only after A was: an alloc record is before the block is handed over, a free record before the block is freed. (The swap of head is
 *      seen by others before what its thread stores after it: because it is locked, or because the CPU shows stores in their order.)
 *   2. A record's `cycles` are read before it is reserved, but after all that its thread has learned of before, so that B.cycles > when A was reserved. As
 *      long as only one thread has come to the hooks, it need not read them for each record: those of another thread there are none that it could follow from.
 *      They are never ahead of the clock, rise with each record, and once one has gone to another than the own ring, those of the next are read anew.
 *   3. The counters of all CPUs agree: where the kernel does not trust them, there is but one ring.
 * The reader notes all heads (marks), and when it has them all, it notes all heads once more (limits). It then takes records from the rings in the order of
 * their `cycles`, the least of those that lie at the tails below the limits, until no ring has any left below its mark; a record at a tail that is not
 * committed holds up all.
 *   - Whatever it takes, all that must come before lies below the limits. What it takes has cycles no later than those of some record below a mark, and so no
 *     later than the last mark; what must come before was reserved earlier than these (2), so before the first limit was noted.
 *   - B is not taken before A. As long as A is still in its ring, at the tail of that lies some X that was reserved no later than A, so that
 *     X.cycles <= reserve of X <= reserve of A < B.cycles, and X goes first.
 * Which ring a record is in does not come into this: a thread's own records, of a realloc, say, are in order even where one of them went to the next ring.
 */
#define HI_RINGS 16u
#define HI_RING_UNIT 32u
#define HI_RING_BUSY (1ull << 63)
#define HI_RING_GIVEN_UP (1ull << 62) /* by the reader, with HI_RING_BUSY */
#define HI_RING_SIZE_MAX 2048u

struct hi_ring {
	uint64_t capacity; /*   0: bytes of data[], a power of two; only told: anybody can write here, so producers and reader go by copies of their own */
	uint64_t reserved0[7];
	uint64_t head; /*  64: reserved up to here */
	uint64_t reserved1[7];
	uint64_t tail; /* 128: consumed up to here */
	uint64_t reserved2[7];
	uint8_t data[]; /* 192 */
};
_Static_assert(offsetof(struct hi_ring, data) == 192, "ring head is three cache lines");

static inline struct hi_ring *hi_ring_at(struct hi_ring *first, uint64_t capacity, uint64_t index)
{
	return (struct hi_ring *)(void *)((uint8_t *)first + index * (sizeof(struct hi_ring) + capacity));
}

enum hi_record_type {
	HI_RECORD_ALLOC = 1,
	HI_RECORD_FREE = 2,
	HI_RECORD_REGION = 3,
	HI_RECORD_UNFREE = 4, /* laid out like FREE: the last free of this address did not happen (a realloc that failed) */
	HI_RECORD_KNOWN = 5,  /* an alloc whose stack is among the known ones */
};

enum hi_stack_end {
	HI_END_COMPLETE = 0,  /* reached a frame whose return address is undefined, or a zero return address at the outermost frame pointer */
	HI_END_DEPTH = 1,     /* HI_FRAMES_MAX reached */
	HI_END_REGION = 2,    /* sp lies in no known region */
	HI_END_NO_ROW = 3,    /* no unwind row for the last frame, and its frame pointer made no sense; all frames are sure */
	HI_END_BAD_FRAME = 4, /* a CFA that does not grow, or leaves the region */
	HI_END_LOST = 5,      /* as HI_END_NO_ROW, but frame pointers had to be trusted before that, perhaps wrongly */
};
#define HI_STACK_ENDS 6u

#define HI_FRAMES_MAX 128u

struct hi_record_header {
	uint32_t size;      /* whole record, multiple of HI_RING_UNIT */
	uint32_t type_busy; /* enum hi_record_type; bit 31 is HI_RING_BUSY's, bit 30 HI_RING_GIVEN_UP's */
	uint64_t cycles;    /* cycle counter when the event happened; see "order" above */
	uint64_t thread;    /* thread pointer */
};
#define HI_SLACK_UNKNOWN UINT32_MAX
struct hi_record_alloc {
	struct hi_record_header header;
	uint64_t address;
	uint64_t bytes;       /* as requested */
	uint32_t frame_count; /* >= 1 */
	uint16_t stack_end;   /* enum hi_stack_end */
	uint16_t function;    /* enum hi_function */
	uint32_t slack;       /* usable bytes beyond those requested, HI_SLACK_UNKNOWN - 1 = as many or more; HI_SLACK_UNKNOWN = nobody could be asked */
	uint32_t interval_shift;   /* of the countdown that ran out: what the sample stands for follows from this, not from the mean of today */
	uint64_t frame[];     /* return addresses, leaf first; frame[0] is the caller of the allocation function */
};
struct hi_record_known {
	struct hi_record_header header;
	uint64_t address;
	uint64_t bytes; /* as requested */
	uint32_t stack; /* id: where its struct hi_stack lies in the stacks part, in units of 8 bytes */
	uint16_t reserved;
	uint16_t function; /* enum hi_function */
	uint32_t slack;    /* these two as in struct hi_record_alloc */
	uint32_t interval_shift;
};
struct hi_record_free {
	struct hi_record_header header;
	uint64_t address;
};
struct hi_record_region {
	struct hi_record_header header;
	uint64_t stack_pointer; /* lies in no region of the list */
};
_Static_assert(sizeof(struct hi_record_header) == 24, "record header");
_Static_assert(offsetof(struct hi_record_alloc, frame) == 56, "alloc record");
_Static_assert(sizeof(struct hi_record_free) == HI_RING_UNIT, "free record is one unit");
_Static_assert(sizeof(struct hi_record_alloc) + 8 * HI_FRAMES_MAX <= HI_RING_SIZE_MAX, "longest record");
_Static_assert(sizeof(struct hi_record_known) <= 2 * HI_RING_UNIT, "an alloc of a known stack is two units");

/* HI_SCRATCH_BYTES of it are a thread's. What it remembers of the region list holds as long as that list's generation. */
struct hi_scratch {
	uint64_t region_stamp; /* 2 * generation + index of the list in which the region was found */
	uint64_t region_lo, region_hi;
	uint64_t unknown_sp;                                /* of the last stack that ended with HI_END_REGION: lies in no region */
	uint64_t alloc[sizeof(struct hi_record_alloc) / 8]; /* struct hi_record_alloc, */
	uint64_t frame[HI_FRAMES_MAX];                      /* and its frames */
};
_Static_assert(offsetof(struct hi_scratch, frame) == offsetof(struct hi_scratch, alloc) + sizeof(struct hi_record_alloc), "the frames follow the record");
_Static_assert(sizeof(struct hi_scratch) <= HI_SCRATCH_BYTES && HI_SCRATCH_BYTES % 64 == 0, "whole cache lines");

/* ---- stacks -------------------------------------------------------------------------------------------------------------------- */

/*
 * Each stack that was sampled stands here once, and alloc records name it by its id; so in exact mode a record is 64 bytes, whatever the depth. Append-only,
 * and lasting for the session.
 *
 * Producer: look the hash up among the known stacks (private memory, 0 = free, else the upper bits of the hash and, in HI_STACK_ID_BITS, the id). A stack that
 * is found there is not compared: where it was found and what stands there are all but a few of 64 bits, so that among a quarter of a million stacks a
 * confusion of any two has the odds of a few in a million. If it is new, take room by compare-and-swap on `used`, as long as it ends within `limit`; write the
 * stack; only then publish it there by compare-and-swap (release). A producer that dies on the way has wasted the room, and nothing refers to it. No room, here
 * or among the known: the alloc record carries the frames itself.
 * Reader: an id comes with a committed record, and its stack was written before that was committed. There is no order between records to be kept, and nothing
 * can be lost on the way. It trusts nothing: place and frame count are checked, a stack is copied out once.
 * Fork: as with the ring, before each store one more look at `armed`.
 */
struct hi_stacks {
	uint64_t limit; /*  0: bytes of this part that may be used; grows, by the injector, which allocates them first */
	uint64_t reserved0[7];
	uint64_t used; /*  64: bytes of this part in use; by the payload */
	uint64_t reserved1[7];
	uint8_t data[]; /* 128: so no stack has id 0 */
};
_Static_assert(offsetof(struct hi_stacks, data) == 128, "stacks head is two cache lines");

#define HI_STACK_UNIT 8u /* of an id */
#define HI_STACK_ID_BITS 24u

struct hi_stack {
	uint32_t frame_count; /* 1..HI_FRAMES_MAX */
	uint16_t stack_end;   /* enum hi_stack_end */
	uint16_t reserved;
	uint64_t frame[];
};
_Static_assert(sizeof(struct hi_stack) == 8, "stack head");

/* ---- what the payload image exports (payload/exports.map); the injector finds these by name in its .dynsym ------------------------ */
/*
 * hi_gate_<class>: gate entry templates, at most HI_GATE_STRIDE bytes, position-independent, st_size = bytes to copy:
 *     hi_gate_alloc (size in argument 1), hi_gate_size2 (argument 1 * argument 2), hi_gate_sizearg2 (size in argument 2; posix_memalign uses
 *     hi_gate_sizearg3), hi_gate_free (block in argument 1), hi_gate_realloc (block in argument 1, size in
 *     argument 2), hi_gate_realloc_null (the same, but a block of NULL passes uncounted), hi_gate_always (always to the hook: reallocarray, xallocx),
 *     hi_gate_inert (tail-jump to words->original, nothing else, from any byte at which another entry may be left), hi_gate_restore
 *     (stores a word and returns).
 * hi_hook_<function>: what words->hook holds while armed; <function> is the C symbol of HI_FUNCTIONS for C functions, and
 *     the id in lower case for the C++ operators (hi_hook_new, hi_hook_delete, ...). On entry r10 holds the address of the words.
 * hi_store_words: void (struct hi_store *store, uint64_t count); called by a thread that the injector has borrowed, all signals blocked.
 */

#endif
