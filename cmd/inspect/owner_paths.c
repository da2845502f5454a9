/* SPDX-License-Identifier: MIT */
/* owner_paths.c - see owner_paths.h. */
#include "owner_paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plain_text.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint64_t class_of(const void *context, uint32_t node)
{
	const struct owners *owners = context;

	return references_root(&owners->references, node) ? (uint64_t)node + UINT32_MAX
							  : owners_group(owners, node);
}

static uint64_t bytes_of(const void *context, uint32_t node)
{
	const struct owners *owners = context;
	const struct reference_root *root = references_root(&owners->references, node);

	return root ? root->hi - root->lo : references_block(&owners->references, node)->bytes;
}

static struct path_nodes nodes_of(const struct owners *owners)
{
	return (struct path_nodes){class_of, bytes_of, owners};
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool is_address(const char *text, uint64_t *out_address)
{
	char *end;

	if (strncmp(text, "0x", 2))
		return false;
	errno = 0;
	*out_address = strtoull(text, &end, 16);
	return !errno && end > text + 2 && !*end;
}

/* By group: is its name the one that is wanted? If no name is, those that have it as a part. */
static int match_groups(const struct owner_paths *paths, const struct owner_names *names,
			bool *is_wanted)
{
	const size_t groups = names->owners->census.count;
	size_t found = 0;

	for (int is_part = 0; is_part < 2 && !found; is_part++)
		for (uint32_t i = 0; i < groups; i++) {
			char *name = owner_name_of_group(names, i);

			if (!name)
				return -ENOMEM;
			is_wanted[i] = is_part ? strstr(name, paths->wanted) != NULL
					       : !strcmp(name, paths->wanted);
			found += is_wanted[i];
			free(name);
		}
	return 0;
}

/* Those of `path` that were asked for, each as a path of its own, become so many of each shape. */
static int compare_shapes(const void *a, const void *b)
{
	const struct owner_path *left = a, *right = b;

	if (left->shape != right->shape)
		return left->shape < right->shape ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

static int compare_counts(const void *a, const void *b)
{
	const struct owner_path *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

static void count_shapes(struct owner_paths *paths)
{
	struct owner_path *path = paths->path;
	size_t kept = 0;

	if (paths->count)
		qsort(path, paths->count, sizeof(*path), compare_shapes);
	for (size_t i = 0; i < paths->count; i++)
		if (kept && path[kept - 1].shape == path[i].shape)
			path[kept - 1].count++;
		else
			path[kept++] = path[i];
	paths->count = kept;
	if (kept)
		qsort(path, kept, sizeof(*path), compare_counts);
}

static void take_block(struct owner_paths *paths, const struct owners *owners,
		       const uint64_t *shape, uint32_t block)
{
	const uint32_t node = references_node(&owners->references, block);

	paths->path[paths->count++] = (struct owner_path){shape[node], node, 1};
}

static int find_class(struct owner_paths *paths, const struct owner_names *names,
		      const uint64_t *shape)
{
	const struct owners *owners = names->owners;
	bool *is_wanted = calloc(owners->census.count + 1, sizeof(*is_wanted));
	const int err = is_wanted ? match_groups(paths, names, is_wanted) : -ENOMEM;

	for (uint32_t i = 0; i < owners->references.block_count && !err; i++)
		if (is_wanted[owners->group[i]])
			take_block(paths, owners, shape, i);
	free(is_wanted);
	return err;
}

/* The block that has the address, by a pointer to any byte of it. */
static void find_address(struct owner_paths *paths, const struct owners *owners,
			 const uint64_t *shape, uint64_t address)
{
	const struct references *references = &owners->references;
	uint32_t low = 0, high = references->block_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (references->block[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && address - references->block[low - 1].address < references->block[low - 1].bytes)
		take_block(paths, owners, shape, low - 1);
}

int owner_paths_open(const struct owners *owners, const char *wanted, struct owner_paths *out_paths)
{
	*out_paths = (struct owner_paths){.wanted = wanted};
	return shortest_paths_find(&owners->references.graph, owners->references.all,
				   &out_paths->shortest);
}

int owner_paths_find(struct owner_paths *paths, const struct owner_names *names)
{
	const struct owners *owners = names->owners;
	const struct path_nodes nodes = nodes_of(owners);
	uint64_t address,
		*shape = shortest_paths_shapes(&owners->references.graph, &paths->shortest, &nodes);
	int err = 0;

	paths->path = malloc((owners->references.block_count + 1ull) * sizeof(*paths->path));
	if (!shape || !paths->path)
		err = -ENOMEM;
	else if (is_address(paths->wanted, &address))
		find_address(paths, owners, shape, address);
	else
		err = find_class(paths, names, shape);
	free(shape);
	paths->blocks = (uint32_t)paths->count;
	if (!err)
		count_shapes(paths);
	return err;
}

void owner_paths_close(struct owner_paths *paths)
{
	shortest_paths_close(&paths->shortest);
	free(paths->path);
	*paths = (struct owner_paths){0};
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A step of a path, and how often it comes in a row. */
struct step {
	uint32_t node;   /* to which it leads, the last time */
	uint64_t offset; /* in bytes, of the pointer in what was before, the first time */
	uint32_t times;
};

/* From the place on that has the first pointer. To be freed; NULL: no memory. */
static struct step *steps_of(const struct owner_paths *paths, const struct owners *owners,
			     uint32_t node, size_t *out_count)
{
	const struct graph *graph = &owners->references.graph;
	const struct shortest_paths *shortest = &paths->shortest;
	const struct path_nodes nodes = nodes_of(owners);
	size_t length = 0, count = 0;

	for (uint32_t at = node; at != GRAPH_NONE; at = shortest->from[at])
		length++;
	struct step *step = calloc(length + 1, sizeof(*step));
	uint32_t *way = malloc((length + 1) * sizeof(*way));

	for (size_t i = length; way && i; node = shortest->from[node])
		way[--i] = node;
	for (size_t i = 0; step && way && i < length; i++) {
		const struct reference_root *root = references_root(&owners->references, way[i]);
		const bool is_repeated = count && !root && step[count - 1].times &&
					 shortest_paths_is_repeated(shortest, &nodes, way[i]);

		if (root)
			count = 0; /* what has this one: an object, or all */
		if (is_repeated) {
			step[count - 1].node = way[i];
			step[count - 1].times++;
			continue;
		}
		step[count].node = way[i];
		step[count].times = !root;
		step[count++].offset =
			i ? (uint64_t)graph->word[shortest->edge[way[i]]] * sizeof(uint64_t) : 0;
	}
	free(way);
	*out_count = step ? count : 0;
	return step;
}

static void print_path(const struct owner_paths *paths, const struct owner_names *names,
		       const struct owner_path *path, FILE *out)
{
	size_t count = 0;
	struct step *step = steps_of(paths, names->owners, path->node, &count);
	const bool is_referred_to =
		count && references_root(&names->owners->references, step[0].node)->kind !=
				 REFERENCE_NOTHING;

	fprintf(out, "  %10" PRIu32 "  ", path->count);
	for (size_t i = 0; i < count; i++) {
		if (i && (i > 1 || is_referred_to))
			fprintf(out, " +0x%" PRIx64, step[i].offset);
		fputs(i ? " -> " : "", out);
		owner_name_print(names, step[i].node, out);
		if (step[i].times > 1)
			fprintf(out, " (%" PRIu32 " times)", step[i].times);
	}
	fprintf(out, "; 0x%" PRIx64 "\n",
		references_block(&names->owners->references, path->node)->address);
	free(step);
}

void owner_paths_print(const struct owner_paths *paths, const struct owner_names *names, FILE *out)
{
	if (!paths->blocks) {
		fprintf(out, "No block in use is %s\n", paths->wanted);
		return;
	}
	fprintf(out, "  %10s  %s\n", "blocks", "shortest path; example");
	for (size_t i = 0; i < paths->count && i < OWNER_PATHS_SHOWN; i++)
		print_path(paths, names, &paths->path[i], out);
	if (paths->count > OWNER_PATHS_SHOWN)
		fprintf(out, "  (%zu more shapes)\n", paths->count - OWNER_PATHS_SHOWN);
}

static void print_step_json(const struct owner_names *names, const struct step *step, FILE *out)
{
	const struct owners *owners = names->owners;
	const struct reference_root *root = references_root(&owners->references, step->node);
	char *name = root ? owner_name_of_root(root)
			  : owner_name_of_group(names, owners_group(owners, step->node));

	fputs("{\"name\":", out);
	plain_text_json(out, name ? name : "");
	if (root)
		fprintf(out, ",\"kind\":\"%s\"}", owner_kind_name(root->kind));
	else
		fprintf(out,
			",\"offset\":%" PRIu64 ",\"times\":%" PRIu32 ",\"address\":\"0x%" PRIx64
			"\"}",
			step->offset, step->times,
			references_block(&owners->references, step->node)->address);
	free(name);
}

void owner_paths_print_json(const struct owner_paths *paths, const struct owner_names *names,
			    FILE *out)
{
	fprintf(out, ",\"why\":{\"blocks\":%" PRIu32 ",\"shapes\":%zu,\"paths\":[", paths->blocks,
		paths->count);
	for (size_t i = 0; i < paths->count && i < OWNER_PATHS_SHOWN; i++) {
		size_t count = 0;
		struct step *step = steps_of(paths, names->owners, paths->path[i].node, &count);

		fprintf(out, "%s{\"blocks\":%" PRIu32 ",\"steps\":[", i ? "," : "",
			paths->path[i].count);
		for (size_t j = 0; j < count; j++) {
			fputs(j ? "," : "", out);
			print_step_json(names, &step[j], out);
		}
		fputs("]}", out);
		free(step);
	}
	fputs("]}", out);
}
