/* SPDX-License-Identifier: MIT */
/*
 * report_memory_test.c - how much memory a report over many files takes: what it shows of all of
 * them together, and not what each of them holds.
 */
#include "unit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "hi_analyzer.h"
#include "stream_writer.h"

#define FEW 20u /* a report holds back the last of 16 sessions */
#define MANY 100u
#define STACKS 4000u
#define FRAMES 12u

static char directory[] = "/tmp/report_memory.XXXXXX";

static const char *path_of(unsigned number)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%u.heap", directory, number);
	return path;
}

/* A .heap file with some thousand stacks; the same in all of them. */
static char *make_profile(size_t *out_size)
{
	FILE *stream = tmpfile(), *heap = tmpfile();
	const int null = open("/dev/null", O_WRONLY);
	uint64_t frames[FRAMES];

	stream_header(stream, 1);
	stream_module(stream, 1, 0x400000, 0x4000000, "/nowhere/server");
	for (unsigned i = 0; i < STACKS; i++) {
		for (unsigned frame = 0; frame < FRAMES; frame++)
			frames[frame] =
				0x400000 + 64 * (uint64_t)(frame < 3 ? i * 3 + frame : frame);
		stream_alloc(stream, 0x7000000 + 64 * (uint64_t)i, 48, frames, FRAMES);
	}
	stream_end(stream);
	fflush(stream);
	rewind(stream);
	const struct hi_analyzer_outputs outputs = {.stream_fd = fileno(stream),
						    .status_fd = -1,
						    .heap_fd = fileno(heap),
						    .pprof_fd = -1,
						    .summary_fd = null};
	CHECK_EQ(hi_analyzer_collect(&outputs), 0);
	fclose(stream);
	fseek(heap, 0, SEEK_END);
	*out_size = (size_t)ftell(heap);
	rewind(heap);
	char *text = malloc(*out_size + 1);
	CHECK_EQ(fread(text, 1, *out_size, heap), *out_size);
	text[*out_size] = 0;
	fclose(heap);
	close(null);
	return text;
}

/*
 * The same profile of other sessions (pid), or of one session at other times (duration_ns): the
 * number of the file is the value of that field, with zeros behind it.
 */
static void make_files(const char *text, size_t size, const char *field, const char *zeros)
{
	char line[64];

	snprintf(line, sizeof(line), "\n# %s ", field);
	const char *at = strstr(text, line);
	CHECK(at);
	const char *const end = strchr(at + 1, '\n');
	for (unsigned i = 1; i <= MANY; i++) {
		FILE *file = fopen(path_of(i), "w");
		CHECK(file);
		fwrite(text, 1, (size_t)(at - text), file);
		fprintf(file, "%s%u%s", line, i, zeros);
		fwrite(end, 1, size - (size_t)(end - text), file);
		CHECK_EQ(fclose(file), 0);
	}
}

/* Kilobytes that `report VIEW` takes at most, of the first `count` files. */
static long peak_of(const char *view, unsigned count)
{
	char *argv[MANY + 3] = {strdup("report"), strdup(view)};
	struct rusage used;
	int status;

	for (unsigned i = 1; i <= count; i++)
		argv[i + 1] = strdup(path_of(i));
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		const int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		exit(hi_analyzer_report((int)count + 2, argv));
	}
	CHECK_EQ(wait4(child, &status, 0, &used), child);
	CHECK(WIFEXITED(status));
	for (unsigned i = 0; i < count + 2; i++)
		free(argv[i]);
	return used.ru_maxrss;
}

static void check_memory(const char *field, const char *zeros, const char *view)
{
	char command[64];
	size_t size;
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer keeps what is freed");
#endif
	CHECK(mkdtemp(directory));
	char *text = make_profile(&size);
	make_files(text, size, field, zeros);
	const long few = peak_of(view, FEW), many = peak_of(view, MANY);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	CHECK_EQ(system(command), 0);
	printf("%s by %s: %ld kB of %u files, %ld kB of %u; a file has %zu kB\n", view, field, few,
	       FEW, many, MANY, size / 1024);
	/* an eighth of the text of the others, and far less of what they hold */
	CHECK(many - few < (long)(size / 1024 * (MANY - FEW) / 8));
	free(text);
}

UNIT_SLOW_TEST(of_sessions_that_are_added_up)
{
	check_memory("pid", "", "--text");
}

UNIT_SLOW_TEST(of_snapshots_over_time)
{
	check_memory("duration_ns", "000000000", "--growth");
}

UNIT_MAIN()
