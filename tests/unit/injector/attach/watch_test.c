/* SPDX-License-Identifier: MIT */
/*
 * watch: a child under a session loads a library and unloads it, and starts threads: slots, tables,
 * journal, regions and the stream follow.
 */
#include "watch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "attach_entries.h"
#include "attached.h"
#include "storm.h"

/* Small libraries of libc's that import malloc, and that neither this program nor libc needs. */
static const char *const candidates[] = {"libthread_db.so.1", "libresolv.so.2",
					 "libnss_compat.so.2"};
static const char *library;

enum { LOAD = 1, UNLOAD, LOAD_AGAIN };

/* Loads and unloads as it is asked to. */
static void load_when_asked(struct victim_page *page)
{
	void *handle = NULL;
	page->ready = 1;
	for (;; page->progress++) {
		void *block = malloc(1000);
		__asm__ volatile("" : "+r"(block) : : "memory");
		free(block);
		if (page->answered == page->asked)
			continue;
		if (page->asked == UNLOAD)
			dlclose(handle);
		else if (!(handle = dlopen(library, RTLD_NOW)))
			abort();
		page->answered = page->asked;
	}
}

struct watched {
	struct attached attached;
	struct stream_out out;
	struct pump pump;
	int file;
	off_t read_to;
};

static void choose_library(void)
{
	for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates) && !library; i++) {
		void *handle = dlopen(candidates[i], RTLD_NOW | RTLD_NOLOAD);
		if (handle) /* everybody has it already */
			continue;
		handle = dlopen(candidates[i], RTLD_NOW);
		if (handle) {
			library = candidates[i];
			dlclose(handle);
		}
	}
	if (!library)
		SKIP("none of the libraries to be loaded is there");
}

static void watched_start(struct watched *watched, void (*work)(struct victim_page *page))
{
	struct attachment *attachment = &watched->attached.attachment;
	*watched = (struct watched){.file = memfd_create("stream", MFD_CLOEXEC)};
	attached_start(&watched->attached, work, HI_LOADER_MAP);
	attachment->link_map = 0; /* the first round is like any other that finds a change */
	CHECK_EQ(stream_out_open(&watched->out, watched->file), 0);
	CHECK_EQ(pump_open(&watched->pump, &watched->out, &attachment->memory, &attachment->images,
			   attachment->pid),
		 0);
	pump_connect(&watched->pump,
		     &(struct rings){attachment->arena.ring, attachment->arena.ring_capacity,
				     attachment->arena.ring_count});
	CHECK_EQ(pump_modules(&watched->pump, &attachment->images), 0);
}

static int try_round(struct watched *watched)
{
	watched->attached.attachment.arena.shared->heartbeat = arch_cycles();
	pump_mark(&watched->pump);
	return watch_round(&watched->attached.attachment, &watched->pump);
}

/* A round of the session, until the dynamic linker is not at work. */
static void look(struct watched *watched)
{
	int err;
	WAIT_FOR((err = try_round(watched)) != -EAGAIN);
	CHECK_EQ(err, 0);
	CHECK_EQ(pump_round(&watched->pump, false), 0);
}

/* Rounds, until libraries that may be unloaded are hooked. */
static void settle(struct watched *watched)
{
	WAIT_FOR(!watched->attached.attachment.unloadable_due_ns ||
		 (look(watched), !watched->attached.attachment.unloadable_due_ns));
}

static void watched_end(struct watched *watched)
{
	struct receipt receipt;
	CHECK_EQ(detach(&watched->attached.attachment, &receipt), 0);
	if (!receipt.is_clean)
		receipt_print(&receipt, stderr);
	CHECK(receipt.is_clean);
	victim_check(&watched->attached.victim);
	attached_check_slots(&watched->attached);
	pump_close(&watched->pump);
	stream_out_close(&watched->out);
	attached_end(&watched->attached);
}

/* ---- what is looked at ----------------------------------------------------------------------- */

static const struct elf_image *find_library(const struct watched *watched)
{
	const struct elf_images *images = &watched->attached.attachment.images;
	for (size_t i = 0; i < images->count; i++)
		if (strstr(images->image[i].path, library))
			return &images->image[i];
	return NULL;
}

