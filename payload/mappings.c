/* SPDX-License-Identifier: MIT */
/*
 * mappings.c - handlers of the functions that map and unmap: mmap, munmap, mremap, brk.
 *
 * Mappings are rare beside blocks, so each change of address space is recorded, and only stacks are
 * sampled: by bytes, by the thread's countdown, as those of blocks. A mapping within a hooked
 * function of an allocator is recorded as the allocator's. Where it may be of a signal handler that
 * interrupted a hook, the record does not say whose it is.
 *
 * ORDER. As for blocks: what is mapped is recorded after the call, what is unmapped before it. A
 * call that fails has changed nothing, and a record says so. mremap is recorded as a mapping that
 * goes and one that comes, as realloc is. sbrk calls brk, and so passes its hook.
 *
 * The original runs within the hook, on the stack of its caller, which no thread can unmap in C:
 * the return address of munmap lies there, too. musl unmaps the stack of a thread that ends by a
 * system call of its own.
 */
#include "hooks.h"

#include "hook_scope.h"

/* of the kernel's ABI */
#define ERRORS (-4095ull) /* addresses from here on are none */
#define REMAP_DONTUNMAP 4u

static uint64_t whole_pages(const struct hook_call *call, uint64_t bytes)
{
	const struct hi_state *state = (const struct hi_state *)call->words->state;
	const uint64_t page =
		HI_PAGE_BYTES == HI_PAGE_BYTES_MAX ? HI_PAGE_BYTES : state->page_bytes;

	return (bytes + page - 1) & ~(page - 1);
}

static bool is_armed(const struct hook_scope *scope)
{
	return __atomic_load_n(&scope->event.state->armed, __ATOMIC_ACQUIRE);
}

static void note(struct hook_scope *scope, enum hi_mapping_change change, struct record_block block,
		 uint32_t attributes)
{
	if (block.bytes && is_armed(scope) && hook_scope_may_record(scope))
		record_mapping(&scope->event, change, block, attributes);
}

static bool is_mapping_function(uint64_t function)
{
	return function == HI_FN_MMAP || function == HI_FN_MUNMAP || function == HI_FN_MREMAP ||
	       function == HI_FN_BRK;
}

/* has_place: else nothing is known of other calls of the thread. */
static bool is_nested(const struct hook_scope *scope)
{
	return scope->has_place && hook_scope_is_inner(scope);
}

/* Of a mapping that is no sample. */
static enum hi_mapping_change change_of(const struct hook_scope *scope)
{
	if (!is_nested(scope))
		return HI_MAPPING_UNSAMPLED;
	if (scope->nesting == NESTING_UNKNOWN ||
	    (scope->nesting == NESTING_INNER &&
	     is_mapping_function(record_scratch(&scope->event)->outermost_function)))
		return HI_MAPPING_NESTED;
	return HI_MAPPING_ALLOCATOR;
}

static bool is_sample_due(struct hook_scope *scope, uint64_t bytes)
{
	return !is_nested(scope) && hook_scope_is_sample_due(scope, bytes);
}

/* Records what was mapped. Always inlined, for the same reason as sample() in hooks.c. */
__attribute__((always_inline)) static inline void
note_mapped(struct hook_scope *scope, struct record_block block, uint32_t attributes, bool is_due)
{
	struct stack_end stack;

	if (block.address >= ERRORS || !is_armed(scope))
		return;
	if (!is_due) {
		note(scope, change_of(scope), block, attributes);
		return;
	}
	stack = stack_capture(scope->event.state, scope->event.thread, scope->call,
			      record_scratch(&scope->event));
	scope->event.slack = attributes;
	if (hook_scope_may_record(scope))
		record_alloc(&scope->event, scope->call, stack, block);
}

struct hook_outcome hook_mmap(struct hook_call *call)
{
	const uint64_t bytes = whole_pages(call, call->argument[1]);
	const uint32_t attributes =
		(uint32_t)((call->argument[2] & HI_MAPPING_PROTECTION) |
			   (call->argument[3] & HI_MAPPING_FLAGS_MASK) << HI_MAPPING_FLAGS_SHIFT);
	struct hook_scope scope;
	uint64_t address;
	bool is_due;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	is_due = is_sample_due(&scope, bytes);
	address = hook_scope_original(&scope);
	note_mapped(&scope, (struct record_block){.address = address, .bytes = bytes}, attributes,
		    is_due);
	return hook_scope_end(&scope, address);
}

struct hook_outcome hook_munmap(struct hook_call *call)
{
	const struct record_block block = {.address = call->argument[0],
					   .bytes = whole_pages(call, call->argument[1])};
	struct hook_scope scope;
	uint64_t failed;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	note(&scope, HI_MAPPING_GONE, block, 0);
	failed = hook_scope_original(&scope);
	if ((int)failed)
		note(&scope, HI_MAPPING_KEPT, block, 0);
	return hook_scope_end(&scope, failed);
}

/* Old bytes of 0 duplicate a mapping, and so does a flag. What was there stays. */
struct hook_outcome hook_mremap(struct hook_call *call)
{
	const uint64_t bytes = whole_pages(call, call->argument[2]);
	const bool stays = !call->argument[1] || (call->argument[3] & REMAP_DONTUNMAP);
	const struct record_block old = {.address = call->argument[0],
					 .bytes = stays ? 0 : whole_pages(call, call->argument[1])};
	struct hook_scope scope;
	uint64_t address;
	bool is_due;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	is_due = is_sample_due(&scope, bytes);
	note(&scope, HI_MAPPING_GONE, old, 0);
	address = hook_scope_original(&scope);
	if (address >= ERRORS)
		note(&scope, HI_MAPPING_KEPT, old, 0);
	note_mapped(&scope, (struct record_block){.address = address, .bytes = bytes}, 0, is_due);
	return hook_scope_end(&scope, address);
}

/*
 * The heap of brk ends anywhere in a page, which is mapped as a whole. Where it ended before, and
 * whether it ends elsewhere now, the kernel alone knows: glibc's brk returns 0 also for an end
 * below the heap, which the kernel refuses.
 */
struct hook_outcome hook_brk(struct hook_call *call)
{
	const uint64_t to = whole_pages(call, call->argument[0]);
	struct record_block gone = {.address = to};
	struct hook_scope scope;
	uint64_t from, failed;
	bool is_due;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	from = whole_pages(call, arch_program_break());
	if (to < from)
		gone.bytes = from - to;
	is_due = to > from && is_sample_due(&scope, to - from);
	note(&scope, HI_MAPPING_GONE, gone, 0);
	failed = hook_scope_original(&scope);
	if (whole_pages(call, arch_program_break()) != to)
		note(&scope, HI_MAPPING_KEPT, gone, 0);
	else if (to > from)
		note_mapped(&scope, (struct record_block){.address = from, .bytes = to - from},
			    HI_MAPPING_BY_BRK, is_due);
	return hook_scope_end(&scope, failed);
}
