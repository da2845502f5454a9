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

/* How to leave a frame: a row, without its pc. HI_UNWIND_NONE where there is no row. */
struct rule {
	int16_t cfa;
	uint8_t kind;
	int8_t bp_slot;
};

union rule_bits {
	struct rule rule;
	uint32_t bits;
};
_Static_assert(sizeof(struct rule) == sizeof(uint32_t), "half of hi_rule_entry.value");
/* A quarter of it is where the entry lies that was needed next, in bytes from the first. */
#define NEXT_SHIFT 48
_Static_assert(HI_RULES * sizeof(struct hi_rule_entry) <= 1u << 16, "it fits");
#define NOT_PLAIN (1ull << 63) /* added to the mark of rules that pass_plain_frames() does not know; no pc has this bit */

struct walk {
	const struct hi_state *state;
	struct hi_scratch *scratch;
	uint64_t thread;
	uint64_t stamp; /* of the directory, when the walk began */
	struct registers at;
	uint64_t hash;               /* of the frames so far */
	uint64_t top;                /* readable: [at.sp, top) */
	uint64_t unknown_sp;         /* not 0: lies on this stack, of which no region is known */
	const uint64_t *interrupted; /* the registers that the last signal found, as it left them on its stack; NULL = there was none */
	bool is_own;                 /* the thread's own stack, not one that a program may unmap in part */
	bool is_guess;               /* how we got here */
	bool is_pc_exact;            /* at.pc was interrupted; otherwise it is a return address, and the call lies before it */
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

/* Tells one published list from any other. */
static uint64_t stamp_of(uint64_t generation, uint32_t index)
{
	return generation << 1 | index;
}

static bool is_being_written(uint64_t stamp)
{
	return stamp & 2;
}

static uint64_t directory_stamp(const struct hi_state *state)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	uint32_t index = __atomic_load_n(&control->current_directory, __ATOMIC_ACQUIRE) & 1;

	return stamp_of(__atomic_load_n(&control->directory[index].generation, __ATOMIC_ACQUIRE), index);
}

/* Searches the current list for the region that holds at.sp, and remembers it. */
__attribute__((noinline)) static bool search_region(const struct walk *walk)
{
	const struct hi_control *control = control_of(walk);
	uint32_t index = __atomic_load_n(&control->current_regions, __ATOMIC_ACQUIRE) & 1;
	const struct hi_regions *regions = &control->regions[index];
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
	walk->scratch->region_lo = lo;
	walk->scratch->region_hi = hi;
	walk->scratch->region_stamp = stamp_of(generation, index);
	return true;
}

/* Finds the region that holds at.sp: most often it is that of the last time. */
static bool find_region(struct walk *walk)
{
	const struct hi_control *control = control_of(walk);
	const struct hi_scratch *scratch = walk->scratch;
	uint32_t index = __atomic_load_n(&control->current_regions, __ATOMIC_ACQUIRE) & 1;
	uint64_t stamp = stamp_of(__atomic_load_n(&control->regions[index].generation, __ATOMIC_ACQUIRE), index);
	uint64_t sp = walk->at.sp, hi;
	bool is_known = scratch->region_stamp == stamp && scratch->region_lo <= sp && sp < scratch->region_hi;

	if (!is_known && !search_region(walk))
		return false;
	hi = __atomic_load_n(&scratch->region_hi, __ATOMIC_RELAXED);
	/* A thread's control block lies at the upper end of its stack. This keeps us right where a region's end has become stale. */
	walk->top = sp < walk->thread && walk->thread < hi ? walk->thread : hi;
	return true;
}

static bool is_table_inside(const struct hi_unwind_module *module, uint64_t tables_size)
{
	return module->rows <= tables_size && module->row_count <= (tables_size - module->rows) / sizeof(struct hi_unwind_row) &&
	       module->index <= tables_size && module->index_count <= (tables_size - module->index) / sizeof(uint32_t);
}

static bool find_module(const struct hi_state *state, uint64_t pc, struct hi_unwind_module *out_module)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	const struct hi_unwind_directory *directory = &control->directory[__atomic_load_n(&control->current_directory, __ATOMIC_ACQUIRE) & 1];
	uint64_t generation = __atomic_load_n(&directory->generation, __ATOMIC_ACQUIRE);
	uint32_t low = 0, high = directory->count < HI_MODULE_CAPACITY ? directory->count : HI_MODULE_CAPACITY;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (directory->module[middle].hi <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == HI_MODULE_CAPACITY || low >= directory->count)
		return false;
	*out_module = directory->module[low];
	return is_unchanged(&directory->generation, generation) && is_table_inside(out_module, state->tables_size) && out_module->lo <= pc &&
	       pc < out_module->hi;
}

