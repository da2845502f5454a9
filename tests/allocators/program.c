/* SPDX-License-Identifier: MIT */
/*
 * program.c - a program under load that calls each function of one allocator, and knows what it
 * holds.
 *
 * Its threads take blocks by all sites (program.h), check them, give them to each other, move them
 * and free them. The table below has the sites in C; a source in another language may add its own.
 *
 * It speaks as the targets of the torture suite do (selfcheck.h). `keep` makes each thread keep
 * blocks of each site, and is answered with "keep ok NAME=BYTES/BLOCKS ..." for what is kept of
 * each since the last `drop`, which frees all of it. Kept blocks are taken below keep_block().
 */
#include "../torture/targets/selfcheck.h"
#include "program.h"

#define WORKERS 3
#define HELD 64          /* blocks of a worker that come and go */
#define BURST 24         /* calls between two pauses */
#define PAUSE_NS 4000000 /* a modest load */
#define SHARED 16        /* places through which workers give blocks to each other */
#define KEPT_EACH 90     /* blocks of each site, by each worker; a third is freed at once */
#define SITES_MAX 128
#define MOVES true
#define STAYS false

/* With a prefix no header declares them. */
void *CALL(malloc)(size_t);
void *CALL(calloc)(size_t, size_t);
void *CALL(realloc)(void *, size_t);
void CALL(free)(void *);
void CALL(cfree)(void *);
void CALL(free_sized)(void *, size_t);
void *CALL(reallocarray)(void *, size_t, size_t);
void *CALL(aligned_alloc)(size_t, size_t);
int CALL(posix_memalign)(void **, size_t, size_t);
void *CALL(memalign)(size_t, size_t);
void *CALL(valloc)(size_t);
void *CALL(pvalloc)(size_t);
/* jemalloc */
void *CALL(mallocx)(size_t, int);
void *CALL(rallocx)(void *, size_t, int);
size_t CALL(xallocx)(void *, size_t, size_t, int);
void CALL(dallocx)(void *, int);
void CALL(sdallocx)(void *, size_t, int);
/* tcmalloc and mimalloc; tcmalloc's functions for arrays have no others of that kind */
void *CALL(new)(size_t);
void *CALL(new_nothrow)(size_t, const void *nothrow);
void *CALL(new_aligned)(size_t, size_t);
void *CALL(new_aligned_nothrow)(size_t, size_t, const void *nothrow);
void *CALL(newarray)(size_t);
void *CALL(newarray_nothrow)(size_t, const void *nothrow);
void *CALL(newarray_aligned)(size_t, size_t);
void *CALL(malloc_skip_new_handler)(size_t);
void CALL(delete)(void *);
void CALL(delete_sized)(void *, size_t);
void CALL(delete_aligned)(void *, size_t);
void CALL(deletearray)(void *);
void CALL(deletearray_sized)(void *, size_t);
/* mimalloc */
void *CALL(zalloc)(size_t);
void *CALL(malloc_small)(size_t);
void *CALL(mallocn)(size_t, size_t);
void *CALL(rezalloc)(void *, size_t);
void *CALL(recalloc)(void *, size_t, size_t);
void *CALL(reallocn)(void *, size_t, size_t);
void *CALL(reallocf)(void *, size_t);
void *CALL(malloc_aligned)(size_t, size_t);
void *CALL(zalloc_aligned)(size_t, size_t);
void *CALL(calloc_aligned)(size_t, size_t, size_t);
void *CALL(realloc_aligned)(void *, size_t, size_t);
void *CALL(new_n)(size_t, size_t);
void *CALL(heap_get_default)(void);
void *CALL(heap_malloc)(void *heap, size_t);
void *CALL(heap_alloc_new)(void *heap, size_t);
void *CALL(heap_alloc_new_n)(void *heap, size_t, size_t);
void *CALL(new_realloc)(void *, size_t);
void *CALL(new_reallocn)(void *, size_t, size_t);
char *CALL(strdup)(const char *);
char *CALL(strndup)(const char *, size_t);
char *CALL(heap_strdup)(void *heap, const char *);
char *CALL(heap_strndup)(void *heap, const char *, size_t);
int CALL(reallocarr)(void *block, size_t, size_t);
void *CALL(aligned_recalloc)(void *, size_t, size_t, size_t);
void *CALL(aligned_offset_recalloc)(void *, size_t, size_t, size_t, size_t);
void *CALL(recalloc_aligned_at)(void *, size_t, size_t, size_t, size_t);
void *CALL(heap_calloc_aligned_at)(void *heap, size_t, size_t, size_t, size_t);
void *CALL(heap_realloc_aligned_at)(void *heap, void *, size_t, size_t, size_t);
void *CALL(heap_rezalloc_aligned_at)(void *heap, void *, size_t, size_t, size_t);
void *CALL(heap_recalloc_aligned)(void *heap, void *, size_t, size_t, size_t);
void *CALL(heap_recalloc_aligned_at)(void *heap, void *, size_t, size_t, size_t, size_t);
void CALL(free_size)(void *, size_t);
void CALL(free_aligned)(void *, size_t);
void CALL(free_size_aligned)(void *, size_t, size_t);

