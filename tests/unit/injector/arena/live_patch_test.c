/* SPDX-License-Identifier: MIT */
/*
 * store: words of a child under a session, in pages of every kind, changed while it runs: all of a
 * word or nothing, and no page is left other than it was.
 */
#include "live_patch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

#include "attached.h"
#include "fault.h"

enum { PAGES_MAX = 16, WORDS_MAX = 256, TYPICAL = 20 };

/* ---- an area, at the same address in the child: here it stays as it was ---------------------- */

/*
 * One letter a page: r read-only, w writable, x read-only code, o writable until somebody shuts it,
 * s of a shared file that may only be read, n not readable,
 * - unmapped in the child.
 */
static const char *kinds;
static uint8_t *area, original[PAGES_MAX * HI_PAGE_BYTES];

static void *map_shared_file(uint8_t *at)
{
	char path[64];
	const int writer = memfd_create("words", MFD_CLOEXEC);
	CHECK(writer >= 0);
	CHECK_EQ(write(writer, at, HI_PAGE_BYTES), HI_PAGE_BYTES);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", writer);
	const int reader = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(reader >= 0);
	void *mapped = mmap(at, HI_PAGE_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, reader, 0);
	close(reader);
	close(writer);
	return mapped;
}

static void set_kind(uint8_t *at, char kind)
{
	switch (kind) {
	case 'r':
		CHECK_EQ(mprotect(at, HI_PAGE_BYTES, PROT_READ), 0);
		break;
	case 'x':
		CHECK_EQ(mprotect(at, HI_PAGE_BYTES, PROT_READ | PROT_EXEC), 0);
		break;
	case 'n':
		CHECK_EQ(mprotect(at, HI_PAGE_BYTES, PROT_NONE), 0);
		break;
	case 's':
		CHECK(map_shared_file(at) == at);
		break;
	}
}

/* Before the child is born. The pages at both ends keep the neighbours' mappings out of it. */
static void map_area(const char *of_kinds)
{
	kinds = of_kinds;
	const size_t pages = strlen(of_kinds), size = (pages + 2) * HI_PAGE_BYTES;
	CHECK(pages <= PAGES_MAX);
	uint8_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(at != MAP_FAILED);
	area = at + HI_PAGE_BYTES;
	uint64_t random = 1;
	for (size_t i = 0; i < sizeof(original); i += sizeof(random)) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		memcpy(original + i, &random, sizeof(random));
	}
	memcpy(area, original, pages * HI_PAGE_BYTES);
	set_kind(at, 'n');
	set_kind(area + pages * HI_PAGE_BYTES, 'n');
	for (size_t i = 0; i < pages; i++)
		set_kind(area + i * HI_PAGE_BYTES, kinds[i]);
}

/* ---- lists of changes ------------------------------------------------------------------------ */

struct list {
	struct word_patch change[WORDS_MAX];
	size_t count;
	unsigned calls;
};

/* Of some words of a page, to the contrary of each. */
static void add_words(struct list *list, size_t page, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		const size_t at = page * HI_PAGE_BYTES + i * 200;
		struct word_patch change = {.at = (uintptr_t)area + at,
					    .read_only = strchr("rxo", kinds[page]) != NULL};
		memcpy(&change.expected, original + at, sizeof(change.expected));
		change.value = ~change.expected;
		CHECK(list->count < WORDS_MAX);
		list->change[list->count++] = change;
	}
}

static void add_all_pages(struct list *list, size_t words_a_page)
{
	for (size_t i = 0; kinds[i]; i++)
		add_words(list, i, 0, words_a_page);
}

static int change_listed(const struct patcher *patcher, void *context)
{
	struct list *list = context;
	list->calls++;
	return patch_words(patcher, list->change, list->count);
}

static void check_all(const struct list *list, enum patch_state state)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->change[i].state != state)
			UNIT_FAIL("word %zu of %zu: state %d, not %d", i, list->count,
				  list->change[i].state, state);
}

/* ---- the child ------------------------------------------------------------------------------- */

