/* SPDX-License-Identifier: MIT */
/*
 * memory_copy_test.c - reads of a memory that has a copy: from it, from the process, from both; and
 * its pages, mappings and threads are those of the copy.
 */
#include "memory_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pages.h"
#include "procfs.h"
#include "smaps.h"
#include "unit.h"

#define PAGE 4096u
#define PAGES 6u

static const char one_mapping[] = "1000-3000 rw-p 00000000 00:00 0 [copied]\n";

/* Pages 1 and 4 were copied, 2 and 3 were seen, 5 was swapped out. */
struct scene {
	struct memory memory;
	uint8_t *page; /* of the process */
	uint8_t copied[2][PAGE];
	struct copied_run run[4];
	struct stack_pointer thread[2];
	struct memory_copy copy;
};

static remote_addr at(const struct scene *scene, unsigned page)
{
	return (uintptr_t)scene->page + page * PAGE;
}

static void open_scene(struct scene *scene)
{
	*scene = (struct scene){.thread = {{.tid = 7, .sp = 0x1238}, {.tid = 8}}};
	CHECK_EQ(memory_open_to_read(&scene->memory, getpid(), getpid()), 0);
	scene->page = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	CHECK(scene->page != MAP_FAILED);
	for (unsigned i = 0; i < PAGES; i++)
		memset(scene->page + i * PAGE, (int)('0' + i), PAGE);
	memset(scene->copied[0], 'A', PAGE);
	memset(scene->copied[1], 'B', PAGE);
	scene->run[0] = (struct copied_run){at(scene, 1), at(scene, 2), scene->copied[0], 0, 0, 0};
	scene->run[1] =
		(struct copied_run){.lo = at(scene, 2), .hi = at(scene, 4), .is_file = true};
	scene->run[2] = (struct copied_run){
		.lo = at(scene, 4), .hi = at(scene, 5), .byte = scene->copied[1], .is_huge = true};
	scene->run[3] =
		(struct copied_run){.lo = at(scene, 5), .hi = at(scene, 6), .is_swapped = true};
	scene->copy = (struct memory_copy){.run = scene->run,
					   .count = 4,
					   .maps = strdup(one_mapping),
					   .maps_size = sizeof(one_mapping) - 1,
					   .thread = scene->thread,
					   .threads = 2};
	scene->memory.copy = &scene->copy;
}

UNIT_TEST(what_was_copied_is_read_from_the_copy_and_the_rest_from_the_process)
{
	static struct scene scene;
	char text[6];
	uint8_t all[PAGES * PAGE];

	open_scene(&scene);
	for (unsigned i = 0; i < PAGES - 1; i++) {
		CHECK_EQ(memory_read(&scene.memory, at(&scene, i + 1) - 3, text, 6), 0);
		CHECK(text[0] == "0A23B5"[i] && text[2] == "0A23B5"[i]);
		CHECK(text[3] == "0A23B5"[i + 1] && text[5] == "0A23B5"[i + 1]);
	}
	CHECK_EQ(memory_read_much(&scene.memory, at(&scene, 0), all, sizeof(all)), 0);
	for (unsigned i = 0; i < PAGES; i++)
		CHECK(all[i * PAGE] == "0A23B5"[i] && all[i * PAGE + PAGE - 1] == "0A23B5"[i]);
	/* beyond all runs, and where nothing is mapped */
	CHECK_EQ(memory_read(&scene.memory, 0, text, 6), -EFAULT);
	CHECK_EQ(munmap(scene.page + 1 * PAGE, PAGE), 0);
	CHECK_EQ(memory_read(&scene.memory, at(&scene, 1), text, 6), 0);
	CHECK(!memcmp(text, "AAAAAA", 6));
	CHECK_EQ(munmap(scene.page + 2 * PAGE, PAGE), 0);
	CHECK_EQ(memory_read(&scene.memory, at(&scene, 2) - 3, text, 6), -EFAULT);
}

static int note(void *context, const struct page_run *run)
{
	char *text = context;

	sprintf(text + strlen(text), "%u%s%s%s ", (unsigned)((run->hi - run->lo) / PAGE),
		run->is_swapped ? "s" : "", run->is_file ? "f" : "", run->is_huge ? "h" : "");
	return 0;
}

UNIT_TEST(pages_are_those_of_the_copy)
{
	static struct scene scene;
	struct pages pages;
	char text[64] = "";

	open_scene(&scene);
	pages_open_of(&pages, &scene.memory);
	CHECK_EQ(pages_visit(&pages, at(&scene, 0), at(&scene, 6), true, note, text), 0);
	CHECK(!strcmp(text, "1 2f 1h 1s "));
	text[0] = 0;
	CHECK_EQ(pages_visit(&pages, at(&scene, 0), at(&scene, 6), false, note, text), 0);
	CHECK(!strcmp(text, "1 1h 1s "));
	text[0] = 0;
	CHECK_EQ(pages_visit(&pages, at(&scene, 3), at(&scene, 4), true, note, text), 0);
	CHECK(!strcmp(text, "1f "));
	pages_close(&pages);
}

UNIT_TEST(mappings_and_stack_pointers_are_those_of_the_copy)
{
	static struct scene scene;
	struct stack_pointer *thread;
	struct maps maps;
	struct smaps smaps;
	size_t count;

	open_scene(&scene);
	CHECK_EQ(maps_of(&scene.memory, &maps), 0);
	CHECK(maps.count == 1 && !strcmp(maps.mapping[0].path, "[copied]"));
	maps_close(&maps);
	CHECK_EQ(smaps_of(&scene.memory, &smaps), -ENODATA);
	CHECK_EQ(proc_stack_pointers(&scene.memory, &thread, &count), 0);
	CHECK(count == 2 && thread[0].tid == 7 && thread[0].sp == 0x1238 && !thread[1].sp);
	free(thread);
	scene.memory.copy = NULL;
	CHECK_EQ(proc_stack_pointers(&scene.memory, &thread, &count), 0);
	CHECK(count == 1 && thread[0].tid == getpid());
	free(thread);
}

UNIT_MAIN()
