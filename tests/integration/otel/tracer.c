/* SPDX-License-Identifier: MIT */
/*
 * tracer PID: finds the probes otel_memory:alloc and :free of a process as the profiler of
 * OpenTelemetry does: in each executable mapping of a file that is no memory file, by the notes of
 * that file, which it opens by /proc/PID/map_files. Arms them, says "on", and at the end of
 * standard input says what they have shown:
 *
 *     allocs EVENTS WEIGHT        frees EVENTS UNKNOWN
 *     live EVENTS WEIGHT SIZE     caller OFFSET-IN-THE-PROGRAM EVENTS
 *
 * A caller is the return address above the word at the stack pointer, the frame pointer. Ends with
 * 77 if the kernel has no such probes, or not for us.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOT_HERE 77
#define PMU "/sys/bus/event_source/devices/uprobe/type"
#define PAGES 512u
#define PAGE 4096u
#define CPUS_MAX 64
#define EVENTS_MAX (4u << 20)
#define CALLERS_MAX 64

enum { ALLOC, FREE, PROBES };
static const char *const names[PROBES] = {"alloc", "free"};

struct event {
	uint64_t time, address, size, weight, caller;
	int probe;
};

static struct event *events;
static size_t event_count;
static uint64_t lost;

static struct {
	char path[64];
	uint64_t offset; /* in the file; 0 = not found */
	uint64_t ip;
} probe[PROBES];

/* ---- finding ----------------------------------------------------------------------------------*/

static uint64_t offset_in_file(Elf *elf, uint64_t address)
{
	GElf_Phdr segment;

	for (int i = 0; gelf_getphdr(elf, i, &segment); i++)
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
		    address >= segment.p_vaddr && address < segment.p_vaddr + segment.p_filesz)
			return address - segment.p_vaddr + segment.p_offset;
	return 0;
}

static void read_notes(Elf *elf, Elf_Data *data, const char *path, uint64_t lo, uint64_t skipped)
{
	GElf_Nhdr note;
	size_t name, desc, next;

	for (size_t at = 0; (next = gelf_getnote(data, at, &note, &name, &desc)); at = next) {
		const uint8_t *bytes = (const uint8_t *)data->d_buf + desc;
		const char *provider = (const char *)bytes + 24, *called;
		uint64_t location;

		if (note.n_type != 3 || strcmp((const char *)data->d_buf + name, "stapsdt") ||
		    strcmp(provider, "otel_memory"))
			continue;
		memcpy(&location, bytes, sizeof(location));
		called = provider + strlen(provider) + 1;
		for (int i = 0; i < PROBES; i++)
			if (!strcmp(called, names[i])) {
				probe[i].offset = offset_in_file(elf, location);
				probe[i].ip = lo + probe[i].offset - skipped;
				snprintf(probe[i].path, sizeof(probe[i].path), "%s", path);
				printf("%s%s: %s\n", "otel_memory:", called,
				       called + strlen(called) + 1);
			}
	}
}

static void look_at(const char *path, uint64_t lo, uint64_t skipped)
{
	const int fd = open(path, O_RDONLY);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	size_t strings;

	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
		    !elf_getshdrstrndx(elf, &strings) &&
		    !strcmp(elf_strptr(elf, strings, header.sh_name), ".note.stapsdt"))
			read_notes(elf, elf_getdata(section, NULL), path, lo, skipped);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static void find(int pid)
{
	char line[4096], path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	elf_version(EV_CURRENT);
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long lo, hi, skipped, inode;
		char rights[8], file[2048] = "";

		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %2047s", &lo, &hi, rights, &skipped,
			   &inode, file) < 6 ||
		    rights[2] != 'x' || !inode || !strncmp(file, "/memfd:", 7))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, lo, hi);
		look_at(path, lo, skipped);
	}
	if (maps)
		fclose(maps);
}

/* ---- listening --------------------------------------------------------------------------------*/

static unsigned pmu_type(void)
{
	FILE *file = fopen(PMU, "r");
	unsigned type;

	if (!file || fscanf(file, "%u", &type) != 1)
		exit(NOT_HERE);
	fclose(file);
	return type;
}

struct ring {
	struct perf_event_mmap_page *head;
	int fd, probe;
};

static struct ring ring_open(int cpu, int which, unsigned type)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.uprobe_path = (uintptr_t)probe[which].path,
		.probe_offset = probe[which].offset,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 1 << 3 | 1 << 4 | 1 << 5, /* dx, si, di, in this order */
		.sample_stack_user = 16,
		.use_clockid = 1,
		.clockid = 1, /* CLOCK_MONOTONIC */
		.wakeup_events = 1,
	};
	struct ring ring = {.probe = which};

	ring.fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring.fd < 0) {
		fprintf(stderr, "perf_event_open: %s\n", strerror(errno));
		exit(errno == EACCES || errno == EPERM || errno == EINVAL ? NOT_HERE : 1);
	}
	ring.head = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	if (ring.head == MAP_FAILED)
		exit(1);
	return ring;
}

