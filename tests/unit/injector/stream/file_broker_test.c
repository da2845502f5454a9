/* SPDX-License-Identifier: MIT */
/*
 * file_broker: the right files are handed over, also when they have lost their names, and none that
 * a request has no business with.
 */
#include "file_broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "own_images.h"
#include "unit.h"

static char directory[] = "/tmp/file_broker_test.XXXXXX";

struct scene {
	struct own own;
	struct file_broker broker;
	int near, far;
};

static void scene_open(struct scene *scene)
{
	struct proc_status status;
	int pair[2];

	scene->own = own_open();
	CHECK_EQ(proc_status_read(getpid(), getpid(), &status), 0);
	file_broker_open(&scene->broker, getpid(), getpid(), &status);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	scene->near = pair[0];
	scene->far = pair[1];
}

static void scene_close(struct scene *scene)
{
	file_broker_close(&scene->broker);
	own_close(&scene->own);
	close(scene->near);
	close(scene->far);
}

/* What the child is answered: a descriptor or negative errno. */
static int ask(struct scene *scene, const void *request, size_t size)
{
	struct hi_file_answer answer;
	struct iovec part = {.iov_base = &answer, .iov_len = sizeof(answer)};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct hi_file_request other;
	int fd = -1;

	CHECK_EQ(send(scene->far, request, size, 0), size);
	CHECK_EQ(file_broker_serve(&scene->broker, scene->near, &other), 0);
	CHECK_EQ(recvmsg(scene->far, &message, 0), sizeof(answer));
	if (answer.status) {
		CHECK(!CMSG_FIRSTHDR(&message));
		return answer.status;
	}
	CHECK(CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	return fd;
}

static int ask_for(struct scene *scene, struct hi_file_request request)
{
	return ask(scene, &request, sizeof(request));
}

static ino_t inode_of(int fd)
{
	struct stat status;

	CHECK(fd >= 0 && !fstat(fd, &status));
	close(fd);
	return status.st_ino;
}

/* Makes path below the test's directory, and the directories on the way. */
static void make_file(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s/%s')\" && echo text >'%s/%s'",
		 directory, path, directory, path);
	CHECK_EQ(system(command), 0);
}

static void make_link(const char *path, const char *target)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", directory, path);
	CHECK_EQ(symlink(target, full), 0);
}

static void remove_directory(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	(void)!system(command);
}

/* The target's root is the test's directory, and the object is one of its /opt. */
static void use_directory_as_root(struct scene *scene)
{
	CHECK(mkdtemp(directory));
	CHECK_EQ(chmod(directory, 0755), 0);
	close(scene->broker.roots.target);
	scene->broker.roots.target = open(directory, O_PATH | O_DIRECTORY);
	const struct elf_image image = {.path = (char *)(uintptr_t) "/opt/program", .fd = -1};
	file_broker_keep(&scene->broker, 1, &image);
}

/* ---- what is handed over --------------------------------------------------------------------- */

UNIT_TEST(the_mapped_file_by_its_number)
{
	struct scene scene;

	scene_open(&scene);
	const struct elf_image *libc = own_image(&scene.own, "libc.so"),
			       *self = own_image(&scene.own, "file_broker_test");
	file_broker_keep(&scene.broker, 1, self);
	file_broker_keep(&scene.broker, 2, libc);
	file_broker_keep(&scene.broker, 2, libc); /* its second mapping */
	CHECK_EQ(inode_of(ask_for(&scene,
				  (struct hi_file_request){.kind = HI_FILE_MAPPED, .module = 1})),
		 self->inode);
	CHECK_EQ(inode_of(ask_for(&scene,
				  (struct hi_file_request){.kind = HI_FILE_MAPPED, .module = 2})),
		 libc->inode);
	CHECK_EQ(inode_of(ask_for(&scene,
				  (struct hi_file_request){.kind = HI_FILE_NAMED, .module = 2})),
		 libc->inode);
	CHECK_EQ(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_MAPPED, .module = 0}),
		 -EINVAL);
	CHECK_EQ(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_MAPPED, .module = 3}),
		 -EINVAL);
	scene_close(&scene);
}

/* The target has exited: its objects are closed, and /proc shows nothing any more. */
UNIT_TEST(a_file_outlives_target_and_name)
{
	struct scene scene;
	char path[300];

	scene_open(&scene);
	CHECK(mkdtemp(directory));
	make_file("gone");
	snprintf(path, sizeof(path), "%s/gone", directory);
	struct stat status;
	struct elf_image image = {.path = path, .fd = open(path, O_RDONLY)};
	CHECK_EQ(fstat(image.fd, &status), 0);
	file_broker_keep(&scene.broker, 1, &image);
	close(image.fd);
	unlink(path);
	CHECK_EQ(inode_of(ask_for(&scene,
				  (struct hi_file_request){.kind = HI_FILE_MAPPED, .module = 1})),
		 status.st_ino);
	CHECK_EQ(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_NAMED, .module = 1}),
		 -ENOENT);
	remove_directory();
	scene_close(&scene);
}

