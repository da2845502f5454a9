/* SPDX-License-Identifier: MIT */
/* hotspot_unloads_test.c - the counter of unloaded classes, and counters that cannot be. */
#include "hotspot_unloads.h"

#include <errno.h>

#include "method_scene.h"

static int find(struct scene *scene, remote_addr *counter)
{
	return hotspot_unloads_find(&scene->layout, &scene->memory, counter);
}

UNIT_TEST(the_counter_is_found_by_its_name)
{
	struct scene scene;
	remote_addr counter = 0;

	scene_open(&scene);
	CHECK_EQ(find(&scene, &counter), -ENOENT); /* the JVM has none, or not yet */
	scene.perf_start = (uintptr_t)&scene.perf;
	CHECK_EQ(find(&scene, &counter), 0);
	CHECK_EQ(counter, (uintptr_t)&scene.perf.counter[1].value);
	memory_close(&scene.memory);
}

UNIT_TEST(damaged_counters_lead_nowhere)
{
	struct scene scene;
	remote_addr counter;

	scene_open(&scene);
	scene.perf_start = (uintptr_t)&scene.perf;
	scene.perf.counter[0].length = 0;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf.counter[0].length = UINT32_MAX;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf.counter[0].length = sizeof(scene.perf.counter[0]);
	scene.perf.counter[1].value_at = UINT32_MAX;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf.counter[1].value_at = sizeof(scene.perf.counter[1]) - 7;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf.counter[1].name_at = sizeof(scene.perf.counter[1]) - 1;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf.first = UINT32_MAX;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf.used = 4;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf.used = UINT32_MAX;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	scene.perf_start = 64;
	CHECK_EQ(find(&scene, &counter), -ENOENT);
	memory_close(&scene.memory);
}

UNIT_MAIN()
