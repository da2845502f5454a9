/* SPDX-License-Identifier: MIT */
/* The program frees this block when the plug-in is gone. A part of plugin.c. */
__attribute__((noinline)) void BIT(moved)(const struct plugin_sizes *sizes, void **out)
{
	void *block = malloc(10);

	out[3] = realloc(block, sizes->moved);
}
