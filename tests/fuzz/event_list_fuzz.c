/* SPDX-License-Identifier: MIT */
/*
 * event_list_fuzz.c - the list that a record stream becomes for trials of allocators: what a list
 * promises to the player that makes it again.
 *
 * libFuzzer: -max_len=4096
 */
#include <stdbool.h>

#include "fuzz.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_trial.h"

/* A stream of that length has no more blocks at once. */
#define BLOCKS_MAX 4096u

static void check_event(const struct hi_trial_head *head, const struct hi_trial_event *event,
			bool live[BLOCKS_MAX])
{
	FUZZ_CHECK(event->op < HI_TRIAL_OPS && event->thread < head->threads);
	FUZZ_CHECK(event->alignment_bits <= HI_TRIAL_ALIGNMENT_BITS_MAX);
	FUZZ_CHECK(event->op != HI_TRIAL_ALIGNED || event->alignment_bits >= 3);
	if (event->op == HI_TRIAL_TIME) {
		FUZZ_CHECK(event->block == 0);
		return;
	}
	FUZZ_CHECK(event->block < head->blocks);
	if (event->op == HI_TRIAL_NOTHING)
		return;
	const bool was_live = event->op == HI_TRIAL_FREE || event->op == HI_TRIAL_REALLOC;
	FUZZ_CHECK(live[event->block] == was_live);
	live[event->block] = event->op != HI_TRIAL_FREE;
}

static void check_list(const struct hi_trial_head *head, int fd)
{
	static bool live[BLOCKS_MAX];
	uint64_t count = 0;

	FUZZ_CHECK(head->blocks <= BLOCKS_MAX && head->threads <= HI_TRIAL_THREADS_MAX);
	memset(live, 0, sizeof(live));
	for (uint64_t i = 0; i < head->events; i++) {
		struct hi_trial_event event;
		const off_t at = (off_t)(sizeof(*head) + i * sizeof(event));

		FUZZ_CHECK(pread(fd, &event, sizeof(event), at) == (ssize_t)sizeof(event));
		check_event(head, &event, live);
	}
	for (size_t i = 0; i < BLOCKS_MAX; i++)
		count += live[i];
	FUZZ_CHECK(count == head->last_blocks && head->most_blocks >= count);
	FUZZ_CHECK(head->most_bytes >= head->last_bytes && head->most_at <= head->events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int list_fd = memfd_create("list", MFD_CLOEXEC);
	struct hi_trial_head head;

	FUZZ_CHECK(list_fd >= 0);
	const int exit_code = hi_analyzer_list_events(fuzz_file(data, size), list_fd);
	FUZZ_CHECK(pread(list_fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head));
	FUZZ_CHECK(head.magic == HI_TRIAL_MAGIC);
	FUZZ_CHECK((exit_code == HI_EXIT_OK) ==
		   (head.refusal == HI_TRIAL_LISTED || head.refusal == HI_TRIAL_EMPTY));
	if (exit_code == HI_EXIT_OK)
		check_list(&head, list_fd);
	close(list_fd);
	return 0;
}
