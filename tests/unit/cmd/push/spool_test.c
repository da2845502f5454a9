/* SPDX-License-Identifier: MIT */
/* spool: what is added comes out, the oldest first, once, and only within bounds. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char base[] = "/tmp/spool_test.XXXXXX";

/* It says who owns the directory afterwards. */
static int open_as(struct identity user, const char *path, int *out_fd)
{
	struct identity owner;
	struct stat status;
	const int err = spool_open(path, user, out_fd, &owner);

	if (!err) {
		CHECK_EQ(fstat(*out_fd, &status), 0);
		CHECK_EQ(status.st_uid, owner.uid);
		CHECK_EQ(owner.uid, user.uid);
	}
	return err;
}

static struct spool begin(uint64_t bytes_max)
{
	struct spool spool = {.destination = 7, .bytes_max = bytes_max};
	char path[64];

	CHECK(mkdtemp(base));
	snprintf(path, sizeof(path), "%s/" SPOOL_DIRECTORY, base);
	CHECK_EQ(open_as(identity_of_caller(), path, &spool.fd), 0);
	return spool;
}

static void end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	(void)!system(command);
}

/* Adds `size` bytes; returns how many entries had to go. */
static unsigned add(const struct spool *spool, uint64_t unix_ns, size_t size)
{
	static const char bytes[1000];
	char id[SPOOL_ID_MAX];
	unsigned removed;

	snprintf(id, sizeof(id), "id%u-%u", (unsigned)unix_ns, (unsigned)spool->destination);
	CHECK_EQ(spool_add(spool, unix_ns, id, (struct spool_bytes){bytes, size}, &removed), 0);
	return removed;
}

/* Its size, or -1. */
static int take_and_remove(const struct spool *spool)
{
	struct spool_entry entry;

	if (spool_take(spool, &entry))
		return -1;
	spool_remove(spool, &entry);
	return (int)entry.size;
}

UNIT_TEST(the_oldest_comes_first_and_once)
{
	const struct spool spool = begin(1000);

	add(&spool, 30, 3);
	add(&spool, 9, 1);
	add(&spool, 20, 2);
	CHECK_EQ(spool_count(&spool), 3);
	for (int i = 1; i <= 3; i++)
		CHECK_EQ(take_and_remove(&spool), i);
	CHECK_EQ(take_and_remove(&spool), -1);
	end();
}

UNIT_TEST(what_another_process_sends_is_left_to_it)
{
	const struct spool spool = begin(1000);
	struct spool_entry first, second, third;

	add(&spool, 1, 1);
	add(&spool, 2, 2);
	CHECK_EQ(spool_take(&spool, &first), 0);
	CHECK_EQ(spool_take(&spool, &second), 0);
	CHECK_EQ(second.size, 2);
	CHECK_EQ(spool_take(&spool, &third), -ENOENT);
	CHECK_EQ(spool_count(&spool), 2);
	spool_put_back(&first);
	CHECK_EQ(spool_take(&spool, &third), 0);
	CHECK_EQ(third.size, 1);
	end();
}

UNIT_TEST(destinations_are_apart)
{
	const struct spool spool = begin(1000);
	struct spool other = spool;

	other.destination = 8;
	add(&spool, 2, 2);
	add(&other, 1, 1);
	CHECK_EQ(spool_count(&spool), 1);
	CHECK_EQ(take_and_remove(&spool), 2);
	CHECK_EQ(take_and_remove(&spool), -1);
	CHECK_EQ(take_and_remove(&other), 1);
	end();
}

UNIT_TEST(the_oldest_of_all_make_room)
{
	const struct spool spool = begin(100);
	struct spool other = spool;

	other.destination = 6;
	CHECK_EQ(add(&spool, 10, 40), 0);
	CHECK_EQ(add(&other, 20, 40), 0);
	CHECK_EQ(add(&spool, 30, 20), 0);
	CHECK_EQ(add(&spool, 40, 80), 2);
	CHECK_EQ(spool_count(&other), 0);
	CHECK_EQ(take_and_remove(&spool), 20);
	CHECK_EQ(take_and_remove(&spool), 80);
	end();
}

UNIT_TEST(what_is_larger_than_the_spool_drives_nothing_out)
{
	const struct spool spool = begin(100);
	unsigned removed;

	add(&spool, 1, 90);
	CHECK_EQ(spool_add(&spool, 2, "id", (struct spool_bytes){base, 101}, &removed), -EFBIG);
	CHECK_EQ(removed, 0);
	CHECK_EQ(take_and_remove(&spool), 90);
	end();
}

UNIT_TEST(other_files_are_no_entries)
{
	const struct spool spool = begin(1000);

	CHECK(openat(spool.fd, "0000000000000007.1.x", O_CREAT | O_WRONLY, 0600) >= 0);
	CHECK(openat(spool.fd, ".push", O_CREAT | O_WRONLY, 0600) >= 0);
	CHECK_EQ(symlinkat("/etc/passwd", spool.fd, "0000000000000007.1.x.push"), 0);
	CHECK_EQ(take_and_remove(&spool), -1);
	end();
}

UNIT_TEST(what_was_not_completed_is_swept)
{
	const struct spool spool = begin(1000);
	const int left = openat(spool.fd, "left.part", O_CREAT | O_WRONLY, 0600);
	const int busy = openat(spool.fd, "busy.part", O_CREAT | O_WRONLY, 0600);

	CHECK(left >= 0 && busy >= 0);
	close(left);
	CHECK_EQ(flock(busy, LOCK_EX), 0);
	spool_sweep(&spool);
	CHECK_EQ(faccessat(spool.fd, "left.part", F_OK, 0), -1);
	CHECK_EQ(faccessat(spool.fd, "busy.part", F_OK, 0), 0);
	end();
}

UNIT_TEST(a_directory_that_others_write_to_is_refused)
{
	const struct spool spool = begin(1000);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/" SPOOL_DIRECTORY, base);
	CHECK_EQ(fchmod(spool.fd, 0770), 0);
	CHECK_EQ(open_as(identity_of_caller(), path, &fd), -EPERM);
	CHECK_EQ(fchmod(spool.fd, 0700), 0);
	CHECK_EQ(open_as(identity_of_caller(), path, &fd), 0);
	if (geteuid() == 0) {
		CHECK_EQ(fchown(spool.fd, 1, 1), 0);
		CHECK_EQ(open_as(identity_of_caller(), path, &fd), -EPERM);
	}
	end();
}

UNIT_TEST(root_gives_it_to_who_will_use_it)
{
	const struct identity nobody = {65534, 65534};
	struct stat status;
	char path[64];
	int fd;

	if (geteuid() != 0)
		SKIP("only root can");
	CHECK(mkdtemp(base));
	snprintf(path, sizeof(path), "%s/" SPOOL_DIRECTORY, base);
	CHECK_EQ(open_as(nobody, path, &fd), 0);
	CHECK_EQ(fstat(fd, &status), 0);
	CHECK_EQ(status.st_uid, nobody.uid);
	CHECK_EQ(status.st_mode & 0777, 0700);
	end();
}

UNIT_MAIN()
