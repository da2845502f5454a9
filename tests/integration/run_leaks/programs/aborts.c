// SPDX-License-Identifier: MIT
// A signal ends it: then nobody looks.
// want: unknown
// status: 134
#include <sys/resource.h>

#include "leaky.h"

static APART void lose(void)
{
	used(malloc(82));
}

int main(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	lose();
	wipe();
	abort();
}
