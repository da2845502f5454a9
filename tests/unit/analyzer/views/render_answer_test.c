/* SPDX-License-Identifier: MIT */
/* render_answer_test.c - the words and the JSON of answers by hand. */
#include "unit.h"

#include "answer_scene.h"
#include "hi_runtimes.h"
#include "judgement.h"
#include "rendered.h"
#include "render_answer.h"

#define MIB (1u << 20)
#define GROWS "It grows by 2MB/s (95% interval 1MB/s .. 3MB/s): leak_here file.c:10.\n"
/* clang-format off: as it looks */
#define TABLE                                                                         \
	"                              slope  slope, 95%                      held\n" \
	"  grows                       2MB/s       1MB/s .. 3MB/s             40MB  " \
	"▁▂▂▃▃▄▄▅▅▆▆▇▇███"                            \
	"  leak_here file.c:10\n"
/* clang-format on */
#define GREW "The process grew by 80MB (4MB/s, 3MB/s .. 5MB/s of anonymous memory)"

/* An answer with that verdict, of a row for the function leak_here, and no process. */
struct scene {
	struct profile profile;
	struct answer answer;
};

static void scene_begin(struct scene *scene, enum trend_verdict verdict)
{
	scene->profile = scene_open();
	scene_block(&scene->profile, "main;leak_here;malloc", 64, 1, SCENE_S);
	scene->answer = scene_answer(&scene->profile);
	struct answer *answer = &scene->answer;
	const uint32_t call = *user_frames_unfold(&answer->frames, 0, &(size_t){0});

	answer->verdict = verdict;
	answer->row_count = 1;
	answer->growing = trend_is_growth(verdict);
	answer->row[0] = (struct answer_row){
		.trend = {.verdict = verdict,
			  .slope = 2 * MIB,
			  .slope_low = MIB,
			  .slope_high = 3 * MIB,
			  .samples = 100},
		.live = 40 * MIB,
		.call = call,
		.through = NO_CALL,
		.stacks = 1,
	};
	for (uint32_t bar = 0; bar < ANSWER_BARS; bar++)
		answer->row[0].bar[bar] = (bar + 1.0) / ANSWER_BARS;
	answer->slope = 2 * MIB;
	answer->slope_low = MIB;
	answer->slope_high = 3 * MIB;
}

static void scene_end(struct scene *scene)
{
	answer_close(&scene->answer);
	profile_close(&scene->profile);
}

static char *text_of_answer(const struct answer *answer,
			    void (*render)(const struct answer *answer, FILE *out))
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	render(answer, out);
	fclose(out);
	return text;
}

static void check_text(const struct answer *answer, const char *wanted)
{
	char *text = text_of_answer(answer, render_answer_text);

	CHECK_STR(text, wanted);
	free(text);
}

/* The first line is this one. */
static void check_sentence(const struct answer *answer, const char *wanted)
{
	char *text = text_of_answer(answer, render_answer_text);

	text[strcspn(text, "\n")] = 0;
	CHECK_STR(text, wanted);
	free(text);
}

UNIT_TEST(what_grows)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	check_text(&scene.answer, GROWS TABLE);
	scene_end(&scene);
}

/* The lines after the first one. */
static void check_rest(const struct answer *answer, const char *wanted)
{
	char *text = text_of_answer(answer, render_answer_sentences);

	CHECK_STR(text + strcspn(text, "\n") + 1, wanted);
	free(text);
}

UNIT_TEST(what_was_mapped_meanwhile)
{
	struct scene scene;

	scene_begin(&scene, TREND_STEADY);
	scene.answer.mappings = (struct mapping_growth){.is_known = true,
							.application = 90 * MIB,
							.allocators = 5 * MIB,
							.stacks = 8 * MIB,
							.resident = 60 * MIB,
							.most = 40 * MIB,
							.call = scene.answer.row[0].call};
	check_rest(&scene.answer,
		   "Of what was mapped meanwhile 90MB are still there for the program "
		   "itself, of which 60MB are in memory, 40MB of that by leak_here "
		   "file.c:10, 5MB for allocators, 8MB for stacks of threads.\n");
	scene.answer.mappings.resident = 0;
	scene.answer.mappings.allocators = scene.answer.mappings.stacks = 0;
	check_rest(&scene.answer,
		   "Of what was mapped meanwhile 90MB are still there for the program "
		   "itself, 40MB of that by leak_here file.c:10, and nothing of it is "
		   "in memory.\n");
	char *text = text_of_answer(&scene.answer, render_answer_json);

	CHECK(strstr(text,
		     "\"mappings\":{\"application_bytes\":94371840,\"allocator_bytes\":0,"
		     "\"stack_bytes\":0,\"linker_bytes\":0,\"go_bytes\":0,\"unknown_bytes\":0,"
		     "\"application_resident_bytes\":0,\"function\":\"leak_here\","
		     "\"function_bytes\":41943040}"));
	free(text);
	scene_end(&scene);
}

