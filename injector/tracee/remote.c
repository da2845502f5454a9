/* SPDX-License-Identifier: MIT */
/*
 * remote.c - the life of a borrowed thread: saved, guarded, used, restored.
 *
 * It rests on one invariant: from the moment the thread's registers are changed until they are
 * restored, letting the thread go in any state leads into rt_sigreturn on the guard frame, by way
 * of a `ret` that finds that frame. So every error, and the death of the injector, has the same
 * remedy. The invariant depends on the order of the steps in save_and_guard() and give_back().
 * Entry point: remote_open.
 */
#include "remote.h"

#include <errno.h>
#include <linux/rseq.h>
#include <stdlib.h>
#include <string.h>

#include "borrow.h"
#include "clock.h"

#define ERRNO_MAX 4095 /* the kernel returns errors as -4095..-1 */

enum {
	STOP_DEADLINE_MS = 200,     /* for one thread; then another is tried */
	SYSCALL_DEADLINE_MS = 5000, /* a starved container takes its time */
	RESTORE_DEADLINE_MS = 5000,
	RETRY_PAUSE_NS = 1000 * 1000,
	SCRATCH_BYTES = 512,
};

static int first_error(int first, int then)
{
	return first ? first : then;
}

/* ---- save and guard -------------------------------------------------------------------------- */

/*
 * If the thread is interrupted inside a restartable sequence, the kernel moves it to the sequence's
 * abort address when it goes on. Here the kernel will not, as it finds another program counter: so
 * we do it. The kernel clears the descriptor itself, for the same reason.
 */
static int leave_rseq(struct remote *remote)
{
	struct rseq_cs section;
	remote_addr rseq, descriptor;
	int err = tracee_get_rseq(&remote->tracee, &rseq);

	if (err || !rseq)
		return err;
	err = memory_read_u64(remote->memory, rseq + offsetof(struct rseq, rseq_cs), &descriptor);
	if (err || !descriptor)
		return err;
	err = memory_read(remote->memory, descriptor, &section, sizeof(section));
	if (err)
		return err;
	if (arch_pc(&remote->original.regs) - section.start_ip < section.post_commit_offset)
		arch_set_pc(&remote->original.regs, section.abort_ip);
	return 0;
}

/*
 * Where a sleep would begin anew with all of its time once the registers have been changed, the
 * thread is about to go on with it instead.
 */
static int take_restart(struct remote *remote)
{
	struct arch_regs at_entry;
	int err;

	if (!arch_needs_restart(&remote->original.regs, &remote->tracee.before))
		return 0;
	err = tracee_run_to_restart(&remote->tracee, STOP_DEADLINE_MS);
	if (!err)
		err = tracee_get_regs(&remote->tracee, &at_entry);
	if (!err)
		arch_take_restart(&remote->original.regs, &at_entry);
	return err;
}

static int save(struct remote *remote)
{
	struct arch_context *original = &remote->original;
	int err = tracee_get_regs(&remote->tracee, &original->regs);

	if (!err)
		err = take_restart(remote);
	if (err)
		return err;
	if (!arch_is_native(&original->regs))
		return -ENOTSUP;
	original->xstate = remote->xstate;
	original->xstate_size = sizeof(remote->xstate);
	err = tracee_get_xstate(&remote->tracee, original->xstate, &original->xstate_size);
	if (!err)
		err = tracee_get_sigmask(&remote->tracee, &original->sigmask);
	if (!err)
		err = leave_rseq(remote);
	return err;
}

/* Is the gadget that `find` finds still there? */
static bool stands(const struct remote *remote, remote_addr gadget,
		   ssize_t (*find)(const uint8_t *code, size_t size))
{
	uint8_t code[ARCH_GADGET_MAX];

	return memory_read(remote->memory, gadget, code, sizeof(code)) == 0 &&
	       find(code, sizeof(code)) == 0;
}

static bool gadgets_stand(const struct remote *remote)
{
	const struct remote_gadgets *gadgets = &remote->gadgets;

	return stands(remote, gadgets->syscall_ret, arch_find_syscall_ret) &&
	       (gadgets->sigreturn.load
			? stands(remote, gadgets->sigreturn.load, arch_find_load)
			: stands(remote, gadgets->sigreturn.code, arch_find_sigreturn));
}

