/* SPDX-License-Identifier: MIT */
/*
 * stack_trie.c - see stack_trie.h. stack_trie_find() finds, stack_trie_add() adds.
 *
 * THE TREE. A node is a frame together with all frames on the path from it down to the leaf. It
 * holds the return address of the frame, the rule by which the unwinder leaves the frame, and links
 * to the nodes of its callers. The node links its first two callers directly. The unknown part of a
 * stack is added in one go, so the node of the first caller is usually the next node in memory. If
 * it is, the walk does not wait for the link. The third and later callers (operator new has
 * thousands) and all leaves are in a hash table indexed by (callee, pc), where the callee of a leaf
 * is 0. The pc of a leaf has the mark of the directory added, so that a walk finds nothing that was
 * added under another directory. A node whose rule says that the stack ends there holds the id of
 * the stack. So does a node with pc 0, which stands for a return address of zero.
 *
 * WHY IT IS RIGHT. The trie stores no address on a stack. It stores which rule belongs to a pc, and
 * which id belongs to a path of pcs. So a walk along the tree computes each CFA from the current sp
 * and bp, checks it as the walk by rules does (stack.c), and reads the return address there. It
 * continues only to a node that has this return address, and so has the rule of the frame that is
 * really there. At the first difference the walk has failed, and the walk by rules starts over. The
 * walk along the tree reads only what the walk by rules would read, and stack.c says what may be
 * read. No other argument is needed.
 *  - The location of a frame's bp follows from the path as well: it is the slot of the nearest
 *    frame below that saved bp, or the struct hook_call if none did. That location is a fixed
 *    number of words below the frame's sp, as long as all frames in between are left by sp. If one
 *    of them is not, the path is not added beyond that point.
 *
 * ADDING. A node is written completely, then linked in by compare-and-swap. From then on it does
 * not move, and nothing in it changes except its links, VARIES and NEXT. Nodes are not freed: once
 * they are used up, nothing more is added. A hook scope that is abandoned halfway has wasted a
 * node. So has the slower of two threads that add the same node. A link leads to a node that was
 * not linked in before, so there are no cycles; and the walk's sp rises with each frame.
 *
 * In a forked child everything may read zero from one instruction to the next, except what is in a
 * register by then. This is harmless: a node's rule is one word, and is read whole; a rule of zero
 * leads nowhere; a link of zero leads to the first position, where there is no node and everything
 * always reads zero; an id of zero means "none".
 */
#include "stack_trie.h"

#include "regions.h"
#include "rules.h"

/* hi_walk_node.kind: how the unwinder leaves the frame, */
#define BY_SP 1u
#define BY_BP 2u
#define END 4u
/*
 * and, added to that: there may be a second caller; the node of the first caller is the next one in
 * memory.
 */
#define VARIES 8u
#define NEXT 16u

/*
 * Location of bp, in words above sp. For the leaf it is in struct hook_call, which lies directly
 * below. After some frames the location is not known.
 */
#define BP_OF_LEAF ((int)(offsetof(struct hook_call, bp) - sizeof(struct hook_call)) / 8)
#define BP_LOST INT16_MIN

#define PROBES 8u

/* The node that a link leads to. Link 0 means no node; the memory there reads zero. */
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

/* A thread that has the link finds the node as it was written, and the stack of its id. */
static inline uint32_t load_link(const uint32_t *link)
{
	return __atomic_load_n(link, __ATOMIC_ACQUIRE);
}

static inline uint64_t load_pc(const struct hi_walk_node *node)
{
	return __atomic_load_n(&node->pc, __ATOMIC_RELAXED);
}

/* Where the kind has NEXT, this takes the place of reading a link. */
static inline struct hi_walk_node load_rule(const struct hi_walk_node *node)
{
	return (struct hi_walk_node){.rule = __atomic_load_n(&node->rule, __ATOMIC_ACQUIRE)};
}

static inline bool is_caller(const struct hi_walk_node *node, uint32_t callee, uint64_t pc)
{
	return load_pc(node) == pc && load(&node->callee) == callee;
}

/*
 * Returns the first of the PROBES entries that may hold the link to this caller: half a cache line.
 */
