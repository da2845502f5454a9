/* SPDX-License-Identifier: MIT */
/* token.h - the secret that a request has to know. It is printed once, when it is new. */
#ifndef HI_SERVE_TOKEN_H
#define HI_SERVE_TOKEN_H

#include <stdbool.h>

#include "must_check.h"

#define SERVE_TOKEN_MIN 16u
#define SERVE_TOKEN_MAX 256u

struct serve_token {
	char text[SERVE_TOKEN_MAX + 1]; /* "" = none is wanted */
};

/* Reads the first line of a file, or of standard input (-). Returns 0, or -1 and has said why. */
must_check int serve_token_read(const char *file, struct serve_token *out_token);
/* A random one. 0 or negative errno. */
must_check int serve_token_make(struct serve_token *out_token);
/* Takes as long whatever is given. given: NULL = nothing. */
bool serve_token_is(const struct serve_token *token, const char *given);

#endif
