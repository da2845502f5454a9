/* SPDX-License-Identifier: MIT */
/*
 * remote_test.c - a thread is borrowed again and again from programs that notice damage, and from injectors that die.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/rseq.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fault.h"
#include "victim.h"

enum { PAGES = 4, OPEN_DEADLINE_MS = 3000 };

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* ---- victims -------------------------------------------------------------------------------------------------------------------- */

/* Blocks that know what they are: a heap that was damaged while a thread stood in malloc is noticed at the latest when they are freed. */
static void storm(struct victim_page *page, unsigned seed)
{
	enum { BLOCKS = 64 };
	struct {
		unsigned char *bytes;
		size_t size;
	} block[BLOCKS] = {{0}};

	for (unsigned i = 0;; i++) {
		unsigned at = (seed = seed * 1103515245u + 12345u) >> 16 & (BLOCKS - 1);
		unsigned char tag = (unsigned char)(at * 7 + 1);

		for (size_t k = 0; block[at].bytes && k < block[at].size; k += 16)
			page->damage += block[at].bytes[k] != tag;
		free(block[at].bytes);
		block[at].size = (seed >> 8 & 0xfff) + 1;
		block[at].bytes = malloc(block[at].size);
		memset(block[at].bytes, tag, block[at].size);
		page->progress++;
	}
}

static void storm_alone(struct victim_page *page)
{
	page->ready = 1;
	storm(page, 1);
}

static void *storm_thread(void *page)
{
	storm(page, (unsigned)(uintptr_t)&page);
	return NULL;
}

static void storm_of_four(struct victim_page *page)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, storm_thread, page);
	page->ready = 1;
	storm(page, 2);
}

/* ---- what is done to them --------------------------------------------------------------------------------------------------- */

/* As many system calls as loading takes. */
static int map_and_unmap(struct remote *remote)
{
	int64_t result[PAGES], ignored;
	int error = 0;

	for (int i = 0; i < PAGES && !error; i++) {
		error = remote_syscall(remote, SYS_mmap, (const uint64_t[6]){0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0}, &result[i]);
		if (!error && result[i] < 0)
			return (int)result[i];
	}
	for (int i = 0; i < PAGES && !error; i++) {
		error = remote_syscall(remote, SYS_munmap, (const uint64_t[6]){(uint64_t)result[i], 4096}, &ignored);
		if (!error && ignored < 0)
			return (int)ignored;
	}
	return error;
}

static void borrow_once(const struct victim *victim, uint64_t *out_stopped_ns)
{
	struct remote remote;

	CHECK_EQ(remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets, OPEN_DEADLINE_MS), 0);
	CHECK_EQ(map_and_unmap(&remote), 0);
	CHECK_EQ(remote_close(&remote), 0);
	if (out_stopped_ns)
		*out_stopped_ns = remote.stopped_ns;
}

