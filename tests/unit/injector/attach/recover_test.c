/* SPDX-License-Identifier: MIT */
/*
 * recover: an injector attaches to a child and is killed; what it left is found by name, believed
 * only as far as it makes sense, and removed.
 */
#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "attached.h"
#include "fault.h"
#include "storm.h"

static void storm_of_one(struct victim_page *page)
{
	page->ready = 1;
	storm_allocate((volatile uint64_t *)(void *)&page->progress, malloc);
}

/* Another process attaches, and dies once it is sampling. */
static void attach_and_die(struct attached *attached, enum hi_loader loader)
{
	int from_injector[2], status;
	char byte;
	CHECK_EQ(pipe2(from_injector, O_CLOEXEC), 0);
	const pid_t injector = fork();
	if (injector == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = attached_attach(attached, loader) ? 'n' : 'y';
		attached_wait_for_samples(attached, 50);
		(void)!write(from_injector[1], &byte, 1);
		for (;;)
			pause();
	}
	CHECK(injector > 0);
	close(from_injector[1]);
	CHECK_EQ(read(from_injector[0], &byte, 1), 1);
	CHECK_EQ(byte, 'y');
	close(from_injector[0]);
	kill(injector, SIGKILL);
	CHECK_EQ(waitpid(injector, &status, 0), injector);
	victim_check(&attached->victim);
}

static int open_and_recover(struct attached *attached)
{
	attachment_init(&attached->attachment, attached->victim.pid);
	CHECK_EQ(attachment_open(&attached->attachment, attached->victim.pid), 0);
	return recover(&attached->attachment);
}

static void clean_up_after(enum hi_loader loader)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, loader);
	CHECK(victim_own_mappings(&attached.victim) > 0);

	CHECK_EQ(open_and_recover(&attached), 0);
	CHECK(attached.attachment.control_is_copy);
	CHECK_EQ(attached.attachment.control->phase, HI_PHASE_ARMED);
	CHECK_EQ(attached.attachment.control->loader, loader);
	CHECK_EQ(attached.attachment.leftover_count, 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK(receipt.is_clean);
	CHECK_EQ(receipt.slots.written, attached.slots.count);
	CHECK_EQ(receipt.slots.restored, attached.slots.count);
	/* what it was before, told by the dead */
	CHECK_EQ(receipt.before.fd_count, attached.before.fd_count);
	attached_check_gone(&attached);
	attachment_close(&attached.attachment);

	CHECK_EQ(open_and_recover(&attached), -ENOENT);
	attached_end(&attached);
}

UNIT_TEST(what_a_dead_injector_left_is_removed)
{
	clean_up_after(HI_LOADER_MAP);
}

UNIT_TEST(what_a_dead_injector_left_is_removed_and_unloaded_by_dlclose)
{
	clean_up_after(HI_LOADER_DLOPEN);
}

/* How often this thread has slept, which is no matter of how long it takes on a busy machine. */
static long times_waited(void)
{
	struct rusage used;

	CHECK_EQ(getrusage(RUSAGE_THREAD, &used), 0);
	return used.ru_nvcsw;
}

/*
 * Threads that a dying injector still holds are waited for; those of a debugger that lives are not.
 */
UNIT_TEST(a_debugger_is_not_waited_for)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct tracee tracee;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	CHECK_EQ(tracee_stop(&tracee, attached.victim.pid, attached.victim.pid, UNIT_PATIENCE_MS),
		 0);
	const long begin = times_waited();
	CHECK_EQ(open_and_recover(&attached), 0);
	CHECK(times_waited() - begin < 500);
	CHECK_EQ(tracee_detach(&tracee), 0);
	attached_end(&attached);
}

/* ---- a control block that cannot be trusted -------------------------------------------------- */

#define FIELD(name) offsetof(struct hi_control, name), sizeof(((struct hi_control *)0)->name)
static const struct scribble {
	size_t offset, size;
	uint64_t value;
} scribbles[] = {
	{FIELD(magic), 0},
	{FIELD(version), HI_WIRE_VERSION + 1},
	{FIELD(loader), 7},
	{FIELD(arena), 0x10000},
	{FIELD(gate_count), HI_GATE_ENTRIES + 1},
	{FIELD(bucket_bits), 3},
	{FIELD(bucket_bits), 200},
	{FIELD(walk_bits), 200},
	/* Sizes decide over what is unmapped. */
	{FIELD(arena_size), 0},
	{FIELD(arena_size), HI_PAGE_BYTES},
	{FIELD(arena_size), 1ull << 40},
	{FIELD(arena_size), UINT64_MAX},
	{FIELD(ring.offset), UINT64_MAX - 4095},
	{FIELD(ring.size), UINT64_MAX},
	{FIELD(tables.offset), 1},
	{FIELD(image.size), 1ull << 40},
	{FIELD(gate.offset), 0},
	{FIELD(gate.offset), 1ull << 40},
	{FIELD(gate.size), 0},
	{FIELD(words.offset), 0},
	{FIELD(words.size), HI_PAGE_BYTES},
	{FIELD(state.offset), 0},
	{FIELD(state.size), HI_PAGE_BYTES},
	{FIELD(state.size), 1ull << 40},
};

