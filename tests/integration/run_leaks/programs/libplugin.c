// SPDX-License-Identifier: MIT
// A library with a variable, and one for each thread.
void *plugin_global;
__thread void *plugin_local;

void **plugin_local_of_thread(void)
{
	return &plugin_local;
}