static int compare_times(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void borrow_often(const struct victim *victim, size_t times, uint64_t limit_us)
{
	uint64_t stopped[1000], start = now_us();
	size_t done = 0;

	while (done < times && done < 1000 && now_us() - start < limit_us)
		borrow_once(victim, &stopped[done++]);
	qsort(stopped, done, sizeof(*stopped), compare_times);
	printf("# %s: %zu times, stopped for %.0f us (median), %.0f us (99 %%)\n", unit_current, done, (double)stopped[done / 2] / 1e3,
	       (double)stopped[done * 99 / 100] / 1e3);
}

UNIT_TEST(storm_of_one_thread_is_unharmed)
{
	struct victim victim;

	victim_start(&victim, storm_alone);
	borrow_often(&victim, 300, 300000);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(storm_of_four_threads_is_unharmed)
{
	struct victim victim;

	victim_start(&victim, storm_of_four);
	borrow_often(&victim, 200, 300000);
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- registers, vector state, red zone ---------------------------------------------------------------------------------------- */

/*
 * uint64_t canary_round(uint64_t rounds): fills all vector registers, the x87 stack, the red zone and the direction flag, and counts the rounds after
 * which one of them is not as it was.
 */
uint64_t canary_round(uint64_t rounds);
__asm__(".text\n"
	".globl canary_round\n"
	".type canary_round, @function\n"
	"canary_round:\n"
	"	movabs $0x1122334455667788, %rax\n"
	"	xor %r8d, %r8d\n"
	"	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movq %rax, %xmm\\n\n"
	"	mov %rax, -8*(\\n+1)(%rsp)\n"
	"	.endr\n"
	"	fldpi\n"
	"	std\n"
	"1:	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movq %xmm\\n, %rcx\n"
	"	cmp %rax, %rcx\n"
	"	jne 2f\n"
	"	cmp %rax, -8*(\\n+1)(%rsp)\n"
	"	jne 2f\n"
	"	.endr\n"
	"	fldpi\n"
	"	fucomip %st(1), %st\n"
	"	jne 2f\n"
	"	lea -8(%rsp), %rsi\n"
	"	mov %rsi, %rdx\n"
	"	mov %rax, %rcx\n"
	"	lodsq\n"
	"	mov %rcx, %rax\n"
	"	cmp %rdx, %rsi\n" /* with the flag set, rsi went down */
	"	jb 3f\n"
	"2:	inc %r8\n"
	"3:	dec %rdi\n"
	"	jnz 1b\n"
	"	cld\n"
	"	fstp %st(0)\n"
	"	mov %r8, %rax\n"
	"	ret\n"
	".size canary_round, . - canary_round\n");

static void canary(struct victim_page *page)
{
	page->ready = 1;
	for (;;) {
		page->damage += canary_round(20000);
		page->progress++;
	}
}

UNIT_TEST(registers_vector_state_and_red_zone_are_kept)
{
	struct victim victim;

	victim_start(&victim, canary);
	borrow_often(&victim, 300, 300000);
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- interrupted system calls -------------------------------------------------------------------------------------------------- */

static struct victim_page *waiter_page;

/* result: of a system call that is to time out, or to end in EAGAIN */
static void waited(long result)
{
	if (result < 0 && errno == EINTR)
		waiter_page->interrupted++;
	waiter_page->damage += result < 0 && errno > 133; /* the kernel's own codes: restart me */
	waiter_page->progress++;
}

enum { WAIT_MS = 20 };
static const struct timespec wait_time = {.tv_nsec = WAIT_MS * 1000000};

static void wait_nanosleep(void)
{
	struct timespec rest;

	waited(nanosleep(&wait_time, &rest));
}

static void wait_poll(void)
{
	waited(poll(NULL, 0, WAIT_MS));
}

static void wait_ppoll_masked(void)
{
	sigset_t mask;

	sigfillset(&mask);
	waited(ppoll(NULL, 0, &wait_time, &mask));
}

static void wait_select(void)
{
	waited(select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = WAIT_MS * 1000}));
}

static void wait_futex(void)
{
	uint32_t word = 0;

	waited(syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, &wait_time));
}

static void wait_read(void)
{
	/* A pipe never times out: the writer is another thread of ours. */
	static int pipe_end[2];
	char byte;

	if (pipe_end[0] == 0 && pipe(pipe_end))
		abort();
	if (fork() == 0) {
		usleep(WAIT_MS * 1000);
		_exit(write(pipe_end[1], "", 1) != 1);
	}
	waited(read(pipe_end[0], &byte, 1));
	while (waitpid(-1, NULL, __WNOTHREAD) < 0 && errno == EINTR)
		waiter_page->interrupted++;
}

static void epoll_once(const sigset_t *mask)
{
	static __thread int epoll = -1;
	struct epoll_event event;

	if (epoll < 0)
		epoll = epoll_create1(0);
	waited(epoll_pwait(epoll, &event, 1, WAIT_MS, mask));
}

static void wait_epoll(void)
{
	epoll_once(NULL);
}

static void wait_epoll_masked(void)
{
	sigset_t mask;

	sigfillset(&mask);
	epoll_once(&mask);
}

static void wait_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	waited(sigtimedwait(&set, NULL, &wait_time));
}

static void wait_recv_timed(void)
{
	static int pair[2];
	char byte;

	if (pair[0] == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_usec = WAIT_MS * 1000}, sizeof(struct timeval));
	waited(recv(pair[0], &byte, 1, 0));
}

static void wait_io_events(void)
{
	static unsigned long context;
	struct timespec time = wait_time;
	uint64_t event[4];

	if (context == 0 && syscall(SYS_io_setup, 1, &context))
		abort();
	waited(syscall(SYS_io_getevents, context, 1, 1, event, &time));
}

static void (*const wait_once[])(void) = {wait_nanosleep, wait_poll,         wait_ppoll_masked, wait_select,     wait_futex,    wait_read,
					  wait_epoll,     wait_epoll_masked, wait_sigtimedwait, wait_recv_timed, wait_io_events};
#define WAITERS (sizeof(wait_once) / sizeof(wait_once[0]))

