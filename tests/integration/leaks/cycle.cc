/* SPDX-License-Identifier: MIT */
/*
 * cycle.cc - a session and its handler hold each other; in the leaking program both by shared
 * pointers.
 */
#include <memory>

#include "seeded.h"

namespace
{
struct session;

struct handler {
	std::shared_ptr<session> owner;
	std::weak_ptr<session> seen;
	char state[100];
};

struct session {
	std::shared_ptr<handler> reader;
	char state[400];
};

std::shared_ptr<session> open_sessions[60];

SEEDED_SITE std::shared_ptr<session> seeded_leak()
{
	auto *made = new session();

	return std::shared_ptr<session>(made);
}

SEEDED_SITE std::shared_ptr<handler> make_handler()
{
	return std::make_shared<handler>();
}

void step(int64_t ms, bool leaks)
{
	std::shared_ptr<session> opened = seeded_leak();

	opened->reader = make_handler();
	opened->reader->seen = opened;
	if (leaks)
		opened->reader->owner = opened;
	open_sessions[ms % 60] = opened;
}
} // namespace

int main(int argc, char **argv)
{
	return seeded_run(argc, argv, step);
}
