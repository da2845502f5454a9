/* SPDX-License-Identifier: MIT */
/*
 * unwind_table_test.c - rows against glibc's backtrace on real stacks, and on handmade and damaged
 * sections. unwind_table_libdw_test.c compares them with libdw's reading of the same sections.
 */
#include <dwarf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <sys/stat.h>
#include <ucontext.h>

#include "own_images.h"
#include "table_shape.h"

enum { BP = 6, SP = 7, PC = 16, WORD = 8 };

/* ---- against glibc's backtrace --------------------------------------------------------------- */

#define FRAMES 128

struct tables {
	struct own own;
	struct unwind_table table[256];
	size_t count;
};

struct capture {
	const struct tables *tables;
	void *expected[FRAMES];
	remote_addr walked[FRAMES];
	int expected_count, walked_count;
	bool is_complete;
};

static struct capture capture;

static void tables_open(struct tables *tables)
{
	void *frame;

	/* The first call loads libgcc_s, which must be there before the tables are made. */
	backtrace(&frame, 1);
	tables->own = own_open();
	tables->count = 0;
	for (size_t i = 0; i < tables->own.images.count; i++) {
		const struct elf_image *image = &tables->own.images.image[i];

		for (size_t k = 0; k < image->text_count && tables->count < 256; k++)
			tables->count += unwind_table_build(image, &image->text[k],
							    &tables->table[tables->count]) == 0;
	}
	capture = (struct capture){.tables = tables};
}

static const struct hi_unwind_row *row_at(const struct tables *tables, remote_addr pc)
{
	for (size_t i = 0; i < tables->count; i++)
		if (tables->table[i].lo <= pc && pc < tables->table[i].hi)
			return unwind_table_find(&tables->table[i], pc);
	return NULL;
}

struct registers {
	uint64_t pc, sp, bp;
	bool is_exact; /* pc was interrupted, and is no return address */
};

