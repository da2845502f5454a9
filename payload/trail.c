/* SPDX-License-Identifier: MIT */
/*
 * trail.c - see trail.h.
 *
 * WHY IT IS RIGHT. Let a walk be at a frame that is the trail's: same pc, same sp, same bp if anything depends on it, under the same directory. Same pc and
 * directory: the same rule. Same sp, or same bp where the rule goes by that: the same CFA, and the same slots of the return address and of a saved bp. If these
 * still hold what they held, the caller is the trail's next frame, with all that was asked of the first. And so on, up to the end, which was the end by the
 * rule of the last frame, or a return address of zero.
 *  - So a slot is read only once all before it are found to hold what they held. Then it is one to which a row leads, and the program itself will read it when
 *    it returns through the frame: alive by the first reason that stack.c gives, however old the trail. At the first difference nothing further is read, and
 *    the walk goes on by rules.
 *  - Which frames depend on their bp is worked out from the root, when a trail is learned: a frame whose rule goes by it does; and one that hands it on to a
 *    caller that does, unless it saved it, in a slot. Then it is that slot which has to hold what it held. A slot of which nobody's CFA depends may change.
 *  - Only what plain rules lead through is learned: after a signal, a guess or a CFA in memory more would have to be the same.
 *
 * THE ANCHOR is the first frame that a walk is compared with, so that one that shares but the outer half with the trail is not held up by the inner. It begins
 * at the leaf, and each frame that a walk passes by moves it outwards; every so often a new trail is learned.
 *
 * In a forked child all reads zero from one instruction to the next: what is read from is looked at first, and has then been loaded once.
 */
#include "trail.h"

#include "rules.h"

/* In hi_trail_frame.bp_at: the bp must be the same, but no slot has to be looked at for that. */
#define HANDED_ON 1u

/* Of so many walks that are offered one is learned; the first one soon. */
#define TRAIL_EVERY 256u
#define TRAIL_FIRST 16u

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint64_t mark_of(uint64_t stamp)
{
	return stamp << 1 | 1;
}

uint64_t trail_begin(const struct hi_trail *trail, uint64_t stamp, uint64_t top)
{
	uint32_t anchor = __atomic_load_n(&trail->anchor, __ATOMIC_RELAXED);

	if (trail->stamp != mark_of(stamp) || trail->top != top || anchor >= trail->count)
		return UINT64_MAX;
	return trail->frame[anchor].sp;
}

/* Looks at the frames from `from` on, and writes them down; the first that is not the same, or `count`. */
__attribute__((no_sanitize("address"))) static uint32_t compare(const struct hi_trail *trail, uint32_t from, uint32_t count, uint64_t *frame)
{
	uint32_t i;

	for (i = from; i < count; i++) {
		const struct hi_trail_frame *known = &trail->frame[i];
		const uint64_t sp = load(&known->sp), bp_at = load(&known->bp_at), pc = load(&known->pc);

		if (!sp || *(const uint64_t *)(sp - FRAMES_RETURN_BELOW_CFA) != pc)
			break;
		if (bp_at > HANDED_ON && *(const uint64_t *)bp_at != known->bp)
			break;
		*frame++ = pc;
	}
	return i;
}

/* Of the frames behind the anchor. The one that has pc 0 is none: it stands for a return address of zero. */
__attribute__((noinline)) static void hash_from(struct hi_trail *trail, uint32_t anchor)
{
	uint64_t hash = 0, power = 1;

	for (uint32_t i = anchor + 1; i < HI_FRAMES_MAX && i < trail->count && trail->frame[i].pc; i++) {
		hash = frames_hash(hash, trail->frame[i].pc);
		power *= FRAMES_HASH;
	}
	trail->hash = hash;
	trail->power = power;
	trail->hashed = anchor;
}

static bool is_same(const struct hi_trail_frame *known, const struct registers *at)
{
	return known->sp == at->sp && known->pc == at->pc && (!known->bp_at || known->bp == at->bp);
}

