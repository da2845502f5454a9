/* SPDX-License-Identifier: MIT */
/*
 * replay_events_test.c - a record of however many events is what a record for each of them would
 * be.
 */
#include "replayed.h"
#include "row_history.h"

#define AN_ALLOC EVENT_AT(0, EVENT_ALLOC)
#define EVENTS_MAX 100u
#define STACKS 3u

/* Several sizes share a class; every third event frees the block of the one before. */
static struct hi_stream_event event_at(uint32_t i)
{
	struct hi_stream_event event = {.what = 0x1000ull * (i + 1) | AN_ALLOC,
					.after_ns = i * 3000000,
					.thread = 1 + i % 2,
					.bytes = 1100 + i,
					.stack = 1 + i / 2 % STACKS,
					.slack = i,
					.lived_ns = HI_STREAM_LIVES};

	if (i % 3 == 2)
		event.what = 0x1000ull * i;
	else if (i % 5 == 0)
		event.lived_ns = 900000 * i;
	return event;
}

/* In one record; what is missing at its end is missing_bytes. */
static void put_in_one(FILE *file, uint32_t count, size_t missing_bytes)
{
	static uint8_t bytes[EVENTS_MAX * sizeof(struct hi_stream_event)];
	size_t size = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct hi_stream_event event = event_at(i);
		const size_t taken =
			event.what < AN_ALLOC ? HI_STREAM_EVENT_FREE_BYTES : sizeof(event);

		memcpy(bytes + size, &event, taken);
		size += taken;
	}
	stream_events(file, (const void *)bytes, size - missing_bytes);
}

static void put_free(FILE *file, uint64_t address, uint64_t time_ns)
{
	struct hi_stream_free freed = {
		.record.type = HI_STREAM_FREE, .time_ns = time_ns, .address = address};

	stream_put(file, &freed, sizeof(freed), NULL, 0);
}

static void put_each(FILE *file, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct hi_stream_event event = event_at(i);
		struct hi_stream_alloc alloc = {.record.type = HI_STREAM_ALLOC,
						.time_ns = 1000 + event.after_ns,
						.address = event.what & ~AN_ALLOC,
						.bytes = event.bytes,
						.thread = event.thread,
						.interval = stream_drawn,
						.slack = event.slack,
						.stack = event.stack};

		if (event.what < AN_ALLOC) {
			put_free(file, event.what, alloc.time_ns);
			continue;
		}
		stream_put(file, &alloc, sizeof(alloc), NULL, 0);
		if (event.lived_ns != HI_STREAM_LIVES)
			put_free(file, alloc.address, alloc.time_ns + event.lived_ns);
	}
}

static FILE *begin(void)
{
	FILE *file = stream_begin(1);

	stream_thread(file, 1, 11, "one");
	stream_thread(file, 2, 12, "other");
	for (uint32_t i = 1; i <= STACKS; i++)
		stream_stack(file, i, &(const uint64_t){REPLAYED_LO + 0x100 * i}, 1);
	return file;
}

static void play(FILE *file, struct profile *profile)
{
	stream_end(file);
	CHECK_EQ(replayed(file, profile), 0);
}

static void check_same(const struct profile *one, const struct profile *other)
{
	struct history a, b;

	CHECK_EQ(one->row_count, other->row_count);
	CHECK_EQ(one->breakdown.count, other->breakdown.count);
	CHECK_EQ(one->meta.samples, other->meta.samples);
	CHECK_EQ(one->meta.frees, other->meta.frees);
	CHECK_EQ(memcmp(one->row, other->row, one->row_count * sizeof(*one->row)), 0);
	CHECK_EQ(memcmp(one->breakdown.part, other->breakdown.part,
			one->breakdown.count * sizeof(struct part)),
		 0);
	for (size_t i = 0; i < one->row_count; i++) {
		CHECK(row_history_get(one, &one->row[i], &a));
		CHECK(row_history_get(other, &other->row[i], &b));
		CHECK_EQ(memcmp(&a, &b, sizeof(a)), 0);
	}
}

UNIT_TEST(any_number_of_events_is_as_many_records)
{
	struct profile one, other;

	for (uint32_t count = 1; count <= EVENTS_MAX; count++) {
		FILE *in_one = begin(), *each = begin();

		put_in_one(in_one, count, 0);
		put_each(each, count);
		play(in_one, &one);
		play(each, &other);
		CHECK(!one.meta.damage && !other.meta.damage);
		CHECK_EQ(one.meta.samples, count - count / 3);
		check_same(&one, &other);
		profile_close(&one);
		profile_close(&other);
	}
}

