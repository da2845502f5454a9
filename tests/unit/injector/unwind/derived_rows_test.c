/* SPDX-License-Identifier: MIT */
/*
 * derived_rows_test.c - rows read out of code: handmade functions, and libc's own code against what
 * its unwind information says.
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
#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define ROWS(...)                             \
	(const struct wanted[]){__VA_ARGS__}, \
		sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted)

UNIT_TEST(pushes_and_pops_are_followed_on_both_branches)
{
	/*
	 * push %rbx; push %rbp; sub $24,%rsp; test %eax,%eax; je 1f; add $24,%rsp; pop %rbp; pop
	 * %rbx; ret; 1: lea 24(%rsp),%rsp; pop %rbp; pop %rbx; ret
	 */
	check_code(CODE(0x53, 0x55, 0x48, 0x83, 0xec, 24, 0x85, 0xc0, 0x74, 7, 0x48, 0x83, 0xc4, 24,
			0x5d, 0x5b, 0xc3, 0x48, 0x8d, 0x64, 0x24, 24, 0x5d, 0x5b, 0xc3),
		   ROWS({0, HI_UNWIND_SP, 1, 0}, {1, HI_UNWIND_SP, 2, 0}, {2, HI_UNWIND_SP, 3, -3},
			{5, HI_UNWIND_SP, 3, -3}, {6, HI_UNWIND_SP, 6, -3},
			{14, HI_UNWIND_SP, 3, -3}, {15, HI_UNWIND_SP, 2, 0},
			{16, HI_UNWIND_SP, 1, 0}, {17, HI_UNWIND_SP, 6, -3},
			{24, HI_UNWIND_SP, 1, 0}));
}

UNIT_TEST(what_does_not_add_up_has_no_rows)
{
	/*
	 * push %rbx; ret -- push %rbx; je to the ret -- an unknown stack pointer -- an instruction
	 * that does not exist -- rbp not restored
	 */
	check_code(CODE(0x53, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}, {1, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x74, 1, 0x53, 0x5b, 0xc3),
		   ROWS({0, HI_UNWIND_NONE, 0, 0}, {4, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x48, 0x89, 0xc4, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x50, 0x06, 0x58, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x55, 0x58, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}));
	/* Cut off: at its end, and within an instruction. */
	check_code(CODE(0x53, 0x48, 0x83), ROWS({0, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(a_frame_pointer_holds_where_the_stack_pointer_is_lost)
{
	/* push %rbp; mov %rsp,%rbp; sub %rax,%rsp; nop; leave; ret */
	check_code(CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0x90, 0xc9, 0xc3),
		   ROWS({4, HI_UNWIND_SP, 2, -2}, {7, HI_UNWIND_BP, 2, -2},
			{8, HI_UNWIND_BP, 2, -2}, {9, HI_UNWIND_SP, 1, 0}));
	/* The same with another value in rbp: then nothing is known. */
	check_code(CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xc5, 8, 0x48, 0x29, 0xc4, 0xc9, 0xc3),
		   ROWS({0, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(the_outermost_function_says_so)
{
	/* xor %ebp,%ebp; and $-16,%rsp; call .+5; hlt */
	check_code(CODE(0x31, 0xed, 0x48, 0x83, 0xe4, 0xf0, 0xe8, 0, 0, 0, 0, 0xf4),
		   ROWS({2, HI_UNWIND_END, 0, 0}, {10, HI_UNWIND_END, 0, 0}));
	/* push %rbp; xor %ebp,%ebp; pop %rbp; ret: a variable */
	check_code(CODE(0x55, 0x31, 0xed, 0x5d, 0xc3), ROWS({3, HI_UNWIND_SP, 2, -2}));
}

UNIT_TEST(behind_a_call_that_does_not_return_another_function_begins)
{
	/*
	 * push %rbx; je 1f; pop %rbx; ret; 1: call 2f; nop; 2: ret, which is a function since it is
	 * called
	 */
	check_code(CODE(0x53, 0x74, 2, 0x5b, 0xc3, 0xe8, 1, 0, 0, 0, 0x90, 0xc3),
		   ROWS({5, HI_UNWIND_SP, 2, 0}, {11, HI_UNWIND_SP, 1, 0}));
	/*
	 * The same, and the function is called by nobody, but begins behind the padding: its return
	 * does not fit, and it costs only itself.
	 */
	check_code(CODE(0x53, 0x74, 2, 0x5b, 0xc3, 0xe8, 0, 1, 0, 0, 0x90, 0xc3),
		   ROWS({5, HI_UNWIND_SP, 2, 0}, {11, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(the_trampoline_behind_a_handler_is_found)
{
	/* A function; lea of the trampoline: mov $15,%rax; syscall */
	check_code(CODE(0x48, 0x8d, 0x05, 2, 0, 0, 0, 0xc3, 0x90, 0x48, 0xc7, 0xc0, 15, 0, 0, 0,
			0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90),
		   ROWS({7, HI_UNWIND_SP, 1, 0}, {8, HI_UNWIND_SIGNAL, 0, 0},
			{9, HI_UNWIND_SIGNAL, 0, 0}));
}

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

		if (described->kind != HI_UNWIND_SP || derived->kind != HI_UNWIND_SP)
			continue;
		same += described->cfa == derived->cfa;
		different += described->cfa != derived->cfa;
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