static void *waiter_thread(void *which)
{
	void (*wait)(void) = wait_once[(uintptr_t)which];

	for (;;)
		wait();
	return NULL;
}

static void waiters(struct victim_page *page)
{
	pthread_t thread;

	waiter_page = page;
	for (uintptr_t i = 0; i < WAITERS; i++)
		pthread_create(&thread, NULL, waiter_thread, (void *)i);
	usleep(50000);
	page->ready = 1;
	for (;;)
		pause();
}

/* The thread of our choice, and not the one that remote_open would take. */
static void borrow_thread(const struct victim *victim, pid_t tid)
{
	struct tracee tracee;
	struct remote remote;

	CHECK_EQ(tracee_stop(&tracee, victim->pid, tid, OPEN_DEADLINE_MS), 0);
	CHECK_EQ(remote_adopt(&remote, &tracee, &victim->memory, &victim->gadgets), 0);
	CHECK_EQ(map_and_unmap(&remote), 0);
	CHECK_EQ(remote_close(&remote), 0);
}

static void borrow_each_thread(const struct victim *victim)
{
	pid_t *tids;
	size_t count;

	CHECK_EQ(proc_tasks(victim->pid, &tids, &count), 0);
	for (size_t i = 0; i < count; i++)
		borrow_thread(victim, tids[i]);
	free(tids);
}

UNIT_TEST(no_waiting_call_is_seen_to_be_interrupted)
{
	struct victim victim;
	uint64_t start = now_us();

	victim_start(&victim, waiters);
	for (int i = 0; i < 20 && now_us() - start < 400000; i++)
		borrow_each_thread(&victim);
	CHECK_EQ(victim.page->interrupted, 0);
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- signals --------------------------------------------------------------------------------------------------------------------------- */

static struct victim_page *signal_page;

static void count_signal(int signal)
{
	(void)signal;
	signal_page->handled++;
}

static void signalled(struct victim_page *page)
{
	static char stack[65536];
	struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)}, now;

	signal_page = page;
	sigaltstack(&alternate, NULL);
	sigaction(SIGRTMIN + 3, &action, NULL);
	page->ready = 1;
	for (;;) {
		page->damage += canary_round(2000);
		page->damage += sigaltstack(NULL, &now) != 0 || now.ss_sp != stack;
		page->progress++;
	}
}

/* As many signals as the queue takes, so that a stop always meets some. Returns their number. */
static uint64_t send_signals(const struct victim *victim, uint64_t for_us)
{
	const uint64_t start = now_us();
	uint64_t sent = 0;

	while (now_us() - start < for_us)
		if (sigqueue(victim->pid, SIGRTMIN + 3, (union sigval){0}) == 0)
			sent++;
		else
			usleep(100);
	return sent;
}

struct sending {
	const struct victim *victim;
	uint64_t sent;
};

static void *send_in_thread(void *argument)
{
	struct sending *sending = argument;

	sending->sent = send_signals(sending->victim, 400000);
	return NULL;
}

static void compare_signal_state(const struct proc_status *before, pid_t pid)
{
	struct proc_status after;

	CHECK_EQ(proc_status_read(pid, pid, &after), 0);
	CHECK_EQ(after.sig_blocked, before->sig_blocked);
	CHECK_EQ(after.sig_ignored, before->sig_ignored);
	CHECK_EQ(after.sig_caught, before->sig_caught);
}

UNIT_TEST(no_signal_is_lost)
{
	struct victim victim;
	struct proc_status before;
	struct sending sending = {.victim = &victim};
	pthread_t sender;

	victim_start(&victim, signalled);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	CHECK_EQ(pthread_create(&sender, NULL, send_in_thread, &sending), 0);
	borrow_often(&victim, 1000, 350000);
	pthread_join(sender, NULL);
	for (int i = 0; i < 2000 && victim.page->handled < sending.sent; i++)
		usleep(1000);
	printf("# %s: %" PRIu64 " sent\n", unit_current, sending.sent);
	CHECK_EQ(victim.page->handled, sending.sent);
	for (int i = 0; i < 100; i++) /* not from within a handler */
		usleep(100);
	compare_signal_state(&before, victim.pid);
	victim_check(&victim);
	victim_end(&victim);
}

static void trap_ignored(struct victim_page *page)
{
	signal(SIGTRAP, SIG_IGN);
	canary(page);
}

static void trap_blocked(struct victim_page *page)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	canary(page);
}