/* The last one is not whole: the others count. */
UNIT_TEST(half_an_event_at_the_end_is_damage)
{
	struct profile one, other;

	for (uint32_t count = 2; count <= EVENTS_MAX; count++) {
		FILE *in_one = begin(), *each = begin();

		put_in_one(in_one, count, 8);
		put_each(each, count - 1);
		play(in_one, &one);
		play(each, &other);
		CHECK(one.meta.damage &&
		      strstr(one.meta.damage, "does not hold what it announces"));
		check_same(&one, &other);
		profile_close(&one);
		profile_close(&other);
	}
}

/* More kinds than can all be remembered in places of their own: none is taken for another. */
UNIT_TEST(kinds_are_told_apart)
{
	enum { SIZES = 1000, MANY = 100, ROUNDS = 2 };
	struct hi_stream_event event[SIZES];
	FILE *file = begin();
	struct profile profile;

	stream_drawn = 2;
	for (uint32_t i = STACKS + 1; i <= MANY; i++)
		stream_stack(file, i, &(const uint64_t){REPLAYED_LO + 8 * i + 4}, 1);
	for (uint32_t i = 0; i < ROUNDS * MANY; i++) {
		for (uint32_t size = 1; size <= SIZES; size++)
			event[size - 1] = (struct hi_stream_event){.what = 0x1000 | AN_ALLOC,
								   .thread = 1 + size % 2,
								   .bytes = size,
								   .stack = 1 + i % MANY};
		stream_events(file, event, sizeof(event));
	}
	stream_drawn = 1;
	play(file, &profile);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.row_count, SIZES * MANY);
	CHECK_EQ(profile.breakdown.count, SIZES * MANY);
	for (size_t i = 0; i < profile.row_count; i++) {
		CHECK_EQ(profile.row[i].alloc_count, ROUNDS);
		CHECK_EQ(profile.row[i].alloc_bytes, ROUNDS * profile.row[i].key.size_class);
	}
	profile_close(&profile);
}

/*
 * Where each allocation is counted, no size is needed to weigh one: a stack of many sizes has few
 * rows, and every byte is in one of them.
 */
UNIT_TEST(of_many_sizes_on_one_stack_few_are_told_apart)
{
	enum { FEW = 32, MANY = 1000, SHIFTS = 10, ROUNDS = 2 };
	struct hi_stream_event event[MANY];
	uint64_t rows[STACKS] = {0}, count[STACKS] = {0}, bytes[STACKS] = {0};
	FILE *file = begin();
	struct profile profile;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		for (uint32_t size = 0; size < MANY; size++)
			event[size] = (struct hi_stream_event){
				.what = 0x1000 | AN_ALLOC, .bytes = size, .stack = 1};
		stream_events(file, event, sizeof(event));
		for (uint32_t size = 0; size < FEW; size++)
			event[size].stack = 2;
		stream_events(file, event, FEW * sizeof(*event));
	}
	play(file, &profile);
	CHECK(!profile.meta.damage);
	for (size_t i = 0; i < profile.row_count; i++) {
		const struct profile_row *row = &profile.row[i];

		rows[row->key.stack]++;
		count[row->key.stack] += row->alloc_count;
		bytes[row->key.stack] += row->alloc_bytes;
		CHECK(row->alloc_bytes >= row->alloc_count * row->key.size_class &&
		      row->alloc_bytes <= row->alloc_count * 2 * row->key.size_class);
	}
	CHECK(rows[0] <= FEW + SHIFTS);
	CHECK_EQ(rows[1], FEW);
	CHECK_EQ(count[0], ROUNDS * MANY);
	CHECK_EQ(bytes[0], ROUNDS * MANY * (MANY - 1) / 2);
	CHECK_EQ(bytes[1], ROUNDS * FEW * (FEW - 1) / 2);
	profile_close(&profile);
}

/* But for what lies between the members, which may be anything. */
static void check_same_row(const struct profile_row *one, const struct profile_row *other)
{
	const size_t figures = offsetof(struct profile_row, alloc_count);

	CHECK_EQ(memcmp(&one->key, &other->key, offsetof(struct profile_row_key, side)), 0);
	CHECK_EQ(one->key.side, other->key.side);
	CHECK_EQ(memcmp((const char *)one + figures, (const char *)other + figures,
			offsetof(struct profile_row, history) - figures),
		 0);
	CHECK_EQ(one->history, other->history);
}

