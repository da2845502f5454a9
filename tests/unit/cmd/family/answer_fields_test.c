/* SPDX-License-Identifier: MIT */
/* answer_fields: totals and the sentence of an answer for programs. */
#include "answer_fields.h"

#include "unit.h"

UNIT_TEST(totals_and_the_sentence_are_read)
{
	struct answer_fields fields;

	CHECK(answer_fields_read("{\"verdict\":\"grows\",\"totals\":{\"samples\":3,"
				 "\"in_use_bytes\":2000,\"in_use_objects\":2,"
				 "\"allocated_bytes\":3000,\"allocated_objects\":3},"
				 "\"sentence\":\"It \\\"grows\\\" \\\\ \\u001b[1m by a\\nb: f.\","
				 "\"rows\":[{\"samples\":7,\"sentence\":\"x\"}]",
				 &fields));
	CHECK_EQ((long)fields.samples, 3);
	CHECK_EQ((long)fields.in_use_bytes, 2000);
	CHECK_EQ((long)fields.in_use_objects, 2);
	CHECK_EQ((long)fields.allocated_bytes, 3000);
	CHECK_EQ((long)fields.allocated_objects, 3);
	CHECK_STR(fields.sentence, "It \"grows\" \\ \\x1b[1m by a\\nb: f.");
}

#define TOTALS                                                                \
	"{\"totals\":{\"samples\":0,\"in_use_bytes\":0,\"in_use_objects\":0," \
	"\"allocated_bytes\":0,\"allocated_objects\":0},"
#define MAPPINGS                                                                    \
	"\"mappings\":{\"application_bytes\":7000,\"allocator_bytes\":600,"         \
	"\"stack_bytes\":50,\"linker_bytes\":4,\"go_bytes\":0,\"unknown_bytes\":3," \
	"\"function\":\"f\",\"function_bytes\":7000}"

/* No text is taken for them. */
UNIT_TEST(mappings_are_read)
{
	static const double wanted[ANSWER_MAPPED_COUNT] = {7000, 600, 50, 4, 0, 3};
	struct answer_fields fields;

	CHECK(answer_fields_read(TOTALS
				 "\"sentence\":\"\\\"mappings\\\":{\\\"go_bytes\\\":1\"," MAPPINGS
				 ",\"rows\":[]",
				 &fields));
	CHECK(fields.has_mappings);
	for (size_t i = 0; i < ANSWER_MAPPED_COUNT; i++)
		CHECK(fields.mapped[i] == wanted[i]);
	CHECK(answer_fields_read(TOTALS "\"sentence\":\"\\\"mappings\\\":{\",\"rows\":[]",
				 &fields));
	CHECK(!fields.has_mappings);
	CHECK(answer_fields_read(TOTALS "\"mappings\":{\"application_bytes\":1}", &fields));
	CHECK(!fields.has_mappings);
}

UNIT_TEST(an_answer_without_totals_has_none)
{
	struct answer_fields fields;

	CHECK(!answer_fields_read("{\"verdict\":\"cannot tell\",\"rows\":[]", &fields));
	CHECK(!answer_fields_read("{\"totals\":{\"samples\":3}}", &fields));
	CHECK(!answer_fields_read("", &fields));
	CHECK(answer_fields_read("{\"totals\":{\"samples\":0,\"in_use_bytes\":0,"
				 "\"in_use_objects\":0,\"allocated_bytes\":0,"
				 "\"allocated_objects\":0}}",
				 &fields));
	CHECK_STR(fields.sentence, "");
}

UNIT_MAIN()
