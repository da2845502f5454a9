/* SPDX-License-Identifier: MIT */
/*
 * collect.c - the analyzer's side of an attach: reads the record stream, and writes the heap
 * profile, the pprof profile and the summary. Start at hi_analyzer_collect().
 *
 * It runs in a child process that has no privileges and may not open files. The process that reads
 * the progress or the summary may stop reading at any time.
 *
 * A dump in mid-session must delay the reading of the stream as little as possible. So names are
 * looked up only for the frames that are new since the last dump, and a forked child, which has the
 * profile as it was at the fork, writes the dump while this process reads on.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "caveats.h"
#include "estimate.h"
#include "file_source.h"
#include "heapfile.h"
#include "hi_analyzer.h"
#include "hi_dump.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "input.h"
#include "leaked.h"
#include "leaks.h"
#include "live_residency.h"
#include "pprof.h"
#include "render_answer.h"
#include "replay.h"
#include "residency.h"
#include "stacked_blocks.h"
#include "symbols.h"

/* rows to sum up per STATS record: half a millisecond or so */
#define SUMMED_ROWS 20000u
#define ANSWER_FIRST_NS 5000000000u
#define ANSWER_EVERY_NS 2000000000u
#define ANSWER_REST 500 /* pauses, in times of what an answer costs, up to a limit */
#define ANSWER_REST_MAX_NS 20000000000u
#define PLACE_MAX 128u
/* a session is looked at so often, each time with a chance of a false alarm */
#define ANSWERS 20

struct collector {
	const struct hi_analyzer_outputs *outputs;
	size_t named_frames; /* names of the frames before this one were looked up */
	struct leaked leaked;
	pid_t writer; /* process that writes the last dump; 0 = it has ended */
	uint64_t live_bytes, live_objects;
	size_t old_for; /* the next old_for STATS records reuse the live_ values */
	/* the answer so far, and when to look for it again */
	uint64_t answer_due_ns, looked_ns;
	enum trend_verdict verdict;
	int64_t slope, slope_low, slope_high; /* 0 where nothing grows */
	uint32_t answer;                      /* its number, as in struct hi_analyzer_status */
	char place[PLACE_MAX];                /* the function that it names */
	char sentence[HI_ANALYZER_SENTENCE_MAX];
};

static void report_done(const struct collector *collector, int err)
{
	const struct hi_file_request done = {.kind = HI_FILE_DUMP_DONE, .place = (uint32_t)-err};

	/* If the reader is gone, nobody waits for this. */
	(void)file_source_notify(collector->outputs->ask_fd, &done);
}

/*
 * Reaps the writer. If it was killed or failed, this process sends DUMP_DONE to the process that
 * waits for the dump.
 */
static void reap_writer(struct collector *collector, int flags)
{
	int status = 0;
	pid_t ended = 0;

	if (!collector->writer)
		return;
	do
		ended = waitpid(collector->writer, &status, flags);
	while (ended < 0 && errno == EINTR);
	if (ended == 0)
		return;
	collector->writer = 0;
	if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		report_done(collector, -ECANCELED);
}

/*
 * Updates the live_ values. With many rows the sum takes long, and it need not be exact at any
 * moment, so it is computed only at some of the STATS records.
 */
static void sum_up(struct collector *collector, const struct profile *profile)
{
	if (collector->old_for) {
		collector->old_for--;
		return;
	}
	collector->old_for = profile->row_count / SUMMED_ROWS;
	collector->live_bytes = estimate_round(estimate_total(profile, INUSE_SPACE).value);
	collector->live_objects = estimate_round(estimate_total(profile, INUSE_OBJECTS).value);
}

/* Who leaks. level: the probability of a false alarm that is allowed. */
static int find_answer(const struct profile *profile, double level, struct answer *out_answer)
{
	return answer_open(profile, LEAKS_TAIL_SHARE * (double)profile->meta.duration_ns, level,
			   out_answer);
}

