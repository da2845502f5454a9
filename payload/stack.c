/* SPDX-License-Identifier: MIT */
/*
 * stack.c - the walk by rules. stack_walk is the loop, each step_* function leaves one frame.
 *
 * WHAT MAY BE READ. The list of regions is always older than the current state of the process. The
 * program may since have unmapped a part of a region that was one mapping then. So a region only
 * says where to stop, and there must be another reason why what the walk reads is mapped:
 *  - What a row leads to (the return address, a saved register) is what the program itself reads
 *    when it returns through the frame.
 *  - From sp to the end of the thread's own stack (its control block, or the end of the main stack)
 *    everything is mapped for as long as the thread runs on that stack.
 *  - The page that holds the last return address is mapped to its end.
 *
 * The walk follows a row anywhere within the region, but for rows of code that comes and goes:
 * those may be out of date, and hold on the thread's own stack only. It follows a guess (the frame
 * pointer of a function without rows), and everything after a guess, only within the thread's own
 * stack; on any other stack only within that page. If no region is known, the walk guesses nothing
 * and reads nothing beyond that page.
 */
#include "stack.h"

#include "link_step.h"
#include "published.h"
#include "regions.h"
#include "walk.h"

static const struct hi_control *control_of(const struct walk *walk)
{
	return (const struct hi_control *)walk->state->control;
}

/* Searches the current list for the region that holds at.sp, and remembers it. */
static bool search_region(const struct walk *walk)
{
	struct region region;

	if (!regions_find(walk->state, walk->at.sp, &region))
		return false;
	walk->scratch->region_lo = region.lo;
	walk->scratch->region_hi = region.hi;
	walk->scratch->region_stamp = region.stamp;
	return true;
}

/*
 * The end of the page up to which a stack is certainly mapped: the word below sp is the return
 * address or of the called frame, or a signal has pushed its frame over it.
 */
static uint64_t sure_end(const struct walk *walk)
{
	return ((walk->at.sp - sizeof(uint64_t)) | (HI_PAGE_BYTES - 1)) + 1;
}

/*
 * To be called when at.sp lies on a stack that is new to this walk. False: no region is known for
 * it.
 */
static bool enter_stack(struct walk *walk)
{
	bool is_known =
		regions_is_last(walk->state, walk->scratch, walk->at.sp) || search_region(walk);

	walk->unknown_sp = is_known ? 0 : walk->at.sp;
	walk->top =
		is_known ? regions_top(walk->scratch, walk->thread, walk->at.sp) : sure_end(walk);
	walk->is_own = is_known &&
		       (walk->top == walk->thread || walk->top == control_of(walk)->main_stack);
	/* in this order, as the bounds may grow meanwhile */
	walk->code_lo = __atomic_load_n(&control_of(walk)->code_lo, __ATOMIC_ACQUIRE);
	walk->code_bytes =
		walk->is_own ? 0 : __atomic_load_n(&control_of(walk)->code_bytes, __ATOMIC_RELAXED);
	return is_known;
}

static bool read_return_address(const struct walk *walk, uint64_t cfa, int bp_slot,
				uint64_t *out_pc)
{
	if (!read_word(walk, cfa + 8 * (int64_t)HI_ARCH_RETURN_SLOT(bp_slot), out_pc))
		return false;
	*out_pc = arch_plain_address(*out_pc);
	return true;
}

/*
 * Leaves a frame whose CFA is known. Everything that it reads lies at or above sp, so sp rises by a
 * word at least, and the walk terminates.
 */
static enum hi_stack_end step_to_cfa(struct walk *walk, uint64_t cfa, int bp_slot)
{
	struct registers caller = {.sp = cfa, .bp = walk->at.bp};
	const uint64_t slot = cfa + 8 * (int64_t)bp_slot;
	/*
	 * A function that was interrupted while it returns has already restored its caller's bp.
	 * But its rows still name the slot, which is below sp by then.
	 */
	const bool is_back = walk->is_pc_exact && slot < walk->at.sp;

	if (cfa > walk->top || !read_return_address(walk, cfa, bp_slot, &caller.pc))
		return HI_END_BAD_FRAME;
	if (bp_slot && !is_back && !read_word(walk, slot, &caller.bp))
		return HI_END_BAD_FRAME;
	return go_to(walk, &caller);
}

/*
 * There is no row, so bp is taken for a frame pointer: the caller's bp and the return address lie
 * there. In the outermost frame both are zero; if only one of them is zero, that is chance.
 */
static enum hi_stack_end step_by_frame_pointer(struct walk *walk)
{
	enum hi_stack_end end, lost = walk->is_guess ? HI_END_LOST : HI_END_NO_ROW;

