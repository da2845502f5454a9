// SPDX-License-Identifier: MIT
// A pointer to the second base of an object; containers, of which the outer one is lost.
// want: direct lose 32 1, indirect fill 900 1, direct lose_map 48 1, indirect name 101 1
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "leaky.h"

struct First {
	virtual ~First() = default;
	long first = 1;
};
struct Second {
	virtual ~Second() = default;
	long second = 2;
};
struct Both : First, Second {
	long own[4] = {};
};

static Second *kept;
static std::shared_ptr<std::string> *shared;

static APART void keep()
{
	kept = new Both;
	shared = new std::shared_ptr<std::string>(
		std::make_shared<std::string>(200, 'x'));
}

struct Holder {
	std::vector<char> bytes;
	long more = 0;
};

static APART void fill(Holder *holder)
{
	holder->bytes.reserve(900);
}

static APART void lose()
{
	Holder *holder = new Holder;

	fill(holder);
	used(holder);
}

struct Named {
	char *text;
	long rest[5];
};

static APART char *name()
{
	return static_cast<char *>(used(new char[101]));
}

static APART void lose_map()
{
	Named *named = new Named();

	named->text = name();
	used(named);
}

int main()
{
	keep();
	lose();
	lose_map();
	used(&kept);
	used(&shared);
	wipe();
	return 0;
}