static void check_trap_disposition(void (*work)(struct victim_page *))
{
	struct victim victim;
	struct proc_status before;

	victim_start(&victim, work);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	for (int i = 0; i < 20; i++)
		borrow_once(&victim, NULL);
	compare_signal_state(&before, victim.pid);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(disposition_of_sigtrap_is_kept)
{
	check_trap_disposition(trap_ignored);
	check_trap_disposition(trap_blocked);
}

UNIT_TEST(stopped_target_stays_stopped)
{
	struct victim victim;
	struct proc_status status;
	uint64_t progress;

	victim_start(&victim, canary);
	kill(victim.pid, SIGSTOP);
	usleep(20000);
	progress = victim.page->progress;
	for (int i = 0; i < 20; i++) {
		borrow_once(&victim, NULL);
		usleep(1000);
		CHECK_EQ(proc_status_read(victim.pid, victim.pid, &status), 0);
		CHECK_EQ(status.state, 'T');
	}
	CHECK_EQ(victim.page->progress, progress);
	kill(victim.pid, SIGCONT);
	victim_check(&victim);
	victim_end(&victim);
}

/* A filter that kills at the first mmap: what we make the target do is none of its business. */
static void mmap_forbidden(struct victim_page *page)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		abort();
	canary(page);
}

UNIT_TEST(seccomp_filter_is_suspended_or_respected)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, mmap_forbidden);
	for (int i = 0; i < 10; i++) {
		int error = remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, OPEN_DEADLINE_MS);
		CHECK(error == 0 || error == -EACCES);
		if (!error)
			CHECK_EQ(map_and_unmap(&remote), 0);
		CHECK_EQ(remote_close(&remote), 0);
	}
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- a thread that cannot be had ------------------------------------------------------------------------------------------------ */

static void vfork_parent(struct victim_page *page)
{
	page->ready = 1;
	if (vfork() == 0) {
		usleep(400000);
		_exit(0);
	}
	canary(page);
}

UNIT_TEST(vfork_parent_is_left_alone_until_its_child_is_done)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, vfork_parent);
	usleep(20000);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, 50), -EAGAIN);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, 2000), 0);
	CHECK_EQ(remote_close(&remote), 0);
	victim_check(&victim);
	victim_end(&victim);
}

/* A handler that never returns: what lies below its frames belongs to nobody we know. */
static void spin_in_handler(int signal)
{
	(void)signal;
	canary(signal_page);
}

static void on_signal_stack(struct victim_page *page)
{
	static char stack[65536];
	struct sigaction action = {.sa_handler = spin_in_handler, .sa_flags = SA_ONSTACK};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};

	signal_page = page;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

UNIT_TEST(thread_on_a_stack_not_its_own_is_not_borrowed)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, on_signal_stack);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, 50), -EAGAIN);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(target_that_is_gone_is_said_to_be)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, canary);
	kill(victim.pid, SIGKILL);
	waitpid(victim.pid, NULL, 0);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, 200), -ESRCH);
	victim_forget(&victim);
}

/* ---- restartable sequences ------------------------------------------------------------------------------------------------------------ */

/* void rseq_forever(struct rseq *rseq, uint64_t *aborts): a critical section that never ends, except by its abort; that counts, and begins anew. */
void rseq_forever(struct rseq *rseq, _Atomic uint64_t *aborts);
__asm__(".data\n"
	".balign 32\n"
	"rseq_section:	.long 0, 0\n"
	"	.quad rseq_begin, rseq_commit - rseq_begin, rseq_abort\n"
	".text\n"
	".globl rseq_forever\n"
	".type rseq_forever, @function\n"
	"rseq_forever:\n"
	"	lea rseq_section(%rip), %rax\n"
	"	mov %rax, 8(%rdi)\n"
	"rseq_begin:\n"
	"	pause\n"
	"	jmp rseq_begin\n"
	"rseq_commit:\n"
	"	ud2\n"
	"	.long 0x53053053\n" /* RSEQ_SIG of glibc, without which the kernel kills us */
	"rseq_abort:\n"
	"	incq (%rsi)\n"
	"	jmp rseq_forever\n"
	".size rseq_forever, . - rseq_forever\n");

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static void in_rseq(struct victim_page *page)
{
	page->ready = 1;
	rseq_forever((struct rseq *)((uintptr_t)__builtin_thread_pointer() + (uintptr_t)__rseq_offset), &page->progress);
}