/* Journal entries whose slots lie in [lo, hi) and that are in a state. */
static size_t count_entries(const struct watched *watched, remote_addr lo, remote_addr hi,
			    uint32_t state)
{
	const struct hi_control *control = watched->attached.attachment.control;
	size_t count = 0;
	for (uint32_t i = 0; i < control->journal_count; i++) {
		const struct hi_journal_entry *entry = &control->journal[i];
		count += entry->slot >= lo && entry->slot < hi && entry->state == state;
	}
	return count;
}

static bool has_table(const struct watched *watched, remote_addr pc)
{
	const struct hi_control *control = watched->attached.attachment.arena.shared;
	const struct hi_unwind_directory *directory =
		&control->directory[control->current_directory];
	for (uint32_t i = 0; i < directory->count; i++)
		if (pc >= directory->module[i].lo && pc < directory->module[i].hi)
			return directory->module[i].row_count > 0;
	return false;
}

/*
 * The next record of one of two types that speaks of the library, or of the number given to it; the
 * number, 0 = no such record.
 */
static uint32_t next_of_stream(struct watched *watched, uint16_t type, uint32_t number)
{
	static union {
		struct hi_stream_record record;
		struct hi_stream_module module;
		struct hi_stream_module_gone gone;
		char bytes[1 << 20];
	} any;
	while (pread(watched->file, &any, sizeof(any.record), watched->read_to) ==
	       sizeof(any.record)) {
		CHECK(any.record.size >= 8 && any.record.size < sizeof(any) - 1);
		CHECK_EQ(pread(watched->file, &any, any.record.size, watched->read_to),
			 any.record.size);
		watched->read_to += any.record.size;
		any.bytes[any.record.size] = 0;
		if (any.record.type != type)
			continue;
		if (type == HI_STREAM_MODULE &&
		    memmem(any.bytes, any.record.size, library, strlen(library)))
			return any.module.module;
		if (type == HI_STREAM_MODULE_GONE && any.gone.module == number)
			return number;
	}
	return 0;
}

static void check_loaded(const struct watched *watched)
{
	const struct attachment *attachment = &watched->attached.attachment;
	const struct hi_control *control = attachment->control;
	const struct elf_image *image = find_library(watched);
	CHECK(image);
	CHECK(count_entries(watched, image->lo, image->hi, HI_JOURNAL_WRITTEN) > 0);
	for (uint32_t i = 0; i < control->journal_count; i++) {
		const struct hi_journal_entry *entry = &control->journal[i];
		if (entry->slot >= image->lo && entry->slot < image->hi)
			CHECK_EQ(attached_read(&watched->attached, entry->slot),
				 attachment->entry[entry->function]);
	}
	CHECK(has_table(watched, image->text[0].lo));
}

UNIT_SLOW_TEST(a_library_that_comes_is_patched_and_one_that_goes_is_forgotten)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	choose_library();
	watched_start(&watched, load_when_asked);
	look(&watched);
	CHECK(!find_library(&watched));
	const size_t slots_before = watched.attached.attachment.slots_written;

	victim_ask(&watched.attached.victim, LOAD);
	look(&watched);
	CHECK(find_library(&watched) && !find_library(&watched)->is_pinned);
	/* it may go again at once */
	CHECK_EQ(watched.attached.attachment.slots_written, slots_before);
	settle(&watched);
	check_loaded(&watched);
	CHECK(watched.attached.attachment.slots_written > slots_before);
	const uint32_t number = next_of_stream(&watched, HI_STREAM_MODULE, 0);
	CHECK(number);
	const remote_addr lo = find_library(&watched)->lo, hi = find_library(&watched)->hi;

	victim_ask(&watched.attached.victim, UNLOAD);
	look(&watched);
	CHECK(!find_library(&watched));
	CHECK_EQ(count_entries(&watched, lo, hi, HI_JOURNAL_WRITTEN), 0);
	CHECK(count_entries(&watched, lo, hi, HI_JOURNAL_RESTORED) > 0);
	CHECK(!has_table(&watched, lo));
	CHECK_EQ(next_of_stream(&watched, HI_STREAM_MODULE_GONE, number), number);

	const uint32_t journal_count = watched.attached.attachment.control->journal_count;
	victim_ask(&watched.attached.victim, LOAD_AGAIN);
	look(&watched);
	settle(&watched);
	check_loaded(&watched);
	/* entries are used again */
	CHECK_EQ(watched.attached.attachment.control->journal_count, journal_count);
	CHECK(next_of_stream(&watched, HI_STREAM_MODULE, 0) > number);
	watched_end(&watched);
}

