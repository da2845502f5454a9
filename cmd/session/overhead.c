/* SPDX-License-Identifier: MIT */
/* overhead.c - see overhead.h. Start at overhead_step(). */
#include "overhead.h"

#include <math.h>

#define PPM 1e6
#define NS_PER_S 1e9
/* of the budget: what the payload has at least, whatever heapinject itself uses */
#define PAYLOAD_SHARE_MIN 0.5
/* of the payload's budget: for finding out that an allocation which is due is not wanted */
#define DUE_SHARE 0.6
/*
 * What an allocation that is due but not recorded costs. It cannot be measured apart from records;
 * on the machines seen it is 0.1 to 0.3 microseconds.
 */
#define DUE_NS 250.0
/*
 * What a record costs, from its allocation to its free. Time beyond that was not spent on the
 * records of this step, but on distinguishing frees of unsampled blocks from frees of earlier
 * samples that are still live. Fewer records would not change that.
 */
#define RECORD_NS_FIRST 4000.0
#define RECORD_NS_MIN 500.0
#define RECORD_NS_MAX 10000.0
/* records in a step that say something about their cost */
#define RECORDS_MIN 16u
/*
 * Live samples make frees of other blocks look like their own, and there is room for
 * ARENA_LIVE_MAX. So with each further LIVE_ENOUGH of them e times fewer are added: a program that
 * frees nothing has some 250,000 after a day.
 */
#define LIVE_ENOUGH 28000.0
/* per second and key; of a key that may make none, as good as none */
#define RECORDS_LEAST 1e-6
/* a step shorter than this says too little */
#define STEP_NS_MIN 20000000u
/* time constants of the smoothed values */
#define SHARE_S 2.0
#define DUE_S 0.5
/* a finer interval must be predicted to be well within the budget, or it would swing */
#define FINER_MARGIN 0.8
/*
 * From the finest mean that can be thinned to every allocation: as many times more may be due. (Of
 * blocks of 8 bytes it is 8.5 times.)
 */
#define EXACT_TIMES 8
/* interval_shift falls by no more than this in a step, as the prediction is rough */
#define FINER_MAX 3u

void overhead_open(struct overhead *overhead, uint32_t budget_ppm, uint64_t interval,
		   uint32_t interval_shift, uint32_t shift_max)
{
	*overhead = (struct overhead){
		.budget_ppm = budget_ppm,
		.interval = interval,
		.interval_shift = interval_shift,
		.shift_max = shift_max,
		.record_ns = RECORD_NS_FIRST,
	};
}

double overhead_budget(const struct overhead *overhead)
{
	return overhead->budget_ppm / PPM * fmax(overhead->target_share, OVERHEAD_CORE_SHARE) *
	       NS_PER_S;
}

/* How much of a smoothed value a new one replaces that was measured over dt seconds. */
static double part_of(double dt, double constant)
{
	return 1 - exp(-dt / constant);
}

static void smooth(double *value, double measured, double part)
{
	*value += (measured - *value) * part;
}

static double rate(uint64_t now, uint64_t before, double dt)
{
	return now > before ? (double)(now - before) / dt : 0;
}

/* ---- 1. what was measured -------------------------------------------------------------------- */

/*
 * Notes how much was due of a key while it was thinned: by the last step, and by what the payload
 * added to that with each doubling. interval_shift: the largest since the last step.
 */
static void note_thinned(struct overhead *overhead, size_t key, uint32_t due,
			 uint32_t interval_shift, uint32_t thinning)
{
	uint32_t times = HI_THINNING_FREE;
	for (uint32_t from = 1; from <= due; from = times, times *= 2, thinning++) {
		const uint32_t shift = interval_shift + thinning;
		const struct thinned_due_part part = {
			.count = (due < times - 1 ? due : times - 1) - from + 1,
			.shift = shift < overhead->shift_max ? shift : overhead->shift_max,
			.drawn = (double)(overhead->interval << interval_shift)};
		if (thinning)
			thinned_due_add(&overhead->thinned, key, &part);
		if (times > UINT32_MAX / 2)
			break;
	}
}

/* Returns how many allocations were due. shift: the payload's interval_shift now. */
static double take_counts(struct overhead *overhead, struct hi_thinning *thinning, uint32_t shift,
			  double dt)
{
	const double part = part_of(dt, DUE_S);
	const bool is_raised = shift > overhead->interval_shift && shift <= overhead->shift_max;
	double sum = 0;
	for (size_t key = 0; key < HI_THINNING_KEYS; key++) {
		const uint32_t due = __atomic_exchange_n(&thinning->due[key], 0, __ATOMIC_RELAXED);
		note_thinned(overhead, key, due, is_raised ? shift : overhead->interval_shift,
			     __atomic_load_n(&thinning->shift[key], __ATOMIC_RELAXED));
		smooth(&overhead->due[key], due / dt, part);
		sum += due;
	}
	return sum;
}

static void measure(struct overhead *overhead, const struct overhead_figures *now, double due,
		    double dt)
{
	const struct overhead_figures *last = &overhead->last;
	const double payload_ns = rate(now->payload_ns, last->payload_ns, dt) * dt;
	const double records = rate(now->samples, last->samples, dt) * dt;
	const double part = part_of(dt, SHARE_S);
	smooth(&overhead->target_share, rate(now->target_ns, last->target_ns, dt) / NS_PER_S, part);
	smooth(&overhead->own_share, rate(now->own_ns, last->own_ns, dt) / NS_PER_S, part);
	if (records < RECORDS_MIN)
		return;
	const double each = (payload_ns - due * DUE_NS) / records;
	smooth(&overhead->record_ns, fmin(fmax(each, RECORD_NS_MIN), RECORD_NS_MAX), part);
}

