/* SPDX-License-Identifier: MIT */
/*
 * hi_stream.h - the record stream: what the injector writes and the analyzer reads, over a pipe or as a file.
 *
 * A file format: self-contained, append-only, readable after a cut at any byte. `heapinject attach PID -o -` writes it, `heapinject report -`
 * reads it. Little-endian. The stream is a sequence of records; the first is HI_STREAM_HEADER, the last, if the session ended in order,
 * HI_STREAM_END. Each record is
 *
 *     u32 size    whole record in bytes, a multiple of 8, at least 8, at most HI_STREAM_RECORD_MAX
 *     u16 type    enum hi_stream_type; readers skip types that they do not know
 *     u16 flags   per type, otherwise 0
 *     ...         fixed part as declared below, then its variable part; padded with zeros to 8
 *
 * A string in a variable part is its bytes without a terminator; its length stands in the fixed part. Strings are raw bytes from the target
 * (paths, thread names): a reader must not trust them to be UTF-8 or printable. Times are nanoseconds since the session began, unless
 * a name says otherwise.
 *
 * Order: HEADER; MODULE records of everything mapped; MAPS; then events in the order in which they happened in the target. A MODULE record comes before
 * the first event whose frames lie in it, and a STACK record before the first ALLOC that names it. Frames are absolute addresses; the MODULE record that covers
 * an address at that point of the stream gives object, build-id and offset, so that names can be found on another machine. That point is the ALLOC, not the
 * STACK that it names: where a library was unloaded and another one mapped in its place, the same addresses mean something else.
 */
#ifndef HI_STREAM_H
#define HI_STREAM_H

#include <stdint.h>

#define HI_STREAM_MAGIC 0x314d415254534948ull /* "HISTRAM1" */
#define HI_STREAM_VERSION 4u
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
	HI_STREAM_UNFREE = 11, /* struct hi_stream_free: the last free of this address did not happen (a realloc that failed) */
	HI_STREAM_STACK = 12,
	HI_STREAM_EVENTS = 13,
	HI_STREAM_DUMP = 14,
	HI_STREAM_MEMORY = 15,
	HI_STREAM_UNHOOKED = 16,
};

struct hi_stream_record {
	uint32_t size;
	uint16_t type;
	uint16_t flags;
};

struct hi_stream_header {
	struct hi_stream_record record;
	uint64_t magic;         /* HI_STREAM_MAGIC */
	uint32_t version;       /* HI_STREAM_VERSION */
	uint32_t pid;           /* as the injector saw it */
	uint64_t interval;      /* mean bytes between samples (Poisson) as asked for; 1 = every allocation, exact */
	uint64_t start_unix_ns; /* wall clock at the start of the session */
	uint16_t comm_size;     /* variable part: comm, command line (arguments separated by NUL), executable path, host name, tool version */
	uint16_t host_size;
	uint16_t version_size;
	uint16_t exe_size;
	uint32_t cmdline_size;
	uint32_t budget_ppm; /* share of its CPU time that profiling may take, in millionths, before samples are taken more seldom; 0 = no limit */
};
/* variable part order: comm, cmdline, exe, host, tool version */

/* One executable mapping of one object. The same object may have several. */
struct hi_stream_module {
	struct hi_stream_record record;
	uint32_t module;        /* number of the object, dense from 1; the same for all mappings of one loaded object */
	uint32_t build_id_size; /* 0..HI_STREAM_BUILD_ID_MAX; 0 = unknown */
	uint64_t time_ns;
	uint64_t lo, hi;         /* executable addresses [lo, hi) */
	uint64_t file_offset;    /* of lo in the file */
	uint64_t bias;           /* address in memory minus address in the ELF file (st_value, line tables) */
	uint64_t device, inode;  /* to tell whether a file found by path is the same; 0 = unknown */
	uint32_t path_size;      /* as in /proc/PID/maps, " (deleted)" removed; "[vdso]" and the like as they are */
	uint32_t open_path_size; /* where this machine can open the very file while the target lives, e.g. /proc/PID/map_files/LO-HI; may be empty */
};
/* variable part order: build-id, path, open path */

struct hi_stream_module_gone {
	struct hi_stream_record record;
	uint32_t module;
	uint32_t reserved;
	uint64_t time_ns;
};

/* /proc/PID/maps at some time: variable part is its text. The last one before the end goes into MAPPED_LIBRARIES. */
struct hi_stream_maps {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint32_t text_size;
	uint32_t reserved;
};

/* A second one with the same number: the thread goes by another name now. */
struct hi_stream_thread {
	struct hi_stream_record record;
	uint32_t thread; /* number used in ALLOC and FREE, dense from 1; 0 there: one of too many to be told apart */
	uint32_t tid;    /* 0 = not found */
	uint64_t time_ns;
	uint32_t name_size;
	uint32_t reserved;
};

/* A stack that ALLOC records may name. */
struct hi_stream_stack {
	struct hi_stream_record record; /* flags: enum hi_stack_end of hi_wire.h in the low byte */
	uint32_t stack;                 /* number used in ALLOC, dense from 1 */
	uint32_t frame_count;           /* variable part: u64 frames, return addresses, leaf first */
};

struct hi_stream_alloc {
	struct hi_stream_record record; /* flags: enum hi_stack_end of hi_wire.h in the low byte, where it carries its frames itself */
	uint64_t time_ns;
	uint64_t address;
	uint64_t bytes; /* as requested */
	uint32_t thread;
	uint16_t function;    /* enum hi_function of hi_wire.h */
	uint16_t frame_count; /* variable part: u64 frames, return addresses, leaf first; 0 where a stack is named */
	uint64_t interval;    /* mean with which this very sample was drawn, and by which it is weighed */
	uint32_t slack;       /* usable bytes beyond those requested; HI_STREAM_SLACK_UNKNOWN = not known */
	uint32_t stack;       /* 0: this record carries its frames itself */
};
#define HI_STREAM_SLACK_UNKNOWN UINT32_MAX

