/* SPDX-License-Identifier: MIT */
/*
 * rules.h - how to leave a frame, by its pc: the published unwind rows, and a cache of those that
 * were used recently (struct hi_rule_entry, hi_wire.h).
 *
 * The lower half of an entry's value is the rule. The upper quarter is the position of the caller's
 * entry, so that this entry can be fetched before the caller is known. That is right for a function
 * that is called from one place. For a function that was called from two, the entry says so
 * instead: a guess that is wrong half of the time costs more than waiting.
 */
#ifndef PAYLOAD_RULES_H
#define PAYLOAD_RULES_H

#include "published.h"

/* How to leave a frame: an unwind row without its pc. kind is HI_UNWIND_NONE if there is no row. */
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

/*
 * The position of the caller's entry, in bytes from the first entry; or one of the two special
 * values.
 */
#define RULES_NEXT_SHIFT 48
#define RULES_NEXT_UNKNOWN 0u
#define RULES_NEXT_VARIES 1u
_Static_assert(HI_RULES * sizeof(struct hi_rule_entry) <= 1u << 16 &&
		       sizeof(struct hi_rule_entry) > RULES_NEXT_VARIES,
	       "it fits, and is told from these two");
/* added to the mark in `check` if the rule is not plain; no pc has this bit set */
#define RULES_NOT_PLAIN (1ull << 63)

/* The stamp of the directory of unwind tables that is current now. */
static inline uint64_t rules_stamp(const struct hi_state *state)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	uint32_t index = __atomic_load_n(&control->current_directory, __ATOMIC_ACQUIRE) & 1;

	return published_stamp(
		__atomic_load_n(&control->directory[index].generation, __ATOMIC_ACQUIRE), index);
}

/*
 * The rule at pc, from the directory with this stamp. Bounded. Only the first call for a pc costs a
 * search.
 */
struct rule rules_find(const struct hi_state *state, uint64_t stamp, uint64_t pc);

/*
 * Records, in the entry for pc, which must have a plain rule, the position of the caller's entry.
 * `next`: as in the value of an entry.
 */
void rules_remember_next(const struct hi_state *state, uint64_t stamp, uint64_t pc, uint64_t next);

/*
 * Whether a rule is plain: the CFA is a number of words above sp or bp, and the caller's bp is in a
 * slot of the frame or unchanged. The return address lies below the CFA. If the CFA depends on sp
 * alone, the slot is known to lie within the frame.
 */
static inline bool rules_is_plain(struct rule rule)
{
	if (rule.bp_slot > 0 || HI_ARCH_RETURN_SLOT(rule.bp_slot) >= 0)
		return false;
	return rule.kind == HI_UNWIND_BP ||
	       (rule.kind == HI_UNWIND_SP && rule.cfa > 0 && rule.bp_slot + rule.cfa >= 0);
}

/*
 * These three take the value of an entry whose rule is plain. CFA and slot are in words of 8 bytes.
 */
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
_Static_assert(offsetof(struct rule, kind) == 2 && offsetof(struct rule, bp_slot) == 3 &&
		       !(HI_UNWIND_BP & HI_UNWIND_SP),
	       "as these read it");

static inline uint64_t rules_mark(uint64_t stamp)
{
	return stamp * HI_HASH << 1;
}

/* The position of the entry for pc, in bytes from the first entry. */
static inline uint64_t rules_place(uint64_t pc)
{
	const unsigned shift = __builtin_ctz(sizeof(struct hi_rule_entry));

	return (pc << shift ^ pc >> (HI_RULE_BITS - shift)) & (uint64_t)(HI_RULES - 1) << shift;
}

/*
 * Returns pc + mark if the two words of the entry belong together, otherwise an arbitrary value.
 * *out_value: the entry's value.
 */
static inline uint64_t rules_read(const struct hi_rule_entry *entry, uint64_t *out_value)
{
	uint64_t check = __atomic_load_n(&entry->check, __ATOMIC_RELAXED);

	*out_value = __atomic_load_n(&entry->value, __ATOMIC_RELAXED);
	return check ^ *out_value * HI_HASH;
}

#endif