static void be_quiet(struct victim_page *page)
{
	for (size_t i = 0; kinds && kinds[i]; i++)
		if (kinds[i] == '-')
			munmap(area + i * HI_PAGE_BYTES, HI_PAGE_BYTES);
	page->ready = 1;
	for (;; page->progress++)
		victim_pause_us(200);
}

struct scene {
	struct attached attached;
	struct live_patch_target target;
	struct live_patch_held held;
	struct maps maps; /* once it is attached */
};

static void scene_start(struct scene *scene, void (*work)(struct victim_page *page),
			enum hi_loader loader)
{
	const pid_t *pid = &scene->attached.victim.pid;
	attached_start(&scene->attached, work, loader);
	scene->target = attachment_patch_target(&scene->attached.attachment);
	scene->held = (struct live_patch_held){0};
	CHECK_EQ(maps_read(*pid, *pid, &scene->maps), 0);
}

static int scene_store(struct scene *scene, struct list *list)
{
	list->calls = 0;
	return live_patch_do(&scene->target, change_listed, list, &scene->held);
}

static void scene_end(struct scene *scene)
{
	struct receipt receipt;
	CHECK_EQ(detach(&scene->attached.attachment, &receipt), 0);
	CHECK(receipt.is_clean);
	attached_check_gone(&scene->attached);
	maps_close(&scene->maps);
	attached_end(&scene->attached);
}

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
	return a->lo == b->lo && a->hi == b->hi && a->readable == b->readable &&
	       a->writable == b->writable && a->executable == b->executable &&
	       a->shared == b->shared && a->file_offset == b->file_offset && a->inode == b->inode;
}

static bool are_maps_as_before(const struct scene *scene)
{
	const pid_t pid = scene->attached.victim.pid;
	struct maps now;
	CHECK_EQ(maps_read(pid, pid, &now), 0);
	bool same = now.count == scene->maps.count;
	for (size_t i = 0; i < now.count && same; i++)
		same = same_mapping(&now.mapping[i], &scene->maps.mapping[i]);
	maps_close(&now);
	return same;
}

static bool is_writable(const struct scene *scene, size_t page)
{
	const pid_t pid = scene->attached.victim.pid;
	struct maps now;
	CHECK_EQ(maps_read(pid, pid, &now), 0);
	const struct mapping *mapping = maps_find(&now, (uintptr_t)area + page * HI_PAGE_BYTES);
	CHECK(mapping);
	const bool writable = mapping->writable;
	maps_close(&now);
	return writable;
}

/* The child's area is as it was, but for the words that were changed. */
static void check_area(const struct scene *scene, const struct list *list)
{
	static uint8_t wanted[sizeof(original)];
	memcpy(wanted, original, sizeof(wanted));
	for (size_t i = 0; i < list->count; i++)
		if (list->change[i].state == PATCH_DONE)
			memcpy(wanted + (list->change[i].at - (uintptr_t)area),
			       &list->change[i].value, sizeof(list->change[i].value));
	for (size_t page = 0; kinds[page]; page++) {
		uint8_t now[HI_PAGE_BYTES];
		if (kinds[page] == '-')
			continue;
		CHECK_EQ(memory_read(scene->target.memory, (uintptr_t)area + page * HI_PAGE_BYTES,
				     now, sizeof(now)),
			 0);
		if (memcmp(now, wanted + page * HI_PAGE_BYTES, sizeof(now)) != 0)
			UNIT_FAIL("page %zu holds other words than it should", page);
	}
}

/* ---- what is changed ------------------------------------------------------------------------- */

/* More words than fit a list, more mappings than are opened at once. */
static void change_in_pages_of_all_kinds(enum hi_loader loader)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list list = {.count = 0};
	map_area("rwxrwxwrxw");
	add_all_pages(&list, TYPICAL);
	CHECK(list.count > 3 * HI_STORES);
	scene_start(&scene, be_quiet, loader);
	CHECK_EQ(scene_store(&scene, &list), 0);
	check_all(&list, PATCH_DONE);
	check_area(&scene, &list);
	CHECK(are_maps_as_before(&scene));
	CHECK(scene.held.one_ns > 0 && scene.held.all_ns == 0);
	scene_end(&scene);
}