UNIT_TEST(nothing_is_done_while_nothing_changes)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	watched_start(&watched, load_when_asked);
	look(&watched);
	const struct hi_control *control = watched.attached.attachment.arena.shared;
	const uint64_t generation =
		control->directory[0].generation + control->directory[1].generation;
	const struct elf_image *images = watched.attached.attachment.images.image;
	for (int i = 0; i < 20; i++)
		look(&watched);
	CHECK_EQ(control->directory[0].generation + control->directory[1].generation, generation);
	CHECK(watched.attached.attachment.images.image == images);
	watched_end(&watched);
}

/* Only what was read completely, and is still the same, is an unchanged target. */
UNIT_TEST(a_round_knows_an_unchanged_target)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	watched_start(&watched, load_when_asked);
	look(&watched);
	CHECK(!watched.attached.attachment.is_unchanged);
	look(&watched);
	CHECK(watched.attached.attachment.is_unchanged);
	/* the list of objects that was hooked is not the one that was read */
	watched.attached.attachment.link_map = 0;
	look_begin(&watched.attached.attachment.look);
	look(&watched);
	CHECK(!watched.attached.attachment.is_unchanged);
	/* where the kernel forbids to look in this way, a round does as it would otherwise */
	watched.attached.attachment.memory.witness = 0;
	look_begin(&watched.attached.attachment.look);
	for (int i = 0; i < 3; i++) {
		look(&watched);
		CHECK(!watched.attached.attachment.is_unchanged);
	}
	watched_end(&watched);
}

/* What the kernel leaves when it takes a uprobe away. The child does not call this function. */
UNIT_TEST(half_a_jump_is_completed_to_what_the_file_has)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	struct attachment *attachment = &watched.attached.attachment;
	attached_hook = HI_HOOK_AUTO;
	watched_start(&watched, load_when_asked);
	const struct entry *entry = &attachment->entries.entry[HI_FN_REALLOC];
	if (!attachment->entries_written || !entry->at)
		SKIP("realloc is hooked by slots here");
	uint8_t code[ARCH_ENTRY_MAX];
	look(&watched);
	CHECK(!attach_entries_yield(attachment));
	look(&watched);
	CHECK(attachment->is_unchanged);
	CHECK_EQ(memory_read(&attachment->memory, entry->at, code, entry->size), 0);
	CHECK(memcmp(code, entry->code, entry->size) != 0);
	CHECK_EQ(memory_write(&attachment->memory, entry->at, entry->code, 1), 0);
	look(&watched);
	CHECK(!attachment->is_unchanged);
	CHECK(attach_entries_yield(attachment));
	CHECK_EQ(memory_read(&attachment->memory, entry->at, code, entry->size), 0);
	CHECK_EQ(memcmp(code, entry->code, entry->size), 0);
	watched_end(&watched);
}

/*
 * What cannot be journaled is not touched, and not looked for again until something else changes.
 */
