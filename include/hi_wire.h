/* SPDX-License-Identifier: MIT */
/*
 * hi_wire.h - what the injector and the payload share inside the target.
 *
 * From outside its own directory the payload includes only this header, with those that it includes
 * itself, and hi_hooks.h. Nothing in this header calls a function.
 *
 * THE ARENA. The arena is one address range reserved in the target. One memfd named "heapinject"
 * backs it, and an offset in the arena is the same offset in the memfd. So any line of
 * /proc/PID/maps that carries the name gives base = start - file offset, and the control block is
 * at offset 0 from that base. `heapinject detach` finds the remains of a killed injector in this
 * way.
 *
 *   part     mapping                      after fork    writer
 *   control  first pages r-- private,     kept          injector; the payload only adds to
 *            other pages rw- shared                     `counters`
 *   rings    rw- shared                   kept          payload reserves and commits; injector
 *                                                       clears and advances
 *   stacks   rw- shared                   kept          payload appends; injector reads, and sets
 *                                                       the limit
 *   tables   r-- shared                   kept          injector, through its own mapping of the
 *                                                       memfd
 *   near     rw- shared; those in use     kept          nobody
 *            r-x private, each elsewhere
 *   state    rw- private anonymous        first pages   payload; injector before arming
 *                                         kept, the
 *                                         rest zero
 *                                         (WIPEONFORK)
 *   stage    rw- shared; temporarily the  kept          nobody
 *            code that is swapped in
 *   image    r-x private (map loader      kept          nobody
 *            only)
 *   gate     r-x private                  kept          nobody
 *   words    rw- private                  kept          injector (/proc/PID/mem); the payload may
 *                                                       only bypass
 *
 * If copies of gate addresses may remain in the target, gate and words outlive the other parts, and
 * the gate then holds plain jumps only. All parts before the gate are unmapped in one call.
 *
 * THE CALL PATH. A GOT slot points at a gate entry, or the first instruction of the function is a
 * jump to one. Entry i lies at gate + i * HI_GATE_STRIDE, and its words lie at words + i *
 * HI_GATE_STRIDE, where words = gate + HI_GATE_BYTES. The distance from an entry to its words is
 * one constant, so the entries are copies of a few templates in the payload. An entry either
 * tail-jumps to words->original, or, when a sample is due (or the freed block may be a sampled
 * one), loads the address of its words into a register that no argument is in (payload/arch says
 * which) and jumps to words->hook. Disarming means hook = original in every entry.
 *
 * FORK. In a forked child `armed`, the thread slots and the occupancy bytes read zero. A zero
 * thread slot never equals a thread pointer, and a zero occupancy byte means "not sampled", so the
 * gate falls through to the original. A hook that does run sees armed == 0 and tail-jumps to
 * words->original, which is kept.
 *
 * But a signal handler may fork in the middle of a hook, and the child then continues inside that
 * hook. So everything that a hook may touch exists in a child, all addresses that a hook uses are
 * kept, and before each store to the ring the hook checks `armed` again. The child emits nothing.
 *
 * A child therefore has everything that its parent has, and the control block leads to it.
 * `unforked`, which reads zero in a child, distinguishes the two. The first page of the control
 * block is private. So what a cleanup of one process writes to that page (through /proc/PID/mem) is
 * visible in that process alone. Nothing inside the process may write to the page. So until such a
 * write it remains the page of the file, and shows what the injector writes to the file.
 *
 * All integers are little-endian and naturally aligned. Offsets and sizes are asserted below:
 * change them and HI_WIRE_VERSION together.
 */
#ifndef HI_WIRE_H
#define HI_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "hi_arch.h"
#include "hi_hooks.h"
#include "hi_interval.h"

#define HI_WIRE_MAGIC 0x31544a4e49504548ull /* "HEPINJT1" */
#define HI_WIRE_VERSION 24u
#define HI_MEMFD_NAME "heapinject" /* shows as /memfd:heapinject (deleted) */
/* the file of the probes begins with it; it shows as /tmp/heapinject-otel-PID.so (deleted) */
#define HI_PROBES_NAME "heapinject-otel-"
/*
 * Bytes of the smallest and of the largest page of a kernel. Memory is there or not in multiples of
 * the former, whatever the kernel's pages are (hi_page.h). What may lie on a page of its own, at
 * offsets that are constants, is as large as the latter.
 */
#define HI_PAGE_BYTES HI_ARCH_PAGE_BYTES
#define HI_PAGE_BYTES_MAX HI_ARCH_PAGE_BYTES_MAX
#define HI_LARGEST_PAGES(bytes) \
	(((bytes) + HI_PAGE_BYTES_MAX - 1) / HI_PAGE_BYTES_MAX * HI_PAGE_BYTES_MAX)

/* ---- the gate -------------------------------------------------------------------------------- */

/* size of the exit of an entry, the jump to its function; hi_gate_<class>_exit in the image */
#define HI_GATE_EXIT_BYTES HI_ARCH_GATE_EXIT_BYTES
#define HI_NESTED_FROM_MAX 4u
/* bytes from one entry to the next, and from one set of words to the next */
#define HI_GATE_STRIDE 192u
#define HI_GATE_ENTRIES 128u /* one per hooked function of each allocator */
#define HI_GATE_USED_BYTES (HI_GATE_ENTRIES * HI_GATE_STRIDE)
/* bytes of code; the words follow directly and take as many bytes */
#define HI_GATE_BYTES HI_LARGEST_PAGES(HI_GATE_USED_BYTES)

/*
 * The words of one gate entry. The injector writes them before the first slot points at the entry.
 * Afterwards only `hook` changes, by one aligned store that a thread of the target executes: it
 * becomes `original` when the injector detaches (by hi_store_words) or when the payload finds the
 * injector silent.
 */
/*
 * Which argument of a function that the user has named is what: numbers from 1 to 6, 0 = none.
 */
enum hi_named_block {
	HI_NAMED_RESULT = 0,
	HI_NAMED_MOVED = 1,  /* the result; the block in `block` has gone */
	HI_NAMED_STORED = 2, /* stored where `block` points */
};
struct hi_named_arguments {
	uint8_t size;
	uint8_t count; /* the size is multiplied by it */
	uint8_t block; /* of one that frees: the block */
	uint8_t kind;  /* enum hi_named_block */
	uint8_t pool;  /* what the block lies in; of one that frees: goes with all blocks in it */
	/* 1 = the live set knows all sampled blocks; 0 = some go with their pools, unseen by it */
	uint8_t is_filtered;
	/* 1 = it is an int: the upper half of its register means nothing */
	uint8_t size_is_int : 1;
	uint8_t size_is_known : 1; /* 1 = debug information says that it is one */
	uint8_t count_is_int;
};
_Static_assert(sizeof(struct hi_named_arguments) == 8, "one word of a gate entry");

struct hi_gate_words {
	/*
	 * 0: address of the function that the slot led to, or of the entry's own exit. Never
	 * changes, and is used even after all other parts are gone
	 */
	uint64_t original;
	/* 8: address of the payload's hook, which checks `armed` first; == original after detach */
	uint64_t hook;
	uint64_t thread_slots; /* 16: address of struct hi_thread_table, in state */
	/* 24: address of the occupancy bytes, in state: hi_state.occupancy or .unasked_occupancy */
	uint64_t occupancy;
	uint64_t state; /* 32: address of struct hi_state */
	union {
		/*
		 * 40: throwing operator new only: address through which its nothrow variant in the
		 * same object is called; 0 = none. Used only if `plain` is 0
		 */
		uint64_t nothrow;
		struct hi_named_arguments named; /* 40: functions that the user has named only */
	};
	/*
	 * 48: number of occupancy bytes - 1. The byte of a block has the index hi_gate_hash(its
	 * address) & this
	 */
	uint32_t occupancy_mask;
	uint32_t function; /* 52: enum hi_function */
	/*
	 * 56: address of malloc_usable_size, or an equivalent, in the object that defines
	 * `original`; 0 = it has none
	 */
	uint64_t usable_size;
	/*
	 * 64: last entry only, which belongs to no function: address of the errno of a thread that
	 * was made to call dlopen
	 */
	uint64_t restore_at;
	uint64_t restore_value; /* 72: last entry only: the value to store there again, 32 bits */
	/*
	 * 80: 1 = the original may reach another function that is hooked at its entry. The hook
	 * then calls the original from within the hook scope, so that the inner call is known to be
	 * nested
	 */
	uint32_t nests;
	/* 84: of the callee-saved register that return_gadget calls through, see struct
	 * hi_control */
	uint32_t return_register;
	struct {
		/*
		 * [lo, hi): code of another hooked function that reaches this one by a call. The
		 * bytes of a call from there belong to the caller of that other function
		 */
		uint64_t lo, hi;
	} nested_from[HI_NESTED_FROM_MAX]; /* 88; unused elements are 0 */
	/*
	 * 152: address to which an original that a hook calls returns; 0 = to the payload. See
	 * struct hi_control
	 */
	uint64_t return_gadget;
	/*
	 * 160: throwing operator new only: address through which malloc, or memalign, is called, if
	 * its blocks are the same; 0 = they may differ
	 */
	uint64_t plain;
	/* 168: address of the word that holds the C++ library's new-handler; 0 = not known */
	uint64_t new_handler;
	/*
	 * 176: usable_size, if it may also be called by a thread that is about to free the block; 0
	 * = it may not
	 */
	uint64_t freed_size;
	uint64_t number; /* 184: of the hook, as the injector numbers them */
};
#define HI_GATE_RESTORE (HI_GATE_ENTRIES - 1u) /* the last entry, see restore_at */
_Static_assert(sizeof(struct hi_gate_words) == HI_GATE_STRIDE,
	       "entry and words must advance together");

