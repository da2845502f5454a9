/* SPDX-License-Identifier: MIT */
/* push_request.c - see push_request.h. Start at push_request_build(). */
#include "push_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hi_otlp.h"
#include "pprof_time.h"
#include "push_otlp.h"

#define PYROSCOPE_PATH "/push.v1.PusherService/Push"
#define PARCA_PATH "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"
#define GRPC_PREFIX 5u /* a byte that says that nothing is compressed, and the length */

/* ---- messages -------------------------------------------------------------------------------- */

/* As in the .proto files, which have other numbers for what is alike. */
enum { PYROSCOPE_SERIES = 1, PYROSCOPE_LABEL = 1, PYROSCOPE_SAMPLE = 2 };
enum { PARCA_TENANT = 1, PARCA_SERIES = 2, PARCA_LABELS = 1, PARCA_SAMPLE = 2, PARCA_LABEL = 1 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { SAMPLE_PROFILE = 1, SAMPLE_ID = 2 };
enum { WIRE_BYTES = 2 };

struct message {
	uint8_t *bytes;
	size_t size, capacity;
	bool failed;
};

static void put(struct message *message, const void *bytes, size_t size)
{
	if (!message->failed && size > message->capacity - message->size) {
		const size_t capacity = 2 * message->capacity + size + 256;
		uint8_t *const larger = realloc(message->bytes, capacity);

		message->failed = !larger;
		message->bytes = larger ? larger : message->bytes;
		message->capacity = larger ? capacity : message->capacity;
	}
	if (message->failed)
		return;
	if (size)
		memcpy(message->bytes + message->size, bytes, size);
	message->size += size;
}

static void put_number(struct message *message, uint64_t number)
{
	uint8_t bytes[10];
	size_t size = 0;

	do {
		bytes[size] = (uint8_t)(number & 0x7f);
		number >>= 7;
		bytes[size++] |= number ? 0x80 : 0;
	} while (number);
	put(message, bytes, size);
}

static void put_field(struct message *message, unsigned field, const void *bytes, size_t size)
{
	put_number(message, field << 3 | WIRE_BYTES);
	put_number(message, size);
	put(message, bytes, size);
}

static void put_text(struct message *message, unsigned field, const char *text)
{
	put_field(message, field, text, strlen(text));
}

/* Appends the part as a field, and frees it. */
static void put_part(struct message *message, unsigned field, struct message *part)
{
	put_field(message, field, part->bytes, part->size);
	message->failed |= part->failed;
	free(part->bytes);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void put_label(struct message *labels, unsigned field, const char *name, const char *value)
{
	struct message label = {0};

	put_text(&label, LABEL_NAME, name);
	put_text(&label, LABEL_VALUE, value);
	put_part(labels, field, &label);
}

/* The metric is called as the profiles of Go are, so that the same views show them. */
static void put_labels(struct message *labels, unsigned field, const struct push_target *target)
{
	const struct push_label *label[PUSH_LABELS_ALL];
	const size_t count = push_target_labels(target, label);

	put_label(labels, field, "__name__", "memory");
	if (target->options->protocol == PUSH_PYROSCOPE)
		put_label(labels, field, "__session_id__", target->session_id);
	for (size_t i = 0; i < count; i++)
		put_label(labels, field, label[i]->name, label[i]->value);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void put_pyroscope(struct message *request, const struct push_target *target,
			  const struct push_snapshot *snapshot)
{
	struct message series = {0}, sample = {0};

	put_labels(&series, PYROSCOPE_LABEL, target);
	put_field(&sample, SAMPLE_PROFILE, snapshot->profile, snapshot->size);
	put_text(&sample, SAMPLE_ID, snapshot->id);
	put_part(&series, PYROSCOPE_SAMPLE, &sample);
	put_part(request, PYROSCOPE_SERIES, &series);
}

static void put_parca(struct message *request, const struct push_target *target,
		      const struct push_snapshot *snapshot)
{
	struct message series = {0}, labels = {0}, sample = {0}, whole = {0};

	if (target->options->tenant)
		put_text(&whole, PARCA_TENANT, target->options->tenant);
	put_labels(&labels, PARCA_LABEL, target);
	put_part(&series, PARCA_LABELS, &labels);
	put_field(&sample, SAMPLE_PROFILE, snapshot->profile, snapshot->size);
	put_part(&series, PARCA_SAMPLE, &sample);
	put_part(&whole, PARCA_SERIES, &series);
	const uint8_t prefix[GRPC_PREFIX] = {0, (uint8_t)(whole.size >> 24),
					     (uint8_t)(whole.size >> 16),
					     (uint8_t)(whole.size >> 8), (uint8_t)whole.size};
	put(request, prefix, sizeof(prefix));
	put(request, whole.bytes, whole.size);
	request->failed |= whole.failed;
	free(whole.bytes);
}

static int build_pprof(const struct push_target *target, const struct push_snapshot *snapshot,
		       uint8_t **out_bytes, size_t *out_size)
{
	const struct pprof_time time = {.unix_ns = snapshot->unix_ns};
	struct push_snapshot timed = *snapshot;
	struct message request = {0};
	uint8_t *profile;
	const int err =
		pprof_time_set(snapshot->profile, snapshot->size, time, &profile, &timed.size);

	if (err)
		return err;
	timed.profile = profile;
	if (target->options->protocol == PUSH_PARCA)
		put_parca(&request, target, &timed);
	else
		put_pyroscope(&request, target, &timed);
	free(profile);
	if (request.failed) {
		free(request.bytes);
		return -ENOMEM;
	}
	*out_bytes = request.bytes;
	*out_size = request.size;
	return 0;
}

int push_request_build(const struct push_target *target, const struct push_snapshot *snapshot,
		       uint8_t **out_bytes, size_t *out_size)
{
	return target->options->protocol == PUSH_OTLP
		       ? push_otlp_build(target, snapshot, out_bytes, out_size)
		       : build_pprof(target, snapshot, out_bytes, out_size);
}

/* ---- how it is sent -------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	/* FNV-1a, with the end of the text */
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	while (*text++);
	return hash;
}

/* size: of the URL. It may have the path of OTLP already. */
static const char *path_of(const struct push_options *options, size_t size)
{
	switch (options->protocol) {
	case PUSH_PARCA:
		return PARCA_PATH;
	case PUSH_OTLP:
		return push_options_has_otlp_path(options->url, size) ? "" : HI_OTLP_PATH;
	default:
		return PYROSCOPE_PATH;
	}
}

uint64_t push_request_url(const struct push_options *options, char out_url[PUSH_URL_MAX])
{
	size_t size = strlen(options->url);

	while (size && options->url[size - 1] == '/')
		size--;
	snprintf(out_url, PUSH_URL_MAX, "%.*s%s", (int)size, options->url, path_of(options, size));
	return hash_text(hash_text(0xcbf29ce484222325ull, out_url),
			 options->tenant ? options->tenant : "");
}

void push_request_headers(const struct push_options *options, struct push_headers *out_headers)
{
	size_t count = 0;

#define ADD(...) snprintf(out_headers->text[count++], PUSH_HEADER_MAX, __VA_ARGS__)
	if (options->protocol == PUSH_PARCA) {
		ADD("Content-Type: application/grpc+proto");
		ADD("TE: trailers");
	} else if (options->protocol == PUSH_OTLP) {
		ADD("Content-Type: application/x-protobuf");
		ADD("Content-Encoding: gzip");
	} else {
		ADD("Content-Type: application/proto");
		ADD("Connect-Protocol-Version: 1");
	}
	/* of Pyroscope, which takes OTLP, too */
	if (options->tenant && options->protocol != PUSH_PARCA)
		ADD("X-Scope-OrgID: %s", options->tenant);
	/* libcurl would first ask whether the server wants a large body */
	ADD("Expect:");
	if (*options->authorization)
		ADD("Authorization: %s", options->authorization);
#undef ADD
	for (size_t i = 0; i < count; i++)
		out_headers->line[i] = out_headers->text[i];
	out_headers->line[count] = NULL;
}

static enum push_verdict judge_http(long status)
{
	switch (status) {
	case 400: /* what is wrong with a profile, or with its labels */
	case 413:
	case 422:
		return PUSH_REFUSED;
	case 408:
	case 429:
		return PUSH_LATER;
	default:
		return status / 100 == 2   ? PUSH_TAKEN
		       : status / 100 == 5 ? PUSH_LATER
					   : PUSH_MISDIRECTED;
	}
}

/* The codes are those of gRPC, which their names in the comments have there. */
static enum push_verdict judge_grpc(int status)
{
	switch (status) {
	case 0:
		return PUSH_TAKEN;
	case 3:  /* INVALID_ARGUMENT */
	case 6:  /* ALREADY_EXISTS */
	case 9:  /* FAILED_PRECONDITION */
	case 11: /* OUT_OF_RANGE */
		return PUSH_REFUSED;
	case 5:  /* NOT_FOUND */
	case 7:  /* PERMISSION_DENIED */
	case 12: /* UNIMPLEMENTED */
	case 16: /* UNAUTHENTICATED */
		return PUSH_MISDIRECTED;
	default:
		return PUSH_LATER;
	}
}

uint64_t push_request_remark(const struct push_options *options, const struct hi_sent *sent,
			     char out_text[HI_SEND_TEXT_MAX])
{
	*out_text = '\0';
	return options->protocol == PUSH_OTLP && !sent->err ? push_otlp_remark(sent, out_text) : 0;
}

enum push_verdict push_request_judge(const struct push_options *options, const struct hi_sent *sent)
{
	if (sent->err)
		return PUSH_LATER;
	if (options->protocol == PUSH_OTLP)
		return push_otlp_judge(sent);
	if (options->protocol != PUSH_PARCA)
		return judge_http(sent->status);
	if (sent->grpc_status >= 0)
		return judge_grpc(sent->grpc_status);
	/* not an answer of gRPC */
	return sent->status / 100 == 2 ? PUSH_MISDIRECTED : judge_http(sent->status);
}
