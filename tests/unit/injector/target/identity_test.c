/* SPDX-License-Identifier: MIT */
/*
 * identity: who called, for whom data is read, and a window in which root's rights over files are
 * gone.
 */
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include "unit.h"

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("only root acts for others");
}

static void under_sudo(const char *uid, const char *gid)
{
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", gid, 1);
}

UNIT_TEST(without_sudo_the_caller_is_ourselves)
{
	unsetenv("SUDO_UID");
	CHECK_EQ(identity_of_caller().uid, geteuid());
	CHECK_EQ(identity_of_caller().gid, getegid());
}

UNIT_TEST(under_sudo_the_caller_is_who_typed_it)
{
	need_root();
	under_sudo("1234", "567");
	CHECK_EQ(identity_of_caller().uid, 1234);
	CHECK_EQ(identity_of_caller().gid, 567);
}

UNIT_TEST(junk_in_the_environment_makes_nobody)
{
	static const char *const junk[] = {
		"", "-1", "12x", " 12", "4294967295", "99999999999999999999", "0x10"};

	need_root();
	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++) {
		under_sudo(junk[i], "1");
		CHECK_EQ(identity_of_caller().uid, 0);
		under_sudo("1", junk[i]);
		CHECK_EQ(identity_of_caller().uid, 0);
	}
}

/* A user other than root wins nothing by setting variables. */
UNIT_TEST(only_root_looks_at_the_environment)
{
	need_root();
	under_sudo("0", "0");
	CHECK_EQ(setgid(1000), 0);
	CHECK_EQ(setuid(1000), 0);
	CHECK_EQ(identity_of_caller().uid, 1000);
	CHECK_EQ(identity_of_caller().gid, 1000);
}

UNIT_TEST(a_set_user_id_program_is_called_by_the_real_user)
{
	need_root();
	unsetenv("SUDO_UID");
	CHECK_EQ(setresgid(1001, 0, 0), 0);
	CHECK_EQ(setresuid(1001, 0, 0), 0);
	CHECK_EQ(identity_of_caller().uid, 1001);
	CHECK_EQ(identity_of_caller().gid, 1001);
}

UNIT_TEST(data_is_for_the_caller_or_else_for_the_owner_and_never_read_as_root)
{
	const struct identity owner = {.uid = 33, .gid = 33}, root = {0};

	need_root();
	unsetenv("SUDO_UID");
	CHECK_EQ(identity_for_data_of(owner).uid, 33);
	CHECK_EQ(identity_for_data_of(root).uid, 0);
	CHECK_EQ(identity_to_run_as(root).uid, 65534);
	CHECK_EQ(identity_to_run_as(owner).uid, 33);
	under_sudo("1234", "567");
	CHECK_EQ(identity_for_data_of(owner).uid, 1234);
	CHECK_EQ(identity_for_data_of(root).uid, 1234);
}

UNIT_TEST(in_the_window_root_has_no_rights_over_files)
{
	static struct identity_window window;
	const gid_t groups[] = {0, 27};
	char path[] = "/tmp/identity_test.XXXXXX";
	const int file = mkstemp(path); /* 0600 */

	need_root();
	CHECK_EQ(setgroups(2, groups), 0);
	CHECK(file >= 0);
	CHECK_EQ(identity_begin((struct identity){.uid = 65534, .gid = 65534}, &window), 0);
	const int in_window = open(path, O_RDONLY), err = errno;
	const int group_count = getgroups(0, NULL);
	const bool can_signal = kill(getppid(), 0) == 0;
	identity_end(&window);
	CHECK_EQ(in_window, -1);
	CHECK_EQ(err, EACCES);
	CHECK_EQ(group_count, 0);
	CHECK(can_signal);
	CHECK(open(path, O_RDONLY) >= 0);
	CHECK_EQ(getgroups(0, NULL), 2);
	CHECK_EQ(setfsgid((gid_t)-1), 0);
	unlink(path);
}

UNIT_TEST(a_window_for_ourselves_changes_nothing)
{
	static struct identity_window window;

	CHECK_EQ(identity_begin((struct identity){.uid = geteuid(), .gid = getegid()}, &window), 0);
	CHECK(!window.is_open);
	CHECK_EQ(setfsuid((uid_t)-1), geteuid());
	identity_end(&window);
}

UNIT_TEST(others_get_no_window)
{
	static struct identity_window window;

	need_root();
	CHECK_EQ(setuid(1000), 0);
	CHECK_EQ(identity_begin((struct identity){.uid = 1001, .gid = 1001}, &window), -EPERM);
	CHECK_EQ(setfsuid((uid_t)-1), 1000);
}

UNIT_MAIN()
