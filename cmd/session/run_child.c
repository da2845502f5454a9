/* SPDX-License-Identifier: MIT */
/* run_child.c - see run_child.h. */
#include "run_child.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attachment.h"
#include "hi_analyzer.h"
#include "launch.h"
#include "plain_text.h"
#include "proc_file.h"

int run_child_let_go(struct run_child *child, const struct attachment *attachment, bool is_watched)
{
	const int err =
		launch_let_go(child->pid, &attachment->memory, &attachment->gadgets, is_watched);

	child->goes = !err;
	if (err)
		fprintf(stderr, "heapinject: cannot continue %d: %s\n", (int)child->pid,
			strerror(-err));
	return err;
}

const char *run_child_explain_exec(const struct run_child *child)
{
	static char line[2 * PATH_MAX + 256];
	char raw[PATH_MAX], path[PATH_MAX];
	const ssize_t size =
		readlink(proc_path(child->pid, child->pid, "exe").text, raw, sizeof(raw) - 1);

	if (size <= 0)
		return "the process replaced its program by another one, which is not profiled";
	raw[size] = 0;
	plain_text_copy(path, sizeof(path), raw);
	snprintf(line, sizeof(line),
		 "the process replaced its program by %s (exec), which is not profiled; to profile "
		 "that, start it itself: heapinject run %s",
		 path, path);
	return line;
}

/* In a process of its own, as all that shows profiles. */
void run_child_show_kept(const char *heap_path)
{
	static char name[] = "report", view[] = "--kept";
	char *argv[] = {name, (char *)(uintptr_t)heap_path, view, NULL};
	int status;

	fprintf(stderr, "\nNever freed, by stack:\n");
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		const int exit_code = hi_analyzer_report(3, argv);
		fflush(NULL);
		_exit(exit_code);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}
