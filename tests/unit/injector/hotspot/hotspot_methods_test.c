/* SPDX-License-Identifier: MIT */
/* hotspot_methods_test.c - names of methods whose classes are unloaded, and others made there. */
#include "hotspot_methods.h"

#include "method_scene.h"

#define SECOND 1000000000ull

static struct hotspot_methods methods;
static char name[HOTSPOT_NAME_MAX];
static uint64_t hash;

static int find(struct scene *scene, uint64_t moment, remote_addr at)
{
	strcpy(name, "(none)");
	return hotspot_methods_find(&methods, &scene->layout, &scene->memory, moment, at, name,
				    &hash);
}

static int find_it(struct scene *scene, uint64_t moment)
{
	return find(scene, moment, (uintptr_t)&scene->method);
}

static void look(struct scene *scene, uint64_t now_ns)
{
	if (hotspot_methods_look(&methods, &scene->layout, &scene->memory, now_ns, now_ns))
		methods.sure = now_ns + 1;
}

static void begin(struct scene *scene, bool has_counter)
{
	scene_open(scene);
	scene->perf_start = has_counter ? (uintptr_t)&scene->perf : 0;
	look(scene, 0);
}

static void end(struct scene *scene)
{
	hotspot_methods_close(&methods);
	memory_close(&scene->memory);
}

/* Another method is made in the place of the one that was there. */
static void replace(struct scene *scene)
{
	scene->name = symbol("gone");
	scene->perf.counter[1].value++;
}

UNIT_TEST(a_name_is_given_once)
{
	struct scene scene;
	uint64_t first;

	begin(&scene, true);
	CHECK_EQ(find_it(&scene, 1), 1);
	CHECK(!strcmp(name, "int a.B.go()"));
	first = hash;
	CHECK(first != 0);
	CHECK_EQ(find_it(&scene, 2), 0);
	CHECK_EQ(hash, first);
	look(&scene, 5 * SECOND);
	CHECK_EQ(find_it(&scene, 5 * SECOND + 1), 0);
	CHECK_EQ(hash, first);
	end(&scene);
}

UNIT_TEST(what_is_no_method_is_the_interpreter)
{
	struct scene scene;

	begin(&scene, true);
	CHECK_EQ(find(&scene, 1, 64), 1);
	CHECK(!strcmp(name, "Interpreter"));
	CHECK_EQ(find(&scene, 1, UINT64_MAX), 1);
	CHECK(!strcmp(name, "Interpreter"));
	end(&scene);
}

UNIT_TEST(a_method_in_the_place_of_another_has_its_own_name)
{
	struct scene scene;
	uint64_t first;

	begin(&scene, true);
	CHECK_EQ(find_it(&scene, 1), 1);
	first = hash;
	replace(&scene);
	look(&scene, 100);
	CHECK_EQ(find_it(&scene, 101), 1);
	CHECK(!strcmp(name, "int a.B.gone()"));
	CHECK(hash != first);
	end(&scene);
}

/* A frame from between two looks may be of either method. */
UNIT_TEST(a_frame_from_before_the_unloading_has_no_others_name)
{
	struct scene scene;

	begin(&scene, true);
	CHECK_EQ(find_it(&scene, 1), 1);
	replace(&scene);
	look(&scene, 100);
	CHECK_EQ(find_it(&scene, 99), 1);
	CHECK(!strcmp(name, "Interpreter"));
	CHECK_EQ(find_it(&scene, 101), 1);
	CHECK(!strcmp(name, "int a.B.gone()"));
	CHECK_EQ(find_it(&scene, 99), 1);
	CHECK(!strcmp(name, "Interpreter"));
	end(&scene);
}

UNIT_TEST(a_frame_from_before_the_unloading_of_others_keeps_its_name)
{
	struct scene scene;
	uint64_t first;

	begin(&scene, true);
	CHECK_EQ(find_it(&scene, 1), 1);
	first = hash;
	scene.perf.counter[1].value++;
	look(&scene, 100);
	CHECK_EQ(find_it(&scene, 99), 0);
	CHECK_EQ(hash, first);
	scene.signature = symbol("()"); /* what is there now is no method */
	scene.perf.counter[1].value++;
	look(&scene, 200);
	CHECK_EQ(find_it(&scene, 199), 1);
	CHECK(!strcmp(name, "Interpreter"));
	end(&scene);
}

/* Records of several threads need not come in their order. */
UNIT_TEST(a_frame_from_before_an_earlier_unloading_has_no_name)
{
	struct scene scene;

	begin(&scene, true);
	CHECK_EQ(find_it(&scene, 1), 1);
	replace(&scene);
	look(&scene, 100);
	CHECK_EQ(find_it(&scene, 110), 1);
	scene.perf.counter[1].value++;
	look(&scene, 200);
	CHECK_EQ(find_it(&scene, 99), 1);
	CHECK(!strcmp(name, "Interpreter"));
	CHECK_EQ(find_it(&scene, 150), 0);
	end(&scene);
}

/* Unloaded between the look and the read. */
UNIT_TEST(a_name_that_may_be_anothers_by_now_is_not_given)
{
	struct scene scene;

	begin(&scene, true);
	replace(&scene);
	CHECK_EQ(find_it(&scene, 1), 1);
	CHECK(!strcmp(name, "Interpreter"));
	CHECK_EQ(methods.looked, 0);
	look(&scene, 100);
	CHECK_EQ(find_it(&scene, 101), 1);
	CHECK(!strcmp(name, "int a.B.gone()"));
	end(&scene);
}

UNIT_TEST(without_a_counter_names_hold_for_a_moment)
{
	struct scene scene;

	begin(&scene, false);
	CHECK_EQ(find_it(&scene, 1), 1);
	replace(&scene);
	look(&scene, 2);
	CHECK_EQ(find_it(&scene, 3), 0);
	look(&scene, SECOND / 100);
	CHECK_EQ(find_it(&scene, SECOND / 100 + 1), 1);
	CHECK(!strcmp(name, "int a.B.gone()"));
	end(&scene);
}

/* Addresses are the target's; each costs several reads. */
UNIT_TEST(reads_are_bounded)
{
	struct scene scene;

	begin(&scene, true);
	for (uint64_t i = 1; i <= 100000; i++)
		CHECK_EQ(find(&scene, 1, i * 8), 1);
	CHECK_EQ(methods.reads_left, 0);
	CHECK(methods.count <= 65536);
	CHECK_EQ(find_it(&scene, 1), 1);
	CHECK(!strcmp(name, "Interpreter"));
	end(&scene);
}

UNIT_MAIN()
