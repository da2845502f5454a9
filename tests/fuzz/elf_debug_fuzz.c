/* SPDX-License-Identifier: MIT */
/*
 * elf_debug_fuzz.c - what the injector reads of a stripped object's symbols: a separate debug file,
 * the section that names it, and packed mini debug information. The first byte says which.
 *
 * libFuzzer: -max_len=16384
 */
#include "elf_debug.h"
#include "elf_symbols.h"
#include "fuzz.h"
#include "hi_debug_files.h"

#define BIAS 0x7f0000000000u
#define CODE_LO 0x1000u
#define CODE_HI 0x800000u
#define SYMBOLS_ROOM (1u << 20)
#define UNPACKED_ROOM (256u << 10)

static void check_function(void *context, const struct elf_function *function)
{
	size_t *longest = context;
	const size_t length = strlen(function->name);

	FUZZ_CHECK(function->address >= BIAS + CODE_LO && function->address < BIAS + CODE_HI);
	FUZZ_CHECK(!function->is_exported);
	*longest = length > *longest ? length : *longest;
}

/* The symbols of the file count for an object that has code at some place. */
static void use_file(const uint8_t *data, size_t size)
{
	struct elf_text text = {.lo = BIAS + CODE_LO, .hi = BIAS + CODE_HI};
	struct elf_image image = {.fd = -1, .bias = BIAS, .text = &text, .text_count = 1};
	size_t room = SYMBOLS_ROOM, longest = 0;
	const int fd = fuzz_file(data, size);

	image.debug.elf = elf_file_open(fd);
	image.debug.fd = fd;
	if (!image.debug.elf)
		return;
	FUZZ_CHECK(elf_file_build_id(image.debug.elf).size <= BUILD_ID_MAX);
	FUZZ_CHECK(elf_debug_has_symbols(&image));
	elf_symbols_visit(&image, &room, check_function, &longest);
	FUZZ_CHECK(room <= SYMBOLS_ROOM && longest <= size);
	elf_end(image.debug.elf);
}

static void use_link(const uint8_t *data, size_t size)
{
	char *section = fuzz_text(data, size);
	uint32_t crc = 0;
	const char *name = hi_debug_link(section, size, &crc);

	FUZZ_CHECK(!name || (name == section && strlen(name) + sizeof(crc) < size));
	(void)hi_debug_crc_matches(fuzz_file(data, size), crc, size);
	free(section);
}

static void use_packed(const uint8_t *data, size_t size)
{
	static uint8_t unpacked[UNPACKED_ROOM];
	size_t room = sizeof(unpacked);

	if (!hi_mini_debug_unpack(data, size, NULL, unpacked, &room)) {
		FUZZ_CHECK(room <= sizeof(unpacked));
		use_file(unpacked, room);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	switch (fuzz_take(&data, &size, 1) % 3) {
	case 0:
		use_file(data, size);
		break;
	case 1:
		use_link(data, size);
		break;
	default:
		use_packed(data, size);
	}
	return 0;
}
