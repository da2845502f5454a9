/* SPDX-License-Identifier: MIT */
/*
 * hi_stream.h - the record stream: what the injector writes and the analyzer reads, over a pipe or
 * as a file.
 *
 * It is a file format: self-contained, append-only, readable after a cut at any byte. `heapinject
 * attach PID -o -` and `--stream FILE` write it, `heapinject report` and `heapinject replay` read
 * it. Little-endian. The stream is a
 * sequence of records. The first is HI_STREAM_HEADER; the last, if the session ended in order, is
 * HI_STREAM_END. Each record is
 *
 *     u32 size    whole record in bytes, a multiple of 8, at least 8, at most HI_STREAM_RECORD_MAX
 *     u16 type    enum hi_stream_type; readers skip types that they do not know
 *     u16 flags   per type, otherwise 0
 *     ...         fixed part as declared below, then its variable part; padded with zeros to 8
 *
 * A string in a variable part is its bytes without a terminator; its length is in the fixed part.
 * Strings are raw bytes from the target (paths, thread names): a reader must not trust them to be
 * UTF-8 or printable. Times are nanoseconds since the session began, unless a name says otherwise.
 *
 * Order: HEADER; PROCESS; MODULE records of everything mapped; MAPS; then events in the order in
 * which they happened in the target. A MODULE record comes before the first event whose frames lie
 * in it, and a STACK record before the first ALLOC that names it. Frames are absolute addresses.
 * The MODULE record that covers an address at that point of the stream gives object, build-id and
 * offset, so that names can be found on another machine. "That point" is the ALLOC, not the STACK
 * that it names: if a library was unloaded and another one mapped in its place, the same addresses
 * have another meaning.
 */
#ifndef HI_STREAM_H
#define HI_STREAM_H

#include <stdint.h>

#define HI_STREAM_MAGIC 0x314d415254534948ull /* "HISTRAM1" */
#define HI_STREAM_VERSION 5u
#define HI_STREAM_VERSION_OLDEST 4u /* its MEMORY records end after writable_bytes */
#define HI_STREAM_RECORD_MAX (8u << 20)
#define HI_STREAM_BUILD_ID_MAX 32u

enum hi_stream_type {
	HI_STREAM_HEADER = 1,
	HI_STREAM_MODULE = 2,
	HI_STREAM_MODULE_GONE = 3,
	HI_STREAM_MAPS = 4,
	HI_STREAM_THREAD = 5,
	HI_STREAM_ALLOC = 6,
	HI_STREAM_FREE = 7,
	HI_STREAM_INTERVAL = 8,
	HI_STREAM_STATS = 9,
	HI_STREAM_END = 10,
	/*
	 * struct hi_stream_free: the last free of this address did not happen (a realloc that
	 * failed)
	 */
	HI_STREAM_UNFREE = 11,
	HI_STREAM_STACK = 12,
	HI_STREAM_EVENTS = 13,
	HI_STREAM_DUMP = 14,
	HI_STREAM_MEMORY = 15,
	HI_STREAM_UNHOOKED = 16,
	HI_STREAM_PROCESS = 17,
	HI_STREAM_UNSAMPLED_FREES = 18,
	HI_STREAM_RUNTIME = 19,
	HI_STREAM_HOOKED = 20,
	HI_STREAM_THINNED = 21,
	HI_STREAM_PAUSE = 22,
	HI_STREAM_RESET = 23,
	HI_STREAM_LEAKED = 24,
	HI_STREAM_HEAP = 25,
	/* struct hi_stream_alloc of a sampled mapping; its slack is the mapping's attributes */
	HI_STREAM_MAPPED = 26,
	HI_STREAM_MAPPING = 27,
	HI_STREAM_CODE = 28,
	/* struct hi_stream_alloc of a sampled block of a function that the user has named */
	HI_STREAM_POOLED = 29,
	HI_STREAM_POOL = 30,
	HI_STREAM_NAMED = 31,
};

struct hi_stream_record {
	uint32_t size;
	uint16_t type;
	uint16_t flags;
};

struct hi_stream_header {
	struct hi_stream_record record;
	uint64_t magic;   /* HI_STREAM_MAGIC */
	uint32_t version; /* HI_STREAM_VERSION */
	uint32_t pid;     /* as the injector saw it */
	/* mean bytes between samples (Poisson) as asked for; 1 = every allocation, exact */
	uint64_t interval;
	uint64_t start_unix_ns; /* wall clock at the start of the session */
	/*
	 * variable part: comm, command line (arguments separated by NUL), executable path, host
	 * name, tool version
	 */
	uint16_t comm_size;
	uint16_t host_size;
	uint16_t version_size;
	uint16_t exe_size;
	uint32_t cmdline_size;
	/*
	 * share of its CPU time that profiling may take, in millionths, before the sampling
	 * interval grows; 0 = no limit
	 */
	uint32_t budget_ppm;
};
/* variable part order: comm, cmdline, exe, host, tool version */

