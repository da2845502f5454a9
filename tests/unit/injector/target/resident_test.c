/* SPDX-License-Identifier: MIT */
/* resident: which bytes of this process are in memory. */
#include "resident.h"

#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define PAGE 4096ull
#define COUNT 64u

struct scene {
	struct memory memory;
	struct maps maps;
	struct resident resident;
	char *at; /* of COUNT pages, of which 3, 4, 10 and the last were written to */
};

static void look(struct scene *scene)
{
	scene->at = mmap(NULL, COUNT * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	CHECK(scene->at != MAP_FAILED);
	CHECK_EQ(madvise(scene->at, COUNT * PAGE, MADV_NOHUGEPAGE), 0);
	scene->at[3 * PAGE] = scene->at[4 * PAGE] = scene->at[10 * PAGE] = 1;
	scene->at[(COUNT - 1) * PAGE] = 1;
	CHECK_EQ(memory_open_to_read(&scene->memory, getpid(), getpid()), 0);
	CHECK_EQ(maps_read(getpid(), getpid(), &scene->maps), 0);
	CHECK_EQ(resident_read(&scene->memory, &scene->maps, &scene->resident), 0);
}

static void end(struct scene *scene)
{
	resident_close(&scene->resident);
	maps_close(&scene->maps);
	memory_close(&scene->memory);
	munmap(scene->at, COUNT * PAGE);
}

static uint64_t bytes(struct scene *scene, uint64_t from, uint64_t to)
{
	const uint64_t at = (uintptr_t)scene->at;

	return resident_bytes(&scene->resident, at + from, at + to).resident;
}

UNIT_TEST(bytes_of_ranges)
{
	struct scene scene = {0};

	look(&scene);
	CHECK_EQ(bytes(&scene, 0, COUNT * PAGE), 4 * PAGE);
	CHECK_EQ(bytes(&scene, 0, 3 * PAGE), 0);
	CHECK_EQ(bytes(&scene, 3 * PAGE + 100, 3 * PAGE + 116), 16);
	CHECK_EQ(bytes(&scene, 4 * PAGE + 4000, 10 * PAGE + 7), 96 + 7);
	/* back again */
	CHECK_EQ(bytes(&scene, 3 * PAGE - 5, 3 * PAGE + 5), 5);
	CHECK_EQ(bytes(&scene, (COUNT - 1) * PAGE, COUNT * PAGE), PAGE);
	CHECK_EQ(bytes(&scene, 5 * PAGE, 10 * PAGE), 0);
	end(&scene);
}

UNIT_MAIN()
