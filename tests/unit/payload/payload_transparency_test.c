/* SPDX-License-Identifier: MIT */
/*
 * payload_transparency_test.c - the payload as a guest: it passes on what it was given, leaves no
 * frame where none may be, and gives way when it nests, when the process forks, when the injector
 * is silent, and when something is full.
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unwind.h>

#include "hooked_call.h"
#include "payload_guest.h"
#include "stepping.h"

static size_t seen_argument[6];

/* ---- jumps that must leave no frame ---------------------------------------------------------- */

static uint64_t seen_return_address;
#define NOTE_CALLER() (seen_return_address = (uintptr_t)__builtin_return_address(0))

/*
 * The return address lies in this small function of ours, not in the payload: the original was
 * jumped to.
 */
static bool is_called_by(const void *function)
{
	return seen_return_address > (uintptr_t)function &&
	       seen_return_address < (uintptr_t)function + 256;
}
#define NO_TAIL_CALL() __asm__ volatile("")

static void fake_sdallocx(void *block, size_t b, size_t c, size_t d, size_t e, size_t f)
{
	NOTE_CALLER();
	seen_argument[0] = (uintptr_t)block;
	seen_argument[1] = b;
	seen_argument[2] = c;
	seen_argument[3] = d;
	seen_argument[4] = e;
	seen_argument[5] = f;
}

typedef void free6_fn(void *, size_t, size_t, size_t, size_t, size_t);

__attribute__((noinline)) static void call_release(free6_fn *release, void *block)
{
	release(block, 2, 3, 4, 5, 6);
	NO_TAIL_CALL();
}

/*
 * Arguments that the hooked function does not even have: the hook must not touch what it does not
 * know. (The gate may use the fourth.)
 */
UNIT_TEST(a_recorded_free_goes_on_in_the_original)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_SDALLOCX, hi_gate_always,
						 hi_hook_sdallocx, fake_sdallocx);
	free6_fn *release = (free6_fn *)arena_entry(words);
	void *block = guest.malloc(64);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	call_release(release, block);
	expect_free(&guest, HI_RECORD_FREE, block);
	CHECK_EQ(seen_argument[0], (uintptr_t)block);
	for (size_t i = 1; i < 6; i++)
		CHECK_EQ(seen_argument[i], i + 1);
	CHECK(is_called_by(call_release));
	arena_check_quiet(&guest.arena);
	free(block);
}

static void *nothrow_result;
static void *(*new_handler)(size_t, size_t, const void *);
static unsigned throwing_calls;

static void *fake_nothrow(size_t size, size_t second, const void *third)
{
	seen_argument[0] = size;
	seen_argument[1] = second;
	seen_argument[2] = (uintptr_t)third;
	return nothrow_result;
}

static void *fake_throwing(size_t size, size_t alignment)
{
	NOTE_CALLER();
	seen_argument[0] = size;
	seen_argument[1] = alignment;
	throwing_calls++;
	return NULL;
}

__attribute__((noinline)) static void *call_new(calloc_fn *new_aligned, size_t size,
						size_t alignment)
{
	void *block = new_aligned(size, alignment);

	NO_TAIL_CALL();
	return block;
}

UNIT_TEST(throwing_new_never_meets_our_frame)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_NEW_ALIGNED, hi_gate_alloc,
						 hi_hook_new_aligned, fake_throwing);
	calloc_fn *new_aligned = (calloc_fn *)arena_entry(words);
	char block[1];

	words->nothrow = (uintptr_t)fake_nothrow;
	nothrow_result = block;
	CHECK(call_new(new_aligned, 48, 16) == block);
	CHECK_EQ(throwing_calls, 0);
	CHECK_EQ(seen_argument[0], 48);
	CHECK_EQ(seen_argument[1], 16);
	CHECK(seen_argument[2] != 0);
	expect_alloc(&guest, block, 48, HI_FN_NEW_ALIGNED);

	nothrow_result = NULL;
	CHECK(!call_new(new_aligned, 49, 17));
	CHECK_EQ(throwing_calls, 1);
	CHECK_EQ(seen_argument[0], 49);
	CHECK_EQ(seen_argument[1], 17);
	CHECK(is_called_by(call_new));
	expect_nothing(&guest);

	/* one that the nothrow variant would ask: not sampled */
	words->new_handler = (uintptr_t)&new_handler;
	new_handler = fake_nothrow;
	nothrow_result = block;
	CHECK(!call_new(new_aligned, 50, 18));
	CHECK_EQ(throwing_calls, 2);
	new_handler = NULL;
	CHECK(call_new(new_aligned, 51, 32) == block);
	expect_alloc(&guest, block, 51, HI_FN_NEW_ALIGNED);
	throwing_calls = 1;

	words->nothrow = 0; /* no such variant: not sampled */
	nothrow_result = block;
	CHECK(!call_new(new_aligned, 50, 18));
	CHECK_EQ(throwing_calls, 2);
	expect_nothing(&guest);
	CHECK_EQ(own_slot(&guest)->in_flight, 0);
}

