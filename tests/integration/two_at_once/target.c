/* SPDX-License-Identifier: MIT */
/* Allocates in several threads, so that two injectors may borrow two of them at once. */
#include "../allocating.h"

int main(void)
{
	return run_threads(4, allocate_now_and_then);
}