static uint64_t cpu_ns(void)
{
	struct timespec time = {0};

	(void)!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Names for the frames that are new since the last call. */
static void look_up_names(struct collector *collector, struct profile *profile)
{
	/* If memory runs out, names are missing. That is better than no profile. */
	(void)symbols_resolve(profile,
			      &(struct symbols_options){.ask_fd = collector->outputs->ask_fd,
							.first_frame = collector->named_frames});
	collector->named_frames = profile->frame_count;
}

static void set_sentence(struct collector *collector, const struct answer *answer)
{
	const struct functions *functions = &answer->frames.functions;
	char place[PLACE_MAX] = "";
	FILE *out = fmemopen(collector->sentence, sizeof(collector->sentence), "w");

	if (!out)
		return;
	if (answer->row_count)
		snprintf(place, sizeof(place), "%s",
			 functions->name[functions->call[answer->row[0].call].function]);
	render_answer_sentence(answer, out);
	fclose(out);
	collector->sentence[sizeof(collector->sentence) - 1] = 0;
	collector->sentence[strcspn(collector->sentence, "\n")] = 0;
	if (!collector->answer || collector->verdict != answer->verdict ||
	    strcmp(collector->place, place) != 0)
		collector->answer++;
	memcpy(collector->place, place, sizeof(place));
}

/* After a RESET record nothing is known of what grows. */
static void begin_anew(struct collector *collector)
{
	collector->answer_due_ns = ANSWER_FIRST_NS;
	collector->verdict = (enum trend_verdict)0;
	collector->slope = collector->slope_low = collector->slope_high = 0;
	collector->sentence[0] = collector->place[0] = 0;
	collector->old_for = 0;
}

static void set_slope(struct collector *collector, const struct answer *answer)
{
	const bool grows = trend_is_growth(answer->verdict);

	collector->slope = grows ? (int64_t)answer->slope : 0;
	collector->slope_low = grows ? (int64_t)answer->slope_low : 0;
	collector->slope_high = grows ? (int64_t)answer->slope_high : 0;
}

/*
 * Updates the answer, every few seconds: it costs milliseconds, and more where there are many rows.
 * Names are looked up only if they are wanted.
 */
static void look_for_answer(struct collector *collector, struct profile *profile)
{
	const uint64_t now_ns = profile->meta.duration_ns, before_ns = cpu_ns();
	struct answer answer;

	if (now_ns < collector->looked_ns)
		begin_anew(collector);
	collector->looked_ns = now_ns;
	if (now_ns < collector->answer_due_ns)
		return;
	if (collector->outputs->names_live)
		look_up_names(collector, profile);
	if (!find_answer(profile, TREND_LEVEL / ANSWERS, &answer)) {
		if (collector->outputs->names_live)
			set_sentence(collector, &answer);
		collector->verdict = answer.verdict;
		set_slope(collector, &answer);
	}
	answer_close(&answer);
	const uint64_t rest_ns = (cpu_ns() - before_ns) * ANSWER_REST;

	collector->answer_due_ns = now_ns + ANSWER_EVERY_NS +
				   (rest_ns < ANSWER_REST_MAX_NS ? rest_ns : ANSWER_REST_MAX_NS);
}

/*
 * Sends the figures of the progress line. One write() makes the reader see all of it or nothing. If
 * the pipe is full, this status is lost; the next one comes soon.
 */
static void send_status(void *context, struct profile *profile, uint64_t bad_records)
{
	struct collector *collector = context;

	sum_up(collector, profile);
	look_for_answer(collector, profile);
	struct hi_analyzer_status status = {
		.answer = collector->answer,
		.verdict = collector->verdict == TREND_GROWS ? HI_ANALYZER_GROWS : 0,
		.slope = collector->slope,
		.slope_low = collector->slope_low,
		.slope_high = collector->slope_high,
		.samples = profile->meta.samples,
		.live_bytes = collector->live_bytes,
		.live_objects = collector->live_objects,
		.inuse_bytes = profile->meta.seen_inuse,
		.resets = profile->meta.resets,
		.allocated_bytes = profile->meta.seen_allocated,
		.bad_records = bad_records,
		.caveats = caveats_bits(&profile->meta),
	};

	memcpy(status.sentence, collector->sentence, sizeof(status.sentence));
	reap_writer(collector, WNOHANG);
	if (collector->outputs->status_fd >= 0 &&
	    write(collector->outputs->status_fd, &status, sizeof(status)) < 0)
		return; /* nobody reads the progress */
}

/* Opens a stream on a copy of a descriptor, which remains the caller's. */
static FILE *open_output(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out && copy >= 0)
		close(copy);
	return out;
}

