/* SPDX-License-Identifier: MIT */
/*
 * go_rows.c - see go_rows.h.
 *
 * The table has a header of 8 words behind its magic number, a list of functions (offset of the
 * code, offset of what is known of the function), and for each function a list of pairs of numbers:
 * how much the distance of sp from its place at entry changes, and for how many bytes of code that
 * holds.
 */
#include "go_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "elf_section.h"
#include "elf_segment.h"

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define HEADER_BYTES 72u

/* The numbers of the words of the header, from byte 8 on. */
enum header_word { FUNCTION_COUNT, FILE_COUNT, TEXT, NAMES, UNITS, FILES, PAIRS, FUNCTIONS };

/* Offsets in what is known of a function; it ends with four bytes, of which the second are flags.
 */
enum { NAME_AT = 4, PAIRS_AT = 16, BYTES_1_18 = 40, BYTES_1_20 = 44 };
#define FLAG_TOP 1u      /* no function calls it */
#define FLAG_MOVES_SP 2u /* it sets sp to something of which the pairs know nothing */

struct reader {
	const struct go_code *code;
	uint64_t word[FUNCTIONS + 1];
	uint64_t text;
	size_t function_bytes;
	struct go_rows *rows;
	size_t capacity;
};

/* What the table says of one function. */
struct function {
	uint64_t lo, hi; /* up to the next one */
	const char *name;
	uint64_t pairs; /* offset in the table */
	uint8_t flags;
};

static uint32_t word32(const struct go_code *code, uint64_t at)
{
	uint32_t word;

	memcpy(&word, code->table + at, sizeof(word));
	return word;
}

static bool has(const struct go_code *code, uint64_t at, uint64_t bytes)
{
	return at <= code->table_size && bytes <= code->table_size - at;
}

static int read_header(struct reader *reader)
{
	const struct go_code *code = reader->code;
	const uint32_t magic = code->table_size < HEADER_BYTES ? 0 : word32(code, 0);

	/* instructions begin at any byte, addresses have eight */
	if ((magic != MAGIC_1_18 && magic != MAGIC_1_20) || code->table[6] != 1 ||
	    code->table[7] != 8)
		return -ENOENT;
	memcpy(reader->word, code->table + 8, sizeof(reader->word));
	reader->text = code->functions ? code->functions : reader->word[TEXT];
	reader->function_bytes = magic == MAGIC_1_18 ? BYTES_1_18 : BYTES_1_20;
	for (enum header_word i = NAMES; i <= FUNCTIONS; i++)
		if (reader->word[i] > code->table_size)
			return -EBADMSG;
	return reader->word[FUNCTION_COUNT] < code->table_size / 8 &&
			       has(code, reader->word[FUNCTIONS],
				   reader->word[FUNCTION_COUNT] * 8 + 4)
		       ? 0
		       : -EBADMSG;
}

static const char *name_at(const struct reader *reader, uint32_t offset)
{
	const uint64_t at = reader->word[NAMES] + offset;

	return at < reader->code->table_size &&
			       memchr(reader->code->table + at, 0, reader->code->table_size - at)
		       ? (const char *)reader->code->table + at
		       : "";
}

static bool read_function(const struct reader *reader, uint64_t number,
			  struct function *out_function)
{
	const struct go_code *code = reader->code;
	const uint64_t entry = reader->word[FUNCTIONS] + number * 8,
		       at = reader->word[FUNCTIONS] + word32(code, entry + 4);

	if (!has(code, at, reader->function_bytes))
		return false;
	*out_function = (struct function){
		.lo = reader->text + word32(code, entry),
		.hi = reader->text + word32(code, entry + 8),
		.name = name_at(reader, word32(code, at + NAME_AT)),
		.pairs = reader->word[PAIRS] + word32(code, at + PAIRS_AT),
		.flags = code->table[at + reader->function_bytes - 3],
	};
	return out_function->lo < out_function->hi;
}

