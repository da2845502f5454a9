/* SPDX-License-Identifier: MIT */
/*
 * answer.h - who leaks: what a profile of one session says about growth, and how sure that is.
 *
 * Blocks are grouped by the function that a person would look at, where they were allocated. Each
 * group has a trend (trend.h), tested at a level that holds for all groups together. What is left
 * grows perhaps as a whole, though no group does: then the function is looked for through which all
 * of that leads. At last all of it is compared with the blocks that were freed meanwhile, with what
 * the allocators count in use, and with the growth of the process, as /proc has it: what was seen
 * growing while less is in use otherwise has replaced older blocks. And what does not grow any more
 * at the end may have, for a part of the window.
 *
 * docs/sampling.md has the derivation. Start at answer_open().
 */
#ifndef HI_ANSWER_H
#define HI_ANSWER_H

#include "heap_growth.h"
#include "mapping_growth.h"
#include "row_trend.h"
#include "user_frames.h"

#define ANSWER_ROWS 5u
#define ANSWER_BARS 16u
#define NO_CALL UINT32_MAX
/* of the growth of the process: if what was seen holds as much, it may be what grows */
#define ANSWER_HELD_SHARE 0.5

/* How fast the memory of the process grew, in bytes per second. */
struct process_growth {
	bool is_known;
	double slope, low, high; /* 95 % interval; at least as wide as the pages of an allocator */
	double bytes;            /* from the first moment to the last */
	double other_bytes;      /* the same of what is resident and not anonymous */
};

struct answer_row {
	struct trend trend;
	double live; /* bytes in use at the end; allocated in the window */
	/* bytes in use at the end of each part of the window, as a share of the most of them */
	double bar[ANSWER_BARS];
	uint32_t stack; /* of the profile: the one that holds most */
	uint32_t call;  /* of frames.functions.call[]: where a person would look; NO_CALL: no frames
			 */
	uint32_t through;  /* `call` keeps what this call allocates, others free it; NO_CALL */
	size_t stacks;     /* how many stacks the row has */
	bool is_caller;    /* many functions allocate, and this one leads to all of them */
	bool is_holder;    /* the process grows, and this one holds most of what it may be */
	bool is_enlarged;  /* it is one block, which became larger again and again */
	bool is_scattered; /* many functions allocate, and none leads to all: call is one of them */
	bool is_unshown;   /* the process grows by less, and nothing tells why */
	/*
	 * it does not grow any more, but holds most of answer.risen, and most of what it holds had
	 * come by then; 0 = it is another row
	 */
	double came_ns;
};

struct answer {
	const struct profile *profile;
	struct user_frames frames;
	/*
	 * Of the row that decides; TREND_UNSURE if the caveats withhold verdicts, TREND_TOO_FEW if
	 * what is missing may change the answer
	 */
	enum trend_verdict verdict;
	/* what grows, the fastest first; then what replaces older blocks; then what is not decided
	 */
	struct answer_row row[ANSWER_ROWS];
	size_t row_count;
	uint8_t *stack_verdict; /* by stack: enum trend_verdict of its group */
	size_t growing;         /* number of groups that grow, also beyond ANSWER_ROWS */
	double slope, slope_low, slope_high; /* of all groups that grow, */
	double growing_live;                 /* and what they have in use */
	/*
	 * groups that grow by their samples, but with others by more than what is in use or the
	 * process: it is not known which of them do; and the sum of their slopes
	 */
	size_t doubted;
	double doubted_slope;
	struct process_growth process;
	struct heap_growth heap;
	struct heap_use use;
	struct mapping_growth mappings;
	/* of all groups that grow: usable bytes beyond those requested, per second; 0 = not known
	 */
	double rounding;
	double held; /* bytes allocated in the window and in use at its end, with rounding */
	/*
	 * what is in use grows by less than all that grows: the rest of it is in the place of older
	 * blocks, which were freed
	 */
	bool is_partly;
	/*
	 * share of the growth of the process that all that grows is, with rounding, or
	 * what is in use where that grows by less; < 0 = not known
	 */
	double explained;
	double explained_high; /* the same by the upper end of the slope */
	double more_ns;        /* of TREND_TOO_FEW; 0 = not known */
	/* the same at the places that allocate most often, of which fewer samples were taken */
	double detectable_anywhere;
	/*
	 * nothing grows, but so much more is in use for good than at the start, in bytes; where
	 * that is not known, the process has so much more; 0 = no more than usual
	 */
	double risen;
	double detectable; /* bytes per second: what leaks faster leaves enough samples */
	/* at least that; what leaks faster would hold more than any place does, or have a slope */
	double claimed;
	double window_ns, tail_ns;
};

/*
 * tail_ns: blocks that are younger do not count. level: the probability of a false alarm that is
 * allowed, over all groups. Returns 0 or -ENOMEM. The profile must outlive the
 * answer. The caller closes it in either case.
 */
int answer_open(const struct profile *profile, double tail_ns, double level,
		struct answer *out_answer);
void answer_close(struct answer *answer);
/* The name of the row's function; "(no stack)". As long as the answer. */
const char *answer_row_name(const struct answer *answer, const struct answer_row *row);
/* From the moments of the profile. Returns 0 or -ENOMEM. */
int process_growth_of(const struct profile_meta *meta, struct process_growth *out_growth);

#endif