/*
 * Writes the guard frame below the red zone, where the stack is dead, before anything else is
 * changed.
 */
static int guard(struct remote *remote, const struct maps *maps)
{
	struct arch_guard guard;
	int err = arch_build_guard(&remote->original, &remote->gadgets.sigreturn, &guard);

	if (err)
		return err;
	remote->scratch = (guard.at - SCRATCH_BYTES) & ~15ull;
	remote->scratch_size = SCRATCH_BYTES;
	err = borrow_check_stack(maps, &remote->original.regs, remote->scratch);
	if (!err && !gadgets_stand(remote))
		err = -ENOENT;
	if (!err)
		err = memory_write(remote->memory, guard.at, guard.frame, guard.size);
	if (err)
		return err == -EFAULT ? -EAGAIN : err;
	memcpy(remote->frame_head, guard.frame, sizeof(remote->frame_head));
	remote->frame = guard.at;
	remote->frame_size = guard.size;
	remote->resting = guard.resting;
	err = tracee_set_regs(&remote->tracee, &remote->resting);
	if (err)
		return err;
	remote->is_guarded = true;
	return tracee_set_sigmask(&remote->tracee, ~0ull);
}

static int save_and_guard(struct remote *remote, const struct maps *maps)
{
	int err;

	if (remote->tracee.is_filtered)
		return -EACCES;
	/* the memory written to does not belong to the program that this thread runs now */
	if (!memory_is_of(remote->memory, remote->tracee.tid))
		return -ENOEXEC;
	err = save(remote);
	return err ? err : guard(remote, maps);
}

/* ---- give back ------------------------------------------------------------------------------- */

/*
 * Brings the thread to an event stop, from wherever a failed step may have left it. A call that has
 * not begun is skipped.
 */
static int make_ready(struct remote *remote)
{
	enum tracee_state state = remote->tracee.state;
	int err = 0;

	if (state == TRACEE_SYSCALL_ENTRY || state == TRACEE_SYSCALL_EXIT)
		err = tracee_set_regs(&remote->tracee, &remote->resting);
	return first_error(err, tracee_steer_to_stop(&remote->tracee, RESTORE_DEADLINE_MS));
}

/*
 * The frame holds copies of all registers. A gate address among them would later be taken for one
 * that the program keeps.
 */
static void clear_frame(const struct remote *remote)
{
	static const uint8_t zeros[ARCH_GUARD_MAX];

	(void)!memory_write(remote->memory, remote->frame, zeros, remote->frame_size);
}

/*
 * Restores only at an event stop: if registers were restored at a system-call stop, the kernel
 * would forget its restart, and programs would see errno 512. Registers come last: while they are
 * the resting ones, rt_sigreturn repairs whatever has failed.
 */
static int give_back(struct remote *remote)
{
	const struct arch_context *original = &remote->original;
	struct arch_regs regs = original->regs;
	int first = make_ready(remote), err;

	if (remote->tracee.state != TRACEE_STOPPED)
		return first;
	(void)tracee_end_rewound(&remote->tracee, original->sigmask, &regs);
	err = tracee_set_xstate(&remote->tracee, original->xstate, original->xstate_size);
	if (!err)
		err = tracee_set_sigmask(&remote->tracee, original->sigmask);
	if (!err)
		err = tracee_set_regs(&remote->tracee, &regs);
	if (!err)
		clear_frame(remote);
	return first_error(first, err);
}

static int put_back(struct remote *remote)
{
	const int err = remote->is_guarded ? give_back(remote) : 0;

	remote->is_guarded = false;
	return err;
}

int remote_close(struct remote *remote)
{
	int err;

	if (remote->tracee.state == TRACEE_NONE)
		return 0;
	err = put_back(remote);
	err = first_error(err, tracee_detach(&remote->tracee));
	remote->stopped_ns = (uint64_t)remote->tracee.held_ns;
	return err;
}

int remote_hand_over(struct remote *remote)
{
	const int err = put_back(remote);

	if (err || remote->tracee.state != TRACEE_STOPPED) {
		(void)remote_close(remote);
		return err ? err : -ESRCH;
	}
	tracee_hand_over(&remote->tracee);
	return 0;
}

/* ---- open ------------------------------------------------------------------------------------ */