UNIT_TEST(words_of_all_pages_are_changed_and_the_pages_left_as_they_were)
{
	change_in_pages_of_all_kinds(HI_LOADER_MAP);
}

UNIT_TEST(words_are_changed_by_a_payload_that_dlopen_brought)
{
	change_in_pages_of_all_kinds(HI_LOADER_DLOPEN);
}

UNIT_TEST(a_page_that_was_shut_meanwhile_stays_shut)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list list = {.count = 0};
	map_area("wrw");
	add_all_pages(&list, 3);
	for (size_t i = 0; i < list.count; i++)
		list.change[i].read_only = false; /* as it was when the journal was written */
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	CHECK_EQ(scene_store(&scene, &list), 0);
	check_all(&list, PATCH_DONE);
	check_area(&scene, &list);
	CHECK(are_maps_as_before(&scene));
	scene_end(&scene);
}

UNIT_TEST(words_that_hold_something_else_or_are_gone_stay)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	enum {
		READ_ONLY,
		READ_ONLY_OTHER,
		WRITABLE,
		WRITABLE_OTHER,
		NONE,
		NOT_READABLE,
		ONCE,
		TWICE,
		LAST
	};
	struct scene scene;
	struct list list = {.count = 0};
	map_area("rwn-r");
	add_words(&list, 0, 0, 2);
	add_words(&list, 1, 0, 2);
	add_words(&list, 3, 0, 1);
	add_words(&list, 2, 0, 1);
	add_words(&list, 1, 2, 1);
	add_words(&list, 1, 2, 1);
	add_words(&list, 4, 0, 1);
	struct word_patch *change = list.change;
	const uint64_t held[] = {change[READ_ONLY_OTHER].expected, change[WRITABLE_OTHER].expected};
	change[READ_ONLY_OTHER].expected = 1;
	change[WRITABLE_OTHER].expected = 2;
	change[NOT_READABLE].expected = 4; /* a look from outside can tell */
	/* a look cannot tell: it is the thread that finds it changed */
	change[TWICE].value = 3;
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	CHECK_EQ(scene_store(&scene, &list), 0);
	const enum patch_state states[LAST + 1] = {
		[READ_ONLY] = PATCH_DONE, [READ_ONLY_OTHER] = PATCH_DIFFERS,
		[WRITABLE] = PATCH_DONE,  [WRITABLE_OTHER] = PATCH_DIFFERS,
		[NONE] = PATCH_GONE,      [NOT_READABLE] = PATCH_DIFFERS,
		[ONCE] = PATCH_DONE,      [TWICE] = PATCH_DIFFERS,
		[LAST] = PATCH_DONE,
	};
	CHECK_EQ(list.count, LAST + 1);
	for (size_t i = 0; i < list.count; i++)
		if (change[i].state != states[i])
			UNIT_FAIL("word %zu: state %d, not %d", i, change[i].state, states[i]);
	CHECK_EQ(change[READ_ONLY_OTHER].expected, held[0]);
	CHECK_EQ(change[WRITABLE_OTHER].expected, held[1]);
	CHECK_EQ(change[TWICE].expected, change[ONCE].value);
	CHECK_EQ(scene.held.all_ns, 0);
	check_area(&scene, &list);
	CHECK(are_maps_as_before(&scene));
	scene_end(&scene);
}

/* ---- pages that a dead injector left open ---------------------------------------------------- */

