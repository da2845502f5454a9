/* SPDX-License-Identifier: MIT */
/* code_swap_test.c - is the code of this very process as it was? */
#include "code_swap.h"
#include "arena.h"

#include <sys/mman.h>

#include "own_images.h"

static enum code_state look(const struct own *own, remote_addr at, uint64_t old_value,
			    uint64_t new_value)
{
	struct hi_control *control = arena_control_new();

	control->code[0].lo = at / HI_PAGE_BYTES * HI_PAGE_BYTES;
	control->code[0].size = HI_PAGE_BYTES;
	control->code_word[0].at = at;
	control->code_word[0].old_value = old_value;
	control->code_word[0].new_value = new_value;
	control->code_word_count = 1;
	const enum code_state state = code_swap_look(control, &own->memory, &own->images);

	arena_control_free(control);
	return state;
}

/*
 * A jump that spans two words may leave the second as it is. Where the file does not have the whole
 * page, as at the end of a segment, only the journal tells what was there.
 */
UNIT_TEST(a_word_that_a_jump_leaves_as_it_is_is_no_change)
{
	struct own own = own_open();
	const remote_addr at = address_of((const void *)(uintptr_t)look) / 8 * 8;
	uint64_t word = 0;
	static char copy;

	CHECK_EQ(memory_read_u64(&own.memory, at, &word), 0);
	/* its file is not read then */
	struct elf_image *image =
		&own.images.image[elf_images_find(&own.images, at) - own.images.image];
	void *const copied = image->memory_copy;
	image->memory_copy = &copy;
	CHECK_EQ(look(&own, at, word, word), CODE_ORIGINAL);
	CHECK_EQ(look(&own, at, word, ~word), CODE_ORIGINAL);
	CHECK_EQ(look(&own, at, ~word, word), CODE_CHANGED);
	CHECK_EQ(look(&own, at, ~word, word + 1), CODE_FOREIGN);
	image->memory_copy = copied;
	own_close(&own);
}

/*
 * The last page of the code is mapped as a whole, though the segment ends in it. What was written
 * there, as by text relocations, would be dropped with what we write.
 */
UNIT_TEST(the_last_page_of_the_code_is_looked_at)
{
	struct own own = own_open();
	const struct elf_image *image =
		elf_images_find(&own.images, address_of((const void *)(uintptr_t)look));
	uint8_t *const page = (uint8_t *)(uintptr_t)(image->text[0].hi - HI_PAGE_BYTES);
	uint8_t *const last = page + HI_PAGE_BYTES - 1; /* beyond the end of the segment */

	CHECK_EQ(look(&own, address_of(page), 0, 0), CODE_ORIGINAL);
	CHECK_EQ(mprotect(page, HI_PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	++*last;
	CHECK_EQ(look(&own, address_of(page), 0, 0), CODE_FOREIGN);
	--*last;
	CHECK_EQ(look(&own, address_of(page), 0, 0), CODE_ORIGINAL);
	own_close(&own);
}

UNIT_MAIN()
