/* SPDX-License-Identifier: MIT */
/*
 * outputs: numbered, never over an existing file, nothing left where the second one fails; dumps in
 * the order of time.
 */
#include "outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

static char directory[] = "/tmp/outputs_test.XXXXXX";

static const char *in_directory(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* As on a command line: it stays. */
static const char *prefix(void)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/p", directory);
	return path;
}

static void remove_directory(void)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	(void)!system(command);
}

UNIT_TEST(counts_up_past_what_exists)
{
	struct outputs first, second;
	CHECK(mkdtemp(directory));
	CHECK_EQ(outputs_create(&first, prefix(), 12), 0);
	CHECK(strstr(first.heap_path, "/p.12.0001.heap"));
	CHECK(strstr(first.pprof_path, "/p.12.0001.pb.gz"));
	CHECK_EQ(outputs_create(&second, prefix(), 12), 0);
	CHECK(strstr(second.heap_path, "/p.12.0002.heap"));
	outputs_close(&first, false);
	outputs_close(&second, true);
	CHECK_EQ(access(first.heap_path, F_OK), 0);
	CHECK(access(second.heap_path, F_OK));
	CHECK(access(second.pprof_path, F_OK));
	remove_directory();
}

/* Asks for the holder of a lock on the file from a child: one's own locks do not show. */
static pid_t writer_seen_by_a_child(const char *path)
{
	int status;
	const pid_t child = fork();

	if (child == 0) {
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		const int fd = open(path, O_RDONLY);

		_exit(fd < 0 || fcntl(fd, F_GETLK, &lock)
			      ? 2
			      : lock.l_type == F_WRLCK && lock.l_pid == getppid());
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) ? getpid() : 0;
}

UNIT_TEST(the_final_files_are_locked_until_they_are_closed)
{
	struct outputs outputs;

	CHECK(mkdtemp(directory));
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	CHECK_EQ(writer_seen_by_a_child(outputs.heap_path), getpid());
	CHECK_EQ(writer_seen_by_a_child(outputs.pprof_path), getpid());
	outputs_close(&outputs, false);
	CHECK_EQ(writer_seen_by_a_child(outputs.heap_path), 0);
	remove_directory();
}

