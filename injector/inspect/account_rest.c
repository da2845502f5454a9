/* SPDX-License-Identifier: MIT */
/*
 * account_rest.c - see account_rest.h.
 *
 * A thread's stack is where its stack pointer is. That is known of threads that wait. A thread that
 * runs, and a stack that the C library keeps for a thread to come, are known by their neighbor:
 * such a mapping follows a guard, which cannot be accessed, and both are as large as those of a
 * thread that waits.
 */
#include "account_rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "proc_file.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* ---- shared memory --------------------------------------------------------------------------- */

/* mountinfo: id parent major:minor root place options [fields] - type source options */
static int take_mount(const char *line, size_t size, struct account_rest *rest)
{
	unsigned major, minor;
	const char *type = memmem(line, size, " - ", 3);

	if (!type || sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2)
		return 0;
	type += 3;
	if (strncmp(type, "tmpfs ", 6) && strncmp(type, "devtmpfs ", 9) &&
	    strncmp(type, "ramfs ", 6))
		return 0;
	uint64_t *grown = realloc(rest->tmpfs, (rest->tmpfs_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	rest->tmpfs = grown;
	grown[rest->tmpfs_count++] = makedev(major, minor);
	return 0;
}

static int read_mounts(const struct memory *memory, struct account_rest *rest)
{
	char *text;
	size_t size;
	int err = proc_file_read(memory->pid, memory->tid, "mountinfo", &text, &size);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (const char *line = text, *end; line < text + size && !err; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + size - line));
		end = end ? end : text + size;
		err = take_mount(line, (size_t)(end - line), rest);
	}
	free(text);
	return err;
}

/* Mappings of the kernel's own tmpfs, which is mounted nowhere. */
static bool is_named_shared(const char *path)
{
	static const char *const begin[] = {"/memfd:", "/SYSV", "/dev/zero", "[anon_shmem",
					    "/anon_hugepage"};

	for (size_t i = 0; i < ARRAY_SIZE(begin); i++)
		if (!strncmp(path, begin[i], strlen(begin[i])))
			return true;
	return false;
}

enum account_part account_rest_file_part(const struct account_rest *rest,
					 const struct mapping *mapping)
{
	if (is_named_shared(mapping->path))
		return ACCOUNT_SHARED;
	for (size_t i = 0; i < rest->tmpfs_count; i++)
		if (mapping->inode && mapping->device == rest->tmpfs[i])
			return ACCOUNT_SHARED;
	return mapping->shared && !mapping->inode ? ACCOUNT_SHARED : ACCOUNT_FILES;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool can_be_stack(const struct mapping *mapping)
{
	return mapping->writable && !mapping->shared && !mapping->inode &&
	       (!*mapping->path || !strncmp(mapping->path, "[stack", 6) ||
		!strncmp(mapping->path, "[anon", 5));
}

static bool has_guard(const struct maps *maps, size_t at)
{
	const struct mapping *guard = at ? &maps->mapping[at - 1] : NULL;

	return guard && guard->hi == maps->mapping[at].lo && !guard->readable && !guard->writable &&
	       !guard->executable && !guard->inode;
}

static void mark_pointers(const struct memory *memory, const struct maps *maps,
			  struct account_rest *rest)
{
	struct stack_pointer *thread;

	if (proc_stack_pointers(memory, &thread, &rest->threads))
		return;
	for (size_t i = 0; i < rest->threads; i++) {
		const struct mapping *mapping = thread[i].sp ? maps_find(maps, thread[i].sp) : NULL;

		if (mapping && can_be_stack(mapping))
			rest->is_stack[mapping - maps->mapping] = true;
	}
	free(thread);
}

/* What the C library gives a thread for its stack, if the program does not say; 0: not known. */
static uint64_t default_bytes(const struct memory *memory)
{
	static const char name[] = "Max stack size";
	uint64_t bytes = 0;
	char *text;

	if (proc_file_read(memory->pid, memory->tid, "limits", &text, NULL))
		return 0;
	const char *line = strstr(text, name);
	if (line)
		bytes = strtoull(line + sizeof(name) - 1, NULL, 10);
	free(text);
	return bytes;
}

/* Those that look like one of a thread that waits, or as large as one is by default. */
static void mark_alike(const struct memory *memory, const struct maps *maps,
		       struct account_rest *rest)
{
	uint64_t size[16] = {default_bytes(memory)};
	size_t sizes = 1;

	for (size_t i = 0; i < maps->count && sizes < ARRAY_SIZE(size); i++) {
		const uint64_t bytes = maps->mapping[i].hi - maps->mapping[i].lo;
		size_t at = 0;

		if (!rest->is_stack[i] || !has_guard(maps, i))
			continue;
		while (at < sizes && size[at] != bytes)
			at++;
		if (at == sizes)
			size[sizes++] = bytes;
	}
	for (size_t i = 0; i < maps->count; i++) {
		const uint64_t bytes = maps->mapping[i].hi - maps->mapping[i].lo;

		for (size_t j = 0; j < sizes && !rest->is_stack[i]; j++)
			rest->is_stack[i] = bytes == size[j] && has_guard(maps, i) &&
					    can_be_stack(&maps->mapping[i]);
	}
}

/* The kernel's name for the first thread's, and glibc's for others (2.39 and later). */
static bool is_named_stack(const char *path)
{
	return !strncmp(path, "[stack", 6) || strstr(path, "pthread stack");
}

/* What the kernel maps for data of a file that the file does not have, all zeros at first. */
static bool is_data_after_file(const struct maps *maps, size_t at)
{
	const struct mapping *mapping = &maps->mapping[at], *before = mapping - 1;

	return at && !*mapping->path && before->hi == mapping->lo && before->inode &&
	       before->writable && !before->shared;
}

enum account_part account_rest_anonymous_part(const struct account_rest *rest,
					      const struct maps *maps, size_t at)
{
	const struct mapping *mapping = &maps->mapping[at];

	if (rest->is_stack[at] || is_named_stack(mapping->path))
		return ACCOUNT_STACKS;
	return mapping->inode || is_data_after_file(maps, at) ? ACCOUNT_DATA : ACCOUNT_ANONYMOUS;
}

int account_rest_open(const struct memory *memory, const struct maps *maps,
		      struct account_rest *out_rest)
{
	*out_rest = (struct account_rest){.is_stack = calloc(maps->count + 1, sizeof(bool))};
	if (!out_rest->is_stack)
		return -ENOMEM;
	mark_pointers(memory, maps, out_rest);
	mark_alike(memory, maps, out_rest);
	return read_mounts(memory, out_rest);
}

void account_rest_close(struct account_rest *rest)
{
	free(rest->tmpfs);
	free(rest->is_stack);
	*rest = (struct account_rest){0};
}