static uint64_t word(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

/* One frame up, as hi_wire.h says; false: the end, or no information. */
static bool step(const struct hi_unwind_row *row, struct registers *at)
{
	const ucontext_t *context = (const ucontext_t *)(uintptr_t)at->sp;
	uint64_t cfa, bp = row && row->bp_slot ? 1 : 0;

	switch (row ? row->kind : HI_UNWIND_NONE) {
	case HI_UNWIND_SP:
		cfa = at->sp + (uint64_t)(WORD * row->cfa);
		break;
	case HI_UNWIND_BP:
		cfa = at->bp + (uint64_t)(WORD * row->cfa);
		break;
	case HI_UNWIND_BP_DEREF:
		cfa = word(at->bp + (uint64_t)(WORD * row->cfa));
		break;
	case HI_UNWIND_PLT:
		cfa = at->sp + WORD + ((at->pc & 15) >= (uint64_t)row->cfa ? WORD : 0);
		break;
	case HI_UNWIND_SIGNAL:
		*at = (struct registers){(uint64_t)context->uc_mcontext.gregs[REG_RIP],
					 (uint64_t)context->uc_mcontext.gregs[REG_RSP],
					 (uint64_t)context->uc_mcontext.gregs[REG_RBP], true};
		return true;
	default:
		return false;
	}
	if (row->kind == HI_UNWIND_BP_DEREF)
		bp = word(at->bp);
	else
		bp = bp ? word(cfa + (uint64_t)(WORD * row->bp_slot)) : at->bp;
	*at = (struct registers){word(cfa - WORD), cfa, bp, false};
	return true;
}

/* Walks its own stack by both ways. */
static __attribute__((noinline)) void take_capture(void)
{
	struct registers at = {0};

	capture.expected_count = backtrace(capture.expected, FRAMES);
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=r"(at.pc), "=r"(at.sp), "=r"(at.bp));
	for (capture.walked_count = 0; capture.walked_count < FRAMES;) {
		const struct hi_unwind_row *row = row_at(capture.tables, at.pc - !at.is_exact);

		capture.walked[capture.walked_count++] = at.pc;
		if (!step(row, &at)) {
			capture.is_complete = row && row->kind == HI_UNWIND_END;
			break;
		}
	}
	__asm__ volatile("" ::: "memory"); /* no tail call may replace this frame */
}

static void check_capture(int least)
{
	int first = 0;

	/*
	 * walked[0] is a place in take_capture itself; backtrace may have frames of its own below
	 * (sanitizers wrap it).
	 */
	while (first < capture.expected_count &&
	       address_of(capture.expected[first]) != capture.walked[1])
		first++;
	CHECK(capture.walked_count >= least);
	CHECK(capture.is_complete);
	CHECK_EQ(capture.walked_count - 1, capture.expected_count - first);
	for (int i = 1; i < capture.walked_count; i++)
		CHECK_EQ(capture.walked[i], address_of(capture.expected[first + i - 1]));
}

static __attribute__((noinline)) int recurse(int depth, void (*leaf)(void));

static int compare_by_recursion(const void *left, const void *right)
{
	const int depth = *(const int *)left;

	return depth > 0 ? recurse(depth - 1, take_capture) : (take_capture(), (void)right, 0);
}

/* Through libc and back, and through frames of odd sizes. */
static __attribute__((noinline)) int recurse(int depth, void (*leaf)(void))
{
	volatile char *room = __builtin_alloca((size_t)depth * 24 + 8);
	int pair[2] = {depth, depth};

	room[0] = (char)depth;
	if (depth == 0)
		leaf();
	else if (depth % 3 == 0)
		qsort(pair, 2, sizeof(int), compare_by_recursion);
	else
		recurse(depth - 1, leaf);
	return room[0];
}

UNIT_TEST(walk_of_a_deep_stack)
{
	static struct tables tables;

	tables_open(&tables);
	recurse(20, take_capture);
	check_capture(25);
}

static void on_signal(int number)
{
	(void)number;
	recurse(2, take_capture);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
}

UNIT_TEST(walk_out_of_a_signal_handler)
{
	static struct tables tables;

	tables_open(&tables);
	signal(SIGUSR1, on_signal);
	recurse(5, raise_signal);
	check_capture(12);
}

/* No copies of a function with fewer arguments, please. */
#ifdef __clang__
#define AS_WRITTEN __attribute__((noinline))
#else
#define AS_WRITTEN __attribute__((noipa))
#endif

/*
 * Realigns a stack of variable size: gcc then keeps the old stack pointer in a register of its own,
 * and describes the CFA by an expression.
 */
static AS_WRITTEN int realigned(int size, int b, int c, int d, int e, int f, int on_stack)
{
	alignas(64) volatile char room[64];
	volatile char *more = __builtin_alloca((size_t)size);

	room[size & 63] = more[0] = (char)(b + c + d + e + f);
	recurse(3, take_capture);
	return room[size & 63] + on_stack;
}

/* Has a frame pointer, so that the walk goes wrong if the frame below lost it. */
static AS_WRITTEN int call_realigned(int size)
{
	volatile char *room = __builtin_alloca((size_t)size);

	room[0] = 1;
	return realigned(size, 2, 3, 4, 5, 6, size) + room[0];
}

UNIT_TEST(walk_through_a_realigned_frame)
{
	static struct tables tables;

	tables_open(&tables);
	call_realigned(100);
	check_capture(6);
}

static void *thread_start(void *unused)
{
	recurse(4, take_capture);
	return unused;
}

UNIT_TEST(walk_to_the_end_of_a_thread)
{
	static struct tables tables;
	pthread_t thread;

	tables_open(&tables);
	CHECK_EQ(pthread_create(&thread, NULL, thread_start, NULL), 0);
	pthread_join(thread, NULL);
	check_capture(6);
}

/* ---- handmade sections ----------------------------------------------------------------------- */

#define TEXT 0x1000u
#define TEXT_SIZE 0x1000u
#define SECTION 0xb8u

/* An ELF file of one segment, which holds .eh_frame_hdr and .eh_frame. */
struct handmade {
	uint8_t bytes[4096];
	size_t size;
	size_t cie;
	struct elf_image image;
	struct elf_text text;
};

static void put(struct handmade *made, const void *bytes, size_t size)
{
	CHECK(made->size + size <= sizeof(made->bytes));
	if (size > 0)
		memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

static void put_word(struct handmade *made, uint32_t value)
{
	put(made, &value, sizeof(value));
}

/* Sets the length of the entry that began at `start`, padded with nops. */
static void end_entry(struct handmade *made, size_t start)
{
	while ((made->size - start) % 8)
		put(made, "", 1);
	const uint32_t length = (uint32_t)(made->size - start - 4);
	memcpy(made->bytes + start, &length, sizeof(length));
}

static void put_cie(struct handmade *made, const char *augmentation)
{
	const uint8_t factors[] = {1, 0x78, PC},
		      program[] = {DW_CFA_def_cfa, SP, 8, DW_CFA_offset | PC, 1};

	made->cie = made->size;
	put_word(made, 0);
	put_word(made, 0);
	put(made, "\1", 1);
	put(made, augmentation, strlen(augmentation) + 1);
	put(made, factors, sizeof(factors));
	put(made, "\1\x1b", 2); /* one byte: pointers are pc-relative, 4 bytes */
	put(made, program, sizeof(program));
	end_entry(made, made->cie);
}

static void put_fde(struct handmade *made, uint32_t lo, uint32_t size, const uint8_t *program,
		    size_t program_size)
{
	const size_t start = made->size;

	put_word(made, 0);
	put_word(made, (uint32_t)(start + 4 - made->cie));
	put_word(made, lo - (uint32_t)made->size);
	put_word(made, size);
	put(made, "", 1);
	put(made, program, program_size);
	end_entry(made, start);
}

static void made_begin(struct handmade *made, const char *augmentation)
{
	const uint8_t header[] = {
		1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_omit, DW_EH_PE_omit, 4, 0, 0, 0};

	*made = (struct handmade){.size = SECTION - sizeof(header),
				  .text = {.lo = TEXT, .hi = TEXT + TEXT_SIZE}};
	put(made, header, sizeof(header));
	put_cie(made, augmentation);
}

static int made_build(struct handmade *made, struct unwind_table *out_table)
{
	const Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					       ELFDATA2LSB, EV_CURRENT},
				   .e_type = ET_DYN,
				   .e_machine = EM_X86_64,
				   .e_version = EV_CURRENT,
				   .e_phoff = sizeof(Elf64_Ehdr),
				   .e_ehsize = sizeof(Elf64_Ehdr),
				   .e_phentsize = sizeof(Elf64_Phdr),
				   .e_phnum = 2};
	const Elf64_Phdr segments[2] = {
		{.p_type = PT_LOAD, .p_filesz = made->size + 4, .p_memsz = 2 * TEXT},
		{.p_type = PT_GNU_EH_FRAME,
		 .p_offset = SECTION - 8,
		 .p_vaddr = SECTION - 8,
		 .p_filesz = 8}};
	int err;

	memcpy(made->bytes, &header, sizeof(header));
	memcpy(made->bytes + sizeof(header), segments, sizeof(segments));
	elf_version(EV_CURRENT);
	/*
	 * Of exactly this size on the heap, so that a sanitizer sees a read beyond; with room for
	 * the end mark.
	 */
	char *copy = malloc(made->size + 4);
	memcpy(copy, made->bytes, made->size);
	memset(copy + made->size, 0, 4);
	made->image.elf = elf_memory(copy, made->size + 4);
	err = made->image.elf ? unwind_table_build(&made->image, &made->text, out_table) : -EINVAL;
	elf_end(made->image.elf);
	free(copy);
	return err;
}

