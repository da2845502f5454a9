/* SPDX-License-Identifier: MIT */
/*
 * attach and detach, as a pair, on children that make it hard: threads that only allocate, copies
 * of allocator pointers in memory, in registers and in disguise, a program that exits or is
 * replaced. Every child goes on allocating after the detach, through whatever it kept.
 */
#include "attach.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "attached.h"
#include "code_swap.h"
#include "ring_next.h"
#include "slot_loads.h"
#include "storm.h"

/* An allocation that no compiler leaves out. */
static void use_heap(void)
{
	void *block = malloc(100);
	__asm__ volatile("" : "+r"(block) : : "memory");
	free(block);
}

/* ---- a storm of four threads ----------------------------------------------------------------- */

static void *storm_thread(void *page)
{
	storm_allocate(page, malloc);
	return NULL;
}

/* `progress` is the first thing in the page. */
static void storm_of_four(struct victim_page *page)
{
	pthread_t thread;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, storm_thread, page);
	while (page->progress < 100)
		victim_pause_us(100);
	page->ready = 1;
	storm_thread(page);
}

#define STOP_NS_MAX (UNIT_PATIENCE_MS * 1000000ull) /* a time, and no moment */

static void check_receipt(const struct receipt *receipt, const struct attached *attached)
{
	CHECK(!receipt->failed_step);
	CHECK_EQ(receipt->err, 0);
	CHECK(!receipt->target_gone);
	CHECK(receipt->is_clean);
	CHECK(!receipt->gate_kept);
	CHECK_EQ(receipt->own_mappings_left, 0);
	CHECK_EQ(receipt->slots.written, attached->attachment.slots_written);
	CHECK_EQ(receipt->slots.restored, receipt->slots.written);
	CHECK_EQ(receipt->slots.overwritten + receipt->slots.vanished, 0);
	CHECK(receipt->has_before);
	CHECK_EQ(receipt->after.fd_count, receipt->before.fd_count);
	CHECK_EQ(receipt->after.thread_count, receipt->before.thread_count);
	CHECK(receipt->attach_stop_ns > 0 && receipt->attach_stop_ns < STOP_NS_MAX);
	CHECK(receipt->restore_stop_ns > 0 && receipt->restore_stop_ns < STOP_NS_MAX);
	CHECK(receipt->detach_stop_ns > 0 && receipt->detach_stop_ns < STOP_NS_MAX);
	CHECK(receipt->threads_checked >= attached->before.thread_count);
}

/* What was changed is code, in its own mapping, and no slot. */
static void check_entered(const struct attached *attached)
{
	const struct attachment *attachment = &attached->attachment;
	CHECK(attachment->entries_written >= 6);
	CHECK(attachment->entries.entry[HI_FN_MALLOC].at &&
	      attachment->entries.entry[HI_FN_FREE].at);
	CHECK_EQ(code_swap_look(attachment->control, &attachment->memory, &attachment->images),
		 CODE_CHANGED);
	if (!attachment_needs_slots(attachment))
		CHECK_EQ(attachment->slots_written, 0);
}

/* While attached every slot leads to the gate, and only there. */
static void check_patched(const struct attached *attached)
{
	const struct hi_control *control = attached->attachment.control;
	const remote_addr gate = arena_gate(control);
	CHECK_EQ(control->phase, HI_PHASE_ARMED);
	if (attached_hook != HI_HOOK_SLOT) {
		check_entered(attached);
		return;
	}
	CHECK_EQ(attached->attachment.slots_written, attached->slots.count);
	CHECK_EQ(control->journal_count, attached->slots.count);
	for (size_t i = 0; i < attached->slots.count; i++) {
		const struct slot *slot = &attached->slots.slot[i];
		const uint64_t value = attached_read(attached, slot->address);
		CHECK_EQ(value, attached->attachment.entry[slot->function]);
		CHECK(value >= gate && value < gate + HI_GATE_BYTES);
	}
}

