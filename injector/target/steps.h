/* SPDX-License-Identifier: MIT */
/*
 * steps.h - a bound for every walk that data of the target steers.
 *
 * What a list, a chain or a table of the target says of its own length is not believed: a chain may be a ring, a list may grow while it is read, and a file
 * with holes may be longer than any disk. So such a walk takes each of its steps from a number that is larger than any honest program needs:
 *
 *     struct steps steps = {OBJECTS_MAX};
 *     for (at = first; at && steps_take(&steps); at = next(at))
 *
 * Walks over what is in our memory as a whole (a section that was read, an array of ours) end where it ends, and need none. A walk in a walk takes from the
 * same number, lest the two multiply.
 */
#ifndef HI_STEPS_H
#define HI_STEPS_H

#include <stdbool.h>
#include <stddef.h>

struct steps {
	size_t left;
};

/* False: that was the last one. */
static inline bool steps_take(struct steps *steps)
{
	if (steps->left == 0)
		return false;
	steps->left--;
	return true;
}

#endif
