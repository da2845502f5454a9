// SPDX-License-Identifier: MIT
// new[] of a type with a destructor returns a pointer behind the word in which it counts.
// want: direct lose_array 80 1, direct lose_one 24 1
#include "leaky.h"

struct Item {
	long value[3];
	~Item()
	{
		used(this);
	}
};

static Item *some, *none, *lost;

static APART void keep()
{
	some = new Item[5];
	none = new Item[0];
}

static APART void lose_array()
{
	lost = static_cast<Item *>(used(new Item[3]));
	lost = nullptr;
}

static APART void lose_one()
{
	lost = static_cast<Item *>(used(new Item));
	lost = nullptr;
}

int main()
{
	keep();
	lose_array();
	lose_one();
	used(&some);
	used(&none);
	used(&lost);
	wipe();
	return 0;
}