#define ALIGNED_FLAG 6 /* of mallocx: 1 << 6 is ALIGNMENT */
#define ZERO_FLAG 0x40
#define SMALL 1024 /* the most that malloc_small takes */
#define GET(...) block = CALL(__VA_ARGS__)
#define HEAP CALL(heap_get_default)()
#define STRING_MAX ((size_t)4 << 20)
#define FREE CALL(free)(block)

/*
 * No name ends in mallctl: by that heapinject knows the functions of jemalloc, whatever their
 * prefix.
 *
 * X(is it here, name, unit of sizes, may it move, how to get a block, how to free it)
 */
#define C_SITES(X)                                                                                \
	X(1, malloc, 1, MOVES, GET(malloc)(size), FREE)                                           \
	X(1, calloc, UNIT, MOVES, GET(calloc)(size / 16, 16), FREE)                               \
	X(1, realloc, 1, MOVES, GET(realloc)(NULL, size), FREE)                                   \
	X(1, realloc_grown, 1, MOVES, GET(malloc)(size / 2); GET(realloc)(block, size), FREE)     \
	X(1, realloc_shrunk, 1, MOVES, GET(malloc)(size * 2); GET(realloc)(block, size), FREE)    \
	X(HAS_cfree, malloc_cfree, 1, MOVES, GET(malloc)(size), CALL(cfree)(block))               \
	X(HAS_free_sized, malloc_sized, 1, STAYS, GET(malloc)(size),                              \
	  CALL(free_sized)(block, size))                                                          \
	X(HAS_reallocarray, reallocarray, UNIT, MOVES, GET(reallocarray)(NULL, size / 16, 16),    \
	  FREE)                                                                                   \
	X(HAS_aligned_alloc, aligned_alloc, UNIT, MOVES, GET(aligned_alloc)(16, size), FREE)      \
	X(HAS_posix_memalign, posix_memalign, 1, MOVES,                                           \
	  SELF_CHECK(CALL(posix_memalign)(&block, ALIGNMENT, size) == 0), FREE)                   \
	X(HAS_memalign, memalign, 1, MOVES, GET(memalign)(ALIGNMENT, size), FREE)                 \
	X(HAS_valloc, valloc, 1, MOVES, GET(valloc)(size), FREE)                                  \
	X(HAS_pvalloc, pvalloc, 1, MOVES, GET(pvalloc)(size), FREE)                               \
	X(HAS_mallocx, extended, 1, MOVES, GET(mallocx)(size, 0), CALL(dallocx)(block, 0))        \
	X(HAS_mallocx, extended_aligned, 1, STAYS, GET(mallocx)(size, ALIGNED_FLAG),              \
	  CALL(sdallocx)(block, size, ALIGNED_FLAG))                                              \
	X(HAS_rallocx, extended_moved, 1, MOVES, GET(mallocx)(size / 2, ZERO_FLAG);               \
	  GET(rallocx)(block, size, 0), CALL(dallocx)(block, 0))                                  \
	X(HAS_xallocx, extended_in_place, 1, MOVES, GET(mallocx)(size, 0);                        \
	  SELF_CHECK(CALL(xallocx)(block, size, 0, 0) >= size), FREE)                             \
	X(HAS_new, new, 1, STAYS, GET(new)(size), DELETE)                                         \
	X(HAS_new_nothrow, new_nothrow, 1, STAYS, GET(new_nothrow)(size, nothrow), DELETE)        \
	X(HAS_new_aligned, new_aligned, 1, STAYS, GET(new_aligned)(size, ALIGNMENT),              \
	  DELETE_ALIGNED)                                                                         \
	X(HAS_new_aligned_nothrow, new_aligned_nothrow, 1, STAYS,                                 \
	  GET(new_aligned_nothrow)(size, ALIGNMENT, nothrow), DELETE_ALIGNED)                     \
	X(HAS_delete_sized, new_sized, 1, STAYS, GET(new)(size), CALL(delete_sized)(block, size)) \
	X(HAS_newarray, newarray, 1, STAYS, GET(newarray)(size), CALL(deletearray)(block))        \
	X(HAS_newarray_nothrow, newarray_nothrow, 1, STAYS, GET(newarray_nothrow)(size, nothrow), \
	  CALL(deletearray_sized)(block, size))                                                   \
	X(HAS_malloc_skip_new_handler, malloc_skip_new_handler, 1, MOVES,                         \
	  GET(malloc_skip_new_handler)(size), FREE)                                               \
	X(HAS_zalloc, zalloc, 1, STAYS, GET(zalloc)(size), CALL(free_size)(block, size))          \
	X(HAS_malloc_small, malloc_small, 1, MOVES,                                               \
	  block = size > SMALL ? CALL(malloc)(size) : CALL(malloc_small)(size), FREE)             \
	X(HAS_mallocn, mallocn, UNIT, MOVES, GET(mallocn)(size / 16, 16), FREE)                   \
	X(HAS_rezalloc, rezalloc, 1, MOVES, GET(zalloc)(size / 2);                                \
	  GET(rezalloc)(block, size), FREE)                                                       \
	X(HAS_recalloc, recalloc, UNIT, MOVES, GET(calloc)(size / 32, 16);                        \
	  GET(recalloc)(block, size / 16, 16), FREE)                                              \
	X(HAS_reallocn, reallocn, UNIT, MOVES, GET(reallocn)(NULL, size / 16, 16), FREE)          \
	X(HAS_reallocf, reallocf, 1, MOVES, GET(malloc)(size / 2);                                \
	  GET(reallocf)(block, size), FREE)                                                       \
	X(HAS_malloc_aligned, malloc_aligned, 1, STAYS, GET(malloc_aligned)(size, ALIGNMENT),     \
	  CALL(free_aligned)(block, ALIGNMENT))                                                   \
	X(HAS_zalloc_aligned, zalloc_aligned, 1, STAYS, GET(zalloc_aligned)(size, ALIGNMENT),     \
	  CALL(free_size_aligned)(block, size, ALIGNMENT))                                        \
	X(HAS_calloc_aligned, calloc_aligned, UNIT, MOVES,                                        \
	  GET(calloc_aligned)(size / 16, 16, ALIGNMENT), FREE)                                    \
	X(HAS_realloc_aligned, realloc_aligned, 1, MOVES,                                         \
	  GET(malloc_aligned)(size / 2, ALIGNMENT);                                               \
	  GET(realloc_aligned)(block, size, ALIGNMENT), FREE)                                     \
	X(HAS_new_n, new_n, UNIT, MOVES, GET(new_n)(size / 16, 16), FREE)                         \
	X(HAS_heap_malloc, heap_malloc, 1, MOVES, GET(heap_malloc)(HEAP, size), FREE)             \
	X(HAS_heap_alloc_new, heap_alloc_new, 1, MOVES, GET(heap_alloc_new)(HEAP, size), FREE)    \
	X(HAS_heap_alloc_new_n, heap_alloc_new_n, UNIT, MOVES,                                    \
	  GET(heap_alloc_new_n)(HEAP, size / 16, 16), FREE)                                       \
	X(HAS_new_realloc, new_realloc, 1, MOVES, GET(malloc)(size / 2);                          \
	  GET(new_realloc)(block, size), FREE)                                                    \
	X(HAS_new_reallocn, new_reallocn, UNIT, MOVES, GET(malloc)(size * 2);                     \
	  GET(new_reallocn)(block, size / 16, 16), FREE)                                          \
	X(HAS_heap_strdup, strdup, 1, MOVES, GET(strdup)(string_of(size)), FREE)                  \
	X(HAS_heap_strdup, strndup, 1, MOVES, GET(strndup)(string_of(size * 2), size - 1), FREE)  \
	X(HAS_heap_strdup, heap_strdup, 1, MOVES, GET(heap_strdup)(HEAP, string_of(size)), FREE)  \
	X(HAS_heap_strdup, heap_strndup, 1, MOVES,                                                \
	  GET(heap_strndup)(HEAP, string_of(size * 2), size - 1), FREE)                           \
	X(HAS_reallocarr, reallocarr, UNIT, MOVES, GET(malloc)(size / 2);                         \
	  SELF_CHECK(CALL(reallocarr)(&block, size / 16, 16) == 0), FREE)                         \
	X(HAS_aligned_recalloc, aligned_recalloc, UNIT, MOVES,                                    \
	  GET(calloc_aligned)(size / 32, 16, ALIGNMENT);                                          \
	  GET(aligned_recalloc)(block, size / 16, 16, ALIGNMENT), FREE)                           \
	X(HAS_aligned_offset_recalloc, aligned_offset_recalloc, UNIT, MOVES,                      \
	  GET(aligned_offset_recalloc)(NULL, size / 16, 16, ALIGNMENT, 0), FREE)                  \
	X(HAS_recalloc_aligned_at, recalloc_aligned_at, UNIT, MOVES,                              \
	  GET(recalloc_aligned_at)(NULL, size / 16, 16, ALIGNMENT, 0), FREE)                      \
	X(HAS_heap_calloc_aligned_at, heap_calloc_aligned_at, UNIT, MOVES,                        \
	  GET(heap_calloc_aligned_at)(HEAP, size / 16, 16, ALIGNMENT, 0), FREE)                   \
	X(HAS_heap_realloc_aligned_at, heap_realloc_aligned_at, 1, MOVES,                         \
	  GET(malloc_aligned)(size / 2, ALIGNMENT);                                               \
	  GET(heap_realloc_aligned_at)(HEAP, block, size, ALIGNMENT, 0), FREE)                    \
	X(HAS_heap_rezalloc_aligned_at, heap_rezalloc_aligned_at, 1, MOVES,                       \
	  GET(zalloc_aligned)(size / 2, ALIGNMENT);                                               \
	  GET(heap_rezalloc_aligned_at)(HEAP, block, size, ALIGNMENT, 0), FREE)                   \
	X(HAS_heap_recalloc_aligned, heap_recalloc_aligned, UNIT, MOVES,                          \
	  GET(heap_recalloc_aligned)(HEAP, NULL, size / 16, 16, ALIGNMENT), FREE)                 \
	X(HAS_heap_recalloc_aligned_at, heap_recalloc_aligned_at, UNIT, MOVES,                    \
	  GET(calloc_aligned)(size / 32, 16, ALIGNMENT);                                          \
	  GET(heap_recalloc_aligned_at)(HEAP, block, size / 16, 16, ALIGNMENT, 0), FREE)