static inline uint32_t *edges_of(const struct hi_state *state, uint32_t callee, uint64_t pc)
{
	const uint64_t home =
		(pc + (uint64_t)callee * HI_HASH_GATE) * HI_HASH >> (64 - state->walk_bits);

	return (uint32_t *)state->walk_edges + (home & ~(uint64_t)(PROBES - 1));
}

/* Looks the node of this caller up in the hash table; returns node 0 if there is none. */
static inline const struct hi_walk_node *find_edge(const struct hi_state *state, uint64_t nodes,
						   uint32_t callee, uint64_t pc)
{
	const uint32_t *edge = edges_of(state, callee, pc), *const end = edge + PROBES;

	for (; edge < end; edge++) {
		const uint32_t place = load_link(edge);

		if (!place)
			break;
		if (is_caller(node_at(nodes, place), callee, pc))
			return node_at(nodes, place);
	}
	return node_at(nodes, 0);
}

/*
 * Chooses between the two callers that a node links, without a branch: if the callers alternate, no
 * branch predictor could foresee the choice.
 */
static inline const struct hi_walk_node *choose(uint64_t nodes, const struct hi_walk_node *node,
						uint64_t pc)
{
	const struct hi_walk_node *first = node_at(nodes, load_link(&node->caller)),
				  *second = node_at(nodes, load_link(&first->other));

	return load_pc(first) == pc ? first : second;
}

/*
 * The CFA of a frame that is left by bp. UINT64_MAX if the frame is not left by bp, or if the CFA
 * is invalid.
 */
__attribute__((no_sanitize("address"))) static inline uint64_t cfa_by_bp(struct hi_walk_node rule,
									 uint64_t sp)
{
	uint64_t cfa;

	if (!(rule.kind & BY_BP))
		return UINT64_MAX;
	cfa = *(const uint64_t *)(sp + 8 * (uint64_t)rule.bp_at) + (uint64_t)rule.cfa;
	return cfa & 7 || cfa <= sp || cfa + 8 * (uint64_t)rule.bp_slot < sp ? UINT64_MAX : cfa;
}

__attribute__((no_sanitize("address"))) static inline uint64_t
return_address(struct hi_walk_node rule, uint64_t cfa)
{
	return arch_plain_address(*((const uint64_t *)cfa + HI_ARCH_RETURN_SLOT(rule.bp_slot)));
}

/* Walks from the node of a leaf. Returns the id of the stack, or 0. */
__attribute__((no_sanitize("address"))) static inline uint32_t
follow(const struct hi_state *state, const struct hi_walk_node *node, uint64_t sp, uint64_t top)
{
	const uint64_t nodes = state->walk_nodes;
	const struct hi_walk_node *callee;
	struct hi_walk_node rule;
	uint64_t pc;

	for (;;) {
		while ((rule = load_rule(node)).kind == (BY_SP | NEXT)) {
			sp += (uint64_t)rule.cfa;
			node++;
			if (sp > top || load_pc(node) != return_address(rule, sp))
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
		pc = return_address(rule, sp);
		callee = node;
		node = choose(nodes, node, pc);
		if (__builtin_expect(load_pc(node) != pc, 0))
			node = find_edge(state, nodes, place_of(nodes, callee), pc);
	}
}

/* Rows of code that comes and goes hold on the thread's own stack only, and so do these walks. */
static inline bool may_be_stale(const struct hi_state *state, uint64_t top)
{
	const struct hi_control *control = (const struct hi_control *)state->control;

	return top != control->main_stack &&
	       __atomic_load_n(&control->code_bytes, __ATOMIC_RELAXED);
}

uint32_t stack_trie_find(const struct hi_state *state, uint64_t thread,
			 const struct hook_call *call, const struct hi_scratch *scratch)
{
	const uint64_t sp = (uint64_t)(call + 1);
	uint64_t top;

	if (!state->walk_bits || sp & 7 || !regions_is_last(state, scratch, sp))
		return 0;
	top = regions_top(scratch, thread, sp);
	if (top != thread && may_be_stale(state, top))
		return 0;
	return follow(state,
		      find_edge(state, state->walk_nodes, 0,
				call->return_address + rules_mark(rules_stamp(state))),
		      sp, top);
}

/*
 * Finds the link to the node of this caller, or the empty link in which to store it. NULL: there is
 * no room.
 */
static uint32_t *find_link(const struct hi_state *state, uint32_t callee, uint64_t pc)
{
	const uint64_t nodes = state->walk_nodes;
	uint32_t *link = callee ? &node_at(nodes, callee)->caller : NULL, place;

	for (unsigned i = 0; link && i < 2; i++) {
		place = load_link(link);
		if (!place || load_pc(node_at(nodes, place)) == pc)
			return link;
		link = &node_at(nodes, place)->other;
	}
	link = edges_of(state, callee, pc);
	for (unsigned i = 0; i < PROBES; i++, link++) {
		place = load_link(link);
		if (!place || is_caller(node_at(nodes, place), callee, pc))
			return link;
	}
	return NULL;
}

/* Links a new node in and returns its link. 0: no nodes are left, or another thread was faster. */
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
	return __atomic_compare_exchange_n(link, &none, place, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED)
		       ? place
		       : 0;
}

