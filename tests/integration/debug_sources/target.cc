/* SPDX-License-Identifier: MIT */
/*
 * Functions of three kinds: exported, known to this file alone, and inlined. It is only looked at,
 * never run for long.
 */
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace
{
struct Crate {
	std::vector<std::string> labels;

	__attribute__((noinline)) void sort()
	{
		std::sort(labels.begin(), labels.end());
	}
	void add(int number)
	{
		labels.push_back(std::string(static_cast<size_t>(number) % 40 + 1, 'x'));
	}
};
} // namespace

static __attribute__((noinline)) void fill(Crate &crate, int count)
{
	for (int i = 0; i < count; i++)
		crate.add(i);
}

namespace depot
{
__attribute__((noinline)) size_t longest(const Crate &crate)
{
	size_t most = 0;

	for (const std::string &label : crate.labels)
		most = std::max(most, label.size());
	return most;
}
} // namespace depot

int main(int count, char **)
{
	Crate crate;

	fill(crate, count);
	crate.sort();
	std::printf("%zu\n", depot::longest(crate));
	return 0;
}