UNIT_TEST(a_scribbled_control_block_is_not_followed)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	CHECK_EQ(open_and_recover(&attached), 0);
	const remote_addr base = attached.attachment.control->arena;
	attachment_close(&attached.attachment);

	for (size_t i = 0; i < sizeof(scribbles) / sizeof(*scribbles); i++) {
		const struct scribble *scribble = &scribbles[i];
		uint64_t good = 0;
		CHECK_EQ(memory_read(&attached.victim.memory, base + scribble->offset, &good,
				     scribble->size),
			 0);
		CHECK_EQ(memory_write(&attached.victim.memory, base + scribble->offset,
				      &scribble->value, scribble->size),
			 0);
		if (open_and_recover(&attached) != -EPROTO)
			UNIT_FAIL("scribble %zu was followed", i);
		CHECK(!attached.attachment.control);
		attachment_close(&attached.attachment);
		CHECK_EQ(memory_write(&attached.victim.memory, base + scribble->offset, &good,
				      scribble->size),
			 0);
	}
	CHECK_EQ(open_and_recover(&attached), 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	attached_check_gone(&attached);
	attached_end(&attached);
}

/*
 * A journal that names words of the target that never held anything of ours: they stay as they are,
 * and what is true in it is undone all the same.
 */
/* Of a target that was recovered; closes the attachment. */
static void append_to_journal(struct attached *attached, const struct hi_journal_entry *entry)
{
	const struct hi_control *control = attached->attachment.control;
	const uint32_t count = control->journal_count + 1;
	const remote_addr base = control->arena,
			  at = base + offsetof(struct hi_control, journal[control->journal_count]);
	CHECK_EQ(memory_write(&attached->victim.memory, at, entry, sizeof(*entry)), 0);
	CHECK_EQ(memory_write(&attached->victim.memory,
			      base + offsetof(struct hi_control, journal_count), &count,
			      sizeof(count)),
		 0);
	attachment_close(&attached->attachment);
}

UNIT_TEST(a_forged_journal_changes_no_word_but_our_own)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	uint64_t now;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	CHECK_EQ(open_and_recover(&attached), 0);
	const struct hi_control *control = attached.attachment.control;
	/* at the same address there; 0 */
	const remote_addr innocent = (uintptr_t)&attached.victim.page->word[0];
	struct hi_journal_entry entry = control->journal[0];
	entry.slot = innocent;
	entry.new_value = 0;
	entry.old_value = 77;
	entry.state = HI_JOURNAL_WRITTEN;
	append_to_journal(&attached, &entry);

	CHECK_EQ(open_and_recover(&attached), 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK_EQ(receipt.slots.restored, attached.slots.count);
	CHECK_EQ(memory_read_u64(&attached.victim.memory, innocent, &now), 0);
	CHECK_EQ(now, 0);
	attached_check_gone(&attached);
	attachment_close(&attached.attachment);
	attached_end(&attached);
}

/* A page that somebody else can take away while a thread stores there: only from outside. */
UNIT_TEST(a_forged_journal_names_no_word_of_shared_memory)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	uint64_t now;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	CHECK_EQ(open_and_recover(&attached), 0);
	const struct hi_control *control = attached.attachment.control;
	const remote_addr shared = (uintptr_t)&attached.victim.page->word[0];
	struct hi_journal_entry entry = control->journal[0];
	entry.slot = shared;
	const remote_addr base = control->arena;
	const uint64_t arena_size = control->arena_size;
	CHECK_EQ(memory_write(&attached.victim.memory, shared, &entry.new_value,
			      sizeof(entry.new_value)),
		 0);
	append_to_journal(&attached, &entry);

	CHECK_EQ(open_and_recover(&attached), 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	CHECK_EQ(receipt.slots.written, attached.slots.count);
	CHECK_EQ(receipt.fixed_words, 1);
	CHECK_EQ(memory_read_u64(&attached.victim.memory, shared, &now), 0);
	CHECK(now - base >= arena_size);
	attached_check_gone(&attached);
	attachment_close(&attached.attachment);
	attached_end(&attached);
}

