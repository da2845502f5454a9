/* SPDX-License-Identifier: MIT */
/* sink.c - see sink.h. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hi_exit.h"
#include "new_file.h"
#include "pagemap_file.h"

static int open_standard_output(struct sink *sink)
{
	if (isatty(STDOUT_FILENO)) {
		fprintf(stderr, "heapinject: the record stream is binary and standard output is a "
				"terminal; pipe it into `heapinject report -` or a file\n");
		return HI_EXIT_USAGE;
	}
	sink->stdout_flags = fcntl(STDOUT_FILENO, F_GETFL);
	if (sink->stdout_flags < 0 || (sink->stdout_flags & O_ACCMODE) == O_RDONLY) {
		fprintf(stderr, "heapinject: standard output is closed; pipe it into `heapinject "
				"report -` or a file\n");
		return HI_EXIT_USAGE;
	}
	(void)fcntl(STDOUT_FILENO, F_SETFL, sink->stdout_flags | O_NONBLOCK);
	return stream_out_open(&sink->out, STDOUT_FILENO) ? HI_EXIT_FAILED : HI_EXIT_OK;
}

static int open_stream_file(struct sink *sink, const char *path)
{
	const int fd = new_file_create(path);

	if (fd < 0) {
		fprintf(stderr,
			"heapinject: cannot write %s: %s; choose another file for --stream\n", path,
			strerror(-fd));
		return HI_EXIT_FAILED;
	}
	sink->stream_fd = fd;
	return stream_out_open(&sink->out, fd) ? HI_EXIT_FAILED : HI_EXIT_OK;
}

static void complain_of_files(const char *prefix, pid_t pid, int err)
{
	const struct identity caller = identity_of_caller();
	char as_whom[64] = "";

	if (caller.uid != geteuid())
		snprintf(as_whom, sizeof(as_whom), " with the rights of user %u, who called sudo",
			 (unsigned)caller.uid);
	if (err == -ELOOP)
		fprintf(stderr, "heapinject: cannot write %s.%d.NNNN.heap: %s\n", prefix, (int)pid,
			"on the way is a symbolic link that somebody else made in a directory open "
			"to all; name the real directory with -o");
	else
		fprintf(stderr,
			"heapinject: cannot write %s.%d.NNNN.heap%s: %s; choose another prefix "
			"with -o\n",
			prefix, (int)pid, as_whom, strerror(-err));
}

static void close_files(struct sink *sink, bool remove)
{
	analyzer_child_abandon(&sink->analyzer);
	file_service_close(&sink->service);
	outputs_close(&sink->outputs, remove);
	file_broker_close(&sink->broker);
}

/*
 * The prefix of the files. In a directory they are called after the program, by a name that hides
 * no file and leads nowhere else.
 */
static const char *complete_prefix(const char *prefix, const char *program, char path[PATH_MAX])
{
	const size_t length = strlen(prefix);

	if (!length || prefix[length - 1] != '/' ||
	    snprintf(path, PATH_MAX, "%s%s", prefix, *program ? program : "heapinject") >= PATH_MAX)
		return prefix;
	for (char *at = path + length; *at; at++) {
		if (*at <= ' ' || *at > '~' || *at == '/' || (*at == '.' && at == path + length))
			*at = '_';
	}
	return path;
}

static int open_files(struct sink *sink, const struct sink_options *options,
		      const struct preflight *preflight)
{
	static char path[PATH_MAX]; /* as long as the outputs */
	const char *const prefix = complete_prefix(options->prefix, preflight->comm, path);

	int err = outputs_create(&sink->outputs, prefix, preflight->pid);
	if (err) {
		complain_of_files(prefix, preflight->pid, err);
		return HI_EXIT_FAILED;
	}
	sink->outputs.syncs = options->syncs;
	file_broker_open(&sink->broker, preflight->pid, preflight->tid, &preflight->status);
	const int pagemap_fd = pagemap_file_open(preflight->pid, preflight->tid);
	const struct analyzer_files files = {.heap_fd = sink->outputs.heap_fd,
					     .pprof_fd = sink->outputs.pprof_fd,
					     .pagemap_fd = pagemap_fd,
					     .names_live = options->names_live,
					     .holds_memory = options->holds_memory,
					     .suppressions = options->suppressions};
	err = analyzer_child_start(&sink->analyzer, identity_to_run_as(sink->broker.roots.reader),
				   &files);
	if (pagemap_fd >= 0)
		close(pagemap_fd);
	if (!err)
		err = file_service_open(&sink->service, sink->analyzer.ask_fd, &sink->broker,
					&sink->outputs);
	if (!err)
		err = stream_out_open(&sink->out, sink->analyzer.stream_fd);
	if (!err)
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject: cannot start the analyzer: %s\n",
		err == -EPERM
			? "it can neither become another user than root nor filter its system "
			  "calls here, and does not read a program's data so; "
			  "write the record stream instead (-o -) and look at it as another user"
		: err == -EMFILE || err == -EINVAL
			? "it needs some 270 descriptors (ulimit -n where heapinject is started)"
			: strerror(-err));
	close_files(sink, true);
	return HI_EXIT_FAILED;
}