#if HAS_delete
#define DELETE CALL(delete)(block)
#define DELETE_ALIGNED CALL(delete_aligned)(block, ALIGNMENT)
#else
#define DELETE FREE
#define DELETE_ALIGNED FREE
#endif

static char text[STRING_MAX];

/* Before any thread: the text ends with its last byte. */
__attribute__((constructor)) static void fill_text(void)
{
	memset(text, 'x', sizeof(text) - 1);
}

/* A string that takes so many bytes. */
__attribute__((unused)) static const char *string_of(size_t size)
{
	return text + sizeof(text) - size;
}

static const char nothrow[1] __attribute__((unused)); /* for std::nothrow, which is empty */

C_SITES(SITE)
static const struct site c_sites[] = {C_SITES(ROW)};
#define C_SITE_COUNT (unsigned)(sizeof(c_sites) / sizeof(c_sites[0]))

struct held {
	struct self_block block;
	const struct site *site;
};

struct worker {
	struct self_worker *self;
	struct held held[HELD], kept[SITES_MAX * KEPT_EACH];
	unsigned kept_count, obeyed;
};

enum order { KEEP, DROP };

static const struct site *sites[SITES_MAX];
static unsigned site_count;
static struct {
	uint64_t bytes, blocks;
} truth[SITES_MAX];
static struct worker workers[WORKERS];
static struct held shared[SHARED];
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static enum order order;
static unsigned orders, done; /* orders given, workers that have carried out the last one */

