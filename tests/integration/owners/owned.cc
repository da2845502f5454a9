// SPDX-License-Identifier: MIT
//
// owned.cc - blocks whose owners are known: a global map of sessions with buffers; a list that only
// a thread's stack has; a block with two owners; a ring; and blocks that nothing refers to. Says in
// one object of JSON how many bytes and blocks each is, and waits for the end of its input.
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <thread>

struct sum {
	size_t bytes, blocks;
	void *add(void *block)
	{
		bytes += malloc_usable_size(block);
		blocks++;
		return block;
	}
};
static sum of_sessions, of_list, of_shared, of_ring, of_lost;

// Counts what the map has for itself.
template <class T> struct counting {
	using value_type = T;
	counting() = default;
	template <class U> counting(const counting<U> &)
	{
	}
	T *allocate(size_t count)
	{
		return static_cast<T *>(of_sessions.add(malloc(count * sizeof(T))));
	}
	void deallocate(T *block, size_t)
	{
		free(block);
	}
	bool operator==(const counting &) const
	{
		return true;
	}
	bool operator!=(const counting &) const
	{
		return false;
	}
};

namespace net
{
struct session {
	virtual ~session() = default;
	long key = 7;
	char *buffer[4] = {};
};
} // namespace net

using session_map = std::map<int, net::session *, std::less<int>,
			     counting<std::pair<const int, net::session *>>>;

namespace net
{
static session_map sessions;
}
static void *owner_one, *owner_other; // apart, so that neither is next to the other
// What they begin with is no text, whatever the addresses are.
static struct part {
	long mark;
	part *next;
	char room[4984];
} * ring;
struct item {
	long mark;
	item *next, *before;
	char room[40];
};

static void *filled(size_t size, sum &of)
{
	void *block = of.add(malloc(size));
	memset(block, 0x11, malloc_usable_size(block));
	return block;
}

static __attribute__((noinline)) void fill_sessions()
{
	for (int i = 0; i < 500; i++) {
		net::session *session = new net::session;
		of_sessions.add(session);
		for (char *&buffer : session->buffer)
			buffer = static_cast<char *>(filled(1000, of_sessions));
		net::sessions[i] = session;
	}
}

static __attribute__((noinline)) void fill_ring()
{
	part *first = nullptr, *last = nullptr;
	for (int i = 0; i < 3; i++) {
		part *now = static_cast<part *>(filled(sizeof(part), of_ring));
		now->next = last;
		last = now;
		first = first ? first : now;
	}
	first->next = last;
	ring = first;
}

// Two blocks that refer to each other, and 100 alone. They also refer to the ring.
static __attribute__((noinline)) void lose()
{
	void **one = static_cast<void **>(filled(2000, of_lost));
	void **other = static_cast<void **>(filled(2000, of_lost));
	*one = other;
	*other = one;
	for (int i = 0; i < 100; i++)
		static_cast<void **>(filled(700, of_lost))[1] = ring;
}

static __attribute__((noinline)) void wipe()
{
	volatile char room[64 << 10];
	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

static __attribute__((noinline)) void fill_list(item *volatile *head)
{
	item *last = nullptr;
	for (int i = 0; i < 3000; i++) {
		item *now = static_cast<item *>(filled(sizeof(item), of_list));
		now->next = last;
		now->before = nullptr;
		if (last)
			last->before = now;
		last = now;
	}
	*head = last;
}

static void wait_for_end()
{
	char byte;
	while (read(0, &byte, 1) > 0)
		;
}

static int done[2];

// Only this stack has the list: a local variable of a function that waits. It also has a session.
static void hold()
{
	item *volatile head = nullptr;
	net::session *volatile borrowed = net::sessions[250];
	pthread_setname_np(pthread_self(), "holder");
	fill_list(&head);
	wipe();
	if (write(done[1], "", 1) != 1)
		abort();
	wait_for_end();
	if (!head || !borrowed)
		abort();
}

static void say(const char *name, const sum &sum, const char *end)
{
	printf("\"%s\":{\"bytes\":%zu,\"blocks\":%zu}%s", name, sum.bytes, sum.blocks, end);
}

int main()
{
	char byte;
	fill_sessions();
	fill_ring();
	owner_one = owner_other = filled(100000, of_shared);
	lose();
	wipe();
	if (pipe(done))
		abort();
	std::thread(hold).detach();
	if (read(done[0], &byte, 1) != 1)
		abort();
	putchar('{');
	say("sessions", of_sessions, ",");
	say("list", of_list, ",");
	say("shared", of_shared, ",");
	say("ring", of_ring, ",");
	say("lost", of_lost, "");
	printf(",\"ring_at\":\"%p\"}\n", static_cast<void *>(ring->next));
	fflush(stdout);
	wait_for_end();
	return owner_one == owner_other && ring ? 0 : 1;
}
