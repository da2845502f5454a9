/* SPDX-License-Identifier: MIT */
/* Allocates and frees. */
#include "../allocating.h"

int main(void)
{
	return run_threads(4, allocate_now_and_then);
}
