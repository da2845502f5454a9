/* SPDX-License-Identifier: MIT */
/*
 * stack.c - the walk. stack_capture is the loop, step_* leave one frame, find_* read what the injector publishes.
 *
 * The published lists may change while they are read, if this thread loses its CPU for long enough; so what was found is copied, then the list's generation is
 * looked at again, and the copy is used only if that is unchanged. Rows themselves never move or change.
 *
 * WHAT MAY BE READ. The list of regions is always older than the process: of a region that was one mapping then, the program may have unmapped a part since. So a region only says
 * where to stop, and what is read is alive for another reason:
 *  - What a row leads to (the return address, a saved register) is what the program itself reads when it returns through the frame.
 *  - From sp to the end of the thread's own stack (its control block, or the end of the main stack) all is mapped for as long as the thread runs on it.
 *  - The page that holds the last return address is mapped to its end.
 * A row is followed anywhere within the region. A guess (the frame pointer of a function without rows), and whatever comes after it, is followed within the thread's own stack, and on any
 * other stack within that page. Where no region is known, nothing is guessed, and nothing read beyond that page.
 */
#include "stack.h"

#include <stdbool.h>

#include "arch/arch.h"

#define RETURN_ADDRESS_BELOW_CFA 8
#define NO_END ((enum hi_stack_end) - 1)

struct registers {
	uint64_t pc, sp, bp;
};

struct walk {
	const struct hi_state *state;
	uint64_t thread;
	struct registers at;
	uint64_t top;                   /* readable: [at.sp, top) */
	struct hi_unwind_module module; /* the last one found: neighbouring frames often share it */
	uint64_t unknown_sp;            /* not 0: lies on this stack, of which no region is known */
	bool is_own;                    /* the thread's own stack, not one that a program may unmap in part */
	bool is_guess;                  /* how we got here */
	bool is_pc_exact;               /* at.pc was interrupted; otherwise it is a return address, and the call lies before it */
};

static const struct hi_control *control_of(const struct walk *walk)
{
	return (const struct hi_control *)walk->state->control;
}

static bool is_unchanged(const uint64_t *generation, uint64_t before)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(before & 1) && __atomic_load_n(generation, __ATOMIC_RELAXED) == before;
}

/* Finds the region that holds at.sp. */
static bool find_region(struct walk *walk)
{
	const struct hi_control *control = control_of(walk);
	const struct hi_regions *regions = &control->regions[__atomic_load_n(&control->current_regions, __ATOMIC_ACQUIRE) & 1];
	uint64_t generation = __atomic_load_n(&regions->generation, __ATOMIC_ACQUIRE);
	uint32_t low = 0, high = regions->count < HI_REGION_CAPACITY ? regions->count : HI_REGION_CAPACITY;
	uint64_t sp = walk->at.sp, lo, hi;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (regions->range[middle].hi <= sp)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == HI_REGION_CAPACITY)
		return false;
	lo = regions->range[low].lo;
	hi = regions->range[low].hi;
	if (low >= regions->count || !is_unchanged(&regions->generation, generation) || sp < lo || sp >= hi)
		return false;
	/* A thread's control block lies at the upper end of its stack. This keeps us right where a region's end has become stale. */
	walk->top = sp < walk->thread && walk->thread < hi ? walk->thread : hi;
	return true;
}

static bool is_table_inside(const struct hi_unwind_module *module, uint64_t tables_size)
{
	return module->rows <= tables_size && module->row_count <= (tables_size - module->rows) / sizeof(struct hi_unwind_row) &&
	       module->index <= tables_size && module->index_count <= (tables_size - module->index) / sizeof(uint32_t);
}

