/* SPDX-License-Identifier: MIT */
/*
 * leaky_parts.c - leaks that are a part of something: of what one function allocates, of what is
 * replaced or freed at last, of what threads and stacks of all kinds do.
 */
#include "programs.h"

#include <pthread.h>

/* ---- a part of what a function allocates ------------------------------------------------ */

static SITE void *leak_reply(void)
{
	void *block = filled(malloc(400), 400);

	USE(block);
	return block;
}

static void one_in_ten(void)
{
	static void *replies[250];
	static size_t count;

	for (unsigned i = due(5000); i; i--, count++) {
		if (count % 10 == 0) {
			count_leaked(400);
			leak_reply();
			continue;
		}
		free(replies[count % LENGTH(replies)]);
		replies[count % LENGTH(replies)] = leak_reply();
	}
}

static SITE void *leak_request_state(void)
{
	void *block = filled(malloc(16000), 1000);

	USE(block);
	return block;
}

static void error_path(void)
{
	static void *states[32];
	static size_t count;

	for (unsigned i = due(2000); i; i--, count++) {
		void **at = &states[count % LENGTH(states)];

		if (random_below(1000) == 0)
			count_leaked(16000);
		else
			free(*at);
		*at = leak_request_state();
	}
}

struct arena {
	struct arena *more;
	char memory[32000];
};

static SITE struct arena *leak_request_arena(void)
{
	struct arena *arena = malloc(sizeof(*arena));

	filled(arena, 8000);
	arena->more = NULL;
	USE(arena);
	return arena;
}

static void arena_of_request(void)
{
	for (unsigned i = due(100); i; i--) {
		struct arena *arena = leak_request_arena();

		if (random_below(4) == 0)
			arena->more = leak_request_arena();
		if (random_below(20) == 0) {
			count_leaked((int64_t)sizeof(*arena) * (arena->more ? 2 : 1));
		} else {
			free(arena->more);
			free(arena);
		}
	}
}

/* ---- what grows although it is replaced, or although all of it is freed at last --------- */

struct job {
	struct job *next;
	char text[792];
};

static struct job *first_job, **last_job = &first_job;

static SITE struct job *leak_queued_job(void)
{
	struct job *job = filled(malloc(sizeof(*job)), sizeof(*job));

	job->next = NULL;
	*last_job = job;
	last_job = &job->next;
	USE(job);
	return job;
}

static void prepare_backlog(void)
{
	for (int i = 0; i < 5000; i++)
		leak_queued_job();
}

static void backlog(void)
{
	for (unsigned i = due(1000); i; i--) {
		leak_queued_job();
		count_leaked(sizeof(struct job));
	}
	for (unsigned i = due(750); i; i--) {
		struct job *job = first_job;

		first_job = job->next;
		free(job);
		count_leaked(-(int64_t)sizeof(*job));
	}
}

static void *values[3000];
static size_t value_sizes[LENGTH(values)];

static SITE void leak_cached_value(size_t at, size_t size)
{
	void *value = filled(malloc(size), size);

	USE(value);
	values[at] = value;
	value_sizes[at] = size;
}

static void prepare_values(void)
{
	for (size_t i = 0; i < LENGTH(values); i++)
		leak_cached_value(i, 1000);
}

static void entries_grow(void)
{
	for (unsigned i = due(300); i; i--) {
		const size_t at = random_below(LENGTH(values));
		const size_t size = (size_t)(1000 + 70 * seconds());

		count_leaked((int64_t)size - (int64_t)value_sizes[at]);
		free(values[at]);
		leak_cached_value(at, size);
	}
}

/* ---- threads and stacks ----------------------------------------------------------------- */

static SITE void *leak_message_copy(void)
{
	void *block = filled(malloc(500), 500);

	USE(block);
	return block;
}

static void handle_messages(void)
{
	static _Thread_local void *messages[32];
	static _Thread_local size_t count;

	for (unsigned i = due(400); i; i--, count++) {
		void **at = &messages[count % LENGTH(messages)];

		if (thread_number() == 3)
			count_leaked(500);
		else
			free(*at);
		*at = leak_message_copy();
	}
}

static void start_handlers(void)
{
	for (int i = 0; i < 8; i++)
		start_ticking(handle_messages);
}