/* The row that covers pc, or NULL. */
static inline const struct hi_unwind_row *find_row(const struct hi_state *state, uint64_t pc)
{
	struct hi_unwind_module module;
	const struct hi_unwind_row *row;
	const uint32_t *index;
	uint64_t offset, place;
	uint32_t low, high;

	if (!find_module(state, pc, &module))
		return NULL;
	row = (const struct hi_unwind_row *)(state->tables + module.rows);
	index = (const uint32_t *)(state->tables + module.index);
	offset = pc - module.lo;
	place = offset / HI_INDEX_BYTES;
	if (place + 1 >= module.index_count || index[place + 1] >= module.row_count)
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
	return low < module.row_count && row[low].pc <= offset ? &row[low] : NULL;
}

static uint64_t mark_of(uint64_t stamp)
{
	return stamp * HI_HASH << 1;
}

static inline uint64_t place_of(uint64_t pc)
{
	return ((pc ^ pc >> HI_RULE_BITS) & (HI_RULES - 1)) * sizeof(struct hi_rule_entry);
}

static inline struct hi_rule_entry *entry_at(const struct hi_state *state, uint64_t place)
{
	return (struct hi_rule_entry *)(state->rules + place);
}

/* pc + mark, if the two words of the entry belong together. */
static inline uint64_t read_entry(const struct hi_rule_entry *entry, uint64_t *out_value)
{
	uint64_t check = __atomic_load_n(&entry->check, __ATOMIC_RELAXED);

	*out_value = __atomic_load_n(&entry->value, __ATOMIC_RELAXED);
	return check ^ *out_value * HI_HASH;
}

static void remember(struct hi_rule_entry *entry, uint64_t pc_and_mark, uint64_t value)
{
	__atomic_store_n(&entry->value, value, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->check, pc_and_mark ^ value * HI_HASH, __ATOMIC_RELAXED);
}

/* One by which sp rises, and bp, if it was saved, lies within the frame. */
static bool is_plain(struct rule rule)
{
	return rule.kind == HI_UNWIND_SP && rule.cfa > 0 && rule.bp_slot <= 0 && rule.bp_slot + rule.cfa >= 0;
}

/* By search, and then remembered for all threads; but not what a directory said that is not the one the walk began with. */
__attribute__((noinline)) static struct rule search_rule(const struct walk *walk, uint64_t pc, struct hi_rule_entry *entry)
{
	const struct hi_unwind_row *row = find_row(walk->state, pc);
	union rule_bits found = {.bits = 0};

	if (row)
		found.rule = (struct rule){.cfa = row->cfa, .kind = row->kind, .bp_slot = row->bp_slot};
	if (!is_being_written(walk->stamp) && walk->stamp == directory_stamp(walk->state))
		remember(entry, pc + mark_of(walk->stamp) + (is_plain(found.rule) ? 0 : NOT_PLAIN), found.bits);
	return found.rule;
}

static inline struct rule find_rule(const struct walk *walk, uint64_t pc)
{
	struct hi_rule_entry *entry = entry_at(walk->state, place_of(pc));
	uint64_t value, found = read_entry(entry, &value);

	if (((found - pc - mark_of(walk->stamp)) & ~NOT_PLAIN) == 0)
		return (union rule_bits){.bits = (uint32_t)value}.rule;
	return search_rule(walk, pc, entry);
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
	const uint64_t slot = cfa + 8 * (int64_t)bp_slot;
	/* A function that was interrupted while it returns has its caller's bp back, but its rows go on to name the slot, which is below sp by now. */
	const bool is_back = walk->is_pc_exact && slot < walk->at.sp;

	if (cfa > walk->top || !read_word(walk, cfa - RETURN_ADDRESS_BELOW_CFA, &caller.pc))
		return HI_END_BAD_FRAME;
	if (bp_slot && !is_back && !read_word(walk, slot, &caller.bp))
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
	walk->interrupted = (const uint64_t *)sp;
	walk->is_pc_exact = true;
	if (!enter_stack(walk))
		return HI_END_REGION;
	/* After a guess this may be the remains of a signal long past, whose stack is no more. */
	return walk->is_guess && !walk->is_own ? HI_END_BAD_FRAME : NO_END;
}

