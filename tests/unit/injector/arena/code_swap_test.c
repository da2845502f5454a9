/* SPDX-License-Identifier: MIT */
/* code_swap_test.c - is the code of this very process as it was? */
#include "code_swap.h"
#include "arena.h"

#include <stdio.h>
#include <string.h>
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

/* Is the page at 0x2000 apart from what is beside it, if this is the list of mappings? */
static bool is_apart(const char *text)
{
	struct hi_control *control = arena_control_new();
	struct maps maps;

	CHECK_EQ(maps_parse(text, strlen(text), &maps), 0);
	control->code[0].lo = 0x2000;
	control->code[0].size = HI_PAGE_BYTES;
	const bool apart = code_swap_is_apart(control, &maps);

	maps_close(&maps);
	arena_control_free(control);
	return apart;
}

/* Linux 6.1 leaves it so; it is shown by tests/aarch64 that undo joins it there. */
UNIT_TEST(a_mapping_that_is_apart_is_seen)
{
	static const char before[] = "1000-2000 r-xp 00001000 08:01 7 /lib\n",
			  page[] = "2000-3000 r-xp 00002000 08:01 7 /lib\n",
			  after[] = "3000-5000 r-xp 00003000 08:01 7 /lib\n",
			  data[] = "3000-5000 r--p 00003000 08:01 7 /lib\n",
			  other[] = "1000-2000 r-xp 00001000 08:01 8 /lib\n",
			  whole[] = "1000-5000 r-xp 00001000 08:01 7 /lib\n",
			  anonymous[] = "1000-2000 r-xp 00000000 00:00 0\n"
					"2000-3000 r-xp 00000000 00:00 0\n";
	char text[sizeof(before) + sizeof(page) + sizeof(after)];

	CHECK(!is_apart(whole));
	CHECK(!is_apart(page));
	CHECK(!is_apart(anonymous));
	snprintf(text, sizeof(text), "%s%s", before, page);
	CHECK(is_apart(text));
	snprintf(text, sizeof(text), "%s%s", page, after);
	CHECK(is_apart(text));
	snprintf(text, sizeof(text), "%s%s", other, page);
	CHECK(!is_apart(text));
	snprintf(text, sizeof(text), "%s%s", page, data);
	CHECK(!is_apart(text));
}

UNIT_MAIN()
