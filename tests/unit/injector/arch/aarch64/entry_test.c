/* SPDX-License-Identifier: MIT */
/*
 * entry: the first instruction of a function is executed where it is and where it is moved to, near
 * and far, and leaves the same. Distances are as large as an instruction can have them.
 */
#include "arch.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "a64.h"
#include "unit.h"

#define PAGE 4096ull
#define MIB (1ull << 20)
#define FUNCTION 0x200000000000ull /* the function's page: there is room around it */
#define ARGUMENT 0x1234
#define ELSEWHERE 77 /* what the code returns to which a branch leads */

#ifndef PROT_BTI
#define PROT_BTI 0x10
#endif
#ifndef HWCAP2_BTI
#define HWCAP2_BTI (1 << 17)
#endif

#define PACIASP 0xd503233f
#define PACIBSP 0xd503237f
#define AUTIASP 0xd50323bf
#define AUTIBSP 0xd50323ff
#define BTI_C 0xd503245f
#define MOV_X0(value) (0xd2800000u | (uint32_t)(value) << 5)

static uint32_t *map_page(uint64_t at)
{
	void *page = mmap((void *)at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (page != (void *)at)
		UNIT_FAIL("nothing can be mapped at 0x%" PRIx64, at);
	return page;
}

static void unmap_page(uint64_t at)
{
	CHECK_EQ(munmap((void *)(at / PAGE * PAGE), PAGE), 0);
}

static void synchronize(uint64_t at, size_t size)
{
	__builtin___clear_cache((char *)at, (char *)(at + size));
}

static void write_words(uint64_t at, const uint32_t *word, size_t count)
{
	memcpy((void *)at, word, count * sizeof(*word));
	synchronize(at, count * sizeof(*word));
}

/* What is left of a call: x0, x1 and the vector register 0. */
struct left {
	uint64_t x0, x1, v0[2];
};

static struct left call(uint64_t at, uint64_t argument)
{
	register uint64_t x0 __asm__("x0") = argument;
	register uint64_t x1 __asm__("x1") = 5;
	register uint64_t function __asm__("x16") = at;
	struct left left;

	__asm__ volatile("movi v0.2d, #0\n\tblr %2\n\tstr q0, [%3]"
			 : "+r"(x0), "+r"(x1), "+r"(function)
			 : "r"(left.v0)
			 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
			   "x13", "x14", "x15", "x17", "x30", "v0", "memory", "cc");
	left.x0 = x0;
	left.x1 = x1;
	return left;
}

/*
 * The function of these words does the same as its exit at each of these places. arguments: of the
 * calls that are compared.
 */
static void check_moved(const uint32_t *word, size_t count, uint64_t at)
{
	static const uint64_t distances[] = {PAGE,  100 * MIB,  126 * MIB,
					     -PAGE, -100 * MIB, -126 * MIB};
	static const uint64_t arguments[] = {0, ARGUMENT};
	const uint8_t *code = (const uint8_t *)at;

	write_words(at, word, count);
	CHECK_EQ(arch_entry_size(code, at), A64_BYTES);
	for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++) {
		const uint64_t page = at / PAGE * PAGE + distances[i], exit = page + 64;
		uint8_t moved[ARCH_EXIT_BYTES];

		map_page(page);
		if (!arch_make_exit(code, at, exit, moved))
			UNIT_FAIL("%08x is not moved by 0x%" PRIx64, word[0], distances[i]);
		memcpy((void *)exit, moved, sizeof(moved));
		synchronize(exit, sizeof(moved));
		for (size_t n = 0; n < sizeof(arguments) / sizeof(*arguments); n++) {
			const struct left was = call(at, arguments[n]),
					  is = call(exit, arguments[n]);

			if (memcmp(&was, &is, sizeof(was)) != 0)
				UNIT_FAIL("%08x, moved by 0x%" PRIx64 ": x0 0x%" PRIx64
					  " became 0x%" PRIx64,
					  word[0], distances[i], was.x0, is.x0);
		}
		unmap_page(page);
	}
}

