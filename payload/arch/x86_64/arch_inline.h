/* SPDX-License-Identifier: MIT */
/*
 * arch_inline.h - those functions of arch.h that are an instruction or two on x86-64. Included by
 * arch.h alone.
 */
#ifndef PAYLOAD_ARCH_INLINE_H
#define PAYLOAD_ARCH_INLINE_H

static inline uint64_t arch_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/*
 * rdtscp waits until all instructions before it have been executed, and does not delay those after
 * it.
 */
static inline uint64_t arch_cycles_fast(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
	return (uint64_t)high << 32 | low;
}

static inline uint64_t arch_cycles_about(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* All are of 2 to 4 GHz. */
static inline uint64_t arch_ticks(uint64_t cycles)
{
	return cycles;
}

static inline uint64_t arch_program_break(void)
{
	uint64_t result = 12; /* __NR_brk */

	__asm__ volatile("syscall" : "+a"(result) : "D"(0) : "rcx", "r11", "memory");
	return result;
}

/* Both glibc and musl keep a pointer to the thread's control block in its own first word. */
static inline uint64_t arch_thread_pointer(void)
{
	uint64_t pointer;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline uint64_t arch_plain_address(uint64_t address)
{
	return address;
}

/* A lazy .plt entry pushes one word before its last jump, see arch_plt_boundary. */
static inline uint64_t arch_plt_cfa(uint64_t sp, uint64_t pc, uint64_t boundary)
{
	return sp + 8 + ((pc & 15) >= boundary ? 8 : 0);
}

/* No lock prefix: interrupts, and so signals, come between instructions. */
static inline void arch_increment_alone(uint32_t *word)
{
	__asm__ volatile("incl %0" : "+m"(*word) : : "memory", "cc");
}

static inline void arch_decrement_alone(uint32_t *word)
{
	__asm__ volatile("decl %0" : "+m"(*word) : : "memory", "cc");
}

static inline uint64_t arch_swap_alone(uint64_t *word, uint64_t expected, uint64_t desired)
{
	__asm__ volatile("cmpxchgq %2, %0"
			 : "+m"(*word), "+a"(expected)
			 : "r"(desired)
			 : "memory", "cc");
	return expected;
}

#endif