static void pause_ns(long ns)
{
	const struct timespec pause = {0, ns};

	nanosleep(&pause, NULL);
}

/* From 32 bytes on, each power of two as often. */
static size_t draw_size(struct self_worker *self, const struct site *site, unsigned powers)
{
	const size_t least = (size_t)32 << self_random(self) % powers;

	return (least + self_random(self) % least + site->unit - 1) & -site->unit;
}

__attribute__((noinline)) static void *keep_block(const struct site *site, size_t size)
{
	void *block = site->allocate(size);

	KEEP_FRAME(block);
	return block;
}

static void take(struct worker *worker, struct held *held, const struct site *site, size_t size,
		 void *(*by)(const struct site *, size_t))
{
	held->site = site;
	self_block_take(worker->self, &held->block, by ? by(site, size) : site->allocate(size),
			size);
}

static void give_back(struct held *held)
{
	if (!held->block.at)
		return;
	self_block_check(&held->block);
	held->site->release(held->block.at, held->block.size);
	held->block.at = NULL;
}

/* Its beginning must come along; then it gets a new tag. */
static void move(struct worker *worker, struct held *held)
{
	const size_t size = draw_size(worker->self, held->site, 10);
	const size_t head = self_head(held->block.size);

	self_block_check(&held->block);
	held->block.at = CALL(realloc)(held->block.at, size);
	if (!held->block.at) {
		self_wrong("realloc: no memory for %zu bytes", size);
		return;
	}
	self_check_range(&held->block, 0, head < size ? head : size);
	self_block_take(worker->self, &held->block, held->block.at, size);
}

