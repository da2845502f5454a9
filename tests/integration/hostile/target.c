/* SPDX-License-Identifier: MIT */
/*
 * A target that means harm. `target HOW`: threads allocate and check what they got; meanwhile, or
 * before, what HOW names is done. Answers to `state`: progress of the slowest thread, and whether
 * anything was damaged that nobody but a debugger could have damaged.
 *
 * It writes to what it has found in its own /proc/self/maps by process_vm_writev, which fails where
 * nothing is mapped any more: it wants to outlive the session.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "../target.h"
#include "hi_wire.h"

#define WORKERS 2
#define BLOCKS 256
#define INNOCENT 0x1220ce27u

static atomic_ulong progress[WORKERS];
static atomic_bool is_damaged, is_quiet;
static volatile uint64_t innocent[64];

/* ---- honest work ----------------------------------------------------------------------------- */

static void *work(void *argument)
{
	const unsigned self = (unsigned)(uintptr_t)argument;
	unsigned char *block[BLOCKS] = {0};

	for (unsigned round = 0;; round++) {
		if (is_quiet) {
			progress[self]++;
			usleep(1000);
			continue;
		}
		const unsigned i = round * 2654435761u % BLOCKS;
		const unsigned size = 16 + round % 5000;

		if (block[i] &&
		    (block[i][0] != (unsigned char)i || block[i][15] != (unsigned char)self))
			is_damaged = true;
		free(block[i]);
		block[i] = malloc(size);
		block[i][0] = (unsigned char)i;
		block[i][15] = (unsigned char)self;
		progress[self]++;
		if (round % 512 == 0)
			usleep(500);
	}
	return NULL;
}

static bool all_progress(const unsigned long *since)
{
	bool all = true;

	for (unsigned i = 0; i < WORKERS; i++)
		all &= progress[i] != since[i];
	return all;
}

static void answer_state(void)
{
	unsigned long before[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++)
		before[i] = progress[i];
	/* a busy machine may take its time */
	for (unsigned wait = 0; wait < 200 && !all_progress(before); wait++)
		usleep(100000);
	for (unsigned i = 0; i < sizeof(innocent) / sizeof(innocent[0]); i++)
		is_damaged |= innocent[i] != INNOCENT + i;
	target_say("%s %lu\n",
		   is_damaged             ? "damaged"
		   : all_progress(before) ? "well"
					  : "stuck",
		   progress[0]);
}

/* ---- what is there to scribble over ---------------------------------------------------------- */

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Numbers that hurt: small, huge, ours, the kernel's. */
static uint64_t nasty_number(void)
{
	switch (random_number() % 8) {
	case 0:
		return 0;
	case 1:
		return random_number() % 4096;
	case 2:
		return random_number() % 4096 * 32;
	case 3:
		return (uintptr_t)&innocent[random_number() % 64];
	case 4:
		return 0xffffffff81000000ull + random_number() % 4096;
	case 5:
		return UINT64_MAX - random_number() % 4096;
	case 6:
		return 1ull << random_number() % 64;
	default:
		return random_number();
	}
}

/* The arena, by its first line in maps; 0 = none. */
static uintptr_t find_arena(void)
{
	static char text[1 << 20];
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	close(fd);
	text[size] = 0;
	char *name = strstr(text, "/memfd:" HI_MEMFD_NAME);
	if (!name)
		return 0;
	while (name > text && name[-1] != '\n')
		name--;
	return strtoul(name, NULL, 16);
}

