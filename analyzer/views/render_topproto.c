/* SPDX-License-Identifier: MIT */
/*
 * render_topproto.c - the rows of --text as a profile of pprof, as pprof's topproto: one sample for
 * each row, whose only location is the function, with its cumulative and its flat weight.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>

#include "callgraph_trim.h"
#include "pprof.h"
#include "pprof_fields.h"
#include "sample_types.h"
#include "text_out.h"

enum { STRING_NONE, STRING_CUM, STRING_FLAT, STRING_UNIT, STRING_SPACE, STRING_BYTES, STRINGS };

struct top {
	struct protobuf message, part, line;
	uint64_t strings;
};

static uint64_t put_string(struct top *top, const char *text)
{
	protobuf_string(&top->message, PROFILE_STRING_TABLE, text);
	return top->strings++;
}

static void put_type(struct top *top, unsigned int field, uint64_t type, uint64_t unit)
{
	protobuf_reset(&top->part);
	protobuf_number(&top->part, VALUE_TYPE, type);
	protobuf_number(&top->part, VALUE_UNIT, unit);
	protobuf_message(&top->message, field, &top->part);
}

static void put_node(struct top *top, const struct callgraph_node *node, uint64_t id)
{
	const uint64_t values[] = {(uint64_t)text_whole(callgraph_cum(node)),
				   (uint64_t)text_whole(callgraph_flat(node))};
	const uint64_t name = put_string(top, node->name),
		       file = node->file ? put_string(top, node->file) : STRING_NONE;

	protobuf_reset(&top->part);
	protobuf_number(&top->part, FUNCTION_ID, id);
	protobuf_number(&top->part, FUNCTION_NAME, name);
	protobuf_number(&top->part, FUNCTION_SYSTEM_NAME, name);
	protobuf_number(&top->part, FUNCTION_FILENAME, file);
	protobuf_message(&top->message, PROFILE_FUNCTION, &top->part);
	protobuf_reset(&top->line);
	protobuf_number(&top->line, LINE_FUNCTION_ID, id);
	protobuf_number(&top->line, LINE_LINE, node->line);
	protobuf_reset(&top->part);
	protobuf_number(&top->part, LOCATION_ID, id);
	protobuf_message(&top->part, LOCATION_LINE, &top->line);
	protobuf_message(&top->message, PROFILE_LOCATION, &top->part);
	protobuf_reset(&top->part);
	protobuf_packed(&top->part, SAMPLE_LOCATION_ID, &id, 1);
	protobuf_packed(&top->part, SAMPLE_VALUE, values, 2);
	protobuf_message(&top->message, PROFILE_SAMPLE, &top->part);
}

static void put_head(struct top *top, const struct profile *profile, enum sample_type type)
{
	const char *const strings[STRINGS] = {
		[STRING_NONE] = "",       [STRING_CUM] = "cum",
		[STRING_FLAT] = "flat",   [STRING_UNIT] = sample_types[type].unit,
		[STRING_SPACE] = "space", [STRING_BYTES] = "bytes",
	};

	for (size_t i = 0; i < STRINGS; i++)
		put_string(top, strings[i]);
	put_type(top, PROFILE_SAMPLE_TYPE, STRING_CUM, STRING_UNIT);
	put_type(top, PROFILE_SAMPLE_TYPE, STRING_FLAT, STRING_UNIT);
	put_type(top, PROFILE_PERIOD_TYPE, STRING_SPACE, STRING_BYTES);
	protobuf_number(&top->message, PROFILE_PERIOD, profile->meta.interval);
	protobuf_number(&top->message, PROFILE_TIME_NANOS, profile->meta.start_unix_ns);
	protobuf_number(&top->message, PROFILE_DURATION_NANOS, profile->meta.duration_ns);
}

static int write(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct callgraph_limits limits = callgraph_limits_of(options, 0);
	struct callgraph graph;
	struct top top = {.strings = 0};
	size_t count;
	int err = callgraph_build_limited(profile, options->type, &limits, &graph, NULL);

	if (err)
		return err;
	uint32_t *order = callgraph_order(&graph, limits.sort, &count);
	put_head(&top, profile, options->type);
	for (size_t i = 0; order && i < count; i++)
		put_node(&top, &graph.node[order[i]], i + 1);
	err = !order || top.message.failed || top.part.failed || top.line.failed
		      ? -ENOMEM
		      : pprof_compress(&top.message, out);
	protobuf_close(&top.message);
	protobuf_close(&top.part);
	protobuf_close(&top.line);
	free(order);
	callgraph_close(&graph);
	return err;
}

int render_topproto(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const int err = render_refuse_terminal(out, "topproto");

	return err ? err : render_result(write(profile, options, out), out);
}