/* ---- stacks that are taken in an original ---------------------------------------------------- */

static struct taken {
	const void *wanted;
	unsigned frames, gadgets;
	bool is_found;
} taken;

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument)
{
	(void)argument;
	taken.frames++;
	taken.gadgets += _Unwind_GetIP(context) == (uintptr_t)gadget_of_a_test;
	taken.is_found |= _Unwind_GetRegionStart(context) == (uintptr_t)taken.wanted;
	return _URC_NO_REASON;
}

static void *calloc_that_takes_the_stack(size_t count, size_t size)
{
	_Unwind_Backtrace(take_frame, NULL);
	return calloc(count, size);
}

/* What the compiler keeps in registers across the call is there afterwards. */
__attribute__((noinline)) static uint64_t
call_with_registers_in_use(calloc_fn *function, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	void *block = function(3, 5);

	free(block);
	return a + 2 * b + 3 * c + 4 * d + (block ? 0 : 1);
}

UNIT_TEST(a_stack_taken_in_an_original_leads_to_its_caller)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_CALLOC, hi_gate_size2,
						 hi_hook_calloc, calloc_that_takes_the_stack);
	calloc_fn *function = (calloc_fn *)arena_entry(words);

	taken = (struct taken){.wanted = (const void *)(uintptr_t)call_with_registers_in_use};
	words->return_gadget = (uintptr_t)gadget_of_a_test;
	words->return_register = 2;
	CHECK_EQ(call_with_registers_in_use(function, 1, 10, 100, 1000), 4321);
	CHECK(taken.is_found);
	/* by its rows, and not by those that the payload has in this program */
	CHECK_EQ(taken.gadgets, 1);
	arena_drain(&guest.arena);
	CHECK_EQ(arena_allocs(&guest.arena), 1);
	CHECK_EQ(own_slot(&guest)->in_flight, 0);
}

/* In the stead of new: nobody is asked there. The alignment is memalign's first argument. */
UNIT_TEST(malloc_and_memalign_stand_for_throwing_new)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *aligned = arena_gate(&guest.arena, HI_FN_NEW_ALIGNED, hi_gate_alloc,
						   hi_hook_new_aligned, fake_throwing);
	struct hi_gate_words *plain =
		arena_gate(&guest.arena, HI_FN_NEW, hi_gate_alloc, hi_hook_new, fake_throwing);
	char block[1];

	throwing_calls = 0;
	nothrow_result = block;
	new_handler = fake_nothrow;
	plain->plain = aligned->plain = (uintptr_t)fake_nothrow;
	plain->new_handler = aligned->new_handler = (uintptr_t)&new_handler;
	CHECK(call_new((calloc_fn *)arena_entry(aligned), 48, 16) == block);
	CHECK_EQ(seen_argument[0], 16);
	CHECK_EQ(seen_argument[1], 48);
	expect_alloc(&guest, block, 48, HI_FN_NEW_ALIGNED);
	CHECK(call_new((calloc_fn *)arena_entry(plain), 49, 0) == block);
	CHECK_EQ(seen_argument[0], 49);
	CHECK_EQ(throwing_calls, 0);
	new_handler = NULL;
}

