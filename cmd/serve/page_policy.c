/* SPDX-License-Identifier: MIT */
/* page_policy.c - see page_policy.h. */
#include "page_policy.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sha2.h>

#include "hi_analyzer.h"
#include "live_page.h"

#define BASE64_SIZE (4u * ((SHA256_DIGEST_LENGTH + 2u) / 3u) + 1u)

static void base64(const uint8_t digest[SHA256_DIGEST_LENGTH], char text[BASE64_SIZE])
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *at = text;

	for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i += 3) {
		const unsigned have = SHA256_DIGEST_LENGTH - i;
		const uint32_t three = (uint32_t)digest[i] << 16 |
				       (have > 1 ? (uint32_t)digest[i + 1] << 8 : 0) |
				       (have > 2 ? digest[i + 2] : 0);

		*at++ = letters[three >> 18];
		*at++ = letters[three >> 12 & 63];
		*at++ = have > 1 ? letters[three >> 6 & 63] : '=';
		*at++ = have > 2 ? letters[three & 63] : '=';
	}
	*at = '\0';
}

static int hash(void (*write)(FILE *), char text[BASE64_SIZE])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX context;
	char *bytes = NULL;
	size_t size;
	FILE *stream = open_memstream(&bytes, &size);

	if (!stream)
		return -ENOMEM;
	write(stream);
	if (fclose(stream)) {
		free(bytes);
		return -ENOMEM;
	}
	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)bytes, size);
	SHA256Final(digest, &context);
	base64(digest, text);
	free(bytes);
	return 0;
}

static int make(const char *others, void (*script)(FILE *), void (*style)(FILE *), char *policy)
{
	char script_hash[BASE64_SIZE], style_hash[BASE64_SIZE];
	int err = hash(script, script_hash);

	if (!err)
		err = hash(style, style_hash);
	if (!err)
		snprintf(policy, SERVE_POLICY_MAX,
			 "%s; script-src 'sha256-%s'; style-src 'sha256-%s'", others, script_hash,
			 style_hash);
	return err;
}

int serve_policies_make(struct serve_policies *out_policies)
{
	const int err = make(SERVE_POLICY_BARE, hi_analyzer_page_script, hi_analyzer_page_style,
			     out_policies->report);

	return err ? err
		   : make(SERVE_POLICY_OTHERS
			  "connect-src 'self'; frame-src 'self'; frame-ancestors 'none'",
			  live_page_write_script, live_page_write_style, out_policies->live);
}