static void start(struct remote *remote, const struct memory *memory,
		  const struct remote_gadgets *gadgets)
{
	remote->tracee = (struct tracee){.state = TRACEE_NONE};
	remote->memory = memory;
	remote->gadgets = *gadgets;
	remote->is_guarded = false;
	remote->way_back = 0;
	remote->patient_until_ns = remote->stopped_ns = 0;
}

int remote_adopt(struct remote *remote, struct tracee *tracee, const struct memory *memory,
		 const struct remote_gadgets *gadgets)
{
	struct proc_status status;
	struct maps maps = {0};
	int err;

	start(remote, memory, gadgets);
	err = proc_status_read(tracee->pid, tracee->tid, &status);
	if (!err && status.shadow_stack)
		err = -ENOTSUP;
	if (!err)
		err = maps_read(tracee->pid, tracee->tid, &maps);
	if (err)
		return err;
	remote->tracee = *tracee;
	err = save_and_guard(remote, &maps);
	maps_close(&maps);
	if (err) {
		put_back(remote);
		*tracee = remote->tracee;
		remote->tracee.state = TRACEE_NONE;
		return err;
	}
	tracee->state = TRACEE_NONE;
	return 0;
}

static int try_thread(struct remote *remote, pid_t pid, pid_t tid, const struct maps *maps)
{
	int err = borrow_check(pid, tid);

	if (!err && clock_now_ns() < remote->patient_until_ns && borrow_is_transferring(pid, tid))
		err = -EAGAIN;
	if (err)
		return err;
	err = tracee_stop(&remote->tracee, pid, tid, STOP_DEADLINE_MS);
	if (err)
		return err;
	err = save_and_guard(remote, maps);
	if (err)
		remote_close(remote);
	return err;
}

/* Is it worth trying again, with this thread or the next? */
static bool is_transient(int err)
{
	return err == -EAGAIN || err == -ESRCH || err == -ETIMEDOUT;
}

/* Tries all threads once. */
static int try_threads(struct remote *remote, pid_t pid, uint64_t deadline_ns)
{
	struct maps maps = {0};
	pid_t *tids;
	size_t count;
	int err = borrow_candidates(pid, true, &tids, &count);

	if (err)
		return err;
	err = count ? maps_read(pid, tids[0], &maps) : -EAGAIN;
	if (!err) {
		err = -EAGAIN;
		for (size_t i = 0; i < count && is_transient(err) && clock_now_ns() < deadline_ns;
		     i++)
			err = try_thread(remote, pid, tids[i], &maps);
	}
	maps_close(&maps);
	free(tids);
	return err;
}

