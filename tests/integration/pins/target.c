// SPDX-License-Identifier: MIT
/*
 * target.c - a heap of which most is free, and kept by few blocks that lie between: `target SHAPE`.
 * In C++ these are objects of class session, in C they are strings. Requests came and went between
 * them; some shapes have blocks of other kinds, that pin less or nothing. C and C++.
 *
 *     trim    has the allocator give back what it can
 *     end     frees all sessions, then the same
 *
 * Each answer is "done".
 */
#include "../target.h"

#include <pthread.h>
#include <sys/mman.h>

#include "../purging.h"

#define REQUEST_BYTES (48u << 20) /* of all together */
#define KEPT_MAX (2u << 20)
#define THREADS_MAX 4

struct shape {
	const char *name;
	unsigned request_min, request_max; /* bytes of a request */
	unsigned session_bytes;
	unsigned every;   /* so many requests come between two sessions */
	unsigned options; /* of the first third, so many sessions have one option; 0: none has */
	unsigned cache_bytes; /* of a cache that is full, and pins nothing */
	unsigned threads;     /* that do this, each its part; 0: only the first one does */
};

static const struct shape shapes[] = {
	{"same", 120, 120, 120, 100, 0, 0, 0},
	{"tiny", 40, 40, 40, 300, 0, 0, 0},
	{"kilobytes", 2000, 2000, 2000, 15, 0, 0, 0},
	{"pages", 7000, 7000, 7000, 8, 0, 0, 0},
	{"cache", 120, 120, 120, 100, 0, 64u << 20, 0},
	{"options", 120, 120, 120, 60, 4, 0, 0},
	{"small", 200, 200, 40, 20, 0, 0, 0},
	{"sparse", 200, 200, 40, 200, 0, 0, 0},
	{"large", 3000, 3000, 56, 1, 0, 0, 0},
	{"mixed", 16, 2000, 72, 8, 0, 0, 0},
	{"apart", 20000, 60000, 500, 1, 0, 0, 0},
	{"dense", 600, 600, 400, 5, 0, 0, 0},
	{"buffers", 1500, 1500, 6000, 2, 0, 0, 0},
	{"threads", 200, 200, 40, 20, 100, 0, THREADS_MAX},
	{"arenas", 200, 200, 200, 20, 0, 0, THREADS_MAX},
};

/* In memory of their own, so that they are not in the heap. */
static void **session, **request;
static size_t session_count, request_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void **addresses(void)
{
	void *at = mmap(NULL, KEPT_MAX * sizeof(void *), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		_exit(1);
	return (void **)at;
}

static void keep(void **list, size_t *count, void *block)
{
	pthread_mutex_lock(&lock);
	if (*count == KEPT_MAX)
		_exit(1);
	list[(*count)++] = block;
	pthread_mutex_unlock(&lock);
}

static void *filled(size_t size, int byte)
{
	void *block = malloc(size);

	if (!block)
		_exit(1);
	return memset(block, byte, size);
}

#ifdef __cplusplus
#include <new>

namespace net
{
struct session {
	virtual ~session() = default;
	virtual int number()
	{
		return 1;
	}
};
struct option {
	virtual ~option() = default;
	virtual int number()
	{
		return 2;
	}
};
} // namespace net

static void *make_session(size_t size)
{
	return new (filled(size, 7)) net::session;
}

static void *make_option(size_t size)
{
	return new (filled(size, 7)) net::option;
}
#else
static void *make_session(size_t size)
{
	char *text = (char *)filled(size, 's');

	text[size - 1] = 0;
	return text;
}

static void *make_option(size_t size)
{
	return filled(size, 0);
}
#endif

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void *make(void *of)
{
	const struct shape *shape = (const struct shape *)of;
	const unsigned range = shape->request_max - shape->request_min + 1;
	const size_t all = REQUEST_BYTES / (shape->threads ? shape->threads : 1);
	size_t left = all;
	unsigned state = 1;

	for (unsigned i = 0; left > shape->request_max; i++) {
		const size_t size = shape->request_min + next_random(&state) % range;

		keep(request, &request_count, filled(size, 7));
		left -= size;
		if (i % shape->every == 0)
			keep(session, &session_count, make_session(shape->session_bytes));
		if (shape->options && left > all / 3 * 2 &&
		    i % (shape->every * shape->options) == shape->every / 2)
			make_option(shape->session_bytes);
	}
	for (unsigned i = 0; i < shape->cache_bytes / 1000; i++)
		filled(1000, 7);
	if (shape->options)
		make_option(shape->session_bytes);
	return NULL;
}

static void make_by_threads(const struct shape *shape)
{
	pthread_t thread[THREADS_MAX];

	for (unsigned i = 0; i < shape->threads; i++)
		pthread_create(&thread[i], NULL, make, (void *)(uintptr_t)shape);
	for (unsigned i = 0; i < shape->threads; i++)
		pthread_join(thread[i], NULL);
	if (!shape->threads)
		make((void *)(uintptr_t)shape);
}

static void end(void **list, size_t *count)
{
	while (*count)
		free(list[--*count]);
}

static void trim(void)
{
	flush_thread_cache();
	purge_heap();
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];
	size_t at = 0;

	while (argc > 1 && strcmp(shapes[at].name, argv[1]) != 0)
		if (++at == sizeof(shapes) / sizeof(shapes[0]))
			return 1;
	session = addresses();
	request = addresses();
	make_by_threads(&shapes[at]);
	end(request, &request_count);
	target_say("ready\n");
	while (target_read(command)) {
		if (strcmp(command, "end") == 0)
			end(session, &session_count);
		trim();
		target_say("done\n");
	}
	return 0;
}
