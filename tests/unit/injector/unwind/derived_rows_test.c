/* SPDX-License-Identifier: MIT */
/*
 * derived_rows_test.c - rows read out of code: handmade functions (of each CPU: derived_code.h),
 * and libc's own code against what its unwind information says.
 */
#include "derived_rows.h"

#include "arch.h"
#include "elf_segment.h"
#include "own_images.h"
#include "unwind_table.h"

#define LO 0x1000u

static struct derived_rows derive(const uint8_t *bytes, size_t size, uint64_t entry)
{
	const struct derived_code code = {.bytes = bytes, .lo = LO, .hi = LO + size};
	struct derived_rows rows;

	CHECK_EQ(derived_rows_make(&code, &entry, 1, &rows), 0);
	CHECK_EQ(rows.count, size);
	return rows;
}

struct wanted {
	uint32_t at;
	int kind, cfa, bp_slot;
};

static void check_code(const uint8_t *bytes, size_t size, const struct wanted *wanted, size_t count)
{
	struct derived_rows rows = derive(bytes, size, LO);

	for (size_t i = 0; i < count; i++) {
		const struct hi_unwind_row *row = &rows.row[wanted[i].at];

		if (row->kind != wanted[i].kind || row->cfa != wanted[i].cfa ||
		    row->bp_slot != wanted[i].bp_slot)
			UNIT_FAIL("at %u: kind %d cfa %d bp %d, want %d %d %d", wanted[i].at,
				  row->kind, row->cfa, row->bp_slot, wanted[i].kind, wanted[i].cfa,
				  wanted[i].bp_slot);
	}
	derived_rows_free(&rows);
}
#define ROWS(...)                             \
	(const struct wanted[]){__VA_ARGS__}, \
		sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted)

/* ---- handmade functions ---------------------------------------------------------------------- */

#include "derived_code.h"

/* ---- against libc ---------------------------------------------------------------------------- */

struct libc {
	struct own own;
	const struct elf_image *image;
	struct derived_code code;
	uint64_t *entry;
	uint64_t *size;
	size_t count;
};

static void libc_open(struct libc *libc)
{
	const void *bytes;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	*libc = (struct libc){.own = own_open()};
	libc->image = own_image(&libc->own, "libc.so");
	libc->code.lo = libc->image->text[0].lo - libc->image->bias;
	libc->code.hi = libc->code.lo + elf_segment_room(libc->image->elf, libc->code.lo);
	CHECK_EQ(elf_segment_bytes(libc->image->elf, libc->code.lo, libc->code.hi - libc->code.lo,
				   &bytes),
		 0);
	libc->code.bytes = bytes;
	while ((section = elf_nextscn(libc->image->elf, section)) &&
	       gelf_getshdr(section, &header) && header.sh_type != SHT_DYNSYM)
		;
	libc->entry = calloc(header.sh_size / header.sh_entsize, sizeof(*libc->entry));
	libc->size = calloc(header.sh_size / header.sh_entsize, sizeof(*libc->size));
	for (int i = 0; gelf_getsym(elf_getdata(section, NULL), i, &symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_value)
			continue;
		libc->entry[libc->count] = symbol.st_value;
		libc->size[libc->count++] = symbol.st_size;
	}
	CHECK(libc->count > 1000);
}

static void libc_close(struct libc *libc)
{
	free(libc->entry);
	free(libc->size);
	own_close(&libc->own);
}

/* Instruction by instruction one comes from the beginning of a function to its very end. */
UNIT_TEST(instructions_are_as_long_as_they_are)
{
	size_t right = 0, wrong = 0;
	struct libc libc;

	libc_open(&libc);
	for (size_t i = 0; i < libc.count; i++) {
		const uint64_t end = libc.entry[i] + libc.size[i];
		struct arch_instruction instruction = {.size = 0};
		uint64_t pc = libc.entry[i];

		while (pc < end && arch_decode(libc.code.bytes + (pc - libc.code.lo),
					       libc.code.hi - pc, pc, &instruction))
			pc += instruction.size;
		right += pc == end;
		wrong += pc > end;
	}
	CHECK_EQ(wrong, 0);
	CHECK(right > libc.count * 95 / 100);
	libc_close(&libc);
}

static bool is_by_sp(const struct hi_unwind_row *row)
{
	return row->kind == HI_UNWIND_SP || row->kind == HI_UNWIND_LINK ||
	       row->kind == HI_UNWIND_ALONE || row->kind == HI_UNWIND_SP_RECORD;
}

/*
 * A return address that was taken from the stack is still there, and the information may say that
 * until the call that does not return.
 */
static bool is_same_return(const struct hi_unwind_row *described,
			   const struct hi_unwind_row *derived)
{
	return !HI_ARCH_LINK_REGISTER || derived->kind == HI_UNWIND_LINK ||
	       (described->kind == derived->kind && described->bp_slot == derived->bp_slot);
}

UNIT_TEST(rows_are_those_of_the_unwind_information)
{
	size_t same = 0, different = 0;
	struct unwind_table table;
	struct derived_rows rows;
	struct libc libc;

	libc_open(&libc);
	CHECK_EQ(unwind_table_build(libc.image, &libc.image->text[0], &table), 0);
	CHECK_EQ(derived_rows_make(&libc.code, libc.entry, libc.count, &rows), 0);
	for (size_t i = 0; i < rows.count; i++) {
		const struct hi_unwind_row *described = unwind_table_find(&table, table.lo + i),
					   *derived = &rows.row[i];

		if (!is_by_sp(described) || !is_by_sp(derived))
			continue;
		const bool is_same =
			described->cfa == derived->cfa && is_same_return(described, derived);

		same += is_same;
		different += !is_same;
	}
	/*
	 * Those that differ lie behind calls of abort(), one after the other where the compiler
	 * gathers what is never reached.
	 */
	printf("# %zu bytes of code the same, %zu different\n", same, different);
	CHECK(same > rows.count / 3);
	CHECK(different < same / 100);
	derived_rows_free(&rows);
	unwind_table_close(&table);
	libc_close(&libc);
}

UNIT_MAIN()
