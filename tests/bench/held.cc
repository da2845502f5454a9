// SPDX-License-Identifier: MIT
// held.cc - a program that holds so many megabytes in blocks of 16 to 512 bytes: objects of three
// classes, text, lists and plain data. A quarter of what it has allocated is free again. It writes
// a line when it is done, and waits for the end of its input.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace
{
struct node {
	node *next;
};

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	shape *next = nullptr;
};

template <size_t size> struct sized : shape {
	double area() const override
	{
		return side[0];
	}
	double side[size] = {};
};

shape *shapes;
node *nodes;
size_t held;

void *taken(size_t size)
{
	void *block = malloc(size);

	if (!block)
		_exit(1);
	memset(block, 'a', size);
	held += size + 8;
	return block;
}

template <size_t size> void keep_shape()
{
	auto *made = new sized<size>;

	made->next = shapes;
	shapes = made;
	held += sizeof(*made) + 8;
}

void keep_node(size_t size)
{
	auto *made = static_cast<node *>(taken(size));

	made->next = nodes;
	nodes = made;
}
} // namespace

int main(int argc, char **argv)
{
	const size_t wanted = argc > 1 ? strtoul(argv[1], nullptr, 10) << 20 : 0;
	unsigned random = 1;
	char byte;

	while (held < wanted) {
		random = random * 1664525u + 1013904223u;
		const size_t size = 16 + (random >> 8) % 497;
		void *passing = taken(size);

		held -= size + 8;
		keep_node(size);
		keep_node(size / 2 + 16);
		switch ((random >> 20) % 3) {
		case 0:
			keep_shape<3>();
			break;
		case 1:
			keep_shape<12>();
			break;
		default:
			keep_shape<40>();
		}
		free(passing);
	}
	// so that what is free lies between what is not
	size_t number = 0;
	for (node **at = &nodes; *at; number++) {
		node *it = *at;

		if (number % 4 == 0) {
			*at = it->next;
			free(it);
		} else {
			at = &it->next;
		}
	}
	puts("ready");
	fflush(stdout);
	return read(STDIN_FILENO, &byte, 1) < 0;
}
