/* SPDX-License-Identifier: MIT */
/*
 * Formats of viewers: Firefox Profiler's, Grafana's, Perfetto's. Whole readers are in integration
 * writes.
 */
#include <errno.h>

#include "protobuf.h"
#include "rendered.h"

static struct profile two_stacks(void)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;a", 1, 64);
	sample_stack(&profile, "main;b<c", 2, 100);
	return profile;
}

static struct profile comparison(void)
{
	struct profile profile = two_stacks(), base = sample_open();

	sample_stack(&base, "main;a", 3, 64);
	sample_compare(&profile, &base);
	return profile;
}

UNIT_TEST(firefox_has_a_tree_of_calls)
{
	struct profile profile = two_stacks();
	char *text = rendered("firefox", &profile, &in_use, 0);

	check_has(text, "\"preprocessedProfileVersion\":57,");
	/* main, a, and below main c with b inlined into it */
	check_has(text,
		  "\"stackTable\":{\"frame\":[0,1,3,2],\n\"prefix\":[null,0,0,2],\n\"length\":4}");
	check_has(text, "\"inlineDepth\":[0,0,1,0,0],");
	check_has(text, "\"weight\":[64,-64,64,200,-200,200],\n\"stack\":[1,1,1,3,3,3],\n"
			"\"memoryAddress\":[1,1,2,3,3,4],\n");
	check_has(text, "\"name\":\"in use\"");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(firefox_has_the_memory_of_the_process)
{
	struct profile profile = two_stacks();
	char *text;

	profile_add_moment(&profile.meta,
			   &(struct profile_moment){.time_ns = 1000000, .anonymous = 50});
	profile_add_moment(&profile.meta,
			   &(struct profile_moment){.time_ns = 9500000000, .anonymous = 20});
	text = rendered("firefox", &profile, &in_use, 0);
	check_has(text, "\"samples\":{\"time\":[1.000000,9500.000000],\n\"count\":[50,-30],"
			"\n\"length\":2}");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(grafana_has_a_nested_set)
{
	struct profile profile = two_stacks();
	char *text = rendered("grafana", &profile, &in_use, 0);

	check_has(text, "\"values\":[\n[0,1,2,2,3],\n[\"total\",\"main\",\"a\",\"c\",\"b\"],\n"
			"[264,264,64,200,200],\n[0,0,64,0,200]]}}]");
	check_has(text, "{\"name\":\"value\",\"type\":\"number\",\"config\":{\"unit\":\"bytes\"}}");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(grafana_has_the_base_on_the_left)
{
	struct profile profile = comparison();
	char *text = rendered("grafana", &profile, &in_use, 0);

	check_has(text,
		  "[\"total\",\"main\",\"a\",\"c\",\"b\"],\n[192,192,192,0,0],\n[0,0,192,0,0],\n"
		  "[264,264,64,200,200],\n[0,0,64,0,200]]}}]");
	free(text);
	free(rendered("firefox", &profile, &in_use, -EINVAL));
	profile_close(&profile);
}

/* A sum of two such values is more than an int64_t holds. */
UNIT_TEST(sums_of_hostile_values_saturate)
{
	static const struct {
		const char *format, *has;
	} views[] = {{"firefox", "\"count\":[9223372036854775807]"},
		     {"grafana", "9223372036854775807"},
		     {"speedscope", "\"endValue\":9223372036854775807"},
		     {"callgrind", "totals: 9223372036854775807"}};
	struct profile profile = sample_open();

	sample_stack(&profile, "main;a", 1, INT64_MAX / 2);
	sample_stack(&profile, "main;b", 1, INT64_MAX / 2);
	sample_stack(&profile, "main;c", 1, INT64_MAX / 2);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		char *text = rendered(views[i].format, &profile, &in_use, 0);

		check_has(text, views[i].has);
		free(text);
	}
	profile_close(&profile);
}

UNIT_TEST(unknown_stacks_and_odd_names_are_kept)
{
	struct profile profile = sample_open();
	char *text;

	sample_frames(&profile, NULL, 0, 2, 64);
	sample_stack(&profile, "a\"b\x01", 1, 32);
	text = rendered("grafana", &profile, &in_use, 0);
	check_has(text, "[\"total\",\"[unknown]\",\"a\\\"b?\"],\n[160,128,32],");
	free(text);
	text = rendered("firefox", &profile, &in_use, 0);
	check_has(text, "\"stringArray\":[\n\"a\\\"b?\",\n\"[unknown]\",");
	check_has(text, "\"stackTable\":{\"frame\":[1,0],\n\"prefix\":[null,null],\n\"length\":2}");
	free(text);
	profile_close(&profile);
}

struct dump {
	uint64_t time, allocated, freed, samples;
};

static struct protobuf_rest whole(const char *bytes, size_t size)
{
	return (struct protobuf_rest){.at = (const uint8_t *)bytes,
				      .end = (const uint8_t *)bytes + size};
}

/* Takes the next field of that number; false: there is none. */
static bool take(struct protobuf_rest *rest, unsigned int number, struct protobuf_field *out_field)
{
	while (!protobuf_next(rest, out_field)) {
		if (out_field->number == number)
			return true;
	}
	return false;
}

static uint64_t number_of(struct protobuf_rest message, unsigned int number)
{
	struct protobuf_field field;

	return take(&message, number, &field) ? field.value : 0;
}

/* The heap dumps of a trace. Returns how many. */
static size_t read_dumps(const char *bytes, size_t size, struct dump *dumps, size_t room)
{
	struct protobuf_rest trace = whole(bytes, size);
	struct protobuf_field packet, profile, dump, sample;
	size_t count = 0;

	while (take(&trace, 1, &packet)) {
		struct protobuf_rest rest = protobuf_inside(&packet);

		if (!take(&rest, 37, &profile))
			continue;
		rest = protobuf_inside(&profile);
		CHECK(take(&rest, 5, &dump) && count < room);
		CHECK_EQ(number_of(protobuf_inside(&profile), 7), count);
		dumps[count] = (struct dump){.time = number_of(protobuf_inside(&dump), 9)};
		rest = protobuf_inside(&dump);
		while (take(&rest, 2, &sample)) {
			dumps[count].allocated += number_of(protobuf_inside(&sample), 2);
			dumps[count].freed += number_of(protobuf_inside(&sample), 3);
			dumps[count].samples++;
		}
		count++;
	}
	return count;
}

/* Perfetto drops what has become less, and takes what is not in a dump for what has not changed. */
UNIT_TEST(perfetto_is_told_of_nothing_that_became_less)
{
	struct profile earlier = two_stacks(), later = sample_open();
	struct profile_set set = {.count = 2};
	const struct render_options options = {.type = INUSE_SPACE, .set = &set};
	struct dump dumps[3];
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	sample_stack(&later, "main;b<c", 1, 100);
	later.meta.duration_ns *= 2;
	set.profile[0] = later; /* the order is that of the times */
	set.profile[1] = earlier;
	CHECK_EQ(renderer_named("perfetto")->render(&later, &options, out), 0);
	fclose(out);
	CHECK_EQ(read_dumps(text, size, dumps, 3), 2);
	CHECK(dumps[0].time < dumps[1].time);
	CHECK_EQ(dumps[0].samples, 2);
	CHECK_EQ(dumps[0].allocated, 128 + 400);
	CHECK_EQ(dumps[0].freed, 64 + 200);
	CHECK_EQ(dumps[1].samples, 2);
	CHECK_EQ(dumps[1].allocated, 128 + 400);
	CHECK_EQ(dumps[1].freed, 128 + 300);
	free(text);
	profile_close(&earlier);
	profile_close(&later);
}

UNIT_MAIN()
