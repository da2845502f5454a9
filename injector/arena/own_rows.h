/* SPDX-License-Identifier: MIT */
/*
 * own_rows.h - unwind rows of the gate and the payload. A signal may come in there, and its handler
 * allocate: its stack leads through code of ours to what the program has called.
 *
 * Rows of the payload are those of its .eh_frame. Those of the gate are derived from its code, as a
 * gate entry may hold the first instruction of the function that is hooked.
 */
#ifndef HI_OWN_ROWS_H
#define HI_OWN_ROWS_H

#include "arena.h"
#include "publish.h"

/*
 * To be called once gate and payload are in place. The rows take effect by
 * publisher_publish_tables. Where there is no room for them, there are none. -ENOMEM, or the error
 * of a read.
 */
must_check int own_rows_add(struct publisher *publisher, const struct arena *arena,
			    const struct memory *memory, const struct payload_image *payload);

#endif
