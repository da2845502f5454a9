/* SPDX-License-Identifier: MIT */
/*
 * plugins.h - copies of a library under several names, so that each is loaded and unloaded by
 * itself. They are the same size: one may come to lie where another was.
 */
#ifndef PLUGINS_H
#define PLUGINS_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define PLUGINS 8

static const char *plugins_directory;

static void plugin_path(unsigned number, char path[200])
{
	snprintf(path, 200, "%s/plugin%u.so", plugins_directory, number);
}

static void plugin_make(const char *library, unsigned number)
{
	char path[200];
	int from, to;

	plugin_path(number, path);
	from = open(library, O_RDONLY | O_CLOEXEC);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (from < 0 || to < 0 || sendfile(to, from, NULL, 1 << 20) <= 0)
		exit(2);
	close(from);
	close(to);
}

static void plugins_make(const char *library, const char *directory)
{
	plugins_directory = directory;
	for (unsigned i = 0; i < PLUGINS; i++)
		plugin_make(library, i);
}

/* NULL, and the reason is said. */
static void *plugin_open(unsigned number, int how)
{
	char path[200];
	void *plugin;

	plugin_path(number, path);
	plugin = dlopen(path, how);
	if (!plugin)
		self_wrong("%s", dlerror());
	return plugin;
}

#endif