struct wanted_row {
	uint32_t pc;
	int kind, cfa, bp_slot;
};

static void check_rows(const struct unwind_table *table, const struct wanted_row *wanted,
		       size_t count)
{
	check_shape(table);
	for (size_t i = 0; i < count && i < table->row_count; i++)
		if (table->row[i].pc != wanted[i].pc ||
		    !is_row(&table->row[i], wanted[i].kind, wanted[i].cfa, wanted[i].bp_slot))
			UNIT_FAIL("row %zu: pc %u kind %d cfa %d bp %d, want %u %d %d %d", i,
				  table->row[i].pc, table->row[i].kind, table->row[i].cfa,
				  table->row[i].bp_slot, wanted[i].pc, wanted[i].kind,
				  wanted[i].cfa, wanted[i].bp_slot);
	CHECK_EQ(table->row_count, count);
}

/* One FDE over [TEXT, TEXT + 0x100) with this program has these rows, and nothing after. */
static void check_program(const uint8_t *program, size_t size, const struct wanted_row *rows,
			  size_t count)
{
	struct unwind_table table;
	struct handmade made;

	made_begin(&made, "zR");
	put_fde(&made, TEXT, 0x100, program, size);
	CHECK_EQ(made_build(&made, &table), 0);
	check_rows(&table, rows, count);
	unwind_table_close(&table);
}

