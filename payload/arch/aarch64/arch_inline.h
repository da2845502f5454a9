/* SPDX-License-Identifier: MIT */
/*
 * arch_inline.h - those functions of arch.h that are some instructions on aarch64. Included by
 * arch.h alone.
 */
#ifndef PAYLOAD_ARCH_INLINE_H
#define PAYLOAD_ARCH_INLINE_H

static inline uint64_t arch_cycles_about(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/* Without the barrier the counter may be read before what comes earlier in the program. */
static inline uint64_t arch_cycles(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

static inline uint64_t arch_cycles_fast(void)
{
	return arch_cycles();
}

/* 2 GHz are about 2^31 Hz. Where the firmware has not said how fast the counter is, it reads 0. */
static inline uint64_t arch_ticks(uint64_t cycles)
{
	uint64_t hertz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
	hertz &= UINT32_MAX;
	return hertz ? cycles * hertz >> 31 : cycles;
}

static inline uint64_t arch_program_break(void)
{
	register uint64_t number __asm__("x8") = 214; /* __NR_brk */
	register uint64_t result __asm__("x0") = 0;

	__asm__ volatile("svc #0" : "+r"(result) : "r"(number) : "memory");
	return result;
}

static inline uint64_t arch_thread_pointer(void)
{
	uint64_t pointer;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer));
	return pointer;
}

/* xpaclri: a CPU that signs no addresses takes it for a nop. */
static inline uint64_t arch_plain_address(uint64_t address)
{
	register uint64_t link __asm__("x30") = address;

	__asm__("hint #7" : "+r"(link));
	return link;
}

/* No linker for this CPU describes .plt in that way. */
static inline uint64_t arch_plt_cfa(uint64_t sp, uint64_t pc, uint64_t boundary)
{
	(void)pc, (void)boundary;
	return sp;
}

/*
 * Load and store exclusive: the way into a signal handler clears the monitor, so that the store
 * fails and the change begins anew. (One instruction, as ARMv8.1 has it, is not on every CPU.) Of
 * the order of stores: a count is raised before what follows is seen, and lowered after what came
 * before.
 */
static inline void arch_increment_alone(uint32_t *word)
{
	uint32_t value, failed;

	__asm__ volatile("1:	ldxr %w0, %2\n\t"
			 "add %w0, %w0, #1\n\t"
			 "stxr %w1, %w0, %2\n\t"
			 "cbnz %w1, 1b\n\t"
			 "dmb ish"
			 : "=&r"(value), "=&r"(failed), "+Q"(*word)
			 :
			 : "memory");
}

static inline void arch_decrement_alone(uint32_t *word)
{
	uint32_t value, failed;

	__asm__ volatile("1:	ldxr %w0, %2\n\t"
			 "sub %w0, %w0, #1\n\t"
			 "stlxr %w1, %w0, %2\n\t"
			 "cbnz %w1, 1b"
			 : "=&r"(value), "=&r"(failed), "+Q"(*word)
			 :
			 : "memory");
}

static inline uint64_t arch_swap_alone(uint64_t *word, uint64_t expected, uint64_t desired)
{
	uint64_t found;
	uint32_t failed;

	__asm__ volatile("1:	ldaxr %0, %2\n\t"
			 "cmp %0, %3\n\t"
			 "b.ne 2f\n\t"
			 "stlxr %w1, %4, %2\n\t"
			 "cbnz %w1, 1b\n\t"
			 "2:	dmb ish"
			 : "=&r"(found), "=&r"(failed), "+Q"(*word)
			 : "r"(expected), "r"(desired)
			 : "memory", "cc");
	return found;
}

#endif
