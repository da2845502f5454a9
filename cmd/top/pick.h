/* SPDX-License-Identifier: MIT */
/* pick.h - the processes of this machine by growth, to pick one from. */
#ifndef HI_TOP_PICK_H
#define HI_TOP_PICK_H

#include <sys/types.h>

#include "events.h"

/* The process that the user picks; 0 = none, they leave. */
pid_t pick_run(struct events *events);

#endif