#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define ROWS(...)                                 \
	(const struct wanted_row[]){__VA_ARGS__}, \
		sizeof((const struct wanted_row[]){__VA_ARGS__}) / sizeof(struct wanted_row)
#define ENTRY_ROW                     \
	{                             \
		0, HI_UNWIND_SP, 1, 0 \
	}
#define LAST_ROW                            \
	{                                   \
		0x100, HI_UNWIND_NONE, 0, 0 \
	}

UNIT_TEST(program_of_a_frame_pointer_function)
{
	check_program(PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | BP,
			      2, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, BP,
			      DW_CFA_advance_loc1, 0x40, DW_CFA_remember_state, DW_CFA_def_cfa, SP,
			      8, DW_CFA_restore | BP, DW_CFA_advance_loc2, 1, 0,
			      DW_CFA_restore_state, DW_CFA_advance_loc4, 2, 0, 0, 0,
			      DW_CFA_GNU_args_size, 0x85, 1, DW_CFA_same_value, BP),
		      ROWS(ENTRY_ROW, {1, HI_UNWIND_SP, 2, -2}, {4, HI_UNWIND_BP, 2, -2},
			   {0x44, HI_UNWIND_SP, 1, 0}, {0x45, HI_UNWIND_BP, 2, -2},
			   {0x47, HI_UNWIND_BP, 2, 0}, LAST_ROW));
}

UNIT_TEST(program_with_signed_and_extended_forms)
{
	check_program(PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_sf, SP, 0x7e,
			      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset_sf, 0x7d,
			      DW_CFA_advance_loc | 1, DW_CFA_offset_extended, BP, 3,
			      DW_CFA_advance_loc | 1, DW_CFA_offset_extended_sf, BP, 4,
			      DW_CFA_advance_loc | 1, DW_CFA_GNU_negative_offset_extended, BP, 3,
			      DW_CFA_advance_loc | 1, DW_CFA_restore_extended, BP),
		      ROWS(ENTRY_ROW, {1, HI_UNWIND_SP, 2, 0}, {2, HI_UNWIND_SP, 3, 0},
			   {3, HI_UNWIND_SP, 3, -3}, {4, HI_UNWIND_SP, 3, -4},
			   {5, HI_UNWIND_NONE, 0, 0}, {6, HI_UNWIND_SP, 3, 0}, LAST_ROW));
}