UNIT_TEST(a_full_journal_is_told_once_and_leaves_new_slots_alone)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	choose_library();
	watched_start(&watched, load_when_asked);
	look(&watched);
	struct attachment *attachment = &watched.attached.attachment;
	const uint32_t used = attachment->control->journal_count;
	/* slots that are somebody else's by now */
	for (uint32_t i = used; i < HI_JOURNAL_CAPACITY; i++)
		attachment->control->journal[i] =
			(struct hi_journal_entry){.slot = attachment->images.image[0].lo,
						  .new_value = 1,
						  .state = HI_JOURNAL_WRITTEN};
	attachment->control->journal_count = HI_JOURNAL_CAPACITY;

	victim_ask(&watched.attached.victim, LOAD);
	look(&watched);
	int err;
	WAIT_FOR(err = watch_round(attachment, &watched.pump), err && err != -EAGAIN);
	CHECK_EQ(err, -ENOSPC);
	CHECK(find_library(&watched));
	CHECK_EQ(count_entries(&watched, find_library(&watched)->lo, find_library(&watched)->hi,
			       HI_JOURNAL_WRITTEN),
		 0);
	/* stacks through it are walked all the same */
	CHECK(has_table(&watched, find_library(&watched)->text[0].lo));
	const struct elf_image *images = attachment->images.image;
	CHECK_EQ(watch_round(attachment, &watched.pump), 0);
	CHECK(attachment->images.image == images);
	attachment->control->journal_count = used;
	watched_end(&watched);
}

/*
 * Of a stack that is not known the page that holds sp is read all the same: what that page does not
 * hold is to be learned.
 */
static void *allocate_in_thread(void *page)
{
	uint8_t pages[2 * HI_PAGE_BYTES];
	__asm__ volatile("" : : "r"(pages) : "memory");
	storm_allocate(page, malloc);
	return NULL;
}

/* A thread that never sleeps shows its stack to nobody but the payload. */
static void start_a_thread_when_asked(struct victim_page *page)
{
	pthread_t thread;
	page->ready = 1;
	while (page->asked < 1)
		victim_pause_us(100);
	pthread_create(&thread, NULL, allocate_in_thread, page);
	page->answered = 1;
	for (;;)
		pause();
}

static uint32_t regions(const struct watched *watched)
{
	const struct hi_control *control = watched->attached.attachment.arena.shared;
	return control->regions[control->current_regions].count;
}

UNIT_TEST(the_stack_of_a_new_thread_is_learned_from_its_samples)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	watched_start(&watched, start_a_thread_when_asked);
	look(&watched);
	const uint32_t before = regions(&watched);
	victim_ask(&watched.attached.victim, 1);
	WAIT_FOR(look(&watched), regions(&watched) > before);
	/* From now on its stacks are whole. */
	const struct hi_counters *counters = &watched.attached.attachment.arena.shared->counters;
	const uint64_t truncated = counters->stacks_truncated, seen = watched.pump.reader.allocs;
	WAIT_FOR(look(&watched), watched.pump.reader.allocs >= seen + 200);
	CHECK(counters->stacks_truncated - truncated <= 5);
	watched_end(&watched);
}

UNIT_TEST(a_dynamic_linker_at_work_is_waited_for)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	const uint32_t adding = 1; /* RT_ADD */
	uint32_t consistent;
	watched_start(&watched, load_when_asked);
	look(&watched);
	const struct attachment *attachment = &watched.attached.attachment;
	/* r_state, behind version, map and brk */
	const remote_addr state = attachment->images.r_debug + 24;
	CHECK_EQ(memory_read(&attachment->memory, state, &consistent, sizeof(consistent)), 0);
	CHECK_EQ(consistent, 0);
	CHECK_EQ(memory_write(&attachment->memory, state, &adding, sizeof(adding)), 0);
	CHECK_EQ(watch_round(&watched.attached.attachment, &watched.pump), -EAGAIN);
	CHECK_EQ(memory_write(&attachment->memory, state, &consistent, sizeof(consistent)), 0);
	CHECK_EQ(watch_round(&watched.attached.attachment, &watched.pump), 0);
	watched_end(&watched);
}

UNIT_TEST(a_target_that_is_gone_is_an_error_code)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct watched watched;
	watched_start(&watched, load_when_asked);
	look(&watched);
	kill(watched.attached.victim.pid, SIGKILL);
	waitpid(watched.attached.victim.pid, NULL, 0);
	CHECK_EQ(watch_round(&watched.attached.attachment, &watched.pump), -ESRCH);
	pump_close(&watched.pump);
	stream_out_close(&watched.out);
	attached_close(&watched.attached);
	victim_forget(&watched.attached.victim);
}

UNIT_MAIN()
