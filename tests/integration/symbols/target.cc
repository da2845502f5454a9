// SPDX-License-Identifier: MIT
//
// Allocates by functions that are inlined, overloaded, templated and nested in name spaces, until
// told to stop. Lines that the script looks for bear a mark.
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "../target.h"

namespace
{
struct Basket {
	std::vector<std::string> items;

	void put(int number)
	{
		items.emplace_back(200, (char)('a' + number % 26)); // mark: put
	}
};
} // namespace

namespace shop
{
template <class T> __attribute__((noinline)) T *copy_of(const T &original)
{
	return new T(original); // mark: copy_of
}

__attribute__((noinline)) void fill(Basket &basket)
{
	for (int i = 0; i < 500; i++)
		basket.put(i); // mark: fill
}

__attribute__((noinline)) void operator<<(std::map<int, std::string> &index, int number)
{
	index[number] = std::string(300, 'x'); // mark: operator<<
}
} // namespace shop

int main()
{
	char command[TARGET_COMMAND_MAX];
	auto visit = [](Basket & basket) __attribute__((noinline))
	{
		shop::fill(basket); // mark: operator()
		__asm__ volatile("");
	};

	target_say("ready\n");
	while (target_read(command) && strcmp(command, "end") != 0) {
		Basket *basket = new Basket;
		auto *index = new std::map<int, std::string>;
		using namespace shop;
		visit(*basket);
		for (int i = 0; i < 500; i++)
			*index << i;
		copy_of(*index);
		target_say("done\n");
	}
	target_say("ended\n");
}
