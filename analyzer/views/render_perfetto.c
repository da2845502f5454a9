/* SPDX-License-Identifier: MIT */
/*
 * render_perfetto.c - a trace of Perfetto: each file is a dump of the heap at its end, so that its
 * viewer shows a track of dumps, and each of them as a flame graph of what was allocated, and of
 * what is in use.
 *
 * A frame is a function in a module.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>

#include "frame_label.h"
#include "perfetto_trace.h"
#include "stack_sums.h"
#include "text_out.h"

#define NO_TIME_STEP_NS 1000000000u /* between dumps whose times are not known */

/* By function: the number of its frame. The module is that of the first of its calls. */
static uint64_t *number_frames(struct perfetto_trace *trace, const struct profile *profile,
			       const struct functions *functions)
{
	uint64_t *number = calloc(functions->count + 1, sizeof(*number));
	uint32_t *frame_of = frame_label_frames(profile, functions);

	for (uint32_t call = 0; number && frame_of && call < functions->first[profile->frame_count];
	     call++) {
		const uint32_t function = functions->call[call].function;
		const int32_t module = profile->frame[frame_of[call]].module;

		if (!number[function])
			number[function] =
				perfetto_frame(trace, functions->name[function],
					       module >= 0 ? profile->module[module].path : NULL);
	}
	if (!frame_of) {
		free(number);
		number = NULL;
	}
	free(frame_of);
	return number;
}

static void add_stack(struct perfetto_trace *trace, const struct stack_sum *sum, uint32_t pid,
		      const uint64_t *number, uint64_t *frame)
{
	const int64_t bytes = text_whole(sum->value[INUSE_SPACE]),
		      blocks = text_whole(sum->value[INUSE_OBJECTS]);
	struct perfetto_counts counts = {.allocated = text_whole(sum->value[ALLOC_SPACE]),
					 .alloc_count = text_whole(sum->value[ALLOC_OBJECTS])};
	size_t count = sum->count;

	counts.freed = counts.allocated > bytes ? counts.allocated - bytes : 0;
	counts.free_count = counts.alloc_count > blocks ? counts.alloc_count - blocks : 0;
	counts.allocated = counts.freed + bytes;
	counts.alloc_count = counts.free_count + blocks;
	for (size_t i = 0; i < count; i++)
		frame[i] = number[sum->step[i]];
	if (!count)
		frame[count++] = perfetto_frame(trace, RENDER_UNKNOWN, NULL);
	if (counts.allocated || counts.alloc_count)
		perfetto_sample(trace, pid, frame, count, &counts);
}

static int add_dump(struct perfetto_trace *trace, const struct profile *profile, uint64_t time_ns)
{
	const struct profile_meta *meta = &profile->meta;
	const uint32_t pid = meta->pid ? meta->pid : 1;
	struct stack_sums sums;
	int err = stack_sums_open(profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &sums);

	if (err)
		return err;
	uint64_t *number = number_frames(trace, profile, &sums.functions);
	uint64_t *frame =
		calloc(functions_stack_bound(&sums.functions, profile) + 1, sizeof(*frame));
	err = number && frame ? 0 : -ENOMEM;
	for (size_t i = 0; i < sums.count && !err; i++)
		add_stack(trace, &sums.sum[i], pid, number, frame);
	if (!err)
		perfetto_dump(trace, pid, meta->cmdline ? meta->cmdline : meta->comm, time_ns);
	free(number);
	free(frame);
	stack_sums_close(&sums);
	return err;
}

static uint64_t time_of(const struct profile *profile)
{
	const struct profile_meta *meta = &profile->meta;

	return meta->start_unix_ns ? meta->start_unix_ns + meta->duration_ns : 0;
}

/* Insertion sort: there are few, mostly in order. Returns true if all have a time. */
static bool sort(const struct profile **profile, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!time_of(profile[i]))
			return false;
	}
	for (size_t i = 1; i < count; i++) {
		const struct profile *moved = profile[i];
		size_t to = i;

		for (; to > 0 && time_of(profile[to - 1]) > time_of(moved); to--)
			profile[to] = profile[to - 1];
		profile[to] = moved;
	}
	return true;
}

int render_perfetto(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct perfetto_trace trace = {.out = out};
	const struct profile *dump[PROFILE_SET_MAX] = {profile};
	size_t count = 1;
	int err = render_refuse_comparison(profile, "Perfetto's format");

	if (!err)
		err = render_refuse_terminal(out, "Perfetto's format");
	if (err)
		return err;
	if (options->set && options->set->count > 1) {
		for (count = 0; count < options->set->count; count++)
			dump[count] = &options->set->profile[count];
	}
	const bool has_times = sort(dump, count);
	perfetto_clock(&trace, has_times ? time_of(dump[0]) : NO_TIME_STEP_NS);
	for (size_t i = 0; i < count && !err; i++)
		err = add_dump(&trace, dump[i],
			       has_times ? time_of(dump[i]) : (i + 1) * (uint64_t)NO_TIME_STEP_NS);
	if (perfetto_close(&trace))
		err = -ENOMEM;
	return render_result(err, out);
}