/* Open pages are in one mapping with those of data behind and between them. */
UNIT_TEST(a_page_that_was_left_open_is_shut_also_if_nothing_else_is_to_be_done)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list done = {.count = 0}, list = {.count = 0};
	map_area("rowor");
	add_words(&done, 3, 0, 3);
	for (size_t i = 0; i < done.count; i++) {
		done.change[i].value = done.change[i].expected;
		done.change[i].expected = 1;
	}
	add_words(&list, 0, 0, 2);
	add_words(&list, 1, 0, 3);
	add_words(&list, 2, 0, 3);
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	CHECK(is_writable(&scene, 1) && is_writable(&scene, 3));

	CHECK_EQ(scene_store(&scene, &done), 0);
	check_all(&done, PATCH_DIFFERS);
	for (size_t i = 0; i < done.count; i++)
		CHECK_EQ(done.change[i].expected, done.change[i].value);
	check_area(&scene, &done);
	CHECK(is_writable(&scene, 1) && is_writable(&scene, 2) && !is_writable(&scene, 3));

	CHECK_EQ(scene_store(&scene, &list), 0);
	check_all(&list, PATCH_DONE);
	check_area(&scene, &list);
	CHECK(!is_writable(&scene, 0) && !is_writable(&scene, 1) && is_writable(&scene, 2) &&
	      !is_writable(&scene, 3));
	CHECK_EQ(scene.held.all_ns, 0);
	scene_end(&scene);
}

UNIT_TEST(where_nothing_is_to_be_done_no_thread_is_held)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list list = {.count = 0}, empty = {.count = 0};
	map_area("rw-");
	add_all_pages(&list, 1);
	add_words(&list, 1, 1, 1);
	list.change[0].expected++;
	list.change[1].expected++;
	list.change[3].expected++;
	list.change[3].state = PATCH_DONE; /* by an earlier call */
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	CHECK_EQ(scene_store(&scene, &list), 0);
	CHECK(scene.held.one_ns == 0 && scene.held.all_ns == 0);
	CHECK_EQ(list.calls, 1);
	CHECK_EQ(list.change[0].state, PATCH_DIFFERS);
	CHECK_EQ(list.change[1].state, PATCH_DIFFERS);
	CHECK_EQ(list.change[2].state, PATCH_GONE);
	CHECK_EQ(list.change[3].state, PATCH_DONE);
	CHECK(are_maps_as_before(&scene));

	CHECK_EQ(scene_store(&scene, &empty), 0);
	CHECK(scene.held.one_ns == 0 && scene.held.all_ns == 0);
	scene_end(&scene);
}

/* ---- with the world stopped ------------------------------------------------------------------ */

UNIT_TEST(code_that_was_written_over_is_not_called)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list list = {.count = 0};
	uint8_t code, other;
	map_area("rwxrw");
	add_all_pages(&list, TYPICAL);
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	const struct memory *memory = scene.target.memory;
	const remote_addr last = scene.target.payload_base + scene.target.payload->store +
				 scene.target.payload->store_size - 1;
	CHECK_EQ(memory_read(memory, last, &code, 1), 0);
	other = code ^ 0xff;
	CHECK_EQ(memory_write(memory, last, &other, 1), 0);
	CHECK_EQ(scene_store(&scene, &list), 0);
	CHECK_EQ(memory_write(memory, last, &code, 1), 0);
	check_all(&list, PATCH_DONE);
	CHECK(scene.held.one_ns == 0 && scene.held.all_ns > 0);
	check_area(&scene, &list);
	CHECK(are_maps_as_before(&scene));
	scene_end(&scene);
}

UNIT_TEST(a_page_that_may_not_be_read_is_written_from_outside)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list list = {.count = 0};
	map_area("rnw");
	add_all_pages(&list, 3);
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	CHECK_EQ(scene_store(&scene, &list), 0);
	check_all(&list, PATCH_DONE);
	CHECK(scene.held.one_ns == 0 && scene.held.all_ns > 0);
	check_area(&scene, &list);
	CHECK(are_maps_as_before(&scene));
	scene_end(&scene);
}

/* Neither the child nor we may write it. */
UNIT_TEST(a_page_that_cannot_be_opened_is_an_error_and_hinders_no_other)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list list = {.count = 0};
	map_area("wsrwrwr");
	add_all_pages(&list, 3);
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	CHECK_EQ(scene_store(&scene, &list), -EACCES);
	for (size_t i = 0; i < list.count; i++)
		CHECK_EQ(list.change[i].state, i / 3 == 1 ? PATCH_PENDING : PATCH_DONE);
	CHECK(scene.held.all_ns > 0);
	check_area(&scene, &list);
	CHECK(are_maps_as_before(&scene));
	scene_end(&scene);
}

