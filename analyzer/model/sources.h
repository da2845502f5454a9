/* SPDX-License-Identifier: MIT */
/*
 * sources.h - which session, process and program each file of a report is from, and what follows
 * for adding files up and comparing them.
 *
 * A session is known by its host, its process number and the moment of its start, a process by its
 * host, its number and the moment of its own start, a program by the name and the build-id of its
 * executable. Files of other tools, and files that were added up, do not say these: nothing is
 * claimed of them. Zero-initialized sources are empty. Single-threaded.
 */
#ifndef HI_SOURCES_H
#define HI_SOURCES_H

#include "profile.h"

struct source {
	const char *file; /* belongs to the caller */
	enum profile_side side;
	bool is_superseded; /* a snapshot that is left out for another one of its session */
	bool is_known;      /* a file of heapinject that says which session it is of */
	uint32_t pid;
	uint64_t start_unix_ns, duration_ns;
	uint64_t process_start_ticks; /* 0 = unknown */
	/* printable; NULL = unknown. exe: the last component of its path */
	char *host, *comm, *exe;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_size; /* 0 = unknown */
};
struct sources {
	struct source *source;
	size_t count, capacity;
	bool adds_up;  /* set by the caller: snapshots of one session are added up, too */
	bool as_is;    /* set by the caller: windows of different length are compared */
	bool do_scale; /* set by the caller: the base is scaled to the other side's window */
};

/* Adds what the profile says of itself. 0 or -ENOMEM. */
int sources_add(struct sources *sources, const struct profile *profile, const char *file,
		enum profile_side side);
/* True if both say that they are of one session. */
bool source_is_same_session(const struct source *a, const struct source *b);
/* True if both say that they are of one process. */
bool source_is_same_process(const struct source *a, const struct source *b);
/*
 * The program by its executable or, if that is unknown, by the name of its main thread; "" if that
 * is unknown, too.
 */
const char *source_program(const struct source *source);
/* True if both say which program they are of, and it is not the same by name. */
bool source_is_other_program(const struct source *a, const struct source *b);
/* True if both say of which build their program is, and it is not the same. */
bool source_is_other_build(const struct source *a, const struct source *b);

/* The files of one side that are counted. */
struct sources_side {
	const struct source *first; /* NULL = none */
	size_t count;
	size_t sessions, processes; /* different ones, if all are known */
	size_t superseded;          /* left out for a later snapshot of their session */
	size_t snapshots;           /* different moments of the session of `first` */
	bool is_known;              /* all say which session they are of */
	/* windows; 0 = unknown */
	uint64_t shortest_ns, longest_ns;
};
struct sources_side sources_side(const struct sources *sources, enum profile_side side);
/* True if each session of one side is on the other, too. */
bool sources_are_same_sessions(const struct sources *sources);
/* True if windows of these lengths may be compared as they are: within a tenth. */
bool sources_are_alike(uint64_t shortest_ns, uint64_t longest_ns);
/*
 * What may mislead in a comparison. 0 if nothing does, or if the caller has set what allows it.
 * *out_scale: by what the base is to be multiplied. -EINVAL: the comparison is to be refused;
 * *out_why: one line with the remedy, which the caller frees. -ENOMEM.
 */
int sources_check(const struct sources *sources, double *out_scale, char **out_why);
/*
 * Describes which files were added up and compared, in whole lines of printable text, warnings
 * included. scale: as of sources_check(). *out_text: NULL where there is nothing to say; the caller
 * frees it. 0 or -ENOMEM.
 */
int sources_describe(const struct sources *sources, double scale, char **out_text);
void sources_close(struct sources *sources);

#endif
