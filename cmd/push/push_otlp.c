/* SPDX-License-Identifier: MIT */
/* push_otlp.c - see push_otlp.h. */
#include "push_otlp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gzip.h"
#include "hi_otlp.h"

/* ---- the request ----------------------------------------------------------------------------- */

#define PID_NAME "process.pid"

/* The id of the process is a number there. */
static struct hi_otlp_attribute attribute_of(const struct push_label *label)
{
	struct hi_otlp_attribute attribute = {.name = label->name, .text = label->value};
	const size_t digits = strspn(label->value, "0123456789");

	if (!strcmp(label->name, PID_NAME) && digits < 10 && !label->value[digits]) {
		attribute.number = strtol(label->value, NULL, 10);
		attribute.text = NULL;
	}
	return attribute;
}

static size_t list_attributes(const struct push_target *target,
			      struct hi_otlp_attribute attribute[PUSH_LABELS_ALL])
{
	const struct push_label *label[PUSH_LABELS_ALL];
	const size_t count = push_target_labels(target, label);

	for (size_t i = 0; i < count; i++)
		attribute[i] = attribute_of(label[i]);
	return count;
}

/* The bytes of a UUID. */
static void read_id(const char *text, uint8_t out_id[HI_OTLP_ID_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	size_t count = 0;

	memset(out_id, 0, HI_OTLP_ID_SIZE);
	for (; *text && count < 2 * (size_t)HI_OTLP_ID_SIZE; text++) {
		const char *digit = strchr(digits, *text);

		if (!digit)
			continue;
		out_id[count / 2] |= (uint8_t)((digit - digits) << (count % 2 ? 0 : 4));
		count++;
	}
}

int push_otlp_build(const struct push_target *target, const struct push_snapshot *snapshot,
		    uint8_t **out_bytes, size_t *out_size)
{
	struct hi_otlp_attribute attribute[PUSH_LABELS_ALL];
	struct hi_otlp_origin origin = {.attribute = attribute, .unix_ns = snapshot->unix_ns};
	uint8_t *profile, *request;
	size_t size, request_size;
	int err = gzip_unpack(snapshot->profile, snapshot->size, &profile, &size);

	if (err)
		return err;
	origin.attribute_count = list_attributes(target, attribute);
	read_id(snapshot->id, origin.id);
	err = hi_otlp_request(profile, size, &origin, &request, &request_size);
	free(profile);
	if (err)
		return err;
	err = gzip_pack(request, request_size, out_bytes, out_size);
	free(request);
	return err;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/*
 * A server that has taken a profile says so by a message, which may be empty. Anything else is of
 * another server. What is cut off cannot be read to its end.
 */
static bool is_response(const struct hi_sent *sent, struct hi_otlp_answer *out_answer)
{
	return !hi_otlp_read_response(sent->answer, sent->answer_size, out_answer) ||
	       sent->answer_size == HI_SEND_ANSWER_MAX;
}

/*
 * OTLP names the four statuses after which a request is sent again. Where it is not the request
 * that is at fault it waits, as for the others.
 */
enum push_verdict push_otlp_judge(const struct hi_sent *sent)
{
	struct hi_otlp_answer answer;

	switch (sent->status) {
	case 429:
	case 502:
	case 503:
	case 504:
		return PUSH_LATER;
	case 401:
	case 403:
	case 404:
	case 405:
	case 415:
		return PUSH_MISDIRECTED;
	default:
		break;
	}
	if (sent->status / 100 == 2)
		return is_response(sent, &answer) ? PUSH_TAKEN : PUSH_MISDIRECTED;
	return sent->status / 100 == 3 ? PUSH_MISDIRECTED : PUSH_REFUSED;
}

uint64_t push_otlp_remark(const struct hi_sent *sent, char out_text[HI_SEND_TEXT_MAX])
{
	struct hi_otlp_answer answer = {0};

	*out_text = '\0';
	if (sent->status / 100 != 2)
		(void)hi_otlp_read_status(sent->answer, sent->answer_size, &answer);
	else if (!is_response(sent, &answer))
		snprintf(answer.text, sizeof(answer.text),
			 "but not by OTLP, and so has taken no profile");
	snprintf(out_text, HI_SEND_TEXT_MAX, "%s", answer.text);
	return answer.rejected;
}
