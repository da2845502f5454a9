/* SPDX-License-Identifier: MIT */
/*
 * heap_snapshot.c - see heap_snapshot.h. The fields are those that DevTools' worker requires
 * (HeapSnapshot.ts): it finds them by name in `meta`, and nodes by the index of their first number.
 */
#include "heap_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "plain_text.h"

#define NODE_FIELDS 7u
/* indices of node_types and edge_types */
enum { NODE_OBJECT = 3, NODE_SYNTHETIC = 9 };
enum { EDGE_ELEMENT = 1, EDGE_PROPERTY = 2, EDGE_WEAK = 6 };
/* Nodes and strings before those of the graph: the root, and what V8 keeps for itself. */
enum { OWN_NODES = 2, OWN_STRINGS = 2 };

static const char meta[] =
	"{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\","
	"\"detachedness\"],\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\","
	"\"closure\",\"regexp\",\"number\",\"native\",\"synthetic\",\"concatenated string\","
	"\"sliced string\",\"symbol\",\"bigint\",\"object "
	"shape\"],\"string\",\"number\",\"number\","
	"\"number\",\"number\",\"number\"],\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"]"
	","
	"\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\","
	"\"shortcut\","
	"\"weak\"],\"string_or_number\",\"node\"],\"trace_function_info_fields\":[\"function_id\","
	"\"name\",\"script_name\",\"script_id\",\"line\",\"column\"],\"trace_node_fields\":[\"id\","
	"\"function_info_index\",\"count\",\"size\",\"children\"],\"sample_fields\":["
	"\"timestamp_us\",\"last_assigned_id\"],\"location_fields\":[\"object_index\","
	"\"script_id\",\"line\",\"column\"]}";

struct snapshot {
	const struct owner_names *names;
	const struct references *references;
	FILE *out;
	uint32_t groups;
};

/* ---- numbers of the file --------------------------------------------------------------------- */

/* All nodes of the graph but its last one, the root, follow those of our own. */
static uint32_t node_number(const struct snapshot *snapshot, uint32_t node)
{
	return node == snapshot->references->all ? 0 : node + OWN_NODES;
}

static uint32_t string_of(const struct snapshot *snapshot, uint32_t node)
{
	const struct references *references = snapshot->references;

	if (!references_root(references, node))
		return OWN_STRINGS + owners_group(snapshot->names->owners, node);
	return OWN_STRINGS + snapshot->groups +
	       (node < references->places ? node : node - references->block_count);
}

static uint32_t edge_count(const struct snapshot *snapshot, uint32_t node)
{
	return snapshot->references->graph.first[node + 1] -
	       snapshot->references->graph.first[node];
}

/* ---- nodes and edges ------------------------------------------------------------------------- */

static void write_node(const struct snapshot *snapshot, uint32_t node)
{
	const struct mark_block *block = references_block(snapshot->references, node);
	const uint64_t bytes = block ? block->bytes : 0;

	fprintf(snapshot->out, ",\n%u,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",0,0",
		NODE_OBJECT, string_of(snapshot, node),
		2 * (uint64_t)node_number(snapshot, node) + 1,
		/* DevTools keeps 32 bits of it */
		bytes < UINT32_MAX ? bytes : UINT32_MAX, edge_count(snapshot, node));
}

static void write_nodes(const struct snapshot *snapshot)
{
	const struct references *references = snapshot->references;
	const uint32_t places = edge_count(snapshot, references->all);

	fprintf(snapshot->out, "%u,0,1,0,%" PRIu32 ",0,0,\n%u,1,3,0,%" PRIu32 ",0,0",
		NODE_SYNTHETIC, places + 1, NODE_SYNTHETIC, places);
	for (uint32_t node = 0; node < references->all; node++)
		write_node(snapshot, node);
}

/* Weak edges have strings, which are those of what they lead from. */
static void write_edge(const struct snapshot *snapshot, uint32_t from, uint32_t edge)
{
	const struct graph *graph = &snapshot->references->graph;
	const uint32_t to = graph->to[edge];
	const uint64_t offset = graph->word[edge] * 8ull;
	unsigned type = EDGE_ELEMENT;
	uint64_t name = offset < UINT32_MAX ? offset : UINT32_MAX;

	if (references_root(snapshot->references, to)) {
		type = EDGE_PROPERTY;
		name = string_of(snapshot, to);
	} else if (graph_is_weak(graph, from, to)) {
		type = EDGE_WEAK;
		name = string_of(snapshot, from);
	}
	fprintf(snapshot->out, ",\n%u,%" PRIu64 ",%" PRIu64, type, name,
		(uint64_t)node_number(snapshot, to) * NODE_FIELDS);
}

static void write_edges_of(const struct snapshot *snapshot, uint32_t node)
{
	const struct graph *graph = &snapshot->references->graph;

	for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
		write_edge(snapshot, node, i);
}

static void write_edges(const struct snapshot *snapshot)
{
	const struct references *references = snapshot->references;

	fprintf(snapshot->out, "%u,1,%u", EDGE_ELEMENT, NODE_FIELDS);
	write_edges_of(snapshot, references->all);
	write_edges_of(snapshot, references->all);
	for (uint32_t node = 0; node < references->all; node++)
		write_edges_of(snapshot, node);
}

/* ---- strings --------------------------------------------------------------------------------- */

static int write_string(const struct snapshot *snapshot, char *string)
{
	if (!string)
		return -ENOMEM;
	fputs(",\n", snapshot->out);
	plain_text_json(snapshot->out, string);
	free(string);
	return 0;
}

static int write_strings(const struct snapshot *snapshot)
{
	const struct references *references = snapshot->references;
	int err = 0;

	fputs("\"\",\n\"(GC roots)\"", snapshot->out);
	for (uint32_t i = 0; i < snapshot->groups && !err; i++)
		err = write_string(snapshot, owner_name_of_group(snapshot->names, i));
	for (uint32_t i = 0; i < references->root_count && !err; i++)
		err = write_string(snapshot, owner_name_of_root(&references->root[i]));
	return err;
}

int heap_snapshot_write(const struct owner_names *names, FILE *out)
{
	const struct snapshot snapshot = {
		.names = names,
		.references = &names->owners->references,
		.out = out,
		.groups = (uint32_t)names->owners->census.count,
	};
	const struct graph *graph = &snapshot.references->graph;

	fprintf(out,
		"{\"snapshot\":{\"meta\":%s,\"node_count\":%" PRIu64 ",\"edge_count\":%" PRIu64
		",\"trace_function_count\":0},\n\"nodes\":[",
		meta, (uint64_t)graph->nodes + 1,
		(uint64_t)graph->edges + 1 + edge_count(&snapshot, snapshot.references->all));
	write_nodes(&snapshot);
	fputs("],\n\"edges\":[", out);
	write_edges(&snapshot);
	fputs("],\n\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],\"locations\":[],\n"
	      "\"strings\":[",
	      out);
	const int err = write_strings(&snapshot);

	fputs("]}\n", out);
	if (err)
		return err;
	return fflush(out) ? -errno : ferror(out) ? -EIO : 0;
}
