/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_spans.h - all spans of tcmalloc, by address, and which of their objects are in a cache.
 *
 * The map is walked from span to span. It changes meanwhile: where it leads to what is no span, it
 * is read again, and what still is none is a span of which nothing is known.
 */
#ifndef HI_TCMALLOC_SPANS_H
#define HI_TCMALLOC_SPANS_H

#include "tcmalloc_layout.h"

struct tcmalloc_span {
	remote_addr lo, hi;
	remote_addr descriptor; /* 0: it is not known what it is */
	uint64_t first;         /* number of its first object, counted over all spans */
	uint8_t size_class;     /* 0: no objects */
};

/* A range of tcmalloc's own memory. */
struct tcmalloc_own {
	remote_addr lo, hi;
};

/* Zero-initialized = empty. */
struct tcmalloc_spans {
	struct tcmalloc_span *span; /* sorted */
	size_t count, room;
	uint64_t objects; /* of all spans together */
	uint8_t *marks;   /* two bits an object: enum tcmalloc_mark */
	struct tcmalloc_own *own;
	size_t own_count, own_room;
	uint64_t reread;
};

enum tcmalloc_mark { TCMALLOC_NO_MARK, TCMALLOC_CACHED, TCMALLOC_UNSURE };

/* 0, -ENOMEM, -ETIMEDOUT, or an error of the memory. Close it in any case. */
must_check int tcmalloc_spans_read(struct tcmalloc_spans *spans, struct heap_windows *windows,
				   const struct tcmalloc_layout *layout,
				   const struct image_data *data);
void tcmalloc_spans_close(struct tcmalloc_spans *spans);

/* The span that has this address, or NULL. */
const struct tcmalloc_span *tcmalloc_spans_find(const struct tcmalloc_spans *spans, remote_addr at);
/* The number of the object that begins here, if it can be one of this class; else UINT64_MAX. */
uint64_t tcmalloc_spans_object(const struct tcmalloc_spans *spans,
			       const struct tcmalloc_layout *layout, remote_addr at,
			       unsigned size_class);
static inline enum tcmalloc_mark tcmalloc_spans_mark_of(const struct tcmalloc_spans *spans,
							uint64_t object)
{
	return (enum tcmalloc_mark)(spans->marks[object / 4] >> object % 4 * 2 & 3);
}
static inline void tcmalloc_spans_mark(struct tcmalloc_spans *spans, uint64_t object,
				       enum tcmalloc_mark mark)
{
	spans->marks[object / 4] = (uint8_t)((spans->marks[object / 4] & ~(3u << object % 4 * 2)) |
					     (unsigned)mark << object % 4 * 2);
}

/* Adds a range of tcmalloc's own, and joins it with the last one. 0 or -ENOMEM. */
must_check int tcmalloc_spans_add_own(struct tcmalloc_spans *spans, remote_addr lo, remote_addr hi);
/* Sorts them, and joins what is adjacent. */
void tcmalloc_spans_sort_own(struct tcmalloc_spans *spans);

#endif
