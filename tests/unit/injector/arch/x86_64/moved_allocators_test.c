/* SPDX-License-Identifier: MIT */
/*
 * moved_allocators: each function of each allocator on this machine is called through its moved
 * first instruction (allocator_calls.c, a program of its own for each allocator), near and nearly
 * 2 GB away, and does what it should. Capstone judges how the instructions are read.
 */
#include "arch.h"

#include "allocator_calls.h"
#include "moved.h"

#define SOURCE "tests/unit/injector/arch/x86_64/allocator_calls.c"

static struct judge judge;
static char directory[] = "/tmp/moved_allocators.XXXXXX";
static char program[sizeof(directory) + 16];

/* Runs a program whose malloc is the allocator's, and moves what it asks for. */
static void examine(const char *name, const char *preload)
{
	int down[2], up[2], status;
	struct move_request request, last = {0};

	CHECK(pipe(down) == 0 && pipe(up) == 0);
	const pid_t child = fork();
	if (!child) {
		dup2(down[0], STDIN_FILENO);
		dup2(up[1], STDOUT_FILENO);
		close(down[1]);
		close(up[0]);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execl(program, program, NULL);
		_exit(127);
	}
	close(down[0]);
	close(up[1]);
	while (read(up[0], &request, sizeof(request)) == sizeof(request)) {
		const bool is_new = strcmp(request.name, last.name) != 0;
		struct move_reply reply = {0};
		const char *dispute = judge_dispute(&judge, request.code, request.pc);

		if (dispute)
			UNIT_FAIL("%s: %s: %s", name, request.name, dispute);
		reply.is_moved = arch_make_exit(request.code, request.pc, request.at, reply.exit);
		if (is_new && count_first(&judge, request.code, request.pc) != reply.is_moved)
			UNIT_FAIL("%s: %s is out of reach", name, request.name);
		if (!reply.is_moved)
			printf("# %s: %s is not moved\n", name, request.name);
		count.executed += reply.is_moved;
		last = request;
		if (write(down[1], &reply, sizeof(reply)) != sizeof(reply))
			break;
	}
	close(down[1]);
	close(up[0]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	if (status)
		UNIT_FAIL("%s: %s ends with status 0x%x", name, last.name, (unsigned)status);
	CHECK(last.pc);
	count.files++;
}

static void prepare(void)
{
	judge = judge_open();
	signal(SIGPIPE, SIG_IGN);
	CHECK(mkdtemp(directory));
	snprintf(program, sizeof(program), "%s/program", directory);
}

static void finish(void)
{
	unlink(program);
	rmdir(directory);
	count_print();
	CHECK(count.moved);
}

/* Builds the program. False: the compiler, or a library, is not installed. */
static bool build(const char *compiler, const char *options)
{
	char command[PATH_MAX * 2];

	snprintf(command, sizeof(command), "%s -D_GNU_SOURCE -O1 -o %s " SOURCE " %s 2>%s/errors",
		 compiler, program, options, directory);
	const bool is_built = system(command) == 0;
	if (!is_built) {
		snprintf(command, sizeof(command), "head -n 3 %s/errors", directory);
		(void)!system(command);
	}
	snprintf(command, sizeof(command), "%s/errors", directory);
	unlink(command);
	return is_built;
}

static const char *const families[] = {"libjemalloc", "libtcmalloc", "libmimalloc", NULL};

static void examine_preloaded(const char *path, void *data)
{
	(void)data;
	examine(path, path);
}

UNIT_TEST(functions_of_shared_allocators_do_the_same_when_moved)
{
	static const char *const operators[] = {"libstdc++.so", NULL};

	prepare();
	CHECK(build("cc", "-ldl"));
	examine("glibc", NULL);
	libraries_each(operators, ".so", examine_preloaded, NULL);
	libraries_each(families, ".so", examine_preloaded, NULL);
	if (build("musl-gcc", ""))
		examine("musl", NULL);
	finish();
}

static void examine_archive(const char *path, void *data)
{
	char options[PATH_MAX + 256];

	(void)data;
	snprintf(options, sizeof(options),
		 "-rdynamic -Wl,--whole-archive %s -Wl,--no-whole-archive -lstdc++ -lm -lpthread "
		 "-ldl $(pkg-config --libs libunwind)",
		 path);
	CHECK(build("cc", options));
	examine(path, NULL);
}

/* Each of them is linked once. */
UNIT_SLOW_TEST(functions_of_static_allocators_do_the_same_when_moved)
{
	prepare();
	libraries_each(families, ".a", examine_archive, NULL);
	CHECK(build("cc", "-static -DFULLY_STATIC"));
	examine("glibc, static", NULL);
	if (build("musl-gcc", "-static -DFULLY_STATIC"))
		examine("musl, static", NULL);
	finish();
}

UNIT_MAIN()
