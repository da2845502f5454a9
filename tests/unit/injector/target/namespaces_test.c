/* SPDX-License-Identifier: MIT */
/* namespaces: the numbers that a process in another namespace has for processes and users. */
#include "namespaces.h"

#include <unistd.h>

#include "unit.h"

UNIT_TEST(a_process_has_a_number_at_the_depth_of_the_viewer)
{
	static const char outer[] = "Name:\tx\nNSpid:\t500\nThreads:\t1\n",
			  middle[] = "Name:\tx\nNSpid:\t600\t17\n",
			  inner[] = "Name:\tx\nNSpid:\t700\t18\t1\nNSpgid:\t700\t18\t1\n";

	CHECK_EQ(namespaces_pid_parse(outer, inner), 700);
	CHECK_EQ(namespaces_pid_parse(middle, inner), 18);
	CHECK_EQ(namespaces_pid_parse(inner, inner), 1);
	CHECK_EQ(namespaces_pid_parse(inner, outer), 0);
	CHECK_EQ(namespaces_pid_parse("Name:\tx\n", inner), 0);
	CHECK_EQ(namespaces_pid_parse(outer, "Name:\tx\nNSpid:\n"), 0);
}

UNIT_TEST(a_user_has_a_number_by_the_map)
{
	static const char rootless[] = "         0       1000          1\n"
				       "         1     100000      65536\n";

	CHECK_EQ(namespaces_uid_parse(rootless, 1000), 0);
	CHECK_EQ(namespaces_uid_parse(rootless, 100998), 999);
	CHECK_EQ(namespaces_uid_parse(rootless, 0), (uid_t)-1);
	CHECK_EQ(namespaces_uid_parse("0 0 4294967295\n", 33), 33);
	CHECK_EQ(namespaces_uid_parse("", 0), (uid_t)-1);
}

UNIT_TEST(this_process_is_in_its_own)
{
	CHECK(!namespaces_differ(getpid(), "pid"));
	CHECK(!namespaces_differ(getpid(), "mnt"));
	CHECK_EQ(namespaces_pid(getpid(), getpid()), getpid());
	CHECK_EQ(namespaces_find(getpid(), getpid()), getpid());
	CHECK_EQ(namespaces_uid(getpid(), getuid()), getuid());
}

UNIT_MAIN()
