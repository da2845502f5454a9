/* SPDX-License-Identifier: MIT */
/*
 * loader_map.c - the default loader: the payload's image is a part of the arena, so by the time the arena is mapped the code is in place, and it goes with the
 * arena.
 *
 * Nothing of the target's own code runs. Any thread will do, at any instant.
 */
#include "loader.h"

static int borrow(const struct loader_target *target, struct remote *remote, int deadline_ms)
{
	return remote_open(remote, target->pid, target->memory, target->gadgets, deadline_ms);
}

static int load(const struct loader_target *target, struct remote *remote)
{
	(void)remote;
	target->control->payload_base = target->control->arena + target->control->image.offset;
	target->control->payload_size = target->control->image.size;
	return 0;
}

static int unload(const struct loader_target *target, struct remote *remote)
{
	(void)target;
	(void)remote;
	return 0;
}

const struct loader loader_map = {.name = "map", .id = HI_LOADER_MAP, .borrow = borrow, .load = load, .unload = unload};