UNIT_TEST(a_library_that_comes_again_needs_no_second_descriptor)
{
	struct scene scene;

	scene_open(&scene);
	const struct elf_image *libc = own_image(&scene.own, "libc.so");
	for (uint32_t module = 1; module <= 500; module++)
		file_broker_keep(&scene.broker, module, libc);
	CHECK_EQ(scene.broker.module_count, 500);
	CHECK_EQ(scene.broker.file_count, 1);
	CHECK_EQ(inode_of(ask_for(&scene,
				  (struct hi_file_request){.kind = HI_FILE_MAPPED, .module = 500})),
		 libc->inode);
	scene_close(&scene);
}

UNIT_TEST(debug_files_in_their_places)
{
	struct scene scene;

	scene_open(&scene);
	use_directory_as_root(&scene);
	make_file("usr/lib/debug/.build-id/ab/cd01.debug");
	make_file("opt/.debug/program.debug");
	make_file("usr/lib/debug/.dwz/x86_64-linux-gnu/program.debug");
	make_file("tmp/perf-77.map");
	scene.broker.ns_pid = 77;
	CHECK(inode_of(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_BUILD_ID,
								.module = 1,
								.build_id_size = 3,
								.build_id = {0xab, 0xcd, 1}})));
	CHECK(inode_of(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_DEBUG_LINK,
								.module = 1,
								.place = 2,
								.name = "program.debug"})));
	CHECK_EQ(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_DEBUG_LINK,
							  .module = 1,
							  .place = 0,
							  .name = "program.debug"}),
		 -ENOENT);
	CHECK(inode_of(ask_for(
		&scene, (struct hi_file_request){.kind = HI_FILE_ALTERNATE,
						 .module = 1,
						 .name = "x86_64-linux-gnu/program.debug"})));
	CHECK(inode_of(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_PERF_MAP})));
	remove_directory();
	scene_close(&scene);
}

/* ---- what is not ----------------------------------------------------------------------------- */

UNIT_TEST(requests_that_make_no_sense)
{
	struct scene scene;
	struct hi_file_request request = {.kind = HI_FILE_DEBUG_LINK, .module = 1};

	scene_open(&scene);
	use_directory_as_root(&scene);
	CHECK_EQ(ask(&scene, "short", 5), -EINVAL);
	CHECK_EQ(ask_for(&scene, (struct hi_file_request){.kind = 0, .module = 1}), -EINVAL);
	CHECK_EQ(ask_for(&scene, (struct hi_file_request){.kind = 77, .module = 1}), -EINVAL);
	CHECK_EQ(ask_for(&scene,
			 (struct hi_file_request){.kind = HI_FILE_NAMED, .module = 1, .place = 2}),
		 -EINVAL);
	CHECK_EQ(ask_for(&scene,
			 (struct hi_file_request){.kind = HI_FILE_MAPPED, .module = UINT32_MAX}),
		 -EINVAL);
	CHECK_EQ(ask_for(&scene, (struct hi_file_request){.kind = HI_FILE_BUILD_ID,
							  .module = 1,
							  .build_id_size = 1}),
		 -EINVAL);
	CHECK_EQ(ask_for(&scene,
			 (struct hi_file_request){.kind = HI_FILE_BUILD_ID,
						  .module = 1,
						  .build_id_size = HI_FILE_BUILD_ID_MAX + 1}),
		 -EINVAL);
	request.place = HI_FILE_DEBUG_LINK_PLACES;
	strcpy(request.name, "x");
	CHECK_EQ(ask_for(&scene, request), -EINVAL);
	request.place = 0;
	memset(request.name, 'x', sizeof(request.name)); /* without an end */
	CHECK_EQ(ask_for(&scene, request), -EINVAL);
	remove_directory();
	scene_close(&scene);
}

UNIT_TEST(names_that_lead_elsewhere)
{
	static const char *const names[] = {
		"",        ".",  "..", "/etc/passwd", "../etc/passwd", "x/../../etc/passwd",
		".hidden", "a/b"};
	struct hi_file_request request = {.kind = HI_FILE_DEBUG_LINK, .module = 1};
	struct scene scene;

	scene_open(&scene);
	use_directory_as_root(&scene);
	make_file("opt/a/b");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(request.name, sizeof(request.name), "%s", names[i]);
		request.kind = HI_FILE_DEBUG_LINK;
		CHECK_EQ(ask_for(&scene, request), -EINVAL);
		request.kind = HI_FILE_ALTERNATE;
		CHECK_EQ(ask_for(&scene, request), strcmp(names[i], "a/b") ? -EINVAL : -ENOENT);
	}
	remove_directory();
	scene_close(&scene);
}