static void check_word(uint32_t word)
{
	check_moved((const uint32_t[]){word, A64_RET}, 2, FUNCTION);
}

UNIT_TEST(what_does_not_depend_on_its_place_is_copied)
{
	map_page(FUNCTION);
	check_word(0x91000400); /* add x0, x0, #1 */
	check_word(0xaa0103e0); /* mov x0, x1 */
	check_word(A64_NOP);
	check_word(A64_RET);
	check_moved((const uint32_t[]){0xa9bf7bfd, 0xd2800020, 0xa8c17bfd, A64_RET}, 4,
		    FUNCTION); /* stp x29, x30, [sp, #-16]!; ... ldp */
}

UNIT_TEST(addresses_stay_what_they_were)
{
	static const int32_t fields[] = {0, 1, 2, 3, 4095, (1 << 20) - 1, -1, -(1 << 20)};

	map_page(FUNCTION);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const uint32_t field = (uint32_t)fields[i],
			       bits = (field & 3) << 29 | (field >> 2 & 0x7ffff) << 5;

		check_word(0x10000000 | bits);     /* adr x0 */
		check_word(0x90000000 | bits);     /* adrp x0 */
		check_word(0x90000000 | bits | 1); /* adrp x1 */
	}
}

/* A branch to code as far away as its bits reach. */
static void check_branch(uint32_t opcode, unsigned shift, int64_t distance)
{
	const unsigned bits = shift ? (opcode >> 25 & 1 ? 14 : 19) : 26;
	const uint64_t target = FUNCTION + (uint64_t)distance,
		       page = target / PAGE * PAGE == FUNCTION ? 0 : target / PAGE * PAGE;
	const uint32_t field = (uint32_t)((uint64_t)distance >> 2) & ((1u << bits) - 1);

	if (page)
		map_page(page);
	if (page && (target + 4) % PAGE == 0)
		map_page(page + PAGE);
	write_words(target, (const uint32_t[]){MOV_X0(ELSEWHERE), A64_RET}, 2);
	check_moved((const uint32_t[]){opcode | field << shift, A64_RET}, 2, FUNCTION);
	if (page)
		unmap_page(page);
	if (page && (target + 4) % PAGE == 0)
		unmap_page(page + PAGE);
}

UNIT_TEST(conditional_branches_lead_where_they_led)
{
	static const uint32_t compares[] = {0xb4000000, 0xb5000000, 0x34000000, 0x35000000},
			      tests[] = {0x36100000, 0x37100000, 0xb6000000, 0xb7000000};

	map_page(FUNCTION);
	for (size_t i = 0; i < 4; i++) {
		check_branch(compares[i], 5, 512);
		check_branch(compares[i], 5, MIB - 4);
		check_branch(compares[i], 5, -(int64_t)MIB);
		check_branch(tests[i], 5, 512);
		check_branch(tests[i], 5, 32768 - 4);
		check_branch(tests[i], 5, -32768);
	}
}

UNIT_TEST(jumps_lead_where_they_led)
{
	map_page(FUNCTION);
	check_branch(0x14000000, 0, 512);
	check_branch(0x14000000, 0, MIB / 2);
	check_branch(0x14000000, 0, -(int64_t)MIB / 2);
}

