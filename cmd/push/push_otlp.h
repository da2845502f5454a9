/* SPDX-License-Identifier: MIT */
/*
 * push_otlp.h - what push_request.h has for OTLP: POST /v1development/profiles, by OTLP/HTTP with
 * protobuf, gzipped. It is another format of profiles (hi_otlp.h), made of the same one.
 */
#ifndef HI_PUSH_OTLP_H
#define HI_PUSH_OTLP_H

#include "hi_send.h"
#include "push_target.h"

/* As push_request_build(). */
must_check int push_otlp_build(const struct push_target *target,
			       const struct push_snapshot *snapshot, uint8_t **out_bytes,
			       size_t *out_size);
/* Of an answer that has come. */
enum push_verdict push_otlp_judge(const struct hi_sent *sent);
uint64_t push_otlp_remark(const struct hi_sent *sent, char out_text[HI_SEND_TEXT_MAX]);

#endif
