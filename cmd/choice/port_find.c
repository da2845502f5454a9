/* SPDX-License-Identifier: MIT */
/* port_find.c - see port_find.h. Start at port_find(). */
#include "port_find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc_file.h"

#define STATE_LISTENS 0x0au
#define NAMESPACES_MAX 256u

/* ---- which sockets --------------------------------------------------------------------------- */

void port_sockets_parse(const char *text, uint16_t port, struct port_sockets *sockets)
{
	while (text && *text) {
		unsigned local, state;
		uint64_t inode;

		/* number, local and remote address, state, five more, inode */
		if (sscanf(text,
			   " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s "
			   "%" SCNu64,
			   &local, &state, &inode) == 3 &&
		    local == port && state == STATE_LISTENS && inode &&
		    sockets->count < PORT_SOCKETS_MAX)
			sockets->inode[sockets->count++] = inode;
		text = strchr(text, '\n');
		text += text != NULL;
	}
}

static void read_namespace(pid_t pid, uint16_t port, struct port_sockets *sockets)
{
	static const char *const names[] = {"net/tcp", "net/tcp6"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *text;

		if (proc_file_read(pid, 0, names[i], &text, NULL))
			continue;
		port_sockets_parse(text, port, sockets);
		free(text);
	}
}

struct namespaces {
	ino_t seen[NAMESPACES_MAX];
	size_t count;
};

/* The network namespace of a process that may be examined, unless it was seen. */
static bool is_new(struct namespaces *namespaces, pid_t pid)
{
	struct stat net;

	if (stat(proc_path(pid, 0, "ns/net").text, &net))
		return false;
	for (size_t i = 0; i < namespaces->count; i++)
		if (namespaces->seen[i] == net.st_ino)
			return false;
	if (namespaces->count == NAMESPACES_MAX)
		return false;
	namespaces->seen[namespaces->count++] = net.st_ino;
	return true;
}

/* ---- whose they are -------------------------------------------------------------------------- */

static bool is_wanted(const struct port_sockets *sockets, uint64_t inode)
{
	for (size_t i = 0; i < sockets->count; i++)
		if (sockets->inode[i] == inode)
			return true;
	return false;
}

static bool has_socket(pid_t pid, const struct port_sockets *sockets)
{
	DIR *descriptors = opendir(proc_path(pid, 0, "fd").text);
	const struct dirent *entry;
	bool is_found = false;

	while (descriptors && !is_found && (entry = readdir(descriptors))) {
		char target[64];
		const ssize_t size =
			readlinkat(dirfd(descriptors), entry->d_name, target, sizeof(target) - 1);
		uint64_t inode;

		if (size <= 0)
			continue;
		target[size] = 0;
		is_found = sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1 &&
			   is_wanted(sockets, inode);
	}
	if (descriptors)
		closedir(descriptors);
	return is_found;
}

int port_find(uint16_t port, struct processes_found *found)
{
	static struct port_sockets sockets; /* large */
	static struct namespaces namespaces;
	DIR *proc = opendir(PROC_DIRECTORY);
	const size_t before = found->count;
	int err = 0;

	if (!proc)
		return -errno;
	sockets.count = namespaces.count = 0;
	if (is_new(&namespaces, getpid()))
		read_namespace(getpid(), port, &sockets);
	for (pid_t pid; (pid = proc_next(proc));)
		if (is_new(&namespaces, pid))
			read_namespace(pid, port, &sockets);
	rewinddir(proc);
	for (pid_t pid; !err && sockets.count && (pid = proc_next(proc));)
		if (has_socket(pid, &sockets))
			err = processes_found_add(found, pid);
	closedir(proc);
	if (!err && sockets.count && found->count == before)
		err = -EACCES;
	return err;
}