UNIT_TEST(to_an_original_that_we_call_the_stack_ends_there)
{
	if (!STACK_ENDS_IN_ORIGINALS)
		SKIP("on this CPU frame records lead from the original to the caller");
	struct guest guest = guest_open(1);
	malloc_fn *entry =
		(malloc_fn *)arena_entry(arena_gate(&guest.arena, HI_FN_MALLOC, hi_gate_alloc,
						    hi_hook_malloc, malloc_at_frame_pointer));
	const void *const behind_zero = (const void *)64;

	CHECK(entry(48) == behind_zero);
	expect_alloc(&guest, behind_zero, 48, HI_FN_MALLOC);
	expect_nothing(&guest);
}

UNIT_TEST(an_original_that_we_call_has_its_stack_aligned)
{
	struct guest guest = guest_open(1);
	malloc_fn *entry =
		(malloc_fn *)arena_entry(arena_gate(&guest.arena, HI_FN_MALLOC, hi_gate_alloc,
						    hi_hook_malloc, malloc_at_stack_pointer));

	for (int i = 0; i < 3; i++)
		CHECK_EQ((uintptr_t)entry(48) % 16, 0);
}

/* ---- nesting, threads, fork, the injector's silence ------------------------------------------ */

static struct guest *nesting_guest;

static void *nesting_calloc(size_t count, size_t size)
{
	void *scratch = nesting_guest->malloc(8), *block = nesting_guest->malloc(count * size);

	nesting_guest->free(scratch);
	return memset(block, 0, count * size);
}

UNIT_TEST(nested_calls_are_sampled_once)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_CALLOC, hi_gate_size2,
						 hi_hook_calloc, nesting_calloc);
	calloc_fn *nested = (calloc_fn *)arena_entry(words);
	void *block;

	nesting_guest = &guest;
	block = nested(5, 5);
	expect_alloc(&guest, block, 25, HI_FN_CALLOC);
	expect_nothing(&guest);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

enum { THREADS = 4, ROUNDS = 3000 };

static void *churn(void *argument)
{
	const struct guest *guest = argument;

	for (size_t i = 0; i < ROUNDS; i++) {
		void *block = guest->malloc(i % 500), *other = guest->calloc(i % 7, 3);

		block = guest->realloc(block, i % 600 + 1);
		guest->free(block);
		guest->free(other);
	}
	return NULL;
}

UNIT_TEST(threads_are_counted_exactly_at_interval_one)
{
	struct guest guest = guest_open(1);
	struct hi_counters *counters = &guest.arena.control->counters;
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, churn, &guest), 0);
	for (int joined = 0; joined < THREADS;) {
		arena_drain(&guest.arena);
		if (pthread_tryjoin_np(thread[joined], NULL) == 0)
			joined++;
	}
	arena_drain(&guest.arena);
	/* What the ring could not take is counted, too: nothing gets lost without a trace. */
	CHECK_EQ(counters->no_thread_slot + counters->live_set_full + counters->commit_lost, 0);
	CHECK_EQ(arena_allocs(&guest.arena) + counters->dropped_allocs, THREADS * ROUNDS * 3);
	CHECK_EQ(guest.arena.record_count[HI_RECORD_FREE] + counters->dropped_frees,
		 arena_allocs(&guest.arena));
	arena_check_quiet(&guest.arena);
}

UNIT_TEST(a_forked_child_passes_through)
{
	struct guest guest = guest_open(1);
	void *block = guest.malloc(10);
	int status = -1;

	if (fork() == 0) {
		void *own = guest.malloc(20);

		own = guest.realloc(own, 30);
		guest.free(own);
		guest.free(block);
		guest.free(guest.calloc(2, 3));
		_exit(own && guest.arena.state->armed == 0 ? 7 : 1);
	}
	wait(&status);
	CHECK_EQ(WEXITSTATUS(status), 7);
	guest.free(block);
	arena_drain(&guest.arena);
	CHECK_EQ(arena_allocs(&guest.arena), 1);
	CHECK_EQ(guest.arena.record_count[HI_RECORD_FREE], 1);
}