/* mov x2, x30; bl; and back by x2 */
UNIT_TEST(a_call_returns_behind_itself)
{
	map_page(FUNCTION);
	write_words(FUNCTION + 512, (const uint32_t[]){MOV_X0(ELSEWHERE), A64_RET}, 2);
	/* bl; mov x1, x30; br x17, where the caller put no address: so the test makes its own */
	uint8_t exit[ARCH_EXIT_BYTES];
	const uint32_t bl = 0x94000000 | 128;
	uint64_t back;

	write_words(FUNCTION, &bl, 1);
	CHECK(arch_make_exit((const uint8_t *)FUNCTION, FUNCTION, FUNCTION + 100 * MIB, exit));
	memcpy(&back, exit + 8, sizeof(back));
	CHECK_EQ(back, FUNCTION + A64_BYTES);
	CHECK_EQ(a64_read(exit), 0x58000040 | 30); /* ldr x30, .+8 */
	CHECK_EQ(a64_target(a64_read(exit + 4), FUNCTION + 100 * MIB + 4), FUNCTION + 512);
	/* and executed: the function saves x30 in x2 first, and is entered behind that */
	write_words(FUNCTION, (const uint32_t[]){0xaa1e03e2, bl - 1, 0xaa0203fe, A64_RET}, 4);
	uint32_t *elsewhere = map_page(FUNCTION + 100 * MIB);

	CHECK(arch_make_exit((const uint8_t *)FUNCTION + 4, FUNCTION + 4, FUNCTION + 100 * MIB + 4,
			     (uint8_t *)(elsewhere + 1)));
	elsewhere[0] = 0xaa1e03e2; /* mov x2, x30 */
	synchronize(FUNCTION + 100 * MIB, 64);
	CHECK_EQ(call(FUNCTION + 100 * MIB, 0).x0, call(FUNCTION, 0).x0);
	CHECK_EQ(call(FUNCTION, 0).x0, ELSEWHERE);
}

/* ldr w, ldr x, ldrsw, prfm, ldr s, d, q; near enough for the moved one, and not. */
UNIT_TEST(literals_are_loaded_from_where_they_were)
{
	static const uint32_t loads[] = {0x18000000, 0x58000000, 0x98000000, 0xd8000000,
					 0x1c000000, 0x5c000000, 0x9c000000};
	static const int64_t distances[] = {512, 516, MIB - 4, -(int64_t)MIB};

	map_page(FUNCTION);
	for (size_t n = 0; n < 4; n++) {
		const uint64_t at = FUNCTION + (uint64_t)distances[n], page = at / PAGE * PAGE;

		if (page != FUNCTION)
			map_page(page);
		if (page + PAGE - at < 16)
			map_page(page + PAGE);
		memset((void *)at, 0xa7, 16);
		for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
			check_word(loads[i] | ((uint32_t)(distances[n] / 4) & 0x7ffff) << 5);
		if (page != FUNCTION)
			unmap_page(page);
		if (page + PAGE - at < 16)
			unmap_page(page + PAGE);
	}
}

UNIT_TEST(what_the_gate_changes_is_not_moved)
{
	static const uint32_t immovable[] = {
		0x54000040, /* b.eq */
		0xd63f0000, /* blr x0 */
		0xd61f0120, /* br x9 */
		0xd61f0220, /* br x17 */
		0xd4000001, /* svc */
		0xd4200000, /* brk */
		0xd69f03e0, /* eret */
		0x74000000, /* cbgt w0, w0: FEAT_CMPBR */
		0x5500001f, /* retaasppc */
		0xd50324ff, /* pacm */
		0xdac1a3fe, /* paciasppc */
		0,          /* udf */
	};

	for (size_t i = 0; i < sizeof(immovable) / sizeof(*immovable); i++) {
		uint8_t code[ARCH_ENTRY_MAX] = {0};

		memcpy(code, &immovable[i], sizeof(immovable[i]));
		CHECK_EQ(arch_entry_size(code, FUNCTION), 0);
	}
}

/* ---- landing pads ---------------------------------------------------------------------------- */

UNIT_TEST(landing_pads_are_known)
{
	static const struct {
		uint32_t word;
		struct arch_landing landing;
	} cases[] = {{BTI_C, {4, false}},   {0xd503249f, {4, false}}, {0xd50324df, {4, false}},
		     {PACIASP, {4, true}},  {PACIBSP, {4, true}},     {AUTIASP, {0, false}},
		     {A64_NOP, {0, false}}, {A64_RET, {0, false}}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[ARCH_ENTRY_MAX] = {0};

		memcpy(code, &cases[i].word, sizeof(cases[i].word));
		CHECK_EQ(arch_landing(code).size, cases[i].landing.size);
		CHECK_EQ(arch_landing(code).signs, cases[i].landing.signs);
	}
}

