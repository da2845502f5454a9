/* SPDX-License-Identifier: MIT */
/* unwind_table_libdw_test.c - rows against libdw's reading of the same sections. */
#include <dlfcn.h>
#include <inttypes.h>

#include "own_images.h"
#include "row_of_frame.h"
#include "table_shape.h"

static void check_at(const struct unwind_table *table, Dwarf_CFI *cfi, uint64_t bias,
		     remote_addr pc)
{
	const struct hi_unwind_row *row = unwind_table_find(table, pc);
	struct hi_unwind_row wanted = {.kind = HI_UNWIND_NONE};
	Dwarf_Frame *frame = NULL;

	if (dwarf_cfi_addrframe(cfi, pc - bias, &frame) == 0)
		wanted = row_of_frame(frame);
	else if (HI_ARCH_LINK_REGISTER)
		return; /* it may be derived from the code */
	if (!is_row(row, wanted.kind, wanted.cfa, wanted.bp_slot))
		UNIT_FAIL("at %" PRIx64 ": kind %d cfa %d bp %d, libdw says %d %d %d", pc - bias,
			  row->kind, row->cfa, row->bp_slot, wanted.kind, wanted.cfa,
			  wanted.bp_slot);
	free(frame);
}

/* Every row of an object, at its first and at its last address. */
static void check_object(const struct elf_image *image)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(image->elf);

	CHECK(cfi != NULL);
	for (size_t i = 0; i < image->text_count; i++) {
		struct unwind_table table;

		CHECK_EQ(unwind_table_build(image, &image->text[i], &table), 0);
		check_shape(&table);
		CHECK(table.row_count > 10);
		for (uint32_t row = 0; row < table.row_count; row++) {
			check_at(&table, cfi, image->bias, table.lo + table.row[row].pc);
			check_at(&table, cfi, image->bias,
				 (row + 1 < table.row_count ? table.lo + table.row[row + 1].pc
							    : table.hi) -
					 1);
		}
		unwind_table_close(&table);
	}
	dwarf_cfi_end(cfi);
}

UNIT_TEST(every_row_is_what_libdw_says)
{
	struct own own = own_open();

	for (size_t i = 0; i < sizeof(described) / sizeof(described[0]); i++)
		check_object(own_image(&own, described[i]));
	own_close(&own);
}

/* A library with much hand-written code, and all there is of odd rows. */
UNIT_TEST(every_row_of_libcrypto_is_what_libdw_says)
{
	unsigned kinds[UINT8_MAX + 1] = {0};
	struct unwind_table table;
	struct own own;

	if (!dlopen("libcrypto.so.3", RTLD_NOW))
		SKIP("libcrypto.so.3 is not installed");
	own = own_open();
	const struct elf_image *image = own_image(&own, "libcrypto.so");
	check_object(image);
	CHECK_EQ(unwind_table_build(image, &image->text[0], &table), 0);
	for (uint32_t i = 0; i < table.row_count; i++)
		kinds[table.row[i].kind]++;
	for (size_t i = 0; i < sizeof(odd_kinds); i++)
		CHECK(kinds[odd_kinds[i]] > 0);
	unwind_table_close(&table);
	own_close(&own);
}

UNIT_MAIN()
