// SPDX-License-Identifier: MIT
// Memory that mmap gave is no root, whatever lies beside it.
// want: direct hide 123 1
#include <sys/mman.h>

#include "leaky.h"

static APART void hide(void **map)
{
	map[17] = used(malloc(123));
	map[4095] = map[17];
}

int main(void)
{
	for (int i = 0; i < 40; i++) {
		void **map = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (map == MAP_FAILED)
			return 1;
		if (i == 0)
			hide(map);
	}
	wipe();
	return 0;
}
