/* SPDX-License-Identifier: MIT */
/*
 * probes_file: which directory has the file, what is said of those that have not, and which files
 * of killed injectors are removed. The root is a directory of the case's own.
 */
#include "probes_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hi_wire.h"
#include "made_files.h"
#include "proc_file.h"

#define OTHER_USER 65534

struct scene {
	struct roots roots;
	struct probes_file file;
	char name[64];
};

static const char *const places[PROBES_DIRECTORIES] = {"tmp", "var/tmp", "dev/shm", "run"};

static const char *in_root(const char *directory, const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned used;
	char *const text = path[used++ % 4];
	snprintf(text, PATH_MAX, "%s/%s/%s", made_root, directory, name);
	return text;
}

static void scene_open(struct scene *scene)
{
	*scene = (struct scene){.roots = ROOTS_CLOSED, .file = PROBES_FILE_NONE};
	made_begin();
	for (size_t i = 0; i < PROBES_DIRECTORIES; i++) {
		made_put(in_root(places[i], "x") + strlen(made_root) + 1, "");
		CHECK_EQ(chmod(in_root(places[i], "."), 0777), 0);
	}
	CHECK_EQ(chmod(made_root, 0755) | chmod(in_root("var", ""), 0755) |
			 chmod(in_root("dev", ""), 0755),
		 0);
	scene->roots.reader = (struct identity){geteuid(), getegid()};
	scene->roots.target = open(made_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(scene->roots.target >= 0);
	snprintf(scene->name, sizeof(scene->name), HI_PROBES_NAME "%d.so", (int)getpid());
}

static void scene_close(struct scene *scene)
{
	probes_file_remove(&scene->file);
	roots_close(&scene->roots);
	made_end();
}

static int create(struct scene *scene)
{
	return probes_file_create(&scene->file, &scene->roots, getpid());
}

static bool is_there(const char *directory, const char *name)
{
	struct stat status;
	return !lstat(in_root(directory, name), &status);
}

static void check_reasons(const struct scene *scene, const char *expected)
{
	char text[PROBES_REASONS];
	probes_file_reasons(&scene->file, text);
	CHECK_STR(text, expected);
}

/* No process has it. */
static int nobody(void)
{
	return (int)proc_sys_number("kernel/pid_max") + 1;
}

static const char *name_of(int pid)
{
	static char name[64];
	snprintf(name, sizeof(name), HI_PROBES_NAME "%d.so", pid);
	return name;
}

/* As an injector leaves it that is killed. */
static void leave(const char *directory, const char *name, mode_t mode)
{
	const char *path = in_root(directory, name);
	const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !fchmod(fd, mode));
	close(fd);
}

/* ---- where it lies --------------------------------------------------------------------------- */

UNIT_TEST(the_first_directory_has_it_and_the_next_one_the_next_time)
{
	struct scene scene;
	struct stat status;
	scene_open(&scene);
	CHECK_EQ(create(&scene), 0);
	CHECK_EQ(stat(in_root("tmp", scene.name), &status), 0);
	CHECK_EQ(status.st_mode, S_IFREG | 0555);
	CHECK(status.st_size > 0 && status.st_ino == scene.file.inode);
	CHECK(strstr(scene.file.path, "/tmp/" HI_PROBES_NAME) == scene.file.path);
	probes_file_remove(&scene.file);
	CHECK(!is_there("tmp", scene.name));
	CHECK_EQ(create(&scene), 0);
	CHECK(is_there("var/tmp", scene.name) && !is_there("tmp", scene.name));
	probes_file_remove(&scene.file);
	probes_file_remove(&scene.file);
	CHECK(!is_there("var/tmp", scene.name));
	check_reasons(&scene, "");
	scene_close(&scene);
}

UNIT_TEST(what_an_earlier_attach_has_left_is_in_nobodys_way)
{
	struct scene scene;
	scene_open(&scene);
	leave("tmp", scene.name, 0600);
	CHECK_EQ(create(&scene), 0);
	CHECK(is_there("tmp", scene.name));
	CHECK_EQ(scene.file.next, 1);
	scene_close(&scene);
}

UNIT_TEST(it_is_locked_while_it_has_a_name)
{
	struct scene scene;
	scene_open(&scene);
	CHECK_EQ(create(&scene), 0);
	const int fd = open(in_root("tmp", scene.name), O_RDONLY | O_CLOEXEC);
	CHECK(flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK);
	close(fd);
	scene_close(&scene);
}

