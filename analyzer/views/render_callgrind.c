/* SPDX-License-Identifier: MIT */
/*
 * render_callgrind.c - the text format of callgrind_annotate and kcachegrind: all sample types as
 * events, nothing left out.
 *
 * With --call-tree each way to a function is one of its own.
 *
 * A function is a name, whichever files its code is from. It is listed under its first file (fl).
 * Lines from other files follow a change of file (fi, and fe back to the first file). A name is
 * written in full the first time, later by its number only. Values are whole numbers, as the format
 * requires.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "call_costs.h"
#include "sample_types.h"
#include "text_out.h"

#define UNKNOWN_FILE "???"

/* By function: where it is listed. */
struct listing {
	uint32_t file;  /* the file that it is listed under */
	uint32_t line;  /* the first known */
	int32_t module; /* -1 = none */
};
struct writer {
	const struct profile *profile;
	struct call_costs costs;
	struct listing *listing;
	bool *has_file, *has_function, *has_module; /* the name was already written */
	enum sample_type event[SAMPLE_TYPE_COUNT];  /* in the order of the columns */
	int events;
	int64_t total[SAMPLE_TYPE_COUNT];
	FILE *out;
};

static void list_functions(struct writer *writer)
{
	const struct functions *functions = &writer->costs.functions;
	const struct profile *profile = writer->profile;

	for (size_t i = 0; i <= functions->count; i++)
		writer->listing[i].module = -1;
	for (size_t f = 0; f < profile->frame_count; f++) {
		for (uint32_t call = functions->first[f]; call < functions->first[f + 1]; call++) {
			struct listing *listing = &writer->listing[functions->call[call].function];
			const uint32_t file = writer->costs.file_of[call],
				       line = functions->call[call].line;

			listing->module =
				listing->module < 0 ? profile->frame[f].module : listing->module;
			listing->file = listing->file ? listing->file : file;
			if (line && file == listing->file &&
			    (!listing->line || line < listing->line))
				listing->line = line;
		}
	}
}

/* Writes "key=(number) name", with the name only the first time. Numbers begin with 1. */
static void put_name(struct writer *writer, const char *key, size_t number, bool *has_name,
		     const char *name)
{
	fputs(key, writer->out);
	fputs("=(", writer->out);
	text_count(number + 1, writer->out);
	putc(')', writer->out);
	if (!*has_name) {
		putc(' ', writer->out);
		text_plain(name, UNKNOWN_FILE, writer->out);
	}
	putc('\n', writer->out);
	*has_name = true;
}

static void put_file(struct writer *writer, const char *key, uint32_t file)
{
	put_name(writer, key, file, &writer->has_file[file], writer->costs.file[file]);
}

/* The function of a place. */
static uint32_t function_of(const struct writer *writer, uint32_t place)
{
	return writer->costs.node ? writer->costs.node[place].function : place;
}

/* Of a function with several ways to it, each has its number, as pprof has it: "name [2/3]". */
static void put_function(struct writer *writer, const char *key, uint32_t place)
{
	const struct call_costs *costs = &writer->costs;
	const uint32_t function = function_of(writer, place);
	const char *name = function < costs->functions.count ? costs->functions.name[function]
							     : RENDER_UNKNOWN;
	char *numbered = NULL;

	if (costs->node && costs->node_ways[function] > 1 &&
	    asprintf(&numbered, "%s [%" PRIu32 "/%" PRIu32 "]", name, costs->node[place].number + 1,
		     costs->node_ways[function]) < 0)
		numbered = NULL;
	put_name(writer, key, place, &writer->has_function[place], numbered ? numbered : name);
	free(numbered);
}

static void put_module(struct writer *writer, const char *key, uint32_t place)
{
	const int32_t module = writer->listing[function_of(writer, place)].module;
	const size_t number = (size_t)(module + 1);

	put_name(writer, key, number, &writer->has_module[number],
		 module < 0 ? NULL : writer->profile->module[module].path);
}

static void put_values(struct writer *writer, const struct call_cost *cost)
{
	text_count(cost->place.line, writer->out);
	for (int i = 0; i < writer->events; i++) {
		const int64_t value = text_whole(cost->value[writer->event[i]]);

		putc(' ', writer->out);
		text_number(value, writer->out);
		if (cost->place.callee == CALL_COSTS_SELF)
			writer->total[i] = text_sum(writer->total[i], value);
	}
	putc('\n', writer->out);
}

