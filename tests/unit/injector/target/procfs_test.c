/* SPDX-License-Identifier: MIT */
/*
 * procfs_test.c - parsers against what a target may make the kernel write, readers against this
 * very process.
 */
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "unit.h"
#include "zombie_leader.h"

static struct maps parse(const char *text)
{
	struct maps maps;

	CHECK_EQ(maps_parse(text, strlen(text), &maps), 0);
	return maps;
}

/* ---- maps ------------------------------------------------------------------------------------ */

UNIT_TEST(maps_fields)
{
	struct maps maps = parse("55d0c0a00000-55d0c0a01000 r-xp 00002000 fd:1a 1234567            "
				 "        /usr/bin/a b\n"
				 "7f0000000000-7f0000001000 rw-s 00000000 00:00 0 \n");
	const struct mapping *first = &maps.mapping[0], *second = &maps.mapping[1];

	CHECK_EQ(maps.count, 2);
	CHECK_EQ(first->lo, 0x55d0c0a00000);
	CHECK_EQ(first->hi, 0x55d0c0a01000);
	CHECK_EQ(first->file_offset, 0x2000);
	CHECK_EQ(first->device, makedev(0xfd, 0x1a));
	CHECK_EQ(first->inode, 1234567);
	CHECK(first->readable && !first->writable && first->executable && !first->shared &&
	      !first->deleted);
	CHECK_STR(first->path, "/usr/bin/a b");
	CHECK(second->readable && second->writable && !second->executable && second->shared);
	CHECK_STR(second->path, "");
	CHECK_EQ(maps_find(&maps, 0x55d0c0a00fff) - first, 0);
	CHECK(maps_find(&maps, 0x55d0c0a01000) == NULL);
	CHECK(maps_find(&maps, 0) == NULL);
	maps_close(&maps);
	maps_close(&maps);
}

UNIT_TEST(maps_paths)
{
	struct maps maps = parse("1000-2000 r-xp 00000000 00:01 5    /a\\012b (deleted)\n"
				 "2000-3000 r-xp 00000000 00:01 5    /x (deleted) (deleted)\n"
				 "3000-4000 r-xp 00000000 00:00 0    [vdso]\n"
				 "4000-5000 r-xp 00000000 00:01 6    /back\\slash\\0123\n"
				 "5000-6000 r--p 00000000 00:00 0");

	CHECK_EQ(maps.count, 5);
	CHECK_STR(maps.mapping[0].path, "/a\nb");
	CHECK(maps.mapping[0].deleted);
	CHECK_STR(maps.mapping[1].path, "/x (deleted)");
	CHECK(maps.mapping[1].deleted);
	CHECK_STR(maps.mapping[2].path, "[vdso]");
	CHECK_STR(maps.mapping[3].path, "/back\\slash\n3");
	CHECK_STR(maps.mapping[4].path, "");
	maps_close(&maps);
}

/* Kernels with addresses of 39, 47, 48 and 52 bits; that of x86-64 lists a page of its own. */
UNIT_TEST(maps_end_with_the_last_mapping_of_the_program)
{
	static const struct {
		const char *text;
		remote_addr end;
	} kernel[] = {
		{"5500000000-5500001000 r-xp 00000000 00:01 5 /a\n"
		 "7ffffdf000-8000000000 rw-p 00000000 00:00 0 [stack]\n",
		 1ull << 39},
		{"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n"
		 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n",
		 (1ull << 47) - 4096},
		{"fffffffdf000-1000000000000 rw-p 00000000 00:00 0 [stack]\n", 1ull << 48},
		{"fffffffdf000-1000000000000 rw-p 00000000 00:00 0 [stack]\n"
		 "ffff800000000-10000000000000 rw-p 00000000 00:00 0 \n",
		 1ull << 52},
		{"", 0},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n", 0},
	};

	for (size_t i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++) {
		struct maps maps = parse(kernel[i].text);

		CHECK_EQ(maps_end(&maps), kernel[i].end);
		maps_close(&maps);
	}
}