UNIT_TEST(a_target_that_is_gone_is_an_error_code)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list list = {.count = 0};
	map_area("rw");
	add_all_pages(&list, 3);
	scene_start(&scene, be_quiet, HI_LOADER_MAP);
	kill(scene.attached.victim.pid, SIGKILL);
	CHECK_EQ(waitpid(scene.attached.victim.pid, NULL, 0), scene.attached.victim.pid);
	CHECK_EQ(scene_store(&scene, &list), -ESRCH);
	check_all(&list, PATCH_PENDING);
	maps_close(&scene.maps);
	attached_close(&scene.attached);
	victim_forget(&scene.attached.victim);
}

/* ---- whole words ----------------------------------------------------------------------------- */

#define WORD_A 0x1111111111111111u
#define WORD_B 0xeeeeeeeeeeeeeeeeu
enum { SEEN_HALF, SEEN_CHANGED }; /* in the page */
static uint64_t _Alignas(64) watched_word = WORD_A;

/* The calling thread, to one of the CPUs that it may have: the number-th, if there are so many. */
static void pin(int number)
{
	cpu_set_t may, one;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(may), &may))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &may) && !number--)
			CPU_SET(cpu, &one);
	if (CPU_COUNT(&one))
		(void)sched_setaffinity(0, sizeof(one), &one);
}

static void *watch_word(void *argument)
{
	struct victim_page *page = argument;
	pin(1);
	for (uint64_t last = WORD_A;;) {
		const uint64_t now = __atomic_load_n(&watched_word, __ATOMIC_RELAXED);
		if (now == last)
			continue;
		last = now;
		if (now == WORD_A || now == WORD_B)
			page->word[SEEN_CHANGED]++;
		else
			page->word[SEEN_HALF]++;
	}
	return NULL;
}

static void sleep_beside_a_watcher(struct victim_page *page)
{
	pthread_t thread;
	pthread_create(&thread, NULL, watch_word, page);
	pin(0);
	be_quiet(page);
}

/* An odd number, so that each call leaves the word other than it was. Returns what it holds now. */
static uint64_t change_to_and_fro(const struct scene *scene, struct remote *remote, uint64_t now)
{
	enum { COUNT = HI_STORES - 1 };
	const struct live_patch_target *target = &scene->target;
	const remote_addr at = target->state + offsetof(struct hi_state, store),
			  stack = target->state + HI_STATE_KEPT_BYTES;
	const uint64_t argument[4] = {at, COUNT};
	struct hi_store list[COUNT];
	for (size_t i = 0; i < COUNT; i++) {
		list[i] = (struct hi_store){.at = (uintptr_t)&watched_word,
					    .expected = now,
					    .value = now == WORD_A ? WORD_B : WORD_A};
		now = list[i].value;
	}
	CHECK_EQ(memory_write(target->memory, at, list, sizeof(list)), 0);
	CHECK_EQ(remote_call(remote, target->payload_base + target->payload->store, argument, stack,
			     30000, NULL),
		 0);
	CHECK_EQ(attached_read(&scene->attached, (uintptr_t)&watched_word), now);
	return now;
}

UNIT_TEST(no_thread_sees_half_a_word)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	enum { HOLDS = 50, CALLS_A_HOLD = 100, CHANGES_SEEN = 100 };
	struct scene scene;
	struct tracee tracee;
	struct remote remote;
	scene_start(&scene, sleep_beside_a_watcher, HI_LOADER_MAP);
	const struct victim *victim = &scene.attached.victim;
	uint64_t now = WORD_A;
	/* we and the thread that changes take turns: the watcher has the other CPU to itself */
	pin(0);
	for (unsigned holds = 0; holds < HOLDS || victim->page->word[SEEN_CHANGED] < CHANGES_SEEN;
	     holds++) {
		CHECK_EQ(tracee_stop(&tracee, victim->pid, victim->pid, 30000), 0);
		CHECK_EQ(remote_adopt(&remote, &tracee, scene.target.memory, scene.target.gadgets),
			 0);
		for (unsigned i = 0; i < CALLS_A_HOLD; i++)
			now = change_to_and_fro(&scene, &remote, now);
		CHECK_EQ(remote_close(&remote), 0);
		victim_check(victim);
		CHECK_EQ(victim->page->word[SEEN_HALF], 0);
	}
	scene_end(&scene);
}