UNIT_TEST(each_directory_that_takes_no_file_is_named_with_the_reason)
{
	struct scene scene;
	scene_open(&scene);
	unlink(in_root("tmp", "x"));
	CHECK_EQ(rmdir(in_root("tmp", "")), 0);
	CHECK_EQ(rename(in_root("var/tmp", "x"), in_root("var", "x")), 0);
	CHECK_EQ(rmdir(in_root("var/tmp", "")), 0);
	CHECK_EQ(rename(in_root("var", "x"), in_root("var", "tmp")), 0);
	CHECK_EQ(mkdir(in_root("dev/shm", scene.name), 0700), 0);
	CHECK_EQ(chmod(in_root("run", ""), 0555), 0);
	if (!geteuid())
		scene.roots.reader = (struct identity){OTHER_USER, OTHER_USER};
	CHECK_EQ(create(&scene), -EROFS);
	check_reasons(&scene,
		      "/tmp: not there; /var/tmp: no directory; /dev/shm: another program's file "
		      "has the name; /run: the user who may see the process's data may not create "
		      "files there");
	CHECK_EQ(create(&scene), -EROFS);
	scene_close(&scene);
}

UNIT_TEST(a_reason_is_said_once)
{
	struct scene scene;
	scene_open(&scene);
	CHECK_EQ(rename(in_root("tmp", ""), in_root(".", "away")), 0);
	CHECK_EQ(rename(in_root("var/tmp", ""), in_root(".", "gone")), 0);
	CHECK_EQ(create(&scene), 0);
	check_reasons(&scene, "/tmp, /var/tmp: not there");
	scene_close(&scene);
}

UNIT_TEST(a_directory_without_code_is_told_from_one_that_cannot_be_written)
{
	struct scene scene;
	scene_open(&scene);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		scene_close(&scene);
		SKIP("needs the right to mount");
	}
	for (size_t i = 0; i < PROBES_DIRECTORIES; i++)
		CHECK_EQ(mount("x", in_root(places[i], ""), "tmpfs", i == 3 ? MS_RDONLY : MS_NOEXEC,
			       NULL),
			 0);
	close(scene.roots.target);
	scene.roots.target = open(made_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int err = create(&scene);
	for (size_t i = 0; i < PROBES_DIRECTORIES; i++)
		umount2(in_root(places[i], ""), MNT_DETACH);
	CHECK_EQ(err, -EROFS);
	check_reasons(&scene, "/tmp, /var/tmp, /dev/shm: mounted noexec; /run: mounted read-only");
	scene_close(&scene);
}

/* ---- why not there --------------------------------------------------------------------------- */

static bool put(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const bool is_put = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return is_put;
}

/* As another user, in a user namespace in which that one is root: mounts, says so, and waits. */
static void mount_as_other(int said, int go_on)
{
	char is_ok = !setresgid(OTHER_USER, OTHER_USER, OTHER_USER) &&
		     !setresuid(OTHER_USER, OTHER_USER, OTHER_USER) && !prctl(PR_SET_DUMPABLE, 1) &&
		     !unshare(CLONE_NEWUSER | CLONE_NEWNS) && put("/proc/self/setgroups", "deny") &&
		     put("/proc/self/uid_map", "0 65534 1") &&
		     put("/proc/self/gid_map", "0 65534 1");
	for (size_t i = 0; i < PROBES_DIRECTORIES && is_ok; i++)
		is_ok = !mount("x", in_root(places[i], ""), "tmpfs", 0, "mode=777");
	if (write(said, &is_ok, 1) != 1 || read(go_on, &is_ok, 1) < 0)
		_exit(1);
	_exit(0);
}

UNIT_TEST(a_directory_of_another_user_namespace_is_said_to_be_one)
{
	struct scene scene;
	int said[2], go_on[2];
	char is_ok = 0;
	if (geteuid())
		SKIP("root can be another user");
	scene_open(&scene);
	CHECK_EQ(pipe(said) | pipe(go_on), 0);
	const pid_t other = fork();
	if (!other) {
		close(go_on[1]);
		mount_as_other(said[1], go_on[0]);
	}
	close(said[1]);
	if (read(said[0], &is_ok, 1) == 1 && is_ok) {
		char root[PATH_MAX];
		snprintf(root, sizeof(root), "%s%s", proc_path(other, 0, "root").text, made_root);
		close(scene.roots.target);
		scene.roots.target = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		CHECK_EQ(create(&scene), -EROFS);
	}
	close(go_on[1]);
	waitpid(other, NULL, 0);
	if (is_ok)
		check_reasons(&scene,
			      "/tmp, /var/tmp, /dev/shm, /run: mounted in a user namespace in "
			      "which heapinject's user has no number; start heapinject as the user "
			      "who began that namespace");
	scene_close(&scene);
	if (!is_ok)
		SKIP("no user namespace here");
}

/* From now on this call fails with ENOSYS. */
static void take_call(int number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		SKIP("no seccomp here");
}

static void check_without(int number)
{
	struct scene scene;
	scene_open(&scene);
	take_call(number);
	CHECK_EQ(create(&scene), -EROFS);
	check_reasons(&scene,
		      "/tmp, /var/tmp, /dev/shm, /run: heapinject has no openat2 or faccessat2 to "
		      "look there with (a kernel before 5.8, or a seccomp filter of its container: "
		      "start it outside of that)");
	scene_close(&scene);
}

