/* SPDX-License-Identifier: MIT */
/*
 * remote_gadgets.c - finds the pieces of code that a borrowed thread executes, in the target's
 * live memory.
 *
 * It searches memory and not files: a probe or a debugger may have patched the bytes. libc comes
 * first, as it is never unmapped. Our own mappings are skipped, as they will be unmapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_path.h"
#include "hi_wire.h"
#include "remote.h"

#define OURS "/memfd:" HI_MEMFD_NAME

enum { CHUNK_BYTES = 64 * 1024, RANKS = 3 };

static int rank_of(const struct mapping *mapping)
{
	const char *name = hi_base_name(mapping->path);

	if (strncmp(name, "libc.", 5) == 0 || strncmp(name, "libc-", 5) == 0 ||
	    strncmp(name, "ld-musl", 7) == 0)
		return 0;
	return strcmp(name, "[vdso]") == 0 ? 1 : 2;
}

static bool is_code(const struct mapping *mapping)
{
	return mapping->executable && strncmp(mapping->path, OURS, sizeof(OURS) - 1) != 0 &&
	       strcmp(mapping->path, "[vsyscall]") != 0;
}

static void find_in(const uint8_t *code, size_t size, remote_addr address,
		    struct remote_gadgets *found)
{
	ssize_t at;

	if (!found->syscall_ret && (at = arch_find_syscall_ret(code, size)) >= 0)
		found->syscall_ret = address + (size_t)at;
	if (!found->sigreturn.code && (at = arch_find_sigreturn(code, size)) >= 0)
		found->sigreturn.code = address + (size_t)at;
	if (!found->sigreturn.load && (at = arch_find_load(code, size)) >= 0)
		found->sigreturn.load = address + (size_t)at;
}

/*
 * Searches in chunks that overlap by at least a gadget. Memory that cannot be read any more holds
 * none.
 */
static void scan(const struct mapping *mapping, const struct memory *memory, uint8_t *chunk,
		 struct remote_gadgets *found)
{
	for (remote_addr at = mapping->lo;
	     at < mapping->hi && !(found->syscall_ret && found->sigreturn.code);
	     at += CHUNK_BYTES - ARCH_GADGET_MAX) {
		size_t size = mapping->hi - at < CHUNK_BYTES ? mapping->hi - at : CHUNK_BYTES;

		if (memory_read(memory, at, chunk, size))
			return;
		find_in(chunk, size, at, found);
	}
}

int remote_gadgets_find(const struct maps *maps, const struct memory *memory,
			struct remote_gadgets *out_gadgets)
{
	struct remote_gadgets found = {0};
	uint8_t *chunk = malloc(CHUNK_BYTES);

	if (!chunk)
		return -ENOMEM;
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; i < maps->count; i++)
			if (is_code(&maps->mapping[i]) && rank_of(&maps->mapping[i]) == rank)
				scan(&maps->mapping[i], memory, chunk, &found);
	free(chunk);
	if (found.sigreturn.code)
		found.sigreturn.load = 0;
	else if (found.sigreturn.load)
		found.sigreturn.code = found.syscall_ret;
	if (!found.syscall_ret || !found.sigreturn.code)
		return -ENOLINK;
	*out_gadgets = found;
	return 0;
}