/* of MODULE: it lies there from the beginning to the end of the session */
#define HI_STREAM_STAYS 1u

/* One executable mapping of one object. The same object may have several. */
struct hi_stream_module {
	struct hi_stream_record record; /* flags: HI_STREAM_STAYS */
	/* number of the object, dense from 1; the same for all mappings of one loaded object */
	uint32_t module;
	uint32_t build_id_size; /* 0..HI_STREAM_BUILD_ID_MAX; 0 = unknown */
	uint64_t time_ns;
	uint64_t lo, hi;      /* executable addresses [lo, hi) */
	uint64_t file_offset; /* of lo in the file */
	/* address in memory minus address in the ELF file (st_value, line tables) */
	uint64_t bias;
	uint64_t device, inode; /* to check whether a file found by path is the same; 0 = unknown */
	/*
	 * length of the path: as in /proc/PID/maps, " (deleted)" removed; "[vdso]" and similar
	 * names unchanged
	 */
	uint32_t path_size;
	/*
	 * a path by which this machine can open that same file while the target lives, e.g.
	 * /proc/PID/map_files/LO-HI; may be empty
	 */
	uint32_t open_path_size;
};
/* variable part order: build-id, path, open path */

struct hi_stream_module_gone {
	struct hi_stream_record record;
	uint32_t module;
	uint32_t reserved;
	uint64_t time_ns;
};

/*
 * /proc/PID/maps at time_ns; the variable part is its text. The last MAPS record before the end
 * goes into MAPPED_LIBRARIES of the .heap file.
 */
struct hi_stream_maps {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint32_t text_size;
	uint32_t reserved;
};

/*
 * A second THREAD record with the same number means that the thread has another name from then on.
 */
struct hi_stream_thread {
	struct hi_stream_record record;
	/*
	 * number used in ALLOC and FREE, dense from 1. In these, 0 = one of the threads beyond
	 * those that could be distinguished
	 */
	uint32_t thread;
	uint32_t tid; /* 0 = not found */
	uint64_t time_ns;
	uint32_t name_size;
	uint32_t reserved;
};

/*
 * Code that is in no module, as of a JVM: [lo, hi) has this name from here on. It comes before the
 * STACK record, or the ALLOC with frames of its own, that was the first to lead through it. A perf
 * map takes precedence.
 *
 * Interpreted code has no address of its own: each name of a method has two bytes somewhere between
 * HI_STREAM_METHODS and twice as much, above all addresses of a process.
 */
#define HI_STREAM_METHODS (1ull << 52)
struct hi_stream_code {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t lo, hi;
	uint32_t name_size;
	uint32_t reserved;
};

/* A stack that ALLOC records may name. */
struct hi_stream_stack {
	struct hi_stream_record record; /* flags: enum hi_stack_end of hi_wire.h in the low byte */
	uint32_t stack;                 /* number used in ALLOC, dense from 1 */
	/* variable part: u64 frames, return addresses, leaf first */
	uint32_t frame_count;
};

struct hi_stream_alloc {
	/*
	 * flags: enum hi_stack_end of hi_wire.h in the low byte, if the record carries its frames
	 * itself; HI_STREAM_UNSURE
	 */
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t address;
	uint64_t bytes; /* as requested */
	uint32_t thread;
	uint16_t function; /* enum hi_function of hi_hooks.h */
	/* variable part: u64 frames, return addresses, leaf first; 0 if `stack` names a stack */
	uint16_t frame_count;
	/* mean in bytes with which this sample was drawn; determines its weight */
	uint64_t interval;
	/* usable bytes beyond those requested; HI_STREAM_SLACK_UNKNOWN = not known */
	uint32_t slack;
	uint32_t stack; /* 0: this record carries its frames itself */
};
#define HI_STREAM_SLACK_UNKNOWN UINT32_MAX
/*
 * Of ALLOC that carries its frames: libraries have come and gone, and it is not known which of them
 * lay where at that moment. Only the modules that stay cover these frames.
 */
#define HI_STREAM_UNSURE 0x100u

struct hi_stream_free {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t address;
	uint32_t thread;
	uint32_t reserved;
};

