/* SPDX-License-Identifier: MIT */
/*
 * replay_events_test.c - a record of however many events is what a record for each of them would
 * be.
 */
#include "unit.h"

#include "replay.h"
#include "row_history.h"
#include "stream_file.h"
#include "stream_writer.h"

#define LO 0x400000u
#define AN_ALLOC ((uint64_t)(HI_FN_MALLOC + 1) << HI_STREAM_EVENT_ADDRESS_BITS)
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
	FILE *file = memory_file();

	stream_header(file, 1);
	stream_module(file, 1, LO, LO + 0x1000, "/opt/server");
	stream_thread(file, 1, 11, "one");
	stream_thread(file, 2, 12, "other");
	for (uint32_t i = 1; i <= STACKS; i++)
		stream_stack(file, i, &(const uint64_t){LO + 0x100 * i}, 1);
	return file;
}

static void play(FILE *file, struct profile *profile)
{
	struct input input;

	CHECK_EQ(profile_open(profile), 0);
	stream_end(file);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(replay_stream(&input, NULL, profile), 0);
	input_close(&input);
	fclose(file);
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
		stream_stack(file, i, &(const uint64_t){LO + 8 * i + 4}, 1);
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

UNIT_MAIN()
