/* SPDX-License-Identifier: MIT */
/* These blocks stay for ever. A part of plugin.c. */
__attribute__((noinline)) void BIT(left)(const struct plugin_sizes *sizes, void **out)
{
	out[0] = malloc(sizes->allocated);
	out[1] = strdup(text(sizes->copied - 1));
	out[2] = _Znwm(sizes->created);
}
