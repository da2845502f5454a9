/* SPDX-License-Identifier: MIT */
/* call_addresses.c - see call_addresses.h. */
#include "call_addresses.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= ' ';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Reads one address with or without 0x, and moves the position behind it. */
static bool read_one(const char *text, size_t size, size_t *at, uint64_t *out_address)
{
	size_t digits = 0;

	if (size - *at > 2 && text[*at] == '0' && (text[*at + 1] | ' ') == 'x')
		*at += 2;
	*out_address = 0;
	for (int digit; *at < size && (digit = digit_of(text[*at])) >= 0; ++*at, digits++)
		*out_address = *out_address << 4 | (unsigned)digit;
	return digits && digits <= 2 * sizeof(*out_address);
}

int call_addresses_read(const char *text, size_t size, struct call_addresses *out)
{
	size_t room = 1, at = 0;
	int err = 0;

	*out = (struct call_addresses){0};
	while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	for (size_t i = 0; i < size; i++)
		room += text[i] == '+';
	out->address = malloc(room * sizeof(*out->address));
	if (!out->address)
		return -ENOMEM;
	while (at < size && !err) {
		if (!read_one(text, size, &at, &out->address[out->count]))
			err = -EINVAL;
		else if (at < size && (text[at] != '+' || ++at == size))
			err = -EINVAL;
		out->count++;
	}
	if (!err)
		return 0;
	free(out->address);
	*out = (struct call_addresses){0};
	return err;
}
