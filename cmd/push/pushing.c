/* SPDX-License-Identifier: MIT */
/* pushing.c - see pushing.h. */
#include "pushing.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void pushing_tell(struct pushing *pushing)
{
	pushing->state.waiting = spool_count(&pushing->spool);
	(void)!send(pushing->child->socket, &pushing->state, sizeof(pushing->state),
		    MSG_NOSIGNAL | MSG_DONTWAIT);
}

void pushing_complain(struct pushing *pushing, const char *text)
{
	if (strcmp(pushing->state.text, text) || !pushing->state.complaint)
		pushing->state.complaint++;
	snprintf(pushing->state.text, sizeof(pushing->state.text), "%s", text);
}
