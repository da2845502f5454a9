/* SPDX-License-Identifier: MIT */
/*
 * steps.h - a bound for every walk that data of the target controls.
 *
 * The length that a list, a chain or a table of the target states is not trusted: a chain may be a
 * ring, a list may grow while it is read, and a sparse file may be longer than any disk. So such a
 * walk takes each of its steps from a number that is larger than any honest program needs:
 *
 *       struct steps steps = {OBJECTS_MAX};
 *       for (at = first; at && steps_take(&steps); at = next(at))
 *
 * Walks over data that is completely in the injector's memory (a section that was read, an array of
 * its own) end where that data ends, and need no bound. A walk inside a walk takes its steps from
 * the same number, so that the two do not multiply.
 */
#ifndef HI_STEPS_H
#define HI_STEPS_H

#include <stdbool.h>
#include <stddef.h>

struct steps {
	size_t left;
};

/* Takes one step. False: none is left. */
static inline bool steps_take(struct steps *steps)
{
	if (steps->left == 0)
		return false;
	steps->left--;
	return true;
}

#endif
