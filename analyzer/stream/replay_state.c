/* SPDX-License-Identifier: MIT */
/* replay_state.c - see replay_state.h. */
#include "replay_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void replay_damage(struct replay *replay, const char *format, ...)
{
	va_list arguments;

	if (replay->profile->meta.damage)
		return;
	va_start(arguments, format);
	if (vasprintf(&replay->profile->meta.damage, format, arguments) < 0)
		replay->profile->meta.damage = NULL;
	va_end(arguments);
}

void replay_bad(struct replay *replay, const char *what)
{
	replay->bad_records++;
	replay_damage(replay, "damaged at byte %" PRIu64 ": %s", replay->position, what);
}
