// SPDX-License-Identifier: MIT
//
// objects.cc - holds a known number of objects of known classes, strings and other blocks, says
// "ready", and then holds 200 more objects of class net::session a second until its input ends.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace net
{
struct session {
	virtual ~session() = default;
	char room[100] = {1};
};
struct secure_session : session {
	int key = 7;
};
} // namespace net

template <class Key, class Value> struct table {
	virtual ~table() = default;
	Key key{};
	Value value{};
};

namespace
{
struct hidden {
	virtual ~hidden() = default;
	long number = 5;
};
// Its first word is no pointer to a table of functions.
struct plain {
	long number = 12345;
	double value = 1.5;
};
} // namespace

static std::vector<void *> kept;

template <class T> static void hold(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		kept.push_back(new T);
}

static void hold_text(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char *text = static_cast<char *>(malloc(50));
		snprintf(text, 50, "secret number %u of this program", i);
		kept.push_back(text);
	}
}

static void grow()
{
	for (;;) {
		hold<net::session>(20);
		usleep(100000);
	}
}

int main()
{
	kept.reserve(1000000);
	hold<net::session>(10000);
	hold<net::secure_session>(3000);
	hold<table<int, std::vector<char>>>(2000);
	hold<hidden>(1500);
	hold<plain>(4000);
	hold_text(2500);
	for (unsigned i = 0; i < 700; i++)
		kept.push_back(calloc(1, 600));
	for (unsigned i = 0; i < 300; i++) {
		void **block = static_cast<void **>(malloc(408));
		for (unsigned j = 0; j < 51; j++)
			block[j] = kept[j];
		kept.push_back(block);
	}
	std::thread(grow).detach();
	puts("ready");
	fflush(stdout);
	char byte;
	while (read(0, &byte, 1) > 0)
		;
}
