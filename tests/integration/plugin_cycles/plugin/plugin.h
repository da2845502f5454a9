/* SPDX-License-Identifier: MIT */
/* plugin.h - what the program and its plug-ins know of each other. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define PLUGIN_TEXT_MAX 1000
#define PLUGIN_PASSING 20
#define PLUGIN_BLOCKS 4 /* three that stay, and one that the program frees */

struct plugin_sizes {
	size_t allocated, copied, created, moved, passing;
};

void plugin_work(const struct plugin_sizes *sizes, void **out);
uintptr_t plugin_slot(void);

#endif
