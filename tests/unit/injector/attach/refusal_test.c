/* SPDX-License-Identifier: MIT */
/*
 * refusal_test.c - which errors of an attach are the target's refusals, with which remedy, and
 * which are failures of ours.
 */
#include "refusal.h"

#include <errno.h>
#include <sys/resource.h>

#include "hi_exit.h"
#include "victim.h"

struct scene {
	struct victim victim;
	struct preflight preflight;
	struct attachment attachment;
};

static void work(struct victim_page *page)
{
	page->ready = 1;
	for (;; page->progress++)
		victim_pause_us(1000);
}

static void scene_open(struct scene *scene)
{
	*scene = (struct scene){0};
	victim_start(&scene->victim, work);
	scene->preflight.pid = scene->victim.pid;
	snprintf(scene->preflight.comm, sizeof(scene->preflight.comm), "redis");
	attachment_init(&scene->attachment, scene->victim.pid);
	CHECK_EQ(attachment_open(&scene->attachment, scene->victim.pid), 0);
	scene->attachment.step = "juggling";
}

static void scene_close(struct scene *scene)
{
	attachment_close(&scene->attachment);
	victim_end(&scene->victim);
}

/* One line, and in it `expected`. */
static void check_said(const struct scene *scene, enum hi_loader loader, int err, int exit_code,
		       const char *expected)
{
	char said[2048] = "";
	int told[2], terminal = dup(STDERR_FILENO);
	CHECK_EQ(pipe(told), 0);
	dup2(told[1], STDERR_FILENO);
	const int got = refusal_explain(&scene->preflight, &scene->attachment, loader, err);
	dup2(terminal, STDERR_FILENO);
	close(told[1]);
	close(terminal);
	const ssize_t size = read(told[0], said, sizeof(said) - 1);
	close(told[0]);
	CHECK_EQ(got, exit_code);
	CHECK(size > 0 && strchr(said, '\n') == said + size - 1);
	if (!strstr(said, expected))
		UNIT_FAIL("%s: no \"%s\" in: %s", strerror(-err), expected, said);
}

UNIT_TEST(a_refusal_names_step_program_error_and_remedy)
{
	struct scene scene;
	scene_open(&scene);
	char line[128];
	snprintf(line, sizeof(line),
		 "heapinject: juggling failed for %d (redis): Too many open files; it can open no "
		 "descriptor",
		 (int)scene.victim.pid);
	check_said(&scene, HI_LOADER_MAP, -EMFILE, HI_EXIT_REFUSED, line);
	check_said(&scene, HI_LOADER_MAP, -ENOBUFS, HI_EXIT_REFUSED,
		   "; it locks what it maps (mlockall), and may lock no more");
	check_said(&scene, HI_LOADER_MAP, -EBUSY, HI_EXIT_REFUSED,
		   "; another heapinject is at work in it");
	scene_close(&scene);
}

UNIT_TEST(a_want_of_a_place_for_the_probes_names_each_directory)
{
	struct scene scene;
	scene_open(&scene);
	struct probes_file *file = &scene.attachment.probes.file;
	file->refused[0].err = file->refused[1].err = -ENOSYS;
	file->refused[2].err = -ENOEXEC;
	file->refused[3] = (struct probes_refused){.err = -EACCES, .is_by_target = true};
	check_said(&scene, HI_LOADER_MAP, -EROFS, HI_EXIT_REFUSED,
		   "or leave out --otel; /tmp, /var/tmp: heapinject has no openat2 or faccessat2 "
		   "to look there with (a kernel before 5.8, or a seccomp filter of its "
		   "container: start it outside of that); /dev/shm: mounted noexec; /run: the "
		   "process may not open that file or map code from it (AppArmor, SELinux, "
		   "Landlock)\n");
	scene_close(&scene);
}

UNIT_TEST(another_file_in_the_place_of_ours_is_said_to_be_one)
{
	struct scene scene;
	scene_open(&scene);
	struct probes *probes = &scene.attachment.probes;
	snprintf(probes->file.path, sizeof(probes->file.path), "/tmp/heapinject-otel-1.so");
	check_said(&scene, HI_LOADER_MAP, -ESTALE, HI_EXIT_REFUSED,
		   "Stale file handle; another file was in the place of the one that heapinject "
		   "had just created: the process closes descriptors that it did not open, or a "
		   "program replaces files; nothing of that file is used; try again\n");
	probes->is_swapped = true;
	check_said(&scene, HI_LOADER_MAP, -ESTALE, HI_EXIT_REFUSED,
		   "; try again; if it goes on, find out which program renames or writes to "
		   "/tmp/heapinject-otel-1.so (inotifywait -m), or leave out --otel\n");
	scene_close(&scene);
}

UNIT_TEST(the_remedy_depends_on_the_loader)
{
	struct scene scene;
	scene_open(&scene);
	check_said(&scene, HI_LOADER_MAP, -EAGAIN, HI_EXIT_REFUSED, "untouched; try again\n");
	check_said(&scene, HI_LOADER_DLOPEN, -EAGAIN, HI_EXIT_REFUSED, "or use --loader map\n");
	check_said(&scene, HI_LOADER_DLOPEN, -ENOTSUP, HI_EXIT_REFUSED, "works with glibc only");
	check_said(&scene, HI_LOADER_MAP, -ENOTSUP, HI_EXIT_FAILED, "Operation not supported\n");
	scene_close(&scene);
}

/* So many descriptors can still be opened. */
static void leave_descriptors(rlim_t left)
{
	const int next = dup(STDERR_FILENO);
	struct rlimit limit;

	close(next);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)next + left;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

UNIT_TEST(a_want_of_descriptors_of_our_own_is_not_laid_upon_the_target)
{
	struct scene scene;
	scene_open(&scene);
	attachment_close(&scene.attachment);
	leave_descriptors(4); /* check_said needs three */
	const int held[] = {dup(STDERR_FILENO), dup(STDERR_FILENO), dup(STDERR_FILENO),
			    dup(STDERR_FILENO)};
	CHECK_EQ(attachment_open(&scene.attachment, scene.victim.pid), -EMFILE);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		close(held[i]);
	check_said(
		&scene, HI_LOADER_MAP, -EMFILE, HI_EXIT_FAILED,
		"Too many open files; heapinject itself can open no more descriptors (ulimit -n");
	scene_close(&scene);
}

UNIT_TEST(any_other_error_is_a_failure_without_a_remedy)
{
	struct scene scene;
	scene_open(&scene);
	check_said(&scene, HI_LOADER_MAP, -EIO, HI_EXIT_FAILED, "Input/output error\n");
	scene_close(&scene);
}

UNIT_TEST(what_is_left_behind_is_no_refusal)
{
	struct scene scene;
	scene_open(&scene);
	scene.attachment.left_behind = true;
	check_said(&scene, HI_LOADER_MAP, -EBUSY, HI_EXIT_FAILED,
		   "`heapinject detach` removes the rest\n");
	scene_close(&scene);
}

UNIT_TEST(a_target_that_has_exited_is_why_whatever_failed)
{
	struct scene scene;
	scene_open(&scene);
	kill(scene.victim.pid, SIGKILL);
	waitpid(scene.victim.pid, NULL, 0);
	check_said(&scene, HI_LOADER_MAP, -EPROTO, HI_EXIT_REFUSED,
		   "(redis): it exited just now\n");
	attachment_close(&scene.attachment);
	victim_forget(&scene.victim);
}

UNIT_MAIN()
