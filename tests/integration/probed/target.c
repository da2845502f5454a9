/* SPDX-License-Identifier: MIT */
#include "../allocating.h"

int main(void)
{
	return run_threads(2, allocate_now_and_then);
}
