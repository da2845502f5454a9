/* SPDX-License-Identifier: MIT */
/*
 * Room model/: the profile, in the numbers that were sampled. Start at profile.h. estimate.h
 * derives figures with intervals, judgement.h and caveats.h say what must not be stated, merge.h
 * and filter.h make other profiles, history.h has rates and lifetimes, heap_history.h what the
 * allocator says. Uses text/ only.
 */

/*
 * profile.h - the model that every reader fills and every renderer draws: stacks, and what was
 * sampled on each.
 *
 * replay.c makes a profile from a record stream, heapfile_read.c from a .heap file. It holds raw
 * sampled counts and bytes (exact integers). estimate.h derives estimates from them, so that each
 * figure can have its interval. A row is a stack x size class x sampling interval. Within one class
 * the sizes are so alike that unbiasing by the row's mean size (as pprof and jeprof do) is right.
 * Each sample is weighted by the interval with which it was drawn. A row is further divided among
 * the threads that allocated (thread_breakdown.h). Rows of the base of a comparison count
 * negatively (enum profile_side), so that two files of different rates are compared by their
 * estimates. Single-threaded. Pointers into the arrays are valid until the next add.
 */
#ifndef HI_PROFILE_H
#define HI_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hi_analyzer.h"
#include "hi_wire.h"
#include "code_names.h"
#include "heap_history.h"
#include "history.h"
#include "labels.h"
#include "mapping_pieces.h"
#include "mapped.h"
#include "pool_blocks.h"
#include "thread_breakdown.h"

#define PROFILE_BUILD_ID_MAX 32
/* only file_offset is known; the bias follows from the program header that holds it (bias.h) */
#define PROFILE_BIAS_UNKNOWN UINT64_MAX

struct profile_module {
	/* one executable mapping; bias: memory minus file address */
	uint64_t lo, hi, file_offset, bias;
	uint64_t device, inode;
	uint32_t number; /* object number of the stream; several mappings may share it */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_size;
	char *path, *open_path;
};

/*
 * One source-level frame. An address with inlined calls has several: [0] is the innermost, the last
 * one is the function that owns the code.
 */
struct profile_line {
	char *function;    /* demangled, short form; NULL = unknown */
	char *system_name; /* as in the symbol table */
	char *file;        /* NULL = unknown */
	uint32_t line;     /* 0 = unknown */
};

/* A distinct frame: a return address in a module (or none). */
struct profile_frame {
	uint64_t address;          /* return address as sampled; the call is at address - 1 */
	int32_t module;            /* index into module[], -1 = unknown */
	struct profile_line *line; /* filled by symbols.c; line_count 0 = not symbolized */
	size_t line_count;
	/* where the function begins, in memory, for code without a name; 0 = unknown */
	uint64_t function;
};

struct profile_stack {
	const uint32_t *frame; /* indices into frame[], leaf first */
	uint32_t frame_count;
	uint16_t end; /* enum hi_stack_end */
};

enum profile_side { PROFILE_NEW, PROFILE_BASE };

struct profile_row_key {
	uint32_t stack;
	uint32_t size_class;
	/*
	 * mean bytes between these samples; 1 = every allocation was counted, or another tool has
	 * scaled the counts up (meta.is_scaled)
	 */
	uint64_t interval;
	enum profile_side side; /* base: counts negatively */
	uint32_t labels;        /* number of the set in profile.labels; 0 = none */
};
struct profile_row {
	struct profile_row_key key;
	uint64_t alloc_count, alloc_bytes; /* sampled, since the start */
	uint64_t inuse_count, inuse_bytes; /* sampled, still live */
	/* usable bytes beyond those requested, as far as known */
	uint64_t alloc_slack, inuse_slack;
	uint64_t freed_count; /* sampled, and seen to be freed */
	double freed_ns;      /* sum of their lifetimes */
	/* sum of the times at which the live ones were allocated */
	double inuse_ns;
	/*
	 * what the file says about the size of each block (pprof's label `bytes`); 0 = unknown,
	 * PROFILE_NO_LABEL = the file could say it, and does not
	 */
	uint64_t block_bytes;
	uint64_t first_ns, last_ns; /* of the allocations; 0 = unknown */
	/*
	 * how many bytes of such allocations may have escaped between two samples, where thinning
	 * was coarser than the interval says (hi_stream_thinned); 0 = it was not
	 */
	uint64_t grain;
	uint32_t history; /* number in histories; 0 = none, see row_history.h */
	/* of inuse_bytes: on pages that are in memory, or swapped out (enum profile_residency) */
	uint64_t resident_bytes, swapped_bytes;
	bool is_mapping; /* of mappings, parts of which may be unmapped; not of blocks */
	bool is_pooled;  /* of blocks of pools */
};