/* A frame that realigned its stack: its CFA was spilled beside bp, and the caller's bp is what bp points at. */
static enum hi_stack_end step_out_of_realigned(struct walk *walk, struct rule rule)
{
	uint64_t cfa, caller_bp;
	enum hi_stack_end end;

	if (!read_word(walk, walk->at.bp + 8 * (int64_t)rule.cfa, &cfa) || !read_word(walk, walk->at.bp, &caller_bp))
		return HI_END_BAD_FRAME;
	end = step_to_cfa(walk, cfa, 0);
	walk->at.bp = caller_bp;
	return end;
}

/* The word below sp, which only the frame that a signal interrupted may have in use: the signal's own frame begins further down. */
__attribute__((no_sanitize("address"))) static bool read_below_sp(const struct walk *walk, uint64_t *out_word)
{
	const uint64_t address = walk->at.sp - 8;

	if (!walk->is_pc_exact || walk->is_guess || address & 7 || address < walk->scratch->region_lo)
		return false;
	*out_word = *(const uint64_t *)address;
	return true;
}

/* A frame that spilled its caller's sp. */
static enum hi_stack_end step_by_spilled(struct walk *walk, struct rule rule)
{
	const int64_t high = HI_UNWIND_HIGH(rule.cfa);
	uint64_t cfa;

	if (!(high == -1 ? read_below_sp(walk, &cfa) : read_word(walk, walk->at.sp + 8 * high, &cfa)))
		return HI_END_BAD_FRAME;
	return step_to_cfa(walk, cfa + 8 * (uint64_t)HI_UNWIND_LOW(rule.cfa), rule.bp_slot);
}

/* A frame whose CFA is in a register, or in memory by way of one: what was in it is known if a signal came in, of that frame or of what it called. */
static enum hi_stack_end step_by_register(struct walk *walk, struct rule rule)
{
	uint64_t cfa, low = HI_UNWIND_LOW(rule.cfa);

	/* As far as step_out_of_signal has looked whether it can be read. */
	if (!walk->interrupted || (rule.kind == HI_UNWIND_REGISTER && !walk->is_pc_exact) || low * 8 > arch_signal_frame().pc)
		return step_by_frame_pointer(walk);
	cfa = walk->interrupted[low];
	if (rule.kind == HI_UNWIND_INDEXED && !read_word(walk, walk->at.sp + 8 + 8 * cfa, &cfa))
		return HI_END_BAD_FRAME;
	return step_to_cfa(walk, cfa + 8 * (uint64_t)HI_UNWIND_HIGH(rule.cfa), rule.bp_slot);
}

/* Not inlined: the stacks that we run on may be small, and this one is measured. */
__attribute__((noinline)) static enum hi_stack_end step(struct walk *walk, struct rule rule)
{
	switch (rule.kind) {
	case HI_UNWIND_SP:
		return step_to_cfa(walk, walk->at.sp + 8 * (int64_t)rule.cfa, rule.bp_slot);
	case HI_UNWIND_BP:
		return step_to_cfa(walk, walk->at.bp + 8 * (int64_t)rule.cfa, rule.bp_slot);
	case HI_UNWIND_BP_DEREF:
		return step_out_of_realigned(walk, rule);
	case HI_UNWIND_PLT:
		return step_to_cfa(walk, walk->at.sp + 8 + ((walk->at.pc & 15) >= (uint64_t)rule.cfa ? 8 : 0), rule.bp_slot);
	case HI_UNWIND_END:
		return HI_END_COMPLETE;
	case HI_UNWIND_SIGNAL:
		return step_out_of_signal(walk);
	case HI_UNWIND_SPILLED:
		return step_by_spilled(walk, rule);
	case HI_UNWIND_REGISTER:
	case HI_UNWIND_SCRATCH:
	case HI_UNWIND_INDEXED:
		return step_by_register(walk, rule);
	default:
		return step_by_frame_pointer(walk);
	}
}