static void cycle_in_storm(enum hi_loader loader, int cycles)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_prepare(&attached, storm_of_four);
	CHECK_EQ(attached.before.thread_count, 4);
	for (int i = 0; i < cycles; i++) {
		CHECK_EQ(attached_attach(&attached, loader), 0);
		check_patched(&attached);
		attached_wait_for_samples(&attached, 100);
		victim_check(&attached.victim);
		CHECK_EQ(detach(&attached.attachment, &receipt), 0);
		check_receipt(&receipt, &attached);
		CHECK_EQ(code_swap_look(attached.attachment.control, &attached.attachment.memory,
					&attached.attachment.images),
			 CODE_ORIGINAL);
		attachment_close(&attached.attachment);
		attached_check_gone(&attached);
	}
	attached_end(&attached);
}

UNIT_TEST(a_storm_is_sampled_and_left_as_it_was)
{
	cycle_in_storm(HI_LOADER_MAP, 4);
}

UNIT_TEST(a_storm_is_sampled_where_its_functions_begin)
{
	attached_hook = HI_HOOK_AUTO;
	cycle_in_storm(HI_LOADER_MAP, 4);
}

UNIT_TEST(a_storm_is_sampled_where_its_functions_begin_by_the_dlopen_loader)
{
	attached_hook = HI_HOOK_AUTO;
	cycle_in_storm(HI_LOADER_DLOPEN, 2);
}

/*
 * A breakpoint at malloc that came while attached: who set it will put back what was there, which
 * leads to us. So we stay, disarmed, until it is gone.
 */
UNIT_TEST(code_that_somebody_else_has_changed_is_left_to_him)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	const uint8_t other = 0x90;
	uint8_t ours;
	attached_hook = HI_HOOK_AUTO;
	attached_start(&attached, storm_of_four, HI_LOADER_MAP);
	/* that nobody calls */
	const remote_addr at = attached.attachment.entries.entry[HI_FN_PVALLOC].at;
	const struct memory *memory = &attached.attachment.memory;
	CHECK(at);
	CHECK_EQ(memory_read(memory, at, &ours, 1), 0);
	CHECK_EQ(memory_write(memory, at, &other, 1), 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), -ETXTBSY);
	CHECK(receipt.failed_step && !receipt.is_clean);
	CHECK_EQ(receipt.functions_restored, 0);
	victim_check(&attached.victim);
	CHECK_EQ(memory_write(memory, at, &ours, 1), 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK(receipt.is_clean);
	CHECK_EQ(receipt.functions_restored, receipt.functions);
	attachment_close(&attached.attachment);
	attached_check_gone(&attached);
	attached_end(&attached);
}

/* The target can write the shared block; what we go by is our own. */
static void scribble(struct hi_control *shared)
{
	memset(shared, 0xa5, offsetof(struct hi_control, heartbeat));
	shared->gate_count = shared->bucket_bits = UINT32_MAX;
	memset(&shared->before, 0xa5, sizeof(shared->before));
	memset(shared->journal, 0xa5, sizeof(shared->journal));
}

static void detach_after_scribbling(enum hi_loader loader)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_prepare(&attached, storm_of_four);
	CHECK_EQ(attached_attach(&attached, loader), 0);
	attached_wait_for_samples(&attached, 100);
	scribble(attached.attachment.arena.shared);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	check_receipt(&receipt, &attached);
	attachment_close(&attached.attachment);
	attached_check_gone(&attached);
	attached_end(&attached);
}

UNIT_TEST(a_scribbled_control_block_hinders_no_detach)
{
	detach_after_scribbling(HI_LOADER_MAP);
}

UNIT_TEST(a_scribbled_control_block_hinders_no_detach_of_the_dlopen_loader)
{
	detach_after_scribbling(HI_LOADER_DLOPEN);
}

UNIT_TEST(a_storm_is_sampled_and_left_as_it_was_by_the_dlopen_loader)
{
	cycle_in_storm(HI_LOADER_DLOPEN, 2);
}

static void storm_of_one(struct victim_page *page)
{
	page->ready = 1;
	storm_thread(page);
}

