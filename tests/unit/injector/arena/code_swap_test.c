/* SPDX-License-Identifier: MIT */
/* code_swap_test.c - is the code of this very process as it was? */
#include "code_swap.h"
#include "arena.h"

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

UNIT_MAIN()
