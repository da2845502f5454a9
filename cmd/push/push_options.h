/* SPDX-License-Identifier: MIT */
/*
 * push_options.h - the options by which a session pushes its profiles: what they may be, and the
 * secret, which comes from a file or the environment, as arguments can be seen by all users.
 */
#ifndef HI_PUSH_OPTIONS_H
#define HI_PUSH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "must_check.h"

#define PUSH_LABELS_MAX 16u
#define PUSH_LABEL_NAME_MAX 64u
#define PUSH_LABEL_VALUE_MAX 256u
#define PUSH_URL_MAX 1024u
#define PUSH_SECRET_MAX 512u
#define PUSH_TOKEN_VARIABLE "HEAPINJECT_PUSH_TOKEN"

enum push_protocol { PUSH_BY_URL, PUSH_PYROSCOPE, PUSH_PARCA, PUSH_OTLP };

struct push_label {
	char name[PUSH_LABEL_NAME_MAX + 1], value[PUSH_LABEL_VALUE_MAX + 1];
};

/* A zeroed one pushes nothing. The strings belong to the caller. */
struct push_options {
	const char *url; /* NULL = nothing is pushed */
	enum push_protocol protocol;
	struct push_label label[PUSH_LABELS_MAX]; /* an empty value: there is no such label */
	size_t label_count;
	const char *token_file;
	const char *tenant;   /* NULL = none */
	const char *spool;    /* directory; NULL = beside the files of the session */
	uint64_t spool_bytes; /* 0 = PUSH_SPOOL_BYTES */
	uint64_t wait_ns;     /* at the end of the session; see has_wait */
	bool has_wait;        /* otherwise PUSH_WAIT_NS */
	bool is_plain;        /* http may leave the machine */
	bool is_experimental; /* protocols that are not stable may be used */
	/* set by push_options_complete: the value of the header, "" = none */
	char authorization[PUSH_SECRET_MAX];
	bool is_direct; /* likewise: the server is on this machine */
};

#define PUSH_SPOOL_BYTES (256ull << 20)
#define PUSH_WAIT_NS 10000000000ull

/* Adds NAME=VALUE. NULL, or what is wrong with it. */
const char *push_options_add_label(struct push_options *options, const char *text);
/* pyroscope, parca or otlp */
must_check int push_options_parse_protocol(const char *text, enum push_protocol *out_protocol);
/* Whether the first `size` characters of a URL have the path of OTLP at their end. */
bool push_options_has_otlp_path(const char *url, size_t size);
/*
 * Checks what belongs together, chooses the protocol, and reads the secret with the rights of the
 * calling user. Removes the variable of the secret from the environment, so that no program that is
 * started inherits it. NULL, or what is wrong; *out_value: with what, or NULL.
 */
const char *push_options_complete(struct push_options *options, const char **out_value);

#endif
