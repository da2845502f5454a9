/* SPDX-License-Identifier: MIT */
/*
 * file_service: a child gets files to write when a dump is expected, and only then; they get their
 * names when they are whole.
 */
#include "file_service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "unit.h"

static char directory[] = "/tmp/file_service_test.XXXXXX", prefix[64];

struct scene {
	struct file_broker broker; /* of a session without objects */
	struct outputs outputs;
	struct file_service service;
	int child; /* the child's end */
};

static void scene_open(struct scene *scene)
{
	int pair[2];

	CHECK(mkdtemp(directory));
	snprintf(prefix, sizeof(prefix), "%s/p", directory);
	*scene = (struct scene){.broker = {.roots = ROOTS_CLOSED}};
	CHECK_EQ(outputs_create(&scene->outputs, prefix, 12), 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	CHECK_EQ(file_service_open(&scene->service, pair[0], &scene->broker, &scene->outputs), 0);
	close(pair[0]);
	scene->child = pair[1];
}

static void scene_close(struct scene *scene)
{
	char command[300];

	file_service_close(&scene->service);
	file_service_close(&scene->service); /* once is enough */
	outputs_close(&scene->outputs, false);
	close(scene->child);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	CHECK_EQ(system(command), 0);
}

static void notify(const struct scene *scene, uint32_t kind, uint32_t place)
{
	const struct hi_file_request request = {.kind = kind, .place = place};
	CHECK_EQ(send(scene->child, &request, sizeof(request), 0), sizeof(request));
}

/* What the child is answered: a descriptor or negative errno. */
static int ask(const struct scene *scene, uint32_t kind)
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
	int fd = -1;

	notify(scene, kind, 0);
	CHECK_EQ(recvmsg(scene->child, &message, 0), sizeof(answer));
	if (answer.status)
		return answer.status;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY);
	return fd;
}

static void write_both(const struct scene *scene)
{
	static const uint32_t kinds[] = {HI_FILE_DUMP_HEAP, HI_FILE_DUMP_PPROF};

	for (int i = 0; i < 2; i++) {
		const int fd = ask(scene, kinds[i]);
		CHECK(fd >= 0);
		CHECK_EQ(write(fd, i ? "pprof" : "heap", i ? 5 : 4), i ? 5 : 4);
		close(fd);
	}
}

static int result(struct scene *scene, struct outputs_dump *dump)
{
	int err = 1;

	file_service_wait(&scene->service);
	CHECK_EQ(file_service_result(&scene->service, &err, dump), 1);
	CHECK_EQ(file_service_result(&scene->service, &err, dump), 0); /* once */
	return err;
}

static bool exists(const char *rest)
{
	char path[300];
	snprintf(path, sizeof(path), "%s%s", prefix, rest);
	return access(path, F_OK) == 0;
}

static void check_text(const char *path, const char *wanted)
{
	char text[64] = "";
	const int fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) >= 0);
	CHECK_STR(text, wanted);
	close(fd);
}

UNIT_TEST(two_files_get_their_names_when_they_are_whole)
{
	struct outputs_dump dump;
	struct scene scene;

	scene_open(&scene);
	for (int round = 1; round <= 2; round++) {
		CHECK_EQ(file_service_expect(&scene.service, false), 0);
		CHECK_EQ(file_service_expect(&scene.service, false), -EBUSY);
		write_both(&scene);
		CHECK_EQ(file_service_result(&scene.service, &(int){0}, &dump), 0);
		notify(&scene, HI_FILE_DUMP_DONE, 0);
		CHECK_EQ(result(&scene, &dump), 0);
		check_text(dump.heap_path, "heap");
		check_text(dump.pprof_path, "pprof");
	}
	CHECK(strstr(dump.heap_path, "/p.12.0002.heap"));
	CHECK(exists(".12.0001.pb.gz") && exists(".12.0003.heap") && !exists(".12.0002.heap.tmp"));
	scene_close(&scene);
}

UNIT_TEST(a_profile_in_memory_has_no_file_and_cannot_be_changed)
{
	struct outputs_dump dump;
	struct scene scene;
	char text[8];

	scene_open(&scene);
	CHECK_EQ(file_service_expect(&scene.service, true), 0);
	const int fd = ask(&scene, HI_FILE_DUMP_HEAP);
	CHECK_EQ(write(fd, "heap", 4), 4);
	CHECK_EQ(ask(&scene, HI_FILE_DUMP_PPROF), -ENOENT);
	notify(&scene, HI_FILE_DUMP_DONE, 0);
	CHECK_EQ(result(&scene, &dump), 0);
	CHECK_EQ(pread(dump.heap_fd, text, sizeof(text), 0), 4);
	CHECK_EQ(memcmp(text, "heap", 4), 0);
	CHECK_EQ(pwrite(fd, "HEAP", 4, 0), -1); /* the child has it still */
	CHECK_EQ(ftruncate(fd, 0), -1);
	CHECK(exists(".12.0001.heap") && !exists(".12.0002.heap"));
	close(dump.heap_fd);
	close(fd);
	/* The next one is a file again. */
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	write_both(&scene);
	notify(&scene, HI_FILE_DUMP_DONE, 0);
	CHECK_EQ(result(&scene, &dump), 0);
	check_text(dump.heap_path, "heap");
	scene_close(&scene);
}

