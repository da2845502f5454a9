/* SPDX-License-Identifier: MIT */
/* These blocks are freed at once. A part of plugin.c. */
__attribute__((noinline)) void BIT(passed)(const struct plugin_sizes *sizes)
{
	for (int i = 0; i < PLUGIN_PASSING; i++) {
		void *volatile block = malloc(sizes->passing);

		free(block);
	}
}