/*
 * What the samples say: every block of the storm has a size, and a stack that ends as it should.
 * (Of one thread: stacks of others are learned by watch.)
 */
UNIT_TEST(samples_are_of_what_the_target_did)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	struct ring_reader reader;
	union ring_record record;
	uint64_t allocs = 0, complete = 0;
	attached_start(&attached, storm_of_one, HI_LOADER_MAP);
	attached_wait_for_samples(&attached, 500);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	const struct arena *arena = &attached.attachment.arena;
	ring_reader_open(&reader,
			 &(struct rings){arena->ring, arena->ring_capacity, arena->ring_count});
	ring_reader_mark(&reader);
	while (ring_reader_next(&reader, 1, 0, &record) == 1) {
		if (record.header.type_busy != HI_RECORD_KNOWN)
			continue;
		CHECK(8ull * record.known.stack < arena->stacks->used &&
		      arena->stacks->used <= arena->stacks_limit);
		const struct hi_stack *stack =
			(const void *)((const uint8_t *)arena->stacks + 8ull * record.known.stack);
		allocs++;
		complete += stack->stack_end == HI_END_COMPLETE;
		CHECK(stack->frame_count >= 2);
		CHECK_EQ(record.known.function, HI_FN_MALLOC);
		CHECK(record.known.bytes >= 16 && record.known.bytes < 1016);
		CHECK(record.header.thread);
	}
	CHECK(allocs >= 500);
	CHECK(complete * 100 >= allocs * 95);
	attached_end(&attached);
}

/* ---- copies of pointers ---------------------------------------------------------------------- */

typedef void *allocate_fn(size_t size);
typedef void release_fn(void *block);

/* What `&malloc` is compiled to: a load from the slot, each time. */
static allocate_fn *malloc_by_slot(void)
{
	allocate_fn *found;
	LOAD_SLOT(malloc, found);
	return found;
}

static release_fn *free_by_slot(void)
{
	release_fn *found;
	LOAD_SLOT(free, found);
	return found;
}

enum { IN_DATA = 0, IN_HEAP, BY_SLOT }; /* words of the page: what the child finds where */

static struct operations {
	allocate_fn *allocate;
	release_fn *release;
} in_data;

static void use(const struct operations *operations)
{
	char *block = operations->allocate(64);
	memset(block, 1, 64);
	operations->release(block);
}

static void rest(struct victim_page *page)
{
	page->answered = 2;
	while (page->asked == 2)
		victim_pause_us(100);
	page->answered = 3;
}

/* ops->free = free, while attached; calls through the copies for ever. */
static void keep_copies(struct victim_page *page)
{
	struct operations *in_heap = malloc(sizeof(*in_heap));
	use_heap();
	in_data = *in_heap = (struct operations){malloc_by_slot(), free_by_slot()};
	page->ready = 1;
	while (page->asked < 1)
		use(&in_data);
	in_data = *in_heap = (struct operations){malloc_by_slot(), free_by_slot()};
	page->word[BY_SLOT] = (uintptr_t)free_by_slot();
	page->answered = 1;
	for (;; page->progress++) {
		if (page->asked == 2)
			rest(page);
		use(&in_data);
		use(in_heap);
		page->word[IN_DATA] = (uintptr_t)in_data.release;
		page->word[IN_HEAP] = (uintptr_t)in_heap->release;
	}
}

static uint64_t original_of(const struct attached *attached, enum hi_function function)
{
	for (size_t i = 0; i < attached->slots.count; i++)
		if (attached->slots.slot[i].function == function)
			return attached->slots.slot[i].original;
	UNIT_FAIL("no slot of function %d", function);
}