struct trace {
	struct trace *next;
	char text[112];
};

static SITE void leak_local_trace(void)
{
	static _Thread_local struct trace *traces;
	struct trace *trace = filled(malloc(sizeof(*trace)), sizeof(*trace));

	trace->next = traces;
	traces = trace;
	USE(trace);
	count_leaked(sizeof(*trace));
}

static void trace_thread(void)
{
	for (unsigned i = due(400); i; i--)
		leak_local_trace();
}

static void start_traces(void)
{
	for (int i = 0; i < 4; i++)
		start_ticking(trace_thread);
}

static SITE void *leak_thread_context(void *unused)
{
	void *block = filled(malloc(3000), 3000);

	(void)unused;
	USE(block);
	count_leaked(3000);
	return NULL;
}

static void thread_per_request(void)
{
	for (unsigned i = due(50); i; i--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, leak_thread_context, NULL) == 0)
			pthread_join(thread, NULL);
	}
}

static SITE void leak_tree_node(unsigned depth, uint32_t path)
{
	void *node;

	if (depth && path & 1) {
		leak_tree_node(depth - 1, path >> 1);
		USE(path);
	} else if (depth) {
		leak_tree_node(depth - 1, path >> 1);
		USE(path);
	} else {
		node = filled(malloc(150), 150);
		USE(node);
		count_leaked(150);
	}
}

static void recursion(void)
{
	for (unsigned i = due(1000); i; i--)
		leak_tree_node(random_below(31), random_below(UINT32_MAX));
}

static SITE void leak_packet_copy(size_t size)
{
	void *block = filled(malloc(size), size);

	USE(block);
	count_leaked((int64_t)size);
}

static void many_sizes(void)
{
	for (unsigned i = due(300); i; i--)
		leak_packet_copy(16 + 8 * (size_t)random_below(400));
}

struct listener {
	struct listener *next;
	void *state[30];
};

static SITE void leak_listener(void)
{
	static struct listener *listeners;
	struct listener *listener = filled(malloc(sizeof(*listener)), sizeof(*listener));

	listener->next = listeners;
	listeners = listener;
	USE(listener);
	count_leaked(sizeof(*listener));
}

/* A page goes, what it has registered stays. */
static void listeners(void)
{
	for (unsigned i = due(200); i; i--) {
		void *page = filled(malloc(5000), 5000);

		for (int j = 0; j < 3; j++)
			leak_listener();
		USE(page);
		free(page);
	}
}

const struct program leaky_parts[] = {
	{"one_in_ten", "leak_reply", 50, 15, NULL, one_in_ten,
	 "one block of ten stays, all others of the function live for 50 ms"},
	{"error_path", "leak_request_state", 50, 5, NULL, error_path,
	 "of 2000 requests a second, one of 1000 fails and keeps its 16 KB"},
	{"arena_of_request", "leak_request_arena", 50, 5, NULL, arena_of_request,
	 "arenas of 32 KB; those of one request of 20 are not freed"},
	{"backlog", "leak_queued_job", 50, 5, prepare_backlog, backlog,
	 "a queue, 1000 jobs come a second and 750 are done: all are freed, later and later"},
	{"entries_grow", "leak_cached_value", 50, 5, prepare_values, entries_grow,
	 "a cache of 3000 entries that are replaced by larger and larger ones"},
	{"one_thread_of_eight", "leak_message_copy", 20, 3, start_handlers, NULL,
	 "eight threads call the same function, one of them keeps all"},
	{"thread_local_lists", "leak_local_trace", 20, 3, start_traces, NULL,
	 "four threads add to lists of their own"},
	{"thread_per_request", "leak_thread_context", 20, 3, NULL, thread_per_request,
	 "50 threads a second; each leaves 3000 bytes behind"},
	{"recursion", "leak_tree_node", 50, 5, NULL, recursion,
	 "at the end of a recursion that is up to 30 deep, on any of its paths"},
	{"many_sizes", "leak_packet_copy", 1000, 10, NULL, many_sizes,
	 "400 sizes, 16 to 3200 bytes"},
	{"listeners", "leak_listener", 50, 2, NULL, listeners,
	 "each of 200 pages a second leaves three listeners behind"},
	{0},
};
