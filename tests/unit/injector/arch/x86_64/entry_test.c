/* SPDX-License-Identifier: MIT */
/* entry: jumps, and the first instruction of a function, moved elsewhere. */
#include "arch.h"

#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

static const uint8_t PUSH_R12[ARCH_ENTRY_MAX] = {0x41, 0x54, 0x55, 0x53, 0x48, 0x83, 0xec, 0x10};
/* cmpb $0, 0x140e71(%rip) */
static const uint8_t COMPARE[ARCH_ENTRY_MAX] = {0x80, 0x3d, 0x71, 0x0e, 0x14,
						0x00, 0x00, 0x74, 0x07};
static const uint8_t JUMP[ARCH_ENTRY_MAX] = {0xe9, 0x10, 0x20, 0x00, 0x00};
static const uint8_t MOVE[ARCH_ENTRY_MAX] = {0x48, 0x89, 0xf8, 0x41, 0x54, 0x48, 0x0f, 0xaf};
static const uint8_t PUSH_RBX[ARCH_ENTRY_MAX] = {0x53, 0x48, 0x89, 0xfb};

UNIT_TEST(a_first_instruction_is_measured)
{
	const uint8_t call[ARCH_ENTRY_MAX] = {0xe8, 1, 2, 3, 4}, branch[ARCH_ENTRY_MAX] = {0x74, 5},
		      ret[ARCH_ENTRY_MAX] = {0xc3}, through[ARCH_ENTRY_MAX] = {0xff, 0x25, 1, 2, 3};
	CHECK_EQ(arch_entry_size(PUSH_R12, 0x1000), 2);
	CHECK_EQ(arch_entry_size(COMPARE, 0x1000), 7);
	CHECK_EQ(arch_entry_size(JUMP, 0x1000), 5);
	CHECK_EQ(arch_entry_size(PUSH_RBX, 0x1000), 1);
	CHECK_EQ(arch_entry_size(call, 0x1000), 0);
	CHECK_EQ(arch_entry_size(branch, 0x1000), 0);
	CHECK_EQ(arch_entry_size(ret, 0x1000), 1);
	CHECK_EQ(arch_entry_size(through, 0x1000), 6);
	CHECK_EQ(arch_entry_target(through, 0x1000), 0);
	CHECK_EQ(arch_entry_target(JUMP, 0x1000), 0x1000 + 5 + 0x2010);
	CHECK_EQ(arch_entry_target(PUSH_R12, 0x1000), 0);
}

UNIT_TEST(an_operand_relative_to_pc_stays_what_it_was)
{
	uint8_t exit[ARCH_EXIT_BYTES];
	int32_t distance;
	CHECK(arch_make_exit(COMPARE, 0x10000000, 0x20000000, exit));
	memcpy(&distance, exit + 2, sizeof(distance));
	CHECK_EQ(0x20000000 + 7 + (int64_t)distance, 0x10000000 + 7 + 0x140e71);
	CHECK_EQ(exit[7], 0xe9);
	memcpy(&distance, exit + 8, sizeof(distance));
	CHECK_EQ(0x20000000 + 12 + (int64_t)distance, 0x10000000 + 7);
	CHECK(!arch_make_exit(COMPARE, 0x10000000, 0x10000000 + (1ull << 32), exit));
}

UNIT_TEST(a_jump_leads_where_it_led)
{
	uint8_t exit[ARCH_EXIT_BYTES];
	int32_t distance;
	CHECK(arch_make_exit(JUMP, 0x10000000, 0x20000000, exit));
	memcpy(&distance, exit + 1, sizeof(distance));
	CHECK_EQ(0x20000000 + 5 + (int64_t)distance, 0x10000000 + 5 + 0x2010);
}

UNIT_TEST(jumps_lead_as_far_as_they_can)
{
	uint8_t jump[ARCH_JUMP_BYTES];
	CHECK(arch_make_jump(jump, ARCH_SHORT_JUMP_BYTES, 1000, 1000 + 2 + 127));
	CHECK(!arch_make_jump(jump, ARCH_SHORT_JUMP_BYTES, 1000, 1000 + 2 + 128));
	CHECK(arch_make_jump(jump, ARCH_SHORT_JUMP_BYTES, 1000, 1000 + 2 - 128));
	CHECK(!arch_make_jump(jump, ARCH_SHORT_JUMP_BYTES, 1000, 1000 + 2 - 129));
	CHECK(arch_make_jump(jump, ARCH_JUMP_BYTES, 1ull << 40, (1ull << 40) + 5 + INT32_MAX));
	CHECK(!arch_make_jump(jump, ARCH_JUMP_BYTES, 1ull << 40, (1ull << 40) + 6 + INT32_MAX));
}

