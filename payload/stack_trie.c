/* SPDX-License-Identifier: MIT */
/*
 * stack_trie.c - see stack_trie.h. stack_trie_find() finds, stack_trie_add() adds.
 *
 * THE TREE. A node is a frame, together with all frames that it called on the way to the leaf: it has the return address, the rule by which that frame is
 * left, and links to the nodes of its callers. The first caller that was seen and the second are linked from the node; and as what is new of a stack is learned
 * at one go, the first most often lies right behind it: where that is so the walk does not wait for the link. The third and those that follow
 * (operator new has thousands), and all leaves, are in a hash table by (callee, pc), where the callee of a leaf is 0. The pc of a leaf has the mark of the
 * directory added, so that nothing is found that was learned by another directory. A node whose rule says that the stack ends there bears the stack's id. So
 * does one with pc 0: it stands for a return address of zero.
 *
 * WHY IT IS RIGHT. No address on a stack is remembered, but which rule goes with a pc, and which id with a path of pcs. So a walk along the tree works out
 * each CFA from the sp and the bp that it has come to, asks of it what the walk by rules asks of it (stack.c), and reads the return address there; and it
 * goes on only to a node that has this return address, and so the rule of the frame that is really there. At the first difference it has failed, and the walk
 * by rules begins anew. It reads nothing but what that would read, and what may be read is what stack.c says: no other reason is needed.
 *  - Where the bp of a frame lies follows from the path as well: in the slot of the frame nearest to it that has saved it, or in the struct hook_call if none
 *    has; and that is so many words below its sp, as long as all frames in between are left by sp. If one is not, the path is not learned any further.
 *
 * LEARNING. Nodes are written whole, then linked in by compare-and-swap, and do not move or change from then on, but for their links, VARIES and NEXT. They
 * are not given back: once they are used up, nothing more is learned. A visit that is left for good on the way has wasted a node, and so has the slower one of
 * two that learn the same. A link leads to a node that was not linked in before, so that there is no way around in a circle; and the walk's sp rises with each
 * frame.
 *
 * In a forked child all reads zero from one instruction to the next, but for what lies in a register by then. A node's rule is one word, and is read whole; a
 * rule of zero leads nowhere; a link of zero leads to the first place, where there is no node and all reads zero at any time; an id of zero is none.
 */
#include "stack_trie.h"

#include "regions.h"
#include "rules.h"

/* hi_walk_node.kind: how it is left, */
#define BY_SP 1u
#define BY_BP 2u
#define END 4u
/* and, added to that, whether there may be a second caller, and whether the node of the first lies right behind this one. */
#define VARIES 8u
#define NEXT 16u

/* Where bp is, in words above sp: in the leaf it is in its struct hook_call, which lies right below; behind some frames it is nowhere. */
#define BP_OF_LEAF ((int)(offsetof(struct hook_call, bp) - sizeof(struct hook_call)) / 8)
#define BP_LOST INT16_MIN

#define PROBES 8u

/* What a link leads to; that of 0 is none, and reads zero. */
static inline struct hi_walk_node *node_at(uint64_t nodes, uint32_t place)
{
	return (struct hi_walk_node *)(nodes + place);
}

static inline uint32_t place_of(uint64_t nodes, const struct hi_walk_node *node)
{
	return (uint32_t)((uint64_t)node - nodes);
}

static inline uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint64_t load_pc(const struct hi_walk_node *node)
{
	return __atomic_load_n(&node->pc, __ATOMIC_RELAXED);
}

static inline struct hi_walk_node load_rule(const struct hi_walk_node *node)
{
	return (struct hi_walk_node){.rule = __atomic_load_n(&node->rule, __ATOMIC_RELAXED)};
}

static inline bool is_caller(const struct hi_walk_node *node, uint32_t callee, uint64_t pc)
{
	return load_pc(node) == pc && load(&node->callee) == callee;
}

