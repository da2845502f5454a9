/* SPDX-License-Identifier: MIT */
/* array_room.h - arrays that grow while a process is looked at. */
#ifndef HI_ARRAY_ROOM_H
#define HI_ARRAY_ROOM_H

#include <errno.h>
#include <stdlib.h>

#include "must_check.h"

#define ARRAY_ROOM_MIN 4096u /* elements */

/* Makes room for `more` elements after the first `count`. 0 or -ENOMEM: then nothing has changed.
 */
must_check static inline int array_make_room(void **array, size_t count, size_t *room, size_t size,
					     size_t more)
{
	size_t wanted = *room ? *room + *room / 2 : ARRAY_ROOM_MIN;

	if (count + more <= *room)
		return 0;
	if (wanted < count + more)
		wanted = count + more;
	void *grown = realloc(*array, wanted * size);

	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

#endif
