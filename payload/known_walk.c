/* SPDX-License-Identifier: MIT */
/*
 * known_walk.c - see known_walk.h. known_walk_id() finds, known_walk_learn() adds.
 *
 * THE TREE. A node is a frame, together with all frames that it was called by on the way from the leaf: it has the return address, the rule by which that is
 * left, and where the nodes of its callers are. The first caller that was seen and the second are found from the node; the third and those that follow (operator
 * new has thousands), and all leaves, by a hash table of (callee, pc), where callee is 0 for a leaf. The pc of a leaf has the mark of the directory added, so
 * that nothing is found that was learned by another directory. A node whose rule says that the stack ends there bears the stack's id; a return address of zero
 * is the pc of a node that does.
 *
 * WHY IT IS RIGHT. No address on a stack is remembered, only which rule goes with a pc, and which id with a path of pcs. So a walk along the tree works out each
 * CFA from the sp and the bp that it has come to, asks of it what the walk by rules asks of it (stack.c), and reads the same words in the same order, as long as
 * the return address that it reads is that of a node it can go on to. At the first that is not, it has failed, and the walk by rules begins anew. What may be
 * read is therefore what stack.c says, and needs no other reason.
 *
 * Nodes are written whole, then linked in by compare-and-swap, and do not change or move from then on, but for the links to their callers. They are not
 * given back: once they are used up, nothing more is learned. A visit that is left for good in between has wasted a node. Links lead from the leaf outwards, and
 * so the way along them comes to an end, which the rising sp does as well.
 *
 * In a forked child all reads zero from one instruction to the next. A node that reads zero has a kind that nothing goes on from, and an id that is none, and
 * its place is 0, which no other node has. The order of the loads in known_walk_id() matters for that: the kind comes after what it says is good.
 */
#include "known_walk.h"

#include "regions.h"
#include "rules.h"

/* hi_walk_node.kind: how it is left, */
#define BY_SP 1u
#define BY_BP 2u
#define END 4u
/* and, added to that, whether there may be a second caller. */
#define VARIES 8u

/* Where bp is, in words above sp: in the leaf it is in its struct hook_call, which lies right below; behind some frames it is nowhere. */
#define BP_OF_LEAF ((int)(offsetof(struct hook_call, bp) - sizeof(struct hook_call)) / 8)
#define BP_LOST INT32_MIN

#define PROBES 8u

/* Each place is an offset in bytes from the first node, which is none. */
static inline struct hi_walk_node *node_at(uint64_t nodes, uint64_t place)
{
	return (struct hi_walk_node *)(nodes + place);
}

static inline uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint64_t load_pc(uint64_t nodes, uint64_t place)
{
	return __atomic_load_n(&node_at(nodes, place)->pc, __ATOMIC_RELAXED);
}

static inline bool is_caller(uint64_t nodes, uint32_t place, uint32_t callee, uint64_t pc)
{
	return load_pc(nodes, place) == pc && load(&node_at(nodes, place)->callee) == callee;
}

/* The link to this caller may be in any of PROBES places side by side: one cache line. */
static inline uint32_t *edge_at(const struct hi_state *state, uint32_t callee, uint64_t pc, uint32_t probe)
{
	const uint64_t home = (pc + (uint64_t)callee * HI_HASH_GATE) * HI_HASH >> (64 - state->walk_bits);

	return (uint32_t *)state->walk_edges + (home ^ probe);
}

/* The node of this caller by the hash table; 0: it is not there. */
static inline uint32_t find_edge(const struct hi_state *state, uint32_t callee, uint64_t pc)
{
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		const uint32_t place = load(edge_at(state, callee, pc, probe));

		if (!place || is_caller(state->walk_nodes, place, callee, pc))
			return place;
	}
	return 0;
}

/* Of two callers one is chosen without a branch: where they come in turn nobody could foresee which way that goes. */
static inline uint32_t choose(uint64_t nodes, uint32_t first, uint64_t pc)
{
	const uint32_t second = load(&node_at(nodes, first)->other);

	return first ^ ((first ^ second) & -(uint32_t)(load_pc(nodes, first) != pc));
}

