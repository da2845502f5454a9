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
	int err = 0;

	for (remote_addr at = request->to & ~(remote_addr)(WORD_BYTES - 1); at < end && !err;
	     at += WORD_BYTES) {
		const remote_addr first = at < request->to ? request->to : at,
				  last = at + WORD_BYTES < end ? at + WORD_BYTES : end;
		uint64_t word = 0;

		if (last - first < WORD_BYTES)
			err = memory_read_u64(request->memory, at, &word);
		if (err)
			break;
		memcpy((uint8_t *)&word + (first - at), request->from + (first - request->to),
		       last - first);
		err = tracee_poke(tid, at, word);
	}
	return err;
}

/* -ESRCH: the calling thread holds no thread of the target. */
static int poke_through_held(const struct request *request)
{
	pid_t *tids;
	size_t count;
	int err = proc_tasks(request->memory->pid, &tids, &count);

	if (err)
		return err;
	err = -ESRCH;
	for (size_t i = 0; i < count && err == -ESRCH; i++)
		err = poke(request, tids[i]);
	free(tids);
	return err;
}

static int poke_through(const struct request *request, pid_t tid)
{
	struct tracee tracee;
	int err = borrow_check(request->memory->pid, tid);

	if (!err)
		err = tracee_stop(&tracee, request->memory->pid, tid, STOP_DEADLINE_MS);
	if (err)
		return err;
	err = poke(request, tid);
	const int detached = tracee_detach(&tracee);

	return err ? err : detached;
}

static int hold_and_poke(void *context)
{
	const struct request *request = context;
	pid_t *tids;
	size_t count;
	int err = borrow_candidates(request->memory->pid, false, &tids, &count);

	if (err)
		return err;
	err = -EAGAIN;
	for (size_t i = 0;
	     i < count && (err == -EAGAIN || err == -ESRCH || err == -ETIMEDOUT || err == -ENOTSUP);
	     i++)
		err = poke_through(request, tids[i]);
	free(tids);
	return err;
}

int force_write(const struct memory *memory, remote_addr to, const void *from, size_t size)
{
	struct request request = {.memory = memory, .to = to, .from = from, .size = size};
	int err = poke_through_held(&request);

	return err == -ESRCH ? tracee_worker(hold_and_poke, &request) : err;
}
