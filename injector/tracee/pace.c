/* SPDX-License-Identifier: MIT */
/*
 * pace.c - see pace.h. The libraries' <sched.h> knows neither slices nor this structure, and
 * contradicts the kernel's header.
 */
#include "pace.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS 4000000 /* several times the default slice */
#define NICE_MIN (-20)

static _Thread_local struct sched_attr before;
static _Thread_local bool is_boosted;
static struct sched_attr inherited; /* from who started us; of size 0 = it is as it was */

static bool get(struct sched_attr *attr)
{
	return syscall(SYS_sched_getattr, 0, attr, sizeof(*attr), 0) == 0;
}

static bool set(const struct sched_attr *attr)
{
	return syscall(SYS_sched_setattr, 0, attr, 0) == 0;
}

void pace_give_way(void)
{
	struct sched_attr attr;

	if (!get(&attr) || (attr.sched_policy != SCHED_NORMAL && attr.sched_policy != SCHED_BATCH))
		return;
	inherited = attr;
	attr.sched_runtime = SLICE_NS;
	(void)set(&attr);
}

void pace_take_back(void)
{
	if (inherited.size)
		(void)set(&inherited);
}

/* Some cgroups refuse real-time scheduling even to root. */
void pace_boost(void)
{
	struct sched_attr attr;

	is_boosted = false;
	if (!get(&before) || before.sched_policy != SCHED_NORMAL)
		return;
	attr = (struct sched_attr){
		.size = sizeof(attr), .sched_policy = SCHED_FIFO, .sched_priority = 1};
	is_boosted = set(&attr);
	if (is_boosted)
		return;
	attr = before;
	attr.sched_nice = NICE_MIN;
	is_boosted = set(&attr);
}

void pace_restore(void)
{
	if (is_boosted)
		(void)set(&before);
	is_boosted = false;
}
