/* SPDX-License-Identifier: MIT */
/*
 * hi_files.h - how the analyzer child asks the injector for files, which it may not open itself.
 *
 * One request and one answer at a time, each a message on a SOCK_SEQPACKET pair; an answer of 0 carries the descriptor, open for reading. The injector takes a
 * request for the word of an enemy. So a request names no path: only an object of the session, a kind of file and one of the places where that kind may lie.
 * The injector makes the path, here, of what it knows of the object itself; the analyzer that runs by itself makes it in the same way.
 *
 * After a DUMP record (hi_stream.h) the child asks in the same way for two files to write into, once each, and says when it is done with them; that has no
 * answer. They have no name yet that anybody would look for: the injector gives them theirs if they are whole.
 */
#ifndef HI_FILES_H
#define HI_FILES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HI_FILE_BUILD_ID_MAX 32u
#define HI_FILE_NAME_MAX 256u
#define HI_FILE_DEBUG_ROOT "/usr/lib/debug"

enum hi_file_kind {
	HI_FILE_MAPPED = 1,     /* the file that is mapped, whatever its name is by now; no places */
	HI_FILE_NAMED = 2,      /* what bears the object's path now */
	HI_FILE_BUILD_ID = 3,   /* the debug file of a build-id */
	HI_FILE_DEBUG_LINK = 4, /* the debug file that a .gnu_debuglink names; three folders */
	HI_FILE_ALTERNATE = 5,  /* what several debug files share (dwz): name lies below DEBUG_ROOT/.dwz */
	HI_FILE_PERF_MAP = 6,   /* what a JIT compiler wrote; of the process, not of an object */
	HI_FILE_DUMP_HEAP = 7,  /* to write: the .heap of a dump, */
	HI_FILE_DUMP_PPROF = 8, /* and its .pb.gz */
	HI_FILE_DUMP_DONE = 9,  /* no question: place is 0, both have been written, or an errno */
};

/* A place is a folder and a root: even = in the target's root, which may be a container's; odd = in ours. */
static inline bool hi_file_is_in_target(uint32_t place)
{
	return !(place & 1);
}
#define HI_FILE_ROOTS 2u
#define HI_FILE_DEBUG_LINK_PLACES 6u

struct hi_file_request {
	uint32_t kind;
	uint32_t place;
	uint32_t module;        /* number in the stream */
	uint32_t build_id_size; /* BUILD_ID */
	uint8_t build_id[HI_FILE_BUILD_ID_MAX];
	char name[HI_FILE_NAME_MAX]; /* DEBUG_LINK, ALTERNATE: with its terminator */
};

struct hi_file_answer {
	int32_t status; /* 0 and a descriptor, or negative errno */
	uint32_t reserved;
};

/* Relative, and nowhere upwards. */
static inline bool hi_file_name_is_plain(const char name[HI_FILE_NAME_MAX], bool may_have_folders)
{
	const size_t size = strnlen(name, HI_FILE_NAME_MAX);

	if (size == 0 || size == HI_FILE_NAME_MAX || name[0] == '.' || name[0] == '/' || strstr(name, "/."))
		return false;
	return may_have_folders || !strchr(name, '/');
}

static inline int hi_file_format_build_id(const struct hi_file_request *request, char *out_path, size_t size)
{
	char hex[2 * HI_FILE_BUILD_ID_MAX + 1];

	if (request->build_id_size < 2 || request->build_id_size > HI_FILE_BUILD_ID_MAX)
		return -EINVAL;
	for (size_t i = 0; i < request->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", request->build_id[i]);
	return snprintf(out_path, size, HI_FILE_DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
}

static inline int hi_file_format_debug_link(const struct hi_file_request *request, const char *object_path, char *out_path, size_t size)
{
	static const char *const folders[][2] = {{"", "/"}, {"", "/.debug/"}, {HI_FILE_DEBUG_ROOT, "/"}}; /* what stands before and behind the object's own */
	const char *slash = strrchr(object_path, '/');

	if (request->place >= HI_FILE_DEBUG_LINK_PLACES || !slash || !hi_file_name_is_plain(request->name, false))
		return -EINVAL;
	const char *const *folder = folders[request->place / HI_FILE_ROOTS];
	return snprintf(out_path, size, "%s%.*s%s%s", folder[0], (int)(slash - object_path), object_path, folder[1], request->name);
}

/*
 * The absolute path, within its root, of a request of any kind but MAPPED. object_path: of the module, "" if unknown. own_pid: by which the process knows
 * itself, if the place is in its root. 0, or -EINVAL: there is no such place.
 */
static inline int hi_file_path(const struct hi_file_request *request, const char *object_path, uint32_t own_pid, char *out_path, size_t size)
{
	int length = -EINVAL;

	if (request->kind == HI_FILE_DEBUG_LINK)
		length = object_path[0] == '/' ? hi_file_format_debug_link(request, object_path, out_path, size) : -EINVAL;
	else if (request->place >= HI_FILE_ROOTS)
		return -EINVAL;
	else if (request->kind == HI_FILE_NAMED)
		length = object_path[0] == '/' ? snprintf(out_path, size, "%s", object_path) : -EINVAL;
	else if (request->kind == HI_FILE_BUILD_ID)
		length = hi_file_format_build_id(request, out_path, size);
	else if (request->kind == HI_FILE_ALTERNATE && hi_file_name_is_plain(request->name, true))
		length = snprintf(out_path, size, HI_FILE_DEBUG_ROOT "/.dwz/%s", request->name);
	else if (request->kind == HI_FILE_PERF_MAP)
		length = snprintf(out_path, size, "/tmp/perf-%u.map", own_pid);
	return length < 0 || (size_t)length >= size ? -EINVAL : 0;
}

#endif
