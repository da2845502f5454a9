/* SPDX-License-Identifier: MIT */
/* hotspot_names_test.c - names of methods as perf maps have them, and what is no method. */
#include "hotspot_names.h"

#include <errno.h>
#include <string.h>

#include "method_scene.h"

static const char *formatted(const char *class, const char *method, const char *signature)
{
	static char name[HOTSPOT_NAME_MAX];

	return hotspot_name_format(class, method, signature, name) ? name : "";
}

UNIT_TEST(signatures_are_written_as_in_java)
{
	CHECK(!strcmp(formatted("a/b/C$D", "run", "()V"), "void a.b.C$D.run()"));
	CHECK(!strcmp(formatted("C", "<init>", "(Ljava/lang/String;[[IZ)[Lx/Y;"),
		      "x.Y[] C.<init>(java.lang.String, int[][], boolean)"));
	CHECK(!strcmp(formatted("C", "m", "(BCDFIJSZ)J"),
		      "long C.m(byte, char, double, float, int, long, short, boolean)"));
}

UNIT_TEST(what_is_no_signature_has_no_name)
{
	static const char *const bad[] = {"",     "V",     "()",   "(",    "(V",
					  "(L)V", "(Lx)V", "(Q)V", "()VV", "([)V"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!*formatted("C", "m", bad[i]));
}

UNIT_TEST(long_names_are_cut)
{
	char class[2 * HOTSPOT_NAME_MAX];
	const char *name;

	memset(class, 'x', sizeof(class));
	class[sizeof(class) - 1] = 0;
	name = formatted(class, "m", "(I)V");
	CHECK_EQ(strlen(name), HOTSPOT_NAME_MAX - 1);
}

static int name_of(struct scene *scene, char *name)
{
	return hotspot_method_name(&scene->layout, &scene->memory, (uintptr_t)&scene->method, name);
}

UNIT_TEST(a_method_is_followed_to_its_name)
{
	struct scene scene;
	char name[HOTSPOT_NAME_MAX];

	scene_open(&scene);
	CHECK_EQ(name_of(&scene, name), 0);
	CHECK(!strcmp(name, "int a.B.go()"));
	memory_close(&scene.memory);
}

UNIT_TEST(what_was_unloaded_has_no_name)
{
	struct scene scene;
	char name[HOTSPOT_NAME_MAX];

	scene_open(&scene);
	scene.pool.length = 2; /* the signature lies beyond */
	CHECK_EQ(name_of(&scene, name), -EPROTO);
	scene.pool.length = 3;
	scene.name.length = HOTSPOT_NAME_MAX;
	CHECK_EQ(name_of(&scene, name), -EPROTO);
	scene.name = symbol("g\n");
	CHECK_EQ(name_of(&scene, name), -EPROTO);
	scene.name = symbol("go");
	scene.signature = symbol("()");
	CHECK_EQ(name_of(&scene, name), -EPROTO);
	scene.constant[0] = 8;
	CHECK_EQ(name_of(&scene, name), -EFAULT);
	scene.layout.field[HOTSPOT_KLASS_NAME].is_known = false;
	CHECK_EQ(name_of(&scene, name), -ENOTSUP);
	memory_close(&scene.memory);
}

UNIT_MAIN()