/* ---- state: private anonymous memory of the payload, wiped in a forked child ----------------- */

#define HI_THREAD_SLOT_BITS 14u
#define HI_THREAD_SLOTS (1u << HI_THREAD_SLOT_BITS)
/* slots that a thread may have, home ^ 0 to home ^ 3; the gate looks at all of them */
#define HI_THREAD_WAYS 4u
#define HI_HASH 0x9e3779b97f4a7c15ull

/*
 * Home of a block's occupancy byte: this value modulo the number of bytes. The factor fits into an
 * instruction, and all address bits above the lowest reach the low bits of the result.
 */
#define HI_HASH_GATE 0x61c88647u
static inline uint32_t hi_gate_hash(uint64_t address)
{
	return (uint32_t)(address * HI_HASH_GATE >> 32);
}

/*
 * Where a pointer leads. Programs keep tags in bits that the CPU ignores, and may free a block with
 * another tag than it was given. No home of a block depends on these bits, so that the gate need
 * not clear them; live set and records have addresses without them.
 */
static inline uint64_t hi_untagged(uint64_t pointer)
{
	return pointer & UINT64_MAX >> (64 - HI_ARCH_POINTER_BITS);
}

/*
 * Home of a thread, computed from its thread pointer. Stacks of one size lie at regular distances,
 * and so do the thread pointers at their ends. So modulo 2^(shift + bits) the products go round the
 * table in equal steps, and how evenly they fill the table depends on the common factors of the
 * distance and the multiplier. This multiplier was found by search: 4,096 threads at any distance
 * of 1 to 4,200 pages all find a slot among the HI_THREAD_WAYS slots of their home
 * (payload_thread_slot_test).
 */
#define HI_HASH_THREAD 0x233bde3du
#define HI_HASH_THREAD_SHIFT 30u
static inline uint32_t hi_thread_hash(uint64_t thread)
{
	return (uint32_t)(thread * HI_HASH_THREAD >> HI_HASH_THREAD_SHIFT) & (HI_THREAD_SLOTS - 1);
}

/*
 * What the payload stores about a thread without TLS. The slot is found by hashing the thread
 * pointer, and claimed by compare-and-swap on `owner`. The gate compares `fast_owner` and subtracts
 * from `countdown`; both belong to the owning thread. A thread that loses its slot to another draws
 * a new countdown: the exponential distribution has no memory, so the samples stay unbiased.
 *
 * WHO IS INSIDE. A hook adds one to a count at its start and subtracts one at its end. A
 * locked instruction for each would be a large part of the cost of a hook scope in exact mode. A
 * thread that is alone with its count needs no lock: one instruction that reads, adds and writes is
 * indivisible with respect to a signal handler of that thread. The only thread that is alone with
 * `in_flight` of a slot is the slot's first owner, which found `owner` 0 and swapped itself in.
 * Nothing ever makes `owner` 0 again. A thread that takes a slot over sets HI_SLOT_GUEST in `owner`
 * for good; so does the first owner if it comes back. So a thread adds to in_flight only if `owner`
 * equals its thread pointer exactly, and that is true for one thread only, ever. (Its thread
 * pointer may be given to another thread after it has ended.)
 *
 * All other threads are called guests: later owners, owners for which no scratch was left, and
 * threads that have no slot. A guest takes a PLACE for the time of the hook scope (struct
 * hi_place). A place has one holder at a time, and records it, so a guest can distinguish a nested
 * call of its own from the hook scope of another thread. A guest that has no slot draws a countdown
 * for this one call, in a slot that belongs to the place. That sample is as good as any other, as
 * the exponential distribution has no memory. If no place is free, the call is passed over, and
 * counted in `passing` while it is inside.
 *
 * The injector learns that no thread is inside as follows: (1) it clears `armed`, and has
 * `original` stored to each gate entry's hook; (2) it stops each thread once; (3) it reads the
 * counts. Other CPUs may see an add that is not locked late, but no later than they see its thread
 * stopped. So (3) sees everything that a thread did before it stopped, and after that the thread
 * does not enter a hook.
 */
struct hi_thread_slot {
	/*
	 * 0: the owner's thread pointer if the gate may count down by itself; 0 in exact mode, so
	 * that every call is a sample
	 */
	uint64_t fast_owner;
	/* 8: bytes until the next sample; a sample is due when countdown - size <= 0 */
	int64_t countdown;
	/* 16: thread pointer, 0 = free; with HI_SLOT_GUEST set if the owner uses places */
	uint64_t owner;
	/*
	 * 24: number of hook frames of the first owner that will return into the payload. Only that
	 * thread changes it, without a lock
	 */
	uint32_t in_flight;
	uint32_t scratch; /* 28: number of the scratch that belongs to in_flight */
	uint64_t random;  /* 32: state of the random number generator */
	/* 40: cycle counter at the last slow path; a slot with an old value may be evicted */
	uint64_t last_seen;
	/* 48: cycle counter ticks spent in the payload's slow path, without the originals */
	uint64_t cycles;
	/* 56: the countdown was drawn with a mean of control->interval << this */
	uint16_t interval_shift;
	/*
	 * 58: number of the ring that only the first owner writes to; 0 = none (see "rings" below)
	 */
	uint16_t own_ring;
	/*
	 * 60: cycle counter >> HI_REGION_RECORDED_SHIFT when this thread last wrote a
	 * HI_RECORD_REGION. Used to limit how often it writes one
	 */
	uint32_t region_recorded;
};
_Static_assert(sizeof(struct hi_thread_slot) == 64, "one cache line a thread");
#define HI_SLOT_GUEST 1ull /* a bit that no thread pointer has set */
#define HI_REGION_RECORDED_SHIFT 20u

/*
 * A thread takes a place by one compare-and-swap of both halves, from any holder with count 0 to
 * its own mark with count 1. Calls nested in that hook scope add one to the count and subtract it
 * again. A place with count 0 is free. A thread may take any of HI_PLACE_WAYS adjacent places,
 * chosen by its thread pointer. They are one cache line.
 */
struct hi_place {
	/*
	 * mark of the holding thread. Two threads that may take the same places have different
	 * marks, except with a probability of 2^-32
	 */
	uint32_t holder;
	/* number of hook frames of the holder that will return into the payload; atomic add */
	uint32_t count;
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct hi_place) == 8, "a place is swapped as a whole");
#define HI_PLACE_BITS 10u
#define HI_PLACES (1u << HI_PLACE_BITS)
#define HI_PLACE_WAYS 8u

#define HI_SLOTS_A_PAGE (HI_PAGE_BYTES / 64u)

/*
 * The outermost call of a named function in which a thread is. It stays if that call is left by a
 * jump (payload/nesting.h).
 */
struct hi_named_frame {
	uint64_t thread; /* thread pointer */
	uint64_t at;     /* address of the hook's frame; 0 = none */
};