/* On a stack that is not known the walk has not come to an end of its own: the region is what is missing. */
static enum hi_stack_end reason_of(const struct walk *walk, enum hi_stack_end end)
{
	return walk->unknown_sp && end != HI_END_COMPLETE && end != HI_END_DEPTH ? HI_END_REGION : end;
}

/* From the frame of pc one came to that whose rule lies at `next`, for the first time. */
__attribute__((noinline)) static void remember_next(const struct hi_state *state, uint64_t pc, uint64_t mark, uint64_t next)
{
	struct hi_rule_entry *entry = entry_at(state, place_of(pc));
	uint64_t value;

	if (read_entry(entry, &value) == pc + mark && !(value >> NEXT_SHIFT))
		remember(entry, pc + mark, value | next << NEXT_SHIFT);
}

/*
 * The frames that step() would leave by a remembered plain rule and nothing out of the ordinary, which most are, at a fraction of its cost. Stops at the first other one, with the
 * walk as it was before that. Same bounds: what is read lies in [sp, top) of the frame, and sp rises.
 *
 * From one frame to the next there are two loads, each of which waits for the one before: the rule, and the return address by which the next rule is found. So an entry says which
 * one came next when it was first used. The next rule is fetched from there, before the return address is known, and is the right one where a function is called from one place.
 */
__attribute__((noinline, no_sanitize("address"))) static uint32_t pass_plain_frames(struct walk *walk, uint64_t *frame, uint32_t count)
{
	const struct hi_state *state = walk->state;
	uint64_t pc = walk->at.pc, sp = walk->at.sp, top = walk->top, hash = walk->hash, mark = mark_of(walk->stamp);
	uint64_t place = place_of(pc - 1), value, cfa, caller;
	const uint64_t *bp = &walk->at.bp;
	struct rule rule;

	if (walk->is_pc_exact || sp & 7)
		return count;
	for (; count < HI_FRAMES_MAX; pc = caller) {
		if (read_entry(entry_at(state, place), &value) != pc - 1 + mark) {
			bool is_unknown = !place && count > 1;

			place = place_of(pc - 1);
			if (read_entry(entry_at(state, place), &value) != pc - 1 + mark)
				break;
			if (is_unknown)
				remember_next(state, frame[count - 2] - 1, mark, place);
		}
		rule = (union rule_bits){.bits = (uint32_t)value}.rule;
		cfa = sp + 8 * (int64_t)rule.cfa;
		if (cfa > top)
			break;
		caller = *(const uint64_t *)(cfa - RETURN_ADDRESS_BELOW_CFA);
		if (!caller)
			break;
		bp = rule.bp_slot ? (const uint64_t *)(cfa + 8 * (int64_t)rule.bp_slot) : bp;
		sp = cfa;
		frame[count++] = caller;
		hash = stack_hash(hash, caller);
		place = value >> NEXT_SHIFT;
	}
	walk->hash = hash;
	walk->at = (struct registers){.pc = pc, .sp = sp, .bp = *bp};
	return count;
}

struct stack_end stack_capture(const struct hi_state *state, uint64_t thread, const struct hook_call *call, struct hi_scratch *scratch)
{
	struct walk walk = {
		.state = state,
		.scratch = scratch,
		.thread = thread,
		.stamp = directory_stamp(state),
		.at = {.pc = call->return_address, .sp = (uint64_t)(call + 1), .bp = call->bp},
	};
	uint64_t *frame = scratch->frame;
	enum hi_stack_end end = NO_END;
	uint32_t count = 0;

	enter_stack(&walk);
	frame[count++] = walk.at.pc;
	walk.hash = stack_hash(0, walk.at.pc);
	while (end == NO_END) {
		count = pass_plain_frames(&walk, frame, count);
		end = step(&walk, find_rule(&walk, walk.at.pc - !walk.is_pc_exact));
		/* Out of a signal into an unknown region: the interrupted pc is a good frame, only what is above it is out of reach. */
		if (end != NO_END && !(end == HI_END_REGION && walk.is_pc_exact))
			break;
		if (count == HI_FRAMES_MAX) {
			end = HI_END_DEPTH;
			break;
		}
		frame[count++] = walk.at.pc;
		walk.hash = stack_hash(walk.hash, walk.at.pc);
	}
	scratch->unknown_sp = walk.unknown_sp;
	return (struct stack_end){.count = count, .reason = (uint16_t)reason_of(&walk, end), .hash = walk.hash};
}