/* With whatever lies there: another worker frees it, or moves it. */
static void exchange(struct worker *worker, struct held *held)
{
	struct held *other = &shared[self_random(worker->self) % SHARED];
	const struct held mine = *held;

	pthread_mutex_lock(&shared_lock);
	*held = *other;
	*other = mine;
	pthread_mutex_unlock(&shared_lock);
}

static void burst(struct worker *worker)
{
	struct self_worker *self = worker->self;

	for (unsigned i = 0; i < BURST; i++) {
		struct held *held = &worker->held[self_random(self) % HELD];
		const struct site *site = sites[self_random(self) % site_count];
		const unsigned what = (unsigned)(self_random(self) % 8);

		if (what == 0)
			exchange(worker, held);
		else if (held->block.at && what < 3 && held->site->moves)
			move(worker, held);
		else if (held->block.at)
			give_back(held);
		else
			take(worker, held, site, draw_size(self, site, what == 7 ? 14 : 8), NULL);
	}
	for (unsigned i = 0; i < BURST && worker->kept_count; i++)
		self_block_check(&worker->kept[self_random(self) % worker->kept_count].block);
}

static void keep(struct worker *worker)
{
	for (unsigned i = 0; i < site_count * KEPT_EACH; i++) {
		const unsigned number = i % site_count;
		struct held *held = &worker->kept[worker->kept_count];

		take(worker, held, sites[number], draw_size(worker->self, sites[number], 11),
		     keep_block);
		if (i / site_count % 3 == 2) {
			give_back(held);
		} else {
			__atomic_fetch_add(&truth[number].bytes, held->block.size,
					   __ATOMIC_RELAXED);
			__atomic_fetch_add(&truth[number].blocks, 1, __ATOMIC_RELAXED);
			worker->kept_count++;
		}
		if (i % 64 == 0)
			pause_ns(1000000);
	}
}

