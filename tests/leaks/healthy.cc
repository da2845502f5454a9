/* SPDX-License-Identifier: MIT */
/* healthy.cc - C++ that empties its containers, or keeps them within a bound. */
#include "programs.h"

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

static SITE void append_text(std::string &builder, size_t size)
{
	builder.append(size, 's');
	USE(builder.data());
}

/* Reset at 300 KB, to nothing. */
static void string_builder()
{
	static std::string builders[20];

	for (unsigned i = due(4000); i; i--) {
		std::string &builder = builders[random_below(LENGTH(builders))];

		append_text(builder, 50 + random_below(500));
		if (builder.size() > 300000)
			std::string().swap(builder);
	}
}

static SITE void add_row(std::vector<std::string> &rows)
{
	rows.emplace_back(50 + random_below(200), 'r');
	USE(rows.data());
}

/* The rows of a result; the vector keeps its capacity. */
static void vector_reused()
{
	static std::vector<std::string> rows;

	for (unsigned i = due(10000); i; i--) {
		if (rows.size() == 5000)
			rows.clear();
		add_row(rows);
	}
}

static SITE void remember(std::map<uint32_t, std::string> &known, uint32_t key)
{
	known[key].assign(300, 'm');
	USE(&known);
}

/* Evicts any of its keys, as all are random. */
static void map_bounded()
{
	static std::map<uint32_t, std::string> known;

	for (unsigned i = due(2000); i; i--) {
		remember(known, random_below(UINT32_MAX));
		if (known.size() <= 20000)
			continue;
		auto evicted = known.lower_bound(random_below(UINT32_MAX));
		known.erase(evicted == known.end() ? known.begin() : evicted);
	}
}

static SITE void add_pending(std::unordered_map<uint64_t, std::vector<char>> &pending, uint64_t id)
{
	pending.emplace(id, std::vector<char>(1000 + random_below(2000)));
	USE(&pending);
}

/* Answers come in any order, after some seconds. */
static void pending_replies()
{
	static std::unordered_map<uint64_t, std::vector<char>> pending;
	static std::deque<uint64_t> asked;
	static uint64_t id;

	for (unsigned i = due(1000); i; i--) {
		add_pending(pending, ++id);
		asked.push_back(id);
		if (asked.size() > 4000) {
			const size_t at = random_below(1000);

			pending.erase(asked[at]);
			asked[at] = asked.front();
			asked.pop_front();
		}
	}
}

const struct program healthy_cplusplus[] = {
	{"string_builder", "", 50, 5, nullptr, string_builder,
	 "20 strings that are appended to, and start anew at 300 KB"},
	{"vector_reused", "", 50, 5, nullptr, vector_reused,
	 "a vector of 5000 strings that is filled and cleared"},
	{"map_bounded", "", 50, 5, nullptr, map_bounded,
	 "a map that is full after ten seconds, then evicts at random"},
	{"pending_replies", "", 50, 5, nullptr, pending_replies,
	 "4000 requests wait for their answers, for four seconds"},
	{},
};