	if (walk->unknown_sp)
		return lost;
	if (!walk->is_own && !walk->is_guess && walk->top > sure_end(walk))
		walk->top = sure_end(walk);
	walk->is_guess = true;
	end = step_to_cfa(walk, walk->at.bp + HI_ARCH_FRAME_CFA, HI_ARCH_FRAME_BP_SLOT);
	if (end == HI_END_BAD_FRAME || (end == HI_END_COMPLETE && walk->at.bp))
		return lost;
	return end;
}

/*
 * Continues from a signal trampoline with the registers that the signal interrupted, perhaps on
 * another stack.
 */
static enum hi_stack_end step_out_of_signal(struct walk *walk)
{
	struct arch_signal_frame place = arch_signal_frame();
	uint64_t sp = walk->at.sp;
	struct registers interrupted;

	if (!read_word(walk, sp + place.pc, &interrupted.pc) ||
	    !read_word(walk, sp + place.sp, &interrupted.sp) ||
	    !read_word(walk, sp + place.bp, &interrupted.bp) || interrupted.sp & 7)
		return HI_END_BAD_FRAME;
	walk->at = interrupted;
	walk->interrupted = (const uint64_t *)sp;
	walk->is_pc_exact = true;
	if (!enter_stack(walk))
		return HI_END_REGION;
	/*
	 * After a guess this may be the remains of a signal long past, whose stack no longer
	 * exists.
	 */
	return walk->is_guess && !walk->is_own ? HI_END_BAD_FRAME : NO_END;
}

/*
 * Leaves a frame that realigned its stack: its CFA was spilled next to bp, and bp points at the
 * caller's bp.
 */
static enum hi_stack_end step_out_of_realigned(struct walk *walk, struct rule rule)
{
	uint64_t cfa, caller_bp;
	enum hi_stack_end end;

	if (!read_word(walk, walk->at.bp + 8 * (int64_t)rule.cfa, &cfa) ||
	    !read_word(walk, walk->at.bp, &caller_bp))
		return HI_END_BAD_FRAME;
	end = step_to_cfa(walk, cfa, 0);
	walk->at.bp = caller_bp;
	return end;
}

/*
 * Replaces the pc of an interpreted frame by its method. Which bytecode the interpreter was at is
 * no part of a stack. Where a signal interrupted it, bp may still be the caller's.
 */
static void note_method(struct walk *walk, struct rule rule)
{
	uint64_t method;

	if (!rule.bp_slot || walk->is_pc_exact ||
	    !read_word(walk, walk->at.bp + 8 * (int64_t)rule.bp_slot, &method) || !method ||
	    method & 7 || method >> HI_FRAME_METHOD_SHIFT)
		return;
	walk->scratch->frame[walk->count - 1] = HI_FRAME_METHOD | method;
	walk->has_methods = true;
}

/*
 * Leaves a frame of an interpreter: it has a frame pointer, and its caller's sp was moved, so that
 * it is beside bp.
 */
static enum hi_stack_end step_to_saved_sp(struct walk *walk, struct rule rule)
{
	const uint64_t bp = walk->at.bp, cfa = bp + HI_ARCH_FRAME_CFA;
	struct registers caller;

	if (!read_word(walk, bp + 8 * (int64_t)rule.cfa, &caller.sp) ||
	    !read_word(walk, cfa + 8 * HI_ARCH_FRAME_BP_SLOT, &caller.bp) ||
	    !read_return_address(walk, cfa, HI_ARCH_FRAME_BP_SLOT, &caller.pc) || caller.sp & 7 ||
	    caller.sp < cfa || caller.sp > walk->top)
		return HI_END_BAD_FRAME;
	note_method(walk, rule);
	return go_to(walk, &caller);
}

/*
 * Reads the word below sp. Only a frame that a signal interrupted may have it in use: the frame of
 * the signal itself begins further down.
 */
__attribute__((no_sanitize("address"))) static bool read_below_sp(const struct walk *walk,
								  uint64_t *out_word)
{
	const uint64_t address = walk->at.sp - 8;

	if (!walk->is_pc_exact || walk->is_guess || address & 7 ||
	    address < walk->scratch->region_lo)
		return false;
	*out_word = *(const uint64_t *)address;
	return true;
}

/* Leaves a frame that spilled its caller's sp. */
static enum hi_stack_end step_by_spilled(struct walk *walk, struct rule rule)
{
	const int64_t high = HI_UNWIND_HIGH(rule.cfa);
	uint64_t cfa;

	if (!(high == -1 ? read_below_sp(walk, &cfa)
			 : read_word(walk, walk->at.sp + 8 * high, &cfa)))
		return HI_END_BAD_FRAME;
	return step_to_cfa(walk, cfa + 8 * (uint64_t)HI_UNWIND_LOW(rule.cfa), rule.bp_slot);
}

/*
 * Leaves a frame whose CFA is in a register, or in memory addressed by a register. The register's
 * value is known only if a signal interrupted that frame, or a function that it called.
 */