UNIT_TEST(maps_nonsense_is_left_out)
{
	struct maps maps =
		parse("\n\n-\n1000\n1000-2000\n1000-2000 r-xp\n2000-1000 r-xp 00000000 00:00 0 \n"
		      "1000-3000 r-xp 00000000 00:00 0    /good\n"
		      "2000-4000 r-xp 00000000 00:00 0    /overlaps\n"
		      "ffffffffffffffffffff-1 r-xp 00000000 00:00 0 \n"
		      "4000-5000 r-xp 00000000 zz:00 0 \n"
		      "4000-5000 rwxp 00000000 00:00 0    /good too");

	CHECK_EQ(maps.count, 2);
	CHECK_STR(maps.mapping[0].path, "/good");
	CHECK_STR(maps.mapping[1].path, "/good too");
	maps_close(&maps);
	maps = parse("");
	CHECK_EQ(maps.count, 0);
	maps_close(&maps);
}

UNIT_TEST(maps_survive_any_cut)
{
	const char text[] = "1000-2000 r-xp 00000000 00:01 5    /a\\012b (deleted)\n3000-4000 r-xp "
			    "00001000 00:01 5    /x\n";

	for (size_t size = 0; size < sizeof(text); size++) {
		char *cut = malloc(size + 1);
		struct maps maps;

		/* Exactly as large as it claims, so that a sanitizer sees a read beyond. */
		memcpy(cut, text, size);
		CHECK_EQ(maps_parse(cut, size, &maps), 0);
		CHECK(maps.count <= 2);
		maps_close(&maps);
		free(cut);
	}
}

/* The kernel writes none; but each of them would be a line that was not counted. */
UNIT_TEST(maps_with_nuls)
{
	static const char text[] = "1000-2000 r-xp 00000000 00:00 0 a\0002000-3000 r-xp 00000000 "
				   "00:00 0 b\0003000-4000 r-xp 00000000 00:00 0 c\n"
				   "4000-5000 r-xp 00000000 00:00 0 d\n";
	struct maps maps;

	CHECK_EQ(maps_parse(text, sizeof(text), &maps), 0);
	CHECK_EQ(maps.count, 2);
	CHECK_STR(maps.mapping[0].path, "a");
	CHECK_STR(maps.mapping[1].path, "d");
	maps_close(&maps);
}

UNIT_TEST(maps_of_this_process)
{
	struct maps maps;
	const struct mapping *mapping;

	CHECK_EQ(maps_read(getpid(), getpid(), &maps), 0);
	mapping = maps_find(&maps, (remote_addr)(uintptr_t)unit_main);
	CHECK(mapping && mapping->executable && strstr(mapping->path, "procfs_test"));
	CHECK(strstr(maps.text, "[stack]") != NULL);
	CHECK_EQ(strlen(maps.text), maps.text_size);
	maps_close(&maps);
	CHECK_EQ(maps_read(getpid(), 0x3fffffff, &maps), -ESRCH);
}

UNIT_TEST(maps_of_a_file_with_newline_that_was_deleted)
{
	char path[] = "/tmp/procfs test\nXXXXXX";
	const int fd = mkstemp(path);
	struct maps maps;
	struct stat status;

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, 4096) | fstat(fd, &status) | unlink(path), 0);
	const void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK_EQ(maps_read(getpid(), getpid(), &maps), 0);
	const struct mapping *mapping = maps_find(&maps, (remote_addr)(uintptr_t)at);
	CHECK(mapping && mapping->deleted && mapping->shared);
	CHECK_STR(mapping->path, path);
	CHECK_EQ(mapping->inode, status.st_ino);
	maps_close(&maps);
}

/* ---- status ---------------------------------------------------------------------------------- */