static bool find_module(struct walk *walk, uint64_t pc)
{
	const struct hi_control *control = control_of(walk);
	const struct hi_unwind_directory *directory = &control->directory[__atomic_load_n(&control->current_directory, __ATOMIC_ACQUIRE) & 1];
	uint64_t generation = __atomic_load_n(&directory->generation, __ATOMIC_ACQUIRE);
	uint32_t low = 0, high = directory->count < HI_MODULE_CAPACITY ? directory->count : HI_MODULE_CAPACITY;

	if (walk->module.lo <= pc && pc < walk->module.hi)
		return true;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (directory->module[middle].hi <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == HI_MODULE_CAPACITY || low >= directory->count)
		return false;
	walk->module = directory->module[low];
	if (is_unchanged(&directory->generation, generation) && is_table_inside(&walk->module, walk->state->tables_size) && walk->module.lo <= pc &&
	    pc < walk->module.hi)
		return true;
	walk->module.hi = 0;
	return false;
}

/* The row that covers pc, or NULL. */
__attribute__((noinline)) static const struct hi_unwind_row *find_row(struct walk *walk, uint64_t pc)
{
	const struct hi_unwind_row *row;
	const uint32_t *index;
	uint64_t offset, place;
	uint32_t low, high;

	if (!find_module(walk, pc))
		return NULL;
	row = (const struct hi_unwind_row *)(walk->state->tables + walk->module.rows);
	index = (const uint32_t *)(walk->state->tables + walk->module.index);
	offset = pc - walk->module.lo;
	place = offset / HI_INDEX_BYTES;
	if (place + 1 >= walk->module.index_count || index[place + 1] >= walk->module.row_count)
		return NULL;
	low = index[place];
	high = index[place + 1];
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (row[middle].pc <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low < walk->module.row_count && row[low].pc <= offset ? &row[low] : NULL;
}

/* The end of the page up to which a stack is surely mapped: the word below sp is the return address, or was pushed over by a signal. */
static uint64_t sure_end(const struct walk *walk)
{
	return ((walk->at.sp - RETURN_ADDRESS_BELOW_CFA) | (HI_PAGE_BYTES - 1)) + 1;
}

/* at.sp lies on a stack that we have not been on. False: it is not known. */
static bool enter_stack(struct walk *walk)
{
	bool is_known = find_region(walk);

	walk->unknown_sp = is_known ? 0 : walk->at.sp;
	if (!is_known)
		walk->top = sure_end(walk);
	walk->is_own = is_known && (walk->top == walk->thread || walk->top == control_of(walk)->main_stack);
	return is_known;
}

/* Bounds are checked here, by what the region list says; an instrumented build of the tests would add its own idea of a stack. */
__attribute__((no_sanitize("address"))) static bool read_word(const struct walk *walk, uint64_t address, uint64_t *out_word)
{
	if (address & 7 || address < walk->at.sp || address >= walk->top || walk->top - address < 8)
		return false;
	*out_word = *(const uint64_t *)address;
	return true;
}

/* Leaves a frame whose CFA is known. What is read lies at or above sp, so sp rises by a word at least, and the walk ends. */
static enum hi_stack_end step_to_cfa(struct walk *walk, uint64_t cfa, int bp_slot)
{
	struct registers caller = {.sp = cfa, .bp = walk->at.bp};

	if (cfa > walk->top || !read_word(walk, cfa - RETURN_ADDRESS_BELOW_CFA, &caller.pc))
		return HI_END_BAD_FRAME;
	if (bp_slot && !read_word(walk, cfa + 8 * (int64_t)bp_slot, &caller.bp))
		return HI_END_BAD_FRAME;
	walk->at = caller;
	walk->is_pc_exact = false;
	return caller.pc ? NO_END : HI_END_COMPLETE;
}

/* No row: take bp for a frame pointer, with the caller's bp and the return address at it. The outermost frame has neither; one of them alone is chance. */
static enum hi_stack_end step_by_frame_pointer(struct walk *walk)
{
	enum hi_stack_end end, lost = walk->is_guess ? HI_END_LOST : HI_END_NO_ROW;

	if (walk->unknown_sp)
		return lost;
	if (!walk->is_own && !walk->is_guess && walk->top > sure_end(walk))
		walk->top = sure_end(walk);
	walk->is_guess = true;
	end = step_to_cfa(walk, walk->at.bp + 16, -2);
	if (end == HI_END_BAD_FRAME || (end == HI_END_COMPLETE && walk->at.bp))
		return lost;
	return end;
}

/* The frame of a signal handler's caller: the registers that the signal interrupted, perhaps on another stack. */
static enum hi_stack_end step_out_of_signal(struct walk *walk)
{
	struct arch_signal_frame place = arch_signal_frame();
	uint64_t sp = walk->at.sp;
	struct registers interrupted;

	if (!read_word(walk, sp + place.pc, &interrupted.pc) || !read_word(walk, sp + place.sp, &interrupted.sp) ||
	    !read_word(walk, sp + place.bp, &interrupted.bp) || interrupted.sp & 7)
		return HI_END_BAD_FRAME;
	walk->at = interrupted;
	walk->is_pc_exact = true;
	if (!enter_stack(walk))
		return HI_END_REGION;
	/* After a guess this may be the remains of a signal long past, whose stack is no more. */
	return walk->is_guess && !walk->is_own ? HI_END_BAD_FRAME : NO_END;
}

/* A frame that realigned its stack: its CFA was spilled beside bp, and the caller's bp is what bp points at. */
static enum hi_stack_end step_out_of_realigned(struct walk *walk, const struct hi_unwind_row *row)
{
	uint64_t cfa, caller_bp;
	enum hi_stack_end end;

	if (!read_word(walk, walk->at.bp + 8 * (int64_t)row->cfa, &cfa) || !read_word(walk, walk->at.bp, &caller_bp))
		return HI_END_BAD_FRAME;
	end = step_to_cfa(walk, cfa, 0);
	walk->at.bp = caller_bp;
	return end;
}

/* Not inlined: the stacks that we run on may be small, and this one is measured. */
__attribute__((noinline)) static enum hi_stack_end step(struct walk *walk)
{
	const struct hi_unwind_row *row = find_row(walk, walk->at.pc - !walk->is_pc_exact);

	switch (row ? row->kind : HI_UNWIND_NONE) {
	case HI_UNWIND_SP:
		return step_to_cfa(walk, walk->at.sp + 8 * (int64_t)row->cfa, row->bp_slot);
	case HI_UNWIND_BP:
		return step_to_cfa(walk, walk->at.bp + 8 * (int64_t)row->cfa, row->bp_slot);
	case HI_UNWIND_BP_DEREF:
		return step_out_of_realigned(walk, row);
	case HI_UNWIND_PLT:
		return step_to_cfa(walk, walk->at.sp + 8 + ((walk->at.pc & 15) >= (uint64_t)row->cfa ? 8 : 0), row->bp_slot);
	case HI_UNWIND_END:
		return HI_END_COMPLETE;
	case HI_UNWIND_SIGNAL:
		return step_out_of_signal(walk);
	default:
		return step_by_frame_pointer(walk);
	}
}

/* On a stack that is not known the walk has not come to an end of its own: the region is what is missing. */
static enum hi_stack_end reason_of(const struct walk *walk, enum hi_stack_end end)
{
	return walk->unknown_sp && end != HI_END_COMPLETE && end != HI_END_DEPTH ? HI_END_REGION : end;
}

struct stack_end stack_capture(const struct hi_state *state, uint64_t thread, const struct hook_call *call, uint64_t frame[HI_FRAMES_MAX])
{
	struct walk walk = {.state = state, .thread = thread, .at = {.pc = call->return_address, .sp = (uint64_t)(call + 1), .bp = call->bp}};
	enum hi_stack_end end = NO_END;
	uint32_t count = 0;

	enter_stack(&walk);
	frame[count++] = walk.at.pc;
	while (end == NO_END) {
		end = step(&walk);
		/* Out of a signal into an unknown region: the interrupted pc is a good frame, only what is above it is out of reach. */
		if (end != NO_END && !(end == HI_END_REGION && walk.is_pc_exact))
			break;
		if (count == HI_FRAMES_MAX) {
			end = HI_END_DEPTH;
			break;
		}
		frame[count++] = walk.at.pc;
	}
	return (struct stack_end){.count = count, .reason = (uint16_t)reason_of(&walk, end), .stack_pointer = walk.unknown_sp};
}
