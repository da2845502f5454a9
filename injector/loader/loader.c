/* SPDX-License-Identifier: MIT */
/* loader.c - see loader.h. */
#include "loader.h"

const struct loader *loader_by_id(enum hi_loader id)
{
	return id == HI_LOADER_DLOPEN ? &loader_dlopen : &loader_map;
}