/* Returns 0 or negative errno. */
static int close_output(FILE *out)
{
	const int failed = ferror(out);

	if (fclose(out))
		return errno ? -errno : -EIO;
	return failed ? -EIO : 0;
}

static int write_output(const struct profile *profile, int fd,
			int (*write_format)(const struct profile *, FILE *))
{
	FILE *out;
	int err, close_error;

	if (fd < 0)
		return 0;
	out = open_output(fd);
	if (!out)
		return -errno;
	err = write_format(profile, out);
	close_error = close_output(out);
	return err ? err : close_error;
}

/*
 * An upper bound for what no sample was taken of: in 95 of 100 cases it is at most three mean
 * intervals, as -ln 0.05 = 3.0 (docs/sampling.md). 0: every allocation was counted.
 */
static double unsampled_bound(const struct profile_meta *meta)
{
	uint64_t interval = meta->interval;

	for (uint64_t i = 0; i < meta->change_count && i < PROFILE_CHANGES_MAX; i++)
		if (meta->change[i].interval > interval)
			interval = meta->change[i].interval;
	return interval > HI_INTERVAL_EXACT ? 3.0 * (double)interval : 0;
}

static void print_total(const struct profile *profile, bool inuse, FILE *out)
{
	const struct estimate bytes = estimate_total(profile, inuse ? INUSE_SPACE : ALLOC_SPACE);
	const struct estimate objects =
		estimate_total(profile, inuse ? INUSE_OBJECTS : ALLOC_OBJECTS);
	char value[HI_UNITS_TEXT_MAX], low_text[HI_UNITS_TEXT_MAX], high_text[HI_UNITS_TEXT_MAX];
	double low, high;

	estimate_interval(&bytes, &low, &high);
	fprintf(out, "  %-10s %s", inuse ? "in use:" : "allocated:",
		hi_format_bytes(bytes.value, value, sizeof(value)));
	fprintf(out, " in %.0f objects", objects.value);
	/* no sample does not mean no memory */
	if (high > low)
		fprintf(out, ", 95%% interval %s .. %s",
			hi_format_bytes(low, low_text, sizeof(low_text)),
			hi_format_bytes(high, high_text, sizeof(high_text)));
	else if (bytes.value <= 0 && unsampled_bound(&profile->meta) > 0 &&
		 !caveats_withdraw(&profile->meta, inuse))
		fprintf(out, ", 95%% interval 0 .. %s",
			hi_format_bytes(unsampled_bound(&profile->meta), high_text,
					sizeof(high_text)));
	fprintf(out, "%s\n", inuse ? " (allocated in the window and still live)" : "");
}

static void print_before(const struct profile_meta *meta, FILE *out)
{
	char value[HI_UNITS_TEXT_MAX];

	if (meta->memory.anonymous_begin)
		fprintf(out,
			"  before:    %s of anonymous memory at the start; what is in it is not "
			"known\n",
			hi_format_bytes((double)meta->memory.anonymous_begin, value,
					sizeof(value)));
}

