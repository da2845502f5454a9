/* SPDX-License-Identifier: MIT */
/*
 * intervals.c - what a report says of each site, with the interval that the report's own estimator
 * gives it, which the text view shows for the total only.
 *
 * intervals FILE.heap: one line a function whose name begins with "site_": name, then value, low
 * and high of in-use bytes, in-use objects, allocated bytes and allocated objects.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "callgraph.h"
#include "heapfile.h"
#include "input.h"

static int read_profile(const char *path, struct profile *profile)
{
	struct input input;
	const int fd = open(path, O_RDONLY);

	if (fd < 0 || input_open(&input, fd) || profile_open(profile) ||
	    heapfile_read(&input, profile))
		return -1;
	input_close(&input);
	return profile->meta.damage ? -1 : 0;
}

static void print_estimate(const struct callgraph *graph, const char *name)
{
	struct estimate estimate = {0};
	double low, high;

	for (size_t i = 0; i < graph->node_count; i++) {
		if (strcmp(graph->node[i].name, name) == 0)
			estimate = graph->node[i].cum;
	}
	estimate_interval(&estimate, &low, &high);
	printf(" %.0f %.0f %.0f", estimate.value, low, high);
}

int main(int argc, char **argv)
{
	static const enum sample_type types[] = {INUSE_SPACE, INUSE_OBJECTS, ALLOC_SPACE,
						 ALLOC_OBJECTS};
	struct callgraph graph[4];
	struct profile profile;

	if (argc != 2 || read_profile(argv[1], &profile))
		return 1;
	for (size_t i = 0; i < 4; i++) {
		if (callgraph_build(&profile, types[i], NULL, &graph[i]))
			return 1;
	}
	for (size_t i = 0; i < graph[3].node_count; i++) {
		const char *name = graph[3].node[i].name;

		if (strncmp(name, "site_", 5) != 0)
			continue;
		printf("%s", name);
		for (size_t k = 0; k < 4; k++)
			print_estimate(&graph[k], name);
		printf("\n");
	}
	return 0;
}
