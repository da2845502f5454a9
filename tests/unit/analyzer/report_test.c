/* SPDX-License-Identifier: MIT */
/*
 * report_test.c - `heapinject report` as its user sees it: exit status, what goes where, files that
 * appear whole or not at all.
 */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hi_analyzer.h"
#include "hi_exit.h"
#include "stream_file.h"
#include "stream_writer.h"

#define ARGUMENTS_MAX 8

struct result {
	int status;
	char out[16384], err[4096];
};

static char directory[] = "/tmp/report_test.XXXXXX";

static void make_stream(FILE *file)
{
	static const uint64_t frames[] = {0x400100, 0x400200};

	stream_header(file, 1);
	stream_module(file, 1, 0x400000, 0x401000, "/nowhere/server");
	stream_alloc(file, 0x7000, 3 << 20, frames, 2);
	stream_alloc(file, 0x7100, 1 << 20, frames, 1);
	stream_free(file, 0x7100);
	stream_end(file);
}

static void read_all(FILE *file, char *text, size_t size)
{
	size_t got;
	char *all = text_of(file, &got);

	CHECK(got < size);
	memcpy(text, all, got + 1);
	free(all);
	fclose(file);
}

/* Runs `report` with these arguments in a child, with `input` as its standard input. */
static void run(FILE *input, const char *const *arguments, struct result *out_result)
{
	FILE *out = memory_file(), *err = memory_file();
	char *argv[ARGUMENTS_MAX + 2] = {strdup("report")};
	int argc = 1, status;

	while (argc <= ARGUMENTS_MAX && arguments[argc - 1]) {
		argv[argc] = strdup(arguments[argc - 1]);
		argc++;
	}
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		if (input)
			lseek(fileno(input), 0, SEEK_SET);
		dup2(input ? fileno(input) : open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		exit(hi_analyzer_report(argc, argv));
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	out_result->status = WEXITSTATUS(status);
	read_all(out, out_result->out, sizeof(out_result->out));
	read_all(err, out_result->err, sizeof(out_result->err));
	while (argc--)
		free(argv[argc]);
}

#define RUN(input, result, ...) run(input, (const char *const[]){__VA_ARGS__, NULL}, result)

static const char *path_of(const char *name)
{
	static char path[4][64];
	static size_t turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", directory, name);
	return path[turn];
}

/*
 * A directory with a profile in it: in.heap, as collect writes it, its stream in.stream, and the
 * same cut short.
 */
static void setup(void)
{
	FILE *stream, *heap;

	CHECK(mkdtemp(directory) != NULL);
	stream = fopen(path_of("in.stream"), "w+");
	heap = fopen(path_of("in.heap"), "w");
	make_stream(stream);
	fflush(stream);
	rewind(stream);
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = fileno(stream),
		.status_fd = -1,
		.heap_fd = fileno(heap),
		.pprof_fd = -1,
		.summary_fd = open("/dev/null", O_WRONLY),
	};
	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_OK);
	fclose(stream);
	fclose(heap);
}