/* A function of a pool that the user has named. */
struct profile_named {
	char *name;                /* NULL = there is none */
	uint64_t calls, senseless; /* of these: the size was none, or the block */
};

/* From time_ns on, the countdowns to the next sample were drawn with this mean interval. */
struct profile_change {
	uint64_t time_ns, interval;
};
#define PROFILE_CHANGES_MAX 64u
#define PROFILE_NO_LABEL UINT64_MAX

/*
 * What another tool's file does not contain. Readers put substitutes in its place, so that views
 * need no special cases: 1 block for each value, or as much in use as was allocated.
 */
enum profile_missing {
	PROFILE_MISSING_OBJECTS = 1,
	PROFILE_MISSING_SPACE = 2,
	PROFILE_MISSING_INUSE = 4,
	PROFILE_MISSING_ALLOC = 8
};

/* By which rule a reader weighed the counts of another tool's file, where there was a choice. */
enum profile_rule {
	PROFILE_RULE_NONE,
	PROFILE_RULE_GO,    /* heap/N of Go: N is twice the sampling interval */
	PROFILE_RULE_LINEAR /* heap/N of gperftools: (N / 2) / size, where that is above 1 */
};

/* Whether the resident and the swapped bytes of rows and parts are known, and if not, why not. */
enum profile_residency {
	PROFILE_RESIDENCY_UNKNOWN, /* nobody has looked */
	PROFILE_RESIDENCY_KNOWN,
	PROFILE_RESIDENCY_REFUSED, /* it could not be read */
	PROFILE_RESIDENCY_GONE,    /* the process had ended, or was another program */
	PROFILE_RESIDENCY_NO_MEMORY,
	PROFILE_RESIDENCY_TOO_FAR, /* the blocks lie in more address space than is looked at */
};

/* What the views count as one function. */
enum profile_granularity {
	PROFILE_FUNCTIONS,
	PROFILE_FILES,
	PROFILE_LINES,
	PROFILE_ADDRESSES,
	PROFILE_FILEFUNCTIONS,
	PROFILE_MODULES
};
#define PROFILE_VALUES 6u /* one for each enum sample_type of sample_types.h */

/* Memory of the process, and address space of the sampled blocks, in bytes; 0 = unknown. */
struct profile_memory {
	uint64_t anonymous_begin, anonymous_end; /* resident and swapped */
	uint64_t writable_end;                   /* private writable mappings */
	/*
	 * address space around the live samples, which holds all that is in use and was sampled
	 * from
	 */
	uint64_t spread;
};

/* The memory of the process at one moment, in bytes; 0 = unknown. */
struct profile_moment {
	uint64_t time_ns;
	uint64_t anonymous; /* resident or swapped */
	uint64_t resident;
	uint64_t seen; /* estimate of what was allocated since the start and is in use */
};
#define PROFILE_MOMENTS_MAX 128u

/*
 * Frees of blocks that were no samples, of one class of usable sizes: how many were looked at, and
 * the estimates of how many there were. Until samples are taken of every allocation, some are of
 * blocks of the session.
 */
struct profile_freed {
	uint64_t seen, count, bytes;
};