/* It is named where the process grows, and no block does. */
UNIT_TEST(growth_that_was_mapped)
{
	struct scene scene;

	scene_begin(&scene, TREND_STEADY);
	scene.answer.slope = scene.answer.slope_low = scene.answer.slope_high = 0;
	scene.answer.process = (struct process_growth){.is_known = true,
						       .slope = 4 * MIB,
						       .low = 3 * MIB,
						       .high = 5 * MIB,
						       .bytes = 80 * MIB};
	scene.answer.mappings = (struct mapping_growth){.is_known = true,
							.application = 90 * MIB,
							.resident = -1,
							.most = 70 * MIB,
							.call = scene.answer.row[0].call};
	check_sentence(
		&scene.answer,
		"The process grows by 4MB/s, and nothing that was allocated through the hooked "
		"functions does: leak_here file.c:10 has mapped 70MB that are still there "
		"(report --mmap).");
	scene.answer.mappings.resident = 0;
	char *text = text_of_answer(&scene.answer, render_answer_sentence);

	CHECK(!strstr(text, "has mapped"));
	free(text);
	scene_end(&scene);
}

UNIT_TEST(what_the_allocator_says_of_growth)
{
	struct scene scene;
	char name[] = "glibc 2.36", linked_in[] = "glibc", other[] = "jemalloc 5.3";
	const enum trend_verdict undecided[] = {TREND_UNSURE, TREND_REPLACES, TREND_TOO_FEW};
	const struct heap_moment now = {
		.anonymous = 120 * MIB, .used = 20 * MIB, .free = 75 * MIB, .trimmable = 70 * MIB};

	scene_begin(&scene, TREND_STEADY);
	scene.profile.meta.heap.name = name;
	scene.answer.heap = (struct heap_growth){.now = &now,
						 .has_grown = true,
						 .seconds = 10,
						 .anonymous = 80 * MIB,
						 .used = 3 * MIB,
						 .kept = 75 * MIB,
						 .is_retained = true};
	check_rest(&scene.answer,
		   "In the 10.00s between two looks at its heap it grew by 80MB: 3MB in use by the "
		   "allocator's own count (glibc 2.36), 75MB retained by it: retention, no leak; "
		   "malloc_trim(0) would give back 70MB.\n");
	scene.answer.heap.used = 8 * MIB; /* there may be a leak in it */
	check_rest(&scene.answer,
		   "In the 10.00s between two looks at its heap it grew by 80MB: 8MB in use by the "
		   "allocator's own count (glibc 2.36), 75MB retained by it: most is retention; "
		   "malloc_trim(0) would give back 70MB.\n");
	scene.profile.meta.heap.name = linked_in;
	check_rest(&scene.answer,
		   "In the 10.00s between two looks at its heap it grew by 80MB: 8MB in use by the "
		   "allocator's own count (glibc), 75MB retained by it: most is retention; "
		   "malloc_trim(0) would give back 70MB.\n");
	scene.profile.meta.heap.name = name;
	scene.answer.heap.used = 3 * MIB; /* there may be one in what others mapped */
	scene.answer.heap.kept = 50 * MIB;
	check_rest(&scene.answer,
		   "In the 10.00s between two looks at its heap it grew by 80MB: 3MB in use by the "
		   "allocator's own count (glibc 2.36), 50MB retained by it, 27MB elsewhere: most "
		   "is retention; malloc_trim(0) would give back 70MB.\n");
	scene.answer.heap.kept = 77 * MIB;
	for (size_t i = 0; i < sizeof(undecided) / sizeof(*undecided); i++) {
		scene.answer.verdict = undecided[i];
		check_rest(&scene.answer,
			   "In the 10.00s between two looks at its heap it grew by 80MB: 3MB in "
			   "use by the allocator's own count (glibc 2.36), 77MB retained by it: "
			   "most is retention; malloc_trim(0) would give back 70MB.\n");
	}
	scene.answer.verdict = TREND_GROWS;
	scene.profile.meta.heap.name = other;
	scene.answer.heap.used = -1.0 * MIB;
	scene.answer.heap.kept = 75 * MIB;
	scene.answer.heap.own = 6 * MIB;
	check_rest(
		&scene.answer,
		"In the 10.00s between two looks at its heap it grew by 80MB: 1MB less in use by "
		"the allocator's own count (jemalloc 5.3), 75MB retained by it, 6MB its own: most "
		"is "
		"retention; a purge would give back 70MB.\n");
	scene.profile.meta.heap.name = NULL;
	scene_end(&scene);
}