static enum hi_stack_end step_by_register(struct walk *walk, struct rule rule)
{
	uint64_t cfa, low = HI_UNWIND_LOW(rule.cfa);

	/* step_out_of_signal has checked that the ucontext can be read up to pc. */
	if (!walk->interrupted || (rule.kind == HI_UNWIND_REGISTER && !walk->is_pc_exact) ||
	    low * 8 > arch_signal_frame().pc)
		return step_by_frame_pointer(walk);
	cfa = walk->interrupted[low];
	if (rule.kind == HI_UNWIND_INDEXED && !read_word(walk, walk->at.sp + 8 + 8 * cfa, &cfa))
		return HI_END_BAD_FRAME;
	return step_to_cfa(walk, cfa + 8 * (uint64_t)HI_UNWIND_HIGH(rule.cfa), rule.bp_slot);
}

/*
 * Leaves a frame whose caller is on another stack. Who made the call reads the same words when it
 * has returned. The owner of a stack is in memory that is published as readable.
 */
__attribute__((no_sanitize("address"))) static enum hi_stack_end
step_to_other_stack(struct walk *walk, struct rule rule)
{
	uint64_t owner, distance, end;

	if (walk->is_guess ||
	    !read_word(walk, walk->at.sp + 8 * (uint64_t)HI_UNWIND_LOW(rule.cfa), &owner) ||
	    !read_word(walk, walk->at.sp + 8 * (uint64_t)HI_UNWIND_HIGH(rule.cfa), &distance))
		return HI_END_BAD_FRAME;
	walk->at.sp = owner;
	if (!enter_stack(walk))
		return HI_END_REGION;
	if (!read_word(walk, owner + 8, &end))
		return HI_END_BAD_FRAME;
	walk->at.sp = end - distance;
	if (walk->at.sp & 7 || !enter_stack(walk))
		return HI_END_REGION;
	if (HI_ARCH_LINK_REGISTER)
		return step_from_go(walk);
	return step_to_cfa(walk, walk->at.sp - 8 * (int64_t)HI_ARCH_RETURN_SLOT(0), rule.bp_slot);
}

/*
 * Not inlined: the payload may run on small stacks, and the stack use of this function is measured.
 */
__attribute__((noinline)) static enum hi_stack_end step(struct walk *walk, struct rule rule)
{
	enum hi_stack_end end;

	switch (rule.kind) {
	case HI_UNWIND_SP:
		/* a guess may have left sp unknown */
		if (HI_ARCH_LINK_REGISTER && walk->is_guess)
			return step_by_frame_pointer(walk);
		return step_to_cfa(walk, walk->at.sp + 8 * (int64_t)rule.cfa, rule.bp_slot);
	case HI_UNWIND_BP:
		return step_to_cfa(walk, walk->at.bp + 8 * (int64_t)rule.cfa, rule.bp_slot);
	case HI_UNWIND_BP_DEREF:
		return step_out_of_realigned(walk, rule);
	case HI_UNWIND_PLT:
		return step_to_cfa(walk, arch_plt_cfa(walk->at.sp, walk->at.pc, (uint64_t)rule.cfa),
				   rule.bp_slot);
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
	case HI_UNWIND_OTHER_STACK:
		return step_to_other_stack(walk, rule);
	case HI_UNWIND_BP_SP:
		return step_to_saved_sp(walk, rule);
	default:
		if (HI_ARCH_LINK_REGISTER && link_step(walk, rule, &end))
			return end;
		return step_by_frame_pointer(walk);
	}
}

/*
 * On a stack without a known region the walk has not come to an end of its own: the reason is the
 * missing region.
 */
static enum hi_stack_end reason_of(const struct walk *walk, enum hi_stack_end end)
{
	return walk->unknown_sp && end != HI_END_COMPLETE && end != HI_END_DEPTH ? HI_END_REGION
										 : end;
}

/*
 * Records, for the second to last frame of scratch->frame if there is one, the position of its
 * caller's entry.
 */
__attribute__((noinline)) static void remember_next(const struct walk *walk, const uint64_t *end,
						    uint64_t next)
{
	if (end - walk->scratch->frame > 1)
		rules_remember_next(walk->state, walk->stamp, end[-2] - 1, next);
}

/*
 * Passes the frames that step() would leave by a cached plain rule without any special case. Most
 * frames are like that, and this costs a fraction of step(). Stops at the first other frame, with
 * the walk as it was before that frame. The bounds are the same: everything that it reads lies in
 * [sp, top) of the frame, and sp rises.
 *
 * From one frame to the next there are two loads, and each waits for the one before: the rule, and
 * the return address by which the next rule is found. So an entry names the entry that comes next,
 * as long as it has always been the same one. That entry is fetched before the return address is
 * known.
 */