/* What a child of fewer rights could write there: the journal lies in memory that it shares. */
static void forge_journal(struct attached *attached,
			  void (*forge)(struct attached *attached, struct hi_journal_entry *entry))
{
	CHECK_EQ(open_and_recover(attached), 0);
	const uint32_t count = attached->attachment.control->journal_count;
	const remote_addr journal =
		attached->attachment.control->arena + offsetof(struct hi_control, journal);
	attachment_close(&attached->attachment);
	for (uint32_t i = 0; i < count; i++) {
		struct hi_journal_entry entry;
		CHECK_EQ(memory_read(&attached->victim.memory, journal + i * sizeof(entry), &entry,
				     sizeof(entry)),
			 0);
		forge(attached, &entry);
		CHECK_EQ(memory_write(&attached->victim.memory, journal + i * sizeof(entry), &entry,
				      sizeof(entry)),
			 0);
	}
}

static void detach_as_ever(struct attached *attached)
{
	struct receipt receipt;
	CHECK_EQ(open_and_recover(attached), 0);
	CHECK_EQ(detach(&attached->attachment, &receipt), 0);
	CHECK(receipt.is_clean && !receipt.gate_kept);
}

static void lead_elsewhere(struct attached *attached, struct hi_journal_entry *entry)
{
	entry->old_value = (uintptr_t)attached->victim.page; /* anything that it likes */
}

UNIT_TEST(a_forged_journal_does_not_say_what_a_slot_is_to_hold)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	forge_journal(&attached, lead_elsewhere);
	detach_as_ever(&attached);
	/* such a slot is bound where its stub cannot be known any more */
	for (size_t i = 0; i < attached.slots.count; i++) {
		const struct slot *slot = &attached.slots.slot[i];
		CHECK_EQ(attached_read(&attached, slot->address), slot->original);
	}
	victim_check(&attached.victim);
	attached_end(&attached);
}

static void shut_a_page(struct attached *attached, struct hi_journal_entry *entry)
{
	entry->slot = (uintptr_t)&attached->victim.page->word[0];
	entry->read_only = 1;
}

UNIT_TEST(a_forged_journal_shuts_no_page)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct maps maps;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	/* which also hides all that was written: found all the same, as copies are */
	forge_journal(&attached, shut_a_page);
	detach_as_ever(&attached);
	CHECK_EQ(maps_read(attached.victim.pid, attached.victim.pid, &maps), 0);
	CHECK(maps_find(&maps, (uintptr_t)attached.victim.page)->writable);
	maps_close(&maps);
	victim_check(&attached.victim);
	attached_end(&attached);
}

static void forget(struct attached *attached, struct hi_journal_entry *entry)
{
	(void)attached;
	*entry = (struct hi_journal_entry){0};
}

UNIT_TEST(slots_that_the_journal_has_lost_are_found)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	forge_journal(&attached, forget);
	detach_as_ever(&attached);
	for (size_t i = 0; i < attached.slots.count; i++)
		CHECK_EQ(attached_read(&attached, attached.slots.slot[i].address),
			 attached.slots.slot[i].original);
	victim_check(&attached.victim);
	attached_end(&attached);
}

/*
 * An arena said to be larger than it is, with everything in it where it fits: what lies behind it
 * is the target's.
 */
UNIT_TEST(an_arena_that_reaches_into_the_target_is_not_unmapped)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct attached attached;
	struct receipt receipt;
	attached_prepare(&attached, storm_of_one);
	attach_and_die(&attached, HI_LOADER_MAP);
	CHECK_EQ(open_and_recover(&attached), 0);
	struct hi_control *control = arena_control_new(), *good = arena_control_new();
	memcpy(good, attached.attachment.control, sizeof(*good));
	attachment_close(&attached.attachment);
	for (int part = 0; part < 3; part++) {
		memcpy(control, good, offsetof(struct hi_control, counters));
		struct hi_part *parts[] = {&control->ring,   &control->tables, &control->image,
					   &control->probes, &control->gate,   &control->words,
					   &control->state};
		parts[part]->size += 1 << 20;
		for (int i = part + 1; i < 7; i++)
			parts[i]->offset += 1 << 20;
		control->arena_size += 1 << 20;
		CHECK_EQ(memory_write(&attached.victim.memory, good->arena, control,
				      offsetof(struct hi_control, heartbeat)),
			 0);
		CHECK_EQ(open_and_recover(&attached), -EPROTO);
		attachment_close(&attached.attachment);
	}
	CHECK_EQ(memory_write(&attached.victim.memory, good->arena, good,
			      offsetof(struct hi_control, heartbeat)),
		 0);
	CHECK_EQ(open_and_recover(&attached), 0);
	CHECK_EQ(detach(&attached.attachment, &receipt), 0);
	attached_check_gone(&attached);
	arena_control_free(control);
	arena_control_free(good);
	attached_end(&attached);
}