bool trail_follow(struct hi_trail *trail, const struct registers *at, struct trail_rest *rest)
{
	const uint32_t all = __atomic_load_n(&trail->count, __ATOMIC_RELAXED), count = all < HI_FRAMES_MAX ? all : HI_FRAMES_MAX;
	uint32_t i = __atomic_load_n(&trail->anchor, __ATOMIC_RELAXED), met;

	for (; i < count && load(&trail->frame[i].sp) <= at->sp; i++) {
		if (!is_same(&trail->frame[i], at) || count - i - 1 > rest->count)
			continue;
		met = compare(trail, i + 1, count, rest->frame);
		if (met == count)
			break;
		i = met;
	}
	__atomic_store_n(&trail->anchor, i, __ATOMIC_RELAXED);
	if (i == count || load(&trail->frame[i].sp) > at->sp) {
		rest->next_sp = i < count ? load(&trail->frame[i].sp) : UINT64_MAX;
		return false;
	}
	if (trail->hashed != i)
		hash_from(trail, i);
	rest->hash = trail->hash;
	rest->power = trail->power;
	rest->count = count - i - 1;
	if (rest->count && !rest->frame[rest->count - 1])
		rest->count--;
	return true;
}

/*
 * Writes down the frames as the rules lead through them, in bp_at the slot from which bp was read, and HANDED_ON if the frame's rule goes by it. How many; 0 if
 * that is no trail.
 */
__attribute__((no_sanitize("address"))) static uint32_t write_down(struct hi_trail *trail, const struct hi_state *state, struct registers at)
{
	const uint64_t stamp = trail->wanted >> 1, top = trail->top;
	uint64_t bp_at = 0;

	for (uint32_t count = 0; count < HI_FRAMES_MAX;) {
		struct hi_trail_frame *frame = &trail->frame[count++];
		struct rule rule = rules_find(state, stamp, at.pc - 1);
		bool is_by_bp = rule.kind == HI_UNWIND_BP;
		uint64_t cfa = (is_by_bp ? at.bp : at.sp) + 8 * (uint64_t)(int64_t)rule.cfa, slot = cfa + 8 * (uint64_t)(int64_t)rule.bp_slot;

		*frame = (struct hi_trail_frame){.pc = at.pc, .sp = at.sp, .bp = at.bp, .bp_at = at.pc && is_by_bp ? bp_at | HANDED_ON : bp_at};
		if (!at.pc || rule.kind == HI_UNWIND_END)
			return count;
		if (!rules_is_plain(rule) || cfa & 7 || cfa <= at.sp || cfa > top || slot < at.sp)
			return 0;
		bp_at = rule.bp_slot ? slot : 0;
		at = (struct registers){.pc = *(const uint64_t *)(cfa - FRAMES_RETURN_BELOW_CFA), .sp = cfa, .bp = bp_at ? *(const uint64_t *)bp_at : at.bp};
	}
	return 0;
}

/* What was read from a slot need not be the same unless something depends on it. */
static void find_dependencies(struct hi_trail *trail, uint32_t count)
{
	bool is_needed = false; /* by the frames behind */

	while (count--) {
		uint64_t *bp_at = &trail->frame[count].bp_at, slot = *bp_at & ~(uint64_t)HANDED_ON;

		is_needed = is_needed || *bp_at & HANDED_ON;
		*bp_at = !is_needed ? 0 : slot ? slot : HANDED_ON;
		is_needed = is_needed && !slot;
	}
}

/* From here on until it is learned there is no trail: a visit may be left for good in the middle. */
void trail_offer(struct hi_trail *trail, uint64_t stamp, uint64_t top)
{
	if (trail->walks++ % TRAIL_EVERY != TRAIL_FIRST)
		return;
	trail->stamp = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	trail->wanted = mark_of(stamp);
	trail->top = top;
}

void trail_learn(struct hi_trail *trail, const struct hi_state *state, const struct registers *leaf)
{
	uint64_t wanted = trail->wanted;
	uint32_t count = write_down(trail, state, *leaf);

	trail->wanted = 0;
	if (!count)
		return;
	find_dependencies(trail, count);
	trail->count = count;
	trail->anchor = 0;
	hash_from(trail, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	trail->stamp = wanted;
}