static void drop(struct worker *worker)
{
	while (worker->kept_count)
		give_back(&worker->kept[--worker->kept_count]);
}

static void obey(struct worker *worker)
{
	const unsigned now = __atomic_load_n(&orders, __ATOMIC_ACQUIRE);

	if (worker->obeyed == now)
		return;
	if (order == KEEP)
		keep(worker);
	else
		drop(worker);
	worker->obeyed = now;
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->self = self_worker_new();
	while (!self_is_stopping()) {
		burst(worker);
		obey(worker);
		self_step(worker->self);
		pause_ns(PAUSE_NS);
	}
	drop(worker);
	for (unsigned i = 0; i < HELD; i++)
		give_back(&worker->held[i]);
	return NULL;
}

/* Has all workers carry out an order, and answers it. */
static void give_order(enum order what)
{
	const char *name = what == KEEP ? "keep" : "drop";

	if (what == DROP)
		memset(truth, 0, sizeof(truth));
	order = what;
	__atomic_store_n(&done, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&orders, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < WORKERS)
		pause_ns(1000000);
	if (__atomic_load_n(&self.is_wrong, __ATOMIC_ACQUIRE)) {
		dprintf(STDOUT_FILENO, "%s bad %s\n", name, self.reason);
		return;
	}
	dprintf(STDOUT_FILENO, "%s ok", name);
	for (unsigned i = 0; i < site_count && what == KEEP; i++)
		dprintf(STDOUT_FILENO, " %s=%llu/%llu", sites[i]->name,
			(unsigned long long)truth[i].bytes, (unsigned long long)truth[i].blocks);
	dprintf(STDOUT_FILENO, "\n");
}

static void gather_sites(void)
{
	for (unsigned i = 0; i < C_SITE_COUNT; i++)
		sites[site_count++] = &c_sites[i];
	for (unsigned i = 0; &more_site_count && i < more_site_count; i++)
		sites[site_count++] = &more_sites[i];
	if (site_count > SITES_MAX)
		abort();
}

/* Rust has a main of its own, which calls it under another name. */
int main(void)
{
	pthread_t thread[WORKERS];

	gather_sites();
	/* like any server: heapinject needs code that returns from a handler */
	signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < WORKERS; i++)
		if (pthread_create(&thread[i], NULL, work, &workers[i]))
			return 2;
	self_ready();
	for (;;) {
		if (!self_read(-1))
			continue;
		if (strcmp(self.command, "end") == 0)
			break;
		if (strcmp(self.command, "keep") == 0)
			give_order(KEEP);
		else if (strcmp(self.command, "drop") == 0)
			give_order(DROP);
		else
			self_answer("state");
	}
	__atomic_store_n(&self.stopping, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < SHARED; i++)
		give_back(&shared[i]);
	return self_end();
}
