/* SPDX-License-Identifier: MIT */
/* libtaker - an allocator that takes the stack in each call, by the unwinder of C++ exceptions, while it is told the function that all stacks must lead to. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unwind.h>

extern void *__libc_malloc(size_t size);

extern const void *taker_wanted;
extern unsigned long taker_taken, taker_complete;
const void *taker_wanted;
unsigned long taker_taken, taker_complete;

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *out_found)
{
	if (_Unwind_GetRegionStart(context) == (uintptr_t)taker_wanted)
		*(bool *)out_found = true;
	return _URC_NO_REASON;
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
	}
	return __libc_malloc(size);
}