/* ---- any step of it may be the last, or fail ------------------------------------------------- */

#ifdef HI_FAULTS

/*
 * What a call changed that then failed holds something else than it should when the next one looks:
 * what it is to hold.
 */
static void check_done(const struct scene *scene, struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		CHECK(list->change[i].state == PATCH_DONE ||
		      list->change[i].expected == list->change[i].value);
		list->change[i].state = PATCH_DONE;
	}
	check_area(scene, list);
}

/* Whatever the call before has done of it: all words as they should be, all pages as they were. */
static void finish(struct scene *scene, const struct list *planned)
{
	struct list list = *planned;
	CHECK_EQ(scene_store(scene, &list), 0);
	check_done(scene, &list);
	CHECK(are_maps_as_before(scene));
	victim_check(&scene->attached.victim);
}

/* And back, for the next round. */
static void undo(struct scene *scene, const struct list *planned)
{
	struct list list = *planned;
	for (size_t i = 0; i < list.count; i++) {
		list.change[i].expected = planned->change[i].value;
		list.change[i].value = planned->change[i].expected;
	}
	finish(scene, &list);
}

static void set_number(const char *variable, unsigned number)
{
	char text[24];
	snprintf(text, sizeof(text), "%u", number);
	CHECK_EQ(setenv(variable, text, 1), 0);
	fault_reset();
}

/* More mappings than are opened at once. */
static void start_faulty(struct scene *scene, struct list *planned)
{
	map_area("rwxrwr");
	add_all_pages(planned, 3);
	scene_start(scene, be_quiet, HI_LOADER_MAP);
}

UNIT_TEST(death_at_any_step_leaves_nothing_that_the_next_call_does_not_put_right)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list planned = {.count = 0};
	unsigned deaths = 0;
	int status = 1;
	start_faulty(&scene, &planned);
	for (unsigned n = 1; status; n++) {
		const pid_t injector = fork();
		if (injector == 0) {
			set_number("HEAPINJECT_KILL", n);
			struct list list = planned;
			_exit(scene_store(&scene, &list) != 0);
		}
		CHECK_EQ(waitpid(injector, &status, 0), injector);
		CHECK(!status || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
		deaths += status != 0;
		/* the thread is back: recover waits for that, too */
		victim_check(&scene.attached.victim);
		finish(&scene, &planned);
		undo(&scene, &planned);
	}
	CHECK(deaths > 50);
	printf("# %u deaths\n", deaths);
	scene_end(&scene);
}

/* Also where a thread had to be let go of while it stored: its end is waited for. */
UNIT_TEST(a_failure_of_any_step_leaves_no_page_open)
{
	SKIP_WITH_ADDRESS_SANITIZER();
	struct scene scene;
	struct list planned = {.count = 0};
	unsigned failures = 0, world_stops = 0, n = 0;
	start_faulty(&scene, &planned);
	do {
		struct list list = planned;
		set_number("HEAPINJECT_FAULT", ++n);
		const int err = scene_store(&scene, &list);
		const unsigned long asks = fault_count();
		unsetenv("HEAPINJECT_FAULT");
		fault_reset();
		if (err)
			CHECK_EQ(err, -EIO);
		else
			check_done(&scene, &list);
		failures += asks >= n;
		world_stops += scene.held.all_ns > 0;
		/* whatever the thread was made to do, it has done */
		victim_check(&scene.attached.victim);
		CHECK(are_maps_as_before(&scene));
		finish(&scene, &planned);
		undo(&scene, &planned);
	} while (failures == n);
	CHECK(failures > 50);
	CHECK(world_stops > 50);
	printf("# %u failures, %u world_stops\n", failures, world_stops);
	scene_end(&scene);
}

#else

UNIT_TEST(death_at_any_step_leaves_nothing_that_the_next_call_does_not_put_right)
{
	SKIP("needs a build with FAULTS=1");
}

#endif

UNIT_MAIN()
