/* SPDX-License-Identifier: MIT */
/* More threads than CPUs, none of which ever makes a system call. */
#include "../allocating.h"

static void *work(void *unused)
{
	for (;;)
		allocate_once();
	return unused;
}

int main(void)
{
	return run_threads(12, work);
}
