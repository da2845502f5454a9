/* SPDX-License-Identifier: MIT */
/* memory_watch.c - see memory_watch.h. */
#include "memory_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proc_file.h"

/* how old the amount of file pages may be: while there is room, and close to what matters */
#define FILES_RELAXED_NS 1000000000ull
#define FILES_CLOSE_NS 10000000ull
#define TEXT_MAX 16384

/* ---- files ----------------------------------------------------------------------------------- */

static int open_in(const char *directory, const char *name, int flags)
{
	char path[PATH_MAX + 64];

	if (!*directory || snprintf(path, sizeof(path), "%s/%s", directory, name) >= PATH_MAX)
		return -1;
	return open(path, flags | O_CLOEXEC);
}

/* Terminates. False: nothing can be read. */
static bool read_text(int fd, char text[TEXT_MAX])
{
	const ssize_t got = fd < 0 ? -1 : pread(fd, text, TEXT_MAX - 1, 0);

	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

/* The number after a word at the beginning of a line; 0: there is none. */
static uint64_t number_after(const char *text, const char *word)
{
	const size_t size = strlen(word);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, size) && (line[size] == ' ' || line[size] == ':'))
			return strtoull(line + size + 1, NULL, 10);
	}
	return 0;
}

static uint64_t read_number(int fd)
{
	char text[TEXT_MAX];

	return read_text(fd, text) ? strtoull(text, NULL, 10) : 0;
}

/* ---- pressure -------------------------------------------------------------------------------- */

/*
 * A trigger of pressure stall information: some of the processes wait for memory for a seventh of
 * the time. Without privilege, windows are multiples of two seconds.
 */
static int open_psi(const char *directory, const char *name)
{
	static const char *const triggers[] = {"some 150000 1000000", "some 300000 2000000"};

	for (size_t i = 0; i < 2; i++) {
		const int fd = open_in(directory, name, O_RDWR | O_NONBLOCK);

		if (fd >= 0 && write(fd, triggers[i], strlen(triggers[i]) + 1) > 0)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* Version 1: has the kernel count up event_fd as it says for that file. */
static bool register_event(const char *directory, int event_fd, const char *name,
			   const char *argument)
{
	const int fd = open_in(directory, name, O_RDONLY),
		  control = open_in(directory, "cgroup.event_control", O_WRONLY);
	char line[96];
	const int size = snprintf(line, sizeof(line), "%d %d %s", event_fd, fd, argument);
	const bool is_done = fd >= 0 && control >= 0 && write(control, line, (size_t)size) == size;

	if (fd >= 0)
		close(fd);
	if (control >= 0)
		close(control);
	return is_done;
}

static int open_event(const char *directory, const char *name, const char *argument)
{
	const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0 || register_event(directory, fd, name, argument))
		return fd;
	close(fd);
	return -1;
}

void memory_watch_arm(struct memory_watch *watch, uint64_t bytes)
{
	char argument[32];

	if (watch->is_machine || !watch->cgroup.is_v1)
		return;
	snprintf(argument, sizeof(argument), "%llu", (unsigned long long)bytes);
	if (watch->threshold_fd >= 0)
		(void)!register_event(watch->cgroup.path, watch->threshold_fd,
				      "memory.usage_in_bytes", argument);
	else
		watch->threshold_fd =
			open_event(watch->cgroup.path, "memory.usage_in_bytes", argument);
}

/* A descriptor that only reports errors (its cgroup was removed) would be reported forever. */
static void drop_if_broken(int *fd, short events)
{
	if (*fd < 0 || !(events & (POLLERR | POLLHUP | POLLNVAL)) || events & (POLLIN | POLLPRI))
		return;
	close(*fd);
	*fd = -1;
}

bool memory_watch_woken(struct memory_watch *watch, short pressure_events, short threshold_events)
{
	const bool counts = !watch->is_machine && watch->cgroup.is_v1;
	eventfd_t count;

	if (counts && threshold_events & POLLIN)
		(void)!eventfd_read(watch->threshold_fd, &count);
	if (counts && pressure_events & POLLIN)
		(void)!eventfd_read(watch->pressure_fd, &count);
	drop_if_broken(&watch->threshold_fd, threshold_events);
	drop_if_broken(&watch->pressure_fd, pressure_events);
	return pressure_events & (counts ? POLLIN : POLLPRI);
}

/* ---- a watch --------------------------------------------------------------------------------- */

static void open_machine(struct memory_watch *watch)
{
	watch->is_machine = true;
	watch->usage_fd = open_in("/proc", "meminfo", O_RDONLY);
	watch->kills_fd = open_in("/proc", "vmstat", O_RDONLY);
	watch->pressure_fd = open_psi("/proc/pressure", "memory");
}

static void open_v1(struct memory_watch *watch)
{
	const char *path = watch->cgroup.path;

	watch->usage_fd = open_in(path, "memory.usage_in_bytes", O_RDONLY);
	watch->limit_fd = open_in(path, "memory.limit_in_bytes", O_RDONLY);
	watch->stalls_fd = open_in(path, "memory.failcnt", O_RDONLY);
	/* kills count where the process is, and not above */
	watch->kills_fd = open_in(watch->cgroup.own, "memory.oom_control", O_RDONLY);
	watch->pressure_fd = open_event(path, "memory.pressure_level", "critical");
}

static void open_v2(struct memory_watch *watch)
{
	const char *path = watch->cgroup.path;

	watch->usage_fd = open_in(path, "memory.current", O_RDONLY);
	watch->limit_fd = open_in(path, "memory.max", O_RDONLY);
	if (!read_number(watch->limit_fd)) {
		if (watch->limit_fd >= 0)
			close(watch->limit_fd);
		watch->is_high = true;
		watch->limit_fd = open_in(path, "memory.high", O_RDONLY);
	}
	watch->stalls_fd = open_in(path, "memory.events", O_RDONLY);
	watch->kills_fd = open_in(watch->cgroup.own, "memory.events", O_RDONLY);
	watch->pressure_fd = open_psi(path, "memory.pressure");
}

static uint64_t count_kills(const struct memory_watch *watch)
{
	char text[TEXT_MAX];

	return read_text(watch->kills_fd, text) ? number_after(text, "oom_kill") : 0;
}

int memory_watch_open(pid_t pid, pid_t tid, struct memory_watch *out_watch)
{
	char *text;
	int err = proc_file_read(pid, tid, "cgroup", &text, NULL);

	if (err)
		return err;
	err = memory_watch_open_cgroup(MEMORY_LIMIT_CGROUPS, text, out_watch);
	free(text);
	return err;
}

int memory_watch_open_cgroup(const char *root, const char *text, struct memory_watch *out_watch)
{
	*out_watch = (struct memory_watch){.usage_fd = -1,
					   .limit_fd = -1,
					   .stat_fd = -1,
					   .stalls_fd = -1,
					   .kills_fd = -1,
					   .threshold_fd = -1,
					   .pressure_fd = -1};
	memory_limit_find_cgroup(root, text, &out_watch->cgroup);
	if (!*out_watch->cgroup.path)
		open_machine(out_watch);
	else if (out_watch->cgroup.is_v1)
		open_v1(out_watch);
	else
		open_v2(out_watch);
	if (!out_watch->is_machine)
		out_watch->stat_fd = open_in(out_watch->cgroup.path, "memory.stat", O_RDONLY);
	out_watch->kills_before = out_watch->kills_seen = count_kills(out_watch);
	if (out_watch->usage_fd >= 0)
		return 0;
	memory_watch_close(out_watch);
	return -ENOENT;
}

void memory_watch_close(struct memory_watch *watch)
{
	int *const all[] = {&watch->usage_fd,   &watch->limit_fd, &watch->stat_fd,
			    &watch->stalls_fd,  &watch->kills_fd, &watch->threshold_fd,
			    &watch->pressure_fd};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (*all[i] >= 0)
			close(*all[i]);
		*all[i] = -1;
	}
}