/* To anywhere, also to where no distance of 32 bits reaches. */
UNIT_TEST(a_far_jump_leads_anywhere)
{
	uint8_t *const code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(code != MAP_FAILED);
	arch_make_far_jump(code, (uintptr_t)getppid);
	CHECK_EQ(((pid_t(*)(void))(uintptr_t)code)(), getppid());
	arch_make_far_jump(code, 0x123456789abcdef0);
	uint64_t to;
	memcpy(&to, code + 6, sizeof(to));
	CHECK_EQ(to, 0x123456789abcdef0);
	munmap(code, 4096);
}

/* Of a jump at PUSH_R12 one byte of the distance may be chosen: 0x485355 is there already. */
UNIT_TEST(a_punned_jump_keeps_what_follows_the_first_instruction)
{
	uint64_t lo, hi;
	uint8_t jump[ARCH_JUMP_BYTES];
	CHECK(arch_punned_reach(PUSH_R12, 2, ARCH_JUMP_BYTES, 0x7f0000000000, &lo, &hi));
	CHECK_EQ(lo, 0x7f0000000005 + 0x48535500);
	CHECK_EQ(hi - lo, 256);
	CHECK(arch_make_jump(jump, ARCH_JUMP_BYTES, 0x7f0000000000, lo + 77));
	CHECK_EQ(memcmp(jump + 2, PUSH_R12 + 2, 3), 0);
	CHECK(arch_punned_reach(PUSH_RBX, 1, ARCH_JUMP_BYTES, 0x7f0000000000, &lo, &hi));
	CHECK_EQ(hi - lo, 1);
	CHECK(!arch_punned_reach(PUSH_R12, 2, ARCH_JUMP_BYTES, 0x1000, &lo, &hi) || lo > 0x1000);
	/* it needs none */
	CHECK(!arch_punned_reach(COMPARE, 5, ARCH_JUMP_BYTES, 0x7f0000000000, &lo, &hi));
}

/* With a prefix the opcode is the second byte, and the distance is what follows: 0x83485355. */
UNIT_TEST(a_longer_jump_keeps_other_bytes)
{
	const uint64_t at = 0x7f0000000000;
	uint64_t lo, hi;
	uint8_t jump[ARCH_PADDED_JUMP_MAX];
	CHECK(arch_punned_reach(PUSH_R12, 2, ARCH_JUMP_BYTES + 1, at, &lo, &hi));
	CHECK_EQ(lo, at + 6 - 0x7cb7acab);
	CHECK_EQ(hi - lo, 1);
	CHECK(arch_make_jump(jump, ARCH_JUMP_BYTES + 1, at, lo));
	CHECK_EQ(memcmp(jump + 2, PUSH_R12 + 2, 4), 0);
	CHECK(!arch_punned_reach(PUSH_R12, 2, ARCH_JUMP_BYTES + 2, at, &lo, &hi));
	CHECK(!arch_punned_reach(PUSH_RBX, 1, ARCH_JUMP_BYTES + 1, at, &lo, &hi));
	CHECK(arch_punned_reach(MOVE, 3, ARCH_JUMP_BYTES + 1, at, &lo, &hi));
	CHECK_EQ(hi - lo, 256);
	CHECK(arch_punned_reach(MOVE, 3, ARCH_JUMP_BYTES + 2, at, &lo, &hi));
	CHECK_EQ(hi - lo, 1);
}

UNIT_TEST(a_jump_of_any_size_leads_there)
{
	uint8_t *const code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(code != MAP_FAILED);
	arch_make_far_jump(code + 2048, (uintptr_t)getppid);
	for (size_t size = ARCH_JUMP_BYTES; size <= ARCH_PADDED_JUMP_MAX; size++) {
		arch_fill(code, 16);
		CHECK(arch_make_jump(code, size, (uintptr_t)code, (uintptr_t)code + 2048));
		CHECK_EQ(((pid_t(*)(void))(uintptr_t)code)(), getppid());
	}
	munmap(code, 4096);
}

UNIT_MAIN()
