/* SPDX-License-Identifier: MIT */
/*
 * libtaker - an allocator that takes the stack in each call, by the unwinder of C++ exceptions and
 * by frame pointers, while it is told the function that all stacks must lead to.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unwind.h>

extern void *__libc_malloc(size_t size);

extern const void *taker_wanted;
extern unsigned long taker_taken, taker_complete, taker_chained;
const void *taker_wanted;
unsigned long taker_taken, taker_complete, taker_chained;

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *out_found)
{
	if (_Unwind_GetRegionStart(context) == (uintptr_t)taker_wanted)
		*(bool *)out_found = true;
	return _URC_NO_REASON;
}

/*
 * Our caller has no frame pointer, so the chain ends there: it is the first or the second, if a
 * hook is in between.
 */
static bool is_in_chain(void *const *frame)
{
	for (int i = 0; i < 2 && frame; i++, frame = frame[0])
		if (_Unwind_FindEnclosingFunction((char *)frame[1] - 1) ==
		    (void *)(uintptr_t)taker_wanted)
			return true;
	return false;
}

void *malloc(size_t size)
{
	static bool is_taking;
	bool is_found = false;

	if (taker_wanted && !is_taking) {
		is_taking = true;
		_Unwind_Backtrace(look, &is_found);
		is_taking = false;
		taker_taken++;
		taker_complete += is_found;
		taker_chained += is_in_chain(__builtin_frame_address(0));
	}
	return __libc_malloc(size);
}
