/* SPDX-License-Identifier: MIT */
/*
 * clock.h - time in the payload: only the CPU's cycle counter, as reading it is no system call. The
 * injector calibrates it from outside.
 */
#ifndef PAYLOAD_CLOCK_H
#define PAYLOAD_CLOCK_H

#include <stdbool.h>

#include "arch/arch.h"
#include "hi_wire.h"

static inline uint64_t clock_now(const struct hi_state *state)
{
	return state->fast_clock ? arch_cycles_fast() : arch_cycles();
}

/* For times that are not compared with those of other threads. */
static inline uint64_t clock_about_now(void)
{
	return arch_cycles_about();
}

/*
 * Whether `then` lies more than `cycles` before `now`. A time slightly in the future (another CPU's
 * counter) does not lie before `now` at all.
 */
static inline bool clock_is_past(uint64_t now, uint64_t then, uint64_t cycles)
{
	return (int64_t)(now - then) > (int64_t)cycles;
}

/*
 * Whether the injector has stored no heartbeat for so long that there may be no reader of the ring
 * any more.
 */
static inline bool clock_is_deadman_due(const struct hi_control *control, uint64_t now)
{
	uint64_t heartbeat = __atomic_load_n(&control->heartbeat, __ATOMIC_RELAXED);

	return control->deadman_cycles && clock_is_past(now, heartbeat, control->deadman_cycles);
}

#endif