UNIT_TEST(a_kernel_without_openat2_is_the_reason)
{
	check_without(SYS_openat2);
}

UNIT_TEST(a_kernel_without_faccessat2_is_the_reason)
{
	check_without(SYS_faccessat2);
}

UNIT_TEST(what_the_target_refuses_is_noted_and_the_next_directory_tried)
{
	struct scene scene;
	scene_open(&scene);
	CHECK_EQ(create(&scene), 0);
	CHECK_EQ(probes_file_refuse(&scene.file, -EIO), -EIO);
	CHECK_EQ(probes_file_refuse(&scene.file, -EACCES), 0);
	probes_file_remove(&scene.file);
	CHECK_EQ(create(&scene), 0);
	CHECK_EQ(probes_file_refuse(&scene.file, -ENOENT), 0);
	check_reasons(&scene, "/tmp: the process may not open that file or map code from it "
			      "(AppArmor, SELinux, Landlock); /var/tmp: the file was gone before "
			      "the process opened it");
	scene_close(&scene);
}

/* ---- what killed injectors have left --------------------------------------------------------- */

UNIT_TEST(files_of_processes_that_are_gone_are_removed)
{
	struct scene scene;
	scene_open(&scene);
	for (size_t i = 0; i < PROBES_DIRECTORIES; i++)
		leave(places[i], name_of(nobody() + (int)i), i % 2 ? 0600 : 0555);
	CHECK_EQ(create(&scene), 0); /* looks in the directory that it takes */
	CHECK(!is_there("tmp", name_of(nobody())));
	CHECK(is_there("var/tmp", name_of(nobody() + 1)));
	probes_file_remove(&scene.file);
	CHECK(!probes_remove_files(&scene.roots, getpid())); /* in all of them */
	for (size_t i = 0; i < PROBES_DIRECTORIES; i++)
		CHECK(!is_there(places[i], name_of(nobody() + (int)i)));
	CHECK(is_there("run", "x"));
	scene_close(&scene);
}

UNIT_TEST(the_file_of_the_process_itself_is_removed_and_that_is_said)
{
	struct scene scene;
	scene_open(&scene);
	leave("dev/shm", scene.name, 0600);
	CHECK(probes_remove_files(&scene.roots, getpid()));
	CHECK(!is_there("dev/shm", scene.name));
	CHECK(!probes_remove_files(&scene.roots, getpid()));
	scene_close(&scene);
}

/* Its injector runs in another pid namespace, perhaps. */
UNIT_TEST(a_file_that_is_locked_stays)
{
	struct scene scene;
	scene_open(&scene);
	leave("tmp", name_of(nobody()), 0600);
	const int fd = open(in_root("tmp", name_of(nobody())), O_WRONLY | O_CLOEXEC);
	CHECK_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
	CHECK(!probes_remove_files(&scene.roots, getpid()));
	CHECK(is_there("tmp", name_of(nobody())));
	close(fd);
	CHECK(!probes_remove_files(&scene.roots, getpid()));
	CHECK(!is_there("tmp", name_of(nobody())));
	scene_close(&scene);
}

UNIT_TEST(files_that_need_not_be_ours_stay)
{
	struct scene scene;
	char name[6][64];
	scene_open(&scene);
	snprintf(name[0], sizeof(name[0]), HI_PROBES_NAME "%d.so.bak", nobody());
	snprintf(name[1], sizeof(name[1]), HI_PROBES_NAME "0%d.so", nobody());
	snprintf(name[2], sizeof(name[2]), HI_PROBES_NAME "%d.so", nobody() + 2);
	snprintf(name[3], sizeof(name[3]), HI_PROBES_NAME "%d.so", nobody() + 3);
	snprintf(name[4], sizeof(name[4]), HI_PROBES_NAME "%d.so", nobody() + 4);
	snprintf(name[5], sizeof(name[5]), HI_PROBES_NAME "%d.so", (int)getppid());
	leave("tmp", name[0], 0600);
	leave("tmp", name[1], 0600);
	leave("tmp", name[2], 0644); /* another mode */
	CHECK_EQ(symlink(in_root("tmp", "x"), in_root("tmp", name[3])), 0);
	leave("tmp", name[4], 0555); /* has two names */
	CHECK_EQ(link(in_root("tmp", name[4]), in_root("run", "second")), 0);
	leave("tmp", name[5], 0600); /* that process lives */
	CHECK(!probes_remove_files(&scene.roots, getpid()));
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (!is_there("tmp", name[i]))
			UNIT_FAIL("%s is gone", name[i]);
	if (!geteuid()) {
		leave("tmp", name_of(nobody()), 0600);
		CHECK_EQ(chown(in_root("tmp", name_of(nobody())), OTHER_USER, OTHER_USER), 0);
		CHECK(!probes_remove_files(&scene.roots, getpid()));
		CHECK(is_there("tmp", name_of(nobody())));
	}
	scene_close(&scene);
}

UNIT_MAIN()