/* The same with a record for each, and all in one; how is not to be seen in the profile. */
UNIT_TEST(events_are_what_their_records_would_be)
{
	const struct hi_stream_event alloc = {
		.thread = 1, .bytes = 48, .stack = 1, .slack = 8, .lived_ns = HI_STREAM_LIVES};
	struct hi_stream_event kept = alloc, freed = alloc, passed = alloc;
	const struct hi_stream_event a_free = {.what = 0x2000, .after_ns = 1000};
	struct profile one, other;

	kept.what = EVENT_AT(0x1000, EVENT_ALLOC);
	freed.what = EVENT_AT(0x2000, EVENT_ALLOC);
	passed.what = EVENT_AT(0x3000, EVENT_ALLOC);
	passed.lived_ns = 1000;
	for (int in_one = 0; in_one <= 1; in_one++) {
		FILE *file = stream_begin(1);

		stream_stack(file, 1, site_a, 2);
		/* the second one finds all kinds known, and frees that were missed */
		for (int round = 0; round < 3; round++) {
			if (in_one) {
				struct hi_stream_event all[4] = {kept, freed, passed, a_free};

				stream_events(file, all,
					      3 * sizeof(*all) + HI_STREAM_EVENT_FREE_BYTES);
			} else {
				stream_alloc_on(file, 0x1000, 48, 1);
				stream_alloc_on(file, 0x2000, 48, 1);
				stream_alloc_on(file, 0x3000, 48, 1);
				stream_free(file, 0x3000);
				stream_free(file, 0x2000);
			}
			/* the second: is a missed free in the next round */
			stream_unfree(file, round ? 0x2000 : 0x3000);
		}
		stream_end(file);
		CHECK_EQ(replayed(file, in_one ? &one : &other), 0);
	}
	CHECK(!one.meta.damage);
	CHECK_EQ(one.row_count, 1);
	check_same_row(&one.row[0], &other.row[0]);
	CHECK_EQ(memcmp(&one.breakdown.part[0], &other.breakdown.part[0], sizeof(struct part)), 0);
	CHECK_EQ(one.meta.samples, 9);
	CHECK_EQ(one.meta.frees, other.meta.frees);
	CHECK_EQ(one.meta.slack_samples, 9);
	CHECK_EQ(one.meta.stacks_complete, other.meta.stacks_complete);
	CHECK_EQ(one.meta.duration_ns, other.meta.duration_ns);
	profile_close(&one);
	profile_close(&other);
}

/* What is known of a kind of allocation does not outlive what it was known by. */
UNIT_TEST(events_belong_to_the_modules_the_thread_and_the_interval_of_the_moment)
{
	const struct hi_stream_event alloc = {.what = EVENT_AT(0x1000, EVENT_ALLOC),
					      .thread = 1,
					      .bytes = 48,
					      .stack = 1,
					      .lived_ns = 1};
	struct hi_stream_event others = alloc;
	struct profile profile;
	FILE *file = stream_begin(1);

	others.thread = 2;
	stream_stack(file, 1, site_a, 2);
	stream_thread(file, 1, 101, "one");
	stream_events(file, &alloc, sizeof(alloc));
	stream_events(file, &others, sizeof(others)); /* of nobody */
	stream_thread(file, 2, 102, "two");
	stream_events(file, &others, sizeof(others));
	stream_drawn = 512;
	stream_events(file, &alloc, sizeof(alloc));
	stream_module_gone(file, 1);
	stream_events(file, &alloc, sizeof(alloc));
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.row_count, 3);
	CHECK_EQ(profile.row[0].alloc_count, 3);
	CHECK_EQ(profile.row[0].freed_count, 3);
	CHECK_EQ(profile.row[1].key.interval, 512);
	CHECK_EQ(profile.row[2].key.interval, 512);
	CHECK_EQ(profile.frame[profile.stack[profile.row[2].key.stack].frame[0]].module, -1);
	CHECK_EQ(profile.breakdown.count, 5);
	CHECK_EQ(replayed_part(&profile, "two")->alloc_count, 1);
	profile_close(&profile);
}

UNIT_TEST(events_that_make_no_sense_are_named_and_the_others_count)
{
	struct hi_stream_event event = {.what = EVENT_AT(0, EVENT_ALLOC),
					.bytes = 48,
					.stack = 1,
					.lived_ns = HI_STREAM_LIVES};
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_events(file, &event, sizeof(event)); /* nowhere */
	event.what = EVENT_AT(0x1000, EVENT_ALLOC);
	event.stack = 7; /* not told */
	stream_events(file, &event, sizeof(event));
	stream_events(file, &event, sizeof(event));
	event.stack = 1;
	event.what = EVENT_AT(0x2000, EVENT_ALLOC);
	stream_drawn = 0;
	stream_events(file, &event, sizeof(event));
	stream_drawn = 1;
	stream_events(file, &event, HI_STREAM_EVENT_FREE_BYTES); /* an allocation cut in two, */
	stream_events(file, &event, 8);                          /* and not even a free */
	stream_events(file, NULL, 0);
	event.what = EVENT_AT(0x3000, 0xff); /* functions of later versions */
	stream_events(file, &event, sizeof(event));
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(strstr(profile.meta.damage, "an allocation of an impossible size, address"));
	CHECK_EQ(profile.meta.samples, 3);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].inuse_count, 1);
	CHECK_EQ(profile.row[1].inuse_count, 1);
	profile_close(&profile);
}

UNIT_MAIN()