static void take(const struct ring *ring, const uint8_t *record, int pid)
{
	/* header, pid and tid, time, abi, registers, size of the stack, stack */
	uint64_t word[10];
	uint32_t owner;

	memcpy(&owner, record + 8, sizeof(owner));
	memcpy(word, record + 8, sizeof(word));
	if ((int)owner != pid || event_count == EVENTS_MAX)
		return;
	events[event_count++] = (struct event){.time = word[1],
					       .weight = word[3],
					       .size = word[4],
					       .address = word[5],
					       .caller = word[6] == 16 ? word[8] : 0,
					       .probe = ring->probe};
}

static int ring_read(struct ring *ring, int pid)
{
	const uint8_t *data = (const uint8_t *)ring->head + PAGE;
	const uint64_t head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->head->data_tail;
	const int has_some = tail != head;

	while (tail < head) {
		uint8_t record[256];
		struct perf_event_header header;
		uint64_t i;

		for (i = 0; i < sizeof(header); i++)
			((uint8_t *)&header)[i] = data[(tail + i) % (PAGES * PAGE)];
		for (i = 0; i < header.size && i < sizeof(record); i++)
			record[i] = data[(tail + i) % (PAGES * PAGE)];
		if (header.type == PERF_RECORD_SAMPLE)
			take(ring, record, pid);
		else if (header.type == PERF_RECORD_LOST || header.type == PERF_RECORD_THROTTLE)
			lost++;
		tail += header.size;
	}
	__atomic_store_n(&ring->head->data_tail, tail, __ATOMIC_RELEASE);
	return has_some;
}

/* ---- telling ----------------------------------------------------------------------------------*/

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static uint64_t program_start(int pid)
{
	char path[64];
	unsigned long lo = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	if (!maps || fscanf(maps, "%lx", &lo) != 1)
		return 0;
	fclose(maps);
	return lo;
}

static void tell(uint64_t start)
{
	struct {
		uint64_t address, count;
	} caller[CALLERS_MAX] = {0};
	uint64_t allocs = 0, weight = 0, frees = 0, unknown = 0, live = 0, live_weight = 0,
		 live_size = 0;
	const struct event *last = NULL;

	qsort(events, event_count, sizeof(*events), by_time);
	for (size_t i = 0; i < event_count; i++) {
		const struct event *event = &events[i];
		const int is_after = last && last->address == event->address;
		const int was_live = is_after && last->probe == ALLOC;

		if (event->probe == FREE) {
			frees++;
			unknown += !was_live;
			live -= was_live;
			live_weight -= was_live ? last->weight : 0;
			live_size -= was_live ? last->size : 0;
		} else {
			allocs++;
			live++;
			weight += event->weight;
			live_weight += event->weight;
			live_size += event->size;
			for (int c = 0; c < CALLERS_MAX; c++)
				if (!caller[c].count || caller[c].address == event->caller) {
					caller[c].address = event->caller;
					caller[c].count++;
					break;
				}
		}
		last = event;
	}
	printf("allocs %llu %llu\nfrees %llu %llu\nlive %llu %llu %llu\nlost %llu\n",
	       (unsigned long long)allocs, (unsigned long long)weight, (unsigned long long)frees,
	       (unsigned long long)unknown, (unsigned long long)live,
	       (unsigned long long)live_weight, (unsigned long long)live_size,
	       (unsigned long long)lost);
	for (int c = 0; c < CALLERS_MAX && caller[c].count; c++)
		printf("caller %llx %llu\n", (unsigned long long)(caller[c].address - start),
		       (unsigned long long)caller[c].count);
}

int main(int argc, char **argv)
{
	const int pid = argc == 2 ? atoi(argv[1]) : 0;
	const unsigned type = pmu_type();
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct ring ring[CPUS_MAX * PROBES];
	size_t rings = 0;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;

	if (!pid || cpus > CPUS_MAX)
		return 1;
	find(pid);
	if (!probe[ALLOC].offset || !probe[FREE].offset) {
		printf("no probes\n");
		return 1;
	}
	events = malloc(EVENTS_MAX * sizeof(*events));
	for (int cpu = 0; events && cpu < cpus; cpu++)
		for (int which = 0; which < PROBES; which++)
			ring[rings++] = ring_open(cpu, which, type);
	printf("on\n");
	fflush(stdout);
	for (int is_over = 0, has_some = 1; !is_over || has_some;) {
		if (!is_over && poll(&input, 1, has_some ? 0 : 5) > 0)
			is_over = read(STDIN_FILENO, &byte, 1) <= 0;
		has_some = 0;
		for (size_t i = 0; i < rings; i++)
			has_some |= ring_read(&ring[i], pid);
	}
	tell(program_start(pid));
	return 0;
}
