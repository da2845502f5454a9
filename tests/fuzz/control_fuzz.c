/* SPDX-License-Identifier: MIT */
/*
 * control_fuzz.c - what a dead injector left, written over by the target: control block and
 * journal, as `heapinject detach` reads them. The fuzzer is the target, and holds the arena. The
 * input is a list of 10-byte scribbles: which word of the block's head or of the journal's first
 * entries, and what to write there.
 *
 * What the journal says is done to a file of words, some of which lead to the gate: only these may
 * change.
 *
 * libFuzzer: -max_len=1024
 */
#include <errno.h>

#include "fuzz.h"
#include "journal.h"
#include "recover.h"

#define WORDS 512u
#define HEAD_BYTES offsetof(struct hi_control, heartbeat)
#define ENTRIES 64u

static struct hi_control *shared, *pristine;

/* Word i of the target, before anything is undone: every other one leads to the gate. */
static uint64_t word_before(unsigned i)
{
	return i % 2 ? i : arena_gate(pristine) + i / 2 % pristine->gate_count * HI_GATE_STRIDE;
}

static void set_up(void)
{
	const struct arena_plan plan = {.interval = 512u << 10, .image_bytes = HI_PAGE_BYTES};
	const int fd = memfd_create(HI_MEMFD_NAME, MFD_CLOEXEC);

	pristine = arena_control_new();
	FUZZ_CHECK(pristine && fd >= 0);
	arena_layout(&plan, pristine);
	FUZZ_CHECK(!ftruncate(fd, (off_t)pristine->arena_size));
	shared = mmap(NULL, pristine->arena_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	FUZZ_CHECK(shared != MAP_FAILED);
	FUZZ_CHECK(mmap(shared, HI_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
			0) == shared);
	close(fd);
	pristine->magic = HI_WIRE_MAGIC;
	pristine->phase = HI_PHASE_ARMED;
	pristine->pid = (uint32_t)getpid(); /* another one: a parent, of which this was inherited */
	FUZZ_CHECK(!proc_start_time(getpid(), &pristine->start_time));
	pristine->arena = (uintptr_t)shared;
	pristine->gate_count = 8;
	pristine->journal_count = ENTRIES;
	for (unsigned i = 0; i < ENTRIES; i++)
		pristine->journal[i] = (struct hi_journal_entry){.slot = 16 * i,
								 .old_value = 77,
								 .new_value = word_before(2 * i),
								 .state = HI_JOURNAL_WRITTEN};
}

static void scribble(const uint8_t *data, size_t size)
{
	memcpy(shared, pristine, HEAD_BYTES);
	memcpy(shared->journal, pristine->journal, ENTRIES * sizeof(struct hi_journal_entry));
	while (size) {
		const size_t word = fuzz_take(&data, &size, 2) %
				    ((HEAD_BYTES + ENTRIES * sizeof(struct hi_journal_entry)) / 4);
		const uint64_t value = fuzz_take(&data, &size, 8);
		uint8_t *at = word < HEAD_BYTES / 4
				      ? (uint8_t *)shared + 4 * word
				      : (uint8_t *)shared->journal + 4 * (word - HEAD_BYTES / 4);

		memcpy(at, &value, word % 2 || word == HEAD_BYTES / 4 - 1 ? 4 : 8);
	}
}

static void check_control(const struct hi_control *control)
{
	FUZZ_CHECK(control->arena == pristine->arena && control->gate_count <= HI_GATE_ENTRIES);
	FUZZ_CHECK(control->gate.offset < pristine->arena_size &&
		   control->words.offset == control->gate.offset + HI_GATE_BYTES);
	FUZZ_CHECK(control->words.offset + control->words.size == control->arena_size &&
		   control->bucket_bits < 32);
	FUZZ_CHECK(control->loader == HI_LOADER_DLOPEN ||
		   control->payload_base - control->arena < control->arena_size);
}

static void undo(struct hi_control *control)
{
	uint64_t words[WORDS], after[WORDS];
	struct journal_restored restored = {0};

	for (unsigned i = 0; i < WORDS; i++)
		words[i] = word_before(i);
	const struct memory memory = {.fd = fuzz_file((const uint8_t *)words, sizeof(words))};
	const struct patcher patcher = patcher_for_stopped(&memory);
	(void)!journal_restore(control, &patcher, JOURNAL_PINNED, &restored);
	(void)!journal_restore(control, &patcher, JOURNAL_UNLOADABLE, &restored);
	FUZZ_CHECK(pread(memory.fd, after, sizeof(after), 0) == sizeof(after));
	const uint64_t gate = arena_gate(control), gate_end = gate + HI_GATE_BYTES;
	for (unsigned i = 0; i < WORDS; i++)
		FUZZ_CHECK(after[i] == words[i] || (words[i] >= gate && words[i] < gate_end));
	FUZZ_CHECK(restored.restored + restored.overwritten + restored.vanished <=
		   HI_JOURNAL_CAPACITY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct attachment attachment;

	if (!shared)
		set_up();
	scribble(data, size);
	attachment_init(&attachment, getpid());
	FUZZ_CHECK(!memory_open(&attachment.memory, getpid(), getpid()));
	const int err = recover(&attachment);
	FUZZ_CHECK(err == 0 || err == -EPROTO);
	if (!err) {
		check_control(attachment.control);
		undo(attachment.control);
	}
	attachment_close(&attachment);
	return 0;
}
