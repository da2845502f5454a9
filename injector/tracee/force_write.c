/* SPDX-License-Identifier: MIT */
/*
 * force_write.c - see force_write.h. A stop for each write costs more than one for all writes, but
 * callers need not know about it.
 *
 * Entry point: force_write.
 */
#include "force_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "borrow.h"
#include "tracee.h"

#define WORD_BYTES 8u
#define STOP_DEADLINE_MS 200

struct request {
	const struct memory *memory;
	remote_addr to;
	const uint8_t *from;
	size_t size;
};

/* Writes whole words. The bytes around the range are written back unchanged. */
static int poke(const struct request *request, pid_t tid)
{
	const remote_addr end = request->to + request->size;
	int error = 0;

	for (remote_addr at = request->to & ~(remote_addr)(WORD_BYTES - 1); at < end && !error;
	     at += WORD_BYTES) {
		const remote_addr first = at < request->to ? request->to : at,
				  last = at + WORD_BYTES < end ? at + WORD_BYTES : end;
		uint64_t word = 0;

		if (last - first < WORD_BYTES)
			error = memory_read_u64(request->memory, at, &word);
		if (error)
			break;
		memcpy((uint8_t *)&word + (first - at), request->from + (first - request->to),
		       last - first);
		error = tracee_poke(tid, at, word);
	}
	return error;
}

/* -ESRCH: the calling thread holds no thread of the target. */
static int poke_through_held(const struct request *request)
{
	pid_t *tids;
	size_t count;
	int error = proc_tasks(request->memory->pid, &tids, &count);

	if (error)
		return error;
	error = -ESRCH;
	for (size_t i = 0; i < count && error == -ESRCH; i++)
		error = poke(request, tids[i]);
	free(tids);
	return error;
}

static int poke_through(const struct request *request, pid_t tid)
{
	struct tracee tracee;
	int error = borrow_check(request->memory->pid, tid);

	if (!error)
		error = tracee_stop(&tracee, request->memory->pid, tid, STOP_DEADLINE_MS);
	if (error)
		return error;
	error = poke(request, tid);
	const int detached = tracee_detach(&tracee);

	return error ? error : detached;
}

static int hold_and_poke(void *context)
{
	const struct request *request = context;
	pid_t *tids;
	size_t count;
	int error = borrow_candidates(request->memory->pid, false, &tids, &count);

	if (error)
		return error;
	error = -EAGAIN;
	for (size_t i = 0; i < count && (error == -EAGAIN || error == -ESRCH ||
					 error == -ETIMEDOUT || error == -ENOTSUP);
	     i++)
		error = poke_through(request, tids[i]);
	free(tids);
	return error;
}

int force_write(const struct memory *memory, remote_addr to, const void *from, size_t size)
{
	struct request request = {.memory = memory, .to = to, .from = from, .size = size};
	int error = poke_through_held(&request);

	return error == -ESRCH ? tracee_worker(hold_and_poke, &request) : error;
}