static int print_summary(const struct profile *profile, FILE *out)
{
	const struct profile_meta *meta = &profile->meta;
	char value[HI_UNITS_TEXT_MAX];
	struct answer answer;
	const int err = find_answer(profile, TREND_LEVEL, &answer);

	if (!err) {
		render_answer_text(&answer, out);
		fputc('\n', out);
	}
	const double complete =
		meta->samples ? 100.0 * (double)meta->stacks_complete / (double)meta->samples : 100;

	print_total(profile, true, out);
	print_total(profile, false, out);
	print_before(meta, out);
	fprintf(out, "  %-10s %" PRIu64 " (%.1f%% complete stacks), dropped %" PRIu64,
		"samples:", meta->samples, complete, meta->dropped_allocs + meta->dropped_frees);
	if (meta->dropped_allocs)
		fprintf(out, " (%.2f%% of the samples)",
			100.0 * (double)meta->dropped_allocs /
				((double)meta->samples + (double)meta->dropped_allocs));
	fprintf(out, "\n");
	for (int kind = 0; kind < HI_CAVEATS; kind++)
		if (meta->caveat[kind])
			fprintf(out, "  note: %s\n", meta->caveat[kind]);
	if (meta->samples == 0 && !caveats_too_low(caveats_bits(meta)))
		fprintf(out, "  note: nothing was sampled; a longer window (--duration) or a finer "
			     "rate (--sample) would show more\n");
	if (meta->dropped_frees)
		fprintf(out, "  note: %" PRIu64 " frees were dropped; in use may be too high\n",
			meta->dropped_frees);
	if ((meta->dropped_allocs || meta->dropped_frees) && !meta->caveat[HI_CAVEAT_DROPPED])
		fprintf(out, "  note: the reader did not keep up; --sample %s would have fitted\n",
			profile_fitting_rate(profile, value, sizeof(value)));
	if (meta->live_set_full)
		fprintf(out,
			"  note: %" PRIu64
			" samples were given up, as too many were live (--live-max)\n",
			meta->live_set_full);
	if (meta->no_thread_slot)
		fprintf(out,
			"  note: up to %" PRIu64
			" allocations of %s were passed over, as too many threads were inside at "
			"once, or on other stacks where a call had been left; the intervals allow "
			"for them\n",
			meta->no_thread_slot,
			hi_format_bytes((double)meta->passed_bytes, value, sizeof(value)));
	/* that it has ended is no news */
	if (residency_text(meta->residency) && meta->residency != PROFILE_RESIDENCY_GONE)
		fprintf(out, "  note: %s\n", residency_text(meta->residency));
	if (meta->damage)
		fprintf(out, "  note: the record stream was %s\n", meta->damage);
	if (!err) {
		fputc(HI_ANALYZER_ANSWER, out);
		render_answer_json(&answer, out);
	}
	answer_close(&answer);
	return err;
}

static int write_all(const struct hi_analyzer_outputs *outputs, const struct profile *profile)
{
	int err, first;

	first = write_output(profile, outputs->heap_fd, heapfile_write);
	if (first)
		dprintf(outputs->summary_fd, "  cannot write the heap profile: %s\n",
			strerror(-first));
	err = write_output(profile, outputs->pprof_fd, pprof_write);
	if (err)
		dprintf(outputs->summary_fd, "  cannot write the pprof profile: %s\n",
			strerror(-err));
	first = first ? first : err;
	err = write_output(profile, outputs->summary_fd, print_summary);
	return first ? first : err;
}

/* ---- in mid-session -------------------------------------------------------------------------- */

static void write_profiles(const struct collector *collector, struct profile *profile,
			   const struct live *live, const int fd[2])
{
	if (fd[1] >= 0)
		live_residency_measure(live, collector->outputs->pagemap_fd, profile);
	profile->meta.end_reason = HI_STREAM_END_NOT_YET;
	int err = write_output(profile, fd[0], heapfile_write);

	if (!err)
		err = write_output(profile, fd[1], pprof_write);
	profile->meta.end_reason = 0;
	report_done(collector, err);
}

static void write_stacked(const struct collector *collector, const struct profile *profile,
			  const struct live *live, int fd)
{
	FILE *out = open_output(fd);
	int err = out ? stacked_blocks_write(profile, live, out) : -errno;
	const int closed = out ? close_output(out) : 0;

	report_done(collector, err ? err : closed);
}

/* fd: of which there is one with HI_DUMP_STACKED, and with HI_DUMP_SHOWN. */
static void write_dump(const struct collector *collector, struct profile *profile,
		       const struct live *live, uint32_t triggers, const int fd[2])
{
	if (triggers == HI_DUMP_STACKED)
		write_stacked(collector, profile, live, fd[0]);
	else
		write_profiles(collector, profile, live, fd);
}

/*
 * Runs the writer in the child process. It closes its copies of the parent's descriptors first, so
 * that a reader that waits for the end of one waits for the parent only.
 */
_Noreturn static void run_writer(const struct collector *collector, struct profile *profile,
				 const struct live *live, uint32_t triggers, const int fd[2])
{
	close(collector->outputs->stream_fd);
	close(collector->outputs->status_fd);
	close(collector->outputs->summary_fd);
	write_dump(collector, profile, live, triggers, fd);
	_exit(0);
}

/* out_fd: of the .heap, and of the .pb.gz, -1 if that is not wanted. */
static int ask_for_files(int ask_fd, bool is_shown, int out_fd[2])
{
	static const enum hi_file_kind kinds[] = {HI_FILE_DUMP_HEAP, HI_FILE_DUMP_PPROF};
	const struct file_source source = {.ask_fd = ask_fd};

	out_fd[1] = -1;
	for (int i = 0; i < (is_shown ? 1 : 2); i++) {
		out_fd[i] = file_source_open(&source, NULL,
					     &(struct hi_file_request){.kind = kinds[i]});
		if (out_fd[i] < 0)
			return out_fd[i];
	}
	return 0;
}