UNIT_TEST(what_the_allocator_says_of_a_leak)
{
	struct scene scene;
	char name[] = "glibc 2.36";
	const struct heap_moment little = {.anonymous = 200 * MIB, .used = 90 * MIB, .free = 1000},
				 much = {.anonymous = 200 * MIB,
					 .used = 90 * MIB,
					 .cached = 50 * MIB,
					 .trimmable = MIB};

	scene_begin(&scene, TREND_STEADY);
	scene.profile.meta.heap.name = name;
	scene.answer.heap = (struct heap_growth){.now = &little,
						 .has_grown = true,
						 .seconds = 10,
						 .anonymous = 80 * MIB,
						 .used = 60 * MIB,
						 .kept = 0};
	check_rest(
		&scene.answer,
		"In the 10.00s between two looks at its heap it grew by 80MB: 60MB in use by the "
		"allocator's own count (glibc 2.36), 0 retained by it, 20MB elsewhere.\n");
	scene.answer.heap = (struct heap_growth){.now = &much};
	check_rest(&scene.answer, "Of its 200MB of anonymous memory the allocator (glibc 2.36) "
				  "retains 50MB that are free; malloc_trim(0) would give back only "
				  "1MB, as it is fragmented.\n");
	scene.answer.heap.now = &little;
	check_rest(&scene.answer, "");
	scene.answer.heap.now = NULL;
	check_rest(&scene.answer, "");
	scene.profile.meta.heap.name = NULL;
	scene_end(&scene);
}

UNIT_TEST(what_grows_through_a_caller)
{
	struct scene scene;

	scene_begin(&scene, TREND_PROBABLY);
	scene.answer.row[0].is_caller = true;
	check_sentence(&scene.answer,
		       "It probably grows by 2MB/s (95% interval 1MB/s .. 3MB/s): leak_here "
		       "file.c:10, which leads to many places that allocate.");
	scene.answer.row[0].is_caller = false;
	scene.answer.row[0].is_scattered = true;
	check_sentence(&scene.answer, "It probably grows by 2MB/s (95% interval 1MB/s .. 3MB/s): "
				      "leak_here file.c:10, and at many other places.");
	scene_end(&scene);
}

/* Its ends would each read best in a unit of their own. */
UNIT_TEST(an_interval_has_one_unit)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.slope = 1000 << 10;
	scene.answer.slope_low = 512;
	scene.answer.slope_high = 1100 << 10;
	check_sentence(&scene.answer, "It grows by 1000kB/s (95% interval 0.50kB/s .. 1100kB/s): "
				      "leak_here file.c:10.");
	scene.answer.slope = 512;
	scene.answer.slope_low = 256;
	scene.answer.slope_high = 2048;
	check_sentence(&scene.answer, "It grows by 1.76MB/h (95% interval 0.88MB/h .. 7.03MB/h): "
				      "leak_here file.c:10.");
	scene.answer.slope_high = 4096;
	check_sentence(&scene.answer, "It grows by 0.50kB/s (95% interval 0.25kB/s .. 4kB/s): "
				      "leak_here file.c:10.");
	scene_end(&scene);
}

UNIT_TEST(what_grows_at_several_places)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.growing = 7;
	scene.answer.slope = 5 * MIB;
	scene.answer.slope_high = 9 * MIB;
	check_text(&scene.answer,
		   "It grows by 5MB/s (95% interval 1MB/s .. 9MB/s) at 7 places, fastest, by "
		   "2MB/s, at leak_here file.c:10.\n" TABLE "  and 6 more that grow\n");
	scene_end(&scene);
}

