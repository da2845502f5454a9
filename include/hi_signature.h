/* SPDX-License-Identifier: MIT */
/*
 * hi_signature.h - result and parameters of a function, as debug information has them: enough to
 * say whether an argument can be a size or a pointer, and in which register it is.
 *
 * Strings are terminated, and may be cut. All of it is what a file says that the target has chosen.
 */
#ifndef HI_SIGNATURE_H
#define HI_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#define HI_SIGNATURE_PARAMETERS 16u /* of more than these only the number is known */
#define HI_SIGNATURE_TEXT_MAX 64u

enum hi_parameter_kind {
	HI_PARAMETER_UNKNOWN, /* its type is not in this file, or makes no sense */
	HI_PARAMETER_NONE,    /* void */
	HI_PARAMETER_INTEGER, /* of at least four bytes */
	HI_PARAMETER_POINTER, /* or a reference */
	HI_PARAMETER_POINTER_TO_POINTER,
	HI_PARAMETER_WORD,  /* passed as an integer is, but is none: bool, char, an enumeration */
	HI_PARAMETER_OTHER, /* passed otherwise, so that it may shift what follows */
	HI_PARAMETER_STRUCTURE, /* or another aggregate: likewise, and it may be of any size */
};

struct hi_parameter {
	uint8_t kind;     /* enum hi_parameter_kind */
	uint8_t bytes;    /* of a base type */
	bool is_left_out; /* not passed: the compiler knew its value, or that it is not used */
	char name[HI_SIGNATURE_TEXT_MAX], type[HI_SIGNATURE_TEXT_MAX]; /* "" = it has none */
};

struct hi_signature {
	bool is_known, is_variadic;
	uint32_t count; /* of its parameters, that of `this` included */
	struct hi_parameter result, parameter[HI_SIGNATURE_PARAMETERS];
};

#endif