/*
 * In a page where landing pads are checked: the jump is behind the pad, what it leads to finds x30
 * as the caller left it, and the exit runs the function, by whom it may be called.
 */
static void check_landing(uint32_t pad, uint32_t end)
{
	/* stp x29, x30, [sp, #-16]!; add x0, x0, #1; ldp x29, x30, [sp], #16 */
	const uint32_t word[] = {pad, 0xa9bf7bfd, 0x91000400, 0xa8c17bfd, end, A64_RET};
	const uint64_t cell = FUNCTION + 64 * MIB;
	const bool is_checked = getauxval(AT_HWCAP2) & HWCAP2_BTI;
	uint8_t *const out = (uint8_t *)map_page(cell);
	uint8_t code[ARCH_ENTRY_MAX];

	map_page(FUNCTION);
	write_words(FUNCTION, word, 6);
	memcpy(code, word, sizeof(code));
	/* as a gate that counts nothing: x1 is x30 as it comes, and on to the exit */
	arch_make_landed(code, out);
	memcpy(out + 4, &(uint32_t){0xaa1e03e1}, 4); /* mov x1, x30 */
	CHECK(arch_make_exit(code, FUNCTION, cell + 8, out + 8));
	synchronize(cell, 64);
	CHECK(arch_make_jump((uint8_t *)FUNCTION + 4, ARCH_JUMP_BYTES, FUNCTION + 4, cell));
	synchronize(FUNCTION, 64);
	CHECK_EQ(mprotect((void *)FUNCTION, PAGE,
			  PROT_READ | PROT_EXEC | (is_checked ? PROT_BTI : 0)),
		 0);
	const struct left by_function = call(FUNCTION, ARGUMENT),
			  by_exit = call(cell + 8, ARGUMENT);

	CHECK_EQ(by_function.x0, ARGUMENT + 1);
	CHECK_EQ(by_exit.x0, ARGUMENT + 1);
	CHECK(by_function.x1 < 1ull << 48 && by_function.x1 != 5); /* no signature is left */
	unmap_page(FUNCTION);
	unmap_page(cell);
}

UNIT_TEST(landing_pads_stay)
{
	check_landing(BTI_C, A64_NOP);
	check_landing(PACIASP, AUTIASP);
	check_landing(PACIBSP, AUTIBSP);
}

UNIT_TEST(a_jump_behind_a_landing_pad_is_known)
{
	uint32_t word[5] = {BTI_C, 0x14000010};

	CHECK_EQ(arch_entry_target((const uint8_t *)word, FUNCTION), FUNCTION + 4 + 64);
	CHECK_EQ(arch_entry_target((const uint8_t *)(word + 1), FUNCTION), FUNCTION + 64);
	word[0] = PACIASP;
	CHECK_EQ(arch_entry_target((const uint8_t *)word, FUNCTION), 0);
}

UNIT_TEST(jumps_lead_as_far_as_they_can)
{
	uint8_t jump[ARCH_JUMP_BYTES];

	CHECK(arch_make_jump(jump, ARCH_JUMP_BYTES, FUNCTION, FUNCTION + 128 * MIB - 4));
	CHECK(!arch_make_jump(jump, ARCH_JUMP_BYTES, FUNCTION, FUNCTION + 128 * MIB));
	CHECK(arch_make_jump(jump, ARCH_JUMP_BYTES, FUNCTION, FUNCTION - 128 * MIB));
	CHECK(!arch_make_jump(jump, ARCH_JUMP_BYTES, FUNCTION, FUNCTION - 128 * MIB - 4));
}

UNIT_MAIN()
