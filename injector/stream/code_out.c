/* SPDX-License-Identifier: MIT */
/* code_out.c - see code_out.h. */
#include "code_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "clock.h"
#include "hi_wire.h"

#define NAMED_BITS 18
#define NAMED_PLACES ((size_t)1 << NAMED_BITS)
#define NAMED_MAX (NAMED_PLACES / 2)

static bool is_any(const struct code_out *code)
{
	return code->hotspot && code->hotspot->is_known;
}

void code_out_look(struct code_out *code)
{
	struct hotspot_methods *methods = &code->methods;

	if (is_any(code) && hotspot_methods_look(methods, &code->hotspot->layout, code->memory,
						 arch_cycles(), clock_now_ns()))
		methods->sure = arch_cycles();
}

static int send(struct code_out *code, struct hi_stream_code record, const char *name)
{
	const struct stream_part part = {name, strlen(name)};

	record.name_size = (uint32_t)part.size;
	return stream_out_record(code->out, HI_STREAM_CODE, &record, sizeof(record), &part, 1);
}

/* Adds the name to those that the stream has. 1: it was not there; 0: it was; -ENOSPC: no room. */
static int add_named(struct code_out *code, uint64_t hash)
{
	size_t i = hash >> (64 - NAMED_BITS);

	while (code->named[i] && code->named[i] != hash)
		i = (i + 1) % NAMED_PLACES;
	if (code->named[i])
		return 0;
	if (code->named_count == NAMED_MAX)
		return -ENOSPC;
	code->named[i] = hash;
	code->named_count++;
	return 1;
}

/*
 * Methods of one name have one address, whichever Method they are: among 65536 names the
 * probability that any two are confused is one in a million. What is one too many is nameless.
 */
static int send_method(struct code_out *code, uint64_t hash, uint64_t time_ns, const char *name,
		       uint64_t *out_frame)
{
	uint64_t lo = HI_STREAM_METHODS + hash % (HI_STREAM_METHODS / 2) * 2;
	const int is_new = add_named(code, hash);

	bool is_due = is_new > 0;

	if (is_new < 0) {
		lo = HI_STREAM_METHODS;
		name = "Interpreter";
		is_due = !code->is_full;
		code->is_full = true;
	}
	*out_frame = lo + 1; /* the byte before a return address is looked up */
	return is_due ? send(code,
			     (struct hi_stream_code){.time_ns = time_ns, .lo = lo, .hi = lo + 2},
			     name)
		      : 0;
}

/* The name of a method, if it is not in the stream. Returns as hotspot_methods_find(). */
static int find_method(struct code_out *code, struct code_out_frames frames, uint32_t i,
		       char name[HOTSPOT_NAME_MAX], uint64_t *out_hash)
{
	const remote_addr at = frames.frame[i] & ~HI_FRAME_METHOD_MASK;

	if (!code->named)
		code->named = calloc(NAMED_PLACES, sizeof(*code->named));
	return code->named ? hotspot_methods_find(&code->methods, &code->hotspot->layout,
						  code->memory, frames.cycles, at, name, out_hash)
			   : -ENOMEM;
}

int code_out_methods(struct code_out *code, struct code_out_frames frames, uint32_t *out_names)
{
	char name[HOTSPOT_NAME_MAX];
	uint64_t names = 0, hash;

	for (uint32_t i = 0; is_any(code) && i < frames.count; i++) {
		if (!hi_frame_is_method(frames.frame[i]))
			continue;
		int err = find_method(code, frames, i, name, &hash);

		if (err >= 0)
			err = send_method(code, hash, frames.time_ns, name, &frames.frame[i]);
		if (err)
			return err;
		names = (names ^ hash) * HI_HASH;
	}
	*out_names = names ? (uint32_t)(names >> 32) | 1 : 0;
	return 0;
}

static int send_blob(struct code_out *code, const struct hotspot_blob *blob, uint64_t time_ns)
{
	struct hotspot_blob *sent = &code->sent[blob->lo * HI_HASH >> (64 - CODE_OUT_BITS)];
	char name[HOTSPOT_NAME_MAX];
	int err = 0;

	if (memcmp(sent, blob, sizeof(*sent)) == 0)
		return 0;
	if (!hotspot_name(code->hotspot, code->memory, blob, name))
		err = send(
			code,
			(struct hi_stream_code){.time_ns = time_ns, .lo = blob->lo, .hi = blob->hi},
			name);
	if (!err)
		*sent = *blob;
	return err;
}

int code_out_frames(struct code_out *code, struct code_out_frames frames)
{
	int err = 0;

	if (!is_any(code))
		return 0;
	if (!code->sent)
		code->sent = calloc((size_t)1 << CODE_OUT_BITS, sizeof(*code->sent));
	if (!code->sent)
		return -ENOMEM;
	for (uint32_t i = 0; i < frames.count && !err; i++) {
		const struct hotspot_blob *blob = hotspot_at(code->hotspot, frames.frame[i] - 1);

		if (blob)
			err = send_blob(code, blob, frames.time_ns);
	}
	return err;
}

void code_out_close(struct code_out *code)
{
	free(code->sent);
	free(code->named);
	hotspot_methods_close(&code->methods);
	*code = (struct code_out){0};
}
