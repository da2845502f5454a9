/* SPDX-License-Identifier: MIT */
/*
 * events_out: what goes into EVENTS records, what ends them, and which frees are told by their
 * allocations.
 */
#include "events_out.h"

#include <string.h>

#include "unit.h"

#define INTERVAL 1u

static struct events_out events;
static struct stream_out out;

static void prepare(void)
{
	events = (struct events_out){0};
	CHECK_EQ(stream_out_open(&out, -1), 0);
}

static void put_alloc(uint64_t time_ns, uint64_t address)
{
	const struct hi_stream_alloc alloc = {.time_ns = time_ns,
					      .address = address,
					      .bytes = 48,
					      .thread = 3,
					      .function = HI_FN_CALLOC,
					      .interval = INTERVAL,
					      .slack = 8,
					      .stack = 5};
	CHECK_EQ(events_out_alloc(&events, &out, &alloc), 0);
}

static void put_free(uint64_t time_ns, uint64_t address)
{
	const struct hi_stream_free record = {.time_ns = time_ns, .address = address, .thread = 4};
	CHECK_EQ(events_out_free(&events, &out, &record), 0);
}

/* The next record of the stream; NULL: there is none. */
static const struct hi_stream_record *next(void)
{
	const struct hi_stream_record *record =
		(const struct hi_stream_record *)(const void *)(out.buffer + out.begin);
	if (out.begin >= out.end)
		return NULL;
	out.begin += record->size;
	CHECK(out.begin <= out.end);
	return record;
}

static const void *expect(uint16_t type)
{
	const struct hi_stream_record *record = next();
	CHECK(record);
	CHECK_EQ(record->type, type);
	return record;
}

/* What is in an EVENTS record: its events, and how many. */
static const struct hi_stream_event *events_in(const struct hi_stream_events *record,
					       size_t *out_size)
{
	*out_size = record->record.size - sizeof(*record);
	return (const struct hi_stream_event *)(const void *)(record + 1);
}

static uint64_t what(uint64_t address, uint64_t kind)
{
	return address | kind << HI_STREAM_EVENT_ADDRESS_BITS;
}

UNIT_TEST(nothing_is_written_before_it_is_closed_and_then_all)
{
	size_t size;
	prepare();
	CHECK_EQ(events_out_close(&events, &out), 0);
	put_alloc(1000, 0x1000);
	put_free(1010, 0x2000);
	CHECK(!next());
	CHECK_EQ(events_out_close(&events, &out), 0);
	const struct hi_stream_events *record = expect(HI_STREAM_EVENTS);
	CHECK_EQ(record->time_ns, 1000);
	CHECK_EQ(record->last_ns, 1010);
	CHECK_EQ(record->interval, INTERVAL);
	const struct hi_stream_event *event = events_in(record, &size);
	CHECK_EQ(size, sizeof(*event) + HI_STREAM_EVENT_FREE_BYTES);
	CHECK_EQ(event[0].what, what(0x1000, HI_FN_CALLOC + 1));
	CHECK_EQ(event[0].after_ns, 0);
	CHECK_EQ(event[0].thread, 3);
	CHECK_EQ(event[0].bytes, 48);
	CHECK_EQ(event[0].stack, 5);
	CHECK_EQ(event[0].slack, 8);
	CHECK_EQ(event[0].lived_ns, HI_STREAM_LIVES);
	CHECK_EQ(event[1].what, 0x2000);
	CHECK_EQ(event[1].after_ns, 10);
	CHECK_EQ(event[1].thread, 4);
	CHECK_EQ(events_out_close(&events, &out), 0);
	CHECK(!next());
	stream_out_close(&out);
}

