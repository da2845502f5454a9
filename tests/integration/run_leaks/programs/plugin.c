// SPDX-License-Identifier: MIT
// Variables of libraries that came by dlopen: of one that stays, and of one that goes.
// want: direct into_gone 52 1
// needs: libplugin.so
#include <dlfcn.h>

#include "leaky.h"

static APART void into(void *plugin)
{
	void **(*local)(void) = (void **(*)(void))dlsym(plugin, "plugin_local_of_thread");

	*(void **)dlsym(plugin, "plugin_global") = used(malloc(50));
	*local() = used(malloc(51));
}

static APART void into_gone(void *plugin)
{
	*(void **)dlsym(plugin, "plugin_global") = used(malloc(52));
	dlclose(plugin);
}

int main(void)
{
	void *stays = dlopen("./libplugin.so", RTLD_NOW);
	void *goes = dlopen("./libplugin_too.so", RTLD_NOW);

	if (!stays || !goes)
		return 1;
	into(stays);
	into_gone(goes);
	goes = NULL;
	wipe();
	return 0;
}