int sink_open(struct sink *sink, const struct sink_options *options,
	      const struct preflight *preflight)
{
	*sink = (struct sink){.streams = options->stream_path || !strcmp(options->prefix, "-")};
	if (options->stream_path)
		return open_stream_file(sink, options->stream_path);
	return sink->streams ? open_standard_output(sink) : open_files(sink, options, preflight);
}

void sink_describe(const struct sink *sink)
{
	const struct sandbox_state *sandbox = &sink->analyzer.sandbox;

	if (sink->streams)
		return;
	fprintf(stderr, "heapinject: the analyzer is process %d, %s %u, without capabilities, %s\n",
		(int)sink->analyzer.pid, sandbox->is_user ? "user" : "could not become user",
		(unsigned)identity_to_run_as(sink->broker.roots.reader).uid,
		sandbox->has_filter
			? "its system calls filtered"
			: "its system calls not filtered: the kernel or this build cannot");
}

struct file_broker *sink_broker(struct sink *sink)
{
	return sink->streams ? NULL : &sink->broker;
}

int sink_status(const struct sink *sink, struct hi_analyzer_status *out_status)
{
	return sink->streams ? 0 : analyzer_child_status(&sink->analyzer, out_status);
}

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec time = {0};
	(void)!clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t sink_cpu_ns(const struct sink *sink)
{
	const uint64_t injector = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	clockid_t analyzer;
	if (sink->streams || !sink->analyzer.pid ||
	    clock_getcpuclockid(sink->analyzer.pid, &analyzer))
		return injector;
	return injector + cpu_ns(analyzer);
}

int sink_expect_dump(struct sink *sink, bool in_memory)
{
	return file_service_expect(&sink->service, in_memory);
}

int sink_dump_result(struct sink *sink, int *out_error, struct outputs_dump *out_dump)
{
	return file_service_result(&sink->service, out_error, out_dump);
}

static void complain_of_the_end(struct sink *sink, bool was_killed)
{
	bool removed[2];
	outputs_remove_empty(&sink->outputs, removed);
	fprintf(stderr, "heapinject: not everything was written%s\n",
		was_killed ? ": the analyzer was killed" : "");
	fprintf(stderr, "  %s: %s\n", sink->outputs.heap_path,
		removed[0] ? "empty, removed" : "may not be whole");
	fprintf(stderr, "  %s: %s\n", sink->outputs.pprof_path,
		removed[1] ? "empty, removed" : "may not be whole");
}

/* Of the answer and what follows it, the latter becomes the report of leaked blocks. */
static void split_answer(struct sink *sink)
{
	char *text = sink->answer ? strchr(sink->answer, HI_ANALYZER_LEAKS) : NULL;
	char *json = text && text[1] ? strchr(text + 2, HI_ANALYZER_LEAKS) : NULL;

	if (!json)
		return;
	*text = *json = 0;
	sink->leaks_letter = text[1];
	sink->leaks = text + 2;
	sink->leaks_json = json + 1;
}

int sink_finish(struct sink *sink, FILE *out)
{
	if (sink->streams)
		return HI_EXIT_OK;
	analyzer_child_end_stream(&sink->analyzer);
	/* a dump that completes now still changes the names of the final files */
	file_service_wait(&sink->service);
	char *summary = NULL;
	size_t size = 0, answer_size = 0;
	FILE *kept = open_memstream(&summary, &size);
	FILE *answer = open_memstream(&sink->answer, &answer_size);
	const int exit_code = analyzer_child_finish(&sink->analyzer, kept ? kept : out, answer);
	if (answer && !fclose(answer))
		split_answer(sink);
	sink->is_written = exit_code == HI_EXIT_OK;
	if (kept && !fclose(kept))
		fputs(summary, out);
	if (sink->is_written)
		fprintf(out, "Wrote %s and %s\n", sink->outputs.heap_path,
			sink->outputs.pprof_path);
	else
		complain_of_the_end(sink, exit_code < 0);
	free(summary);
	return exit_code < 0 ? HI_EXIT_FAILED : exit_code;
}

void sink_close(struct sink *sink)
{
	stream_out_close(&sink->out);
	free(sink->answer);
	/* the open file description may be the standard output of other processes, too */
	if (sink->stream_fd) {
		close(sink->stream_fd);
		return;
	}
	if (sink->streams) {
		(void)fcntl(STDOUT_FILENO, F_SETFL, sink->stdout_flags);
		return;
	}
	close_files(sink, sink->analyzer.pid != 0);
}