/* All thread slots and places, and so all counts of threads that are inside a hook. */
struct hi_thread_table {
	struct hi_thread_slot slot[HI_THREAD_SLOTS];
	/*
	 * for the holder of the place with the same index, if it has no slot of its own; `owner`
	 * and `in_flight` are not used
	 */
	struct hi_thread_slot place_slot[HI_PLACES];
	struct hi_place place[HI_PLACES];
	uint32_t reserved0;
	/* number of hook frames of threads that found no free place; atomic add */
	uint32_t passing;
	/*
	 * one bit for each page of slots: 1 = at least one slot there was claimed; no other page
	 * need be read
	 */
	uint64_t claimed[HI_THREAD_SLOTS / HI_SLOTS_A_PAGE / 64];
	uint32_t reserved1;
	/*
	 * number of frames of hooks of named functions, from before the original is called; atomic
	 * add. These are in no other count meanwhile: what the original allocates is not nested
	 */
	uint32_t named;
	uint64_t reserved2[2];
	/* by number of the slot, those of places included */
	struct hi_named_frame named_frame[HI_THREAD_SLOTS + HI_PLACES];
};
_Static_assert(sizeof(struct hi_thread_table) % 64 == 0, "whole cache lines");

/* block addresses in one live-set bucket: 64 bytes, one cache line */
#define HI_BUCKET_ENTRIES 8u
#define HI_BUCKET_PROBES 2u /* adjacent buckets in which an address may lie; a power of two */
/* each level of the live set has 2^this times as many buckets as the level above it */
#define HI_LEVEL_BITS 2u
#define HI_LEVELS_MAX 8u

/*
 * The memory in which a thread builds an alloc record (struct hi_scratch, below). The record might
 * not fit on the stack, as some stacks are small. Scratches are numbered. The numbers below
 * HI_OWN_SCRATCHES are given out in order, each to a slot that is claimed for the first time; that
 * scratch then belongs to the slot's in_flight. Number 0 belongs to nobody. The numbers from
 * HI_OWN_SCRATCHES on belong to one place each. Only the outermost hook scope of the count of a
 * scratch may use the scratch. A hook scope that is or may be nested (a signal handler that
 * interrupted the first hook scope) takes no sample.
 */
#define HI_OWN_SCRATCHES 4096u
#define HI_SCRATCHES (HI_OWN_SCRATCHES + HI_PLACES)
#define HI_SCRATCH_BYTES 1152u

/*
 * The rules that the unwinder used recently, so that a pc that occurs again needs no search. There
 * are HI_RULES entries, direct-mapped: a pc has the index (pc ^ pc >> HI_RULE_BITS) modulo
 * HI_RULES. Threads write entries without a lock. `check` ties the two words together, and to the
 * directory in which the rule was found. So an entry does not match if another thread has
 * overwritten one of its halves, or if a library has been loaded or unloaded since.
 */
#define HI_RULE_BITS 12u
#define HI_RULES (1u << HI_RULE_BITS)
struct hi_rule_entry {
	/* (pc + mark of the directory in which the rule was found) ^ value * HI_HASH */
	uint64_t check;
	uint64_t value; /* the rule, and the position of the caller's entry, packed by rules.h */
};
_Static_assert(sizeof(struct hi_rule_entry) == 16, "rule entry");

/*
 * The stack trie: earlier stack walks, as a tree. A node is a frame together with the frames below
 * it on the path from the leaf (its callee, the callee's callee, and so on). Threads write nodes
 * without a lock. Once a node is linked in, only its links and the flags in `kind` change. See
 * payload/stack_trie.c. A link is an offset in bytes from the first node, which is not used: 0
 * leads nowhere. Links to leaves, and to callers beyond the second, are in uint32_t[1 <<
 * walk_bits], indexed by a hash of callee and pc.
 */
struct hi_walk_node {
	/*
	 * 0: return address; in a leaf, the mark of the directory is added; 0 = a return address of
	 * zero ended the stack
	 */
	uint64_t pc;
	union {
		struct {
			uint8_t kind; /* 8: bits that stack_trie.c defines; 0 = there is no node */
			/*
			 * 9: the caller's saved bp lies this many words above the CFA (negative:
			 * below); 0 = bp is unchanged
			 */
			int8_t bp_slot;
			/*
			 * 10: if the CFA is relative to bp: the saved bp lies this many words above
			 * sp
			 */
			int16_t bp_at;
			int32_t cfa; /* 12: the CFA is this many bytes above sp, or above bp */
		};
		uint64_t rule; /* 8: kind, bp_slot, bp_at and cfa as one word */
	};
	uint32_t caller; /* 16: link to the node of the first caller */
	uint32_t other;  /* 20: link to the node of another caller of the same callee */
	uint32_t callee; /* 24: link to the node of the callee; 0 = this node is a leaf */
	uint32_t stack;  /* 28: id of the stack that ends at this node; 0 = the stack continues */
};
_Static_assert(sizeof(struct hi_walk_node) == 32, "two nodes a cache line");

/*
 * A store to a word of the target that running threads read as a code address: a GOT slot, or the
 * hook of a gate entry. A write from another process may be seen half done (docs/safety.md,
 * "Words that are read while they change"). So a thread that the injector has borrowed executes the
 * store, from a list in the state.
 */
struct hi_store {
	uint64_t at; /* address of the word; aligned, in a writable page */
	/*
	 * before: the value that the word must hold. After: the value that it held; if that differs
	 * from the value before, nothing was stored
	 */
	uint64_t expected;
	uint64_t value;
};
#define HI_STORES 64u

/*
 * Head of the state. The injector fills it, and sets `armed` last. The payload clears `armed` for
 * good when the injector has been silent for control->deadman_cycles. Layout of the state: this
 * head (whole pages), the thread table, the occupancy bytes, the sentinels' bits, the buckets, the
 * scratches, the rules, the interned stacks, the nodes of the stack trie, and the links to them.
 * Each part starts on a page boundary. All addresses are addresses in the target, all sizes are in
 * bytes.
 */
struct hi_state {
	uint64_t control; /*  0 */
	uint64_t ring;
	uint64_t tables;
	uint64_t tables_size;
	uint64_t thread_slots; /* 32: struct hi_thread_table */
	/*
	 * address of one byte for each home (see occupancy_mask): the number of live samples with
	 * that home. It saturates at 255, and then stays there
	 */
	uint64_t occupancy;
	/*
	 * address of the buckets, uint64_t[HI_BUCKET_ENTRIES] each, 0 = free entry: 1 <<
	 * bucket_bits of the first level, then those of the other levels
	 */
	uint64_t buckets;
	uint64_t scratch;     /* address of HI_SCRATCHES scratches of HI_SCRATCH_BYTES each */
	uint32_t bucket_bits; /* 64 */
	/* number of levels of the live set; 0 = no live set is kept, and every free is recorded */
	uint32_t bucket_levels;
	/*
	 * address of the first gate entry, and size of the gate code: with both the payload knows
	 * its own addresses
	 */
	uint64_t gate;
	uint64_t gate_bytes;
	uint64_t rules;      /* struct hi_rule_entry[HI_RULES] */
	uint64_t walk_nodes; /* struct hi_walk_node[1 << walk_bits] */
	uint64_t walk_edges; /* uint32_t[1 << walk_bits] */
	/* log2 of the numbers of nodes and of links; 0 = there is no stack trie */
	uint64_t walk_bits;
	/*
	 * address of uint64_t[1 << known_bits], the hash table of the interned stacks: see "stacks"
	 * below
	 */
	uint64_t known_stacks;
	uint64_t stacks; /* struct hi_stacks */
	uint64_t stacks_size;
	uint32_t known_bits;
	uint32_t occupancy_bits;
	uint64_t ring_capacity; /* bytes in data[] of each ring; a power of two */
	uint32_t ring_mask;     /* number of rings - 1 */
	/*
	 * a producer prefetches, for writing, the cache line this many bytes after its record, as
	 * it will be written soon; 0 = the CPU has no such prefetch
	 */
	uint32_t ring_ahead;
	/*
	 * 1 = the CPU has the faster of the two instructions that read the clock in order
	 * (payload/arch)
	 */
	uint64_t fast_clock;
	/*
	 * address of one bit for each occupancy byte: 1 = it is no sentinel any more. 0 = there
	 * never were sentinels
	 */
	uint64_t no_sentinel;
	/*
	 * where there are sentinels: address of as many occupancy bytes without them, for hooks of
	 * allocators that are not asked for a block's size at its free. 0 = there never were any
	 */
	uint64_t unasked_occupancy;
	/*
	 * address of the dynamic linker's count of the objects that it has loaded so far, which
	 * goes up before code of an object runs; 0 = not known
	 */
	uint64_t load_count;
	/*
	 * addresses of the probes' functions: the allocation's is called with address, size and
	 * weight of a sample as the last thing before its hook returns, the free's with the address
	 * of a sample that is about to be freed. 0 = there are no probes
	 */
	uint64_t probe_alloc, probe_free;
	uint64_t page_bytes; /* of the kernel's pages */
	/* the list for hi_store_words */
	struct hi_store store[HI_STORES] __attribute__((aligned(512)));
	/* the stack on which hi_store_words runs */
	uint8_t store_stack[HI_ARCH_STORE_STACK_BYTES] __attribute__((aligned(2048)));
	/* HI_STATE_KEPT_BYTES: 1 = sample. All bytes from here on are zero in a forked child */
	uint64_t armed __attribute__((aligned(HI_PAGE_BYTES)));
	/*
	 * written by the payload, as are those below. One bit for each level of the live set: 1 =
	 * an address was put there
	 */
	uint64_t levels_used;
	uint64_t rings_owned; /* number of rings that have been given to a single thread */
	/* number of trie nodes that were requested; node 0 is never used */
	uint64_t walk_nodes_used;
	uint64_t threads;        /* 0, 1, or more: no, one, or several threads entered a hook */
	uint64_t scratches_used; /* number of slots that asked for a scratch */
	uint64_t unforked;       /* 1 from the beginning; 0 in a forked child */
};
_Static_assert(offsetof(struct hi_state, store) == 512 &&
		       offsetof(struct hi_state, store_stack) == 2048,
	       "list and stack after the head");
