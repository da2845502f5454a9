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

UNIT_MAIN()
