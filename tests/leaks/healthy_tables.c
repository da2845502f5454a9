/* SPDX-License-Identifier: MIT */
/*
 * healthy_tables.c - what holds much memory and has a bound: caches, tables, pools, rings, and
 * what lives for some seconds.
 */
#include "programs.h"

#define CACHE_SLOTS 20000 /* of 2 KB */

static void *cache[CACHE_SLOTS];
static size_t cached;

static SITE void *cached_page(void)
{
	const size_t size = 1000 + random_below(2000);
	void *block = filled(malloc(size), size);

	USE(block);
	return block;
}

static void replace_page(size_t at)
{
	free(cache[at]);
	cache[at] = cached_page();
}

static void fill_cache(void)
{
	while (cached < CACHE_SLOTS)
		cache[cached++] = cached_page();
}

static void cache_fills(void)
{
	for (unsigned i = due(1000); i; i--) {
		if (cached < CACHE_SLOTS)
			cache[cached++] = cached_page();
		else
			replace_page(random_below(CACHE_SLOTS));
	}
}

static void cache_fifo(void)
{
	static size_t oldest;

	for (unsigned i = due(1000); i; i--)
		replace_page(oldest++ % CACHE_SLOTS);
}

static void cache_random(void)
{
	for (unsigned i = due(1000); i; i--)
		replace_page(random_below(CACHE_SLOTS));
}

/* ---- LRU -------------------------------------------------------------------------------- */

#define LRU_KEYS 60000
#define LRU_ENTRIES 15000

struct entry {
	struct entry *newer, *older;
	uint32_t key;
	char text[];
};

static struct entry *entry_of[LRU_KEYS];
static struct entry *newest, *oldest;
static size_t entries;

static SITE struct entry *lru_entry(uint32_t key)
{
	const size_t size = sizeof(struct entry) + 500 + random_below(3000);
	struct entry *entry = filled(malloc(size), size);

	USE(entry);
	entry->key = key;
	return entry;
}

static void lru_remove(struct entry *entry)
{
	*(entry->newer ? &entry->newer->older : &newest) = entry->older;
	*(entry->older ? &entry->older->newer : &oldest) = entry->newer;
}

static void lru_insert(struct entry *entry)
{
	entry->newer = NULL;
	entry->older = newest;
	*(newest ? &newest->newer : &oldest) = entry;
	newest = entry;
}

static void lru_get(uint32_t key)
{
	struct entry *entry = entry_of[key];

	if (entry) {
		lru_remove(entry);
	} else {
		entry = entry_of[key] = lru_entry(key);
		entries++;
	}
	lru_insert(entry);
	if (entries > LRU_ENTRIES) {
		struct entry *last = oldest;

		lru_remove(last);
		entry_of[last->key] = NULL;
		entries--;
		free(last);
	}
}

/* Small keys are asked for more often. */
static void lru_ask(unsigned times)
{
	for (; times; times--)
		lru_get(random_below(1 + random_below(LRU_KEYS)));
}

static void lru_prepare(void)
{
	lru_ask(20 * LRU_ENTRIES);
}

static void cache_lru(void)
{
	lru_ask(due(3000));
}

/* ---- sessions --------------------------------------------------------------------------- */

#define SESSION_BYTES 2000
#define SESSIONS_MAX 40000

static void *sessions[SESSIONS_MAX];
static size_t session_count;

static SITE void *open_client(void)
{
	void *block = filled(malloc(SESSION_BYTES), SESSION_BYTES);

	USE(block);
	return block;
}

/* Each ends in the next moment as probably as in any other. */
static void run_sessions(double mean_seconds, double count)
{
	unsigned over = by_chance((double)session_count / mean_seconds / TICKS_PER_SECOND);
	unsigned more = by_chance(count / mean_seconds / TICKS_PER_SECOND);

	for (; over && session_count; over--) {
		const size_t at = random_below((uint32_t)session_count);

		free(sessions[at]);
		sessions[at] = sessions[--session_count];
	}
	for (; more && session_count < SESSIONS_MAX; more--)
		sessions[session_count++] = open_client();
}

static void open_sessions(void)
{
	while (session_count < 10000)
		sessions[session_count++] = open_client();
}

static void sessions_3s(void)
{
	run_sessions(3, 10000);
}

static void sessions_10s(void)
{
	run_sessions(10, 10000);
}

/* ---- tables and pools that reach their bound early -------------------------------------- */

#define KEYS_MAX 60000

struct slot {
	uint64_t key;
	char *value;
};

static struct slot *slots;
static size_t slot_count = 1024, keys;

