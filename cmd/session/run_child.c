/* SPDX-License-Identifier: MIT */
/* run_child.c - see run_child.h. */
#include "run_child.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hi_analyzer.h"

void run_child_let_go(struct run_child *child)
{
	child->goes = true;
	kill(child->pid, SIGCONT);
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
