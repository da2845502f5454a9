/* SPDX-License-Identifier: MIT */
/*
 * A C++ program with what makes call graphs differ: templates, inlined calls, recursion,
 * containers, several callers of one function. Command: round = some thousands of allocations, of
 * which about half stay; each round keeps other amounts.
 */
#include "../target.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace shop
{

struct Item {
	std::string name;
	std::vector<int> stock;
};

class Catalogue
{
	std::map<std::string, std::unique_ptr<Item>> items;
	std::unordered_map<int, std::string> index;

      public:
	__attribute__((noinline)) Item *add(int number, int round)
	{
		auto item = std::make_unique<Item>();
		item->name =
			"a name that is too long to lie in the string " + std::to_string(number);
		item->stock.resize(static_cast<size_t>(10 + number % 50 * round));
		index[number] = item->name;
		Item *plain = item.get();
		items[item->name + std::to_string(round)] = std::move(item);
		return plain;
	}
	__attribute__((noinline)) void drop(size_t count)
	{
		while (count-- && !items.empty())
			items.erase(items.begin());
	}
};

struct Tree {
	std::unique_ptr<Tree> left, right;
	std::unique_ptr<char[]> load;

	__attribute__((noinline)) static std::unique_ptr<Tree> grow(int depth)
	{
		auto tree = std::make_unique<Tree>();
		tree->load = std::make_unique<char[]>(static_cast<size_t>(64 << depth % 6));
		if (depth > 0) {
			tree->left = grow(depth - 1);
			tree->right = grow(depth - 2 > 0 ? depth - 2 : 0);
		}
		return tree;
	}
};

template <class Element> struct Journal {
	std::deque<Element> entries;

	__attribute__((noinline)) void write(int count)
	{
		for (int i = 0; i < count; i++)
			entries.emplace_back(static_cast<size_t>(100 + i % 7), 'j');
		while (entries.size() > 500)
			entries.pop_front();
	}
};

} // namespace shop

static shop::Catalogue catalogue;
static shop::Journal<std::string> journal;
static std::vector<std::unique_ptr<shop::Tree>> trees;
static std::vector<void *> plain;

__attribute__((noinline)) static void by_hand(int round)
{
	for (int i = 0; i < 200; i++) {
		plain.push_back(malloc(static_cast<size_t>(1 + i * 97)));
		plain.push_back(calloc(3, static_cast<size_t>(round * 10)));
	}
	for (size_t i = 0; i < plain.size(); i += 3) {
		free(plain[i]);
		plain[i] = nullptr;
	}
}

__attribute__((noinline)) static void order(int round)
{
	for (int i = 0; i < 400; i++)
		catalogue.add(i, round);
	catalogue.drop(150);
	journal.write(300 * round);
}

__attribute__((noinline)) static void restock(int round)
{
	for (int i = 0; i < 100; i++)
		catalogue.add(i * 31, round + 100);
	trees.push_back(shop::Tree::grow(8 + round % 3));
	if (trees.size() > 3)
		trees.erase(trees.begin());
}

int main()
{
	char command[TARGET_COMMAND_MAX];
	int round = 0;

	target_say("ready\n");
	while (target_read(command)) {
		round++;
		order(round);
		restock(round);
		by_hand(round);
		target_say("done\n");
	}
	return 0;
}