/*
 * A signal handler may fork anywhere in a hook, and its child goes on there. So: single steps
 * through calls, and a child at every STRIDEth of those in the payload (which is a part of this
 * program), another one in each round. It must get through the rest, and tell nothing.
 */
extern const char __executable_start, etext;
#define STRIDE 11
static volatile bool is_stepped_child;
static volatile unsigned steps, children;

static void fork_at_step(int signal, siginfo_t *info, void *context)
{
	const uintptr_t pc = stepping_pc(context);
	pid_t pid;
	int status = -1;

	(void)signal, (void)info;
	if (pc < (uintptr_t)&__executable_start || pc >= (uintptr_t)&etext || ++steps % STRIDE)
		return;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); /* as fork */
	if (pid == 0) {
		is_stepped_child = true;
		stepping_end(context);
		return;
	}
	children++;
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		UNIT_FAIL("the child forked at step %u ended with wait status 0x%x", steps,
			  (unsigned)status);
}

static void *step_through(const struct guest *guest, void *block, size_t size)
{
	set_stepping(true);
	if (!block)
		block = guest->malloc(size);
	else if (size)
		block = guest->realloc(block, size);
	else
		guest->free(block);
	set_stepping(false);
	if (is_stepped_child)
		_exit(guest->arena.state->armed ? 1 : 7);
	return block;
}

/*
 * Forked between the last look and the reservation itself a child reserves in vain: zeros, which
 * the reader gives up after a while.
 */
static void skip_hole(struct guest *guest)
{
	struct hi_ring *ring = guest->arena.ring;

	while (ring->tail < ring->head &&
	       !*(const uint64_t *)(const void *)(ring->data + ring->tail % ring->capacity))
		ring->tail += HI_RING_UNIT;
}

UNIT_SLOW_TEST(a_child_forked_anywhere_in_a_hook_gets_through_and_tells_nothing)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("thousands of forks with the sanitizer's memory take minutes");
#endif
	if (!CAN_STEP_ITSELF)
		SKIP("on this CPU no program can step through itself");
	struct guest guest = guest_open(1);
	const struct sigaction action = {.sa_sigaction = fork_at_step,
					 .sa_flags = SA_SIGINFO | SA_NODEFER};
	void *block, *grown;

	CHECK_EQ(sigaction(SIGTRAP, &action, NULL), 0);
	for (unsigned round = 0; round < STRIDE; round++) {
		steps = round;
		block = step_through(&guest, NULL, 100);
		skip_hole(&guest);
		expect_alloc(&guest, block, 100, HI_FN_MALLOC);
		grown = step_through(&guest, block, 5000);
		skip_hole(&guest);
		expect_free(&guest, HI_RECORD_FREE, block);
		skip_hole(&guest);
		expect_alloc(&guest, grown, 5000, HI_FN_REALLOC);
		step_through(&guest, grown, 0);
		skip_hole(&guest);
		expect_free(&guest, HI_RECORD_FREE, grown);
		expect_nothing(&guest);
	}
	CHECK_EQ(guest.arena.control->counters.commit_lost, 0);
	arena_check_quiet(&guest.arena);
	printf("# %u children\n", children);
	CHECK(children > 300);
}

UNIT_TEST(a_silent_injector_disarms_the_payload)
{
	struct guest guest = guest_open(1);
	struct hi_control *control = guest.arena.control;
	uint64_t allocs;

	control->deadman_cycles = 1ull << 40;
	control->heartbeat = arch_cycles() + 100000; /* another CPU's counter: slightly ahead */
	guest.free(guest.malloc(1));
	CHECK_EQ(guest.arena.state->armed, 1);
	control->heartbeat = arch_cycles() - (2ull << 40);
	/* A thread that is alone looks at the clock now and then. */
	for (unsigned i = 0; i < 1000 && guest.arena.state->armed; i++) {
		guest.free(guest.malloc(1));
		arena_drain(&guest.arena);
	}
	allocs = arena_allocs(&guest.arena);
	CHECK_EQ(guest.arena.state->armed, 0);
	CHECK_EQ(control->counters.deadman, 1);
	CHECK(guest.malloc_words->hook == guest.malloc_words->original ||
	      guest.free_words->hook == guest.free_words->original);
	guest.free(guest.malloc(1));
	guest.free(guest.realloc(NULL, 1));
	arena_drain(&guest.arena);
	CHECK_EQ(arena_allocs(&guest.arena), allocs);
	CHECK_EQ(control->counters.deadman, 1);
}