/* Beside what grows, something larger may. */
UNIT_TEST(what_may_grow_beside_it)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.row[1] = scene.answer.row[0];
	scene.answer.row[1].trend = (struct trend){.verdict = TREND_TOO_FEW,
						   .slope = 8 * MIB,
						   .slope_low = 4 * MIB,
						   .slope_high = 9 * MIB};
	scene.answer.row_count = 2;
	check_rest(&scene.answer,
		   "More may grow, which cannot be told yet: leak_here file.c:10, by 8MB/s.\n");
	scene.answer.row[1].trend.verdict = TREND_REPLACES;
	check_rest(&scene.answer,
		   "leak_here file.c:10 holds 40MB more than at the start, and as much that is "
		   "older was freed: a leak would look the same until these frees end.\n");
	scene.answer.row[1].trend.slope_low = 2 * MIB;
	check_rest(&scene.answer, "");
	scene.answer.row[1].trend.slope_low = 4 * MIB;
	scene.answer.row[1].trend.verdict = TREND_GROWS;
	check_rest(&scene.answer, "");
	scene_end(&scene);
}

/* The process hardly grows, though what is in use does. */
UNIT_TEST(what_is_in_use_and_not_touched)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.use = (struct heap_use){
		.is_known = true, .slope = 3 * MIB, .low = 2.1 * MIB, .high = 4 * MIB};
	scene.answer.process = (struct process_growth){
		.is_known = true, .bytes = 8 * MIB, .slope = MIB / 2, .low = 0, .high = MIB};
	check_rest(
		&scene.answer,
		"The process grew by 8MB (512kB/s, 0/s .. 1024kB/s of anonymous memory).\n"
		"By the allocator's own count what is in use grows by 3MB/s (2.10MB/s .. 4MB/s): "
		"it is touched only in part, or fills memory that was free.\n");
	scene.answer.use.low = 2 * MIB;
	check_rest(&scene.answer,
		   "The process grew by 8MB (512kB/s, 0/s .. 1024kB/s of anonymous memory).\n");
	scene_end(&scene);
}

UNIT_TEST(what_replaces_older_blocks)
{
	struct scene scene;

	scene_begin(&scene, TREND_REPLACES);
	scene.answer.use = (struct heap_use){.is_known = true, .low = -4096, .high = 2048};
	check_sentence(&scene.answer,
		       "Nothing grows in all: 40MB more than at the start are held by leak_here "
		       "file.c:10, but as much that is older was freed: new blocks replace older "
		       "ones, and all that is in use grows by no more than 2kB/s, by the "
		       "allocator's own count. A leak looks the same only while as much older "
		       "memory is freed for good, which a longer session shows (--duration).");
	scene.answer.use.high = 0;
	check_sentence(&scene.answer,
		       "Nothing grows in all: 40MB more than at the start are held by leak_here "
		       "file.c:10, but as much that is older was freed: new blocks replace older "
		       "ones, and all that is in use does not grow, by the allocator's own count. "
		       "A leak looks the same only while as much older memory is freed for good, "
		       "which a longer session shows (--duration).");
	/* where nobody has counted */
	scene.answer.use.is_known = false;
	scene.answer.verdict = TREND_TOO_FEW;
	scene.answer.more_ns = 20e9;
	check_sentence(&scene.answer,
		       "Nothing grows in all, as far as is known: 40MB more than at the start are "
		       "held by leak_here file.c:10, but as much that is older was freed: new "
		       "blocks replace older ones. A leak beside such frees looks the same until "
		       "these end. It takes about 20.00s more (--duration).");
	scene.answer.use = (struct heap_use){.is_known = true, .slope = MIB, .low = MIB / 2};
	check_sentence(
		&scene.answer,
		"What is in use grows by 1MB/s. What grows by its samples, most at leak_here "
		"file.c:10, replaces older blocks as far as is known, but a leak may be "
		"among it. It takes about 20.00s more (--duration).");
	scene_end(&scene);
}

