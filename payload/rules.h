/* SPDX-License-Identifier: MIT */
/*
 * rules.h - how to leave a frame, by its pc: the published unwind rows, and those of them that were needed of late (struct hi_rule_entry, hi_wire.h).
 *
 * An entry's value is the rule, in its lower half, and in its upper quarter where the entry of the caller lies, so that this can be fetched before the caller
 * is known: right where a function is called from one place. Where it was called from two, it says so instead: a guess that is wrong half of the time costs
 * more than to wait.
 */
#ifndef PAYLOAD_RULES_H
#define PAYLOAD_RULES_H

#include "published.h"

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

/* Where the caller's entry lies, in bytes from the first. */
#define RULES_NEXT_SHIFT 48
#define RULES_NEXT_UNKNOWN 0u
#define RULES_NEXT_VARIES 1u
_Static_assert(HI_RULES * sizeof(struct hi_rule_entry) <= 1u << 16 && sizeof(struct hi_rule_entry) > RULES_NEXT_VARIES, "it fits, and is told from these two");
#define RULES_NOT_PLAIN (1ull << 63) /* added to the mark of rules that are not plain; no pc has this bit */

/* Of the directory of unwind tables that is current now. */
static inline uint64_t rules_stamp(const struct hi_state *state)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	uint32_t index = __atomic_load_n(&control->current_directory, __ATOMIC_ACQUIRE) & 1;

	return published_stamp(__atomic_load_n(&control->directory[index].generation, __ATOMIC_ACQUIRE), index);
}

/* The rule at pc, by the directory with this stamp. Bounded, and costs a search only the first time. */
struct rule rules_find(const struct hi_state *state, uint64_t stamp, uint64_t pc);

/* For the frame of pc, which has a plain rule: where the entry of its caller lies. `next` as in the value of an entry. */
void rules_remember_next(const struct hi_state *state, uint64_t stamp, uint64_t pc, uint64_t next);

/*
 * Plain: the CFA is a number of words above sp or bp, and bp is in a slot of the frame or where it was; of what depends on sp alone, it is known that it lies
 * within the frame.
 */
static inline bool rules_is_plain(struct rule rule)
{
	if (rule.bp_slot > 0)
		return false;
	return rule.kind == HI_UNWIND_BP || (rule.kind == HI_UNWIND_SP && rule.cfa > 0 && rule.bp_slot + rule.cfa >= 0);
}

/* Of the value of an entry whose rule is plain. */
static inline int64_t rules_cfa(uint64_t value)
{
	return (int16_t)value;
}

static inline int64_t rules_bp_slot(uint64_t value)
{
	return (int32_t)value >> 24;
}

static inline bool rules_is_by_bp(uint64_t value)
{
	return value & (uint64_t)HI_UNWIND_BP << 16;
}
_Static_assert(offsetof(struct rule, kind) == 2 && offsetof(struct rule, bp_slot) == 3 && !(HI_UNWIND_BP & HI_UNWIND_SP), "as these read it");

static inline uint64_t rules_mark(uint64_t stamp)
{
	return stamp * HI_HASH << 1;
}

/* Of the entry for pc, in bytes from the first. */
static inline uint64_t rules_place(uint64_t pc)
{
	const unsigned shift = __builtin_ctz(sizeof(struct hi_rule_entry));

	return (pc << shift ^ pc >> (HI_RULE_BITS - shift)) & (uint64_t)(HI_RULES - 1) << shift;
}

/* pc + mark, if the two words of the entry belong together. */
static inline uint64_t rules_read(const struct hi_rule_entry *entry, uint64_t *out_value)
{
	uint64_t check = __atomic_load_n(&entry->check, __ATOMIC_RELAXED);

	*out_value = __atomic_load_n(&entry->value, __ATOMIC_RELAXED);
	return check ^ *out_value * HI_HASH;
}

#endif