static inline struct hi_walk_node load_rule(uint64_t nodes, uint64_t place)
{
	return (struct hi_walk_node){.rule = __atomic_load_n(&node_at(nodes, place)->rule, __ATOMIC_RELAXED)};
}

/* 0: the frame cannot be left. */
__attribute__((no_sanitize("address"))) static inline uint64_t cfa_of(struct hi_walk_node rule, uint64_t sp)
{
	uint64_t cfa;

	if (rule.kind & BY_SP)
		return sp + (uint64_t)rule.cfa;
	if (!(rule.kind & BY_BP))
		return 0;
	cfa = *(const uint64_t *)(sp + 8 * (uint64_t)rule.bp_at) + (uint64_t)rule.cfa;
	return cfa & 7 || cfa <= sp || cfa + 8 * (uint64_t)rule.bp_slot < sp ? 0 : cfa;
}

__attribute__((no_sanitize("address"))) uint32_t known_walk_id(const struct hi_state *state, uint64_t thread, const struct hook_call *call,
							       const struct hi_scratch *scratch)
{
	const uint64_t nodes = state->walk_nodes;
	uint64_t sp = (uint64_t)(call + 1), pc = call->return_address + rules_mark(rules_stamp(state)), place = 0, caller, top;
	struct hi_walk_node rule;

	if (sp & 7 || !regions_is_last(state, scratch, sp))
		return 0;
	top = regions_top(scratch, thread, sp);
	while ((place = find_edge(state, (uint32_t)place, pc)))
		for (;; place = caller) {
			for (; (rule = load_rule(nodes, place)).kind == BY_SP; place = caller) {
				sp += (uint64_t)rule.cfa;
				caller = load(&node_at(nodes, place)->caller);
				if (sp > top || load_pc(nodes, caller) != *(const uint64_t *)(sp - FRAMES_RETURN_BELOW_CFA))
					return 0;
			}
			if (rule.kind == END)
				return load(&node_at(nodes, place)->stack);
			sp = cfa_of(rule, sp);
			if (!sp || sp > top)
				return 0;
			pc = *(const uint64_t *)(sp - FRAMES_RETURN_BELOW_CFA);
			caller = choose(nodes, load(&node_at(nodes, place)->caller), pc);
			if (load_pc(nodes, caller) != pc)
				break;
		}
	return 0;
}

/* The link to the node of this caller, or where it is to be, and what it says. NULL: there is no room for it. */
static uint32_t *find_link(const struct hi_state *state, uint32_t callee, uint64_t pc, uint32_t *out_place)
{
	uint32_t *link = callee ? &node_at(state->walk_nodes, callee)->caller : NULL;

	for (unsigned i = 0; link && i < 2; i++) {
		*out_place = load(link);
		if (!*out_place || load_pc(state->walk_nodes, *out_place) == pc)
			return link;
		link = &node_at(state->walk_nodes, *out_place)->other;
	}
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		link = edge_at(state, callee, pc, probe);
		*out_place = load(link);
		if (!*out_place || is_caller(state->walk_nodes, *out_place, callee, pc))
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
	if (rule.kind == HI_UNWIND_BP || bp_at - rule.cfa < INT16_MIN)
		return BP_LOST;
	return bp_at - rule.cfa;
}

/* The node of a caller, which is added if there is none yet. 0: it is not to be had. */
static uint32_t go_on(struct hi_state *state, uint32_t callee, const struct hi_walk_node *node)
{
	uint32_t place, *link = find_link(state, callee, node->pc, &place);

	if (!link)
		return 0;
	if (!place)
		place = add(state, link, node);
	if (place && callee && link != &node_at(state->walk_nodes, callee)->caller)
		__atomic_fetch_or(&node_at(state->walk_nodes, callee)->kind, VARIES, __ATOMIC_RELAXED);
	return place;
}

void known_walk_learn(struct hi_state *state, const uint64_t *frame, uint32_t count, uint32_t id)
{
	const uint64_t stamp = rules_stamp(state);
	int32_t bp_at = BP_OF_LEAF;
	uint32_t place = 0;

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
		if (published_is_being_written(stamp) || stamp != rules_stamp(state))
			return;
		place = go_on(state, place, &node);
		if (!place || node.kind == END)
			return;
		bp_at = bp_behind(rule, bp_at);
	}
}