/* ---- less than a session --------------------------------------------------------------------- */

static void open_memfd_when_asked(struct victim_page *page)
{
	page->ready = 1;
	while (page->asked < 1)
		victim_pause_us(100);
	if (memfd_create(HI_MEMFD_NAME, MFD_CLOEXEC) < 0)
		abort();
	page->answered = 1;
	for (;; page->progress++)
		victim_pause_us(100);
}

UNIT_TEST(a_descriptor_of_an_injector_that_died_early_is_closed)
{
	struct attached attached;
	size_t fds;
	attached_prepare(&attached, open_memfd_when_asked);
	CHECK_EQ(open_and_recover(&attached), -ENOENT);
	CHECK_EQ(attached.attachment.leftover_count, 0);
	attachment_close(&attached.attachment);

	victim_ask(&attached.victim, 1);
	CHECK_EQ(open_and_recover(&attached), -ENOENT);
	CHECK_EQ(attached.attachment.leftover_count, 1);
	CHECK_EQ(detach_descriptors(&attached.attachment), 0);
	CHECK_EQ(proc_fd_count(attached.victim.pid, &fds), 0);
	CHECK_EQ(fds, attached.before.fd_count);
	attached_check_gone(&attached);
	attached_end(&attached);
}

UNIT_TEST(a_mapping_that_only_has_our_name_is_not_followed)
{
	struct attached attached;
	attached_prepare(&attached, open_memfd_when_asked);
	victim_ask(&attached.victim, 1);
	/* A file of that name, with nothing in it that makes sense. */
	char path[64];
	int file = -1;
	for (int fd = 0; fd < 64 && file < 0; fd++) {
		char link[64] = "";
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)attached.victim.pid, fd);
		if (readlink(path, link, sizeof(link) - 1) > 0 && strstr(link, HI_MEMFD_NAME))
			file = fd;
	}
	CHECK(file >= 0);
	CHECK_EQ(truncate(path, 1 << 20), 0);
	struct remote remote;
	uint64_t at = 0;
	CHECK_EQ(remote_open(&remote, attached.victim.pid, &attached.victim.memory,
			     &attached.victim.gadgets, UNIT_PATIENCE_MS),
		 0);
	CHECK_EQ(remote_syscall_or_fail(
			 &remote, SYS_mmap,
			 (uint64_t[6]){0, 1 << 20, PROT_READ, MAP_SHARED, (uint64_t)file, 0}, &at),
		 0);
	CHECK_EQ(remote_close(&remote), 0);
	CHECK_EQ(open_and_recover(&attached), -EPROTO);
	attached_end(&attached);
}

#ifdef HI_FAULTS

/* Killed at every `stride`th step of attach: whatever is there by then goes. */
static void die_and_clean_up(enum hi_loader loader, unsigned stride, unsigned steps)
{
	struct attached attached;
	struct receipt receipt;
	unsigned recovered = 0, descriptors = 0;
	attached_prepare(&attached, storm_of_one);
	for (unsigned n = 1; n < steps; n += stride) {
		const pid_t injector = fork();
		if (injector == 0) {
			char number[24];
			snprintf(number, sizeof(number), "%u", n);
			setenv("HEAPINJECT_KILL", number, 1);
			fault_reset();
			_exit(attached_attach(&attached, loader) != 0);
		}
		waitpid(injector, NULL, 0);
		victim_check(&attached.victim);
		const int err = open_and_recover(&attached);
		if (!err) {
			CHECK_EQ(detach(&attached.attachment, &receipt), 0);
			recovered++;
		} else {
			CHECK_EQ(err, -ENOENT);
			descriptors += attached.attachment.leftover_count != 0;
			CHECK(!attached.attachment.leftover_count ||
			      detach_descriptors(&attached.attachment) == 0);
		}
		attachment_close(&attached.attachment);
		attached_check_gone(&attached);
	}
	printf("# %u sessions recovered, %u with a descriptor only\n", recovered, descriptors);
	CHECK(recovered > 5);
	attached_end(&attached);
}

UNIT_TEST(death_at_any_step_of_attach_can_be_cleaned_up_after)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	die_and_clean_up(HI_LOADER_MAP, 5, 150);
}

UNIT_TEST(death_at_any_step_of_attach_by_dlopen_can_be_cleaned_up_after)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	die_and_clean_up(HI_LOADER_DLOPEN, 9, 200);
}

#else

UNIT_TEST(death_at_any_step_of_attach_can_be_cleaned_up_after)
{
	SKIP("needs a build with FAULTS=1");
}

#endif

UNIT_MAIN()
