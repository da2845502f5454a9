/* SPDX-License-Identifier: MIT */
/*
 * hi_files.h - how the analyzer child asks the injector for files, which the child may not open
 * itself.
 *
 * There is one request and one answer at a time, each a message on a SOCK_SEQPACKET pair. An answer
 * with status 0 carries the descriptor, open for reading. The injector treats a request as if an
 * attacker had sent it. So a request names no path. It names only an object of the session, a kind
 * of file, and one of the places where that kind may lie. The injector builds the path, with the
 * functions below, from what it knows of the object itself. An analyzer that runs without an
 * injector builds the path with the same functions.
 *
 * After a DUMP record (hi_stream.h) the child asks in the same way for two files to write into,
 * once each. It also reports when it is done with them; that message has no answer. Until then the
 * files have temporary names. The injector gives them their final names if they are complete.
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
	/* the file that is mapped, whatever its name is now; `place` is not used */
	HI_FILE_MAPPED = 1,
	HI_FILE_NAMED = 2,      /* the file that has the object's path now */
	HI_FILE_BUILD_ID = 3,   /* the debug file of a build-id */
	HI_FILE_DEBUG_LINK = 4, /* the debug file that a .gnu_debuglink names; three directories */
	/* the file that several debug files share (dwz): name lies below DEBUG_ROOT/.dwz */
	HI_FILE_ALTERNATE = 5,
	/*
	 * the symbol file that a JIT compiler wrote, /tmp/perf-PID.map; belongs to the process, not
	 * to an object
	 */
	HI_FILE_PERF_MAP = 6,
	HI_FILE_DUMP_HEAP = 7,  /* to write: the .heap of a dump */
	HI_FILE_DUMP_PPROF = 8, /* to write: the .pb.gz of a dump */
	/* a report, not a request: place is 0 if both files are complete, or an errno */
	HI_FILE_DUMP_DONE = 9,
};

/*
 * A place is a number for a directory and a root: even = in the target's root, which may be that of
 * a container; odd = in the injector's root.
 */
static inline bool hi_file_is_in_target(uint32_t place)
{
	return !(place & 1);
}
#define HI_FILE_ROOTS 2u
#define HI_FILE_DEBUG_LINK_PLACES 6u

struct hi_file_request {
	uint32_t kind;
	uint32_t place;
	uint32_t module;        /* number of the object in the stream */
	uint32_t build_id_size; /* BUILD_ID */
	uint8_t build_id[HI_FILE_BUILD_ID_MAX];
	char name[HI_FILE_NAME_MAX]; /* DEBUG_LINK, ALTERNATE: NUL-terminated */
};

struct hi_file_answer {
	int32_t status; /* 0 and a descriptor, or negative errno */
	uint32_t reserved;
};

/* Whether the name is a relative path that does not lead upwards. */
static inline bool hi_file_name_is_plain(const char name[HI_FILE_NAME_MAX],
					 bool may_have_directories)
{
	const size_t size = strnlen(name, HI_FILE_NAME_MAX);

	if (size == 0 || size == HI_FILE_NAME_MAX || name[0] == '.' || name[0] == '/' ||
	    strstr(name, "/."))
		return false;
	return may_have_directories || !strchr(name, '/');
}

static inline int hi_file_format_build_id(const struct hi_file_request *request, char *out_path,
					  size_t size)
{
	char hex[2 * HI_FILE_BUILD_ID_MAX + 1];

	if (request->build_id_size < 2 || request->build_id_size > HI_FILE_BUILD_ID_MAX)
		return -EINVAL;
	for (size_t i = 0; i < request->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", request->build_id[i]);
	return snprintf(out_path, size, HI_FILE_DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex,
			hex + 2);
}

static inline int hi_file_format_debug_link(const struct hi_file_request *request,
					    const char *object_path, char *out_path, size_t size)
{
	/* parts of the path before and after the object's own directory */
	static const char *const directories[][2] = {
		{"", "/"}, {"", "/.debug/"}, {HI_FILE_DEBUG_ROOT, "/"}};
	const char *slash = strrchr(object_path, '/');

	if (request->place >= HI_FILE_DEBUG_LINK_PLACES || !slash ||
	    !hi_file_name_is_plain(request->name, false))
		return -EINVAL;
	const char *const *directory = directories[request->place / HI_FILE_ROOTS];
	return snprintf(out_path, size, "%s%.*s%s%s", directory[0], (int)(slash - object_path),
			object_path, directory[1], request->name);
}

/*
 * Formats the absolute path, within its root, for a request of any kind except MAPPED. object_path:
 * path of the module, "" if unknown. own_pid: the pid of the target in its own pid namespace, if
 * the place is in the target's root. Returns 0, or -EINVAL: there is no such place.
 */
static inline int hi_file_path(const struct hi_file_request *request, const char *object_path,
			       uint32_t own_pid, char *out_path, size_t size)
{
	int length = -EINVAL;

	if (request->kind == HI_FILE_DEBUG_LINK)
		length = object_path[0] == '/'
				 ? hi_file_format_debug_link(request, object_path, out_path, size)
				 : -EINVAL;
	else if (request->place >= HI_FILE_ROOTS)
		return -EINVAL;
	else if (request->kind == HI_FILE_NAMED)
		length = object_path[0] == '/' ? snprintf(out_path, size, "%s", object_path)
					       : -EINVAL;
	else if (request->kind == HI_FILE_BUILD_ID)
		length = hi_file_format_build_id(request, out_path, size);
	else if (request->kind == HI_FILE_ALTERNATE && hi_file_name_is_plain(request->name, true))
		length = snprintf(out_path, size, HI_FILE_DEBUG_ROOT "/.dwz/%s", request->name);
	else if (request->kind == HI_FILE_PERF_MAP)
		length = snprintf(out_path, size, "/tmp/perf-%u.map", own_pid);
	return length < 0 || (size_t)length >= size ? -EINVAL : 0;
}

#endif