int remote_open(struct remote *remote, pid_t pid, const struct memory *memory,
		const struct remote_gadgets *gadgets, int deadline_ms)
{
	const uint64_t deadline_ns = clock_now_ns() + (uint64_t)deadline_ms * 1000000;

	start(remote, memory, gadgets);
	remote->patient_until_ns = clock_now_ns() + BORROW_PATIENCE_MS * 1000000ull;
	for (;;) {
		int err = try_threads(remote, pid, deadline_ns);

		if (!is_transient(err))
			return err;
		if (!memory_is_alive(memory))
			return -ESRCH;
		if (clock_now_ns() >= deadline_ns)
			return -EAGAIN;
		/*
		 * lets go of threads that stopped too late: otherwise they would stay stopped, and
		 * seem to be traced by another program
		 */
		tracee_pause(RETRY_PAUSE_NS);
	}
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Prepares the thread for a call. Between two system calls it need not be steered anywhere. */
static int begin(struct remote *remote)
{
	if (!remote->is_guarded)
		return -EINVAL;
	if (remote->tracee.state == TRACEE_STOPPED || remote->tracee.state == TRACEE_SYSCALL_EXIT)
		return 0;
	return make_ready(remote);
}

int remote_syscall(struct remote *remote, long number, const uint64_t argument[6],
		   int64_t *out_result)
{
	struct arch_regs regs = remote->resting;
	int err = begin(remote);

	if (err)
		return err;
	arch_begin_syscall(&regs, remote->gadgets.syscall_ret, number, argument);
	err = tracee_set_regs(&remote->tracee, &regs);
	if (!err)
		err = tracee_run_to_syscall(&remote->tracee, SYSCALL_DEADLINE_MS);
	if (!err)
		err = tracee_run_to_syscall(&remote->tracee, SYSCALL_DEADLINE_MS);
	if (!err)
		err = tracee_get_regs(&remote->tracee, &regs);
	if (err)
		return err;
	if (arch_syscall_number(&regs) != (uint64_t)number)
		return -EPROTO;
	*out_result = (int64_t)arch_result(&regs);
	return 0;
}

int remote_syscall_or_fail(struct remote *remote, long number, const uint64_t argument[6],
			   uint64_t *out_result)
{
	int64_t result;
	int err = remote_syscall(remote, number, argument, &result);

	if (err)
		return err;
	if (result < 0 && result >= -ERRNO_MAX)
		return (int)result;
	if (out_result)
		*out_result = (uint64_t)result;
	return 0;
}

int remote_return_through(struct remote *remote, remote_addr code)
{
	struct arch_regs resting = remote->resting;
	struct arch_word word;
	int err = begin(remote);

	arch_rest_through(&resting, remote->frame, &remote->gadgets.sigreturn, code, &word);
	if (!err && word.at)
		err = memory_write_u64(remote->memory, word.at, word.value);
	if (err)
		return err;
	err = tracee_set_regs(&remote->tracee, &resting);
	if (err)
		return err;
	remote->resting = resting;
	remote->way_back = code;
	return 0;
}

/*
 * Writes what the called function returns to. With a result: the gadget's system call, at whose
 * entry we read the result (and then skip the call), followed by a frame for the gadget's return.
 * Without: the frame at once. Either way the frame's copy refers to the extended state in the guard
 * frame, which stays where it is.
 */
static int write_return(const struct remote *remote, remote_addr stack_top, bool with_result,
			struct arch_return *out_return)
{
	const uint64_t code[2] = {with_result ? remote->gadgets.syscall_ret : 0, remote->way_back};

	arch_build_return(stack_top, remote->frame_head, &remote->gadgets.sigreturn, code,
			  out_return);
	return memory_write(remote->memory, out_return->at, out_return->byte, out_return->size);
}

/*
 * The function makes system calls of its own; ours is the one at which the stack is unwound beyond
 * the return address.
 */
static int run_to_return(struct remote *remote, remote_addr returned_sp, uint64_t deadline_ns,
			 struct arch_regs *out_regs)
{
	for (;;) {
		uint64_t time_ns = clock_now_ns();
		int err;

		if (time_ns >= deadline_ns)
			return -ETIMEDOUT;
		err = tracee_run_to_syscall(&remote->tracee,
					    (int)((deadline_ns - time_ns) / 1000000) + 1);
		if (err)
			return err;
		if (remote->tracee.state != TRACEE_SYSCALL_ENTRY)
			continue;
		err = tracee_get_regs(&remote->tracee, out_regs);
		if (err || arch_sp(out_regs) == returned_sp)
			return err;
	}
}

/*
 * The function cannot be broken off: it may hold locks. Its result is not needed any more, so it is
 * made to return to the frame at once, unless it has already returned and is on its way there.
 */
static void let_finish(struct remote *remote, remote_addr stack_top, remote_addr slot)
{
	struct arch_return way_back;
	struct arch_regs regs;

	if (tracee_steer_to_stop(&remote->tracee, RESTORE_DEADLINE_MS) == 0 &&
	    tracee_get_regs(&remote->tracee, &regs) == 0 && arch_sp(&regs) <= slot)
		(void)write_return(remote, stack_top, false, &way_back);
	remote->is_guarded = false;
	(void)remote_close(remote);
}

int remote_call(struct remote *remote, remote_addr function, const uint64_t argument[4],
		remote_addr stack_top, int deadline_ms, uint64_t *out_result)
{
	const uint64_t deadline_ns = clock_now_ns() + (uint64_t)deadline_ms * 1000000;
	struct arch_regs regs = remote->resting;
	struct arch_return way_back;
	int err = begin(remote);

	if (!err)
		err = write_return(remote, stack_top, out_result != NULL, &way_back);
	if (err)
		return err;
	arch_begin_call(&regs, function, argument, way_back.at);
	err = tracee_set_regs(&remote->tracee, &regs);
	if (err)
		return err;
	err = run_to_return(remote, way_back.returned_sp, deadline_ns, &regs);
	if (err) {
		let_finish(remote, stack_top, way_back.at);
		return err;
	}
	if (out_result)
		*out_result = arch_returned(&regs);
	return make_ready(remote);
}
