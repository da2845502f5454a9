/* SPDX-License-Identifier: MIT */
/*
 * strings.cc - each of many connections writes its log to a string, which gets a larger block
 * whenever it is full. The leaking program never takes the log away: no block of it grows old, and
 * still it grows.
 */
#include <string>

#include "seeded.h"

namespace
{
std::string log_of[100];

SEEDED_SITE void seeded_leak(std::string &text, size_t size)
{
	text.append(size, 'x');
}

void step(int64_t ms, bool leaks)
{
	for (int i = 0; i < 5; i++) {
		std::string &text = log_of[(size_t)(ms * 5 + i) % 100];

		seeded_leak(text, 50 + seeded_random(300));
		if (!leaks && text.size() > 4000)
			std::string().swap(text);
	}
}
} // namespace

int main(int argc, char **argv)
{
	for (std::string &text : log_of)
		text.resize(64 + seeded_random(4000)); // as if they had begun at different times
	return seeded_run(argc, argv, step);
}