static void on_dump(void *context, struct profile *profile, const struct live *live,
		    uint32_t triggers)
{
	struct collector *collector = context;
	const int ask_fd = collector->outputs->ask_fd;
	int fd[2];

	if (!ask_fd)
		return;
	reap_writer(collector, 0);
	look_up_names(collector, profile);
	const bool is_shown = triggers == HI_DUMP_SHOWN || triggers == HI_DUMP_STACKED;
	const int err = ask_for_files(ask_fd, is_shown, fd);
	if (err)
		report_done(collector, err);
	else if ((collector->writer = fork()) == 0)
		run_writer(collector, profile, live, triggers, fd);
	else if (collector->writer < 0)
		write_dump(collector, profile, live, triggers, fd);
	if (collector->writer < 0)
		collector->writer = 0;
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/* The injector waits for these, while it holds the program at its exit. */
static void on_blocks(void *context, const struct profile *profile, const struct live *live)
{
	struct collector *collector = context;
	int fd[2] = {-1, -1};

	if (!collector->outputs->ask_fd)
		return;
	reap_writer(collector, 0);
	int err = ask_for_files(collector->outputs->ask_fd, true, fd);
	FILE *out = err ? NULL : open_output(fd[0]);
	if (!err)
		err = out ? leaked_write_blocks(profile, live, out) : -errno;
	const int closed = out ? close_output(out) : 0;
	report_done(collector, err ? err : closed);
	if (fd[0] >= 0)
		close(fd[0]);
}

static int on_leaked(void *context, const struct profile *profile, const struct live *live,
		     const struct hi_stream_leaked *record)
{
	return leaked_add(&((struct collector *)context)->leaked, profile, live, record);
}

static int print_leaked(const struct collector *collector, const struct profile *profile)
{
	FILE *out;

	if (!collector->leaked.is_known)
		return 0;
	out = open_output(collector->outputs->summary_fd);
	if (!out)
		return -errno;
	const int err =
		leaked_print(&collector->leaked, profile, collector->outputs->suppressions, out);
	const int closed = close_output(out);

	return err ? err : closed;
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* Before names are looked up: the process, if it is still there, runs on. */
static void on_end(void *context, struct profile *profile, const struct live *live)
{
	const struct collector *collector = context;

	live_residency_measure(live, collector->outputs->pagemap_fd, profile);
}

static int collect(const struct hi_analyzer_outputs *outputs, struct input *input,
		   struct profile *profile)
{
	struct collector collector = {.outputs = outputs, .answer_due_ns = ANSWER_FIRST_NS};
	const struct replay_observer observer = {.on_stats = send_status,
						 .on_dump = on_dump,
						 .on_blocks = on_blocks,
						 .on_leaked = on_leaked,
						 .on_end = on_end,
						 .context = &collector};
	int err = replay_stream(input, &observer, profile);

	reap_writer(&collector, 0);
	if (err == -EBADMSG)
		dprintf(outputs->summary_fd, "  the record stream is unusable: %s\n",
			profile->meta.damage ? profile->meta.damage : "");
	if (!err && symbols_resolve(profile, &(struct symbols_options){.ask_fd = outputs->ask_fd}))
		dprintf(outputs->summary_fd, "  note: not enough memory for all names; heapinject "
					     "report may find more\n");
	if (!err)
		err = write_all(outputs, profile);
	if (!err)
		err = print_leaked(&collector, profile);
	leaked_close(&collector.leaked);
	return err;
}

int hi_analyzer_collect(const struct hi_analyzer_outputs *outputs)
{
	struct profile profile;
	struct input input;
	int err;

	/* If nobody reads the progress, the files must still be written. */
	signal(SIGPIPE, SIG_IGN);
	err = profile_open(&profile);
	if (!err)
		err = input_open(&input, outputs->stream_fd);
	if (!err) {
		err = collect(outputs, &input, &profile);
		input_close(&input);
	}
	if (err == -ENOMEM)
		dprintf(outputs->summary_fd, "  the analyzer ran out of memory\n");
	profile_close(&profile);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}
