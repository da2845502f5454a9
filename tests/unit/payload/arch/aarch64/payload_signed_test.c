/* SPDX-License-Identifier: MIT */
/*
 * payload_signed_test.c - an original returns to a gadget in a function that signs its return
 * address: unwinders check the one in the hook's frame, which is that of the caller. (A CPU that
 * signs none shows nothing here.)
 */
#include <unwind.h>

#include "hooked_call.h"
#include "payload_guest.h"

void signed_gadget(void);
__asm__(".text\n"
	".p2align 2\n"
	"signed_frame: .cfi_startproc\n" FRAME_OF_A_TEST ".cfi_negate_ra_state\n"
	"nop\n"
	".globl signed_gadget\n .type signed_gadget, %function\n"
	"signed_gadget: blr x21\n"
	".cfi_endproc\n");

static const void *wanted;
static unsigned gadgets;
static bool is_found;

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument)
{
	(void)argument;
	gadgets += _Unwind_GetIP(context) == (uintptr_t)signed_gadget;
	is_found |= _Unwind_GetRegionStart(context) == (uintptr_t)wanted;
	return _URC_NO_REASON;
}

static void *calloc_that_takes_the_stack(size_t count, size_t size)
{
	_Unwind_Backtrace(take_frame, NULL);
	return calloc(count, size);
}

__attribute__((noinline)) static bool call(calloc_fn *function)
{
	void *block = function(3, 5);

	free(block);
	return block;
}

UNIT_TEST(the_return_address_of_the_hook_is_signed_while_the_original_runs)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_CALLOC, hi_gate_size2,
						 hi_hook_calloc, calloc_that_takes_the_stack);
	calloc_fn *function = (calloc_fn *)arena_entry(words);

	wanted = (const void *)(uintptr_t)call;
	words->return_gadget = (uintptr_t)signed_gadget;
	words->return_register = 2 | HI_RETURN_SIGNED;
	for (unsigned i = 1; i <= 3; i++) {
		is_found = false;
		CHECK(call(function));
		CHECK(is_found);
		CHECK_EQ(gadgets, i);
	}
	arena_drain(&guest.arena);
	CHECK_EQ(arena_allocs(&guest.arena), 3);
}

UNIT_MAIN()
