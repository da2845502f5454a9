/* SPDX-License-Identifier: MIT */
/*
 * blocking [CALL] - one thread for each blocking system call that a stop under ptrace can turn into
 * EINTR (signal(7)) or cut short, and for those that the kernel restarts by itself. No signal is
 * ever sent here, so every EINTR and every short count is an attach's doing; `state` names the
 * calls that saw one. With a name only that call runs.
 *
 * Most calls wait out a time limit of their own, so that thread waits nearly always; the others are
 * woken by a helper thread now and then. A wait that ends early is wrong at once; one that takes
 * half as long again is counted (slow=): a call that would have failed with EINTR begins anew after
 * a stop, and with it its time limit.
 */
#include "blocking_calls.h"

static struct caller callers[CALLS];

/* ---- the threads ----------------------------------------------------------------------------- */

static void note_result(struct caller *c, long result)
{
	if (result == -EINTR) {
		c->eintr++;
		self_eintr(1);
	} else if (c->bulk && result > 0 && result < BULK) {
		c->cut_short++;
	} else if (result != c->call->result) {
		self_wrong("%s: %ld where %ld was due", c->call->name, result, c->call->result);
	}
}

static void note_duration(struct caller *c, long result, uint64_t duration_ns)
{
	if (result != c->call->result)
		return;
	if (duration_ns + EARLY_NS < (uint64_t)WAIT_NS)
		self_wrong("%s: back after %lu us, which is too early", c->call->name,
			   (unsigned long)duration_ns / 1000);
	if (duration_ns > (uint64_t)(WAIT_NS + SLOW_NS))
		c->slow++;
}

static void *wait_again_and_again(void *data)
{
	struct caller *c = data;
	struct self_block block = {0};

	prctl(PR_SET_NAME, c->call->name);
	while (!self_is_stopping()) {
		const uint64_t begin = self_now_ns();
		const long result = c->call->wait(c);

		note_result(c, result);
		if (c->call->expect == TIMED)
			note_duration(c, result, self_now_ns() - begin);
		if (c->call->expect == STALLED)
			continue;
		if (c->call->expect == TRANSFER)
			usleep(PAUSE_US);
		self_block_renew(c->worker, &block, 100);
		self_step(c->worker);
	}
	self_block_free(&block);
	__atomic_store_n(&c->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_waiting_for(const struct caller *c, enum expectation expect)
{
	return c->worker && c->call->expect == expect &&
	       !__atomic_load_n(&c->is_done, __ATOMIC_ACQUIRE);
}

static bool wake_all(enum expectation expect)
{
	bool is_anybody_left = false;

	for (size_t i = 0; i < CALLS; i++)
		if (is_waiting_for(&callers[i], expect)) {
			is_anybody_left = true;
			if (callers[i].call->wake)
				callers[i].call->wake(&callers[i]);
			if (expect == STALLED) /* its thread takes minutes for a step */
				self_step(callers[i].worker);
		}
	return is_anybody_left;
}

static void *wake_again_and_again(void *unused)
{
	while (wake_all(WOKEN))
		usleep(100000);
	return unused;
}

/* The other side of the transfers. */
static void *carry_again_and_again(void *unused)
{
	bool is_anybody_left = true, is_stalled_left = true;

	for (int round = 1; is_anybody_left || is_stalled_left; round++) {
		is_anybody_left = wake_all(TRANSFER);
		if (round % STALL_ROUNDS == 0 || self_is_stopping())
			is_stalled_left = wake_all(STALLED);
		usleep(500);
	}
	return unused;
}

static int figures(char *into, size_t room)
{
	long slow = 0, cut_short = 0;
	int length = 0;

	for (size_t i = 0; i < CALLS; i++) {
		const struct caller *c = &callers[i];

		slow += c->slow;
		cut_short += c->cut_short;
		if (c->eintr && (size_t)length < room - 80)
			length += snprintf(into + length, room - (size_t)length, " %s=%ld",
					   c->call->name, c->eintr);
	}
	return snprintf(into + length, room - (size_t)length, " slow=%ld short=%ld", slow,
			cut_short);
}

/* System V objects outlive a program that is killed, but for those in a namespace of its own. */
static void take_own_ipc_namespace(void)
{
	if (unshare(CLONE_NEWIPC))
		fprintf(stderr, "no IPC namespace of its own: message queues and semaphores may be "
				"left behind\n");
}

static void remove_ipc_objects(void)
{
	for (size_t i = 0; i < CALLS; i++) {
		if (callers[i].worker && calls[i].make == make_semaphore)
			semctl(callers[i].fd[0], 0, IPC_RMID);
		if (callers[i].worker &&
		    (calls[i].make == make_messages || calls[i].make == make_full_messages))
			msgctl(callers[i].fd[0], IPC_RMID, NULL);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread[CALLS], waker, carrier;

	take_own_ipc_namespace();
	for (size_t i = 0; i < CALLS; i++) {
		callers[i].call = &calls[i];
		if (argc > 1 && strcmp(argv[1], calls[i].name) != 0)
			continue;
		if (!calls[i].make(&callers[i])) {
			fprintf(stderr, "%s cannot be had here: %s\n", calls[i].name,
				strerror(errno));
			continue;
		}
		callers[i].worker = self_worker_new();
	}
	for (size_t i = 0; i < CALLS; i++)
		if (callers[i].worker)
			pthread_create(&thread[i], NULL, wait_again_and_again, &callers[i]);
	pthread_create(&waker, NULL, wake_again_and_again, NULL);
	pthread_create(&carrier, NULL, carry_again_and_again, NULL);
	self.figures = figures;
	self_ready();
	while (self_serve(-1))
		;
	for (size_t i = 0; i < CALLS; i++)
		if (callers[i].worker)
			pthread_join(thread[i], NULL);
	pthread_join(waker, NULL);
	pthread_join(carrier, NULL);
	remove_ipc_objects();
	return self_end();
}