/* The link to this caller may be any of PROBES, from this one on: half a cache line. */
static inline uint32_t *edges_of(const struct hi_state *state, uint32_t callee, uint64_t pc)
{
	const uint64_t home = (pc + (uint64_t)callee * HI_HASH_GATE) * HI_HASH >> (64 - state->walk_bits);

	return (uint32_t *)state->walk_edges + (home & ~(uint64_t)(PROBES - 1));
}

/* The node of this caller by the hash table, or none. */
static inline const struct hi_walk_node *find_edge(const struct hi_state *state, uint64_t nodes, uint32_t callee, uint64_t pc)
{
	const uint32_t *edge = edges_of(state, callee, pc), *const end = edge + PROBES;

	for (; edge < end; edge++) {
		const uint32_t place = load(edge);

		if (!place)
			break;
		if (is_caller(node_at(nodes, place), callee, pc))
			return node_at(nodes, place);
	}
	return node_at(nodes, 0);
}

/* Of the two callers that lead on from a node, without a branch: where they come in turn nobody could foresee which way that goes. */
static inline const struct hi_walk_node *choose(uint64_t nodes, const struct hi_walk_node *node, uint64_t pc)
{
	const struct hi_walk_node *first = node_at(nodes, load(&node->caller)), *second = node_at(nodes, load(&first->other));

	return load_pc(first) == pc ? first : second;
}

/* The CFA of a frame that is left by bp; beyond everything if it is not, or cannot be. */
__attribute__((no_sanitize("address"))) static inline uint64_t cfa_by_bp(struct hi_walk_node rule, uint64_t sp)
{
	uint64_t cfa;

	if (!(rule.kind & BY_BP))
		return UINT64_MAX;
	cfa = *(const uint64_t *)(sp + 8 * (uint64_t)rule.bp_at) + (uint64_t)rule.cfa;
	return cfa & 7 || cfa <= sp || cfa + 8 * (uint64_t)rule.bp_slot < sp ? UINT64_MAX : cfa;
}

/* From the node of a leaf. */
__attribute__((no_sanitize("address"))) static inline uint32_t follow(const struct hi_state *state, const struct hi_walk_node *node, uint64_t sp, uint64_t top)
{
	const uint64_t nodes = state->walk_nodes;
	const struct hi_walk_node *callee;
	struct hi_walk_node rule;
	uint64_t pc;

	for (;;) {
		while ((rule = load_rule(node)).kind == (BY_SP | NEXT)) {
			sp += (uint64_t)rule.cfa;
			node++;
			if (sp > top || load_pc(node) != *(const uint64_t *)(sp - FRAMES_RETURN_BELOW_CFA))
				return 0;
		}
		if (__builtin_expect(rule.kind == END, 0))
			return load(&node->stack);
		if (__builtin_expect(rule.kind & BY_SP, 1))
			sp += (uint64_t)rule.cfa;
		else
			sp = cfa_by_bp(rule, sp);
		if (sp > top)
			return 0;
		pc = *(const uint64_t *)(sp - FRAMES_RETURN_BELOW_CFA);
		callee = node;
		node = choose(nodes, node, pc);
		if (__builtin_expect(load_pc(node) != pc, 0))
			node = find_edge(state, nodes, place_of(nodes, callee), pc);
	}
}

uint32_t stack_trie_find(const struct hi_state *state, uint64_t thread, const struct hook_call *call, const struct hi_scratch *scratch)
{
	const uint64_t sp = (uint64_t)(call + 1);

	if (!state->walk_bits || sp & 7 || !regions_is_last(state, scratch, sp))
		return 0;
	return follow(state, find_edge(state, state->walk_nodes, 0, call->return_address + rules_mark(rules_stamp(state))), sp,
		      regions_top(scratch, thread, sp));
}

/* The link to the node of this caller, or where it is to be. NULL: there is no room for it. */
static uint32_t *find_link(const struct hi_state *state, uint32_t callee, uint64_t pc)
{
	const uint64_t nodes = state->walk_nodes;
	uint32_t *link = callee ? &node_at(nodes, callee)->caller : NULL, place;

	for (unsigned i = 0; link && i < 2; i++) {
		place = load(link);
		if (!place || load_pc(node_at(nodes, place)) == pc)
			return link;
		link = &node_at(nodes, place)->other;
	}
	link = edges_of(state, callee, pc);
	for (unsigned i = 0; i < PROBES; i++, link++) {
		place = load(link);
		if (!place || is_caller(node_at(nodes, place), callee, pc))
			return link;
	}
	return NULL;
}

