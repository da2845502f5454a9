/* SPDX-License-Identifier: MIT */
/* outputs: numbered, never over an existing file, nothing left where the second one fails. */
#include "injector/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

static char folder[] = "/tmp/outputs_test.XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void remove_folder(void)
{
	char command[300];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	(void)!system(command);
}

UNIT_TEST(counts_up_past_what_exists)
{
	struct outputs first, second;
	CHECK(mkdtemp(folder));
	CHECK_EQ(outputs_create(&first, in_folder("p"), 12), 0);
	CHECK(strstr(first.heap_path, "/p.12.0001.heap"));
	CHECK(strstr(first.pprof_path, "/p.12.0001.pb.gz"));
	CHECK_EQ(outputs_create(&second, in_folder("p"), 12), 0);
	CHECK(strstr(second.heap_path, "/p.12.0002.heap"));
	outputs_close(&first, false);
	outputs_close(&second, true);
	CHECK_EQ(access(first.heap_path, F_OK), 0);
	CHECK(access(second.heap_path, F_OK));
	CHECK(access(second.pprof_path, F_OK));
	remove_folder();
}

UNIT_TEST(skips_a_number_of_which_one_file_exists)
{
	struct outputs outputs;
	CHECK(mkdtemp(folder));
	close(open(in_folder("p.12.0001.pb.gz"), O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(outputs_create(&outputs, in_folder("p"), 12), 0);
	CHECK(strstr(outputs.heap_path, ".0002.heap"));
	CHECK(access(in_folder("p.12.0001.heap"), F_OK)); /* no half pair left behind */
	outputs_close(&outputs, true);
	remove_folder();
}

UNIT_TEST(does_not_follow_links)
{
	struct outputs outputs;
	char target[300];
	CHECK(mkdtemp(folder));
	snprintf(target, sizeof target, "%s/precious", folder);
	CHECK_EQ(symlink(target, in_folder("p.12.0001.heap")), 0);
	CHECK_EQ(outputs_create(&outputs, in_folder("p"), 12), 0);
	CHECK(access(target, F_OK));
	outputs_close(&outputs, true);
	remove_folder();
}

UNIT_TEST(says_why_it_cannot)
{
	struct outputs outputs;
	CHECK_EQ(outputs_create(&outputs, "/nonexistent/folder/p", 12), -ENOENT);
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
	CHECK(mkdtemp(folder));
	CHECK_EQ(chmod(folder, 01777), 0);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65533", 1);
	CHECK_EQ(outputs_create(&outputs, in_folder("p"), 12), 0);
	CHECK_EQ(fstat(outputs.heap_fd, &status), 0);
	CHECK_EQ(status.st_uid, 65534);
	CHECK_EQ(status.st_gid, 65533);
	CHECK_EQ(fstat(outputs.pprof_fd, &status), 0);
	CHECK_EQ(status.st_uid, 65534);
	outputs_close(&outputs, true);
	CHECK(access(in_folder("p.12.0001.heap"), F_OK));
	remove_folder();
}

/* Else a path, or a link on the way, could make root create files where the caller may not. */
UNIT_TEST(under_sudo_only_the_rights_of_the_caller_count)
{
	struct outputs outputs;
	need_root();
	CHECK(mkdtemp(folder)); /* 0700, of root */
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	CHECK_EQ(outputs_create(&outputs, in_folder("p"), 12), -EACCES);
	CHECK_EQ(chmod(folder, 0755), 0);
	CHECK_EQ(outputs_create(&outputs, in_folder("p"), 12), -EACCES);
	unsetenv("SUDO_UID");
	CHECK_EQ(outputs_create(&outputs, in_folder("p"), 12), 0);
	outputs_close(&outputs, true);
	remove_folder();
}

UNIT_TEST(a_folder_that_somebody_planted_is_refused)
{
	struct outputs outputs;
	need_root();
	CHECK(mkdtemp(folder));
	CHECK_EQ(chmod(folder, 01777), 0);
	CHECK_EQ(mkdir(in_folder("elsewhere"), 0755), 0);
	CHECK_EQ(symlink("elsewhere", in_folder("planted")), 0);
	CHECK_EQ(lchown(in_folder("planted"), 65534, 65534), 0);
	CHECK_EQ(outputs_create(&outputs, in_folder("planted/p"), 12), -ELOOP);
	CHECK(access(in_folder("elsewhere/p.12.0001.heap"), F_OK));
	remove_folder();
}

UNIT_MAIN()
