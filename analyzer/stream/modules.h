/* SPDX-License-Identifier: MIT */
/*
 * modules.h - which module lies at an address now. Modules come and go during a session, so an
 * address must be looked up at the time of its event.
 *
 * Sorted ranges that never overlap. A new range replaces the ranges that it overlaps: their
 * unmapping was missed. Zero-initialized = empty.
 */
#ifndef HI_MODULES_H
#define HI_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* about what the kernel allows a process to map by default (vm.max_map_count) */
#define MODULES_MAX 65536u

struct module_range {
	uint64_t lo, hi;
	uint32_t number; /* object number of the stream */
	uint32_t index;  /* in the profile */
	bool stays;      /* it is there from the beginning to the end */
};
struct modules {
	struct module_range *range;
	size_t count, capacity;
};

/* 0, -ENOMEM, or -ENOSPC beyond MODULES_MAX. */
int modules_add(struct modules *modules, const struct module_range *range);
void modules_remove(struct modules *modules, uint32_t number);
/*
 * The profile's index of the module at this address; -1 = none. may_change: modules that come and
 * go count, too.
 */
int32_t modules_find(const struct modules *modules, uint64_t address, bool may_change);
void modules_close(struct modules *modules);

#endif
