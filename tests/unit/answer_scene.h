/* SPDX-License-Identifier: MIT */
/*
 * answer_scene.h - profiles by hand of a session of 20 s, for the tests of the answer: blocks with
 * the times at which they came and went, and the memory of the process.
 */
#ifndef HI_TEST_ANSWER_SCENE_H
#define HI_TEST_ANSWER_SCENE_H

#include "answer.h"
#include "row_history.h"
#include "sample_profile.h"

#define SCENE_S 20.0
#define SCENE_TAIL_S 2.0
#define SCENE_NS_PER_S 1e9

static inline struct profile scene_open(void)
{
	struct profile profile = sample_open();

	profile.meta.duration_ns = (uint64_t)(SCENE_S * SCENE_NS_PER_S);
	return profile;
}

static inline struct profile_row *scene_row(struct profile *profile, const char *names,
					    uint64_t size)
{
	uint32_t leaf_first[64], at = 64;
	char copy[1024], *rest = copy, *part;

	snprintf(copy, sizeof(copy), "%s", names);
	while (*names && (part = strsep(&rest, ";")))
		leaf_first[--at] = sample_frame(profile, part);
	return sample_row(profile, leaf_first + at, 64 - at, size);
}

/* A block by the stack "root;...;leaf", "" = no frames; died_s: SCENE_S or later = it is in use at
 * the end. */
static inline void scene_block(struct profile *profile, const char *names, uint64_t size,
			       double born_s, double died_s)
{
	struct profile_row *row = scene_row(profile, names, size);
	const uint64_t born = (uint64_t)(born_s * SCENE_NS_PER_S),
		       died = (uint64_t)(died_s * SCENE_NS_PER_S);

	row_history_allocated(profile, row, born);
	if (!row->alloc_count)
		row->first_ns = born;
	row->alloc_count++;
	row->alloc_bytes += size;
	if (died_s >= SCENE_S) {
		row_history_lives(profile, row, born);
		row->inuse_count++;
		row->inuse_bytes += size;
	} else {
		row_history_passed(profile, row, born, died);
		row->freed_count++;
		row->freed_ns += (double)(died - born);
	}
}

/* count blocks come evenly over the session, and each is freed after life_s. */
static inline void scene_blocks(struct profile *profile, const char *names, uint64_t size,
				uint32_t count, double life_s)
{
	for (uint32_t i = 0; i < count; i++) {
		const double born_s = SCENE_S * (i + 0.5) / count;

		scene_block(profile, names, size, born_s, born_s + life_s);
	}
}

static inline void scene_leak(struct profile *profile, const char *names, uint64_t size,
			      uint32_t count)
{
	scene_blocks(profile, names, size, count, SCENE_S);
}

/* The process has 100 MiB, and grown_bytes more at the end, each second in its turn. */
static inline void scene_process(struct profile *profile, double grown_bytes)
{
	for (uint32_t s = 0; s <= (uint32_t)SCENE_S; s++)
		profile_add_moment(
			&profile->meta,
			&(struct profile_moment){
				.time_ns = (uint64_t)(s * SCENE_NS_PER_S) + 1,
				.anonymous = (100u << 20) + (uint64_t)(grown_bytes * s / SCENE_S)});
}

/*
 * The allocators have 50 MiB in use by their own count, and grown_bytes more at the end; a look
 * each second.
 */
static inline void scene_looks(struct profile *profile, double grown_bytes)
{
	profile->meta.heap.count = 0;
	for (uint32_t s = 0; s <= (uint32_t)SCENE_S; s++)
		heap_history_add(
			&profile->meta.heap,
			&(struct heap_moment){.time_ns = (uint64_t)(s * SCENE_NS_PER_S) + 1,
					      .anonymous = 100u << 20,
					      .used_bytes = (50u << 20) +
							    (uint64_t)(grown_bytes * s / SCENE_S)});
}

/* All frees were looked at: count blocks of that size that were no samples are gone. */
static inline void scene_old_freed(struct profile *profile, uint64_t size, uint64_t count)
{
	struct profile_freed *freed = &profile->meta.unsampled_freed[hi_size_class(size)];

	profile->meta.frees_share = 1;
	freed->seen += count;
	freed->count += count;
	freed->bytes += count * size;
}

static inline struct answer scene_answer(const struct profile *profile)
{
	struct answer answer;

	CHECK_EQ(answer_open(profile, SCENE_TAIL_S * SCENE_NS_PER_S, TREND_LEVEL, &answer), 0);
	return answer;
}

/* The answer has one row, which decides it. */
static inline struct answer scene_only_row(const struct profile *profile,
					   enum trend_verdict verdict)
{
	const struct answer answer = scene_answer(profile);

	CHECK_EQ(answer.verdict, verdict);
	CHECK_EQ(answer.row_count, 1);
	CHECK_EQ(answer.row[0].trend.verdict, verdict);
	CHECK_EQ(answer.growing, trend_is_growth(verdict));
	return answer;
}

static inline bool scene_is_near(double value, double wanted, double part)
{
	const double distance = value > wanted ? value - wanted : wanted - value;

	return distance <= part * (wanted < 0 ? -wanted : wanted);
}

static inline const char *scene_function(const struct answer *answer, size_t row)
{
	CHECK(row < answer->row_count);
	return answer_row_name(answer, &answer->row[row]);
}

#endif