struct profile_meta {
	/* 0 = unknown, or that of several files that were added up */
	uint32_t pid;
	uint64_t process_start_ticks; /* field 22 of /proc/PID/stat; 0 = unknown */
	char *comm, *cmdline /* printable, arguments separated by spaces */, *exe, *host, *version;
	uint64_t interval; /* nominal R; 1 = exact, as long as there is no change */
	bool is_scaled;    /* the counts are another tool's estimates, of unknown certainty */
	uint32_t missing;  /* bits of enum profile_missing: which figures are substitutes */
	enum profile_rule rule;
	enum profile_residency residency;
	/* in use, and left out, as the file says that it is no leak */
	uint64_t suppressed_bytes;
	bool is_difference; /* the file holds differences, and not what they are of */
	/* limit for our share of CPU time, kept by the rate, in millionths; 0 = none */
	uint32_t budget_ppm;
	struct profile_change change[PROFILE_CHANGES_MAX]; /* the first changes */
	uint64_t change_count;                             /* number of all changes */
	uint64_t slack_samples;                            /* samples whose usable size is known */
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	/* the most that was in use at once, by estimate, and when; 0 = unknown */
	uint64_t peak_inuse_bytes, peak_ns;
	/*
	 * estimates as of the last STATS record, for the triggers of a session; no file has them
	 */
	uint64_t seen_allocated, seen_inuse;
	uint32_t resets;    /* how often the session began a new profile */
	uint64_t paused_ns; /* how long nothing was sampled, by the user's wish */
	char *trigger;      /* of a dump: its triggers in words (hi_dump.h); NULL = it is none */
	uint64_t samples, frees, dropped_allocs, dropped_frees, live_set_full, no_thread_slot,
		passed_bytes;
	/* frees that were inferred because the address was allocated again */
	uint64_t missed_frees;
	struct profile_memory memory;
	struct mapped mapped_begin, mapped_end; /* address space, at the first and the last look */
	/* evenly over the session, the latest of each stretch of moment_step_ns */
	struct profile_moment moment[PROFILE_MOMENTS_MAX];
	uint32_t moment_count;
	struct profile_freed unsampled_freed[HI_SIZE_CLASSES];
	double frees_share; /* of the frees, that was looked at at last; 0 = it is not known */
	uint64_t moment_step_ns;
	struct heap_history heap; /* what its allocators have by their own count */
	/* the nearest limit of the process's memory, and what counted towards it at the end */
	uint64_t limit_bytes, limited_bytes;
	char *hooked;   /* what of each allocator is hooked (hooked_lines.h); NULL = not known */
	char *unhooked; /* allocators that are not hooked, in words; NULL = none is known */
	/* the same of functions that free; of a session only, as files have the caveat */
	char *unhooked_frees;
	uint32_t runtimes; /* 1 << enum hi_runtime, of those that the process runs */
	/* why something must not be stated, one line each (caveats.h); NULL = no caveat */
	char *caveat[HI_CAVEATS];
	uint64_t payload_cpu_ns, target_cpu_ns;
	uint64_t stacks_complete, stacks_truncated;
	uint64_t stack_ends[HI_STACK_ENDS]; /* truncated stacks, by enum hi_stack_end */
	/* enum hi_stream_end_reason; 0 = the stream was cut off */
	int end_reason;
	char *maps; /* text of /proc/PID/maps at the end */
	enum profile_granularity granularity;
	double percent_base[PROFILE_VALUES]; /* what percentages are of; 0 = the sum of the rows */
	bool is_mean;           /* views show means of the first type that the file has */
	double percent_divisor; /* of means: the first type, of what percentages are of; likewise */
	char *comments; /* of another tool's profile of pprof, in whole lines; NULL = none */
	/* the type that the file asks for, as a number after 1; 0 = it does not say */
	uint32_t default_type;
	char *filters; /* applied filters, in whole lines; NULL = none */
	/* what was wrong with the input and where; NULL = nothing */
	char *damage;
	uint32_t files; /* how many were added up; 0 = one */
	/* of a comparison with files that hold differences: the sum of all changes in the base */
	double base_changes[PROFILE_VALUES];
	double base_scale; /* factor of the base side of a comparison; 0 = 1 */
	/* factors of the new side of a comparison, by type; 0 = 1 */
	double new_scale[PROFILE_VALUES];
	/* which files were added up and compared (sources.h), in whole lines; NULL = one file */
	char *sources;
};

struct profile {
	struct profile_meta meta;
	struct profile_module *module;
	size_t module_count;
	struct profile_frame *frame;
	size_t frame_count;
	struct profile_stack *stack;
	size_t stack_count;
	struct profile_row *row;
	size_t row_count;
	/*
	 * Mappings that were sampled (mapping_rows.h), beside the rows, which are of blocks: what
	 * is mapped for an allocator is in both.
	 */
	struct profile_row *mapping;
	size_t mapping_count;
	struct mapping_pieces pieces; /* what of them is there; only of a stream */
	bool has_mappings;            /* they were asked for */
	enum profile_residency mapping_residency;
	/*
	 * Blocks of pools that were sampled (pool_rows.h), beside the rows, in whose blocks they
	 * lie.
	 */
	struct profile_row *pooled;
	size_t pooled_count;
	struct pool_blocks pool_blocks;           /* which of them are live; only of a stream */
	bool has_pooled;                          /* functions of pools were named */
	struct profile_named named[HI_NAMED_MAX]; /* those that allocate; only of a stream */
	struct histories histories;               /* of rows */
	struct label_sets labels;                 /* of rows; only of other tools' files of pprof */
	/* of rows, by thread; empty for a .heap file, which has no threads */
	struct thread_breakdown breakdown;
	struct code_names code_names; /* of frames without a module; of a session only */
	struct profile_index *index;  /* hash tables, private to profile.c */
};