/* size of the first part of the state, which a forked child has, too */
#define HI_STATE_KEPT_BYTES (2048u + HI_ARCH_STORE_STACK_BYTES)
_Static_assert(offsetof(struct hi_state, armed) == HI_STATE_KEPT_BYTES &&
		       HI_STATE_KEPT_BYTES % HI_PAGE_BYTES_MAX == 0 &&
		       sizeof(struct hi_state) == HI_STATE_KEPT_BYTES + HI_PAGE_BYTES,
	       "pages that are kept, a page that is wiped");

/* ---- control block: shared, at arena offset 0 ------------------------------------------------ */

/*
 * The step that the injector has reached. It is written before the step begins, so that undo knows
 * what may exist.
 */
enum hi_phase {
	HI_PHASE_NONE = 0,
	HI_PHASE_LOADING = 1, /* arena and payload are being mapped; no slot was written */
	HI_PHASE_ARMING = 2,  /* slots are being written */
	HI_PHASE_ARMED = 3,
	HI_PHASE_DISARMED = 4,  /* gate bypassed; slots are being written back */
	HI_PHASE_RESTORED = 5,  /* slots written back; quiescing, fixing up escaped pointers */
	HI_PHASE_UNLOADING = 6, /* mappings are being removed */
};

enum hi_loader { HI_LOADER_MAP = 0, HI_LOADER_DLOPEN = 1 };

/* Where the allocator's functions are hooked. */
enum hi_hook {
	HI_HOOK_AUTO = 0,  /* at their entries if possible, otherwise by GOT slots */
	HI_HOOK_SLOT = 1,  /* by GOT slots alone */
	HI_HOOK_ENTRY = 2, /* at their entries, or not at all */
};

/*
 * Event counters, each a number of events since the start of the session. The payload adds to them
 * (relaxed atomic add), and the injector only reads them. Successful events are not counted here: a
 * word to which all threads add is slow, and the reader of the rings counts the records as they
 * arrive.
 */
struct hi_counters {
	/* the ring was too full for an alloc record; the block is not in the live set either */
	uint64_t dropped_allocs;
	/* the ring was full for a free record; in-use is overstated by that block */
	uint64_t dropped_frees;
	uint64_t live_set_full; /* a sample was given up because its buckets were full */
	/*
	 * allocations that were passed over, at most: more threads were inside at once than there
	 * is room for, or it was not known whether the call was nested (payload/nesting.h)
	 */
	uint64_t no_thread_slot;
	/*
	 * samples whose stack found no room among the interned stacks; the record carries the
	 * frames
	 */
	uint64_t stacks_unrecorded;
	uint64_t stacks_truncated; /* samples whose walk did not end at HI_END_COMPLETE */
	uint64_t deadman;          /* times the payload disarmed itself */
	/* records that the reader skipped before their producer committed them */
	uint64_t commit_lost;
	uint64_t passed_bytes; /* bytes that the allocations of no_thread_slot stand for, at most */
	uint64_t reserved[7];
};

/*
 * half of the mappings that a process may have (vm.max_map_count): a stack and its guard page are
 * two
 */
#define HI_REGION_CAPACITY 32760u
/*
 * Address ranges [lo, hi) in which a stack may lie, sorted, not overlapping. The injector writes
 * them into the list that is not current, then publishes that list by storing its index. A thread
 * that was preempted while it read an old list may see a mix of two versions. So the payload checks
 * `generation` again after its lookup, and treats a change as "unknown region". payload/stack.c
 * says which bytes of a range may be read.
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
 * Directory of unwind tables: executable ranges [lo, hi) of the target, sorted, with the offsets of
 * their rows in the tables part. It is published like hi_regions. The rows of a module that was
 * unloaded stay readable, so a stale lookup gives a wrong stack, never a fault.
 */