UNIT_TEST(what_replaces_older_blocks_in_part)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.is_partly = true;
	scene.answer.use = (struct heap_use){
		.is_known = true, .slope = MIB, .low = MIB / 2, .high = 3 * MIB / 2};
	char *text = text_of_answer(&scene.answer, render_answer_sentence);
	CHECK_STR(text, "It grows by 1MB/s (95% interval 0.50MB/s .. 1.50MB/s, by the allocator's "
			"own count): leak_here file.c:10.\n"
			"New blocks that stay come by 2MB/s; the difference is older blocks that "
			"were freed meanwhile.\n");
	free(text);
	scene.answer.use.slope = 0;
	text = text_of_answer(&scene.answer, render_answer_sentence);
	CHECK_STR(text, GROWS "By the allocator's own count what is in use does not grow in all: "
			      "as much that is older was freed meanwhile.\n");
	free(text);
	scene_end(&scene);
}

UNIT_TEST(what_is_not_decided)
{
	struct scene scene;

	scene_begin(&scene, TREND_TOO_FEW);
	check_sentence(&scene.answer,
		       "Cannot tell yet whether it grows: leak_here file.c:10 may. It takes a "
		       "longer session (--duration) or finer samples (--sample).");
	scene.answer.more_ns = 41.2e9;
	check_sentence(&scene.answer,
		       "Cannot tell yet whether it grows: leak_here file.c:10 may. It takes about "
		       "42.00s more (--duration) or finer samples (--sample).");
	scene.answer.use = (struct heap_use){.is_known = true, .slope = 3 * MIB, .low = 2 * MIB};
	check_sentence(&scene.answer,
		       "What is in use grows by 3MB/s, by the allocator's own count, but it cannot "
		       "be told yet where: leak_here file.c:10 may. It takes about 42.00s more "
		       "(--duration) or finer samples (--sample).");
	scene.answer.doubted = 2;
	scene.answer.doubted_slope = 5 * MIB;
	check_sentence(&scene.answer,
		       "What is in use grows by 3MB/s, by the allocator's own count, but 2 places "
		       "seem to, by 5MB/s together: some of them replace older blocks, and it "
		       "cannot be told yet which. The fastest is leak_here file.c:10. It takes "
		       "about 42.00s more (--duration) or finer samples (--sample).");
	scene.answer.row[0].is_unshown = true;
	check_sentence(&scene.answer,
		       "Cannot tell yet whether it grows: 40MB more than at the start are held by "
		       "leak_here file.c:10, but the process does not grow by as much. They may be "
		       "a leak that is touched only in part or fills memory that was free, or "
		       "replace older blocks. It takes about 42.00s more (--duration).");
	scene_end(&scene);
}

UNIT_TEST(what_has_grown_and_does_not_any_more)
{
	struct scene scene;

	scene_begin(&scene, TREND_TOO_FEW);
	scene.answer.risen = 38 * MIB;
	scene.answer.row[0].came_ns = 7e9;
	scene.answer.use = (struct heap_use){.is_known = true, .high = 1};
	check_sentence(&scene.answer,
		       "Nothing grows any more at the end, but 38MB more are in use than at the "
		       "start, of which leak_here file.c:10 holds the largest part, which came in "
		       "the first 7.00s. A program that warms up looks like that, and so does a "
		       "leak that works only under load: it takes more of that load to tell, in a "
		       "longer session (--duration) or another one.");
	scene.answer.use.is_known = false;
	scene.answer.row[0].came_ns = 19e9;
	check_sentence(&scene.answer,
		       "Nothing grows any more at the end, but the process has 38MB more than at "
		       "the start, of which leak_here file.c:10 holds the largest part. A program "
		       "that warms up looks like that, and so does a leak that works only under "
		       "load: it takes more of that load to tell, in a longer session (--duration) "
		       "or another one.");
	char *text = text_of_answer(&scene.answer, render_answer_json);
	CHECK(strstr(text, ",\"risen_bytes\":39845888,\"detectable_bytes_per_second\":"));
	free(text);
	scene_end(&scene);
}

UNIT_TEST(what_cannot_be_told)
{
	struct scene scene;

	scene_begin(&scene, TREND_UNSURE);
	scene.answer.row_count = 0;
	check_text(&scene.answer, "Cannot tell what grows; the notes say why.\n");
	scene_end(&scene);
}

