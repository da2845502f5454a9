/* SPDX-License-Identifier: MIT */
/*
 * thin_layers.c - see thin_layers.h.
 *
 * Each round looks at all stacks and drops the functions that are no layers, as far as the others
 * are. A layer that lies on a dropped one is dropped in the next round, so there are about as many
 * rounds as layers above each other.
 */
#include "thin_layers.h"

#include <errno.h>
#include <stdlib.h>

/* More layers than this above each other are not found out; the outer ones remain. */
#define ROUNDS_MAX 8u
#define CALLERS_MAX 4u

struct callers {
	uint32_t function[CALLERS_MAX]; /* different ones */
	uint32_t count;
};
struct finder {
	const struct profile *profile;
	const struct functions *functions;
	const uint8_t *is_skipped;
	bool *layers;
	bool *calls_others;      /* by function: on some stack it is beyond the first user's */
	struct callers *callers; /* by function */
};

static void add_caller(struct callers *callers, uint32_t function)
{
	for (uint32_t i = 0; i < callers->count; i++) {
		if (callers->function[i] == function)
			return;
	}
	if (callers->count < CALLERS_MAX)
		callers->function[callers->count++] = function;
}

/* A place in a stack, leaf first. */
struct place {
	uint32_t frame, call;
};

static struct place first_place(const struct finder *finder, const struct profile_stack *stack)
{
	return (struct place){0,
			      stack->frame_count ? finder->functions->first[stack->frame[0]] : 0};
}

static void step_outwards(const struct finder *finder, const struct profile_stack *stack,
			  struct place *place)
{
	place->call++;
	if (place->call < finder->functions->first[stack->frame[place->frame] + 1])
		return;
	place->frame++;
	if (place->frame < stack->frame_count)
		place->call = finder->functions->first[stack->frame[place->frame]];
}

static bool is_layer_at(const struct finder *finder, const struct place *place)
{
	return !finder->is_skipped[place->call] &&
	       finder->layers[finder->functions->call[place->call].function];
}

/* Notes who leads to the layers at the leaf, and which possible layers lie further out. */
static void look_at_stack(struct finder *finder, const struct profile_stack *stack)
{
	const struct function_call *call = finder->functions->call;
	struct place user = first_place(finder, stack);

	while (user.frame < stack->frame_count &&
	       (finder->is_skipped[user.call] || is_layer_at(finder, &user)))
		step_outwards(finder, stack, &user);
	if (user.frame == stack->frame_count)
		return;
	for (struct place at = first_place(finder, stack);
	     at.call != user.call || at.frame != user.frame; step_outwards(finder, stack, &at)) {
		if (is_layer_at(finder, &at))
			add_caller(&finder->callers[call[at.call].function],
				   call[user.call].function);
	}
	for (; user.frame < stack->frame_count; step_outwards(finder, stack, &user)) {
		if (is_layer_at(finder, &user))
			finder->calls_others[call[user.call].function] = true;
	}
}

/* True if a function is no layer any more. */
static bool drop(struct finder *finder, uint32_t min_callers)
{
	bool is_changed = false;

	for (size_t i = 0; i < finder->functions->count; i++) {
		if (finder->layers[i] &&
		    (finder->calls_others[i] || finder->callers[i].count < min_callers)) {
			finder->layers[i] = false;
			is_changed = true;
		}
		finder->callers[i].count = 0;
	}
	return is_changed;
}

int thin_layers_find(const struct profile *profile, const struct functions *functions,
		     const uint8_t *is_skipped, uint32_t min_callers, bool *layers)
{
	struct finder finder = {
		.profile = profile,
		.functions = functions,
		.is_skipped = is_skipped,
		.layers = layers,
		.calls_others = calloc(functions->count + 1, sizeof(*finder.calls_others)),
		.callers = calloc(functions->count + 1, sizeof(*finder.callers)),
	};
	const bool is_complete = finder.calls_others && finder.callers;
	bool is_changed = is_complete;

	for (uint32_t round = 0; round < ROUNDS_MAX && is_changed; round++) {
		for (size_t i = 0; i < profile->stack_count; i++)
			look_at_stack(&finder, &profile->stack[i]);
		is_changed = drop(&finder, min_callers);
	}
	free(finder.calls_others);
	free(finder.callers);
	return is_complete ? 0 : -ENOMEM;
}
