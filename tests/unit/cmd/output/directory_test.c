/* SPDX-License-Identifier: MIT */
/*
 * directory: paths lead where they should, but not through links that somebody else laid out in a
 * directory open to all.
 */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "unit.h"

static char base[] = "/tmp/directory_test.XXXXXX";

/* base/{open,own}: a directory like /tmp, and one of ours; base/real: where things are to end. */
static void make_directories(void)
{
	CHECK(mkdtemp(base));
	CHECK_EQ(chdir(base), 0);
	CHECK_EQ(mkdir("open", 0777), 0);
	CHECK_EQ(chmod("open", 01777), 0);
	CHECK_EQ(mkdir("own", 0755), 0);
	CHECK_EQ(mkdir("real", 0755), 0);
}

static void remove_directories(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	(void)!system(command);
}

/* 0 if path lies in the directory `wanted`, 1 if in another, or negative errno. */
static int leads_to(const char *path, const char *wanted)
{
	struct stat here, there;
	int directory = -1;
	const int err = directory_open(path, &directory);

	if (err) {
		CHECK_EQ(directory, -1);
		return err;
	}
	CHECK_EQ(fstat(directory, &here), 0);
	CHECK_EQ(stat(wanted, &there), 0);
	close(directory);
	return here.st_ino != there.st_ino || here.st_dev != there.st_dev;
}

static void link_of(uid_t owner, const char *target, const char *link)
{
	CHECK_EQ(symlink(target, link), 0);
	CHECK_EQ(lchown(link, owner, owner), 0);
}

UNIT_TEST(plain_paths)
{
	char path[300];

	make_directories();
	CHECK_EQ(leads_to("file", "."), 0);
	CHECK_EQ(leads_to("real/file", "real"), 0);
	CHECK_EQ(leads_to("./own/..//real///file", "real"), 0);
	CHECK_EQ(leads_to("real/", "real"), 0);
	CHECK_EQ(leads_to("/file", "/"), 0);
	CHECK_EQ(leads_to("//tmp/file", "/tmp"), 0);
	CHECK_EQ(leads_to("", "."), 0);
	snprintf(path, sizeof(path), "%s/real/file", base);
	CHECK_EQ(leads_to(path, "real"), 0);
	CHECK_EQ(leads_to("nowhere/file", "."), -ENOENT);
	close(open("plain", O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(leads_to("plain/file", "."), -ENOTDIR);
	remove_directories();
}

UNIT_TEST(links_in_directories_of_ones_own)
{
	char absolute[300];

	make_directories();
	snprintf(absolute, sizeof(absolute), "%s/real", base);
	CHECK_EQ(symlink("../real", "own/relative"), 0);
	CHECK_EQ(symlink(absolute, "own/absolute"), 0);
	CHECK_EQ(symlink("relative", "own/again"), 0);
	CHECK_EQ(symlink("round", "own/round"), 0);
	CHECK_EQ(mkdir("real/below", 0755), 0);
	CHECK_EQ(leads_to("own/relative/file", "real"), 0);
	CHECK_EQ(leads_to("own/absolute/file", "real"), 0);
	CHECK_EQ(leads_to("own/again/below/file", "real/below"), 0);
	CHECK_EQ(leads_to("own/round/file", "."), -ELOOP);
	remove_directories();
}

UNIT_TEST(our_own_links_in_an_open_directory)
{
	make_directories();
	CHECK_EQ(symlink("../real", "open/mine"), 0);
	CHECK_EQ(leads_to("open/mine/file", "real"), 0);
	remove_directories();
}

UNIT_TEST(links_of_others_in_an_open_directory)
{
	if (geteuid() != 0)
		SKIP("only root can make links of others");
	make_directories();
	link_of(65534, "../real", "open/planted");
	link_of(65534, "../real", "own/given"); /* nobody else can have put it there */
	CHECK_EQ(leads_to("open/planted/file", "real"), -ELOOP);
	CHECK_EQ(leads_to("own/given/file", "real"), 0);
	CHECK_EQ(symlink("../open/planted", "own/through"), 0);
	CHECK_EQ(leads_to("own/through/file", "real"), -ELOOP);
	/* whose directory it is may do in it what they like anyway */
	CHECK_EQ(lchown("open", 65534, 65534), 0);
	CHECK_EQ(leads_to("open/planted/file", "real"), 0);
	CHECK_EQ(chmod("open", 0777), 0); /* not even sticky */
	CHECK_EQ(lchown("open", 0, 0), 0);
	CHECK_EQ(leads_to("open/planted/file", "real"), -ELOOP);
	remove_directories();
}

UNIT_TEST(long_paths)
{
	static char path[3 * 4096];

	make_directories();
	memset(path, 'x', 300);
	strcpy(path + 300, "/file");
	CHECK_EQ(leads_to(path, "."), -ENAMETOOLONG);
	memset(path, '/', sizeof(path) - 1);
	CHECK_EQ(leads_to(path, "/"), -ENAMETOOLONG);
	remove_directories();
}

UNIT_MAIN()
