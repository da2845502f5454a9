/* SPDX-License-Identifier: MIT */
/*
 * reader_fuzz.c - any file: unpacked if it is compressed, recognized, and read by the reader that
 * recognizes it.
 *
 * libFuzzer: -max_len=4096
 */
#include "read_check.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile profile;

	FUZZ_CHECK(!profile_open(&profile));
	const int err = reader_read(fuzz_file(data, size), &profile);
	FUZZ_CHECK(err == 0 || err == -ENODATA || err == -ENOEXEC || err == -EBADMSG);
	FUZZ_CHECK(err != -EBADMSG || profile.meta.damage || !size);
	if (!err)
		check_indices(&profile);
	profile_close(&profile);
	return 0;
}