UNIT_TEST(restartable_sequence_is_aborted_not_resumed)
{
	struct victim victim;

	if (!&__rseq_size || !__rseq_size)
		SKIP("this libc registers no rseq");
	victim_start(&victim, in_rseq);
	for (int i = 0; i < 30; i++) {
		uint64_t before = victim.page->progress;

		borrow_once(&victim, NULL);
		for (int k = 0; k < 1000 && victim.page->progress == before; k++)
			usleep(100);
		CHECK(victim.page->progress > before);
	}
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- calls --------------------------------------------------------------------------------------------------------------------------------- */

/* Run by the victim; forked from us, it has them at the same addresses. */
static uint64_t clobber_and_add(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const bool is_backward = __builtin_ia32_readeflags_u64() & 0x400; /* no function expects that */

	sched_yield();
	__asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm15, %%xmm15; fninit" ::: "xmm0", "xmm15", "memory");
	return getpid() > 0 && !is_backward ? a + 10 * b + 100 * c + 1000 * d : 0;
}

static uint64_t sleep_long(void)
{
	usleep(200000);
	return 0;
}

static remote_addr map_stack(struct remote *remote)
{
	enum { STACK_BYTES = 256 * 1024 };
	const uint64_t argument[6] = {0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0};
	int64_t stack;

	CHECK_EQ(remote_syscall(remote, SYS_mmap, argument, &stack), 0);
	CHECK(stack > 0);
	return (remote_addr)stack + STACK_BYTES;
}

UNIT_TEST(function_is_called_and_returns)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, canary);
	for (int i = 0; i < 20; i++) {
		const uint64_t argument[4] = {1, 2, 3, 4};
		uint64_t result = 0;

		CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, OPEN_DEADLINE_MS), 0);
		remote_addr top = map_stack(&remote);
		CHECK_EQ(remote_call(&remote, (uintptr_t)clobber_and_add, argument, top, 1000, &result), 0);
		CHECK_EQ(result, 4321);
		CHECK_EQ(remote_call(&remote, (uintptr_t)clobber_and_add, argument, top, 1000, NULL), 0);
		CHECK_EQ(map_and_unmap(&remote), 0);
		CHECK_EQ(remote_close(&remote), 0);
	}
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(call_that_takes_too_long_ends_by_itself)
{
	struct victim victim;
	struct remote remote;
	struct proc_status before;
	uint64_t result;

	victim_start(&victim, canary);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, OPEN_DEADLINE_MS), 0);
	remote_addr top = map_stack(&remote);
	uint64_t progress = victim.page->progress;
	CHECK_EQ(remote_call(&remote, (uintptr_t)sleep_long, (const uint64_t[4]){0}, top, 20, &result), -ETIMEDOUT);
	CHECK_EQ(remote_close(&remote), 0);
	usleep(20000);
	CHECK_EQ(victim.page->progress, progress);
	victim_check(&victim);
	compare_signal_state(&before, victim.pid);
	victim_end(&victim);
}

/* ---- death and faults ------------------------------------------------------------------------------------------------------------------------ */

/* An injector that works until it is killed. */
static pid_t start_injector(const struct victim *victim)
{
	pid_t injector = fork();

	if (injector != 0)
		return injector;
	for (;;) {
		struct remote remote;
		uint64_t result;

		if (remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets, OPEN_DEADLINE_MS))
			_exit(1);
		remote_addr top = map_stack(&remote);
		(void)!map_and_unmap(&remote);
		(void)!remote_call(&remote, (uintptr_t)clobber_and_add, (const uint64_t[4]){1ull << 40, 0, 0, 0}, top, 1000, &result);
		(void)!remote_syscall(&remote, SYS_munmap, (const uint64_t[6]){top - 256 * 1024, 256 * 1024}, (int64_t *)&result);
		remote_close(&remote);
	}
}

static void kill_injectors(void (*work)(struct victim_page *), int times)
{
	struct victim victim;
	struct proc_status before, after = {0};
	uint64_t start = now_us();
	int done = 0;

	victim_start(&victim, work);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	srandom((unsigned)getpid());
	for (; done < times && now_us() - start < 400000; done++) {
		pid_t injector = start_injector(&victim);

		victim_pause_us(500 + random() % 3000);
		kill(injector, SIGKILL);
		waitpid(injector, NULL, 0);
		victim_check(&victim);
	}
	for (int i = 0; i < 1000 && (i == 0 || after.sig_blocked != before.sig_blocked); i++) {
		usleep(100);
		CHECK_EQ(proc_status_read(victim.pid, victim.pid, &after), 0);
	}
	CHECK_EQ(after.sig_blocked, before.sig_blocked);
	printf("# %s: %d injectors killed\n", unit_current, done);
	victim_end(&victim);
}