/* A link of a container means a file of the container, whatever the path means here. */
UNIT_TEST(links_do_not_lead_out_of_the_root_of_the_target)
{
	const struct hi_file_request request = {.kind = HI_FILE_BUILD_ID,
						.module = 1,
						.build_id_size = 2,
						.build_id = {0xab, 0xcd}};
	struct scene scene;

	scene_open(&scene);
	use_directory_as_root(&scene);
	make_file("usr/lib/debug/.build-id/ab/other");
	make_link("usr/lib/debug/.build-id/ab/cd.debug", "/etc/passwd");
	CHECK_EQ(ask_for(&scene, request), -ENOENT);
	make_file("etc/passwd");
	struct stat outside;
	CHECK_EQ(stat("/etc/passwd", &outside), 0);
	CHECK(inode_of(ask_for(&scene, request)) != outside.st_ino);
	remove_directory();
	scene_close(&scene);
}

UNIT_TEST(only_regular_files)
{
	const struct hi_file_request request = {.kind = HI_FILE_NAMED, .module = 1};
	struct scene scene;
	char path[300];

	scene_open(&scene);
	use_directory_as_root(&scene);
	make_file("opt/other");
	snprintf(path, sizeof(path), "%s/opt/program", directory);
	CHECK_EQ(mkfifo(path, 0666), 0);
	CHECK_EQ(ask_for(&scene, request), -EACCES);
	unlink(path);
	CHECK_EQ(mkdir(path, 0755), 0);
	CHECK_EQ(ask_for(&scene, request), -EACCES);
	remove_directory();
	scene_close(&scene);
}

/*
 * The compromised child of a session that root runs for somebody must not get at what that user may
 * not read.
 */
UNIT_TEST(files_are_opened_with_the_rights_of_the_reader)
{
	const struct hi_file_request request = {.kind = HI_FILE_NAMED, .module = 1};
	struct scene scene;
	char path[300];

	if (geteuid() != 0)
		SKIP("only root can open what others cannot");
	scene_open(&scene);
	use_directory_as_root(&scene);
	make_file("opt/program");
	snprintf(path, sizeof(path), "%s/opt/program", directory);
	CHECK_EQ(chmod(path, 0600), 0);
	scene.broker.roots.reader = (struct identity){.uid = 65534, .gid = 65534};
	CHECK_EQ(ask_for(&scene, request), -EACCES);
	CHECK_EQ(chmod(path, 0604), 0);
	CHECK(inode_of(ask_for(&scene, request)));
	scene.broker.roots.reader = (struct identity){0};
	CHECK_EQ(chmod(path, 0600), 0);
	CHECK(inode_of(ask_for(&scene, request)));
	remove_directory();
	scene_close(&scene);
}

/* Anybody can put a file into /tmp. */
UNIT_TEST(a_perf_map_of_somebody_else_does_not_count)
{
	const struct hi_file_request request = {.kind = HI_FILE_PERF_MAP};
	struct scene scene;
	char path[300];

	if (geteuid() != 0)
		SKIP("only root can give files away");
	scene_open(&scene);
	use_directory_as_root(&scene);
	make_file("tmp/perf-77.map");
	scene.broker.ns_pid = 77;
	snprintf(path, sizeof(path), "%s/tmp/perf-77.map", directory);
	CHECK_EQ(chown(path, 1, 1), 0);
	CHECK_EQ(ask_for(&scene, request), -EACCES);
	scene.broker.owner_uid = 1;
	CHECK(inode_of(ask_for(&scene, request)));
	unlink(path);
	make_link("tmp/perf-77.map", "../opt");
	CHECK(ask_for(&scene, request) < 0);
	remove_directory();
	scene_close(&scene);
}

UNIT_TEST(who_does_not_read_answers_gets_none)
{
	const struct hi_file_request request = {.kind = 77};
	struct hi_file_request other;
	struct scene scene;
	int err = 0;

	scene_open(&scene);
	CHECK_EQ(file_broker_serve(&scene.broker, scene.near, &other), -EAGAIN);
	for (int i = 0; i < 100000 && !err; i++) {
		CHECK_EQ(send(scene.far, &request, sizeof(request), 0), sizeof(request));
		err = file_broker_serve(&scene.broker, scene.near, &other);
	}
	CHECK_EQ(err, -EPIPE);
	close(scene.far);
	scene.far = -1;
	CHECK_EQ(file_broker_serve(&scene.broker, scene.near, &other), -EPIPE);
	scene_close(&scene);
}

UNIT_MAIN()