UNIT_TEST(program_of_expressions)
{
	check_program(PROGRAM(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
			      DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			      DW_OP_plus, DW_CFA_advance_loc | 16, DW_CFA_def_cfa_expression, 3,
			      DW_OP_breg6, 0x78, DW_OP_deref, DW_CFA_advance_loc | 16,
			      DW_CFA_expression, BP, 2, DW_OP_breg6, 0, DW_CFA_advance_loc | 16,
			      DW_CFA_expression, BP, 2, DW_OP_breg6, 8),
		      ROWS({0, HI_UNWIND_PLT, 11, 0}, {16, HI_UNWIND_NONE, 0, 0},
			   {32, HI_UNWIND_BP_DEREF, -1, 0}, {48, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(program_of_hand_written_code)
{
	/*
	 * rbx, r11 and bp saved; then *(rsp - 8) + 8, *(rsp + 544) + 56, *(rsp + 8 + r9 * 8) + 8.
	 */
	check_program(
		PROGRAM(DW_CFA_def_cfa, 3, 8, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_sf, 11, 1,
			DW_CFA_offset | BP, 2, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 5,
			DW_OP_breg7, 0x78, DW_OP_deref, DW_OP_plus_uconst, 8,
			DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0xa0, 4,
			DW_OP_deref, DW_OP_plus_uconst, 56, DW_CFA_advance_loc | 1,
			DW_CFA_def_cfa_expression, 10, DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8,
			DW_OP_mul, DW_OP_plus, DW_OP_deref, DW_OP_plus_uconst, 8),
		ROWS({0, HI_UNWIND_REGISTER, 32 + 16, 0}, {1, HI_UNWIND_SCRATCH, -32 + 8, -2},
		     {2, HI_UNWIND_SPILLED, -32 + 1, -2}, {3, HI_UNWIND_SPILLED, 68 * 32 + 7, -2},
		     {4, HI_UNWIND_INDEXED, 32 + 6, -2}, LAST_ROW));
	/* Further below sp, too far above it, half words, other operations, cut short. */
	const uint8_t odd[][8] = {{4, DW_OP_breg7, 0x70, DW_OP_deref, DW_OP_nop},
				  {3, DW_OP_breg7, 0x70, DW_OP_deref},
				  {4, DW_OP_breg7, 0x80, 0x80, 1},
				  {3, DW_OP_breg7, 12, DW_OP_deref},
				  {5, DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst, 12},
				  {6, DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst, 0x80, 2},
				  {5, DW_OP_breg7, 8, DW_OP_deref, DW_OP_minus, 8},
				  {4, DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst},
				  {5, DW_OP_breg3, 8, DW_OP_deref, DW_OP_plus_uconst, 8}};
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		uint8_t program[1 + sizeof(odd[0])] = {DW_CFA_def_cfa_expression};

		memcpy(program + 1, odd[i], odd[i][0] + 1u);
		check_program(program, odd[i][0] + 2u, ROWS({0, HI_UNWIND_NONE, 0, 0}));
	}
}

UNIT_TEST(program_that_a_row_cannot_say)
{
	/*
	 * A CFA from another register and odd, an odd CFA, a far bp, bp in a register, a moved
	 * return address; then an outermost frame.
	 */
	check_program(
		PROGRAM(DW_CFA_def_cfa, 3, 12, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, SP, 8,
			DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 12, DW_CFA_advance_loc | 1,
			DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 1, DW_CFA_offset | BP, 0x81,
			1, DW_CFA_advance_loc | 1, DW_CFA_offset | BP, 0x80, 1,
			DW_CFA_advance_loc | 1, DW_CFA_register, BP, 3, DW_CFA_advance_loc | 1,
			DW_CFA_val_offset, BP, 2, DW_CFA_restore | BP, DW_CFA_offset | PC, 2,
			DW_CFA_advance_loc | 1, DW_CFA_undefined, PC),
		ROWS({0, HI_UNWIND_NONE, 0, 0}, {1, HI_UNWIND_SP, 1, 0}, {2, HI_UNWIND_NONE, 0, 0},
		     {3, HI_UNWIND_SP, 2, 0}, {4, HI_UNWIND_NONE, 0, 0}, {5, HI_UNWIND_SP, 2, -128},
		     {6, HI_UNWIND_NONE, 0, 0}, {8, HI_UNWIND_END, 0, 0}, LAST_ROW));
}

UNIT_TEST(program_that_makes_no_sense)
{
	check_program(PROGRAM(DW_CFA_advance_loc | 4, 0x2d, DW_CFA_advance_loc | 4,
			      DW_CFA_def_cfa_offset, 16),
		      ROWS(ENTRY_ROW, {4, HI_UNWIND_NONE, 0, 0}));
	check_program(PROGRAM(DW_CFA_advance_loc | 4, DW_CFA_restore_state),
		      ROWS(ENTRY_ROW, {4, HI_UNWIND_NONE, 0, 0}));
	check_program(PROGRAM(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_expression, 0x7f),
		      ROWS(ENTRY_ROW, {4, HI_UNWIND_NONE, 0, 0}));
	check_program(
		PROGRAM(DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff, DW_CFA_def_cfa_offset, 16),
		ROWS(ENTRY_ROW, LAST_ROW));
	/* Backwards. */
	check_program(PROGRAM(DW_CFA_advance_loc | 4, DW_CFA_set_loc, 0, 0, 0, 0),
		      ROWS(ENTRY_ROW, {4, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(signal_trampolines)
{
	struct unwind_table table;
	struct handmade made;

	made_begin(&made, "zRS");
	put_fde(&made, TEXT, 0x10, PROGRAM(DW_CFA_nop));
	CHECK_EQ(made_build(&made, &table), 0);
	check_rows(&table, ROWS({0, HI_UNWIND_SIGNAL, 0, 0}, {0x10, HI_UNWIND_NONE, 0, 0}));
	unwind_table_close(&table);
}

UNIT_TEST(functions_in_any_order_with_gaps_overlaps_and_outside)
{
	const uint8_t pushed[] = {DW_CFA_def_cfa_offset, 16};
	struct unwind_table table;
	struct handmade made;

	made_begin(&made, "zR");
	put_fde(&made, TEXT + 0x100, 0x40, pushed, 2);
	put_fde(&made, TEXT + 0x80, 0x80, NULL, 0);
	put_fde(&made, TEXT - 0x40, 0x60, pushed, 2);
	put_fde(&made, TEXT + 0x120, 0x10, NULL, 0);
	put_fde(&made, TEXT + TEXT_SIZE - 0x10, 0x1000, NULL, 0);
	put_fde(&made, 0x20, 0x10, NULL, 0);
	put_fde(&made, TEXT + TEXT_SIZE, 0x10, pushed, 2);
	put_fde(&made, TEXT + 0x200, 0, pushed, 2);
	CHECK_EQ(made_build(&made, &table), 0);
	check_rows(&table, ROWS({0, HI_UNWIND_SP, 2, 0}, {0x20, HI_UNWIND_NONE, 0, 0},
				{0x80, HI_UNWIND_SP, 1, 0}, {0x100, HI_UNWIND_SP, 2, 0},
				{0x120, HI_UNWIND_SP, 1, 0}, {0x130, HI_UNWIND_NONE, 0, 0},
				{TEXT_SIZE - 0x10, HI_UNWIND_SP, 1, 0}));
	unwind_table_close(&table);
}

UNIT_TEST(an_object_without_section_has_no_table)
{
	struct unwind_table table;
	struct handmade made;

	made_begin(&made, "zR");
	made.bytes[SECTION - 8] = 7; /* version of .eh_frame_hdr */
	CHECK_EQ(made_build(&made, &table), -ENOENT);
}

/* ---- damaged sections ------------------------------------------------------------------------ */

UNIT_SLOW_TEST(damaged_sections_do_no_harm)
{
	struct own own = own_open();
	const struct elf_image *loader = own_image(&own, "ld-linux");
	struct elf_image image = {.bias = 0};
	struct elf_text text = {.lo = loader->text[0].lo - loader->bias,
				.hi = loader->text[0].hi - loader->bias};
	GElf_Shdr header;
	Elf_Scn *section = NULL;
	struct stat status;
	unsigned random = 1;

	while ((section = elf_nextscn(loader->elf, section)) && gelf_getshdr(section, &header)) {
		size_t names;

		CHECK_EQ(elf_getshdrstrndx(loader->elf, &names), 0);
		if (strcmp(elf_strptr(loader->elf, names, header.sh_name), ".eh_frame") == 0)
			break;
	}
	CHECK(section != NULL && fstat(loader->fd, &status) == 0);
	for (unsigned round = 0; round < 400; round++) {
		/* Cut in every third; else whole, with bytes changed all over the section. */
		const size_t end = header.sh_offset + header.sh_size,
			     size = round % 3 ? (size_t)status.st_size
					      : end - (size_t)rand_r(&random) % header.sh_size;
		uint8_t *bytes = malloc(size);
		struct unwind_table table;

		CHECK_EQ(pread(loader->fd, bytes, size, 0), (ssize_t)size);
		for (unsigned flips = 0; flips < 1u << round % 8 && size >= end; flips++)
			bytes[header.sh_offset + (size_t)rand_r(&random) % header.sh_size] =
				(uint8_t)rand_r(&random);
		image.elf = elf_memory((char *)bytes, size);
		if (image.elf && unwind_table_build(&image, &text, &table) == 0) {
			check_shape(&table);
			unwind_table_close(&table);
		}
		elf_end(image.elf);
		free(bytes);
	}
	own_close(&own);
}

UNIT_MAIN()
