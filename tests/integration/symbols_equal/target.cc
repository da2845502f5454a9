/* SPDX-License-Identifier: MIT */
/*
 * Much that a compiler inlines, in namespaces with and without a name, in classes and in lambdas.
 * What it does is of no interest; it need not run.
 */
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{
struct Item {
	std::string name;
	std::shared_ptr<std::vector<double>> values;
	bool operator<(const Item &other) const
	{
		return name < other.name;
	}
};

template <class Map> double weigh(const Map &items)
{
	double sum = 0;

	for (const auto &[key, item] : items)
		for (double value : *item.values)
			sum += value * static_cast<double>(key.size());
	return sum;
}
} // namespace

namespace store
{
class Shelf
{
      public:
	void put(const std::string &key, double value)
	{
		Item &item = items[key];

		if (!item.values)
			item.values = std::make_shared<std::vector<double>>();
		item.name = key;
		item.values->push_back(value);
	}
	std::vector<Item> sorted() const
	{
		std::vector<Item> all;

		std::transform(items.begin(), items.end(), std::back_inserter(all),
			       [](const auto &pair) { return pair.second; });
		std::stable_sort(all.begin(), all.end());
		return all;
	}
	double weight() const
	{
		return weigh(items);
	}

      private:
	std::unordered_map<std::string, Item> items;
};

static void list(const Shelf &shelf)
{
	for (const Item &item : shelf.sorted())
		std::cout << item.name << ' ' << item.values->size() << '\n';
}
} // namespace store

int main()
{
	store::Shelf shelf;

	for (std::string line; std::getline(std::cin, line);) {
		std::istringstream words(line);
		std::string command, key;
		double value = 0;

		words >> command >> key >> value;
		if (command == "put")
			shelf.put(key, value);
		else if (command == "list")
			store::list(shelf);
		else
			std::cout << shelf.weight() << '\n';
	}
	return 0;
}