/*
 * Writes a call with its cost. The count is at least 1: at 0, readers would take the line after it
 * for a cost of the function itself.
 */
static void put_call(struct writer *writer, const struct call_cost *cost)
{
	const uint32_t callee = cost->place.callee;
	const int64_t calls = text_whole(cost->value[ALLOC_OBJECTS]);

	put_module(writer, "cob", callee);
	put_file(writer, "cfi", writer->listing[function_of(writer, callee)].file);
	put_function(writer, "cfn", callee);
	fprintf(writer->out, "calls=%" PRId64 " %" PRIu32 "\n", calls > 0 ? calls : 1,
		writer->listing[function_of(writer, callee)].line);
}

static void put_costs(struct writer *writer)
{
	uint32_t function = UINT32_MAX, file = 0;

	for (size_t i = 0; i < writer->costs.count; i++) {
		const struct call_cost *cost = &writer->costs.cost[i];

		if (cost->place.function != function) {
			function = cost->place.function;
			file = writer->listing[function_of(writer, function)].file;
			putc('\n', writer->out);
			put_module(writer, "ob", function);
			put_file(writer, "fl", file);
			put_function(writer, "fn", function);
		}
		if (cost->place.file != file) {
			file = cost->place.file;
			put_file(writer,
				 file == writer->listing[function_of(writer, function)].file ? "fe"
											     : "fi",
				 file);
		}
		if (cost->place.callee != CALL_COSTS_SELF)
			put_call(writer, cost);
		put_values(writer, cost);
	}
}

static void put_head(struct writer *writer)
{
	const struct profile_meta *meta = &writer->profile->meta;

	fputs("# callgrind format\nversion: 1\ncreator: heapinject\n", writer->out);
	if (meta->pid)
		fprintf(writer->out, "pid: %" PRIu32 "\n", meta->pid);
	fputs("cmd: ", writer->out);
	text_plain(meta->cmdline ? meta->cmdline : meta->comm, "unknown", writer->out);
	fputs("\npositions: line\n", writer->out);
	for (int i = 0; i < writer->events; i++)
		fprintf(writer->out, "event: %s : %s\n", sample_types[writer->event[i]].name,
			sample_types[writer->event[i]].meaning);
	fputs("events:", writer->out);
	for (int i = 0; i < writer->events; i++)
		fprintf(writer->out, " %s", sample_types[writer->event[i]].name);
	putc('\n', writer->out);
}

/* The requested type comes first, because readers sort by the first event. */
static void order_events(struct writer *writer, enum sample_type first)
{
	const int count = writer->events = sample_type_count(writer->profile);

	for (int i = 0; i < count; i++)
		writer->event[i] = (enum sample_type)(((int)first + count - i) % count);
}

static int reserve(struct writer *writer)
{
	const size_t functions = writer->costs.functions.count + 1;

	writer->listing = calloc(functions, sizeof(*writer->listing));
	writer->has_function = calloc(writer->costs.node ? writer->costs.node_count + 1 : functions,
				      sizeof(*writer->has_function));
	writer->has_file = calloc(writer->costs.file_count, sizeof(*writer->has_file));
	writer->has_module = calloc(writer->profile->module_count + 1, sizeof(*writer->has_module));
	return writer->listing && writer->has_function && writer->has_file && writer->has_module
		       ? 0
		       : -ENOMEM;
}

static void write_all(struct writer *writer)
{
	list_functions(writer);
	put_head(writer);
	put_costs(writer);
	fputs("\ntotals:", writer->out);
	for (int i = 0; i < writer->events; i++)
		fprintf(writer->out, " %" PRId64, writer->total[i]);
	putc('\n', writer->out);
}

int render_callgrind(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct writer writer = {.profile = profile, .out = out};
	int err = render_refuse_comparison(profile, "callgrind's format");

	if (err)
		return err;
	err = call_costs_open(profile, options->call_tree, &writer.costs);
	if (err)
		return render_result(err, out);
	order_events(&writer, options->type);
	err = reserve(&writer);
	if (!err)
		write_all(&writer);
	free(writer.listing);
	free(writer.has_function);
	free(writer.has_file);
	free(writer.has_module);
	call_costs_close(&writer.costs);
	return render_result(err, out);
}
