/* SPDX-License-Identifier: MIT */
/*
 * loader_map.c - the default loader: the payload's image is a part of the arena. So the code is in
 * place as soon as the arena is mapped, and it is removed with the arena. None of the target's own
 * code runs. Any thread is suitable, at any instant.
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

const struct loader loader_map = {
	.name = "map", .id = HI_LOADER_MAP, .borrow = borrow, .load = load, .unload = unload};
