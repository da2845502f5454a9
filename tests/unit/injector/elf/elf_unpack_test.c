/* SPDX-License-Identifier: MIT */
/* elf_unpack_test.c - what is packed comes back, and nothing that is not. */
#include "elf_unpack.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "unit.h"

#define OFFSET 100u
#define LARGE (65u << 20)

static const struct elf_unpack_room plenty = {.bytes = 256u << 20, .ms = 5000};

/* A file that has these bytes, packed, at OFFSET. */
static int packed_file(const void *bytes, size_t size, size_t *out_packed)
{
	static uint8_t packed[1u << 20];
	const int fd = memfd_create("packed", MFD_CLOEXEC);

	*out_packed = 0;
	CHECK_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, bytes, size, packed, out_packed,
					 sizeof(packed)),
		 LZMA_OK);
	CHECK_EQ(pwrite(fd, packed, *out_packed, OFFSET), (ssize_t)*out_packed);
	return fd;
}

UNIT_TEST(what_was_packed_comes_back)
{
	struct elf_unpack_room room = plenty;
	char text[5000], back[sizeof(text) + 1];
	size_t packed;
	int fd, unpacked;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * i / 7);
	fd = packed_file(text, sizeof(text), &packed);
	CHECK_EQ(elf_unpack(fd, OFFSET, packed, &room, &unpacked), 0);
	CHECK_EQ(pread(unpacked, back, sizeof(back), 0), (ssize_t)sizeof(text));
	CHECK(memcmp(text, back, sizeof(text)) == 0);
	CHECK_EQ(room.bytes, plenty.bytes - sizeof(text));
	close(unpacked);
	close(fd);
}

UNIT_TEST(damage_is_no_data)
{
	struct elf_unpack_room room = plenty;
	size_t packed;
	const int fd = packed_file("text", 5, &packed);
	int unpacked = -7;

	CHECK_EQ(elf_unpack(fd, OFFSET, packed - 1, &room, &unpacked), -ENOENT);
	CHECK_EQ(elf_unpack(fd, OFFSET + 1, packed, &room, &unpacked), -ENOENT);
	CHECK_EQ(elf_unpack(fd, OFFSET, 0, &room, &unpacked), -ENOENT);
	CHECK_EQ(elf_unpack(fd, OFFSET, UINT64_MAX, &room, &unpacked), -ENOENT);
	CHECK_EQ(elf_unpack(fd, UINT64_MAX, packed, &room, &unpacked), -ENOENT);
	CHECK_EQ(elf_unpack(-1, OFFSET, packed, &room, &unpacked), -ENOENT);
	CHECK_EQ(unpacked, -7);
	CHECK_EQ(room.bytes, plenty.bytes);
	close(fd);
}

/* A few kilobytes may stand for as much as one likes. */
UNIT_TEST(what_would_be_too_large_is_left_out)
{
	char *nothing = calloc(1, LARGE);
	struct elf_unpack_room room = plenty;
	size_t packed;
	int unpacked, fd = packed_file(nothing, LARGE, &packed);

	CHECK_EQ(elf_unpack(fd, OFFSET, packed, &room, &unpacked), -ENOENT);
	close(fd);
	fd = packed_file(nothing, 1u << 20, &packed);
	room.bytes = 1u << 19;
	CHECK_EQ(elf_unpack(fd, OFFSET, packed, &room, &unpacked), -ENOENT);
	room.bytes = 0;
	CHECK_EQ(elf_unpack(fd, OFFSET, packed, &room, &unpacked), -ENOENT);
	room = (struct elf_unpack_room){.bytes = plenty.bytes, .ms = 0};
	CHECK_EQ(elf_unpack(fd, OFFSET, packed, &room, &unpacked), -ENOENT);
	close(fd);
	free(nothing);
}

UNIT_MAIN()
