// SPDX-License-Identifier: MIT
//
// objects.cc - holds a known number of objects of known classes, strings and other blocks, says
// "ready", and then holds 200 more objects of class net::session and 100 fewer of net::expiring a
// second, and between 500 and 1000 of net::request, up and down once a second, until its input
// ends. Only those of net::parent refer to those of net::child, and only a stack to net::local.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
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
struct request {
	virtual ~request() = default;
	char room[300] = {1};
};
struct child {
	virtual ~child() = default;
	char room[60] = {1};
};
struct parent {
	virtual ~parent() = default;
	child *has = new child;
};
struct local {
	virtual ~local() = default;
	char room[80] = {1};
};
struct expiring {
	virtual ~expiring() = default;
	char room[500] = {1};
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
static std::vector<net::request *> requests;
static std::vector<net::expiring *> expiring;
static std::atomic<bool> is_held;

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

static void set_requests(size_t count)
{
	for (; requests.size() > count; requests.pop_back())
		delete requests.back();
	while (requests.size() < count)
		requests.push_back(new net::request);
}

static void hold_on_stack()
{
	net::local *volatile held[250];

	for (unsigned i = 0; i < 250; i++)
		held[i] = new net::local;
	pthread_setname_np(pthread_self(), "holder");
	is_held = true;
	for (;;)
		sleep(1000 + (held[0] == nullptr));
}

static void change()
{
	for (unsigned step = 0;; step++) {
		const unsigned at = step % 10;

		hold<net::session>(20);
		set_requests(500 + 100 * (at < 5 ? at : 10 - at));
		for (unsigned i = 0; i < 10 && !expiring.empty(); i++, expiring.pop_back())
			delete expiring.back();
		usleep(100000);
	}
}

int main()
{
	kept.reserve(1000000);
	requests.reserve(1000);
	expiring.reserve(20000);
	hold<net::session>(10000);
	hold<net::secure_session>(3000);
	hold<table<int, std::vector<char>>>(2000);
	hold<hidden>(1500);
	hold<net::parent>(400);
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
	while (expiring.size() < 20000)
		expiring.push_back(new net::expiring);
	set_requests(500);
	std::thread(hold_on_stack).detach();
	while (!is_held)
		usleep(1000);
	std::thread(change).detach();
	puts("ready");
	fflush(stdout);
	char byte;
	while (read(0, &byte, 1) > 0)
		;
}