struct hi_stream_free {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t address;
	uint32_t thread;
	uint32_t reserved;
};

/*
 * Allocations and frees, in the order in which they happened, as an ALLOC or FREE record each would tell them: the short form, for millions of them a second.
 * What does not fit into it (frames of its own, four gigabytes) is a record by itself. Variable part: struct hi_stream_event one after the other, of which a
 * free has the first HI_STREAM_EVENT_FREE_BYTES only.
 *
 * An allocation whose free follows in the same record says so itself (lived_ns), and that free is left out: nothing in between was about the same address.
 */
struct hi_stream_events {
	struct hi_stream_record record;
	uint64_t time_ns;  /* what the events' times count from, */
	uint64_t last_ns;  /* and the latest of them */
	uint64_t interval; /* of all allocations in it */
};
struct hi_stream_event {
	uint64_t what; /* address in the lower HI_STREAM_EVENT_ADDRESS_BITS, above them 0 = a free, or enum hi_function + 1 of hi_wire.h */
	uint32_t after_ns;
	uint32_t thread;
	uint32_t bytes; /* this and what follows: as in ALLOC */
	uint32_t stack;
	uint32_t slack;
	uint32_t lived_ns; /* HI_STREAM_LIVES: it is not freed in this record */
};
#define HI_STREAM_EVENT_ADDRESS_BITS 56u
#define HI_STREAM_EVENT_FREE_BYTES 16u
#define HI_STREAM_LIVES UINT32_MAX

/* From here on countdowns are drawn with this mean. Those that were drawn before run out first: each ALLOC says what it was drawn with. */
struct hi_stream_interval {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t interval;
};

/* Totals since the start of the session, several times a second. */
struct hi_stream_stats {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t samples;
	uint64_t frees;
	uint64_t dropped_allocs;
	uint64_t dropped_frees;
	uint64_t live_set_full;
	uint64_t no_thread_slot; /* allocations that were passed over, as more threads were inside at once than there is room for, */
	uint64_t passed_bytes;   /* and the bytes that they stand for, at most */
	uint64_t payload_cpu_ns; /* time the payload took inside the target's threads */
	uint64_t target_cpu_ns;  /* CPU time of the target over the session */
	uint64_t resident_bytes; /* RSS of the target */
};

/*
 * What the process has, as /proc tells: the first one at the start of the session, then one before each STATS. What we think is in use cannot be more, and what
 * it grows by came from somewhere. Without what we have mapped ourselves, as far as that is known. 0 = not known.
 */
struct hi_stream_memory {
	struct hi_stream_record record;
	uint64_t time_ns;
	uint64_t anonymous_bytes; /* anonymous memory that is there: resident or swapped */
	uint64_t writable_bytes;  /* private writable mappings, touched or not: no block of a heap lies anywhere else */
};

/* How an object allocates past the hooks. */
enum hi_unhooked {
	HI_UNHOOKED_PREFIXED = 1, /* by an allocator of its own under names of its own: je_malloc */
	HI_UNHOOKED_DIRECT = 2,   /* it defines malloc itself, and calls it without a slot */
	HI_UNHOOKED_BOUND = 3,    /* others are bound to its malloc, which is not the one that is hooked: RTLD_DEEPBIND, dlmopen */
};

/* An allocator that serves the process, or a part of it, and whose calls by that object are not hooked. At the start of the session, and when one is found. */
struct hi_stream_unhooked {
	struct hi_stream_record record; /* flags: enum hi_unhooked */
	uint64_t time_ns;
	uint32_t name_size; /* of the function that allocates */
	uint32_t path_size; /* of the object; empty = the program itself */
};
/* variable part order: name, path */

enum hi_stream_end_reason {
	HI_STREAM_END_DURATION = 1,
	HI_STREAM_END_SIGNAL = 2,  /* Ctrl-C or SIGTERM at the injector */
	HI_STREAM_END_DETACH = 3,  /* heapinject detach */
	HI_STREAM_END_EXIT = 4,    /* the target exited */
	HI_STREAM_END_EXEC = 5,    /* the target replaced its program */
	HI_STREAM_END_DEADMAN = 6, /* the payload disarmed itself */
	HI_STREAM_END_ERROR = 7,
	HI_STREAM_END_PROBE = 9,   /* somebody put a probe where a function is hooked: its calls go past */
	HI_STREAM_END_NOT_YET = 8, /* never in a stream: of a profile that was written in the course of a session */
};

/*
 * Only from a session to its own analyzer, which is to write the profile as it is at this point into files that it asks for (hi_files.h). For others it means
 * nothing, and a stream that goes elsewhere has none.
 */
struct hi_stream_dump {
	struct hi_stream_record record;
	uint64_t time_ns;
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
_Static_assert(sizeof(struct hi_stream_events) == 32, "stream events");
_Static_assert(sizeof(struct hi_stream_event) == 32, "stream event");
_Static_assert(sizeof(struct hi_stream_stats) == 96, "stream stats");
_Static_assert(sizeof(struct hi_stream_dump) == 16, "stream dump");
_Static_assert(sizeof(struct hi_stream_memory) == 32, "stream memory");
_Static_assert(sizeof(struct hi_stream_unhooked) == 24, "stream unhooked");

#endif
