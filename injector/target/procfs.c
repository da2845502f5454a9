/* SPDX-License-Identifier: MIT */
/*
 * procfs.c - readers of the files in /proc/PID, other than maps (maps.c).
 *
 * Each reader takes the whole file into memory and passes it to a parser. The target chooses the
 * names in these files, so the parsers trust no field separator that a name may contain: comm in
 * stat ends at the LAST parenthesis, and the kernel escapes newlines of comm in status. Where a
 * zombie leader would show nothing, files are read through task/TID.
 */
#include "procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch.h"
#include "proc_file.h"

/* ---- status ---------------------------------------------------------------------------------- */

/*
 * The value of one "Key:\tvalue" line, or NULL. A key never matches inside a name: the kernel
 * escapes newlines there.
 */
static const char *status_value(const char *text, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

static uint64_t status_number(const char *text, const char *key, int base)
{
	const char *value = status_value(text, key);

	return value ? strtoull(value, NULL, base) : 0;
}

/* "Uid:\treal\teffective\tsaved\tfilesystem" */
static void status_ids(const char *text, const char *key, uint32_t out_ids[3])
{
	const char *value = status_value(text, key);
	char *next;

	for (int i = 0; i < 3; i++) {
		out_ids[i] = value ? (uint32_t)strtoul(value, &next, 10) : 0;
		value = value ? next : NULL;
	}
}

/* Undoes the kernel's escapes: \n and \\ are the only ones. */
static void status_name(const char *value, char *into, size_t size)
{
	size_t length = 0;

	while (*value == '\t')
		value++;
	for (; *value && *value != '\n' && length < size - 1; value++) {
		if (value[0] == '\\' && (value[1] == 'n' || value[1] == '\\')) {
			value++;
			into[length++] = *value == 'n' ? '\n' : '\\';
		} else {
			into[length++] = *value;
		}
	}
	memset(into + length, 0, size - length);
}

/* The last word of the NSpid line is the number in the innermost pid namespace. */
static pid_t status_ns_pid(const char *text)
{
	const char *value = status_value(text, "NSpid");
	unsigned long number = 0;
	char *next;

	while (value && *value && *value != '\n') {
		number = strtoul(value, &next, 10);
		if (next == value)
			break;
		value = next;
	}
	return (pid_t)number;
}

static bool status_has_word(const char *text, const char *key, const char *word)
{
	const char *value = status_value(text, key), *found = value ? strstr(value, word) : NULL;

	return found && found < value + strcspn(value, "\n");
}

static bool status_is_kernel_thread(const char *text, char state)
{
	if (status_value(text, "Kthread"))
		return status_number(text, "Kthread", 10) != 0;
	return !status_value(text, "VmSize") && state != 'Z' && state != 'X';
}

int proc_status_parse(const char *text, struct proc_status *out_status)
{
	const char *name = status_value(text, "Name"), *state = status_value(text, "State");
	struct proc_status status = {0};
	uint32_t ids[3];

	if (!name || !state)
		return -EPROTO;
	status_name(name, status.comm, sizeof(status.comm));
	status.state = state[strspn(state, "\t ")];
	status.tgid = (pid_t)status_number(text, "Tgid", 10);
	status.ppid = (pid_t)status_number(text, "PPid", 10);
	status.tracer = (pid_t)status_number(text, "TracerPid", 10);
	status_ids(text, "Uid", ids);
	status.uid_real = ids[0], status.uid_effective = ids[1], status.uid_saved = ids[2];
	status_ids(text, "Gid", ids);
	status.gid_real = ids[0], status.gid_effective = ids[1], status.gid_saved = ids[2];
	status.sig_pending = status_number(text, "SigPnd", 16);
	status.sig_shared_pending = status_number(text, "ShdPnd", 16);
	status.sig_blocked = status_number(text, "SigBlk", 16);
	status.sig_ignored = status_number(text, "SigIgn", 16);
	status.sig_caught = status_number(text, "SigCgt", 16);
	status.cap_effective = status_number(text, "CapEff", 16);
	status.cap_permitted = status_number(text, "CapPrm", 16);
	status.seccomp = (int)status_number(text, "Seccomp", 10);
	status.no_new_privs = status_number(text, "NoNewPrivs", 10) != 0;
	status.threads = (unsigned)status_number(text, "Threads", 10);
	status.ns_pid = status_ns_pid(text);
	status.size_bytes = status_number(text, "VmSize", 10) * 1024;
	status.resident_bytes = status_number(text, "VmRSS", 10) * 1024;
	status.locked_bytes = status_number(text, "VmLck", 10) * 1024;
	if (status_value(text, "RssAnon"))
		status.anonymous_bytes =
			(status_number(text, "RssAnon", 10) + status_number(text, "VmSwap", 10)) *
			1024;
	status.writable_bytes = status_number(text, "VmData", 10) * 1024;
	status.waits = status_number(text, "voluntary_ctxt_switches", 10);
	status.switches = status.waits + status_number(text, "nonvoluntary_ctxt_switches", 10);
	status.is_kernel_thread = status_is_kernel_thread(text, status.state);
	status.shadow_stack =
		status_has_word(text, ARCH_SHADOW_STACK_FIELD, ARCH_SHADOW_STACK_WORD);
	*out_status = status;
	return 0;
}

int proc_status_read(pid_t pid, pid_t tid, struct proc_status *out_status)
{
	char *text;
	int err = proc_file_read(pid, tid, "status", &text, NULL);

	if (err)
		return err;
	err = proc_status_parse(text, out_status);
	free(text);
	return err;
}

/* ---- stat ------------------------------------------------------------------------------------ */

int proc_stat_field(const char *text, unsigned number, uint64_t *out_value)
{
	/* The state, field 3, follows the last parenthesis of the file; comm may hold others. */
	const char *at = strrchr(text, ')');
	char *end;
	uint64_t value;

	for (unsigned field = 2; at && field < number; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at || number < 4)
		return -EPROTO;
	value = strtoull(at, &end, 10);
	if (end == at)
		return -EPROTO;
	*out_value = value;
	return 0;
}

int proc_start_time(pid_t pid, uint64_t *out_ticks)
{
	enum { START_TIME = 22 };
	char *text;
	int err = proc_file_read(pid, 0, "stat", &text, NULL);

	if (err)
		return err;
	err = proc_stat_field(text, START_TIME, out_ticks);
	free(text);
	return err;
}

int proc_cpu_time(pid_t pid, uint64_t *out_ns)
{
	enum { UTIME = 14, STIME = 15 };
	const uint64_t ns_per_tick = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t user, kernel;
	char *text;
	int err = proc_file_read(pid, 0, "stat", &text, NULL);

	if (err)
		return err;
	err = proc_stat_field(text, UTIME, &user);
	if (!err)
		err = proc_stat_field(text, STIME, &kernel);
	if (!err)
		*out_ns = (user + kernel) * ns_per_tick;
	free(text);
	return err;
}

/* ---- auxv ------------------------------------------------------------------------------------ */

int proc_auxv(pid_t pid, pid_t tid, uint64_t type, uint64_t *out_value)
{
	uint64_t pair[2];
	size_t size;
	char *bytes;
	int err = proc_file_read(pid, tid, "auxv", &bytes, &size);

	if (err)
		return err;
	err = -ENOENT;
	for (size_t at = 0; err && at + sizeof(pair) <= size; at += sizeof(pair)) {
		memcpy(pair, bytes + at, sizeof(pair));
		if (pair[0] == type) {
			*out_value = pair[1];
			err = 0;
		}
	}
	free(bytes);
	return err;
}

/* ---- syscall --------------------------------------------------------------------------------- */

int proc_syscall_parse(const char *text, struct proc_syscall *out_syscall)
{
	struct proc_syscall result = {0};
	uint64_t word[8];
	int count = 0;
	char *at;

	if (strncmp(text, "running", strlen("running")) == 0) {
		*out_syscall = (struct proc_syscall){.running = true};
		return 0;
	}
	if (!isdigit((unsigned char)text[0]) && text[0] != '-')
		return -EPROTO;
	result.number = strtol(text, &at, 10);
	for (char *end; count < 8; count++, at = end) {
		word[count] = strtoull(at, &end, 16);
		if (end == at)
			break;
	}
	/* A thread that is blocked outside of a system call shows -1, sp and pc only. */
	if (count == 8)
		memcpy(result.argument, word, sizeof(result.argument));
	else if (count != 2)
		return -EPROTO;
	result.sp = word[count - 2];
	result.pc = word[count - 1];
	*out_syscall = result;
	return 0;
}

int proc_syscall_read(pid_t pid, pid_t tid, struct proc_syscall *out_syscall)
{
	char *text;
	int err = proc_file_read(pid, tid, "syscall", &text, NULL);

	if (err)
		return err;
	err = proc_syscall_parse(text, out_syscall);
	free(text);
	return err;
}

struct schedstat {
	unsigned long long run_ns, turns;
};

/* Zeros where the kernel does not tell. */
static struct schedstat read_schedstat(pid_t pid, pid_t tid)
{
	struct schedstat stat = {0};
	char *text;

	if (proc_file_read(pid, tid, "schedstat", &text, NULL))
		return stat;
	(void)sscanf(text, "%llu %*u %llu", &stat.run_ns, &stat.turns);
	free(text);
	return stat;
}

uint64_t proc_turns(pid_t pid, pid_t tid)
{
	return read_schedstat(pid, tid).turns;
}

uint64_t proc_run_ns(pid_t pid, pid_t tid)
{
	return read_schedstat(pid, tid).run_ns;
}

/* ---- directories ----------------------------------------------------------------------------- */

static int compare_tids(const void *left, const void *right)
{
	const pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return (a > b) - (a < b);
}

int proc_tasks(pid_t pid, pid_t **out_tids, size_t *out_count)
{
	size_t count = 0, capacity = 0;
	pid_t *tids = NULL;
	DIR *directory = opendir(proc_path(pid, 0, "task").text);
	int err = 0;

	if (!directory)
		return errno == ENOENT ? -ESRCH : -errno;
	for (const struct dirent *entry; !err && (entry = readdir(directory));) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (count == capacity) {
			capacity = capacity ? capacity * 2 : 64;
			pid_t *grown = reallocarray(tids, capacity, sizeof(*tids));

			if (!grown) {
				err = -ENOMEM;
				break;
			}
			tids = grown;
		}
		tids[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	closedir(directory);
	if (!err && count == 0)
		err = -ESRCH;
	if (err) {
		free(tids);
		return err;
	}
	qsort(tids, count, sizeof(*tids), compare_tids);
	*out_tids = tids;
	*out_count = count;
	return 0;
}

bool proc_has_memory(pid_t pid, pid_t tid)
{
	char exe[8];

	return readlink(proc_path(pid, tid, "exe").text, exe, sizeof(exe)) >= 0 ||
	       (errno != ENOENT && errno != ESRCH);
}

pid_t proc_thread_with_memory(pid_t pid)
{
	pid_t *tids, found = 0;
	size_t count;

	if (proc_has_memory(pid, pid))
		return pid;
	if (proc_tasks(pid, &tids, &count))
		return 0;
	for (size_t i = 0; i < count && !found; i++)
		if (proc_has_memory(pid, tids[i]))
			found = tids[i];
	free(tids);
	return found;
}

static int task_fd_count(pid_t pid, pid_t tid, size_t *out_count)
{
	const struct dirent *entry;
	size_t count = 0;
	DIR *directory = opendir(proc_path(pid, tid, "fd").text);

	if (!directory)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while ((entry = readdir(directory)))
		count += isdigit((unsigned char)entry->d_name[0]) != 0;
	const int err = errno == ENOENT ? -ESRCH : -errno;
	closedir(directory);
	if (!err)
		*out_count = count;
	return err;
}

int proc_fd_count(pid_t pid, size_t *out_count)
{
	size_t count, fds = 0;
	pid_t *tids;
	int err = proc_tasks(pid, &tids, &count);

	if (err)
		return err;
	/*
	 * Normally the leader's count: the leader need not have the lowest tid, and a thread that
	 * exits while its list is read shows too few descriptors. But a zombie leader shows none,
	 * while the other threads still have them all.
	 */
	err = task_fd_count(pid, pid, &fds);
	for (size_t i = 0; fds == 0 && i < count; i++) {
		const int failed = task_fd_count(pid, tids[i], &fds);

		if (!failed || err)
			err = failed;
	}
	free(tids);
	if (!err)
		*out_count = fds;
	return err;
}

static struct stack_pointer stack_pointer_of(pid_t pid, pid_t tid)
{
	struct proc_syscall call;
	const bool is_known = !proc_syscall_read(pid, tid, &call) && !call.running;

	return (struct stack_pointer){tid, is_known ? call.sp : 0};
}

int proc_stack_pointers(const struct memory *memory, struct stack_pointer **out_thread,
			size_t *out_count)
{
	const struct memory_copy *copy = memory->copy;
	struct stack_pointer *thread;
	pid_t *tids = NULL;
	size_t count = copy ? copy->threads : 0;
	const int err = copy ? 0 : proc_tasks(memory->pid, &tids, &count);

	if (err)
		return err;
	thread = calloc(count + 1, sizeof(*thread));
	for (size_t i = 0; i < count && thread; i++)
		thread[i] = copy ? copy->thread[i] : stack_pointer_of(memory->pid, tids[i]);
	free(tids);
	if (!thread)
		return -ENOMEM;
	*out_thread = thread;
	*out_count = count;
	return 0;
}
