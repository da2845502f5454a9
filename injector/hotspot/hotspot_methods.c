/* SPDX-License-Identifier: MIT */
/* hotspot_methods.c - see hotspot_methods.h. */
#include "hotspot_methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_wire.h"
#include "hotspot_unloads.h"

#define METHODS_BITS 16 /* a large application server interprets a quarter as many */
#define METHODS_MAX ((size_t)1 << METHODS_BITS)
#define METHODS_FIRST 256u
#define PLACES (2 * METHODS_MAX)
#define PROBES 64u /* a hostile target chooses the addresses */
#define NAMELESS "Interpreter"
/*
 * How long names hold while the JVM counts no unloading: classes that are redefined leave Methods,
 * too. And if it does not count at all.
 */
#define COUNTED_NS 1000000000ull
#define UNCOUNTED_NS 5000000ull
#define SECOND_NS 1000000000ull
#define READS_A_SECOND 20000u /* names; a tenth of a CPU */

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = ((hash ^ hash >> 29) ^ (uint8_t)*name) * HI_HASH;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

/* Makes room for another one. */
static int reserve(struct hotspot_methods *methods)
{
	if (!methods->place)
		methods->place = calloc(PLACES, sizeof(*methods->place));
	if (!methods->place)
		return -ENOMEM;
	if (methods->count < methods->room || methods->room == METHODS_MAX)
		return 0;
	const size_t room = methods->room ? 2 * methods->room : METHODS_FIRST;
	struct hotspot_method *grown = realloc(methods->method, room * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	methods->method = grown;
	methods->room = room;
	return 0;
}

/* NULL: there is no room for it. */
static struct hotspot_method *method_at(struct hotspot_methods *methods, remote_addr at)
{
	const size_t home = at * HI_HASH >> (64 - METHODS_BITS - 1);

	for (size_t i = 0; i < PROBES; i++) {
		uint32_t *place = &methods->place[(home + i) % PLACES];

		if (!*place && methods->count == METHODS_MAX)
			return NULL;
		if (!*place) {
			methods->method[methods->count++] = (struct hotspot_method){.at = at};
			*place = (uint32_t)methods->count;
		}
		if (methods->method[*place - 1].at == at)
			return &methods->method[*place - 1];
	}
	return NULL;
}

static void find_counter(struct hotspot_methods *methods, const struct hotspot_layout *layout,
			 const struct memory *memory)
{
	if (hotspot_unloads_find(layout, memory, &methods->counter) ||
	    memory_read_u64(memory, methods->counter, &methods->unloaded))
		methods->counter = 0;
}

bool hotspot_methods_look(struct hotspot_methods *methods, const struct hotspot_layout *layout,
			  const struct memory *memory, uint64_t moment, uint64_t now_ns)
{
	uint64_t unloaded = methods->unloaded, hold_ns = UNCOUNTED_NS;

	if (now_ns >= methods->second_ns) {
		methods->second_ns = now_ns + SECOND_NS;
		methods->reads_left = READS_A_SECOND;
		if (!methods->counter)
			find_counter(methods, layout, memory);
	}
	if (methods->counter && !memory_read_u64(memory, methods->counter, &unloaded))
		hold_ns = unloaded == methods->unloaded ? COUNTED_NS : 0;
	methods->unloaded = unloaded;
	methods->looked = moment;
	if (!methods->generation || now_ns - methods->renewed_ns >= hold_ns) {
		methods->generation++;
		methods->renewed_ns = now_ns;
	}
	return !hold_ns;
}

/* Nothing was unloaded since the last look. */
static bool is_unchanged(const struct hotspot_methods *methods, const struct memory *memory)
{
	uint64_t unloaded;

	return !methods->counter || memory_read_u64(memory, methods->counter, &unloaded) ||
	       unloaded == methods->unloaded;
}

/*
 * Reads the name, unless it is the same for certain and need not be given. False: there is none; a
 * name that was given stays.
 */
static bool read_name(struct hotspot_method *method, const struct hotspot_layout *layout,
		      const struct memory *memory, char name[HOTSPOT_NAME_MAX])
{
	struct hotspot_trail trail;

	if (method->given_hash == method->name_hash && method->trail.count &&
	    hotspot_trail_holds(&method->trail, memory))
		return true;
	const bool is_read = !hotspot_method_follow(layout, memory, method->at, name, &trail);

	if (is_read)
		method->trail = trail;
	else if (method->given_hash && method->given_hash == method->name_hash)
		return false;
	else
		strcpy(name, NAMELESS);
	method->name_hash = hash_of(name);
	return is_read;
}

/*
 * A method that lived since the last unloading lives. What is read is its name, for this
 * generation. False: it is not known.
 */
static bool renew(struct hotspot_methods *methods, struct hotspot_method *method,
		  const struct hotspot_layout *layout, const struct memory *memory, uint64_t moment,
		  char name[HOTSPOT_NAME_MAX])
{
	struct hotspot_method now = *method;

	if (now.generation == methods->generation && now.given_hash == now.name_hash)
		return true;
	if (!methods->reads_left)
		return false;
	methods->reads_left--;
	const bool is_read = read_name(&now, layout, memory, name);

	if (!is_unchanged(methods, memory)) {
		methods->looked = 0;
		return false;
	}
	if (now.generation != methods->generation) {
		now.past_generation = now.generation = methods->generation;
		now.was_same = is_read && method->given_hash == now.name_hash;
	}
	if (method->given_hash != now.name_hash)
		now.since = moment;
	*method = now;
	return true;
}

/*
 * The memory of a method that may have been unloaded since may be another's by now, or soon. Then
 * only a name that was known at an earlier moment, and is still there, is its own.
 */
static bool was_same(struct hotspot_methods *methods, struct hotspot_method *method,
		     const struct hotspot_layout *layout, const struct memory *memory,
		     uint64_t moment, char name[HOTSPOT_NAME_MAX])
{
	struct hotspot_method now = *method;

	if (now.past_generation != methods->generation && methods->reads_left) {
		methods->reads_left--;
		method->was_same = read_name(&now, layout, memory, name) &&
				   now.name_hash == method->given_hash;
		method->past_generation = methods->generation;
	}
	return method->past_generation == methods->generation && method->was_same &&
	       moment >= method->since;
}

static int give_none(char name[HOTSPOT_NAME_MAX], uint64_t *out_hash)
{
	strcpy(name, NAMELESS);
	*out_hash = hash_of(name);
	return 1;
}

int hotspot_methods_find(struct hotspot_methods *methods, const struct hotspot_layout *layout,
			 const struct memory *memory, uint64_t moment, remote_addr at,
			 char name[HOTSPOT_NAME_MAX], uint64_t *out_hash)
{
	const int err = reserve(methods);

	if (err)
		return err;
	struct hotspot_method *method = method_at(methods, at);

	if (!method ||
	    !(moment < methods->sure ? was_same(methods, method, layout, memory, moment, name)
				     : renew(methods, method, layout, memory, moment, name)))
		return give_none(name, out_hash);
	const bool is_new = method->given_hash != method->name_hash;

	*out_hash = method->given_hash = method->name_hash;
	return is_new;
}

void hotspot_methods_close(struct hotspot_methods *methods)
{
	free(methods->method);
	free(methods->place);
	*methods = (struct hotspot_methods){.count = 0};
}
