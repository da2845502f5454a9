/* SPDX-License-Identifier: MIT */
/*
 * glibc_caches: a cache of a thread that is laid out here as glibc 2.34 and later do it, with one
 * freed block, and looked at in this very process.
 */
#include "glibc_caches.h"

#include "clock.h"
#include "own_images.h"

#define LISTS 64u
#define KEY 0x5eedf00d12345678u
#define CHUNK_BYTES 0x20u

/* struct tcache_perthread_struct */
struct cache {
	uint16_t count[LISTS];
	remote_addr first[LISTS];
};
_Static_assert(sizeof(struct cache) == GLIBC_CACHE_CHUNK_BYTES - GLIBC_CHUNK_TO_BLOCK,
	       "the size of glibc's struct tcache_perthread_struct");

/* A chunk: its head, and its block, in whose second word the key is. */
static struct {
	uint64_t before, head, link, second;
} chunk __attribute__((aligned(16))) = {.head = CHUNK_BYTES | GLIBC_PREVIOUS_IN_USE};
static struct cache cache;
static uint64_t variable; /* of malloc, beside its arena */

/* Is the cache one? *out_caches: to be closed. */
static bool add_cache(struct glibc_caches *out_caches)
{
	struct own own = own_open();
	struct pages resident;
	struct heap_source source = {
		.memory = &own.memory,
		.maps = &own.maps,
		.images = &own.images,
		.pages = &resident,
		.deadline_ns = clock_now_ns() + 60000000000ull,
	};
	struct glibc_region region = {.lo = address_of(&chunk), .hi = address_of(&chunk + 1)};
	struct glibc_arenas arenas = {.region = &region, .region_count = 1};

	*out_caches = (struct glibc_caches){0};
	cache.count[0] = 1;
	cache.first[0] = address_of(&chunk.link);
	pages_open(&resident, getpid(), getpid());
	CHECK_EQ(heap_bytes_read(&arenas.data, &source, address_of(&variable), sizeof(variable)),
		 0);
	const bool is_one = glibc_caches_add(out_caches, &source, &arenas, address_of(&cache),
					     (const uint8_t *)&cache);

	heap_bytes_close(&arenas.data);
	pages_close(&resident);
	own_close(&own);
	return is_one;
}

UNIT_TEST(the_number_of_caches_is_in_a_variable_of_malloc)
{
	struct glibc_caches caches;

	variable = chunk.second = KEY;
	CHECK(add_cache(&caches));
	CHECK(glibc_caches_has(&caches, KEY));
	CHECK(!glibc_caches_has(&caches, KEY + 1));
	glibc_caches_close(&caches);
}

UNIT_TEST(the_cache_itself_is_the_number_of_older_versions)
{
	struct glibc_caches caches;

	variable = 0;
	chunk.second = address_of(&cache);
	CHECK(add_cache(&caches));
	CHECK(glibc_caches_has(&caches, address_of(&cache)));
	glibc_caches_close(&caches);
}

/* It was given out after its list was read. */
UNIT_TEST(a_block_of_the_program_has_no_number)
{
	const uint64_t small = 4096, place = address_of(&variable);
	struct glibc_caches caches;

	variable = KEY;
	chunk.second = 0x0707070707070707;
	CHECK(!add_cache(&caches));
	CHECK(!glibc_caches_has(&caches, chunk.second));
	glibc_caches_close(&caches);
	/* what variables hold, too */
	variable = chunk.second = small;
	CHECK(!add_cache(&caches));
	glibc_caches_close(&caches);
	variable = chunk.second = place;
	CHECK(!add_cache(&caches));
	glibc_caches_close(&caches);
}

UNIT_MAIN()