static void teardown(void)
{
	static const char *const names[] = {"in.stream", "in.heap", "out"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	CHECK_EQ(rmdir(directory), 0); /* fails if a temporary file is left */
}

UNIT_TEST(heap_and_stream_give_the_same_table)
{
	static struct result heap, stream, piped;

	setup();
	RUN(NULL, &heap, path_of("in.heap"));
	RUN(NULL, &stream, path_of("in.stream"), "--text");
	FILE *input = fopen(path_of("in.stream"), "r");
	RUN(input, &piped, "-", "-t");
	fclose(input);
	CHECK_EQ(heap.status, HI_EXIT_OK);
	CHECK_STR(heap.err, "");
	CHECK(strstr(heap.out, "3MB") != NULL);
	CHECK(strstr(heap.out, "server (pid 1234)") != NULL);
	CHECK_STR(heap.out, stream.out);
	CHECK_STR(heap.out, piped.out);
	teardown();
}

UNIT_TEST(what_is_counted)
{
	static struct result result;

	setup();
	RUN(NULL, &result, path_of("in.heap"), "--alloc-space");
	CHECK(strstr(result.out, "4MB") != NULL);
	RUN(NULL, &result, path_of("in.heap"), "--alloc-objects");
	CHECK(strstr(result.out, "2 objects") != NULL);
	RUN(NULL, &result, path_of("in.heap"), "--inuse-objects");
	CHECK(strstr(result.out, "1 objects") != NULL);
	RUN(NULL, &result, path_of("in.heap"), "--collapsed");
	CHECK(strstr(result.out, " 3145728\n") != NULL);
	teardown();
}

UNIT_TEST(output_goes_to_a_file)
{
	static struct result direct, filed;
	struct stat status;
	char text[16384];

	setup();
	umask(022);
	RUN(NULL, &direct, path_of("in.heap"));
	RUN(NULL, &filed, path_of("in.heap"), "-o", path_of("out"));
	CHECK_EQ(filed.status, HI_EXIT_OK);
	CHECK_STR(filed.out, "");
	CHECK_EQ(stat(path_of("out"), &status), 0);
	CHECK_EQ(status.st_mode & 0777, 0644);
	read_all(fopen(path_of("out"), "r"), text, sizeof(text));
	CHECK_STR(text, direct.out);
	RUN(NULL, &filed, path_of("in.heap"), "-o", "/nowhere/out");
	CHECK_EQ(filed.status, HI_EXIT_FAILED);
	CHECK_STR(filed.err,
		  "heapinject report: cannot write /nowhere/out: No such file or directory\n");
	RUN(NULL, &filed, path_of("in.heap"), "-o", "/dev/full");
	CHECK_EQ(filed.status, HI_EXIT_FAILED);
	RUN(NULL, &filed, path_of("in.heap"), "-o", "/dev/null");
	CHECK_EQ(filed.status, HI_EXIT_OK);
	teardown();
}

UNIT_TEST(damage_is_told_and_the_rest_is_shown)
{
	static struct result result;
	struct stat status;

	setup();
	CHECK_EQ(stat(path_of("in.stream"), &status), 0);
	CHECK_EQ(truncate(path_of("in.stream"), status.st_size - 10), 0);
	RUN(NULL, &result, path_of("in.stream"));
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK(strstr(result.err, "in.stream: cut off in the record at byte ") != NULL);
	CHECK(strstr(result.err, "showing what was good") != NULL);
	CHECK(strstr(result.out, "3MB") != NULL);
	CHECK_EQ(stat(path_of("in.heap"), &status), 0);
	CHECK_EQ(truncate(path_of("in.heap"), status.st_size - 3), 0);
	RUN(NULL, &result, path_of("in.heap"));
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK(strstr(result.err, "in.heap: cut off in line ") != NULL);
	CHECK(strstr(result.out, "3MB") != NULL);
	teardown();
}

UNIT_TEST(what_is_no_profile)
{
	static struct result result;

	RUN(NULL, &result, "/nowhere/file");
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK_STR(result.err, "heapinject report: /nowhere/file: No such file or directory\n");
	RUN(NULL, &result, "-");
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK_STR(result.err, "heapinject report: standard input: empty\n");
	RUN(NULL, &result, "/proc/self/exe");
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK(strstr(result.err, ": a program or library: no heap profile") != NULL);
	RUN(NULL, &result, "/proc/version");
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK(strstr(result.err, "none of what can be read") != NULL);
	RUN(NULL, &result, "/tmp");
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK_STR(result.out, "");
}

UNIT_TEST(a_directory_is_refused_with_its_newest_profile)
{
	const struct timespec early[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	static struct result result;
	char wanted[256];

	CHECK(mkdtemp(directory) != NULL);
	RUN(NULL, &result, directory);
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK(strstr(result.err, ": a directory, which holds no .heap or .pb.gz file"));
	CHECK_EQ(rmdir(directory), 0);
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	setup();
	fclose(fopen(path_of("out.heap"), "w")); /* of a session that goes on */
	FILE *old = fopen(path_of("out.pb.gz"), "w");
	fputs("old", old);
	fclose(old);
	CHECK_EQ(utimensat(AT_FDCWD, path_of("out.pb.gz"), early, 0), 0);
	RUN(NULL, &result, directory);
	CHECK_EQ(result.status, HI_EXIT_FAILED);
	CHECK_STR(result.out, "");
	snprintf(wanted, sizeof(wanted),
		 "heapinject report: %s: a directory; name a profile in it, the newest is %s\n",
		 directory, path_of("in.heap"));
	CHECK_STR(result.err, wanted);
	unlink(path_of("out.heap"));
	unlink(path_of("out.pb.gz"));
	teardown();
}

static void check_usage(const char *a, const char *b, const char *complaint)
{
	static struct result result;

	run(NULL, (const char *const[]){a, b, NULL}, &result);
	CHECK_EQ(result.status, HI_EXIT_USAGE);
	CHECK(strstr(result.err, complaint) != NULL);
	CHECK(strchr(result.err, '\n') == result.err + strlen(result.err) - 1);
	CHECK_STR(result.out, "");
}

UNIT_TEST(wrong_usage)
{
	check_usage(NULL, NULL, "which file?");
	check_usage("a", "--base", "an option lacks its value: --base");
	check_usage("a", "--nonsense", "unknown option: --nonsense");
	check_usage("a", "-x", "unknown option: -x");
	check_usage("a", "-o", "an option lacks its value: -o");
	check_usage("a", "-n0x", ": -n wants a number (0 is all), not \"0x\"");
	check_usage("a", "--nodecount=abc", ": --nodecount wants a number (0 is all), not");
	check_usage("a", "-limit=abc", ": --limit wants a number (0 is all), not");
	check_usage("a", "--sort=size", "--sort is flat or cum");
	check_usage("-s", "-t", "exclude each other");
	check_usage("a", "--focus=a(b", "--focus: \"a(b\" is no regular expression");
	check_usage("a", "--peek=[", "--peek: \"[\" is no regular expression");
	check_usage("a", "--nodefraction=2", "--nodefraction wants a number from 0 to 1");
	check_usage("a", "--unit=ell", "--unit is bytes, kb,");
	check_usage("a", "--color=sometimes", "--color is auto, always or never");
}

UNIT_TEST(filters)
{
	FILE *stream = memory_file();
	static struct result result;

	make_stream(stream);
	RUN(stream, &result, "-", "--show_bytes", "--focus", "server\\+0x1ff", "--ignore=nobody");
	CHECK_EQ(result.status, HI_EXIT_OK);
	CHECK(strstr(result.out, "Active filters:\n   focus=server\\+0x1ff\n   ignore=nobody\n") !=
	      NULL);
	CHECK_STR(result.err, "heapinject report: --focus server\\+0x1ff matches "
			      "nothing\nheapinject report: --ignore nobody matches nothing\n");
	RUN(stream, &result, "-", "--show_bytes", "--focus=/nowhere", "--nodecount=1",
	    "--alloc_space");
	CHECK_STR(result.err, "");
	CHECK(strstr(result.out, "Shown: 4194304B allocated") != NULL);
	CHECK(strstr(result.out, "Showing top 1 nodes out of 2\n") != NULL);
	fclose(stream);
}

UNIT_TEST(comparisons)
{
	static struct result result;

	setup();
	const char *path = path_of("in.heap");
	RUN(NULL, &result, "--base", path, path);
	CHECK_EQ(result.status, HI_EXIT_OK);
	CHECK(strstr(result.out, "there is no difference") != NULL);
	CHECK(strstr(result.out, "Compared: a snapshot with itself, at ") != NULL);
	RUN(NULL, &result, "--diff-base", path, path, path, "--sum", "--show-bytes", "--peek=.");
	CHECK(strstr(result.out, "Change: +3145728B in use, from 3145728B to 6291456B\n") != NULL);
	CHECK(strstr(result.out,
		     "Showing nodes accounting for 3145728B, 100% of 3145728B total\n") != NULL);
	RUN(NULL, &result, "--diff-base", path, "--base", path, path);
	CHECK_EQ(result.status, HI_EXIT_USAGE);
	CHECK(strstr(result.err, "--base and --diff-base exclude each other") != NULL);
	teardown();
}

UNIT_TEST(help_names_everything)
{
	static const char *const words[] = {
		"--text",         "--svg",        "--collapsed", "--output",
		"--binary",       "--sort",       "--limit",     "--alloc-objects",
		"--focus",        "--tagignore",  "--show-from", "--addresses",
		"--nodefraction", "--show-bytes", "--peek RE",   "exit status"};
	static struct result result;

	RUN(NULL, &result, "--help");
	CHECK_EQ(result.status, HI_EXIT_OK);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		CHECK(strstr(result.out, words[i]) != NULL);
	CHECK_STR(result.out, hi_analyzer_report_help());
}

UNIT_MAIN()