UNIT_TEST(the_last_allocation_at_an_address_is_the_one_that_is_freed)
{
	size_t size;
	prepare();
	put_alloc(100, 0x1000);
	put_alloc(110, 0x1000); /* the free between them was dropped */
	put_free(120, 0x1000);
	put_free(130, 0x1000); /* of none that is known */
	put_alloc(140, 0x1000);
	put_free(135, 0x1000); /* clocks disagree by a little */
	CHECK_EQ(events_out_close(&events, &out), 0);
	const struct hi_stream_events *record = expect(HI_STREAM_EVENTS);
	const struct hi_stream_event *event = events_in(record, &size);
	CHECK_EQ(size, 3 * sizeof(*event) + HI_STREAM_EVENT_FREE_BYTES);
	CHECK_EQ(event[0].lived_ns, HI_STREAM_LIVES);
	CHECK_EQ(event[1].lived_ns, 10);
	CHECK_EQ(event[2].what, 0x1000);
	const struct hi_stream_event *last =
		(const struct hi_stream_event *)(const void *)((const uint8_t *)&event[2] +
							       HI_STREAM_EVENT_FREE_BYTES);
	CHECK_EQ(last->lived_ns, 0);
	CHECK_EQ(record->last_ns, 140);
	stream_out_close(&out);
}

/* Nothing that was put together for one record is believed of the next. */
UNIT_TEST(an_allocation_in_another_record_says_nothing_of_its_free)
{
	size_t size;
	prepare();
	put_alloc(100, 0x1000);
	CHECK_EQ(events_out_close(&events, &out), 0);
	put_free(110, 0x1000);
	put_alloc(110, 0x2000);
	put_free(110, 0x1000);
	CHECK_EQ(events_out_close(&events, &out), 0);
	CHECK_EQ(events_in(expect(HI_STREAM_EVENTS), &size)->lived_ns, HI_STREAM_LIVES);
	events_in(expect(HI_STREAM_EVENTS), &size);
	CHECK_EQ(size, sizeof(struct hi_stream_event) + 2 * HI_STREAM_EVENT_FREE_BYTES);
	stream_out_close(&out);
}

/*
 * Where the last record had an allocation this one has a free of the same address, and behind it
 * what might be taken for a life without end.
 */
UNIT_TEST(a_place_in_the_last_record_is_none_in_this_one)
{
	const struct hi_stream_free odd = {
		.time_ns = 110, .address = 0x2000, .thread = HI_STREAM_LIVES};
	size_t size;
	prepare();
	put_alloc(100, 0x1000);
	CHECK_EQ(events_out_close(&events, &out), 0);
	put_free(110, 0x1000);
	CHECK_EQ(events_out_free(&events, &out, &odd), 0);
	put_free(110, 0x1000);
	CHECK_EQ(events_out_close(&events, &out), 0);
	expect(HI_STREAM_EVENTS);
	events_in(expect(HI_STREAM_EVENTS), &size);
	CHECK_EQ(size, 3 * HI_STREAM_EVENT_FREE_BYTES);
	stream_out_close(&out);
}

UNIT_TEST(what_does_not_fit_the_form_is_a_record_of_its_own_in_its_turn)
{
	const struct hi_stream_alloc odd[] = {
		{.address = 0x2000,
		 .bytes = 1ull << 32,
		 .function = HI_FN_MALLOC,
		 .interval = INTERVAL,
		 .stack = 5},
		{.address = 1ull << HI_STREAM_EVENT_ADDRESS_BITS,
		 .bytes = 1,
		 .function = HI_FN_MALLOC,
		 .interval = INTERVAL,
		 .stack = 5},
		{.address = 0x2000,
		 .bytes = 1,
		 .function = UINT16_MAX,
		 .interval = INTERVAL,
		 .stack = 5},
		{.address = 0x2000,
		 .bytes = 1,
		 .function = HI_FN_MALLOC,
		 .interval = INTERVAL,
		 .stack = 0},
	};
	prepare();
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		put_alloc(100, 0x1000);
		CHECK_EQ(events_out_alloc(&events, &out, &odd[i]), 0);
		expect(HI_STREAM_EVENTS);
		const struct hi_stream_alloc *alloc = expect(HI_STREAM_ALLOC);
		CHECK_EQ(memcmp(&alloc->time_ns, &odd[i].time_ns,
				sizeof(*alloc) - offsetof(struct hi_stream_alloc, time_ns)),
			 0);
	}
	put_alloc(100, 0x1000);
	put_free(100, UINT64_MAX);
	expect(HI_STREAM_EVENTS);
	CHECK_EQ(((const struct hi_stream_free *)expect(HI_STREAM_FREE))->address, UINT64_MAX);
	CHECK(!next());
	stream_out_close(&out);
}