/* Links a new node in; its place. 0: there are no more, or somebody else was faster. */
static uint32_t add(struct hi_state *state, uint32_t *link, const struct hi_walk_node *node)
{
	const uint64_t count = 1ull << state->walk_bits;
	uint32_t none = 0, place;
	uint64_t number;

	if (__atomic_load_n(&state->walk_nodes_used, __ATOMIC_RELAXED) >= count - 1)
		return 0;
	number = __atomic_add_fetch(&state->walk_nodes_used, 1, __ATOMIC_RELAXED);
	if (number >= count)
		return 0;
	place = (uint32_t)(number * sizeof(*node));
	*node_at(state->walk_nodes, place) = *node;
	return __atomic_compare_exchange_n(link, &none, place, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED) ? place : 0;
}

static uint8_t kind_of(struct rule rule)
{
	if (rule.kind == HI_UNWIND_END)
		return END;
	if (!rules_is_plain(rule))
		return 0;
	return rule.kind == HI_UNWIND_BP ? BY_BP : BY_SP;
}

/* Where the caller of this frame finds its bp: it was saved; or nobody has touched it, and it is so much further down from there. */
static int32_t bp_behind(struct rule rule, int32_t bp_at)
{
	if (rule.bp_slot)
		return rule.bp_slot;
	return rule.kind == HI_UNWIND_BP || bp_at - rule.cfa <= BP_LOST ? BP_LOST : bp_at - rule.cfa;
}

/* The node of a caller, which is added if there is none yet. 0: it is not to be had. */
static uint32_t go_on(struct hi_state *state, uint32_t callee, const struct hi_walk_node *node)
{
	uint32_t *link = find_link(state, callee, node->pc), place;

	if (!link)
		return 0;
	place = load(link);
	if (!place)
		place = add(state, link, node);
	if (!place || !callee)
		return place;
	if (link != &node_at(state->walk_nodes, callee)->caller)
		__atomic_fetch_or(&node_at(state->walk_nodes, callee)->kind, VARIES, __ATOMIC_RELAXED);
	else if (place == callee + sizeof(*node))
		__atomic_fetch_or(&node_at(state->walk_nodes, callee)->kind, NEXT, __ATOMIC_RELEASE);
	return place;
}

void stack_trie_add(struct hi_state *state, const uint64_t *frame, uint32_t count, uint32_t id)
{
	const uint64_t stamp = rules_stamp(state);
	int32_t bp_at = BP_OF_LEAF;
	uint32_t place = 0;

	if (!state->walk_bits)
		return;
	/* The frame behind the last, if it comes to that, is the return address of zero. */
	for (uint32_t i = 0; i <= count; i++) {
		const uint64_t pc = i < count ? frame[i] : 0;
		const struct rule rule = i < count ? rules_find(state, stamp, pc - 1) : (struct rule){.kind = HI_UNWIND_END};
		const struct hi_walk_node node = {
			.pc = i ? pc : pc + rules_mark(stamp),
			.kind = kind_of(rule),
			.bp_slot = rule.bp_slot,
			.bp_at = (int16_t)bp_at,
			.cfa = 8 * rule.cfa,
			.callee = place,
			.stack = rule.kind == HI_UNWIND_END ? id : 0,
		};

		if (!node.kind || (node.kind == BY_BP && bp_at == BP_LOST) || (node.kind == END && i + 1 < count))
			return;
		/* By the directory of the leaf, or by none: of one that is being written there are no rules. */
		if (stamp != rules_stamp(state))
			return;
		place = go_on(state, place, &node);
		if (!place || node.kind == END)
			return;
		bp_at = bp_behind(rule, bp_at);
	}
}