/* 0 or -ENOMEM everywhere. */
int profile_open(struct profile *profile);
void profile_close(struct profile *profile);
/* Removes rows, their histories and parts. Frames, stacks, modules and threads keep their numbers.
 */
void profile_forget(struct profile *profile);
/* copies */
int profile_add_module(struct profile *profile, const struct profile_module *module,
		       uint32_t *out_index);
/* Begins to load the memory that profile_frame_at() will want: for those who know many first. */
void profile_frame_prefetch(const struct profile *profile, uint64_t address, int32_t module);
/* interned, by the module that it is given here; a reader that learns the module later may set it
 */
int profile_frame_at(struct profile *profile, uint64_t address, int32_t module,
		     uint32_t *out_frame);
/*
 * The interned frame with these lines, one or more; it has no address (0) and no module. Copies the
 * lines; each must have its function.
 */
int profile_frame_named(struct profile *profile, const struct profile_line *line, size_t line_count,
			uint32_t *out_frame);
/* True if the frame has these lines and no others; names in symbol tables are not compared. */
bool profile_frame_has_lines(const struct profile_frame *frame, const struct profile_line *line,
			     size_t line_count);
/* Copies lines to a frame that has none. */
int profile_frame_lines(struct profile_frame *frame, const struct profile_line *line,
			size_t line_count);
/* interned */
int profile_stack_of(struct profile *profile, const uint32_t *frame, uint32_t frame_count,
		     uint16_t end, uint32_t *out_stack);
/* interned */
int profile_row_at(struct profile *profile, const struct profile_row_key *key, uint32_t *out_row);
/* The same of mappings: the index is that of mapping[]. */
int profile_mapping_at(struct profile *profile, const struct profile_row_key *key,
		       uint32_t *out_mapping);
/* The same of blocks of pools: the index is that of pooled[]. */
int profile_pooled_at(struct profile *profile, const struct profile_row_key *key,
		      uint32_t *out_pooled);
/*
 * Adds a row without interning it. A profile may have several rows of one key, as long as nobody
 * calls profile_row_at() with that key.
 */
int profile_row_append(struct profile *profile, const struct profile_row *row, uint32_t *out_row);
/* Bytes of each block of the row: as the file says, or else their mean; 0 = there is no block. */
uint64_t profile_block_bytes(const struct profile_row *row);
/*
 * True if the row is of no base: it takes back blocks that a reader has added on both sides, as
 * what is in use was allocated, and the file does not count that (a delta profile of Go).
 */
bool profile_row_balances(const struct profile *profile, const struct profile_row *row);
/* True if the profile has rows of a base side, be it only such. */
bool profile_has_base(const struct profile *profile);
/* True if the profile is a comparison: it has rows of a base side, and not only such. */
bool profile_is_comparison(const struct profile *profile);
void profile_add_change(struct profile_meta *meta, const struct profile_change *change);
/*
 * Adds a moment. If there is no room, every second one is dropped, and the step doubled. Moments
 * that are not later than the last one are ignored.
 */
void profile_add_moment(struct profile_meta *meta, const struct profile_moment *moment);
/*
 * The finest and the coarsest interval with which samples were drawn; both meta.interval if there
 * are none.
 */
void profile_intervals(const struct profile *profile, uint64_t *out_finest, uint64_t *out_coarsest);
/* The same; if there are no rows, by what is known of the session's changes. */
void profile_rates(const struct profile *profile, uint64_t *out_finest, uint64_t *out_coarsest);
/*
 * The sampling rate to suggest if samples or frees were dropped, as a user types it: "64K". Returns
 * buffer.
 */
const char *profile_fitting_rate(const struct profile *profile, char *buffer, size_t size);
/*
 * The size class of a size in bytes: exact up to 1024, then 16 classes to a doubling, so that
 * blocks can be weighted by the mean size of their class.
 */
uint32_t profile_size_class(uint64_t bytes);
/*
 * Fewer classes, for rows that are not weighted (interval 1): the class of the greatest power of
 * two that is not above the size.
 */
uint32_t profile_coarse_size_class(uint64_t bytes);
/*
 * The size class of a row that was read from a file, by its mean size. With interval 1 (no weights)
 * each mean size is a class of its own, so that rows stay apart as in other readers.
 */
uint32_t profile_read_size_class(uint64_t mean_bytes, uint64_t interval);

#endif