UNIT_TEST(storm_survives_the_death_of_injectors)
{
	kill_injectors(storm_alone, 300);
}

UNIT_TEST(canaries_survive_the_death_of_injectors)
{
	kill_injectors(canary, 300);
}

UNIT_TEST(waiting_threads_survive_the_death_of_injectors)
{
	kill_injectors(waiters, 300);
}

UNIT_TEST(storm_of_four_survives_the_death_of_injectors)
{
	kill_injectors(storm_of_four, 100);
}

#ifdef HI_FAULTS

/* What a loader does, with its undo. */
static int session(const struct victim *victim)
{
	struct remote remote;
	int64_t page = -1, ignored;
	int closed, error = remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets, OPEN_DEADLINE_MS);

	if (error)
		return error;
	error = remote_syscall(&remote, SYS_mmap, (const uint64_t[6]){1 << 30, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0}, &page);
	if (!error)
		error = remote_syscall(&remote, SYS_getpid, (const uint64_t[6]){0}, &ignored);
	int undone = remote_syscall(&remote, SYS_munmap, (const uint64_t[6]){1 << 30, 4096}, &ignored);
	if (undone)
		undone = remote_syscall(&remote, SYS_munmap, (const uint64_t[6]){1 << 30, 4096}, &ignored);
	closed = remote_close(&remote);
	return error ? error : undone ? undone : closed;
}

/* A call, in a session of its own. The stack stays: after a failure the function may still run on it. */
static int calling_session(const struct victim *victim)
{
	struct remote remote;
	uint64_t result = 0;
	int64_t stack = -1;
	const uint64_t map[6] = {2u << 30, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1, 0};
	int closed, error = remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets, OPEN_DEADLINE_MS);

	if (error)
		return error;
	error = remote_syscall(&remote, SYS_mmap, map, &stack);
	if (!error)
		error = remote_call(&remote, (uintptr_t)clobber_and_add, (const uint64_t[4]){1, 2, 3, 4}, map[0] + map[1], 1000, &result);
	if (!error && result != 4321)
		error = -EPROTO;
	closed = remote_close(&remote);
	return error ? error : closed;
}

static void fail_each_operation(int (*run)(const struct victim *), void (*work)(struct victim_page *))
{
	struct victim victim;
	struct proc_status before;
	struct maps maps;
	unsigned long operations, failed = 0;

	victim_start(&victim, work);
	fault_reset();
	CHECK_EQ(run(&victim), 0);
	operations = fault_count();
	CHECK(operations > 20);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	for (unsigned long n = 1; n <= operations; n++) {
		char number[24];

		snprintf(number, sizeof(number), "%lu", n);
		setenv("HEAPINJECT_FAULT", number, 1);
		fault_reset();
		failed += run(&victim) != 0;
		unsetenv("HEAPINJECT_FAULT");
		victim_check(&victim);
		compare_signal_state(&before, victim.pid);
		CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
		CHECK_EQ(before.tracer, 0);
		CHECK_EQ(maps_read(victim.pid, victim.pid, &maps), 0);
		CHECK(!maps_find(&maps, 1 << 30));
		maps_close(&maps);
	}
	printf("# %s: %lu operations, %lu sessions failed\n", unit_current, operations, failed);
	CHECK(failed > operations / 2);
	victim_end(&victim);
}

UNIT_TEST(every_failing_operation_is_undone)
{
	fail_each_operation(session, canary);
	fail_each_operation(session, signalled);
	fail_each_operation(calling_session, canary);
}

static void die_at_each_operation(int (*run)(const struct victim *))
{
	struct victim victim;
	struct proc_status before;

	victim_start(&victim, signalled);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	for (unsigned n = 1; n <= 30; n++) {
		pid_t injector = fork();

		if (injector == 0) {
			char number[24];

			snprintf(number, sizeof(number), "%u", n);
			setenv("HEAPINJECT_KILL", number, 1);
			fault_reset();
			_exit(run(&victim) != 0);
		}
		waitpid(injector, NULL, 0);
		victim_check(&victim);
		victim_check(&victim);
		compare_signal_state(&before, victim.pid);
	}
	victim_end(&victim);
}

UNIT_TEST(death_at_each_operation_is_survived)
{
	die_at_each_operation(session);
	die_at_each_operation(calling_session);
}

#else

UNIT_TEST(every_failing_operation_is_undone)
{
	SKIP("needs a build with FAULTS=1");
}

#endif

UNIT_MAIN()
