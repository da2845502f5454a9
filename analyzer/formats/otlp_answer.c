/* SPDX-License-Identifier: MIT */
/* otlp_answer.c - what a server answers to a request of OTLP. */
#include <errno.h>
#include <string.h>

#include "hi_otlp.h"
#include "otlp_fields.h"
#include "protobuf.h"

static struct protobuf_rest all_of(const void *bytes, size_t size)
{
	return (struct protobuf_rest){.at = bytes, .end = (const uint8_t *)bytes + size};
}

static void set_text(struct hi_otlp_answer *answer, const struct protobuf_field *field)
{
	const size_t size = field->size < HI_OTLP_TEXT_MAX - 1 ? field->size : HI_OTLP_TEXT_MAX - 1;

	for (size_t i = 0; i < size; i++) {
		const uint8_t byte = field->bytes[i];

		answer->text[i] = byte >= ' ' && byte <= '~' ? (char)byte : '?';
	}
	answer->text[size] = '\0';
}

static int read_partial_success(const struct protobuf_field *field, struct hi_otlp_answer *answer)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	int end;

	while (!(end = protobuf_next(&rest, &part))) {
		if (part.number == PARTIAL_REJECTED_PROFILES && !part.bytes)
			answer->rejected = part.value;
		else if (part.number == PARTIAL_ERROR_MESSAGE && part.bytes)
			set_text(answer, &part);
	}
	return end == -ENODATA ? 0 : end;
}

int hi_otlp_read_response(const void *bytes, size_t size, struct hi_otlp_answer *out_answer)
{
	struct protobuf_rest rest = all_of(bytes, size);
	struct hi_otlp_answer answer = {0};
	struct protobuf_field field;
	int end, err = 0;

	while (!err && !(end = protobuf_next(&rest, &field)))
		if (field.number == RESPONSE_PARTIAL_SUCCESS)
			err = field.bytes ? read_partial_success(&field, &answer) : -EBADMSG;
	if (err || end != -ENODATA)
		return -EBADMSG;
	*out_answer = answer;
	return 0;
}

int hi_otlp_read_status(const void *bytes, size_t size, struct hi_otlp_answer *out_answer)
{
	struct protobuf_rest rest = all_of(bytes, size);
	struct hi_otlp_answer answer = {0};
	struct protobuf_field field;
	int end;

	while (!(end = protobuf_next(&rest, &field)))
		if (field.number == STATUS_MESSAGE && field.bytes)
			set_text(&answer, &field);
	if (end != -ENODATA)
		return -EBADMSG;
	*out_answer = answer;
	return 0;
}
