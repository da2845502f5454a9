/* SPDX-License-Identifier: MIT */
/* leaky.cc - leaks of C++: operator new, containers that are never emptied, cycles. */
#include "programs.h"

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

struct widget {
	char state[480];
};

static SITE void leak_widget()
{
	auto *made = new widget();

	USE(filled(made, sizeof(*made)));
	count_leaked(sizeof(*made));
}

static void by_new()
{
	for (unsigned i = due(500); i; i--)
		leak_widget();
}

struct event {
	uint64_t words[8];
};

/* Counts what the blocks of a vector take. No function: it would be the one to look at. */
#define PUSH_COUNTED(to, ...)                                                                     \
	do {                                                                                      \
		const size_t before = (to).capacity();                                            \
                                                                                                  \
		(to).push_back(__VA_ARGS__);                                                      \
		count_leaked(static_cast<int64_t>(((to).capacity() - before) * sizeof((to)[0]))); \
	} while (0)

static SITE void leak_event()
{
	static std::vector<event> events;

	PUSH_COUNTED(events, event{{1}});
	USE(events.data());
}

static void vector_of_events()
{
	for (unsigned i = due(4000); i; i--)
		leak_event();
}

static SITE void leak_visit(size_t user)
{
	static std::array<std::vector<event>, 300> visits;

	PUSH_COUNTED(visits[user], event{{1}});
	USE(visits[user].data());
}

/* Few users come often. */
static void vector_of_each_user()
{
	for (unsigned i = due(3000); i; i--)
		leak_visit(random_below(1 + random_below(300)));
}

/* The node of a map or a list: a colour and three pointers, or two pointers, and the value. */
#define MAP_NODE (4 * sizeof(void *))
#define LIST_NODE (2 * sizeof(void *))

static SITE void leak_price(uint64_t key)
{
	static std::map<uint64_t, std::string> prices;

	if (prices.emplace(key, std::string(60, 'p')).second)
		count_leaked(MAP_NODE + sizeof(std::pair<const uint64_t, std::string>) + 61);
	USE(&prices);
}

static void map_of_prices()
{
	for (unsigned i = due(1000); i; i--)
		leak_price(static_cast<uint64_t>(random_below(UINT32_MAX)) << 32 |
			   random_below(UINT32_MAX));
}

static SITE void leak_seen_id(uint64_t key)
{
	static std::unordered_map<uint64_t, std::array<char, 48>> seen;
	const size_t before = seen.bucket_count();

	if (seen.emplace(key, std::array<char, 48>{}).second)
		count_leaked(sizeof(void *) + sizeof(key) + 48);
	count_leaked(static_cast<int64_t>((seen.bucket_count() - before) * sizeof(void *)));
	USE(&seen);
}

static void unordered_map_of_ids()
{
	for (unsigned i = due(3000); i; i--)
		leak_seen_id(static_cast<uint64_t>(random_below(UINT32_MAX)) << 32 |
			     random_below(UINT32_MAX));
}

static SITE void leak_transcript(size_t size)
{
	static std::string transcript;
	const size_t before = transcript.capacity();

	transcript.append(size, 't');
	count_leaked(static_cast<int64_t>(transcript.capacity() - before));
	USE(transcript.data());
}

static void string_of_transcript()
{
	for (unsigned i = due(500); i; i--)
		leak_transcript(100 + random_below(400));
}

static SITE void leak_undo_step()
{
	static std::list<std::array<char, 304>> steps;

	steps.emplace_back();
	count_leaked(LIST_NODE + sizeof(steps.back()));
	USE(&steps);
}

static void list_of_steps()
{
	for (unsigned i = due(400); i; i--)
		leak_undo_step();
}

/* A deque allocates 512 bytes at a time; its table of them is small. */
static SITE void leak_sample()
{
	static std::deque<std::array<double, 16>> samples;

	samples.emplace_back();
	count_leaked(sizeof(samples.back()));
	USE(&samples);
}

static void deque_of_samples()
{
	for (unsigned i = due(600); i; i--)
		leak_sample();
}

/* ---- cycle: a session and its handler hold each other ----------------------------------- */

struct session;

struct handler {
	std::shared_ptr<session> owner;
	char state[200];
};

struct session {
	std::shared_ptr<handler> reader;
	char state[600];
};

static SITE std::shared_ptr<handler> leak_handler()
{
	return std::make_shared<handler>();
}

static SITE std::shared_ptr<session> leak_session()
{
	return std::make_shared<session>();
}

/* Two counters and a table of functions are before each object. */
#define SHARED_BYTES (sizeof(session) + sizeof(handler) + 32)

/* One client of four is without a cycle. */
static void cycle()
{
	static std::array<std::shared_ptr<session>, 50> open;
	static size_t count;

	for (unsigned i = due(400); i; i--, count++) {
		std::shared_ptr<session> opened = leak_session();

		opened->reader = leak_handler();
		if (random_below(4)) {
			opened->reader->owner = opened;
			count_leaked(SHARED_BYTES);
		}
		open[count % open.size()] = opened;
	}
}

/* ---- hundreds of callers of one function ------------------------------------------------ */

static SITE void leak_interned_name(size_t size)
{
	auto *name = static_cast<char *>(filled(malloc(size), size));

	USE(name);
	count_leaked(static_cast<int64_t>(size));
}

template <int N> static SITE void parse_keyword()
{
	leak_interned_name(100 + N);
	__asm__ volatile("" : : "i"(N) : "memory");
}

template <int... N> static void call_one(int which, std::integer_sequence<int, N...>)
{
	static void (*const parsers[])() = {parse_keyword<N>...};

	parsers[which]();
}

static void many_callers()
{
	for (unsigned i = due(1000); i; i--)
		call_one(static_cast<int>(random_below(300)),
			 std::make_integer_sequence<int, 300>());
}

const struct program leaky_cplusplus[] = {
	{"by_new", "leak_widget", 100, 5, nullptr, by_new, "objects of 480 bytes, 500 a second"},
	{"vector_of_events", "leak_event", 20, 1, nullptr, vector_of_events,
	 "one vector that is never cleared and doubles"},
	{"vector_of_each_user", "leak_visit", 50, 5, nullptr, vector_of_each_user,
	 "300 vectors that are never cleared, few of them grow fast"},
	{"map_of_prices", "leak_price", 200, 20, nullptr, map_of_prices,
	 "a map of strings that nothing is erased from"},
	{"unordered_map_of_ids", "leak_seen_id", 50, 5, nullptr, unordered_map_of_ids,
	 "a hash table that nothing is erased from"},
	{"string_of_transcript", "leak_transcript", 50, 5, nullptr, string_of_transcript,
	 "one string that is appended to, and doubles"},
	{"list_of_steps", "leak_undo_step", 50, 30, nullptr, list_of_steps,
	 "a list that nothing is removed from"},
	{"deque_of_samples", "leak_sample", 20, 2, nullptr, deque_of_samples,
	 "a deque that nothing is removed from"},
	{"cycle", "leak_session,leak_handler", 20, 5, nullptr, cycle,
	 "three of four sessions and their handlers hold each other"},
	{"many_callers", "leak_interned_name", 50, 5, nullptr, many_callers,
	 "one function, called by 300 others"},
	{},
};
