/* SPDX-License-Identifier: MIT */
/*
 * unpack_test.c - compressed files are read as what is in them; damage, cuts and bombs end with a
 * message.
 */
#include "read_file.h"

#include <zlib.h>
#include <zstd.h>

#include "unpack.h"

#define TEXT "main;serve;malloc 4096\nmain;serve;parse 12\n"

static size_t pack_gzip(const void *bytes, size_t size, uint8_t *to, size_t room)
{
	z_stream stream = {.next_in = (uint8_t *)(uintptr_t)bytes,
			   .avail_in = (uInt)size,
			   .next_out = to,
			   .avail_out = (uInt)room};

	CHECK_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

static size_t pack_zstd(const void *bytes, size_t size, uint8_t *to, size_t room)
{
	const size_t packed = ZSTD_compress(to, room, bytes, size, 3);

	CHECK(!ZSTD_isError(packed));
	return packed;
}

typedef size_t (*packer)(const void *bytes, size_t size, uint8_t *to, size_t room);
static const packer packers[] = {pack_gzip, pack_zstd};

UNIT_TEST(both_kinds_and_several_in_a_row)
{
	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
		uint8_t packed[1024];
		struct profile profile;
		size_t size = packers[i](TEXT, strlen(TEXT), packed, sizeof(packed));

		CHECK_EQ(read_bytes(packed, size, &profile), 0);
		CHECK(profile.meta.damage == NULL);
		CHECK(total_of(&profile, INUSE_SPACE) == 4108);
		profile_close(&profile);
		size += packers[i](TEXT, strlen(TEXT), packed + size, sizeof(packed) - size);
		CHECK_EQ(read_bytes(packed, size, &profile), 0);
		CHECK(profile.meta.damage == NULL);
		CHECK(total_of(&profile, INUSE_SPACE) == 8216);
		profile_close(&profile);
	}
}

UNIT_TEST(every_cut_is_named)
{
	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
		uint8_t packed[1024];
		const size_t size = packers[i](TEXT, strlen(TEXT), packed, sizeof(packed));

		for (size_t cut = 4; cut < size; cut++) {
			struct profile profile;
			const int err = read_bytes(packed, cut, &profile);

			CHECK(err == 0 || err == -EBADMSG);
			CHECK(strstr(profile.meta.damage, "the compressed data is cut off") !=
			      NULL);
			profile_close(&profile);
		}
		check_damage_anywhere(packed, size);
	}
}

UNIT_TEST(damage_is_named)
{
	uint8_t packed[1024];
	const size_t size = pack_gzip(TEXT, strlen(TEXT), packed, sizeof(packed));
	struct profile profile;

	packed[size - 8] ^= 1; /* the checksum */
	CHECK_EQ(read_bytes(packed, size, &profile), 0);
	CHECK(strstr(profile.meta.damage, "the compressed data is damaged") != NULL);
	CHECK(total_of(&profile, INUSE_SPACE) == 4108);
	profile_close(&profile);
}

/* Spaces, 512 MiB of them, in zstd: an eighth of a kilobyte for each MiB. */
UNIT_SLOW_TEST(a_bomb_ends_with_a_message)
{
	const size_t size = 512u << 20, room = 1 << 20;
	char *bytes = malloc(size);
	uint8_t *packed = malloc(room);
	struct profile profile;

	CHECK(bytes && packed);
	memset(bytes, ' ', size);
	memcpy(bytes, TEXT, strlen(TEXT));
	const size_t packed_size = pack_zstd(bytes, size, packed, room);
	free(bytes);
	CHECK(packed_size * UNPACK_RATIO_MAX + UNPACK_FREE < size);
	CHECK_EQ(read_bytes(packed, packed_size, &profile), 0);
	CHECK(strstr(profile.meta.damage, "line is too long") ||
	      strstr(profile.meta.damage, "unpacks to more than any profile would"));
	profile_close(&profile);
	free(packed);
}

UNIT_MAIN()