/* Nobody should have to look for the reason, nor for what to do. */
UNIT_TEST(what_cannot_be_told_as_samples_were_dropped)
{
	struct profile profile = scene_open();

	scene_leak(&profile, "main;leak_here;malloc", 64 << 10, 100);
	profile.meta.samples = 100;
	profile.meta.dropped_allocs = 100;
	CHECK_EQ(judgement_make(&profile), 0);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_UNSURE);
	check_sentence(&answer, "Cannot tell what grows: 50% of the samples were dropped, as the "
				"reader did not keep up; --sample 256K would have fitted.");
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(what_is_steady)
{
	struct scene scene;

	scene_begin(&scene, TREND_STEADY);
	scene.answer.row_count = 0;
	scene.answer.detectable = scene.answer.claimed = 100 << 10;
	check_text(&scene.answer, "Nothing grows in these 20.00s; a leak of more than 100kB/s "
				  "would have been found.\n");
	scene.answer.detectable_anywhere = 3 << 20; /* thinned */
	check_text(&scene.answer, "Nothing grows in these 20.00s; a leak of more than 100kB/s "
				  "would have been found, or of 3MB/s where most is allocated.\n");
	scene.answer.detectable = scene.answer.claimed = 512;
	check_text(&scene.answer, "Nothing grows in these 20.00s; a leak of more than 512B/s "
				  "would have been found, or of 3MB/s where most is allocated.\n");
	scene.answer.detectable_anywhere = 0; /* below 1 kB/s rates are per hour */
	check_text(&scene.answer, "Nothing grows in these 20.00s; a leak of more than 1.76MB/h "
				  "would have been found.\n");
	scene_end(&scene);
}

static const struct process_growth grown = {
	.is_known = true, .slope = 4 * MIB, .low = 3 * MIB, .high = 5 * MIB, .bytes = 80 * MIB};

/* A process that grows by other means has no steady memory. */
/* After a call was left, what is mapped on other stacks is nobody's. */
UNIT_TEST(what_was_mapped_by_nobody_known)
{
	struct scene scene;

	scene_begin(&scene, TREND_STEADY);
	scene.answer.row_count = 0;
	scene.answer.claimed = scene.answer.detectable_anywhere = 2 * MIB;
	scene.answer.mappings =
		(struct mapping_growth){.is_known = true, .unknown = MIB, .resident = -1};
	check_sentence(&scene.answer,
		       "Nothing whose stack is known grows in these 20.00s; a leak of more than "
		       "2MB/s would have been found.");
	scene.answer.process = grown;
	scene.answer.slope_high = 0;
	scene.answer.mappings.unknown = 70 * MIB;
	check_sentence(&scene.answer,
		       "The process grows by 4MB/s, and nothing that was allocated through the "
		       "hooked functions does: 70MB were mapped by signal handlers or after calls "
		       "that were left, on stacks that are not known.");
	scene_end(&scene);
}

UNIT_TEST(what_grows_unseen)
{
	struct scene scene;

	scene_begin(&scene, TREND_STEADY);
	scene.answer.row_count = 0;
	scene.answer.slope = scene.answer.slope_low = scene.answer.slope_high = 0;
	scene.answer.detectable = scene.answer.claimed = MIB;
	scene.answer.process = grown;
	check_text(&scene.answer,
		   "The process grows by 4MB/s, and nothing that was allocated through the hooked "
		   "functions does: it maps memory by other means, or fills memory that it has "
		   "allocated before.\n" GREW ".\n");
	scene.profile.meta.runtimes = 1u << HI_RUNTIME_JVM;
	check_text(&scene.answer,
		   "The process grows by 4MB/s, and nothing that was allocated through the hooked "
		   "functions does: it maps memory by other means, or fills memory that it has "
		   "allocated before; that may be the Java heap.\n" GREW ".\n");
	/* unless its mappings tell by which */
	scene.profile.meta.mapped_begin.bytes[MAPPED_STACK] = 8 * MIB;
	scene.profile.meta.mapped_end.bytes[MAPPED_STACK] = 88 * MIB;
	check_text(&scene.answer,
		   "The process grows by 4MB/s, and nothing that was allocated through the hooked "
		   "functions does: it has 80MB more of stacks of threads.\n" GREW ".\n");
	/* what would not have been found may be it */
	scene.answer.detectable = scene.answer.claimed = 4 * MIB;
	check_sentence(
		&scene.answer,
		"Nothing grows in these 20.00s; a leak of more than 4MB/s would have been found.");
	scene_end(&scene);
}

