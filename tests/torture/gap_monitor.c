/* SPDX-License-Identifier: MIT */
/*
 * gap_monitor.c - a thread that wakes every 200 us, preloaded into any program, and the longest time it ever had to wait for that: how long the program stood
 * still.
 *
 * It shares the file $GAP_FILE with tests/torture/gap: that writes the number of the window that runs, the monitor the longest gap of each. A gap that reaches
 * from one window into the next counts in both. It is a thread like any other: what stops one thread of the program may stop this one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 200000

struct gap_file {
	_Atomic uint64_t window;
	_Atomic uint64_t beats;
	_Atomic uint64_t longest_ns[];
};

struct monitor {
	struct gap_file *file;
	uint64_t windows;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void note(const struct monitor *monitor, uint64_t window, int64_t gap_ns)
{
	if (window < monitor->windows && (uint64_t)gap_ns > atomic_load(&monitor->file->longest_ns[window]))
		atomic_store(&monitor->file->longest_ns[window], (uint64_t)gap_ns);
}

static void *watch(void *argument)
{
	static struct monitor monitor;
	const struct timespec period = {.tv_nsec = PERIOD_NS};
	uint64_t window_before = 0;
	int64_t before = now_ns();

	monitor = *(struct monitor *)argument;
	free(argument);
	for (;;) {
		uint64_t window;
		int64_t now;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
		now = now_ns();
		window = atomic_load(&monitor.file->window);
		note(&monitor, window, now - before);
		if (window != window_before)
			note(&monitor, window_before, now - before);
		atomic_fetch_add(&monitor.file->beats, 1);
		window_before = window;
		before = now;
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
	file = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	monitor = malloc(sizeof(*monitor));
	if (file == MAP_FAILED || !monitor)
		return;
	*monitor = (struct monitor){.file = file, .windows = ((uint64_t)info.st_size - sizeof(struct gap_file)) / sizeof(uint64_t)};
	if (pthread_create(&thread, NULL, watch, monitor) == 0)
		pthread_detach(thread);
}
