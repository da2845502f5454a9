/* SPDX-License-Identifier: MIT */
/* residency.c - see residency.h. */
#include "residency.h"

#include <string.h>

#define NOT_KNOWN "what is resident is not known: "

static const char *const texts[] = {
	[PROFILE_RESIDENCY_REFUSED] = NOT_KNOWN "/proc/PID/pagemap could not be read",
	[PROFILE_RESIDENCY_GONE] = NOT_KNOWN "the process had ended",
	[PROFILE_RESIDENCY_NO_MEMORY] = NOT_KNOWN "the analyzer had not enough memory",
	[PROFILE_RESIDENCY_TOO_FAR] =
		NOT_KNOWN "the sampled blocks lie in more than 1 TiB of address space",
};
#define TEXTS (sizeof(texts) / sizeof(*texts))

const char *residency_text(enum profile_residency residency)
{
	return (size_t)residency < TEXTS ? texts[residency] : NULL;
}

enum profile_residency residency_of(const char *text)
{
	for (size_t i = 0; i < TEXTS; i++)
		if (texts[i] && strcmp(texts[i], text) == 0)
			return (enum profile_residency)i;
	return PROFILE_RESIDENCY_UNKNOWN;
}