/* Of seven bits each, the lowest first. False: it does not end. */
static bool read_number(const struct go_code *code, uint64_t *at, uint32_t *out_number)
{
	uint32_t number = 0;

	for (unsigned shift = 0; shift < 32 && *at < code->table_size; shift += 7) {
		const uint8_t byte = code->table[(*at)++];

		number |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out_number = number;
			return true;
		}
	}
	return false;
}

static int push(struct reader *reader, uint64_t pc, struct hi_unwind_row row)
{
	struct go_rows *rows = reader->rows;

	if (pc < reader->code->lo || pc >= reader->code->hi)
		return 0;
	row.pc = (uint32_t)(pc - reader->code->lo);
	while (rows->count && rows->row[rows->count - 1].pc >= row.pc)
		rows->count--;
	if (rows->count == reader->capacity) {
		const size_t capacity = reader->capacity ? 2 * reader->capacity : 1024;
		struct hi_unwind_row *grown = reallocarray(rows->row, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		rows->row = grown;
		reader->capacity = capacity;
	}
	rows->row[rows->count++] = row;
	return 0;
}

static const struct hi_unwind_row no_row = {.kind = HI_UNWIND_NONE},
				  end_row = {.kind = HI_UNWIND_END};

/* The frame of a function whose sp is so many bytes below its place at entry. */
static struct hi_unwind_row row_of(int64_t bytes)
{
	return bytes < 0 || bytes % 8 || bytes / 8 >= INT16_MAX
		       ? no_row
		       : (struct hi_unwind_row){.kind = HI_UNWIND_SP,
						.cfa = (int16_t)(bytes / 8 + 1)};
}

/* No pair has less than a byte of code, so that a damaged table is read within bounds. */
static int push_pairs(struct reader *reader, const struct function *function)
{
	uint64_t at = function->pairs, pc = function->lo;
	uint32_t change, bytes;
	int64_t distance = -1;
	int err = 0;

	while (!err && pc < function->hi && read_number(reader->code, &at, &change) &&
	       (change || pc == function->lo) && read_number(reader->code, &at, &bytes) && bytes) {
		distance += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
		err = push(reader, pc, row_of(distance));
		pc += bytes;
	}
	return !err && pc < function->hi ? push(reader, pc, no_row) : err;
}

/* A call after which the code gets sp from elsewhere. Walkers look up the byte before that. */
static int push_call(struct reader *reader, uint64_t after, const struct arch_stack_return *back)
{
	const bool is_other = back->kind == ARCH_STACK_OTHER;
	const struct hi_unwind_row row = {
		.kind = is_other ? HI_UNWIND_OTHER_STACK : HI_UNWIND_SPILLED,
		.cfa = is_other ? HI_UNWIND_PAIR(back->distance_word, back->owner_word)
				: HI_UNWIND_PAIR(back->distance_word, 1)};
	const int err = push(reader, after - 1, row);

	return err ? err : push(reader, after, no_row);
}

/* runtime.asmcgocall: sp is known after its calls only. */
static int push_calls(struct reader *reader, const struct function *function)
{
	const struct go_code *code = reader->code;
	struct arch_stack_return back;
	int err = push(reader, function->lo, no_row);

	for (uint64_t after = function->lo + 1; !err && after < function->hi; after++)
		if (arch_is_stack_return(code->code + (function->lo - code->lo),
					 function->hi - function->lo, after - function->lo, &back))
			err = push_call(reader, after, &back);
	return err;
}

/*
 * Go stores the address of this function as a return address where a goroutine waits for C, to mark
 * the place. Walkers look up the byte before it.
 */
static int push_mark(struct reader *reader, const struct function *function)
{
	int err = push(reader, function->lo - 1, row_of(0));

	return err ? err : push_pairs(reader, function);
}

/* Below these there is nothing on a thread's own stack. */
static bool is_bottom(const struct function *function)
{
	static const char *const name[] = {"runtime.systemstack", "runtime.mcall",
					   "runtime.morestack"};

	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (strcmp(function->name, name[i]) == 0)
			return true;
	return function->flags & FLAG_TOP;
}

static int push_function(struct reader *reader, const struct function *function)
{
	if (function->lo < reader->code->lo || function->hi > reader->code->hi)
		return 0;
	if (is_bottom(function))
		return push(reader, function->lo, end_row);
	if (strcmp(function->name, "runtime.asmcgocall") == 0)
		return push_calls(reader, function);
	if (strcmp(function->name, "runtime.systemstack_switch") == 0)
		return push_mark(reader, function);
	/* cgocallback sets sp, too, but finds a frame of the same size where it leads */
	if (function->flags & FLAG_MOVES_SP && strcmp(function->name, "runtime.cgocallback") != 0)
		return push(reader, function->lo, no_row);
	return push_pairs(reader, function);
}

int go_rows_make(const struct go_code *code, struct go_rows *out_rows)
{
	struct go_rows rows = {0};
	struct reader reader = {.code = code, .rows = &rows};
	struct function function = {.hi = code->lo};
	uint64_t last = 0;
	int err = read_header(&reader);

	for (uint64_t i = 0; !err && i < reader.word[FUNCTION_COUNT]; i++) {
		if (!read_function(&reader, i, &function) || function.lo < last)
			err = -EBADMSG;
		else
			err = push_function(&reader, &function);
		last = function.hi;
	}
	if (!err)
		err = push(&reader, function.hi, no_row);
	if (err) {
		go_rows_free(&rows);
		return err;
	}
	*out_rows = rows;
	return 0;
}

void go_rows_free(struct go_rows *rows)
{
	free(rows->row);
	*rows = (struct go_rows){0};
}

/* The word that the dynamic linker will put there, in the object's own addresses; 0 = none. */
static uint64_t relocated(Elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela rela;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
						 header.sh_flags & SHF_ALLOC
					 ? elf_getdata(section, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == address && !GELF_R_SYM(rela.r_info))
				return (uint64_t)rela.r_addend;
	}
	return 0;
}