/* Pages of files and shared memory are no growth of the heap, but count for who looks at RSS. */
UNIT_TEST(what_grows_and_is_not_anonymous)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.process = grown;
	scene.answer.process.other_bytes = 20 * MIB;
	check_text(&scene.answer, GROWS GREW
		   ".\nIt has 20MB more of files and shared memory resident; neither is allocated "
		   "by malloc.\n" TABLE);
	scene.profile.meta.mapped_begin.bytes[MAPPED_SHARED] = MIB;
	scene.profile.meta.mapped_end.bytes[MAPPED_SHARED] = 21 * MIB;
	check_text(&scene.answer, GROWS GREW
		   ".\nIt has 20MB more of files and shared memory resident, and mapped more "
		   "shared memory; neither is allocated by malloc.\n" TABLE);
	scene_end(&scene);
}

UNIT_TEST(nothing_grows_but_what_malloc_does_not_give)
{
	struct scene scene;

	scene_begin(&scene, TREND_STEADY);
	scene.answer.row_count = 0;
	scene.answer.claimed = scene.answer.detectable_anywhere = MIB;
	scene.answer.process.other_bytes = 20 * MIB;
	check_text(&scene.answer,
		   "Nothing that was allocated grows in these 20.00s; a leak of more than 1MB/s "
		   "would have been found.\nIt has 20MB more of files and shared memory resident; "
		   "neither is allocated by malloc.\n");
	scene_end(&scene);
}

UNIT_TEST(the_process_and_its_limit)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.process = grown;
	scene.answer.explained = 0.5;
	scene.answer.explained_high = 0.6;
	scene.profile.meta.limit_bytes = 1024ull * MIB;
	scene.profile.meta.limited_bytes = 544ull * MIB;
	check_text(&scene.answer, GROWS GREW
		   "; 50% of its growth is below, the rest did not pass the hooked "
		   "functions, or fills memory that it had.\nIt reaches its limit of 1GB in 2m00s "
		   "(1m36s to 2m40s), if it goes on like this.\n" TABLE);
	scene_end(&scene);
}

/* The rest of 70 % or more is what allocators have for themselves. */
UNIT_TEST(what_the_allocator_rounds_up_is_said)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.process = grown;
	scene.answer.explained = scene.answer.explained_high = 0.75;
	scene.answer.rounding = MIB;
	check_text(&scene.answer,
		   GROWS GREW "; 75% of its growth is below (50% without what the allocator "
			      "rounds up).\n" TABLE);
	scene.answer.rounding = MIB / 8;
	check_text(&scene.answer, GROWS GREW "; 75% of its growth is below.\n" TABLE);
	/* by its interval it may be enough */
	scene.answer.explained = 0.65;
	check_text(&scene.answer, GROWS GREW "; 65% of its growth is below.\n" TABLE);
	scene_end(&scene);
}

/* What is explained may lie in the same mappings, so only what goes beyond explains the rest. */
UNIT_TEST(the_rest_of_the_growth_is_told_by_its_mappings)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.process = grown;
	scene.answer.explained = 0.5;
	scene.answer.explained_high = 0.6;
	scene.profile.meta.mapped_begin.bytes[MAPPED_ANONYMOUS] = MIB;
	scene.profile.meta.mapped_end.bytes[MAPPED_ANONYMOUS] = 58 * MIB;
	check_text(&scene.answer,
		   GROWS GREW "; 50% of its growth is below, the rest did not pass the hooked "
			      "functions, or fills memory that it had.\n" TABLE);
	scene.profile.meta.mapped_end.bytes[MAPPED_ANONYMOUS] = 81 * MIB;
	check_text(&scene.answer,
		   GROWS GREW "; 50% of its growth is below; in all it has 80MB more "
			      "of memory that it maps (mmap).\n" TABLE);
	scene.answer.explained = scene.answer.explained_high = 0.9;
	check_text(&scene.answer, GROWS GREW "; 90% of its growth is below.\n" TABLE);
	scene_end(&scene);
}