/* ---- figures --------------------------------------------------------------------------------- */

static void read_machine(const struct memory_watch *watch, struct memory_figures *figures)
{
	char text[TEXT_MAX];

	if (!read_text(watch->usage_fd, text))
		return;
	const uint64_t available = number_after(text, "MemAvailable") * 1024;

	figures->limit = number_after(text, "MemTotal") * 1024;
	figures->used = figures->limit > available ? figures->limit - available : 0;
}

static uint64_t read_files(const struct memory_watch *watch)
{
	const bool is_v1 = watch->cgroup.is_v1;
	char text[TEXT_MAX];

	if (!read_text(watch->stat_fd, text))
		return 0;
	return number_after(text, is_v1 ? "total_inactive_file" : "inactive_file") +
	       number_after(text, is_v1 ? "total_active_file" : "active_file");
}

static uint64_t read_stalls(const struct memory_watch *watch)
{
	char text[TEXT_MAX];

	if (watch->cgroup.is_v1)
		return read_number(watch->stalls_fd);
	if (!read_text(watch->stalls_fd, text))
		return 0;
	return number_after(text, "high") + number_after(text, "max");
}

void memory_watch_read(struct memory_watch *watch, uint64_t enough, uint64_t now_ns,
		       struct memory_figures *out_figures)
{
	*out_figures = (struct memory_figures){0};
	if (watch->is_machine) {
		read_machine(watch, out_figures);
		return;
	}
	const uint64_t usage = read_number(watch->usage_fd);
	/* with more file pages than `enough` allows for, their amount matters at once */
	const uint64_t age_ns = usage >= enough ? FILES_CLOSE_NS : FILES_RELAXED_NS;

	if (!watch->files_ns || now_ns >= watch->files_ns + age_ns) {
		watch->files_bytes = read_files(watch);
		watch->files_ns = now_ns;
	}
	out_figures->limit = read_number(watch->limit_fd);
	out_figures->used = usage > watch->files_bytes ? usage - watch->files_bytes : 0;
	out_figures->stalls = read_stalls(watch);
}

void memory_watch_outlives(struct memory_watch *watch)
{
	watch->kills_before = watch->kills_seen;
	watch->kills_seen = count_kills(watch);
}

uint64_t memory_watch_kills(const struct memory_watch *watch)
{
	const uint64_t kills = count_kills(watch);

	return kills > watch->kills_before ? kills - watch->kills_before : 0;
}

const char *memory_watch_describe(const struct memory_watch *watch, char text[PATH_MAX])
{
	const char *path = watch->cgroup.path;
	const int room = PATH_MAX - 64;

	if (watch->is_machine)
		snprintf(text, PATH_MAX, "the machine's memory%s",
			 *watch->cgroup.own ? "" : " (its cgroup cannot be seen from here)");
	else
		snprintf(text, PATH_MAX, "%s of %.*s",
			 watch->cgroup.is_v1 ? "memory.limit_in_bytes"
			 : watch->is_high    ? "memory.high"
					     : "memory.max",
			 room, path);
	return text;
}
