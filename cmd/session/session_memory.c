/* SPDX-License-Identifier: MIT */
/* session_memory.c - see session_memory.h. */
#include "session_memory.h"

#include "clock.h"

#define LIMIT_EVERY_NS 2000000000ull /* limits are several files */
/*
 * What is ours is counted page by page, and a session of all allocations may have tens of thousands
 * of pages: that takes no more than one part in so many of a CPU.
 */
#define OWN_SHARE 500

static void read_own(struct session *session)
{
	const struct hi_control *control = session->attachment.control;
	const uint64_t begin_ns = clock_used_ns();
	struct pages pages;

	if (pump_now_ns(&session->pump) < session->own_due_ns)
		return;
	pages_open_of(&pages, &session->attachment.memory);
	arena_resident_read(&pages, control->arena, control->arena + control->arena_size,
			    &session->own);
	pages_close(&pages);
	const uint64_t cost_ns = clock_used_ns() - begin_ns;
	session->own_due_ns = pump_now_ns(&session->pump) + OWN_SHARE * cost_ns;
}

struct proc_status session_read_memory(struct session *session)
{
	struct proc_status status;
	if (proc_status_read(session->attachment.pid, session->attachment.tid, &status))
		status = (struct proc_status){0};
	else
		read_own(session);
	return status;
}

static uint64_t without(uint64_t bytes, uint64_t own_bytes)
{
	return bytes > own_bytes ? bytes - own_bytes : 0;
}

int session_send_memory(struct session *session, const struct proc_status *status)
{
	struct proc_status theirs = *status;
	if (!status->writable_bytes)
		return 0;
	const uint64_t now_ns = pump_now_ns(&session->pump);
	if (now_ns >= session->limit_ns + LIMIT_EVERY_NS || !session->limit_ns) {
		session->limit_ns = now_ns;
		session->limit = memory_limit_of(session->attachment.pid, session->attachment.tid);
	}
	theirs.anonymous_bytes = without(status->anonymous_bytes, session->own.anonymous);
	theirs.resident_bytes = without(status->resident_bytes, session->own.resident);
	theirs.writable_bytes =
		without(status->writable_bytes, session->attachment.control->state.size);
	return pump_memory(&session->pump, &theirs, &session->limit);
}
