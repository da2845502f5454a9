/* SPDX-License-Identifier: MIT */
/* token.c - see token.h. */
#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_BYTES 24u

static int complain(const char *file, const char *why)
{
	fprintf(stderr, "heapinject: the token in %s: %s\n",
		strcmp(file, "-") == 0 ? "standard input" : file, why);
	return -1;
}

static const char *check(const struct serve_token *token)
{
	const size_t size = strlen(token->text);

	for (size_t i = 0; i < size; i++)
		if (token->text[i] <= ' ' || token->text[i] > '~')
			return "it may have visible ASCII characters only";
	if (size < SERVE_TOKEN_MIN)
		return "it is too short; 16 characters at least";
	return size == SERVE_TOKEN_MAX ? "it is too long; 255 characters at most" : NULL;
}

int serve_token_read(const char *file, struct serve_token *out_token)
{
	const bool is_stdin = strcmp(file, "-") == 0;
	const int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const char *why = NULL;
	struct stat status;
	size_t size = 0;
	ssize_t got = 1;

	*out_token = (struct serve_token){{0}};
	if (fd < 0)
		return complain(file, strerror(errno));
	if (!is_stdin && (fstat(fd, &status) || (S_ISREG(status.st_mode) && status.st_mode & 0007)))
		why = "all users may read or write it; chmod o= it";
	while (!why && got > 0 && size < SERVE_TOKEN_MAX && !strchr(out_token->text, '\n')) {
		got = read(fd, out_token->text + size, SERVE_TOKEN_MAX - size);
		size += got > 0 ? (size_t)got : 0;
	}
	if (!why && got < 0)
		why = strerror(errno);
	if (!is_stdin)
		close(fd);
	out_token->text[strcspn(out_token->text, "\r\n")] = '\0';
	if (!why)
		why = check(out_token);
	return why ? complain(file, why) : 0;
}

int serve_token_make(struct serve_token *out_token)
{
	uint8_t bytes[RANDOM_BYTES];

	*out_token = (struct serve_token){{0}};
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out_token->text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool serve_token_is(const struct serve_token *token, const char *given)
{
	char padded[SERVE_TOKEN_MAX + 1] = "";
	volatile unsigned char difference = 0;

	const size_t size = given ? strnlen(given, SERVE_TOKEN_MAX + 1) : 0;
	if (!given || size > SERVE_TOKEN_MAX)
		return false;
	memcpy(padded, given, size);
	for (size_t i = 0; i <= SERVE_TOKEN_MAX; i++)
		difference |= (unsigned char)(padded[i] ^ token->text[i]);
	return difference == 0;
}