UNIT_TEST(skips_a_number_of_which_one_file_exists)
{
	struct outputs outputs;
	CHECK(mkdtemp(directory));
	close(open(in_directory("p.12.0001.pb.gz"), O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	CHECK(strstr(outputs.heap_path, ".0002.heap"));
	CHECK(access(in_directory("p.12.0001.heap"), F_OK)); /* no half pair left behind */
	outputs_close(&outputs, true);
	remove_directory();
}

UNIT_TEST(does_not_follow_links)
{
	struct outputs outputs;
	char target[300];
	CHECK(mkdtemp(directory));
	snprintf(target, sizeof(target), "%s/precious", directory);
	CHECK_EQ(symlink(target, in_directory("p.12.0001.heap")), 0);
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	CHECK(access(target, F_OK));
	outputs_close(&outputs, true);
	remove_directory();
}

UNIT_TEST(says_why_it_cannot)
{
	struct outputs outputs;
	CHECK_EQ(outputs_create(&outputs, "/nonexistent/directory/p", 12), -ENOENT);
}

/* ---- dumps ----------------------------------------------------------------------------------- */

/* Both files hold these words. */
static void write_dump(const struct outputs_dump *dump, const char *text)
{
	CHECK_EQ(write(dump->heap_fd, text, strlen(text)), strlen(text));
	CHECK_EQ(write(dump->pprof_fd, text, strlen(text)), strlen(text));
}

static void dump_now(struct outputs *outputs, const char *text)
{
	struct outputs_dump dump;
	CHECK_EQ(outputs_dump_open(outputs, &dump), 0);
	write_dump(&dump, text);
	CHECK_EQ(outputs_dump_publish(outputs, &dump), 0);
}

static bool holds(const char *name, const char *text)
{
	char found[64] = "";
	const int fd = open(in_directory(name), O_RDONLY);
	const ssize_t got = fd < 0 ? -1 : read(fd, found, sizeof(found) - 1);
	if (fd >= 0)
		close(fd);
	return got >= 0 && !strcmp(found, text);
}

static unsigned count_files(void)
{
	unsigned count = 0;
	DIR *files = opendir(directory);
	CHECK(files);
	for (const struct dirent *file; (file = readdir(files));)
		count += file->d_name[0] != '.';
	closedir(files);
	return count;
}

UNIT_TEST(dumps_are_numbered_in_the_order_of_time_and_the_end_is_last)
{
	struct outputs outputs;
	struct outputs_dump dump;
	CHECK(mkdtemp(directory));
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	CHECK_EQ(outputs_dump_open(&outputs, &dump), 0);
	write_dump(&dump, "first");
	/* of the end, which has yet to come; what is half written has another name */
	CHECK(holds("p.12.0001.heap", ""));
	CHECK(strstr(dump.heap_path, "/p.12.0001.heap.tmp"));
	CHECK_EQ(outputs_dump_publish(&outputs, &dump), 0);
	CHECK(strstr(dump.heap_path, "/p.12.0001.heap") &&
	      strstr(dump.pprof_path, "/p.12.0001.pb.gz"));
	CHECK(!strstr(dump.heap_path, ".tmp"));
	dump_now(&outputs, "second");
	CHECK_EQ(write(outputs.heap_fd, "end", 3), 3);
	CHECK(holds("p.12.0001.heap", "first") && holds("p.12.0001.pb.gz", "first"));
	CHECK(holds("p.12.0002.heap", "second") && holds("p.12.0002.pb.gz", "second"));
	CHECK(holds("p.12.0003.heap", "end"));
	CHECK(strstr(outputs.heap_path, "/p.12.0003.heap") &&
	      strstr(outputs.pprof_path, "/p.12.0003.pb.gz"));
	CHECK_EQ(count_files(), 6);
	outputs_close(&outputs, false);
	remove_directory();
}

UNIT_TEST(a_dump_goes_over_nothing_that_exists)
{
	struct outputs outputs;
	CHECK(mkdtemp(directory));
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	close(open(in_directory("p.12.0002.pb.gz"), O_CREAT | O_WRONLY, 0600));
	close(open(in_directory("p.12.0003.heap"), O_CREAT | O_WRONLY, 0600));
	/* of somebody who was killed */
	close(open(in_directory("p.12.0001.heap.tmp"), O_CREAT | O_WRONLY, 0600));
	dump_now(&outputs, "first");
	CHECK(holds("p.12.0001.heap", "first"));
	CHECK(strstr(outputs.heap_path, "/p.12.0004.heap"));
	CHECK(holds("p.12.0004.heap", "") && holds("p.12.0004.pb.gz", ""));
	CHECK(access(in_directory("p.12.0002.heap"), F_OK) &&
	      access(in_directory("p.12.0003.pb.gz"), F_OK));
	CHECK_EQ(count_files(), 7);
	outputs_close(&outputs, false);
	remove_directory();
}

UNIT_TEST(a_dump_that_failed_leaves_nothing_and_no_gap)
{
	struct outputs outputs;
	struct outputs_dump dump;
	CHECK(mkdtemp(directory));
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	CHECK_EQ(outputs_dump_open(&outputs, &dump), 0);
	CHECK_EQ(count_files(), 4);
	outputs_dump_discard(&outputs, &dump);
	CHECK_EQ(count_files(), 2);
	dump_now(&outputs, "first");
	CHECK(holds("p.12.0001.heap", "first"));
	CHECK_EQ(outputs.number, 2);
	outputs_close(&outputs, true);
	CHECK_EQ(count_files(), 2); /* a dump is no file of the end */
	remove_directory();
}

UNIT_TEST(only_the_newest_are_kept)
{
	struct outputs outputs;
	CHECK(mkdtemp(directory));
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	outputs.keep = 2;
	dump_now(&outputs, "first");
	dump_now(&outputs, "second");
	CHECK_EQ(count_files(), 6);
	dump_now(&outputs, "third");
	CHECK(access(in_directory("p.12.0001.heap"), F_OK) &&
	      access(in_directory("p.12.0001.pb.gz"), F_OK));
	CHECK(holds("p.12.0002.heap", "second") && holds("p.12.0003.pb.gz", "third"));
	CHECK_EQ(count_files(), 6);
	/* What somebody has put in its place is not ours to remove. */
	close(open(in_directory("other"), O_CREAT | O_WRONLY, 0600));
	char other[300];
	snprintf(other, sizeof(other), "%s", in_directory("other"));
	CHECK_EQ(rename(other, in_directory("p.12.0002.heap")), 0);
	dump_now(&outputs, "fourth");
	CHECK(holds("p.12.0002.heap", "") && access(in_directory("p.12.0002.pb.gz"), F_OK));
	CHECK(holds("p.12.0003.heap", "third") && holds("p.12.0004.heap", "fourth"));
	outputs_close(&outputs, false);
	remove_directory();
}

/* The empty files of the end have been cleaned up by somebody: the dumps go on. */
UNIT_TEST(a_dump_needs_no_files_of_the_end)
{
	struct outputs outputs;
	CHECK(mkdtemp(directory));
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	CHECK_EQ(unlink(in_directory("p.12.0001.heap")), 0);
	CHECK_EQ(unlink(in_directory("p.12.0001.pb.gz")), 0);
	dump_now(&outputs, "first");
	dump_now(&outputs, "second");
	CHECK(holds("p.12.0001.heap", "first") && holds("p.12.0002.heap", "second"));
	outputs_close(&outputs, false);
	remove_directory();
}

UNIT_TEST(a_path_is_told_to_others_as_a_whole)
{
	struct outputs outputs;
	char path[PATH_MAX], real[PATH_MAX], wanted[PATH_MAX + 32];
	CHECK(mkdtemp(directory));
	CHECK_EQ(chdir(directory), 0);
	CHECK(realpath(directory, real));
	CHECK_EQ(outputs_create(&outputs, "./p", 12), 0);
	outputs_absolute(&outputs, outputs.heap_path, path);
	snprintf(wanted, sizeof(wanted), "%s/p.12.0001.heap", real);
	CHECK_STR(path, wanted);
	outputs_close(&outputs, true);
	remove_directory();
}

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("only root acts for others");
}

UNIT_TEST(under_sudo_files_belong_to_the_caller)
{
	struct outputs outputs;
	struct stat status;
	need_root();
	CHECK(mkdtemp(directory));
	CHECK_EQ(chmod(directory, 01777), 0);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65533", 1);
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	CHECK_EQ(fstat(outputs.heap_fd, &status), 0);
	CHECK_EQ(status.st_uid, 65534);
	CHECK_EQ(status.st_gid, 65533);
	CHECK_EQ(fstat(outputs.pprof_fd, &status), 0);
	CHECK_EQ(status.st_uid, 65534);
	dump_now(&outputs, "first");
	CHECK_EQ(stat(in_directory("p.12.0001.pb.gz"), &status), 0);
	CHECK_EQ(status.st_uid, 65534);
	CHECK_EQ(status.st_gid, 65533);
	/* The caller may not remove it any more, so neither may we. */
	struct outputs_dump dump;
	CHECK_EQ(chmod(directory, 0755), 0);
	CHECK_EQ(outputs_dump_open(&outputs, &dump), -EACCES);
	CHECK_EQ(chmod(directory, 01777), 0);
	outputs_close(&outputs, true);
	CHECK(access(in_directory("p.12.0002.heap"), F_OK));
	remove_directory();
}

/* Else a path, or a link on the way, could make root create files where the caller may not. */
UNIT_TEST(under_sudo_only_the_rights_of_the_caller_count)
{
	struct outputs outputs;
	need_root();
	CHECK(mkdtemp(directory)); /* 0700, of root */
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), -EACCES);
	CHECK_EQ(chmod(directory, 0755), 0);
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), -EACCES);
	unsetenv("SUDO_UID");
	CHECK_EQ(outputs_create(&outputs, prefix(), 12), 0);
	outputs_close(&outputs, true);
	remove_directory();
}

UNIT_TEST(a_directory_that_somebody_planted_is_refused)
{
	struct outputs outputs;
	need_root();
	CHECK(mkdtemp(directory));
	CHECK_EQ(chmod(directory, 01777), 0);
	CHECK_EQ(mkdir(in_directory("elsewhere"), 0755), 0);
	CHECK_EQ(symlink("elsewhere", in_directory("planted")), 0);
	CHECK_EQ(lchown(in_directory("planted"), 65534, 65534), 0);
	CHECK_EQ(outputs_create(&outputs, in_directory("planted/p"), 12), -ELOOP);
	CHECK(access(in_directory("elsewhere/p.12.0001.heap"), F_OK));
	remove_directory();
}

UNIT_MAIN()