static SITE struct slot *resized_table(size_t count)
{
	struct slot *table = calloc(count, sizeof(*table));

	if (!table)
		abort();
	USE(table);
	return table;
}

static struct slot *find_slot(struct slot *table, size_t count, uint64_t key)
{
	size_t at = key * 0x9e3779b97f4a7c15u >> 32;

	while (table[at % count].key && table[at % count].key != key)
		at++;
	return &table[at % count];
}

static void double_table(void)
{
	struct slot *table = resized_table(2 * slot_count);

	for (size_t i = 0; i < slot_count; i++) {
		if (slots[i].key)
			*find_slot(table, 2 * slot_count, slots[i].key) = slots[i];
	}
	free(slots);
	slots = table;
	slot_count *= 2;
}

static SITE char *table_value(void)
{
	const size_t size = 50 + random_below(500);
	char *value = filled(malloc(size), size);

	USE(value);
	return value;
}

static void prepare_table(void)
{
	slots = resized_table(slot_count);
}

/* All keys are there after about ten seconds, then their values change. */
static void hash_table(void)
{
	for (unsigned i = due(6000); i; i--) {
		const bool is_new = keys < KEYS_MAX;
		const uint64_t key = is_new ? ++keys : 1 + random_below(KEYS_MAX);
		struct slot *slot = find_slot(slots, slot_count, key);

		free(slot->value);
		*slot = (struct slot){key, table_value()};
		if (keys * 2 > slot_count)
			double_table();
	}
}

static SITE void *open_connection(void)
{
	void *block = filled(malloc(70000), 70000);

	USE(block);
	return block;
}

static SITE void *query_result(void)
{
	const size_t size = 500 + random_below(20000);
	void *block = filled(malloc(size), 500);

	USE(block);
	return block;
}

/* One more while all are taken, up to 300; there is no need for more after six seconds. */
static void connection_pool(void)
{
	static void *connections[300], *results[100];
	static size_t count;

	for (unsigned i = due(50); i && count < LENGTH(connections); i--)
		connections[count++] = open_connection();
	for (unsigned i = due(400); i; i--) {
		void **at = &results[random_below(LENGTH(results))];

		free(*at);
		*at = query_result();
	}
}

#define LOG_LINES 40000

static char *lines[LOG_LINES];
static size_t line_count;

static SITE void log_line(void)
{
	const size_t size = 80 + random_below(300);
	char **at = &lines[line_count++ % LOG_LINES];

	free(*at);
	*at = filled(malloc(size), size);
	USE(*at);
}

static void fill_log(void)
{
	for (size_t i = 0; i < LOG_LINES; i++)
		log_line();
}

static void log_ring(void)
{
	for (unsigned i = due(3000); i; i--)
		log_line();
}

/* Each is made when it is first needed; some are needed late. */
static SITE void *lazy_module(void)
{
	void *block = filled(malloc(60000), 60000);

	USE(block);
	return block;
}

static void lazy_modules(void)
{
	static void *modules[400];

	for (unsigned i = due(50); i; i--) {
		void **at = &modules[random_below(LENGTH(modules))];

		if (!*at)
			*at = lazy_module();
	}
}

const struct program healthy_tables[] = {
	{"cache_fills", "", 100, 5, NULL, cache_fills,
	 "a cache of 40 MB that is full after 20 s; then each entry evicts one at random"},
	{"cache_fifo", "", 100, 5, fill_cache, cache_fifo,
	 "a full cache of 40 MB; each entry evicts the oldest, after 20 s"},
	{"cache_random", "", 50, 2, fill_cache, cache_random,
	 "a full cache of 40 MB; each entry evicts one at random, after 20 s in the mean"},
	{"cache_lru", "", 100, 15, lru_prepare, cache_lru,
	 "a full cache of 30 MB that evicts what was not asked for for longest"},
	{"sessions_3s", "", 50, 5, open_sessions, sessions_3s,
	 "20 MB of sessions, with exponential lifetimes of 3 s in the mean"},
	{"sessions_10s", "", 200, 25, open_sessions, sessions_10s,
	 "20 MB of sessions, with exponential lifetimes of 10 s in the mean"},
	{"hash_table", "", 50, 5, prepare_table, hash_table,
	 "fills and doubles for ten seconds, then values are replaced"},
	{"connection_pool", "", 20, 5, NULL, connection_pool,
	 "opens 300 connections in six seconds, and keeps them"},
	{"log_ring", "", 50, 5, fill_log, log_ring,
	 "a full ring of the last 40000 lines; a line lives for 13 s"},
	{"lazy_modules", "", 50, 5, NULL, lazy_modules,
	 "24 MB in 400 pieces, each made at its first use: less and less, nearly all in 25 s"},
	{0},
};
