/* SPDX-License-Identifier: MIT */
/* hold.c - see hold.h. */
#include "hold.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "watchdog.h"

#define NICE_MIN (-20)

static _Thread_local unsigned held;
static _Thread_local int nice_before;
static _Thread_local enum { PACE_NORMAL, PACE_NICE, PACE_REALTIME } pace;

/* Real time is refused in some cgroups even to root. A thread that is real-time already is left as it is. */
static void hurry(void)
{
	pace = PACE_NORMAL;
	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	nice_before = getpriority(PRIO_PROCESS, 0); /* of this thread, on Linux */
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) == 0)
		pace = PACE_REALTIME;
	else if (setpriority(PRIO_PROCESS, 0, NICE_MIN) == 0)
		pace = PACE_NICE;
}

static void calm_down(void)
{
	if (pace == PACE_REALTIME)
		(void)sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
	else if (pace == PACE_NICE)
		(void)setpriority(PRIO_PROCESS, 0, nice_before);
}

void hold_begin(void)
{
	if (held++)
		return;
	hurry();
	watchdog_begin();
}

void hold_end(void)
{
	if (--held)
		return;
	watchdog_end();
	calm_down();
}

void hold_progress(void)
{
	watchdog_progress();
}
