/* SPDX-License-Identifier: MIT */
/*
 * Room trial/: what a recording would take with another allocator. trial_list.h has the list of
 * events made of a stream; trial.h runs one trial by the player (player/), which is embedded by
 * player_blob.S; trial_allocators.h has the allocators, trial_print.h shows the results. Uses
 * output/.
 */

/*
 * trial_list.h - the events of a record stream in a file without a name (hi_trial.h). A process
 * without rights reads the stream, which may be hostile.
 */
#ifndef HI_TRIAL_LIST_H
#define HI_TRIAL_LIST_H

#include "hi_trial.h"
#include "must_check.h"
#include "trial_progress.h"

struct trial_list {
	int fd;
	struct hi_trial_head head;
};

/*
 * Makes it of what stream_fd has. 0, or negative errno: -ENODATA, if the head says why. The list
 * is to be closed in both cases.
 */
must_check int trial_list_open(struct trial_list *list, int stream_fd,
			       struct trial_progress *progress);
void trial_list_close(struct trial_list *list);

#endif