/* The child keeps it mapped for writing: then the kernel seals nothing, and nobody gets it. */
UNIT_TEST(memory_that_cannot_be_sealed_is_given_to_nobody)
{
	struct outputs_dump dump;
	struct scene scene;

	scene_open(&scene);
	CHECK_EQ(file_service_expect(&scene.service, true), 0);
	const int fd = ask(&scene, HI_FILE_DUMP_HEAP);
	CHECK_EQ(write(fd, "heap", 4), 4);
	void *const mapped = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(mapped != MAP_FAILED);
	notify(&scene, HI_FILE_DUMP_DONE, 0);
	CHECK_EQ(result(&scene, &dump), -EBUSY);
	CHECK_EQ(fcntl(scene.service.dump.heap_fd, F_GETFD), -1); /* closed */
	munmap(mapped, 4);
	close(fd);
	/* The next one is none the worse for it. */
	CHECK_EQ(file_service_expect(&scene.service, true), 0);
	close(ask(&scene, HI_FILE_DUMP_HEAP));
	notify(&scene, HI_FILE_DUMP_DONE, 0);
	CHECK_EQ(result(&scene, &dump), 0);
	close(dump.heap_fd);
	scene_close(&scene);
}

UNIT_TEST(nobody_gets_files_that_are_not_expected)
{
	struct outputs_dump dump;
	struct scene scene;

	scene_open(&scene);
	CHECK_EQ(ask(&scene, HI_FILE_DUMP_HEAP), -EINVAL);
	notify(&scene, HI_FILE_DUMP_DONE, 0); /* of nothing */
	CHECK_EQ(ask(&scene, HI_FILE_MAPPED), -EINVAL);
	CHECK_EQ(file_service_result(&scene.service, &(int){0}, &dump), 0);
	CHECK(exists(".12.0001.heap") && !exists(".12.0002.heap"));
	scene_close(&scene);
}

UNIT_TEST(what_could_not_be_written_leaves_nothing)
{
	struct outputs_dump dump;
	struct scene scene;

	scene_open(&scene);
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	write_both(&scene);
	CHECK(exists(".12.0001.heap.tmp"));
	notify(&scene, HI_FILE_DUMP_DONE, ENOSPC);
	CHECK_EQ(result(&scene, &dump), -ENOSPC);
	CHECK(!exists(".12.0001.heap.tmp") && !exists(".12.0001.pb.gz.tmp") &&
	      !exists(".12.0002.heap"));
	/* The next one is none the worse for it. */
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	write_both(&scene);
	notify(&scene, HI_FILE_DUMP_DONE, 0);
	CHECK_EQ(result(&scene, &dump), 0);
	CHECK(exists(".12.0001.pb.gz") && exists(".12.0002.heap"));
	scene_close(&scene);
}

UNIT_TEST(a_child_that_lies_gets_nowhere)
{
	struct outputs_dump dump;
	struct scene scene;

	scene_open(&scene);
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	notify(&scene, HI_FILE_DUMP_DONE, 0); /* has never asked for files */
	CHECK_EQ(result(&scene, &dump), -EPROTO);
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	notify(&scene, HI_FILE_DUMP_DONE, UINT32_MAX); /* no such errno */
	CHECK_EQ(result(&scene, &dump), -EPROTO);
	CHECK(!exists(".12.0002.heap"));
	scene_close(&scene);
}

UNIT_TEST(a_child_that_dies_over_it_is_no_reason_to_wait)
{
	struct outputs_dump dump;
	struct scene scene;

	scene_open(&scene);
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	write_both(&scene);
	close(scene.child);
	scene.child = -1;
	CHECK_EQ(result(&scene, &dump), -EPIPE);
	CHECK(!exists(".12.0001.heap.tmp") && exists(".12.0001.heap"));
	CHECK_EQ(file_service_expect(&scene.service, false), -EPIPE);
	scene_close(&scene);
}

UNIT_TEST(an_end_amid_a_dump_drops_it)
{
	struct scene scene;

	scene_open(&scene);
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	write_both(&scene);
	file_service_close(&scene.service);
	CHECK(!exists(".12.0001.heap.tmp") && !exists(".12.0002.heap"));
	scene_close(&scene);
}

/* A directory that is not there any more: the child is told, and tells in turn. */
UNIT_TEST(files_that_cannot_be_created_are_an_answer)
{
	struct outputs_dump dump;
	struct scene scene;

	scene_open(&scene);
	close(scene.outputs.directory_fd);
	scene.outputs.directory_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK_EQ(file_service_expect(&scene.service, false), 0);
	const int err = ask(&scene, HI_FILE_DUMP_HEAP);
	CHECK(err < 0);
	notify(&scene, HI_FILE_DUMP_DONE, (uint32_t)-err);
	CHECK_EQ(result(&scene, &dump), err);
	scene_close(&scene);
}

UNIT_MAIN()
