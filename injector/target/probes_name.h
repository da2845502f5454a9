/* SPDX-License-Identifier: MIT */
/* probes_name.h - by its name: is a file of the target the one with our probes (arena/probes.h)? */
#ifndef HI_PROBES_NAME_H
#define HI_PROBES_NAME_H

#include <stdbool.h>
#include <string.h>

#include "hi_wire.h"

/* path: as in /proc/PID/maps, or as a link in /proc/PID/fd, whether deleted or not */
static inline bool is_probes_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t digits;

	if (strncmp(name, HI_PROBES_NAME, sizeof(HI_PROBES_NAME) - 1) != 0)
		return false;
	name += sizeof(HI_PROBES_NAME) - 1;
	digits = strspn(name, "0123456789");
	return digits && (!strcmp(name + digits, ".so") || !strcmp(name + digits, ".so (deleted)"));
}

#endif