UNIT_TEST(another_interval_an_earlier_time_and_a_much_later_one_begin_a_new_record)
{
	struct hi_stream_alloc alloc = {
		.time_ns = 1000, .address = 0x1000, .bytes = 1, .interval = 4096, .stack = 1};
	static const struct {
		uint64_t time_ns, interval;
	} expected[] = {{1000, 4096},
			{1000, 8192},
			{999, 8192},
			{999ull + UINT32_MAX, 8192},
			{1ull << 50, 8192}};
	prepare();
	CHECK_EQ(events_out_alloc(&events, &out, &alloc), 0);
	alloc.interval = 8192;
	CHECK_EQ(events_out_alloc(&events, &out, &alloc), 0);
	put_free(999, 0x9000); /* of any interval */
	put_free(999ull + UINT32_MAX, 0x9000);
	put_free(1ull << 50, 0x9000);
	CHECK_EQ(events_out_close(&events, &out), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		const struct hi_stream_events *record = expect(HI_STREAM_EVENTS);
		CHECK_EQ(record->time_ns, expected[i].time_ns);
		CHECK_EQ(record->interval, expected[i].interval);
	}
	CHECK(!next());
	stream_out_close(&out);
}

/* A life that is longer than can be said ends with a FREE. */
UNIT_TEST(long_lives_are_told_apart)
{
	prepare();
	put_alloc(1, 0x1000);
	put_free(UINT32_MAX, 0x1000);
	put_alloc(5, 0x2000);
	put_free(5ull + UINT32_MAX, 0x2000);
	CHECK_EQ(events_out_close(&events, &out), 0);
	size_t size;
	const struct hi_stream_event *event = events_in(expect(HI_STREAM_EVENTS), &size);
	CHECK_EQ(size, 2 * sizeof(*event));
	CHECK_EQ(event[0].lived_ns, UINT32_MAX - 1);
	CHECK_EQ(event[1].lived_ns, HI_STREAM_LIVES);
	CHECK_EQ(events_in(expect(HI_STREAM_EVENTS), &size)->what, 0x2000);
	CHECK_EQ(size, HI_STREAM_EVENT_FREE_BYTES);
	stream_out_close(&out);
}

UNIT_TEST(full_records_go_out_whole)
{
	enum { EVENTS = 100000 };
	size_t size, seen = 0;
	prepare();
	for (uint64_t i = 1; i <= EVENTS; i++)
		put_alloc(i, i * 48);
	for (uint64_t i = 1; i <= EVENTS; i++)
		put_free(EVENTS + i, i * 48);
	CHECK_EQ(events_out_close(&events, &out), 0);
	for (const struct hi_stream_record *record; (record = next());) {
		CHECK_EQ(record->type, HI_STREAM_EVENTS);
		CHECK(record->size <= EVENTS_OUT_BYTES);
		const uint8_t *at = (const void *)events_in((const void *)record, &size);
		for (const uint8_t *end = at + size; at < end; seen++) {
			const struct hi_stream_event *event = (const void *)at;
			const bool is_free = !(event->what >> HI_STREAM_EVENT_ADDRESS_BITS);
			const uint64_t number = seen % EVENTS + 1;
			/* they are too many to be freed in the record that allocates them */
			CHECK_EQ(is_free, seen >= EVENTS);
			at += is_free ? HI_STREAM_EVENT_FREE_BYTES : sizeof(*event);
			CHECK(at <= end);
			CHECK_EQ(event->what & EVENTS_OUT_ADDRESS_MASK, number * 48);
		}
	}
	CHECK_EQ(seen, 2 * EVENTS);
	stream_out_close(&out);
}

UNIT_MAIN()