/*
 * Address space that came or went, where mappings were asked for: see hi_record_mapping of
 * hi_wire.h. Whatever is mapped takes the place of what was there, that of MAPPED records, too. One
 * of no bytes, near the beginning, says only that mappings were asked for.
 */
struct hi_stream_mapping {
	struct hi_stream_record record; /* flags: enum hi_mapping_change */
	uint64_t time_ns;
	uint64_t address, bytes;
	uint32_t thread;
	uint32_t attributes;
};

/* What such functions did to a block or a pool: see hi_record_named of hi_wire.h. */
struct hi_stream_pool {
	struct hi_stream_record record; /* flags: enum hi_named_change */
	uint64_t time_ns;
	uint64_t address, pool;
	uint32_t thread;
	uint32_t function; /* enum hi_function of hi_hooks.h */
};

/*
 * A function that allocates and that the user has named. It comes before the first block of it, and
 * again at the end, with its calls.
 */
struct hi_stream_named {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t calls;
	uint64_t senseless; /* of these: the size was none, or the block */
	uint32_t function;  /* enum hi_function of hi_hooks.h */
	/* variable part: the name */
	uint32_t name_size;
};

/*
 * Allocations and frees, in the order in which they happened. This is a short form of ALLOC and
 * FREE records, for millions of events a second. An event that does not fit into it (own frames,
 * four gigabytes) is a record by itself. Variable part: struct hi_stream_event one after the other;
 * of a free only the first HI_STREAM_EVENT_FREE_BYTES are stored.
 *
 * If the free of an allocation follows in the same record, the allocation's lived_ns says so, and
 * the free is left out: no event in between was about the same address.
 */
struct hi_stream_events {
	struct hi_stream_record record;
	uint64_t time_ns;  /* base of the events' times */
	uint64_t last_ns;  /* time of the latest event */
	uint64_t interval; /* mean in bytes with which all samples in this record were drawn */
};
struct hi_stream_event {
	/*
	 * address in the lower HI_STREAM_EVENT_ADDRESS_BITS; the bits above are 0 = a free, or enum
	 * hi_function of hi_hooks.h + 1
	 */
	uint64_t what;
	uint32_t after_ns;
	uint32_t thread;
	uint32_t bytes; /* bytes, stack and slack: as in ALLOC */
	uint32_t stack;
	uint32_t slack;
	/*
	 * nanoseconds from the allocation to its free; HI_STREAM_LIVES = the free is not in this
	 * record
	 */
	uint32_t lived_ns;
};
#define HI_STREAM_EVENT_ADDRESS_BITS 56u
#define HI_STREAM_EVENT_FREE_BYTES 16u
#define HI_STREAM_LIVES UINT32_MAX

/*
 * From here on countdowns are drawn with this mean, in bytes. Countdowns that were drawn before run
 * out first: each ALLOC says with which mean it was drawn.
 */
struct hi_stream_interval {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t interval;
};

/* Totals since the start of the session. Written several times a second. */
struct hi_stream_stats {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t samples;
	uint64_t frees;
	uint64_t dropped_allocs;
	uint64_t dropped_frees;
	uint64_t live_set_full;
	/*
	 * allocations that were passed over, at most, as more threads were inside at once than
	 * there is room for, or as it was not known whether they were part of another call
	 */
	uint64_t no_thread_slot;
	uint64_t passed_bytes;   /* bytes that those allocations stand for, at most */
	uint64_t payload_cpu_ns; /* time that the payload used in the target's threads */
	uint64_t target_cpu_ns;  /* CPU time of the target over the session */
	uint64_t resident_bytes; /* RSS of the target */
};

/*
 * The memory of the process, from /proc. The first MEMORY record is written at the start of the
 * session, then one before each STATS. It bounds the estimates: in-use memory cannot be more than
 * this, and growth of the process must have a source. The figures but those of the limit exclude
 * what heapinject itself has in the arena. 0 = not known.
 */
struct hi_stream_memory {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t anonymous_bytes; /* anonymous memory, resident or swapped */
	/* private writable mappings, touched or not; all blocks of a heap lie in these */
	uint64_t writable_bytes;
	uint64_t resident_bytes; /* anonymous memory, files and shared memory */
	/*
	 * The nearest limit, and what counts towards it now: of a cgroup, or of the process. 0 = no
	 * limit is known.
	 */
	uint64_t limit_bytes, limited_bytes;
	uint64_t threads; /* 0 = not known */
};