UNIT_TEST(status_fields)
{
	const char text[] =
		"Name:\ta) R\\nUid:\\\\x\nUmask:\t0022\nState:\tt (tracing "
		"stop)\nTgid:\t11\nPid:\t12\nPPid:\t10\nTracerPid:\t99\n"
		"Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t12\t7\t3\nKthread:\t0\nVmSize:\t 100 "
		"kB\nVmLck:\t      12 kB\nVmRSS:\t    2048 kB\nThreads:\t3\n"
		"SigPnd:\t0000000000000001\nShdPnd:\t0000000000000002\nSigBlk:"
		"\t0000000000000004\nSigIgn:\t0000000000001000\n"
		"SigCgt:\tffffffffffffffff\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t1\nSeccomp:"
		"\t2\nSeccomp_filters:\t1\n"
		"x86_Thread_features:\tshstk wrss \nx86_Thread_features_locked:\t\n";
	struct proc_status status;

	CHECK_EQ(proc_status_parse(text, &status), 0);
	CHECK_STR(status.comm, "a) R\nUid:\\x");
	CHECK_EQ(status.state, 't');
	CHECK_EQ(status.tgid, 11);
	CHECK_EQ(status.ppid, 10);
	CHECK_EQ(status.tracer, 99);
	CHECK_EQ(status.uid_real, 1);
	CHECK_EQ(status.uid_effective, 2);
	CHECK_EQ(status.uid_saved, 3);
	CHECK_EQ(status.gid_saved, 7);
	CHECK_EQ(status.ns_pid, 3);
	CHECK_EQ(status.resident_bytes, 2048 * 1024);
	CHECK_EQ(status.locked_bytes, 12 * 1024);
	CHECK_EQ(status.threads, 3);
	CHECK_EQ(status.sig_pending, 1);
	CHECK_EQ(status.sig_shared_pending, 2);
	CHECK_EQ(status.sig_blocked, 4);
	CHECK_EQ(status.sig_ignored, 0x1000);
	CHECK_EQ(status.sig_caught, UINT64_MAX);
	CHECK_EQ(status.cap_effective, 0x1ffffffffff);
	CHECK_EQ(status.seccomp, 2);
	CHECK(status.no_new_privs && status.shadow_stack && !status.is_kernel_thread);
}

UNIT_TEST(status_kernel_threads_and_zombies)
{
	struct proc_status status;

	CHECK_EQ(proc_status_parse("Name:\tkworker\nState:\tI (idle)\n", &status), 0);
	CHECK(status.is_kernel_thread);
	CHECK_EQ(proc_status_parse("Name:\tgone\nState:\tZ (zombie)\n", &status), 0);
	CHECK(!status.is_kernel_thread);
	CHECK_EQ(proc_status_parse("Name:\tkvm\nState:\tS (sleeping)\nKthread:\t1\nVmSize:\t1 kB\n",
				   &status),
		 0);
	CHECK(status.is_kernel_thread);
	CHECK_EQ(proc_status_parse("", &status), -EPROTO);
	CHECK_EQ(proc_status_parse("Name:", &status), -EPROTO);
	CHECK_EQ(proc_status_parse("Name:\nState:", &status), 0);
	CHECK_EQ(proc_status_parse("Name:\nState:\nUid:\nNSpid:\n", &status), 0);
}

UNIT_TEST(status_of_this_process)
{
	struct proc_status status;

	prctl(PR_SET_NAME, "b) \n\\ (x");
	CHECK_EQ(proc_status_read(getpid(), getpid(), &status), 0);
	CHECK_STR(status.comm, "b) \n\\ (x");
	CHECK_EQ(status.state, 'R');
	CHECK_EQ(status.tgid, getpid());
	CHECK_EQ(status.ppid, getppid());
	CHECK_EQ(status.uid_real, getuid());
	CHECK_EQ(status.threads, 1);
	CHECK(status.resident_bytes > 0);
	CHECK(!status.is_kernel_thread);
}

/* ---- stat ------------------------------------------------------------------------------------ */

UNIT_TEST(stat_fields_after_any_name)
{
	uint64_t value;

	CHECK_EQ(proc_stat_field("7 (x) S 1 2) 3) S 4 5 6", 4, &value), 0);
	CHECK_EQ(value, 4);
	CHECK_EQ(proc_stat_field("7 (x) S 4 5 6", 6, &value), 0);
	CHECK_EQ(value, 6);
	CHECK_EQ(proc_stat_field("7 (x) S 4 5 6", 7, &value), -EPROTO);
	CHECK_EQ(proc_stat_field("7 (x", 4, &value), -EPROTO);
	CHECK_EQ(proc_stat_field("", 4, &value), -EPROTO);
}

UNIT_TEST(start_and_cpu_time)
{
	uint64_t start, again, before, after;
	volatile unsigned spin = 0;

	prctl(PR_SET_NAME, "a) 1 2 3 (");
	CHECK_EQ(proc_start_time(getpid(), &start), 0);
	CHECK_EQ(proc_start_time(getpid(), &again), 0);
	CHECK(start > 0 && start == again);
	CHECK_EQ(proc_cpu_time(getpid(), &before), 0);
	do {
		for (unsigned i = 0; i < 10000000; i++)
			spin++;
		CHECK_EQ(proc_cpu_time(getpid(), &after), 0);
	} while (after < before + 20000000);
	CHECK(after < before + 5000000000ull);
}

