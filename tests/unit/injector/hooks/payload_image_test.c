/* SPDX-License-Identifier: MIT */
/* payload_image_test.c - the payload that this very build embeds. */
#include "payload_image.h"

#include "unit.h"

UNIT_TEST(every_function_has_a_hook_in_the_text)
{
	struct payload_image image;

	CHECK_EQ(payload_image_open(&image), 0);
	CHECK(image.text_size > 0);
	CHECK(image.text_offset + image.text_size <= image.file_size);
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++) {
		CHECK(image.hook[i] >= image.text_offset);
		CHECK(image.hook[i] < image.text_offset + image.text_size);
		for (size_t k = 0; k < i; k++)
			CHECK(image.hook[i] != image.hook[k]);
	}
}

UNIT_TEST(every_gate_class_has_a_template_that_fits)
{
	struct payload_image image;

	CHECK_EQ(payload_image_open(&image), 0);
	for (size_t i = 0; i < GATE_CLASS_COUNT; i++) {
		CHECK(image.gate[i].size > 0);
		CHECK(image.gate[i].size <= HI_GATE_STRIDE);
		CHECK(image.gate[i].code >= image.file + image.text_offset);
		CHECK(image.gate[i].code + image.gate[i].size <=
		      image.file + image.text_offset + image.text_size);
	}
}

UNIT_TEST(functions_have_the_gate_of_their_kind)
{
	CHECK_EQ(gate_class_of(HI_FN_MALLOC), GATE_ALLOC);
	CHECK_EQ(gate_class_of(HI_FN_NEW), GATE_ALLOC);
	CHECK_EQ(gate_class_of(HI_FN_CALLOC), GATE_SIZE2);
	CHECK_EQ(gate_class_of(HI_FN_ALIGNED_ALLOC), GATE_SIZEARG2);
	CHECK_EQ(gate_class_of(HI_FN_POSIX_MEMALIGN), GATE_SIZEARG3);
	CHECK_EQ(gate_class_of(HI_FN_REALLOC), GATE_REALLOC);
	CHECK_EQ(gate_class_of(HI_FN_FREE), GATE_FREE);
	CHECK_EQ(gate_class_of(HI_FN_DELETE_ARRAY_ALIGNED_NOTHROW), GATE_FREE);
	CHECK_EQ(gate_class_of(HI_FN_DELETE_ARRAY_SIZED_ALIGNED), GATE_FREE);
}

UNIT_MAIN()
