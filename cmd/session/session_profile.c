/* SPDX-License-Identifier: MIT */
/* session_profile.c - see session_profile.h. */
#include "session_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control_descriptor.h"
#include "hi_exit.h"
#include "plain_text.h"
#include "session_request.h"

/* The answer of a session that has no profile to give: "failed", and why. */
static int complain(const char *answer)
{
	static const char word[] = "failed\n";
	char text[512];

	if (strncmp(answer, word, strlen(word)) != 0)
		return SESSION_NO_ANSWER;
	plain_text_copy(text, sizeof(text), answer + strlen(word));
	fprintf(stderr, "heapinject: %.*s\n", (int)strcspn(text, "\n"), text);
	return HI_EXIT_FAILED;
}

static int take(void *context, int connection)
{
	int *out_fd = context;
	char answer[512];

	if (!session_request_await(connection, "answer")) {
		close(connection);
		return HI_EXIT_FAILED;
	}
	*out_fd = control_descriptor_take(connection, answer, sizeof(answer));
	close(connection);
	if (*out_fd >= 0)
		return HI_EXIT_OK;
	if (*out_fd == -EREMOTEIO)
		return complain(answer);
	fprintf(stderr, "heapinject: cannot read the session's profile: %s\n", strerror(-*out_fd));
	return HI_EXIT_FAILED;
}

int session_profile(pid_t pid, int *out_fd, struct preflight *out_preflight)
{
	return session_request_read(pid, "profile", take, out_fd, out_preflight);
}

int session_blocks(pid_t pid, int *out_fd, struct preflight *out_preflight)
{
	return session_request_read(pid, "blocks", take, out_fd, out_preflight);
}