/* ---- the rest -------------------------------------------------------------------------------- */

UNIT_TEST(auxv)
{
	uint64_t value;

	CHECK_EQ(proc_auxv(getpid(), getpid(), AT_ENTRY, &value), 0);
	CHECK_EQ(value, getauxval(AT_ENTRY));
	CHECK_EQ(proc_auxv(getpid(), getpid(), 0x7777, &value), -ENOENT);
}

UNIT_TEST(syscall_forms)
{
	struct proc_syscall call;

	CHECK_EQ(proc_syscall_parse("running\n", &call), 0);
	CHECK(call.running);
	CHECK_EQ(proc_syscall_parse("-1 0x7ffc00 0x401000\n", &call), 0);
	CHECK(!call.running && call.number == -1 && call.sp == 0x7ffc00 && call.pc == 0x401000);
	CHECK_EQ(proc_syscall_parse("202 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc00 0x401000\n", &call), 0);
	CHECK(call.number == 202 && call.argument[0] == 1 && call.argument[5] == 6 &&
	      call.sp == 0x7ffc00 && call.pc == 0x401000);
	CHECK_EQ(proc_syscall_parse("", &call), -EPROTO);
	CHECK_EQ(proc_syscall_parse("202 0x1 0x2\n0x3", &call), -EPROTO);
	CHECK_EQ(proc_syscall_parse("x", &call), -EPROTO);
}

UNIT_TEST(syscall_of_a_blocked_child)
{
	struct proc_syscall call = {.running = true};
	const pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	while (call.running || call.sp == 0 || call.number < 0)
		CHECK_EQ(proc_syscall_read(child, child, &call), 0);
	CHECK(call.pc != 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

UNIT_TEST(time_on_a_cpu)
{
	const pid_t pid = getpid();
	const uint64_t before = proc_run_ns(pid, pid);
	const int64_t since = own_cpu_ns();

	while (own_cpu_ns() - since < 20000000)
		;
	nanosleep(&(struct timespec){.tv_nsec = 1}, NULL); /* counted when it leaves its CPU */
	CHECK(proc_run_ns(pid, pid) >= before + 20000000);
	CHECK(proc_run_ns(pid, pid) <= (uint64_t)own_cpu_ns());
}

UNIT_TEST(turns_of_a_thread_that_sleeps)
{
	const pid_t pid = getpid(), child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	CHECK_EQ(proc_turns(child, child), 0);
	for (int time = 0; time < 5; time++) {
		const uint64_t turns = proc_turns(pid, pid);

		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		const uint64_t more = proc_turns(pid, pid) - turns;
		CHECK(more >= 1 && more < 1000); /* the fields before are nanoseconds */
	}
}

UNIT_TEST(fd_count)
{
	size_t before, after;

	CHECK_EQ(proc_fd_count(getpid(), &before), 0);
	CHECK(dup(0) >= 0 && dup(0) >= 0);
	CHECK_EQ(proc_fd_count(getpid(), &after), 0);
	CHECK_EQ(after, before + 2);
	CHECK_EQ(proc_fd_count(0x3fffffff, &after), -ESRCH);
}

UNIT_TEST(zombie_leader)
{
	struct proc_status status;
	size_t count, fds;
	struct maps maps;
	pid_t tid, *tids, child = zombie_leader_start(&tid);

	CHECK_EQ(proc_tasks(child, &tids, &count), 0);
	CHECK_EQ(count, 2);
	CHECK_EQ(tids[0], child);
	CHECK_EQ(tids[1], tid);
	do
		CHECK_EQ(proc_status_read(child, child, &status), 0);
	while (status.state != 'Z');
	CHECK(!status.is_kernel_thread);
	CHECK_EQ(maps_read(child, tids[1], &maps), 0);
	CHECK(maps.count > 5);
	CHECK_EQ(proc_fd_count(child, &fds), 0);
	CHECK(fds >= 2);
	maps_close(&maps);
	free(tids);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK_EQ(proc_tasks(child, &tids, &count), -ESRCH);
}

UNIT_MAIN()