static bool put(uintptr_t at, const void *bytes, size_t size)
{
	const struct iovec local = {(void *)(uintptr_t)bytes, size}, remote = {(void *)at, size};

	return process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool get(uintptr_t at, void *bytes, size_t size)
{
	const struct iovec local = {bytes, size}, remote = {(void *)at, size};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void put_number(uintptr_t at, uint64_t number, size_t size)
{
	(void)put(at, &number, size);
}

static void scribble(uintptr_t at, size_t size, size_t unit)
{
	put_number(at + random_number() % (size / unit) * unit, nasty_number(), unit);
}

/* ---- scribblers ------------------------------------------------------------------------------ */

/*
 * Called for ever, with the address of the arena and the control block as it was at first.
 */

/*
 * One of the rings; *out_capacity: the largest power of two that so many times goes into their
 * part.
 */
static uintptr_t random_ring(uintptr_t base, const struct hi_control *control,
			     uint64_t *out_capacity)
{
	const uint64_t count = control->ring_mask + 1ull;

	*out_capacity = 1ull << (63 - __builtin_clzll(control->ring.size / count));
	return base + control->ring.offset +
	       random_number() % count * (sizeof(struct hi_ring) + *out_capacity);
}

static void scribble_ring(uintptr_t base, const struct hi_control *control)
{
	uint64_t capacity;
	const uintptr_t ring = random_ring(base, control, &capacity);
	uint64_t record[32] = {32u * (1 + random_number() % 70) | (1 + random_number() % 5) << 32,
			       random_number(),
			       nasty_number(),
			       nasty_number(),
			       nasty_number(),
			       1};

	put(ring + offsetof(struct hi_ring, data) + random_number() % (capacity / 32) * 32, record,
	    sizeof(record));
	scribble(ring + offsetof(struct hi_ring, data), capacity, 8);
	if (random_number() % 4 == 0)
		put_number(ring + offsetof(struct hi_ring, head),
			   random_number() % 2 ? random_number() % 100000 * 32 : nasty_number(), 8);
	if (random_number() % 4 == 0)
		put_number(ring + offsetof(struct hi_ring, tail), nasty_number(), 8);
}

/*
 * Records that are right in every form, as many as go in, each of another thread and stack. Nobody
 * else writes any: the workers are quiet.
 */
static void flood_ring(uintptr_t base, const struct hi_control *control)
{
	enum { RECORDS = 128, BYTES = 64 };
	static uint64_t record[RECORDS][BYTES / 8];
	uint64_t capacity;
	const uintptr_t ring = random_ring(base, control, &capacity);
	struct hi_ring now;

	is_quiet = true;
	if (!get(ring, &now, sizeof(now)) || now.head - now.tail > capacity - sizeof(record))
		return;
	for (unsigned i = 0; i < RECORDS; i++) {
		const uint64_t filled[] = {BYTES | (uint64_t)HI_RECORD_ALLOC << 32,
					   0,
					   random_number(),
					   random_number() >> 20,
					   1 + random_number() % 100000,
					   2,
					   random_number() >> 20,
					   random_number() >> 20};
		memcpy(record[i], filled, sizeof(filled));
		(void)put(ring + offsetof(struct hi_ring, data) + (now.head + i * BYTES) % capacity,
			  record[i], BYTES);
	}
	put_number(ring + offsetof(struct hi_ring, head), now.head + sizeof(record), 8);
}

static void scribble_head(uintptr_t base, const struct hi_control *control)
{
	(void)control;
	scribble(base, offsetof(struct hi_control, heartbeat), random_number() % 2 ? 4 : 8);
}

/* One field after the other, each with one nasty number, and back. */
static void scribble_in_turn(uintptr_t base, const struct hi_control *control)
{
	static size_t at;

	put(base, control, offsetof(struct hi_control, heartbeat));
	at = (at + 4) % (offsetof(struct hi_control, before) + sizeof(control->before));
	put_number(base + at, nasty_number(), at % 8 ? 4 : 8);
	usleep(200);
}

/* Entries that name our own words and innocent ones, with values to be put there. */
static void scribble_journal(uintptr_t base, const struct hi_control *control)
{
	const unsigned i = random_number() % 64;
	const struct hi_journal_entry entry = {
		.slot = random_number() % 2 ? (uintptr_t)&innocent[i] : nasty_number(),
		.new_value = random_number() % 2 ? INNOCENT + i : nasty_number(),
		.old_value = nasty_number(),
		.original = nasty_number(),
		.state = random_number() % 4,
	};

	(void)control;
	put(base + offsetof(struct hi_control, journal[random_number() % 4096]), &entry,
	    sizeof(entry));
	put_number(base + offsetof(struct hi_control, journal_count),
		   random_number() % 4 ? 4096 : nasty_number(), 4);
}

static void scribble_counters(uintptr_t base, const struct hi_control *control)
{
	(void)control;
	scribble(base + offsetof(struct hi_control, counters),
		 offsetof(struct hi_counters, deadman), 8);
}

static void scribble_clock(uintptr_t base, const struct hi_control *control)
{
	(void)control;
	put_number(base + offsetof(struct hi_control, heartbeat), nasty_number(), 8);
	put_number(base + offsetof(struct hi_control, deadman_cycles), 1 + random_number() % 1000,
		   8);
}

static uintptr_t random_slot(uintptr_t base, const struct hi_control *control)
{
	return base + control->state.offset + sizeof(struct hi_state) +
	       sizeof(struct hi_thread_slot) * (random_number() % HI_THREAD_SLOTS);
}

static uintptr_t random_place(uintptr_t base, const struct hi_control *control)
{
	return base + control->state.offset + sizeof(struct hi_state) +
	       offsetof(struct hi_thread_table, place) +
	       sizeof(struct hi_place) * (random_number() % HI_PLACES);
}

/* Figures that the injector adds up. */
static void scribble_slots(uintptr_t base, const struct hi_control *control)
{
	put_number(random_slot(base, control) + offsetof(struct hi_thread_slot, cycles),
		   random_number(), 8);
	put_number(random_slot(base, control) + offsetof(struct hi_thread_slot, last_seen),
		   random_number(), 8);
}

/* Calls that are said to be inside the payload. */
static void scribble_calls(uintptr_t base, const struct hi_control *control)
{
	put_number(base + control->state.offset + sizeof(struct hi_state) +
			   offsetof(struct hi_thread_table, claimed) + 8 * (random_number() % 4),
		   UINT64_MAX, 8);
	put_number(random_slot(base, control) + offsetof(struct hi_thread_slot, in_flight),
		   random_number(), 4);
	put_number(random_place(base, control) + offsetof(struct hi_place, count), random_number(),
		   4);
}

static void scribble_all(uintptr_t base, const struct hi_control *control)
{
	scribble(base, control->tables.offset, 8);
}

/* ---- before anybody comes -------------------------------------------------------------------- */

static void link_map_ring(void)
{
	struct link_map *last = _r_debug.r_map;

	while (last->l_next)
		last = last->l_next;
	last->l_next = _r_debug.r_map;
}

static void link_map_garbage(void)
{
	_r_debug.r_version = 2;
	_r_debug.r_map = (struct link_map *)0xdead0000beef0000;
}

static struct link_map *many_links(void)
{
	enum { LINKS = 1 << 20 };
	struct link_map *link = mmap(NULL, LINKS * sizeof(*link), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0; i < LINKS; i++)
		link[i] = (struct link_map){.l_addr = i,
					    .l_ld = (void *)(uintptr_t)i,
					    .l_next = i + 1 < LINKS ? &link[i + 1] : NULL};
	return link;
}

static void link_map_million(void)
{
	struct link_map *last = _r_debug.r_map;

	while (last->l_next)
		last = last->l_next;
	last->l_next = many_links();
}

/* Another list each time it is looked at. */
static void *churn(void *argument)
{
	struct link_map *last = _r_debug.r_map, *links = many_links();

	(void)argument;
	while (last->l_next)
		last = last->l_next;
	for (unsigned i = 0;; i++) {
		last->l_next = &links[(1 << 20) - 1 - i % 100];
		usleep(1000);
	}
	return NULL;
}

static void link_map_churn(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, churn, NULL);
}

/*
 * Files of terabytes with nothing in them that say they are shared libraries, mapped over and over.
 */
static void hostile_objects(void)
{
	static const struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment[4];
		uint64_t dynamic[12];
	} object = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 4},
		.segment = {{.p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_filesz = 1ull << 40,
			     .p_memsz = 1ull << 46},
			    {.p_type = PT_DYNAMIC, .p_offset = 288, .p_vaddr = 288, .p_filesz = 96},
			    {.p_type = PT_NOTE, .p_filesz = 1ull << 39},
			    {.p_type = PT_GNU_EH_FRAME,
			     .p_offset = 8,
			     .p_vaddr = 8,
			     .p_filesz = 1ull << 33}},
		.dynamic = {DT_STRTAB, 4096, DT_STRSZ, 1ull << 38, DT_SYMTAB, 4096, DT_GNU_HASH,
			    8192, DT_RELA, 4096, DT_RELASZ, 1ull << 38},
	};

	for (unsigned file = 0; file < 50; file++) {
		const int fd = memfd_create("libhostile.so", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, 1ll << 40) || write(fd, &object, sizeof(object)) < 0)
			return;
		for (unsigned i = 0; i < 40; i++)
			(void)mmap(NULL, 4096, PROT_READ | (i % 2 ? PROT_EXEC : 0), MAP_PRIVATE, fd,
				   0);
		close(fd);
	}
}