static uint8_t kind_of(struct rule rule)
{
	if (rule.kind == HI_UNWIND_END)
		return END;
	if (!rules_is_plain(rule))
		return 0;
	return rule.kind == HI_UNWIND_BP ? BY_BP : BY_SP;
}

/*
 * The location of the caller's bp: the slot where this frame saved it; or, if this frame did not
 * change bp, the same word, which is now that much further below sp.
 */
static int32_t bp_behind(struct rule rule, int32_t bp_at)
{
	if (rule.bp_slot)
		return rule.bp_slot;
	return rule.kind == HI_UNWIND_BP || bp_at - rule.cfa <= BP_LOST ? BP_LOST
									: bp_at - rule.cfa;
}

/*
 * Returns the link to the node of a caller; adds the node if there is none yet. 0: it could not be
 * added.
 */
static uint32_t go_on(struct hi_state *state, uint32_t callee, const struct hi_walk_node *node)
{
	uint32_t *link = find_link(state, callee, node->pc), place;

	if (!link)
		return 0;
	place = load_link(link);
	if (!place)
		place = add(state, link, node);
	if (!place || !callee)
		return place;
	if (link != &node_at(state->walk_nodes, callee)->caller)
		__atomic_fetch_or(&node_at(state->walk_nodes, callee)->kind, VARIES,
				  __ATOMIC_RELAXED);
	else if (place == callee + sizeof(*node))
		__atomic_fetch_or(&node_at(state->walk_nodes, callee)->kind, NEXT,
				  __ATOMIC_RELEASE);
	return place;
}

void stack_trie_add(struct hi_state *state, const uint64_t *frame, uint32_t count, uint32_t id)
{
	const uint64_t stamp = rules_stamp(state);
	int32_t bp_at = BP_OF_LEAF;
	uint32_t place = 0;

	if (!state->walk_bits)
		return;
	/*
	 * The iteration after the last frame, if the loop gets there, is the return address of
	 * zero.
	 */
	for (uint32_t i = 0; i <= count; i++) {
		const uint64_t pc = i < count ? frame[i] : 0;
		const struct rule rule = i < count ? rules_find(state, stamp, pc - 1)
						   : (struct rule){.kind = HI_UNWIND_END};
		const struct hi_walk_node node = {
			.pc = i ? pc : pc + rules_mark(stamp),
			.kind = kind_of(rule),
			.bp_slot = rule.bp_slot,
			.bp_at = (int16_t)bp_at,
			.cfa = 8 * rule.cfa,
			.callee = place,
			.stack = rule.kind == HI_UNWIND_END ? id : 0,
		};

		if (!node.kind || (node.kind == BY_BP && bp_at == BP_LOST) ||
		    (node.kind == END && i + 1 < count))
			return;
		/*
		 * All nodes of a path must come from the directory of the leaf. A directory that is
		 * being written yields no rules.
		 */
		if (stamp != rules_stamp(state))
			return;
		place = go_on(state, place, &node);
		if (!place || node.kind == END)
			return;
		bp_at = bp_behind(rule, bp_at);
	}
}
