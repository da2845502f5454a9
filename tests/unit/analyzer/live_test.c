/* SPDX-License-Identifier: MIT */
/* live: what the live page is sent of a profile is what the answer and the page of reports say. */
#include "answer_scene.h"
#include "heapfile.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "stream_file.h"
#include "unit.h"

static char said[1 << 18];

/* Returns the exit code. */
static int say(FILE *file)
{
	FILE *out = fmemopen(said, sizeof(said), "w");

	CHECK(out);
	fflush(file);
	CHECK_EQ(lseek(fileno(file), 0, SEEK_SET), 0);
	const int exit_code = hi_analyzer_live(fileno(file), out);
	CHECK_EQ(fclose(out), 0);
	return exit_code;
}

UNIT_TEST(the_answer_the_figures_and_the_memory)
{
	struct profile profile = scene_open();
	FILE *file = memory_file();

	scene_leak(&profile, "main;one;leak_here;malloc", 16384, 100);
	scene_blocks(&profile, "main;steady;malloc", 5000, 400, 2);
	scene_process(&profile, 100 * 16384);
	CHECK_EQ(heapfile_write(&profile, file), 0);
	CHECK_EQ(say(file), HI_EXIT_OK);
	CHECK_EQ(said[0], '{');
	CHECK_STR(said + strlen(said) - strlen("\"end\":true}"), "\"end\":true}");
	CHECK(strstr(said, "\"answer\":{\"verdict\":\"grows\""));
	CHECK(strstr(said, "\"function\":\"leak_here\""));
	CHECK(strstr(said, "\"lines\":[\"It grows by "));
	CHECK(strstr(said, "\"moments\":[["));
	CHECK(strstr(said, "\"live\":"));
	CHECK(!strstr(said, "nan") && !strstr(said, "inf,"));
	fclose(file);
	profile_close(&profile);
}

UNIT_TEST(a_profile_that_is_none)
{
	FILE *file = memory_file();

	fputs("this is no profile\n", file);
	CHECK_EQ(say(file), HI_EXIT_FAILED);
	CHECK_STR(said, "");
	fclose(file);
}

UNIT_MAIN()