/* ---- 2. the interval ------------------------------------------------------------------------- */

/* The shift next to this one that may be used: thinning cannot be exact for all means. */
static uint32_t usable(const struct overhead *overhead, uint32_t shift, bool is_finer)
{
	const bool is_thin = overhead->interval << shift > HI_INTERVAL_EXACT &&
			     overhead->interval << shift < HI_THINNING_MEAN_MIN;
	if (!is_thin || overhead->interval > HI_INTERVAL_EXACT)
		return shift;
	return is_finer ? 0 : HI_THINNING_SHIFT_MIN;
}

static void set_shift(struct overhead *overhead, uint32_t shift)
{
	const double by = exp2((double)overhead->interval_shift - (double)shift);
	for (size_t key = 0; key < HI_THINNING_KEYS; key++)
		overhead->due[key] *= by;
	overhead->interval_shift = shift;
}

/* due: allocations that are due per second. Changes the interval to one at which all can be. */
static void choose_interval(struct overhead *overhead, double due, double most)
{
	uint32_t shift = overhead->interval_shift;
	if (due > most) {
		while (due > most && shift < overhead->shift_max) {
			due /= 2;
			shift++;
		}
		shift = usable(overhead, shift, false);
	} else {
		for (uint32_t i = 0; i < FINER_MAX && shift && due * 2 <= most * FINER_MARGIN;
		     i++) {
			due *= 2;
			shift--;
		}
		if (usable(overhead, shift, true) < shift && due * EXACT_TIMES > most)
			shift = HI_THINNING_SHIFT_MIN;
		shift = usable(overhead, shift, true);
	}
	if (shift != overhead->interval_shift)
		set_shift(overhead, shift);
}

/* ---- 3. the thinning ------------------------------------------------------------------------- */

/*
 * The most records per second for one key, so that all keys make `most` together: keys below it
 * are not thinned.
 */
static double records_a_key(const struct overhead *overhead, double most)
{
	double low = 0, high = most;
	for (int i = 0; i < 40; i++) {
		const double middle = (low + high) / 2;
		double sum = 0;
		for (size_t key = 0; key < HI_THINNING_KEYS; key++)
			sum += fmin(overhead->due[key], middle);
		if (sum > most)
			high = middle;
		else
			low = middle;
	}
	return high;
}

static void choose_thinning(const struct overhead *overhead, double most,
			    struct hi_thinning *thinning)
{
	const double each = records_a_key(overhead, most);
	for (size_t key = 0; key < HI_THINNING_KEYS; key++) {
		const double times = overhead->due[key] / fmax(each, RECORDS_LEAST);
		const double shift = times > 1 ? ceil(log2(times)) : 0;
		__atomic_store_n(&thinning->shift[key], (uint8_t)fmin(shift, HI_INTERVAL_SHIFT_MAX),
				 __ATOMIC_RELAXED);
	}
}

/* Nanoseconds per second that the payload may use. */
static double payload_budget(const struct overhead *overhead)
{
	const double budget = overhead_budget(overhead);
	return fmax(budget - overhead->own_share * NS_PER_S, budget * PAYLOAD_SHARE_MIN);
}

bool overhead_step(struct overhead *overhead, const struct overhead_figures *now,
		   struct hi_thinning *thinning, uint32_t *shift)
{
	if (!overhead->budget_ppm || now->time_ns < overhead->last.time_ns + STEP_NS_MIN)
		return false;
	const double dt = (double)(now->time_ns - overhead->last.time_ns) / NS_PER_S;
	double due = 0;
	const double counted = take_counts(overhead, thinning, *shift, dt);
	measure(overhead, now, counted, dt);
	overhead->last = *now;
	if (*shift != overhead->interval_shift && *shift <= overhead->shift_max)
		overhead->interval_shift = *shift; /* the payload raised it, and counted so */
	for (size_t key = 0; key < HI_THINNING_KEYS; key++)
		due += overhead->due[key];
	const double budget = payload_budget(overhead);
	const double room = exp(-(double)now->live / LIVE_ENOUGH);
	choose_interval(overhead, due, budget * DUE_SHARE / DUE_NS);
	choose_thinning(overhead, budget * (1 - DUE_SHARE) / overhead->record_ns * room, thinning);
	*shift = overhead->interval_shift;
	return true;
}

void overhead_hold(struct overhead *overhead, const struct overhead_figures *now,
		   struct hi_thinning *thinning, uint32_t shift)
{
	if (!overhead->budget_ppm || now->time_ns <= overhead->last.time_ns)
		return;
	(void)take_counts(overhead, thinning, shift,
			  (double)(now->time_ns - overhead->last.time_ns) / NS_PER_S);
	overhead->last = *now;
	if (shift <= overhead->shift_max)
		overhead->interval_shift = shift;
	for (size_t key = 0; key < HI_THINNING_KEYS; key++)
		__atomic_store_n(&thinning->shift[key], 0, __ATOMIC_RELAXED);
}

void overhead_end(struct overhead *overhead, struct hi_thinning *thinning, uint32_t shift)
{
	if (overhead->budget_ppm)
		take_counts(overhead, thinning, shift, DUE_S);
}