/* The bytes of a section. */
static bool section_bytes(Elf *elf, const char *name, uint64_t *out_address,
			  const uint8_t **out_bytes, size_t *out_size)
{
	GElf_Shdr header;
	const void *bytes;

	if (!elf_section_find(elf, name, &header) || header.sh_size < HEADER_BYTES ||
	    elf_segment_bytes(elf, header.sh_addr, header.sh_size, &bytes) < 0)
		return false;
	*out_address = header.sh_addr;
	*out_bytes = bytes;
	*out_size = header.sh_size;
	return true;
}

static bool begins_here(const uint8_t *bytes, size_t size)
{
	const struct go_code code = {.table = bytes, .table_size = size};
	struct reader reader = {.code = &code};

	return read_header(&reader) == 0;
}

/*
 * In a program that may be loaded anywhere the linker of C puts the table among other constants:
 * it is what has the right header. The bytes are those that do not differ between versions.
 */
static bool find_among_constants(Elf *elf, uint64_t *address, const uint8_t **bytes, size_t *size)
{
	static const uint8_t middle[] = {0xff, 0xff, 0xff, 0, 0, 1, 8};
	GElf_Shdr header;

	if (!elf_section_find(elf, ".go.buildinfo", &header) ||
	    !section_bytes(elf, ".data.rel.ro", address, bytes, size))
		return false;
	for (size_t at = 1; at < *size; at++) {
		const uint8_t *found = memmem(*bytes + at, *size - at, middle, sizeof(middle));

		if (!found)
			return false;
		at = (size_t)(found - *bytes);
		if (begins_here(found - 1, *size - at + 1)) {
			*address += at - 1;
			*bytes += at - 1;
			*size -= at - 1;
			return true;
		}
	}
	return false;
}

int go_rows_find_table(const struct elf_image *image, struct go_code *out_code)
{
	uint64_t address;
	const uint8_t *bytes;
	size_t size;

	if (!section_bytes(image->elf, ".gopclntab", &address, &bytes, &size) &&
	    !section_bytes(image->elf, ".data.rel.ro.gopclntab", &address, &bytes, &size) &&
	    !find_among_constants(image->elf, &address, &bytes, &size))
		return -ENOENT;
	*out_code = (struct go_code){
		.table = bytes,
		.table_size = size,
		.functions = relocated(image->elf, address + 8 + 8 * TEXT),
	};
	return 0;
}
