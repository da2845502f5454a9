/* SPDX-License-Identifier: MIT */
/*
 * gap_monitor.c - a thread that wakes every 200 us, preloaded into any program, and the longest
 * time it ever had to wait for that: how long the program stood still. The longest is also found of
 * gaps less the time in which the thread was ready to run and had no CPU
 * (/proc/thread-self/schedstat): that is what it was stopped, or waited for somebody who was.
 *
 * It shares the file $GAP_FILE with tests/torture/gap: that writes the number of the window that
 * runs, the monitor the longest gaps of each. A gap that reaches from one window into the next
 * counts in both. It is a thread like any other: what stops one thread of the program may stop this
 * one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 200000

struct gap_file {
	_Atomic uint64_t window;
	_Atomic uint64_t beats;
	struct longest {
		_Atomic uint64_t gap_ns, stopped_ns;
	} longest[];
};

struct monitor {
	struct gap_file *file;
	uint64_t windows;
	int schedstat;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * For how long this thread has been ready to run without a CPU, all its life; 0 where the kernel
 * does not say.
 */
static int64_t starved_ns(const struct monitor *monitor)
{
	char text[80];
	/* time on a CPU, time of waiting for one, slices */
	const ssize_t size = pread(monitor->schedstat, text, sizeof(text) - 1, 0);
	long long starved = 0;

	text[size > 0 ? size : 0] = 0;
	return sscanf(text, "%*s %lld", &starved) == 1 ? starved : 0;
}

static void raise_to(_Atomic uint64_t *longest, int64_t ns)
{
	if (ns > 0 && (uint64_t)ns > atomic_load(longest))
		atomic_store(longest, (uint64_t)ns);
}

static void note(const struct monitor *monitor, uint64_t window, int64_t gap_ns, int64_t stopped_ns)
{
	if (window >= monitor->windows)
		return;
	raise_to(&monitor->file->longest[window].gap_ns, gap_ns);
	raise_to(&monitor->file->longest[window].stopped_ns, stopped_ns);
}

static void *watch(void *argument)
{
	static struct monitor monitor;
	const struct timespec period = {.tv_nsec = PERIOD_NS};
	uint64_t window_before = 0;
	int64_t before = now_ns(), starved_before;

	monitor = *(struct monitor *)argument;
	free(argument);
	monitor.schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	starved_before = starved_ns(&monitor);
	for (;;) {
		uint64_t window;
		int64_t now, starved, gap, stopped;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
		now = now_ns();
		starved = starved_ns(&monitor);
		gap = now - before;
		stopped = gap - (starved - starved_before);
		window = atomic_load(&monitor.file->window);
		note(&monitor, window, gap, stopped);
		if (window != window_before)
			note(&monitor, window_before, gap, stopped);
		atomic_fetch_add(&monitor.file->beats, 1);
		window_before = window;
		before = now;
		starved_before = starved;
	}
	return NULL;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("GAP_FILE");
	const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct monitor *monitor;
	struct stat info;
	pthread_t thread;
	void *file;

	if (fd < 0 || fstat(fd, &info))
		return;
	file = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		    fd, 0);
	close(fd);
	monitor = malloc(sizeof(*monitor));
	if (file == MAP_FAILED || !monitor)
		return;
	*monitor = (struct monitor){.file = file,
				    .windows = ((uint64_t)info.st_size - sizeof(struct gap_file)) /
					       sizeof(struct longest)};
	if (pthread_create(&thread, NULL, watch, monitor) == 0)
		pthread_detach(thread);
}