/*
 * What the allocators of the process have, as their own structures say, which were read from
 * outside while it ran on: all of them together, apart from what the payload does. Written every
 * few seconds, at times that the cost of a look decides. Bytes are resident or swapped out, but for
 * used_bytes and trim_bytes. If the text of the refusal is not empty, it was not or not wholly
 * read, and no figure may be used but those of the look itself.
 */
struct hi_stream_heap {
	struct hi_stream_record record;
	uint64_t time_ns;             /* when the look began */
	uint64_t anonymous_bytes;     /* of the process: as in MEMORY, at the end of the look */
	uint64_t used_bytes;          /* that blocks in use have, touched or not, as usable sizes */
	uint64_t used_count;          /* blocks in use */
	uint64_t used_resident_bytes; /* of used_bytes */
	uint64_t free_resident_bytes; /* freed or never given out, and in no cache */
	uint64_t cache_resident_bytes; /* freed, in caches of threads or of all */
	/* resident bytes that the allocators give back when told to (malloc_trim and the like) */
	uint64_t trim_bytes;
	uint64_t own_resident_bytes;    /* for themselves: heads of blocks, metadata */
	uint64_t unsure_resident_bytes; /* changed too fast, damaged, or swapped out */
	uint64_t cost_ns;               /* CPU time of the look */
	uint32_t name_size;             /* "glibc 2.36", or several; empty = not known */
	uint32_t refusal_size;          /* why the heap could not be read; empty = it was */
};
/* variable part order: name, refusal */

/*
 * Frees of blocks that were no samples, since the start of the session: the estimates of what was
 * freed, by classes of usable sizes, and how many frees they rest on. Variable part: struct
 * hi_stream_frees, `classes` times, with ascending classes. Written about once a second where it is
 * known.
 */
struct hi_stream_unsampled_frees {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint32_t classes;
	uint32_t reserved;
	/* share of the frees that are looked at now, in millionths; of a size that none was seen of
	 */
	uint64_t share_ppm;
};
struct hi_stream_frees {
	uint32_t size_class; /* hi_size_class() of hi_wire.h */
	uint32_t seen;       /* frees that were looked at */
	uint64_t count, bytes;
};

/*
 * How much may lie between two samples of these stacks and sizes because of thinning (hi_wire.h):
 * the grain is the coarsest interval, thinning included, of those that were in force so far while
 * half as many bytes more were due there, at least; if fewer were due, two thirds of them. The
 * samples may all have been drawn with finer intervals. Variable part: struct
 * hi_stream_thinned_place, `count` times; of several for the same stack and size the largest grain
 * holds. Written before DUMP and END, if there is any.
 */
struct hi_stream_thinned {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint32_t count;
	uint32_t reserved;
};
struct hi_stream_thinned_place {
	uint32_t stack;     /* as in ALLOC */
	uint32_t size_bits; /* of allocations of less than 2^size_bits bytes, and no less than half
			     */
	uint64_t grain;     /* in bytes */
};

/*
 * Which process it is, beyond its number, which the kernel gives out again. Follows the header;
 * streams of before this record was known do not have it.
 */
struct hi_stream_process {
	struct hi_stream_record record;
	/* clock ticks from boot to its start: field 22 of /proc/PID/stat */
	uint64_t start_ticks;
};

/*
 * An allocator that serves the process, or a part of it, and of which a function is not hooked.
 * Written at the start of the session, and when one is found.
 */
struct hi_stream_unhooked {
	struct hi_stream_record record; /* flags: enum hi_unhooked (hi_unhooked.h) */
	uint64_t time_ns;
	uint32_t name_size; /* length of the name of that function */
	/* length of the path of the object; an empty path = the program itself */
	uint32_t path_size;
};
/* variable part order: name, path */

/*
 * A language runtime in the process that has memory which malloc does not give. Written at the
 * start of the session.
 */
struct hi_stream_runtime {
	struct hi_stream_record record; /* flags: enum hi_runtime, or the number of a later one */
	uint64_t time_ns;
};

/*
 * What of one allocator of the process is hooked and how, what is not and why: a line in words, for
 * each of those that were found at the start. Written at the start of the session.
 */
struct hi_stream_hooked {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint32_t text_size;
	uint32_t reserved;
};

enum hi_stream_end_reason {
	HI_STREAM_END_DURATION = 1,
	HI_STREAM_END_SIGNAL = 2,  /* Ctrl-C or SIGTERM at the injector */
	HI_STREAM_END_DETACH = 3,  /* heapinject detach */
	HI_STREAM_END_EXIT = 4,    /* the target exited */
	HI_STREAM_END_EXEC = 5,    /* the target replaced its program */
	HI_STREAM_END_DEADMAN = 6, /* the payload disarmed itself */
	HI_STREAM_END_ERROR = 7,
	/* a probe (uprobe) was put where a function is hooked: its calls bypass the hook */
	HI_STREAM_END_PROBE = 9,
	/* never in a stream: used for a profile that was written before the session ended */
	HI_STREAM_END_NOT_YET = 8,
};

