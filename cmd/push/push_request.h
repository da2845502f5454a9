/* SPDX-License-Identifier: MIT */
/*
 * push_request.h - a profile as the request by which a server takes it.
 *
 * Pyroscope: POST /push.v1.PusherService/Push, the message PushRequest of push/v1/push.proto, by
 * the Connect protocol, which for such a call is an ordinary POST. (POST /ingest gives a profile
 * an id of the server's own each time, so that a profile that is sent again would be another one.)
 * Parca: WriteRaw of parca/profilestore/v1alpha1/profilestore.proto, by gRPC.
 * Both take the profile as it is, gzipped pprof, but for its time and duration (pprof_time.h).
 *
 * OTLP: see push_otlp.h.
 */
#ifndef HI_PUSH_REQUEST_H
#define HI_PUSH_REQUEST_H

#include "hi_send.h"
#include "push_target.h"
#include "spool.h"

#define PUSH_HEADERS_MAX 8u
#define PUSH_HEADER_MAX (PUSH_SECRET_MAX + 64u)

/* Negative errno, also of pprof_time_set(). The caller frees *out_bytes. */
must_check int push_request_build(const struct push_target *target,
				  const struct push_snapshot *snapshot, uint8_t **out_bytes,
				  size_t *out_size);

/* The whole URL, and a number that is another one for another place where profiles would go. */
uint64_t push_request_url(const struct push_options *options, char out_url[PUSH_URL_MAX]);

struct push_headers {
	char text[PUSH_HEADERS_MAX][PUSH_HEADER_MAX];
	const char *line[PUSH_HEADERS_MAX + 1]; /* the last one is NULL */
};
void push_request_headers(const struct push_options *options, struct push_headers *out_headers);

/* What the answer, or that there is none, means for the profile. */
enum push_verdict push_request_judge(const struct push_options *options,
				     const struct hi_sent *sent);

/*
 * What the server says in the body of its answer, whatever the status: "" = nothing, or nothing
 * that is known. Returns how many sample types of the profile it has rejected all the same, by
 * OTLP.
 */
uint64_t push_request_remark(const struct push_options *options, const struct hi_sent *sent,
			     char out_text[HI_SEND_TEXT_MAX]);

#endif