struct hi_unwind_module {
	uint64_t lo, hi; /* text addresses covered */
	/* offset in tables: struct hi_unwind_row[row_count], sorted by pc; row 0 has pc 0 */
	uint64_t rows;
	/*
	 * offset in tables: uint32_t[index_count]: the first row to look at for each HI_INDEX_BYTES
	 * of text
	 */
	uint64_t index;
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
 * One unwind row covers [pc, next row's pc), as offsets from the module's lo. The return address is
 * at CFA + 8 * HI_ARCH_RETURN_SLOT(bp_slot), unless the kind says otherwise. 8 bytes; names follow
 * .eh_frame. Lookup uses the return address minus one, except for the frame above a signal frame.
 */
enum hi_unwind_kind {
	/*
	 * no information: a gap, or an expression that the table cannot express; try the
	 * frame-pointer chain
	 */
	HI_UNWIND_NONE = 0,
	HI_UNWIND_SP = 1, /* CFA = sp + 8 * cfa */
	HI_UNWIND_BP = 2, /* CFA = bp + 8 * cfa */
	/*
	 * CFA = *(bp + 8 * cfa): frames that realigned their stack. The caller's bp is at *bp, as
	 * its distance to the CFA varies
	 */
	HI_UNWIND_BP_DEREF = 3,
	/*
	 * CFA by pc and cfa, as arch_plt_cfa of payload/arch has it: .plt entries of lazy binding
	 */
	HI_UNWIND_PLT = 4,
	HI_UNWIND_END = 5, /* return address undefined: the proper end of a stack */
	/*
	 * signal trampoline: registers are in the ucontext of the kernel's signal frame at sp,
	 * where arch_signal_frame of payload/arch says
	 */
	HI_UNWIND_SIGNAL = 6,
	/*
	 * Hand-written code. The lower HI_UNWIND_LOW_BITS of cfa are one number, `low`; the other
	 * bits are another number, `high`, which may be negative.
	 */
	HI_UNWIND_SPILLED = 7, /* CFA = *(sp + 8 * high) + 8 * low: the old sp was spilled */
	/*
	 * CFA = word `low` of the ucontext + 8 * high: only in the frame that a signal interrupted;
	 * in other frames like NONE
	 */
	HI_UNWIND_REGISTER = 8,
	/*
	 * the same for a caller-saved register that the called functions were written to preserve:
	 * valid in the interrupted frame and in all frames above it
	 */
	HI_UNWIND_SCRATCH = 9,
	/* CFA = *(sp + 8 + 8 * word `low` of the ucontext) + 8 * high: valid in the same frames */
	HI_UNWIND_INDEXED = 10,
	/*
	 * The caller is on another stack, whose owner is an object with its end as second word: CFA
	 * = *(*(sp + 8 * low) + 8) - *(sp + 8 * high) + 8, or + 16 where calls leave the return
	 * address in a register. A call of C by Go.
	 */
	HI_UNWIND_OTHER_STACK = 11,
	/*
	 * a frame pointer, but the caller's sp is *(bp + 8 * cfa): frames of a JVM's interpreter,
	 * for which the stack was moved. The caller's bp is at *bp, the return address above it.
	 * bp_slot is none: the method that is interpreted is *(bp + 8 * bp_slot); 0 = not known
	 */
	HI_UNWIND_BP_SP = 12,
	/*
	 * Where calls leave the return address in a register. CFA = sp + 8 * cfa, and the return
	 * address still is in that register: only in the frame that a signal interrupted; in other
	 * frames like NONE
	 */
	HI_UNWIND_LINK = 13,
	/*
	 * CFA = sp + 8 * cfa, and the return address was saved alone: at CFA + 8 * bp_slot if that
	 * is negative, otherwise at sp + 8 * bp_slot. bp is unchanged
	 */
	HI_UNWIND_ALONE = 14,
	/*
	 * CFA = sp + 8 * cfa or bp + 8 * cfa, and the caller's bp, with the return address above
	 * it, is at sp + 8 * bp_slot or bp + 8 * bp_slot: large frames, too far from their CFA
	 */
	HI_UNWIND_SP_RECORD = 15,
	HI_UNWIND_BP_RECORD = 16,
};
#define HI_UNWIND_LOW_BITS 5u
#define HI_UNWIND_LOW(cfa) ((cfa) & ((1 << HI_UNWIND_LOW_BITS) - 1))
#define HI_UNWIND_HIGH(cfa) ((cfa) >> HI_UNWIND_LOW_BITS)
#define HI_UNWIND_PAIR(high, low) ((int16_t)((high) * (1 << HI_UNWIND_LOW_BITS) + (low)))
struct hi_unwind_row {
	uint32_t pc;
	int16_t cfa;  /* signed, in units of 8 bytes; for HI_UNWIND_PLT an unsigned number 0..15 */
	uint8_t kind; /* enum hi_unwind_kind */
	/*
	 * caller's bp is at CFA + 8 * bp_slot (bp_slot is negative); 0 = bp is unchanged (BP_DEREF,
	 * BP_SP, and from ALONE on: see there)
	 */
	int8_t bp_slot;
};
_Static_assert(sizeof(struct hi_unwind_row) == 8, "unwind row");

#define HI_JOURNAL_CAPACITY 16384u
enum hi_journal_state {
	HI_JOURNAL_FREE = 0,
	HI_JOURNAL_PLANNED = 1, /* about to be written; the slot may hold either value */
	HI_JOURNAL_WRITTEN = 2,
	HI_JOURNAL_RESTORED = 3, /* written back, or found to hold another value than new_value */
};
/* What kind of word was changed. */
enum hi_journal_kind {
	/*
	 * a GOT slot of an object that may be unloaded: written only while all threads are stopped
	 */
	HI_JOURNAL_UNLOADABLE = 0,
	HI_JOURNAL_PINNED = 1, /* a GOT slot of an object that is never unloaded */
};
/*
 * One GOT slot. The entry is complete and PLANNED before the word is written. Undo writes old_value
 * only to a slot that holds new_value.
 */
struct hi_journal_entry {
	uint64_t slot;      /* address in the target */
	uint64_t old_value; /* the value before: the resolved original, or the lazy stub */
	uint64_t new_value; /* gate entry */
	/*
	 * address of the function that the gate entry serves: escaped pointers, copies of
	 * new_value, are fixed up to this
	 */
	uint64_t original;
	uint32_t state;    /* enum hi_journal_state */
	uint16_t function; /* enum hi_function */
	uint8_t kind;      /* enum hi_journal_kind */
	/*
	 * 1 = the page of the slot was read-only (RELRO), and must be read-only again after detach
	 */
	uint8_t read_only;
};
_Static_assert(sizeof(struct hi_journal_entry) == 40, "journal entry");

/* One word (8 bytes) of a function's first instruction, or of the padding before it. */
#define HI_CODE_WORDS_MAX 384u
struct hi_code_word {
	uint64_t at; /* address in the target; lies in `code` of the control block */
	/*
	 * undo restores a page to the content of its file if all words that differ are listed here
	 * and hold one of these values
	 */
	uint64_t old_value, new_value;
};

/*
 * The state of the target before attach. It is compared at detach. After a crash of the injector it
 * is the only thing to compare with.
 */
struct hi_snapshot {
	uint64_t fd_count;
	uint64_t thread_count;
	/* signal masks of the thread-group leader, as in /proc/PID/status */
	uint64_t sig_blocked, sig_ignored, sig_caught;
	uint64_t map_count;
	uint64_t reserved[2];
};

/* Parts of the arena: offset and size in bytes, both whole pages. */
struct hi_part {
	uint64_t offset;
	uint64_t size;
};

#define HI_INTERVAL_SHIFT_MAX 40u

/*
 * Thinning: which of the allocations that are due are recorded. Programs make most of their
 * allocations at a few places, and a sample costs a hundred times as much as finding out that it is
 * not wanted. So an allocation that is due belongs to one of HI_THINNING_KEYS, by the address that
 * called the allocator, the logarithm of its size, and the depth of its stack. Of a key with shift
 * k one point in 2^k is kept: its samples are as if drawn with a mean of the interval << k, and
 * their records say so (interval_shift is the sum of both). Keys that share an index are thinned
 * alike, which is as right.
 *
 * The payload counts in due[] what was due; the injector reads the counts, sets shift[], and stores
 * 0 to due[]. The counts are not exact: threads add without a lock. Between two visits of the
 * injector the payload itself thins a key further, by one for each doubling of due[] beyond
 * HI_THINNING_FREE. What thins an allocation was known before it was due, so no sample is biased.
 *
 * A mean of 2 to HI_THINNING_MEAN_MIN - 1 bytes is not thinned (payload/sample.h). Means jump from
 * 1 to at least that.
 *
 * Finding out has a cost, too. An idle program, of which every allocation is due, may begin to
 * allocate millions of times a second. So at every HI_THINNING_BRAKE counts of a key the payload
 * raises interval_shift by HI_THINNING_BRAKE_SHIFT.
 */
#define HI_THINNING_BITS 10u
#define HI_THINNING_KEYS (1u << HI_THINNING_BITS)
#define HI_THINNING_FREE 256u
#define HI_THINNING_SHIFT_MIN 6u
#define HI_THINNING_MEAN_MIN (1u << HI_THINNING_SHIFT_MIN)
#define HI_THINNING_BRAKE 8192u
#define HI_THINNING_BRAKE_SHIFT 3u
struct hi_thinning {
	uint32_t due[HI_THINNING_KEYS];
	uint8_t shift[HI_THINNING_KEYS]; /* <= HI_INTERVAL_SHIFT_MAX */
};

/*
 * Frees of blocks that are no samples, some of them: of blocks from before the session, mostly,
 * where samples are taken often. They show whether what is allocated takes the place of what is
 * freed. Each occupancy byte begins with a count of 1 that belongs to no sample: it is a sentinel,
 * and the gate sends every free with that home to the hook. The first `sentinels` bytes keep that
 * count. When the payload meets another one, it takes the 1 away, and sets its bit in
 * hi_state.no_sentinel. So a free is counted with the probability sentinels / (occupancy_mask + 1),
 * by its address. The injector lowers `sentinels` if that costs too much, and at every
 * HI_SENTINEL_BRAKE counts between two visits of the injector the payload halves it, to
 * HI_SENTINELS_MIN at least: it is a power of two. Only where the interval adapts, and where the
 * first allocator says how large a block is. The gate entries of an allocator that does not look at
 * occupancy bytes without sentinels.
 *
 * Sizes are usable sizes, by classes: 4 for each doubling.
 */
#define HI_SIZE_CLASSES 128u
#define HI_SENTINEL_BRAKE 1024u
#define HI_SENTINELS_MIN 4096u
struct hi_unsampled_frees {
	uint32_t sentinels; /* <= number of occupancy bytes */
	uint32_t recent;    /* counted since the injector stored 0; not exact */
	/*
	 * Since the beginning; atomic add. count and bytes are estimates of all frees: one that is
	 * seen stands for as many as there are homes for each sentinel at that moment.
	 */
	uint64_t seen[HI_SIZE_CLASSES], count[HI_SIZE_CLASSES], bytes[HI_SIZE_CLASSES];
};
static inline uint32_t hi_size_class(uint64_t bytes)
{
	const uint32_t log = bytes < 4 ? 2 : 63u - (uint32_t)__builtin_clzll(bytes);
	const uint32_t size_class = (log - 2) * 4 + (uint32_t)(bytes >> (log - 2) & 3);

	return size_class < HI_SIZE_CLASSES ? size_class : HI_SIZE_CLASSES - 1;
}

/*
 * Bytes of the control block that are private to each process, and that nothing in it can write.
 * All fields are in the first HI_PRIVATE_USED_BYTES of them.
 */
#define HI_PRIVATE_USED_BYTES (3u * HI_PAGE_BYTES)
#define HI_PRIVATE_BYTES HI_LARGEST_PAGES(HI_PRIVATE_USED_BYTES)
#define HI_PRIVATE_FIELD_BYTES 9880u
#define HI_CODE_RANGES_MAX 8u
#define HI_CODE_BYTES_MAX (4u << 20) /* bytes of all ranges together */
/* pages near functions that cannot reach the gate directly */
#define HI_NEAR_PAGES_MAX 20u

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
	/* probes: the first page of the file of probes (arena/probes.h), 0 bytes = none */
	struct hi_part ring, stacks, tables, near, state, stage, image, probes, gate, words;
	/* load address of the payload image; inside the arena for the map loader */
	uint64_t payload_base;
	uint64_t payload_size;
	uint64_t dlopen_handle; /* dlopen loader only */
	uint32_t gate_count;    /* gate entries in use */
	/* log2 of the buckets of the live set's first level; determines the size of the state */
	uint32_t bucket_bits;
	/* number of levels of the live set; determines the size of the state */
	uint32_t bucket_levels;
	uint32_t occupancy_bits;
	/* log2 of the interned stacks' hash table; determines the size of the state */
	uint32_t known_bits;
	/* log2 of the nodes of the stack trie; determines the size of the state */
	uint32_t walk_bits;
	/*
	 * 1 = GOT slots lead to the gate, or soon may. It is stored before the first slot is
	 * written. It is not in the journal, because a forked child can write to the journal
	 */
	uint32_t has_slots;
	/*
	 * 1 = the interval adapts, so that there may be sentinels, which need more occupancy bytes;
	 * determines the size of the state
	 */
	uint32_t has_sentinel_room;
	/*
	 * For each page of `near` that is mapped a second time at the address where it is needed:
	 * that address; 0 = none. Stored before the page is mapped there.
	 */
	uint64_t near_page[HI_NEAR_PAGES_MAX];
	/*
	 * Code of the target that a copy replaces while functions are hooked at their entries:
	 * address and size in bytes, whole pages, 0 = none.
	 */
	struct {
		uint64_t lo, size;
	} code[HI_CODE_RANGES_MAX];
	/*
	 * Address of an indirect call, through a callee-saved register, in the target's own code; 0
	 * = none is used. An original that a hook calls returns to this address, and from there to
	 * the payload. An unwinder that runs in the original finds unwind rows for this address.
	 * These rows describe the frame of the gadget's function; the description also fits the
	 * hook's frame, and leads to the hook's caller. For the payload itself an unwinder finds no
	 * rows.
	 */
	uint64_t return_gadget;
	/*
	 * that register: its index among the callee-saved ones other than the frame pointer, as in
	 * hook_call.kept of the payload; and HI_RETURN_SIGNED if those rows say that the return
	 * address is signed, so that it has to be
	 */
	uint64_t return_register;
#define HI_RETURN_SIGNED 0x100u
	uint64_t probe_alloc, probe_free; /* as in struct hi_state */
	struct hi_snapshot before;
	/*
	 * The words of `code` that differ in its replacement. The list is complete before the code
	 * is replaced.
	 */
	uint32_t code_word_count;
	uint32_t code_functions; /* number of functions to which the words belong */
	struct hi_code_word code_word[HI_CODE_WORDS_MAX];
	uint8_t unused[HI_PRIVATE_BYTES - HI_PRIVATE_FIELD_BYTES];
	/*
	 * All fields above are on the private pages, and no hook touches them. The injector writes
	 * them through /proc/PID/mem, because the arena's file is shared with all children that the
	 * target has forked since, and some of those may have fewer rights.
	 */
	/* cycle counter, stored by the injector in every pump round */
	uint64_t heartbeat __attribute__((aligned(HI_PAGE_BYTES)));
	/* cycles of silence after which the payload disarms itself; 0 = never */
	uint64_t deadman_cycles;
	uint64_t interval; /* mean bytes between samples as asked for; see hi_interval.h */
	/* address of the upper end of the main thread's stack, 0 = not known */
	uint64_t main_stack;
	uint32_t current_regions;   /* index into regions[] */
	uint32_t current_directory; /* index into directory[] */
	/*
	 * New countdowns are drawn with a mean of interval << this; <= HI_INTERVAL_SHIFT_MAX. The
	 * injector sets it; the payload raises it if too much is due (HI_THINNING_BRAKE).
	 */
	uint32_t interval_shift;
	uint32_t ring_mask;     /* number of rings - 1: HI_RINGS - 1, or 0 */
	uint32_t journal_count; /* entries in use, including RESTORED ones */
	/*
	 * the largest shift of an interval, thinning included, if the interval adapts to a budget;
	 * 0 = it is fixed, and nothing is thinned. Constant
	 */
	uint32_t shift_max;
	uint32_t paused; /* 1 = no allocation is recorded; frees are. Set by the injector */
	/*
	 * [code_lo, code_lo + code_bytes): code that comes and goes within a file or none (a
	 * JVM's). Its rows may be those of other code that was there a second ago; so they hold on
	 * the thread's own stack only. 0 bytes = there is none. The bytes are stored first and read
	 * last: the bounds only grow, and no walk sees smaller ones than before
	 */
	uint64_t code_lo, code_bytes;
	/* calls of each function that the user has named and that allocates; atomic add */
	struct {
		uint64_t calls;
		uint64_t senseless; /* of these: what should be the size, or the block, is none */
	} named[HI_NAMED_MAX] __attribute__((aligned(64)));
	struct hi_thinning thinning __attribute__((aligned(64)));
	struct hi_unsampled_frees unsampled_frees __attribute__((aligned(64)));
	struct hi_counters counters __attribute__((aligned(64)));
	struct hi_regions regions[2] __attribute__((aligned(64)));
	struct hi_unwind_directory directory[2] __attribute__((aligned(64)));
	struct hi_journal_entry journal[HI_JOURNAL_CAPACITY] __attribute__((aligned(64)));
};
_Static_assert(offsetof(struct hi_control, heartbeat) == HI_PRIVATE_BYTES &&
		       offsetof(struct hi_control, unused) == HI_PRIVATE_FIELD_BYTES &&
		       HI_PRIVATE_FIELD_BYTES <= HI_PRIVATE_USED_BYTES,
	       "these are private");
/* Size of the control part of the arena, in whole pages. */
#define HI_CONTROL_BYTES HI_LARGEST_PAGES(sizeof(struct hi_control))

/* ---- rings ----------------------------------------------------------------------------------- */

/*
 * control->ring_mask + 1 rings of equal size follow one another. Each has a head of its own, so
 * threads seldom contend. The first half of the rings is shared by all threads. The record of a
 * thread goes to the shared ring whose number is that of the thread's slot (modulo the number of
 * shared rings). If that ring is full, the record goes to the next shared ring, and so on. Each
 * ring of the second half belongs to one thread: the first owner of the slot that names the ring in
 * own_ring, as long as rings are left. The records of that thread go to its own ring first. The
 * thread changes the head of its own ring by an instruction that is not locked, for the reason that
 * "who is inside" gives for in_flight. So it need not wait until its earlier stores have left the
 * CPU. After a store to a fresh block that wait takes longer than everything else. If there is only
 * one ring, it is shared.
 *
 * One ring: many producers, one reader. Positions count bytes since the start and only grow;
 * position % capacity is the offset in data[]. A record starts on a HI_RING_UNIT boundary and may
 * wrap around the end of data[] (copy word by word, modulo capacity).
 *
 * Producer: (1) Read tail. (2) Reserve [head, head + size) by compare-and-swap on head (locked,
 * unless the ring is the thread's own), where head + size - tail <= limit. The limit is the
 * capacity for frees and three quarters of it for allocs, so that a free always finds room. (3)
 * Store the first word as size | type << 32 | HI_RING_BUSY. (4) Store the rest. (5) Commit by
 * compare-and-swap of the first word to the same value without HI_RING_BUSY (release). If that swap
 * fails, the reader gave the record up: count commit_lost. The swap is one instruction, but it is
 * not locked: no other producer writes that word, and waiting until all earlier stores have left
 * the CPU would cost more than the stores themselves.
 *
 * Reader: at tail, first word 0 = reserved but not begun; BUSY = begun; any other value: take the
 * record, ZERO THE WHOLE RECORD, then advance tail (release). The reader may do that for many
 * records at once, and may read head just as rarely: each load and each store takes the cache line
 * from a producer's CPU, which then has to fetch it back.
 *
 * A producer that died leaves zeros or a BUSY word. After a while the reader skips a BUSY record by
 * its size, and skips zeros unit by unit up to the next non-zero word below head. All of data[]
 * starts zeroed.
 *
 * As the producer's swap is not locked, it may overwrite what the reader wrote after the swap's
 * load. So the reader first sets HI_RING_GIVEN_UP in a BUSY word (by compare-and-swap), and skips
 * the record only if the mark is still there some milliseconds later. A swap that begins after the
 * mark fails. A swap that loaded the word before the mark has stored by then, as nothing interrupts
 * an instruction; its store removed the mark and was a commit, so the reader takes the record.
 *
 * The reader trusts nothing: it checks sizes, types and counts against these definitions before
 * use.
 *
 * ORDER. The order of events about one address must be kept, although an event B that follows event
 * A may lie in another ring. Three facts ensure that.
 *   1. B is reserved only after A was: an alloc record is reserved before the block is handed over,
 *      a free record before the block is freed. (Other CPUs see the swap of head before the later
 *      stores of its thread: because the swap is locked, or because the CPU makes stores visible in
 *      their order.)
 *   2. A record's `cycles` are read before the record is reserved, but after everything that its
 *      thread has learned of before. So B.cycles > the time at which A was reserved. While only one
 *      thread has come to the hooks, it need not read the clock for each record, as there is no
 *      record of another thread that its own could follow from. Its `cycles` are then never ahead
 *      of the clock and rise with each record; after one of its records has gone to another ring
 *      than its own, it reads the clock anew for the next.
 *   3. The cycle counters of all CPUs agree. Where the kernel does not trust them, there is only
 *      one ring.
 *
 * The reader notes all heads (marks). When it has them all, it notes all heads once more (limits).
 * It then takes records from the rings in the order of their `cycles`: each time the smallest of
 * the records at the tails below the limits, until no ring has a record left below its mark. A
 * record at a tail that is not committed holds up all rings.
 *   - Everything that must precede a record that the reader takes lies below the limits. The
 *     record's `cycles` are no later than those of some record below a mark, and so no later than
 *     the time of the last mark. What must precede it was reserved earlier than its `cycles` (2),
 *     and so before the first limit was noted.
 *   - B is not taken before A. While A is still in its ring, a record X that was reserved no later
 *     than A lies at the tail of that ring. So X.cycles <= reserve of X <= reserve of A < B.cycles,
 *     and X is taken first.
 *
 * The ring in which a record lies plays no part in this. So a thread's own records, of a realloc
 * for example, are in order even if one of them went to the next ring.
 */
#define HI_RINGS 16u
#define HI_RING_UNIT 32u
#define HI_RING_BUSY (1ull << 63)
#define HI_RING_GIVEN_UP (1ull << 62) /* set by the reader in addition to HI_RING_BUSY */
#define HI_RING_SIZE_MAX 2048u

struct hi_ring {
	/*
	 * 0: bytes of data[], a power of two. Only informative: any code in the target can write
	 * here, so producers and reader use copies of their own
	 */
	uint64_t capacity;
	uint64_t reserved0[7];
	uint64_t head; /* 64: position in bytes up to which the ring is reserved */
	uint64_t reserved1[7];
	uint64_t tail; /* 128: position in bytes up to which the ring is consumed */
	uint64_t reserved2[7];
	uint8_t data[]; /* 192 */
};
_Static_assert(offsetof(struct hi_ring, data) == 192, "ring head is three cache lines");

static inline struct hi_ring *hi_ring_at(struct hi_ring *first, uint64_t capacity, uint64_t index)
{
	return (struct hi_ring *)(void *)((uint8_t *)first +
					  index * (sizeof(struct hi_ring) + capacity));
}

enum hi_record_type {
	HI_RECORD_ALLOC = 1,
	HI_RECORD_FREE = 2,
	HI_RECORD_REGION = 3,
	/* laid out like FREE: the last free of this address did not happen (a realloc failed) */
	HI_RECORD_UNFREE = 4,
	HI_RECORD_KNOWN = 5, /* an alloc whose stack is interned */
	HI_RECORD_MAPPING = 6,
	HI_RECORD_NAMED = 7,
};

enum hi_stack_end {
	/*
	 * reached a frame whose return address is undefined, or a return address of zero at the
	 * outermost frame pointer
	 */
	HI_END_COMPLETE = 0,
	HI_END_DEPTH = 1,  /* HI_FRAMES_MAX reached */
	HI_END_REGION = 2, /* sp lies in no known region */
	/*
	 * no unwind row for the last frame, and its frame pointer was not plausible; all frames are
	 * certain
	 */
	HI_END_NO_ROW = 3,
	HI_END_BAD_FRAME = 4, /* a CFA that does not grow, or that leaves the region */
	/*
	 * as HI_END_NO_ROW, but the walk had to trust frame pointers before that, perhaps wrongly
	 */
	HI_END_LOST = 5,
};
#define HI_STACK_ENDS 6u

#define HI_FRAMES_MAX 128u

/*
 * In place of the pc of an interpreted frame (HI_UNWIND_BP_SP): these upper bits, which no address
 * has, and the address of the method. It is a word of the stack, and nothing has been read there.
 */
#define HI_FRAME_METHOD_SHIFT 56
#define HI_FRAME_METHOD (0x4aull << HI_FRAME_METHOD_SHIFT)
#define HI_FRAME_METHOD_MASK (0xffull << HI_FRAME_METHOD_SHIFT)
static inline int hi_frame_is_method(uint64_t frame)
{
	return (frame & HI_FRAME_METHOD_MASK) == HI_FRAME_METHOD;
}

struct hi_record_header {
	uint32_t size; /* whole record, multiple of HI_RING_UNIT */
	/* enum hi_record_type; bit 31 is HI_RING_BUSY, bit 30 is HI_RING_GIVEN_UP */
	uint32_t type_busy;
	uint64_t cycles; /* cycle counter when the event happened; see "order" above */
	uint64_t thread; /* thread pointer */
};
#define HI_SLACK_UNKNOWN UINT32_MAX
struct hi_record_alloc {
	struct hi_record_header header;
	uint64_t address;
	uint64_t bytes;       /* as requested */
	uint16_t frame_count; /* >= 1 */
	uint16_t loads;       /* the lowest bits of what load_count of hi_state leads to */
	uint16_t stack_end;   /* enum hi_stack_end */
	uint16_t function;    /* enum hi_function */
	/*
	 * usable bytes beyond those requested; HI_SLACK_UNKNOWN - 1 = that many or more;
	 * HI_SLACK_UNKNOWN = the allocator could not be asked
	 */
	uint32_t slack;
	/*
	 * the shift with which the countdown that ran out was drawn. The weight of the sample
	 * follows from this, not from the current mean
	 */
	uint16_t interval_shift;
	uint16_t thinning_key; /* index in struct hi_thinning, + 1; 0 = nothing is thinned */
	/* return addresses, leaf first; frame[0] is in the caller of the allocation function */
	uint64_t frame[];
};
struct hi_record_known {
	struct hi_record_header header;
	uint64_t address;
	uint64_t bytes; /* as requested */
	/* id: offset of its struct hi_stack in the stacks part, in units of 8 bytes */
	uint32_t stack;
	uint16_t loads;
	uint16_t function; /* enum hi_function */
	uint32_t slack;    /* this, loads, and what follows: as in struct hi_record_alloc */
	uint16_t interval_shift;
	uint16_t thinning_key;
};
struct hi_record_free {
	struct hi_record_header header;
	uint64_t address;
};
struct hi_record_region {
	struct hi_record_header header;
	uint64_t stack_pointer; /* an address that lies in no region of the list */
};
/*
 * Address space that came or went, where mappings were asked for. Sampled mappings are ALLOC and
 * KNOWN records of HI_FN_MMAP, HI_FN_MREMAP and HI_FN_BRK, and their `slack` is their attributes.
 * All others are recorded, too, without a stack: each takes the place of what was there.
 */
enum hi_mapping_change {
	/* recorded before it is unmapped or moved, as another thread may be given it at once */
	HI_MAPPING_GONE = 1,
	HI_MAPPING_KEPT = 2,      /* the thread's last GONE did not happen: the call failed */
	HI_MAPPING_UNSAMPLED = 3, /* there is a mapping now, which is no sample */
	/* the same of one that was mapped within a hooked function of an allocator */
	HI_MAPPING_ALLOCATOR = 4,
	/* the same, where it is not known whether it was: by a signal handler, on another stack */
	HI_MAPPING_NESTED = 5,
};
#define HI_MAPPING_CHANGES 6u
/* of a mapping: its protection in the lowest bits, and the flags of mmap above */
#define HI_MAPPING_PROTECTION 7u
#define HI_MAPPING_FLAGS_SHIFT 3u
#define HI_MAPPING_FLAGS_MASK 0xffffffu
#define HI_MAPPING_BY_BRK (1u << 27) /* instead of these: the heap of brk has grown */
struct hi_record_mapping {
	struct hi_record_header header;
	uint64_t address;
	uint64_t bytes;      /* whole pages */
	uint32_t change;     /* enum hi_mapping_change */
	uint32_t attributes; /* of UNSAMPLED and ALLOCATOR */
};
/*
 * What functions that the user has named did, without a stack. Sampled blocks are ALLOC and KNOWN
 * records with their function's number.
 */
enum hi_named_change {
	HI_NAMED_POOLED = 1, /* the block that was sampled last at this address lies in `pool` */
	HI_NAMED_FREED = 2,  /* the block goes; recorded before the call */
	HI_NAMED_KEPT = 3,   /* the last FREED of this address did not happen */
	/* `pool` goes, all blocks in it, the block at its address, and what lies in these */
	HI_NAMED_POOL_GONE = 4,
	/* the blocks in the pool at `address` lie in `pool` now, which has come in its place */
	HI_NAMED_POOL_MOVED = 5,
};
#define HI_NAMED_CHANGES 6u
struct hi_record_named {
	struct hi_record_header header;
	uint64_t address;
	uint64_t pool;
	uint32_t change; /* enum hi_named_change */
	uint32_t function;
};
_Static_assert(sizeof(struct hi_record_header) == 24, "record header");
_Static_assert(sizeof(struct hi_record_named) == 48, "named record");
_Static_assert(sizeof(struct hi_record_mapping) == 48, "mapping record");
_Static_assert(offsetof(struct hi_record_alloc, frame) == 56, "alloc record");
_Static_assert(sizeof(struct hi_record_free) == HI_RING_UNIT, "free record is one unit");
_Static_assert(sizeof(struct hi_record_alloc) + 8 * HI_FRAMES_MAX <= HI_RING_SIZE_MAX,
	       "longest record");
_Static_assert(sizeof(struct hi_record_known) <= 2 * HI_RING_UNIT,
	       "an alloc of a known stack is two units");

/*
 * A scratch takes HI_SCRATCH_BYTES. The region fields are valid as long as the region list has the
 * generation that region_stamp holds.
 */
struct hi_scratch {
	/* 2 * generation + index of the list in which the region was found */
	uint64_t region_stamp;
	uint64_t region_lo, region_hi;
	/* stack pointer, in no region, of the last stack that ended with HI_END_REGION */
	uint64_t unknown_sp;
	/*
	 * address of the outermost struct hook_call of the count to which the scratch belongs,
	 * while it runs; 0 = none. It stays if that call is left by a jump (payload/nesting.h)
	 */
	uint64_t outermost;
	uint64_t outermost_function;                        /* enum hi_function */
	uint64_t alloc[sizeof(struct hi_record_alloc) / 8]; /* a struct hi_record_alloc */
	uint64_t frame[HI_FRAMES_MAX];                      /* the frames of that record */
};
_Static_assert(offsetof(struct hi_scratch, frame) ==
		       offsetof(struct hi_scratch, alloc) + sizeof(struct hi_record_alloc),
	       "the frames follow the record");
_Static_assert(sizeof(struct hi_scratch) <= HI_SCRATCH_BYTES && HI_SCRATCH_BYTES % 64 == 0,
	       "whole cache lines");

/* ---- stacks ---------------------------------------------------------------------------------- */

/*
 * Interned stacks: each sampled stack is stored here once, and alloc records name it by its id. So
 * in exact mode a record takes 64 bytes, whatever the depth. The part is append-only, and stacks
 * stay for the session.
 *
 * Producer: look the hash up in the table of interned stacks (private memory; 0 = free, otherwise
 * the upper bits of the hash and, in HI_STACK_ID_BITS, the id). The frames of a stack that is found
 * there are not compared. The position in the table and the stored bits are all but a few of the 64
 * bits of the hash. So among a quarter of a million stacks the probability that any two are
 * confused is a few in a million. If the stack is new, reserve room by compare-and-swap on `used`,
 * as long as the stack ends within `limit`; write the stack; only then publish it in the table by
 * compare-and-swap (release). A producer that dies on the way has wasted the room, and nothing
 * refers to it. If there is no room here or in the table, the alloc record carries the frames
 * itself.
 *
 * Reader: an id arrives with a committed record, and its stack was written before that commit. The
 * stacks have no order that must be kept, and none can be lost on the way. The reader trusts
 * nothing: it checks the offset and the frame count, and copies a stack out once.
 *
 * Fork: as with the ring, the producer checks `armed` again before each store.
 */
struct hi_stacks {
	/*
	 * 0: bytes of this part that may be used. The injector increases it, after it has allocated
	 * those bytes
	 */
	uint64_t limit;
	uint64_t reserved0[7];
	/* 64: bytes of this part in use, this head included; written by the payload */
	uint64_t used;
	uint64_t reserved1[7];
	uint8_t data[]; /* 128: the stacks; as they start here, no stack has id 0 */
};
_Static_assert(offsetof(struct hi_stacks, data) == 128, "stacks head is two cache lines");

#define HI_STACK_UNIT 8u /* bytes for each step of an id */
#define HI_STACK_ID_BITS 24u

struct hi_stack {
	uint32_t frame_count; /* 1..HI_FRAMES_MAX */
	uint16_t stack_end;   /* enum hi_stack_end */
	uint16_t reserved;
	uint64_t frame[];
};
_Static_assert(sizeof(struct hi_stack) == 8, "stack head");

/* ---- what the payload image exports ---------------------------------------------------------- */

/*
 * The names are those of payload/exports.map; the injector finds them in the .dynsym.
 */
/*
 * hi_gate_<class>: gate entry templates, at most HI_GATE_STRIDE bytes, position-independent,
 * st_size = bytes to copy:
 *     hi_gate_alloc         size in argument 1
 *     hi_gate_size2         size is argument 1 * argument 2
 *     hi_gate_sizearg2      size in argument 2
 *     hi_gate_sizearg3      size in argument 3 (posix_memalign)
 *     hi_gate_free          block in argument 1
 *     hi_gate_realloc       block in argument 1, size in argument 2
 *     hi_gate_realloc_null  the same, but a block of NULL passes uncounted
 *     hi_gate_always        always to the hook (reallocarray, xallocx)
 *     hi_gate_inert         tail-jump to words->original, nothing else, from every byte offset at
 *                           which a thread may have left off in another entry
 *     hi_gate_restore       stores a word and returns
 *
 * hi_hook_<hook>: the value of words->hook while armed, one for each row of HI_HOOKS. On entry a
 * register holds the address of the words, see above.
 *
 * hi_store_words: void (struct hi_store *store, uint64_t count); called by a thread that the
 * injector has borrowed, while all its signals are blocked.
 */

#endif
