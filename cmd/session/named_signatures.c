/* SPDX-License-Identifier: MIT */
/* named_signatures.c - see named_signatures.h. Enter at named_signatures_check. */
#include "named_signatures.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hi_analyzer.h"
#include "hi_exit.h"
#include "identity.h"
#include "named_check.h"
#include "named_functions.h"
#include "sandbox.h"

/* Of a whole browser it takes seconds; a file can be made so that it takes for ever. */
#define READ_MS_MAX 30000

/* ---- by a process without rights ------------------------------------------------------------- */

_Noreturn static void read_file(int file, int out, uint64_t address)
{
	int *const kept[] = {&file, &out};
	struct hi_signature signature;
	struct sandbox_state state;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (sandbox_keep(kept, sizeof(kept) / sizeof(*kept)) ||
	    sandbox_enter(identity_to_run_as(identity_of_caller()), -1, &state) ||
	    hi_analyzer_signature(file, address, &signature))
		_exit(1);
	_exit(write(out, &signature, sizeof(signature)) != (ssize_t)sizeof(signature));
}

/* What comes from there may be anything. */
static void make_plain(char text[HI_SIGNATURE_TEXT_MAX])
{
	text[HI_SIGNATURE_TEXT_MAX - 1] = 0;
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static void make_parameter_plain(struct hi_parameter *parameter)
{
	make_plain(parameter->name);
	make_plain(parameter->type);
}

static void take(int from, struct hi_signature *out_signature)
{
	struct pollfd answer = {.fd = from, .events = POLLIN};
	struct hi_signature signature;

	if (poll(&answer, 1, READ_MS_MAX) != 1 ||
	    read(from, &signature, sizeof(signature)) != (ssize_t)sizeof(signature))
		return;
	make_parameter_plain(&signature.result);
	for (size_t i = 0; i < HI_SIGNATURE_PARAMETERS; i++)
		make_parameter_plain(&signature.parameter[i]);
	*out_signature = signature;
}

/* The signature stays unknown if it cannot be read. */
static void read_signature(int file, uint64_t address, struct hi_signature *out_signature)
{
	int ends[2];

	*out_signature = (struct hi_signature){0};
	if (file < 0 || pipe2(ends, O_CLOEXEC))
		return;
	const pid_t pid = fork();
	if (pid == 0)
		read_file(file, ends[1], address);
	close(ends[1]);
	if (pid > 0) {
		take(ends[0], out_signature);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
}

/* ---- what was named -------------------------------------------------------------------------- */

/* The functions whose types are not known, by their names. */
struct unknown {
	char names[256];
	size_t length;
};

static void add_unknown(struct unknown *unknown, const char *name)
{
	const size_t room = sizeof(unknown->names) - unknown->length;
	const int length = snprintf(unknown->names + unknown->length, room, "%s%s",
				    unknown->length ? ", " : "", name);

	if (length > 0 && (size_t)length < room)
		unknown->length += (size_t)length;
}

static int refuse(const struct preflight *preflight, const char *problem)
{
	fprintf(stderr, "heapinject: cannot attach to %d (%s): %s\n", (int)preflight->pid,
		preflight->comm, problem);
	return HI_EXIT_REFUSED;
}

static int check(const struct preflight *preflight, const struct elf_images *images, remote_addr at,
		 struct named_function *function, struct unknown *unknown)
{
	const struct elf_image *image = elf_images_find(images, at);
	const bool has_debug_file = image && image->debug.elf && !image->debug.is_partial;
	char why[NAMED_CHECK_TEXT_MAX];
	struct hi_signature signature;

	read_signature(!image           ? -1
		       : has_debug_file ? image->debug.fd
					: image->fd,
		       image ? at - image->bias : 0, &signature);
	switch (named_check(function, &signature, why)) {
	case NAMED_CHECK_WRONG:
		return refuse(preflight, why);
	case NAMED_CHECK_UNKNOWN:
		add_unknown(unknown, function->name);
		break;
	case NAMED_CHECK_GOOD:
		break;
	}
	return HI_EXIT_OK;
}

int named_signatures_check(const struct preflight *preflight, const struct elf_images *images,
			   bool is_quiet, struct named_functions *named)
{
	static struct allocators found; /* large; there is one session per process */
	struct unknown unknown = {.length = 0};
	char problem[NAMED_PROBLEM_MAX];
	int exit_code = HI_EXIT_OK;

	if (!named->alloc_count && !named->free_count)
		return HI_EXIT_OK;
	if (named_functions_find(images, named, &found, problem))
		return refuse(preflight, problem);
	for (unsigned kind = 0; kind < 2; kind++) {
		const bool is_free = kind == 1;
		struct named_function *function = is_free ? named->free : named->alloc;
		const size_t count = is_free ? named->free_count : named->alloc_count;

		for (size_t i = 0; i < count && exit_code == HI_EXIT_OK; i++)
			exit_code = check(preflight, images,
					  hook_original(&found, named_function_hook(is_free, i)),
					  &function[i], &unknown);
	}
	if (exit_code == HI_EXIT_OK && unknown.length && !is_quiet)
		fprintf(stderr,
			"heapinject: no debug information says what the arguments of %s are; what "
			"--alloc-fn and --free-fn say of them was not checked\n",
			unknown.names);
	return exit_code;
}