/*
 * Only sent by a session to its own analyzer child. The child then writes the profile as it is at
 * this point, into files for which it asks (hi_files.h). For other readers the record means
 * nothing, and a stream that goes elsewhere has none.
 */
struct hi_stream_dump {
	struct hi_stream_record record; /* flags: bits of enum hi_dump_trigger (hi_dump.h) */
	uint64_t time_ns;
};

/*
 * From here on nothing is sampled, or samples are taken again. Frees are recorded all the time.
 * What is allocated in a pause is unknown.
 */
#define HI_STREAM_PAUSE_BEGINS 1u
struct hi_stream_pause {
	struct hi_stream_record record; /* flags: HI_STREAM_PAUSE_BEGINS, or 0: it ends */
	uint64_t time_ns;
};

/*
 * A new profile begins: what was allocated before is forgotten, as if the session had begun here.
 * Times and totals of later records still count from the beginning of the session, and modules,
 * stacks and threads keep their numbers. A MEMORY and a MAPS record follow.
 */
struct hi_stream_reset {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t start_unix_ns; /* wall clock */
};

/*
 * At the exit of a program that was held there: the live blocks to which nothing refers that the
 * program could still use. Variable part: struct hi_stream_leaked_block, `count` times. There may
 * be several, one after the other; a program that leaks nothing has one without blocks.
 */
struct hi_stream_leaked {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint32_t count;
	uint32_t reserved;
};
struct hi_stream_leaked_block {
	uint64_t address;
	/*
	 * address of the leaked block from which it was found, which is itself for one that no
	 * other leaked block refers to, and for one of a ring
	 */
	uint64_t leader;
	uint32_t is_direct; /* 1 = no other leaked block refers to it */
	uint32_t reserved;
};

struct hi_stream_end {
	struct hi_stream_record record; /* flags: enum hi_stream_end_reason */
	uint64_t time_ns;
};

_Static_assert(sizeof(struct hi_stream_record) == 8, "stream record");
_Static_assert(sizeof(struct hi_stream_header) == 56, "stream header");
_Static_assert(sizeof(struct hi_stream_module) == 80, "stream module");
_Static_assert(sizeof(struct hi_stream_alloc) == 56, "stream alloc");
_Static_assert(sizeof(struct hi_stream_stack) == 16, "stream stack");
_Static_assert(sizeof(struct hi_stream_free) == 32, "stream free");
_Static_assert(sizeof(struct hi_stream_mapping) == 40, "stream mapping");
_Static_assert(sizeof(struct hi_stream_events) == 32, "stream events");
_Static_assert(sizeof(struct hi_stream_event) == 32, "stream event");
_Static_assert(sizeof(struct hi_stream_stats) == 96, "stream stats");
_Static_assert(sizeof(struct hi_stream_dump) == 16, "stream dump");
_Static_assert(sizeof(struct hi_stream_memory) == 64, "stream memory");
_Static_assert(sizeof(struct hi_stream_heap) == 104, "stream heap");
_Static_assert(sizeof(struct hi_stream_unsampled_frees) == 32, "stream unsampled frees");
_Static_assert(sizeof(struct hi_stream_frees) == 24, "stream frees");
_Static_assert(sizeof(struct hi_stream_thinned) == 24, "stream thinned");
_Static_assert(sizeof(struct hi_stream_thinned_place) == 16, "stream thinned place");
_Static_assert(sizeof(struct hi_stream_unhooked) == 24, "stream unhooked");
_Static_assert(sizeof(struct hi_stream_runtime) == 16, "stream runtime");
_Static_assert(sizeof(struct hi_stream_hooked) == 24, "stream hooked");
_Static_assert(sizeof(struct hi_stream_code) == 40, "stream code");
_Static_assert(sizeof(struct hi_stream_process) == 16, "stream process");
_Static_assert(sizeof(struct hi_stream_pause) == 16, "stream pause");
_Static_assert(sizeof(struct hi_stream_reset) == 24, "stream reset");
_Static_assert(sizeof(struct hi_stream_leaked) == 24, "stream leaked");
_Static_assert(sizeof(struct hi_stream_leaked_block) == 24, "stream leaked block");

#endif
