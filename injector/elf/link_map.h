/* SPDX-License-Identifier: MIT */
/*
 * link_map.h - the dynamic linker's own list of loaded objects, read from the target's memory while
 * it runs.
 *
 * The list may change under the reader: every walk is bounded, every pointer may be stale, and a
 * failed read is an error code, never a fault.
 */
#ifndef HI_LINK_MAP_H
#define HI_LINK_MAP_H

#include "look.h"

/*
 * The addresses of the .dynamic sections (l_ld) of all objects: first those of the base namespace,
 * in link-map order, main program first, then those of other namespaces. l_ld identifies an object
 * better than l_addr: musl and glibc mean different things by l_addr.
 */
struct link_map_list {
	remote_addr *dynamic;
	size_t count, base_count;
};
must_check int link_map_read(const struct memory *memory, remote_addr r_debug,
			     struct link_map_list *out_list);
void link_map_list_close(struct link_map_list *list);

/*
 * Returns a number that changes whenever the list of loaded objects does (a hash over the link maps
 * of all namespaces). -EAGAIN: the dynamic linker is working at the moment (r_state !=
 * RT_CONSISTENT): call again later. `look` remembers all that the number is made from, so that the
 * list is unchanged as long as that is; NULL: not needed.
 */
must_check int link_map_fingerprint(const struct memory *memory, remote_addr r_debug,
				    struct look *look, uint64_t *out_fingerprint);

#endif
