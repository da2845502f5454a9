// SPDX-License-Identifier: MIT
// All functions that give blocks.
// want: direct grow 3000 1, direct zeroed 240 1, direct aligned 256 1, direct posix 192 1
// want: direct copied 14 1, direct part 6 1, direct printed 11 1, direct in_array 360 1
#include "leaky.h"

static void *kept;

static APART void grow(void)
{
	void *block = used(malloc(1000));

	block = used(realloc(block, 2000));
	used(realloc(block, 3000));
}

static APART void shrink(void)
{
	kept = malloc(5000);
	kept = used(realloc(kept, 50));
}

static APART void zeroed(void)
{
	used(calloc(10, 24));
}

static APART void aligned(void)
{
	used(aligned_alloc(64, 256));
}

static APART void posix(void)
{
	void *block;

	if (!posix_memalign(&block, 4096, 192))
		used(block);
	block = NULL;
}

static APART void copied(void)
{
	used(strdup("thirteen long"));
}

static APART void part(void)
{
	used(strndup("fifteen letters", 5));
}

static APART void printed(void)
{
	char *text;

	if (asprintf(&text, "%d and %d", 123, 45) > 0)
		used(text);
	text = NULL;
}

static APART void in_array(void)
{
	used(reallocarray(NULL, 30, 12));
}

static APART void failing(void)
{
	void *block = used(malloc(100));
	void *larger = used(realloc(block, SIZE_MAX / 4));

	free(larger ? larger : block);
}

int main(void)
{
	grow();
	shrink();
	used(&kept);
	zeroed();
	aligned();
	posix();
	copied();
	part();
	printed();
	in_array();
	failing();
	wipe();
	return 0;
}