UNIT_TEST(copies_in_memory_are_fixed_up)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_start(&attached, keep_copies, HI_LOADER_MAP);
	victim_ask(&attached.victim, 1);
	victim_check(&attached.victim);
	/* it did take a copy of ours */
	CHECK_EQ(attached.victim.page->word[BY_SLOT], attached.attachment.entry[HI_FN_FREE]);
	CHECK_EQ(attached.victim.page->word[IN_DATA], attached.attachment.entry[HI_FN_FREE]);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK(receipt.fixed_words >= 4);
	CHECK(!receipt.gate_kept);
	attached_check_gone(&attached);
	victim_check(&attached.victim);
	CHECK_EQ(attached.victim.page->word[IN_DATA], original_of(&attached, HI_FN_FREE));
	CHECK_EQ(attached.victim.page->word[IN_HEAP], original_of(&attached, HI_FN_FREE));
	attached_end(&attached);
}

static void hoist(struct victim_page *page)
{
	use_heap();
	page->ready = 1;
	while (page->asked < 1)
		victim_pause_us(100);
	page->answered = 1;
	hoisted_loop(&page->progress);
}

UNIT_TEST(copies_in_registers_are_fixed_up)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_start(&attached, hoist, HI_LOADER_MAP);
	victim_ask(&attached.victim, 1);
	attached_wait_for_samples(&attached, 10);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	/* where the thread stood in malloc, they were on its stack */
	CHECK(receipt.fixed_registers + receipt.fixed_words >= 2);
	CHECK(!receipt.gate_kept);
	attached_check_gone(&attached);
	attached_end(&attached);
}

/*
 * A copy in a file that is mapped shared is not fixed up; and from there it is copied again and
 * again.
 */
static void pass_copies_around(struct victim_page *page)
{
	char path[] = "/tmp/heapinject-test.XXXXXX";
	const int file = mkstemp(path);
	unlink(path);
	if (file < 0 || ftruncate(file, 4096))
		abort();
	allocate_fn *volatile *in_file =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	release_fn *release;
	use_heap();
	in_file[0] = malloc_by_slot();
	page->ready = 1;
	while (page->asked < 1)
		use_heap();
	in_file[0] = malloc_by_slot();
	page->answered = 1;
	for (;; page->progress++) {
		in_data.allocate = in_file[0];
		release = free_by_slot();
		for (int i = 0; i < 100; i++)
			release(in_data.allocate(64));
		page->word[IN_DATA] = (uintptr_t)in_data.allocate;
	}
}

UNIT_TEST(the_gate_stays_where_a_file_holds_copies)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_start(&attached, pass_copies_around, HI_LOADER_MAP);
	victim_ask(&attached.victim, 1);
	const uint64_t kept = attached.attachment.entry[HI_FN_MALLOC];
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK(receipt.gate_kept && !receipt.is_clean && !receipt.failed_step);
	CHECK_EQ(receipt.copies_in_files, 1);
	CHECK_EQ(receipt.own_mappings_left, 1);
	CHECK_EQ(receipt.earlier_gates, 0);
	attachment_close(&attached.attachment);
	attached_check_slots(&attached);
	victim_check(&attached.victim);
	/* which serves on, with nothing behind it */
	CHECK_EQ(attached.victim.page->word[IN_DATA], kept);
	attached_end(&attached);
}

/* How a detach ends that cannot get hold of every copy: everything goes but the gate. */
static int keep_the_gate(void *context)
{
	struct attachment *attachment = context;
	struct remote remote;
	struct journal_restored restored = {0};
	const struct patcher patcher = patcher_for_stopped(&attachment->memory);
	int err = arena_disarm(attachment->control, &attachment->memory);
	if (!err)
		err = arena_bypass(attachment->control, &attachment->memory, &patcher);
	if (!err)
		err = journal_restore(attachment->control, &patcher, JOURNAL_PINNED, &restored);
	if (!err)
		err = remote_open(&remote, attachment->pid, &attachment->memory,
				  &attachment->gadgets, UNIT_PATIENCE_MS);
	if (err)
		return err;
	err = arena_unmap(attachment->control, &remote, &attachment->payload, true);
	int closed = remote_close(&remote);
	return err ? err : closed;
}

