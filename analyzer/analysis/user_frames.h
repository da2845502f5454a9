/* SPDX-License-Identifier: MIT */
/*
 * user_frames.h - which frame of a stack a person would look at first: the innermost one that is
 * neither in an allocator, nor in a thin layer above it, nor in a library that allocates for its
 * caller. Also which frames at the outer end only start the process or the thread.
 *
 * A call (one function at one address, functions.h) is skipped
 *   - if its object file is a C or C++ library, an allocator, or of the kernel, whatever it is
 *     called there, as such files are mostly stripped;
 *   - if its name is in a list (wrapper_names.h);
 *   - if it has no name, and a function of the list that only allocates called it;
 *   - if its function is a thin layer, by what the stacks of the profile show: its name says that
 *     it allocates, everything that it calls on its stacks is skipped, too, and at least
 *     USER_FRAMES_CALLERS functions call it (those that may be layers themselves do not count, but
 *     their callers do);
 *   - if the user says so (wrapper); what the user takes out (no_wrapper) is skipped by none of the
 *     above.
 * So load_table, which calls malloc itself, is not skipped, nor is alloc_row with one caller. Only
 * the calls at the leaf are skipped, up to the first that is not: std::sort between two functions
 * of the program remains.
 *
 * What can go wrong: a layer whose callers were not sampled is taken for a user's function, so
 * files of few samples show layers that others hide. A constructor called node_alloc with three
 * callers is taken for a layer; its callers are shown instead. A program that has a function of its
 * own called palloc, or a namespace std, loses it. Names of other programs' files are all there is
 * to go by if these have no object files. So a view must say how many functions it leaves out, and
 * how to see them.
 *
 * Knows nothing of views. Needs time in the number of frames in all stacks. Single-threaded; the
 * profile must outlive it and must not change.
 */
#ifndef HI_USER_FRAMES_H
#define HI_USER_FRAMES_H

#include "functions.h"
#include "pattern.h"

#define USER_FRAMES_CALLERS 3u

/* Regular expressions, found anywhere in a function's name; NULL = none. */
struct user_frames_options {
	const char *wrapper;    /* skipped, too */
	const char *no_wrapper; /* never skipped */
};

enum frame_role {
	FRAME_USER,
	FRAME_LIBRARY,   /* by its object file or the list */
	FRAME_ALLOCATOR, /* by the list, or because one of the list called it */
	FRAME_LAYER,     /* by the stacks, or as the user says */
	FRAME_START      /* starts the process or a thread; skipped at the outer end only */
};

struct user_frames {
	const struct profile *profile;
	/*
	 * By name, whatever the profile's granularity is. Calls are numbered as in each struct
	 * functions of this profile, functions only as in those with the same granularity.
	 */
	struct functions functions;
	uint8_t *role; /* by call: enum frame_role */
	/* The rest is private. */
	uint32_t *unfolded;
};

/* The first frame to look at, in a stack. */
struct user_frame {
	uint32_t frame; /* index into frame[] of the stack */
	uint32_t call;  /* index into call[] of struct functions, which says which inlined line */
};

/* 0, -ENOMEM, or -EINVAL with the reason in complaint. options: NULL = none. */
int user_frames_open(const struct profile *profile, const struct user_frames_options *options,
		     struct user_frames *out_frames, char complaint[PATTERN_COMPLAINT_MAX]);
void user_frames_close(struct user_frames *frames);
/*
 * The first frame to look at. Where all are skipped, the outermost of them that has a name and does
 * not start a thread; else the leaf. False if the stack has no frames.
 */
bool user_frame_of(const struct user_frames *frames, uint32_t stack, struct user_frame *out_frame);
/* Whether the call is skipped at the leaf. */
bool user_frames_skips(const struct user_frames *frames, uint32_t call);
/*
 * The calls of a stack from the first to look at to the last that does not start a thread, leaf
 * first: indices into call[]. None only if the stack has no frames. Valid until the next call.
 */
const uint32_t *user_frames_unfold(const struct user_frames *frames, uint32_t stack,
				   size_t *out_count);
/* Sets is_folded[], by function, for those that user_frames_unfold() leaves out of the stack. */
void user_frames_note_folded(const struct user_frames *frames, uint32_t stack, bool *is_folded);
/*
 * "function file:line", the file without directories, as far as known. The caller frees it. NULL =
 * out of memory.
 */
char *user_frames_label(const struct user_frames *frames, uint32_t call);

#endif
