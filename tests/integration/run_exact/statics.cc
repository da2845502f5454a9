// SPDX-License-Identifier: MIT
// Static initialisers of C++, and what they give back.
#include <map>
#include <string>
#include <vector>

static std::map<int, std::string> table;
static std::vector<int> numbers(1000);

struct filler {
	filler()
	{
		for (int i = 0; i < 100; i++)
			table[i] = std::string(static_cast<size_t>(20 + i), 'x');
	}
};
static filler fills;
static int *leaked = new int[77];

int main()
{
	table.erase(50);
	numbers.push_back(*leaked = 1);
	return 0;
}