UNIT_TEST(a_session_after_one_whose_gate_was_kept)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_start(&attached, keep_copies, HI_LOADER_MAP);
	victim_ask(&attached.victim, 1);
	const uint64_t kept = attached.attachment.entry[HI_FN_FREE];
	victim_ask(&attached.victim, 2);
	CHECK_EQ(tracee_worker(keep_the_gate, &attached.attachment), 0);
	attachment_close(&attached.attachment);
	victim_ask(&attached.victim, 3);
	victim_check(&attached.victim);

	CHECK_EQ(attached_attach(&attached, HI_LOADER_MAP), 0);
	CHECK(attached.attachment.entry[HI_FN_FREE] != kept);
	victim_check(&attached.victim);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK(!receipt.failed_step);
	CHECK(receipt.is_clean);
	CHECK_EQ(receipt.own_mappings_left, 0);
	CHECK_EQ(receipt.earlier_gates, 1); /* the words of the first */
	attached_check_slots(&attached);
	victim_check(&attached.victim);
	/* still called, and none of the second one's business */
	CHECK_EQ(attached.victim.page->word[IN_DATA], kept);
	attached_end(&attached);
}

/* ---- other ways out -------------------------------------------------------------------------- */

static void allocate_until_asked(struct victim_page *page)
{
	use_heap();
	page->ready = 1;
	for (; page->asked < 1; page->progress++)
		use_heap();
	page->answered = 1;
	if (page->word[0])
		execl("/bin/sleep", "sleep", "60", NULL);
	_exit(3);
}

UNIT_TEST(slots_that_the_target_wrote_since_are_its_own)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_start(&attached, allocate_until_asked, HI_LOADER_MAP);
	const struct slot *slot = &attached.slots.slot[0];
	const uint64_t another = slot->original + 1;
	CHECK_EQ(memory_write_u64(&attached.victim.memory, slot->address, another), 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK_EQ(receipt.slots.overwritten, 1);
	CHECK_EQ(receipt.slots.restored, receipt.slots.written - 1);
	CHECK_EQ(attached_read(&attached, slot->address), another);
	attached_end(&attached);
}

static remote_addr thread_table_of(const struct attached *attached)
{
	const struct hi_control *control = attached->attachment.control;
	return arena_state(control) + arena_state_layout(control).thread_slots;
}

/* The count of hook frames of one thread slot, in the target. */
static remote_addr in_flight_of(const struct attached *attached)
{
	return thread_table_of(attached) + offsetof(struct hi_thread_slot, in_flight);
}

/* What says that such slots are in use. */
static remote_addr claimed_of(const struct attached *attached)
{
	return thread_table_of(attached) + offsetof(struct hi_thread_table, claimed);
}

/* Has a process of its own run `meddle` while detach waits for a frame that is not there. */
static void detach_with_a_frame_in_flight(struct attached *attached,
					  bool (*meddle)(const struct attached *attached),
					  struct receipt *out_receipt)
{
	const uint32_t frames = 7;
	int status;
	attached_start(attached, allocate_until_asked, HI_LOADER_MAP);
	CHECK_EQ(memory_write_u64(&attached->victim.memory, claimed_of(attached), UINT64_MAX), 0);
	CHECK_EQ(memory_write(&attached->victim.memory, in_flight_of(attached), &frames,
			      sizeof(frames)),
		 0);
	const pid_t helper = fork();
	if (helper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		victim_pause_us(200000);
		_exit(!meddle(attached));
	}
	CHECK_EQ(detach(&attached->attachment, out_receipt), 0);
	CHECK_EQ(waitpid(helper, &status, 0), helper);
	CHECK_EQ(status, 0);
}

static bool is_disarmed(const struct attached *attached)
{
	const struct hi_control *control = attached->attachment.control;
	struct hi_gate_words words;
	uint64_t armed = 1;
	for (unsigned entry = 0; entry < control->gate_count; entry++)
		if (memory_read(&attached->victim.memory, arena_words(control, entry), &words,
				sizeof(words)) ||
		    words.hook != words.original)
			return false;
	return !memory_read_u64(&attached->victim.memory,
				arena_state(control) + offsetof(struct hi_state, armed), &armed) &&
	       !armed;
}

