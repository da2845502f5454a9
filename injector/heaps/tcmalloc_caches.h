/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_caches.h - objects that tcmalloc keeps for threads, and in its transfer caches.
 *
 * Both are chains of freed objects. A thread changes its own without a lock: a chain that is not as
 * long as its cache says is read again, and if it never agrees its objects are marked as unsure.
 */
#ifndef HI_TCMALLOC_CACHES_H
#define HI_TCMALLOC_CACHES_H

#include "tcmalloc_layout.h"

/*
 * Marks all their objects. 0; -EPROTO: the caches of the threads are not where they are in known
 * versions. Other errors: -ENOMEM, -ETIMEDOUT, or those of the memory.
 */
must_check int tcmalloc_caches_mark(struct heap_slabs *slabs, struct heap_windows *windows,
				    const struct tcmalloc_layout *layout,
				    const struct image_data *data);

#endif
