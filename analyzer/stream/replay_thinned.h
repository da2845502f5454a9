/* SPDX-License-Identifier: MIT */
/*
 * replay_thinned.h - THINNED records: how coarse the interval was where allocations were thinned.
 * Only for the files of replay.
 */
#ifndef HI_REPLAY_THINNED_H
#define HI_REPLAY_THINNED_H

#include "replay_state.h"

int replay_on_thinned(struct replay *replay, const struct hi_stream_thinned *record);

#endif