/* By another process than the one that detaches. */
static bool has_restored(const struct attached *attached)
{
	const struct hi_control *control = attached->attachment.control;
	uint32_t phase;
	return !memory_read(&attached->victim.memory,
			    control->arena + offsetof(struct hi_control, phase), &phase,
			    sizeof(phase)) &&
	       phase == HI_PHASE_RESTORED;
}

static bool look_and_end_the_frame(const struct attached *attached)
{
	const uint32_t none = 0;
	WAIT_FOR(has_restored(attached));
	const bool is_as_it_should_be = is_disarmed(attached);
	return !memory_write(&attached->victim.memory, in_flight_of(attached), &none,
			     sizeof(none)) &&
	       is_as_it_should_be;
}

UNIT_TEST(detach_waits_disarmed_until_the_last_frame_is_gone)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	detach_with_a_frame_in_flight(&attached, look_and_end_the_frame, &receipt);
	CHECK(receipt.is_clean);
	attached_check_gone(&attached);
	attached_end(&attached);
}

static bool have_it_exit(const struct attached *attached)
{
	attached->victim.page->asked = 1;
	return true;
}

UNIT_TEST(a_target_that_exits_during_detach_is_no_failure)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	detach_with_a_frame_in_flight(&attached, have_it_exit, &receipt);
	CHECK(receipt.target_gone && receipt.is_clean);
	attached_end(&attached);
}

UNIT_TEST(a_target_that_exits_leaves_nothing_to_restore)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	int status;
	attached_start(&attached, allocate_until_asked, HI_LOADER_MAP);
	attached_wait_for_samples(&attached, 10);
	CHECK_EQ(attachment_check(&attached.attachment), 0);
	attached.victim.page->asked = 1;
	CHECK_EQ(waitpid(attached.victim.pid, &status, 0), attached.victim.pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	CHECK_EQ(attachment_check(&attached.attachment), -ESRCH);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK(receipt.target_gone && receipt.is_clean);
	CHECK(attached_samples(&attached) >= 10); /* what was sampled is still to be had */
	attached_close(&attached);
	victim_forget(&attached.victim);
}

UNIT_TEST(a_target_that_runs_another_program_is_left_alone)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	struct hi_snapshot after;
	attached_start(&attached, allocate_until_asked, HI_LOADER_MAP);
	attached.victim.page->word[0] = 1;
	attached.victim.page->asked = 1;
	int gone;
	WAIT_FOR((gone = attachment_check(&attached.attachment)) != 0);
	CHECK_EQ(gone, -ENOEXEC);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK(receipt.target_gone);
	CHECK_EQ(snapshot_take(attached.victim.pid, attached.victim.pid, &after), 0);
	CHECK_EQ(waitpid(attached.victim.pid, NULL, WNOHANG), 0);
	attached_end(&attached);
}

static void allocate_without_clock(struct victim_page *page)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	page->ready = 1;
	for (;; page->progress++)
		use_heap();
}

/* A hook that read it would end the program. */
UNIT_TEST(a_program_that_may_not_read_the_clock_is_refused)
{
	struct attached attached;
	if (prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0))
		SKIP("the kernel forbids nobody to read the clock");
	attached_prepare(&attached, allocate_without_clock);
	CHECK_EQ(attached_attach(&attached, HI_LOADER_MAP), -ENODATA);
	attachment_close(&attached.attachment);
	attached_check_gone(&attached);
	victim_check(&attached.victim);
	attached_end(&attached);
}

UNIT_TEST(a_pid_of_nobody_is_refused)
{
	struct attachment attachment;
	const pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	attachment_init(&attachment, child);
	CHECK_EQ(attachment_open(&attachment, child), -ESRCH);
	attachment_close(&attachment);
	attachment_close(&attachment); /* idempotent, half-open */
}

UNIT_MAIN()