UNIT_TEST(a_full_ring_drops_and_forgets)
{
	enum { BLOCKS = 2000 }; /* more than the ring has room for */
	struct guest guest = guest_open(1);
	struct hi_counters *counters = &guest.arena.control->counters;
	void *block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		block[i] = guest.malloc(10);
	CHECK(counters->dropped_allocs > 0);
	const uint64_t head = guest.arena.ring->head;
	guest.free(block[0]); /* room was kept for that */
	CHECK_EQ(guest.arena.ring->head, head + HI_RING_UNIT);
	guest.free(block[BLOCKS - 1]); /* not recorded as allocated, so not as freed */
	CHECK_EQ(guest.arena.ring->head, head + HI_RING_UNIT);
	for (int i = 1; i < BLOCKS - 1; i++)
		guest.free(block[i]);
	arena_drain(&guest.arena);
	CHECK_EQ(arena_allocs(&guest.arena) + counters->dropped_allocs, BLOCKS);
	CHECK_EQ(guest.arena.record_count[HI_RECORD_FREE] + counters->dropped_frees,
		 arena_allocs(&guest.arena));
	arena_check_quiet(&guest.arena);
}

static struct hi_thread_slot *observed_slot;
static uint32_t observed_in_flight;

static void *observing_malloc(size_t size)
{
	observed_in_flight = observed_slot->in_flight;
	return malloc(size);
}

/*
 * The home slot is another's, and perhaps those beside it: the gate finds us in whichever is ours.
 */
static void check_is_fast_behind(unsigned others)
{
	struct guest guest = guest_open(1 << 20);
	struct hi_thread_slot *home = own_slot(&guest),
			      *slot = &guest.arena.slots[(home - guest.arena.slots) ^ others];
	uint64_t never = arch_cycles() + (1ull << 50);

	for (unsigned i = 0; i < others; i++)
		guest.arena.slots[(home - guest.arena.slots) ^ i] = (struct hi_thread_slot){
			.owner = 1, .fast_owner = 1, .last_seen = never, .countdown = 5};
	guest.free(guest.malloc(1));
	arena_drain(&guest.arena);
	CHECK_EQ(slot->fast_owner, arch_thread_pointer());
	slot->countdown = 1000;
	slot->last_seen = never; /* a hook scope to the hook would change it */
	guest.free(guest.malloc(600));
	CHECK_EQ(slot->countdown, 400);
	CHECK_EQ(slot->last_seen, never);
	for (unsigned i = 0; i < others; i++)
		CHECK_EQ(guest.arena.slots[(home - guest.arena.slots) ^ i].countdown, 5);
	observed_slot = slot;
	guest.malloc_words->original = (uintptr_t)observing_malloc;
	guest.free(guest.malloc(600));
	CHECK_EQ(observed_in_flight, 1);
	CHECK_EQ(home->in_flight, 0);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

UNIT_TEST(four_threads_of_a_hash_are_fast)
{
	for (unsigned others = 0; others < HI_THREAD_WAYS; others++)
		check_is_fast_behind(others);
}

/*
 * A coroutine's stack: no region holds it. It is told, at most now and then, and the sample still
 * counts.
 */
/* Once every 5 ms: a thread that got no CPU for that long reports it again. */
UNIT_TEST(an_unknown_stack_is_reported_seldom)
{
	struct guest guest = guest_open(1);
	const uint64_t *regions = &guest.arena.record_count[HI_RECORD_REGION], pause_min = 14000000,
		       start = arch_cycles();
	void *block[3];

	guest.arena.control->regions[0].count = 0;
	for (int i = 0; i < 3; i++)
		block[i] = guest.malloc(10);
	const uint64_t pauses = (arch_cycles() - start) / pause_min;
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_REGION)->header.thread,
		 arch_thread_pointer());
	for (int i = 0; i < 3;) {
		const struct hi_record_alloc *record = arena_next(&guest.arena);

		if (record->header.type_busy == HI_RECORD_REGION)
			continue;
		CHECK_EQ(record->header.type_busy, HI_RECORD_ALLOC);
		CHECK_EQ(record->address, (uintptr_t)block[i]);
		CHECK_EQ(record->stack_end, HI_END_REGION);
		CHECK_EQ(record->frame_count, 1);
		guest.free(block[i]);
		i++;
	}
	CHECK_EQ(guest.arena.control->counters.stacks_truncated, 3);
	CHECK(*regions <= 1 + pauses);
}