UNIT_TEST(a_limit_that_may_not_be_reached_has_no_time)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.process = grown;
	scene.answer.process.low = 0;
	scene.answer.process.bytes = -80.0 * MIB;
	scene.answer.explained = scene.answer.explained_high = 1.5; /* never more than all */
	scene.profile.meta.limit_bytes = 1024ull * MIB;
	char *text = text_of_answer(&scene.answer, render_answer_text);
	check_has_not(text, "limit");
	check_has(text, "The process rose and fell, and shrank by 80");
	check_has(text, "; 100% of its growth is below.\n");
	free(text);
	scene_end(&scene);
}

UNIT_TEST(json_of_what_grows)
{
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.process = grown;
	scene.answer.explained = 0.5;
	scene.answer.explained_high = 0.6;
	scene.answer.detectable = scene.answer.claimed = 1000;
	scene.profile.meta.limit_bytes = 1000;
	scene.profile.meta.limited_bytes = 400;
	char *text = text_of_answer(&scene.answer, render_answer_json);
	CHECK_STR(text, "{\"verdict\":\"grows\","
			"\"totals\":{\"samples\":0,\"in_use_bytes\":64,\"in_use_objects\":1,"
			"\"allocated_bytes\":64,\"allocated_objects\":1},"
			"\"sentence\":\"It grows by 2MB/s (95% interval 1MB/s .. 3MB/s):"
			" leak_here file.c:10.\",\"explained\":0.500,"
			"\"detectable_bytes_per_second\":1000,"
			"\"detectable_anywhere_bytes_per_second\":1000,"
			"\"interval_bytes\":{\"finest\":1,\"coarsest\":1},"
			"\"process\":{\"slope\":{\"value\":4.1943e+06,\"low\":3.14573e+06,"
			"\"high\":5.24288e+06},\"grown_bytes\":83886080,"
			"\"limit_bytes\":1000,\"limited_bytes\":400},"
			"\"rows\":[{\"verdict\":\"grows\",\"function\":\"leak_here\","
			"\"file\":\"src/file.c\",\"line\":10,\"slope\":{\"value\":2.09715e+06,"
			"\"low\":1.04858e+06,\"high\":3.14573e+06},\"live_bytes\":41943040,"
			"\"samples\":100,\"stacks\":1,\"is_caller\":false,\"is_enlarged\":false,"
			"\"share\":1.000,"
			"\"stack\":[\"leak_here\",\"main\"]}]");
	free(text);
	scene_end(&scene);
}

/* The sentence is one line of several sentences. */
UNIT_TEST(json_of_what_is_in_use)
{
	const struct heap_moment now = {.used_bytes = 20 * MIB};
	struct scene scene;

	scene_begin(&scene, TREND_GROWS);
	scene.answer.process = grown;
	scene.answer.explained = 0.2;
	scene.answer.heap.now = &now;
	scene.answer.use =
		(struct heap_use){.is_known = true, .slope = 300, .low = 200, .high = 400};
	char *text = text_of_answer(&scene.answer, render_answer_json);

	CHECK(strstr(text, "file.c:10. That is only 20% of what the process grows by.\","));
	CHECK(strstr(text, ",\"used_slope\":{\"value\":300.0,\"low\":200.0,\"high\":400.0}}"));
	free(text);
	scene_end(&scene);
}

UNIT_TEST(json_of_what_is_not_decided)
{
	struct scene scene;

	scene_begin(&scene, TREND_TOO_FEW);
	scene.answer.row_count = 0;
	scene.answer.verdict = TREND_UNSURE;
	scene.answer.more_ns = 41.2e9;
	char *text = text_of_answer(&scene.answer, render_answer_json);
	CHECK_STR(text, "{\"verdict\":\"cannot tell\","
			"\"totals\":{\"samples\":0,\"in_use_bytes\":64,\"in_use_objects\":1,"
			"\"allocated_bytes\":64,\"allocated_objects\":1},"
			"\"sentence\":\"Cannot tell what grows; the notes say why.\","
			"\"more_seconds\":42,\"detectable_bytes_per_second\":3.2,"
			"\"detectable_anywhere_bytes_per_second\":3.2,"
			"\"interval_bytes\":{\"finest\":1,\"coarsest\":1},"
			"\"process\":{},\"rows\":[]");
	free(text);
	scene_end(&scene);
}

UNIT_MAIN()
