/* SPDX-License-Identifier: MIT */
/* hold.c - see hold.h. */
#include "hold.h"

#include "pace.h"
#include "watchdog.h"

static _Thread_local unsigned held;

void hold_begin(void)
{
	if (held++)
		return;
	pace_boost();
	watchdog_begin();
}

void hold_end(void)
{
	if (--held)
		return;
	watchdog_end();
	pace_restore();
}

void hold_progress(void)
{
	watchdog_progress();
}
