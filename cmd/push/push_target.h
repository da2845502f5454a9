/* SPDX-License-Identifier: MIT */
/* push_target.h - where profiles go, with which labels, and what has become of one. */
#ifndef HI_PUSH_TARGET_H
#define HI_PUSH_TARGET_H

#include "push_options.h"

/* Where profiles go, and what all of a session have in common. */
struct push_target {
	const struct push_options *options;
	/* those of the session, which the options may replace or take away */
	struct push_label label[PUSH_LABELS_MAX];
	size_t label_count;
	char session_id[17]; /* hexadecimal; tells series of different sessions apart */
};

/* The labels that a profile gets: of the session as the options leave them, and of the options. */
#define PUSH_LABELS_ALL (2 * PUSH_LABELS_MAX)
size_t push_target_labels(const struct push_target *target,
			  const struct push_label *out_label[PUSH_LABELS_ALL]);

struct push_snapshot {
	const void *profile; /* a .pb.gz */
	size_t size;
	uint64_t unix_ns; /* when its figures were taken */
	const char *id;   /* a UUID */
};

/* What an answer, or that there is none, means for a profile. */
enum push_verdict {
	PUSH_TAKEN,
	PUSH_REFUSED, /* this one will never be taken */
	PUSH_LATER,
	PUSH_MISDIRECTED, /* no profile is taken until somebody changes the address or the rights */
};

#endif
