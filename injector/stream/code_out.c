/* SPDX-License-Identifier: MIT */
/* code_out.c - see code_out.h. */
#include "code_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_wire.h"

static int send(const struct code_out_stream *stream, const struct hotspot_blob *blob,
		const char *name)
{
	const struct stream_part part = {name, strlen(name)};
	struct hi_stream_code record = {.time_ns = stream->time_ns,
					.lo = blob->lo,
					.hi = blob->hi,
					.name_size = (uint32_t)part.size};

	return stream_out_record(stream->out, HI_STREAM_CODE, &record, sizeof(record), &part, 1);
}

int code_out_frames(struct code_out *code, const struct hotspot *hotspot,
		    const struct memory *memory, const struct code_out_stream *stream,
		    const struct stream_part *frames)
{
	const uint64_t *frame = frames->bytes;
	char name[HOTSPOT_NAME_MAX];
	int err = 0;

	if (!code->sent)
		code->sent = calloc((size_t)1 << CODE_OUT_BITS, sizeof(*code->sent));
	if (!code->sent)
		return -ENOMEM;
	for (size_t i = 0; i < frames->size / sizeof(*frame) && !err; i++) {
		const struct hotspot_blob *blob = hotspot_at(hotspot, frame[i] - 1);

		if (!blob)
			continue;
		struct hotspot_blob *sent = &code->sent[blob->lo * HI_HASH >> (64 - CODE_OUT_BITS)];

		if (memcmp(sent, blob, sizeof(*sent)) == 0)
			continue;
		if (!hotspot_name(hotspot, memory, blob, name))
			err = send(stream, blob, name);
		if (!err)
			*sent = *blob;
	}
	return err;
}

void code_out_close(struct code_out *code)
{
	free(code->sent);
	*code = (struct code_out){0};
}