__attribute__((noinline, no_sanitize("address"))) static uint32_t
pass_plain_frames(struct walk *walk, uint32_t count)
{
	const uint64_t rules = walk->state->rules, mark = rules_mark(walk->stamp) - 1,
		       top = walk->top;
	uint64_t pc = walk->at.pc, sp = walk->at.sp, hash = walk->hash;
	uint64_t next = RULES_NEXT_VARIES, place, value, cfa, caller;
	uint64_t *end = walk->scratch->frame + count, *const full =
							      walk->scratch->frame + HI_FRAMES_MAX;
	const uint64_t *bp = &walk->at.bp;
	const uint64_t code_lo = walk->code_lo, code_bytes = walk->code_bytes;
	int64_t slot;

	if (walk->is_pc_exact || sp & 7 || (HI_ARCH_LINK_REGISTER && walk->is_guess))
		return count;
	for (; end < full; pc = caller) {
		if (pc - 1 - code_lo < code_bytes)
			break;
		place = next > RULES_NEXT_VARIES ? next : rules_place(pc - 1);
		if (rules_read((const struct hi_rule_entry *)(rules + place), &value) !=
		    pc + mark) {
			if (next <= RULES_NEXT_VARIES)
				break;
			next = RULES_NEXT_VARIES;
			remember_next(walk, end, next);
			place = rules_place(pc - 1);
			if (rules_read((const struct hi_rule_entry *)(rules + place), &value) !=
			    pc + mark)
				break;
		}
		if (next == RULES_NEXT_UNKNOWN)
			remember_next(walk, end, place);
		slot = rules_bp_slot(value);
		cfa = sp + 8 * (uint64_t)rules_cfa(value);
		if (rules_is_by_bp(value)) {
			cfa += *bp - sp;
			if (cfa & 7 || cfa <= sp || cfa + 8 * (uint64_t)slot < sp)
				break;
		}
		if (cfa > top)
			break;
		caller = arch_plain_address(*((const uint64_t *)cfa + HI_ARCH_RETURN_SLOT(slot)));
		if (!caller)
			break;
		bp = slot ? (const uint64_t *)cfa + slot : bp;
		sp = cfa;
		*end++ = caller;
		hash = frames_hash(hash, caller);
		next = value >> RULES_NEXT_SHIFT;
	}
	walk->hash = hash;
	walk->at = (struct registers){.pc = pc, .sp = sp, .bp = *bp};
	return (uint32_t)(end - walk->scratch->frame);
}

static uint64_t hash_of_all(const struct walk *walk)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < walk->count; i++)
		hash = frames_hash(hash, walk->scratch->frame[i]);
	return hash;
}

static struct rule rule_of(const struct walk *walk, uint64_t pc)
{
	return pc - walk->code_lo < walk->code_bytes ? (struct rule){.kind = HI_UNWIND_NONE}
						     : rules_find(walk->state, walk->stamp, pc);
}

struct stack_end stack_walk(const struct hi_state *state, uint64_t thread,
			    const struct hook_call *call, struct hi_scratch *scratch)
{
	struct walk walk = {
		.state = state,
		.scratch = scratch,
		.thread = thread,
		.stamp = rules_stamp(state),
		.at = {.pc = call->return_address, .sp = (uint64_t)(call + 1), .bp = call->bp},
		.is_plain = true,
	};
	enum hi_stack_end end = NO_END;

	enter_stack(&walk);
	scratch->frame[walk.count++] = walk.at.pc;
	walk.hash = frames_hash(0, walk.at.pc);
	while (end == NO_END) {
		struct rule rule;

		walk.count = pass_plain_frames(&walk, walk.count);
		rule = rule_of(&walk, walk.at.pc - !walk.is_pc_exact);
		walk.is_plain =
			walk.is_plain && (rules_is_plain(rule) || rule.kind == HI_UNWIND_END);
		end = step(&walk, rule);
		/*
		 * The walk has left a signal frame into an unknown region: the interrupted pc is a
		 * valid frame, and only what is above it cannot be reached.
		 */
		if (end != NO_END && !(end == HI_END_REGION && walk.is_pc_exact))
			break;
		if (walk.count == HI_FRAMES_MAX) {
			end = HI_END_DEPTH;
			break;
		}
		scratch->frame[walk.count++] = walk.at.pc;
		walk.hash = frames_hash(walk.hash, walk.at.pc);
	}
	scratch->unknown_sp = walk.unknown_sp;
	return (struct stack_end){
		.hash = walk.has_methods ? hash_of_all(&walk) : walk.hash,
		.count = (uint16_t)walk.count,
		.reason = (uint8_t)reason_of(&walk, end),
		.is_plain = walk.is_plain && end == HI_END_COMPLETE && !walk.unknown_sp,
	};
}
