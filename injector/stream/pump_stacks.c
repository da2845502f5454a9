/* SPDX-License-Identifier: MIT */
/*
 * pump_stacks.c - the stacks that the payload has interned, each written to the stream before the
 * first record that has it: see pump_stack_number() in pump.h.
 *
 * The payload knows an interpreted method by its address, the stream by its name. If another method
 * is at that address later, the same id is another stack of the stream.
 */
#include <errno.h>
#include <stdlib.h>

#include "pump.h"

int pump_connect_stacks(struct pump *pump, const struct hi_stacks *stacks, uint64_t size)
{
	pump->stack_number = calloc(size / HI_STACK_UNIT, sizeof(*pump->stack_number));
	if (!pump->stack_number)
		return -ENOMEM;
	pump->stacks = stacks;
	pump->stacks_size = size;
	return 0;
}

void pump_close_stacks(struct pump *pump)
{
	free(pump->stack_number);
	free(pump->stack_names);
	code_out_close(&pump->code);
}

bool pump_copy_stack(const struct pump *pump, uint32_t id, struct hi_stream_stack *out_stack,
		     uint64_t frame[HI_FRAMES_MAX])
{
	const uint64_t offset = (uint64_t)id * HI_STACK_UNIT;
	if (offset < sizeof(*pump->stacks) || offset > pump->stacks_size - sizeof(struct hi_stack))
		return false;
	const uint64_t *word =
		(const uint64_t *)(const void *)((const uint8_t *)pump->stacks + offset);
	const uint64_t head = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	const uint32_t count = (uint32_t)head;
	if (!count || count > HI_FRAMES_MAX ||
	    count * sizeof(uint64_t) > pump->stacks_size - offset - sizeof(struct hi_stack))
		return false;
	for (uint32_t i = 0; i < count; i++)
		frame[i] = __atomic_load_n(&word[1 + i], __ATOMIC_RELAXED);
	*out_stack = (struct hi_stream_stack){.record.flags = (uint16_t)(head >> 32),
					      .frame_count = count};
	return true;
}

/* The round may have begun before that record was made. */
static void look_if_younger(struct pump *pump, uint64_t cycles)
{
	if (cycles > pump->code.methods.looked)
		code_out_look(&pump->code);
}

int pump_name_frames(struct pump *pump, struct code_out_frames frames)
{
	uint32_t names;
	look_if_younger(pump, frames.cycles);
	const int err = code_out_methods(&pump->code, frames, &names);
	return err ? err : code_out_frames(&pump->code, frames);
}

/* Is the number that the stack has the right one for sure? */
static bool is_known(const struct pump *pump, uint32_t id, uint64_t cycles)
{
	const struct hotspot_methods *methods = &pump->code.methods;
	return pump->stack_number[id] &&
	       (!pump->stack_names || !pump->stack_names[id].names ||
		(pump->stack_names[id].generation == methods->generation &&
		 cycles >= methods->sure));
}

/* Notes which methods a stack led through at that time. */
static int note_names(struct pump *pump, uint32_t id, uint64_t cycles, uint32_t names)
{
	const struct hotspot_methods *methods = &pump->code.methods;
	if (!names && !pump->stack_names)
		return 0;
	if (!pump->stack_names)
		pump->stack_names =
			calloc(pump->stacks_size / HI_STACK_UNIT, sizeof(*pump->stack_names));
	if (!pump->stack_names)
		return -ENOMEM;
	pump->stack_names[id].names = names;
	pump->stack_names[id].generation = cycles < methods->sure ? 0 : methods->generation;
	return 0;
}

void pump_hide_code(struct pump *pump, remote_addr lo, remote_addr hi)
{
	pump->hidden[pump->hidden_count++] = (struct hidden_code){lo, hi};
}

static bool is_hidden(const struct pump *pump, remote_addr pc)
{
	for (unsigned i = 0; i < pump->hidden_count; i++)
		if (pc >= pump->hidden[i].lo && pc < pump->hidden[i].hi)
			return true;
	return false;
}

/* Returns how many frames are left. The first, which has called the allocator, always is. */
static uint32_t drop_hidden(const struct pump *pump, uint64_t *frame, uint32_t count)
{
	uint32_t left = count ? 1 : 0;

	for (uint32_t i = 1; i < count; i++)
		if (!is_hidden(pump, frame[i]))
			frame[left++] = frame[i];
	return left;
}

static int send_stack(struct pump *pump, uint32_t id, struct hi_stream_stack *stack,
		      struct code_out_frames frames)
{
	int err = code_out_frames(&pump->code, frames);
	if (err)
		return err;
	stack->stack = pump->stack_number[id] = ++pump->last_stack;
	pump->is_code_missing |= stack->record.flags != HI_END_COMPLETE;
	stack->record.flags = stack_end_classify(&pump->stack_ends, pump->memory,
						 stack->record.flags, frames.frame, frames.count);
	stack->frame_count = drop_hidden(pump, frames.frame, frames.count);
	const struct stream_part part = {frames.frame, stack->frame_count * sizeof(*frames.frame)};
	return stream_out_record(pump->out, HI_STREAM_STACK, stack, sizeof(*stack), &part, 1);
}

int pump_stack_number(struct pump *pump, uint32_t id, uint64_t cycles, uint32_t *out_number)
{
	struct hi_stream_stack stack;
	uint64_t frame[HI_FRAMES_MAX];
	uint32_t names = 0;
	*out_number = pump->stack_number[id];
	look_if_younger(pump, cycles);
	if (is_known(pump, id, cycles) || !pump_copy_stack(pump, id, &stack, frame))
		return 0;
	const struct code_out_frames frames = {frame, stack.frame_count, cycles, pump_now_ns(pump)};
	int err = code_out_methods(&pump->code, frames, &names);
	const bool is_same = *out_number && names == pump->stack_names[id].names;
	if (!err)
		err = note_names(pump, id, cycles, names);
	if (!err && !is_same)
		err = send_stack(pump, id, &stack, frames);
	*out_number = pump->stack_number[id];
	return err;
}
