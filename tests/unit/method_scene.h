/* SPDX-License-Identifier: MIT */
/*
 * method_scene.h - a method as a JVM has it, and its counters, in this process's own memory, with a
 * layout that no JVM has.
 */
#ifndef METHOD_SCENE_H
#define METHOD_SCENE_H

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "hotspot_layout.h"
#include "unit.h"

struct symbol {
	uint16_t length;
	char body[14];
};
struct scene {
	struct memory memory;
	struct hotspot_layout layout;
	uint64_t method, constant[2], klass;
	/* its counters: a head, one of another name, and that of unloaded classes */
	struct {
		uint32_t used, first;
		struct counter {
			uint32_t length, name_at, value_at, padding;
			char name[32];
			uint64_t value;
		} counter[2];
	} perf;
	uint64_t perf_start;
	struct {
		uint64_t holder, length, entry[3];
	} pool;
	struct symbol class, name, signature;
};

static inline void scene_field(struct scene *scene, enum hotspot_field field, uint64_t at,
			       uint8_t size)
{
	scene->layout.field[field].at = at;
	scene->layout.field[field].size = size;
	scene->layout.field[field].is_known = true;
}

static inline struct symbol symbol(const char *text)
{
	struct symbol symbol = {.length = (uint16_t)strlen(text)};

	memcpy(symbol.body, text, symbol.length);
	return symbol;
}

static inline struct counter counter(const char *name)
{
	struct counter counter = {.length = sizeof(counter),
				  .name_at = offsetof(struct counter, name),
				  .value_at = offsetof(struct counter, value)};

	strcpy(counter.name, name);
	return counter;
}

static inline void scene_open(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	CHECK_EQ(memory_open_to_read(&scene->memory, getpid(), getpid()), 0);
	scene_field(scene, HOTSPOT_METHOD_CONST, 0, 8);
	scene_field(scene, HOTSPOT_CONST_POOL, 0, 8);
	scene_field(scene, HOTSPOT_CONST_NAME, 8, 2);
	scene_field(scene, HOTSPOT_CONST_SIGNATURE, 10, 2);
	scene_field(scene, HOTSPOT_POOL_HOLDER, 0, 8);
	scene_field(scene, HOTSPOT_POOL_LENGTH, 8, 4);
	scene_field(scene, HOTSPOT_KLASS_NAME, 0, 8);
	scene_field(scene, HOTSPOT_SYMBOL_LENGTH, 0, 2);
	scene_field(scene, HOTSPOT_SYMBOL_BODY, offsetof(struct symbol, body), 1);
	scene_field(scene, HOTSPOT_COUNTERS, (uintptr_t)&scene->perf_start, 8);
	scene_field(scene, HOTSPOT_COUNTERS_USED, 0, 4);
	scene_field(scene, HOTSPOT_COUNTERS_FIRST, 4, 4);
	scene_field(scene, HOTSPOT_COUNTER_LENGTH, 0, 4);
	scene_field(scene, HOTSPOT_COUNTER_NAME, 4, 4);
	scene_field(scene, HOTSPOT_COUNTER_VALUE, 8, 4);
	scene->perf.used = sizeof(scene->perf);
	scene->perf.first = offsetof(typeof(scene->perf), counter);
	scene->perf.counter[0] = counter("java.cls.loadedClasses");
	scene->perf.counter[1] = counter("java.cls.unloadedClasses");
	scene->layout.pool_size = 16;
	scene->class = symbol("a/B");
	scene->name = symbol("go");
	scene->signature = symbol("()I");
	scene->method = (uintptr_t)scene->constant;
	scene->constant[0] = (uintptr_t)&scene->pool;
	scene->constant[1] = 1 | 2 << 16;
	scene->klass = (uintptr_t)&scene->class;
	scene->pool.holder = (uintptr_t)&scene->klass;
	scene->pool.length = 3;
	scene->pool.entry[1] = (uintptr_t)&scene->name;
	scene->pool.entry[2] = (uintptr_t)&scene->signature;
}

#endif