/* ---- small stacks ---------------------------------------------------------------------------- */

#ifdef __SSP_STRONG__
#define STACK_USE_MAX                                                               \
	(HOOK_STACK_MAX + 32) /* with stack guards, which the payload has only here \
			       */
#else
#define STACK_USE_MAX HOOK_STACK_MAX
#endif
#define PAINT 0xa5
static _Alignas(64) uint8_t painted[16384];
static uint8_t some_block[64];

static void *leaf_malloc(size_t size)
{
	(void)size;
	return some_block;
}

static void leaf_free(void *block)
{
	(void)block;
}

static void *leaf_realloc(void *block, size_t size)
{
	(void)block, (void)size;
	return some_block + 32;
}

/*
 * Calls function(a, b) at the top of the painted stack, return address included; how many bytes of
 * it were touched.
 */
static size_t stack_used(void *function, uint64_t a, uint64_t b)
{
	uint8_t *top = painted + sizeof(painted);
	size_t untouched = 0;

	memset(painted, PAINT, sizeof(painted));
	call_on_stack(function, a, b, top);
	while (untouched < sizeof(painted) && painted[untouched] == PAINT)
		untouched++;
	return sizeof(painted) - untouched;
}

/* A hook of such a function holds more: what the user has said of it, and all of its arguments. */
#define NAMED_STACK_USE_MAX (STACK_USE_MAX + 96)

UNIT_TEST(little_stack_is_used_for_a_named_function)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's own frames are larger");
#endif
	struct arena arena = arena_open(1, 10, 1 << 16);
	struct hi_gate_words *words = arena_gate(&arena, HI_FN_NAMED_ALLOC_0, hi_gate_always,
						 hi_hook_named_alloc_0, leaf_malloc);
	size_t used;

	words->named = (struct hi_named_arguments){.size = 1, .pool = 2};
	words->return_gadget = (uintptr_t)gadget_of_a_test;
	words->return_register = 2;
	used = stack_used(arena_entry(words), 100, 0x1000);
	printf("# named %zu bytes of stack\n", used);
	CHECK(used <= NAMED_STACK_USE_MAX);
	arena_drain(&arena);
	CHECK_EQ(arena_allocs(&arena), 1);
}

UNIT_TEST(little_stack_is_used)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's own frames are larger");
#endif
	struct arena arena = arena_open(1, 10, 1 << 16);
	void *malloc_entry = arena_entry(
		arena_gate(&arena, HI_FN_MALLOC, hi_gate_alloc, hi_hook_malloc, leaf_malloc));
	void *free_entry =
		arena_entry(arena_gate(&arena, HI_FN_FREE, hi_gate_free, hi_hook_free, leaf_free));
	void *realloc_entry = arena_entry(
		arena_gate(&arena, HI_FN_REALLOC, hi_gate_realloc, hi_hook_realloc, leaf_realloc));
	size_t used[] = {
		stack_used(malloc_entry, 100, 0),
		stack_used(realloc_entry, (uintptr_t)some_block, 200),
		stack_used(free_entry, (uintptr_t)(some_block + 32), 0),
	};

	arena_drain(&arena);
	CHECK_EQ(arena_allocs(&arena), 2);
	CHECK_EQ(arena.record_count[HI_RECORD_FREE], 2);
	printf("# malloc %zu, realloc %zu, free %zu bytes of stack\n", used[0], used[1], used[2]);
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		CHECK(used[i] <= STACK_USE_MAX);
	/* On a stack that nobody knows a record of that goes out as well. */
	arena.control->regions[0].count = 0;
	arena.control->regions[0].generation += 2;
	used[0] = stack_used(malloc_entry, 100, 0);
	printf("# malloc %zu on an unknown stack\n", used[0]);
	CHECK(used[0] <= STACK_USE_MAX);
	arena_drain(&arena);
	CHECK_EQ(arena.record_count[HI_RECORD_REGION], 1);
}