/* The program's own ELF header, as it lies in memory. */
static void no_header(void)
{
	extern char __executable_start[];

	mprotect(__executable_start, 4096, PROT_READ | PROT_WRITE);
	memset(__executable_start, 0x5a, 64);
}

static void many_mappings(void)
{
	const size_t pages = 60000;
	char *at = mmap(NULL, pages * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < pages; i += 2)
		if (mprotect(at + i * 4096, 4096, PROT_NONE))
			return;
}

/* As much of the address space as there is, all of it to be searched for copies. */
static void reserve(void)
{
	for (unsigned shift = 46; shift > 30; shift--)
		(void)mmap(NULL, 1ull << shift, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/*
 * Hundreds of megabytes that look like copies of what leads to the gate, made as soon as there is
 * one.
 */
static void scribble_copies(uintptr_t base, const struct hi_control *control)
{
	enum { WORDS = 32 << 20 };
	static uint64_t *copies;

	if (!copies)
		copies = mmap(NULL, WORDS * sizeof(*copies), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < WORDS; i++)
		copies[i] = base + control->gate.offset +
			    random_number() % control->gate_count * HI_GATE_STRIDE;
	sleep(1);
}

static void nasty_names(void)
{
	prctl(PR_SET_NAME, "\033[31m\n\\x\007");
	const int fd = memfd_create("a\nb c\\012\033]0;x\007.so (deleted)", MFD_CLOEXEC);
	const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	static char bytes[1 << 20];
	const ssize_t size = read(self, bytes, sizeof(bytes));

	if (size > 0 && write(fd, bytes, (size_t)size) == size)
		(void)mmap(NULL, (size_t)size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	close(self);
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + HI_PAGE_BYTES - 1) / HI_PAGE_BYTES * HI_PAGE_BYTES;
}

/* Of a state without buckets, with one occupancy byte and one known stack. */
static uint64_t least_state(void)
{
	return sizeof(struct hi_state) + whole_pages(sizeof(struct hi_thread_table)) +
	       whole_pages(1) + whole_pages(HI_SCRATCHES * HI_SCRATCH_BYTES) +
	       whole_pages(HI_RULES * sizeof(struct hi_rule_entry)) + whole_pages(8);
}

/*
 * An arena of the name, with a control block that is right in every detail but for what it leads
 * to.
 */
static void forged_arena(void)
{
	const int fd = memfd_create(HI_MEMFD_NAME, MFD_CLOEXEC);
	const size_t size = 64 << 20;
	static struct hi_control control;
	struct hi_control *at;

	if (fd < 0 || ftruncate(fd, (off_t)size) ||
	    (at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
		return;
	uint64_t end = HI_CONTROL_BYTES;
	const struct {
		struct hi_part *part;
		uint64_t size;
	} parts[] = {{&control.ring, 1 << 20},       {&control.stacks, 1 << 20},
		     {&control.tables, 1 << 20},     {&control.state, least_state()},
		     {&control.image, 1 << 14},      {&control.gate, HI_GATE_BYTES},
		     {&control.words, HI_GATE_BYTES}};
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		*parts[i].part = (struct hi_part){end, parts[i].size};
		end += parts[i].size;
	}
	control.magic = HI_WIRE_MAGIC;
	control.version = HI_WIRE_VERSION;
	control.phase = HI_PHASE_ARMED;
	control.pid = control.injector_pid = (uint32_t)getpid();
	control.arena = (uintptr_t)at;
	control.arena_size = end;
	control.gate_count = HI_GATE_ENTRIES;
	control.journal_count = 64;
	for (unsigned i = 0; i < 64; i++)
		control.journal[i] = (struct hi_journal_entry){.slot = (uintptr_t)&innocent[i],
							       .new_value = INNOCENT + i,
							       .old_value = 1,
							       .state = HI_JOURNAL_WRITTEN};
	memcpy(at, &control, sizeof(control));
	close(fd);
}

/*
 * Puts another file under the number of the injector's memory file, at any moment after that has
 * appeared.
 */
static const char *victim_file;

static void *swap_descriptors(void *argument)
{
	const int victim = *(const int *)argument;
	char path[64], link[64];

	for (;;) {
		for (int fd = 3; fd < 12; fd++) {
			snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
			const ssize_t size = readlink(path, link, sizeof(link) - 1);
			if (fd == victim || size <= 0 ||
			    !strstr((link[size] = 0, link), "memfd:" HI_MEMFD_NAME))
				continue;
			/* at any moment of what is done with it */
			for (volatile unsigned wait = (unsigned)random() % 400000; wait; wait--)
				;
			dup2(victim, fd);
		}
	}
	return NULL;
}

/* One that it may only read: mapped so that it could be written to, that is refused. */
static void swapped_descriptors(void)
{
	static int victim;
	pthread_t thread;

	victim = open(victim_file, O_RDONLY | O_CLOEXEC);
	pthread_create(&thread, NULL, swap_descriptors, &victim);
}

/* One that is large, empty, and its own: it can be mapped like ours. */
static void swapped_memory(void)
{
	static int empty;
	pthread_t thread;

	empty = memfd_create("empty", MFD_CLOEXEC);
	if (empty < 0 || ftruncate(empty, 1 << 30))
		abort();
	pthread_create(&thread, NULL, swap_descriptors, &empty);
}

/* ---- */

static const struct way {
	const char *name;
	void (*prepare)(void);
	void (*scribble)(uintptr_t base, const struct hi_control *control);
} ways[] = {
	{"ring", NULL, scribble_ring},
	{"flood", NULL, flood_ring},
	{"head", NULL, scribble_head},
	{"turn", NULL, scribble_in_turn},
	{"journal", NULL, scribble_journal},
	{"counters", NULL, scribble_counters},
	{"clock", NULL, scribble_clock},
	{"slots", NULL, scribble_slots},
	{"copies", NULL, scribble_copies},
	{"calls", NULL, scribble_calls},
	{"all", NULL, scribble_all},
	{"link_map_ring", link_map_ring, NULL},
	{"link_map_garbage", link_map_garbage, NULL},
	{"link_map_million", link_map_million, NULL},
	{"link_map_churn", link_map_churn, NULL},
	{"objects", hostile_objects, NULL},
	{"no_header", no_header, NULL},
	{"mappings", many_mappings, NULL},
	{"reserve", reserve, NULL},
	{"names", nasty_names, NULL},
	{"forged_arena", forged_arena, NULL},
	{"descriptors", swapped_descriptors, NULL},
	{"memory", swapped_memory, NULL},
};

static void *scribble_for_ever(void *argument)
{
	static struct hi_control control;
	const struct way *way = argument;
	bool is_known = false;

	for (;;) {
		const uintptr_t base = find_arena();

		if (!base || (!is_known && (!get(base, &control, sizeof(control)) ||
					    control.phase != HI_PHASE_ARMED))) {
			is_known = false;
			usleep(1000);
			continue;
		}
		if (!is_known)
			mprotect((void *)base, HI_PRIVATE_BYTES, PROT_READ | PROT_WRITE);
		is_known = true;
		for (unsigned i = 0; i < 2000; i++)
			way->scribble(base, &control);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char command[TARGET_COMMAND_MAX];
	const struct way *way = ways;

	while (argc > 1 && way < ways + sizeof(ways) / sizeof(ways[0]) &&
	       strcmp(way->name, argv[1]))
		way++;
	if (argc < 2 || way == ways + sizeof(ways) / sizeof(ways[0]))
		return 2;
	victim_file = argc > 2 ? argv[2] : "/dev/null";
	for (unsigned i = 0; i < sizeof(innocent) / sizeof(innocent[0]); i++)
		innocent[i] = INNOCENT + i;
	for (uintptr_t i = 0; i < WORKERS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	if (way->prepare)
		way->prepare();
	if (way->scribble)
		pthread_create(&thread, NULL, scribble_for_ever, (void *)(uintptr_t)way);
	target_say("ready\n");
	while (target_read(command))
		answer_state();
	_exit(0);
}
