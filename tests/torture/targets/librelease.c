/* SPDX-License-Identifier: MIT */
/* needs libown.so */
/*
 * librelease.c - a shared object that frees what another one has allocated: nothing shows whose
 * free that is before it is first called.
 */
#include <stdlib.h>

void plugin_release(void *block);

void plugin_release(void *block)
{
	free(block);
}