/* The first time a stack is told, the second time it is learned, and then it is known. */
UNIT_TEST(little_stack_is_used_to_learn_one)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's own frames are larger");
#endif
	struct arena arena = arena_open(1, 10, 1 << 16);
	struct hi_unwind_directory *directory = &arena.control->directory[0];
	const uint64_t lo = (uintptr_t)stack_used / HI_PAGE_BYTES * HI_PAGE_BYTES;
	void *realloc_entry = arena_entry(
		arena_gate(&arena, HI_FN_REALLOC, hi_gate_realloc, hi_hook_realloc, leaf_realloc));

	*(struct hi_unwind_row *)(void *)(arena.tables + 64) =
		(struct hi_unwind_row){.kind = HI_UNWIND_END};
	directory->module[0] = (struct hi_unwind_module){.lo = lo,
							 .hi = lo + 4 * HI_PAGE_BYTES,
							 .rows = 64,
							 .row_count = 1,
							 .index = 4096,
							 .index_count = 66};
	directory->count = 1;
	directory->generation += 2;
	for (unsigned time = 0; time < 3; time++) {
		size_t used;

		/* to search takes the most */
		memset((void *)arena.state->rules, 0, HI_RULES * sizeof(struct hi_rule_entry));
		used = stack_used(realloc_entry, (uintptr_t)some_block, 200);
		printf("# realloc %zu, nodes %" PRIu64 "\n", used, arena.state->walk_nodes_used);
		CHECK(used <= STACK_USE_MAX);
		CHECK_EQ(arena.state->walk_nodes_used, time > 0);
	}
}

UNIT_TEST(templates_fit_and_inert_ones_do_nothing)
{
	struct guest guest = guest_open(1);
	malloc_fn *inert = (malloc_fn *)arena_entry(
		arena_gate(&guest.arena, HI_FN_MALLOC, hi_gate_inert, NULL, malloc));

	free(inert(10));
	expect_nothing(&guest);
}

/* It takes the place of entries in the midst of which threads may stand. */
UNIT_TEST(an_inert_entry_leads_to_the_original_from_wherever_a_thread_may_be)
{
	struct guest guest = guest_open(1);
	const uintptr_t inert = (uintptr_t)arena_entry(
		arena_gate(&guest.arena, HI_FN_MALLOC, hi_gate_inert, NULL, malloc));

	for (unsigned at = 0; at <= HI_GATE_STRIDE - INERT_LAST_BYTES; at += INERT_STEP) {
		if (at == 1) /* no entry begins with an instruction of one byte */
			continue;
		void *block = ((malloc_fn *)(inert + at))(10);
		CHECK(block && malloc_usable_size(block) >= 10);
		free(block);
	}
	expect_nothing(&guest);
}

/*
 * One hook scope in 64 stands for all: none of these in two thousand would be a fault of the
 * choice.
 */
UNIT_TEST(own_time_is_accounted)
{
	enum { VISITS = 1000 };
	struct guest guest = guest_open(1);
	uint64_t begin = arch_cycles(), all;

	for (int i = 0; i < VISITS; i++) {
		guest.free(guest.malloc(10));
		arena_drain(&guest.arena);
	}
	all = arch_cycles() - begin;
	CHECK(own_slot(&guest)->cycles > 0);
	CHECK(own_slot(&guest)->cycles < 64 * all);
}

/* Where hook scopes are rare each is timed. */
UNIT_TEST(every_sample_is_timed)
{
	struct guest guest = guest_open(2);

	for (int i = 0; i < 20; i++) {
		uint64_t before = own_slot(&guest)->cycles;

		own_slot(&guest)->countdown = 0;
		guest.free(guest.malloc(1 << 12));
		CHECK(own_slot(&guest)->cycles > before);
	}
}

UNIT_MAIN()
