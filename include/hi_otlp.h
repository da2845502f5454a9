/* SPDX-License-Identifier: MIT */
/*
 * hi_otlp.h - a pprof profile as the request by which OTLP, the protocol of OpenTelemetry, takes
 * profiles, and the answer to it. cmd/push/ calls it, in a process of its own; analyzer/formats/,
 * which knows protobuf, has it.
 *
 * Messages and numbers are those of opentelemetry-proto v1.10.0: ExportProfilesServiceRequest of
 * collector/profiles/v1development/profiles_service.proto and what it holds, of
 * profiles/v1development/profiles.proto. The signal is alpha: v1.9.0 has other numbers in Sample,
 * and a later version may have others again, under the same path.
 */
#ifndef HI_OTLP_H
#define HI_OTLP_H

#include <stddef.h>
#include <stdint.h>

#define HI_OTLP_VERSION "v1.10.0"
#define HI_OTLP_PATH "/v1development/profiles"
#define HI_OTLP_ID_SIZE 16u
#define HI_OTLP_TEXT_MAX 192u

struct hi_otlp_attribute {
	const char *name;
	const char *text; /* printable ASCII; NULL = it is a number */
	int64_t number;
};

/* What is said of a profile besides its contents. */
struct hi_otlp_origin {
	const struct hi_otlp_attribute *attribute; /* of the resource */
	size_t attribute_count;
	uint64_t unix_ns;            /* when the figures were taken */
	uint8_t id[HI_OTLP_ID_SIZE]; /* random */
};

/*
 * profile: a message of pprof's profile.proto, unpacked, whose ids count from 1 in their order, as
 * in ours. Each of its sample types becomes a Profile, the default one first; the caller frees
 * *out_bytes. -EBADMSG: it is no such profile; -ENOMEM. May read what an attacker has written.
 */
int hi_otlp_request(const void *profile, size_t size, const struct hi_otlp_origin *origin,
		    uint8_t **out_bytes, size_t *out_size);

struct hi_otlp_answer {
	uint64_t rejected;           /* Profiles of the request; 0 = none */
	char text[HI_OTLP_TEXT_MAX]; /* what the server says; printable ASCII, "" = nothing */
};

/*
 * Reads the body of an answer with a status of success, ExportProfilesServiceResponse, or of
 * another one, google.rpc.Status. -EBADMSG: it is no such message, or is cut off; nothing is
 * changed then.
 */
int hi_otlp_read_response(const void *bytes, size_t size, struct hi_otlp_answer *out_answer);
int hi_otlp_read_status(const void *bytes, size_t size, struct hi_otlp_answer *out_answer);

#endif
