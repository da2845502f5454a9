/* SPDX-License-Identifier: MIT */
/*
 * probe PID FUNCTION: a uprobe at this function of libc in that process, as perf and bpftrace have
 * them, until the end of standard input. Says "on" when it is there; ends with 77 if the kernel has
 * none, or not for us.
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOT_HERE 77
#define PMU "/sys/bus/event_source/devices/uprobe/type"

static unsigned pmu_type(void)
{
	FILE *file = fopen(PMU, "r");
	unsigned type;

	if (!file || fscanf(file, "%u", &type) != 1)
		exit(NOT_HERE);
	fclose(file);
	return type;
}

/* Where it lies in its file: this program has the same libc. */
static uint64_t file_offset(uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t lo, hi, offset;
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &lo, &hi, &offset) == 3 && address >= lo &&
		    address < hi)
			return address - lo + offset;
	exit(1);
}

int main(int argc, char **argv)
{
	void *const function = argc == 3 ? dlsym(RTLD_DEFAULT, argv[2]) : NULL;
	struct perf_event_attr attr = {.size = sizeof(attr), .type = pmu_type()};
	Dl_info info;
	char byte;

	if (!function || !dladdr(function, &info))
		return 1;
	attr.uprobe_path = (uintptr_t)info.dli_fname;
	attr.probe_offset = file_offset((uintptr_t)function);
	if (syscall(SYS_perf_event_open, &attr, atoi(argv[1]), -1, -1, 0) < 0)
		return NOT_HERE;
	dprintf(STDOUT_FILENO, "on\n");
	return read(STDIN_FILENO, &byte, 1) > 0;
}
