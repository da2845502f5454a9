/* SPDX-License-Identifier: MIT */
/* hotspot_names.c - see hotspot_names.h. Start at hotspot_method_name(). */
#include "hotspot_names.h"

#include <errno.h>
#include <string.h>

#include "hi_wire.h"

#define POOL_LENGTH_MAX 65535u
#define DIMENSIONS_MAX 255

/* ---- as it is written ------------------------------------------------------------------------ */

struct writer {
	char *text;
	size_t size; /* without what ends it; at most HOTSPOT_NAME_MAX - 1 */
};

static void put(struct writer *writer, const char *text, size_t size)
{
	const size_t room = HOTSPOT_NAME_MAX - 1 - writer->size;

	size = size < room ? size : room;
	memcpy(writer->text + writer->size, text, size);
	writer->size += size;
	writer->text[writer->size] = 0;
}

/* A class, whose packages are separated by slashes. */
static void put_class(struct writer *writer, const char *class, size_t size)
{
	const size_t first = writer->size;

	put(writer, class, size);
	for (size_t i = first; i < writer->size; i++)
		if (writer->text[i] == '/')
			writer->text[i] = '.';
}

static const char *primitive(char letter)
{
	static const struct {
		char letter;
		const char *name;
	} all[] = {{'B', "byte"}, {'C', "char"},  {'D', "double"},  {'F', "float"}, {'I', "int"},
		   {'J', "long"}, {'S', "short"}, {'Z', "boolean"}, {'V', "void"}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].letter == letter)
			return all[i].name;
	return NULL;
}

/* Writes the type at *at, and passes it. False: there is none. */
static bool put_type(struct writer *writer, const char **at)
{
	const char *type = *at, *end;
	int dimensions = 0;

	for (; *type == '[' && dimensions < DIMENSIONS_MAX; type++)
		dimensions++;
	if (*type == 'L' && (end = strchr(type, ';'))) {
		put_class(writer, type + 1, (size_t)(end - type - 1));
		*at = end + 1;
	} else if (*type && primitive(*type)) {
		put(writer, primitive(*type), strlen(primitive(*type)));
		*at = type + 1;
	} else {
		return false;
	}
	while (dimensions--)
		put(writer, "[]", 2);
	return true;
}

bool hotspot_name_format(const char *class, const char *method, const char *signature,
			 char name[HOTSPOT_NAME_MAX])
{
	struct writer writer = {.text = name};
	const char *result = strchr(signature, ')'), *at = signature + 1;
	const char *separator = "";

	if (*signature != '(' || !result++ || !put_type(&writer, &result) || *result)
		return false;
	put(&writer, " ", 1);
	put_class(&writer, class, strlen(class));
	put(&writer, ".", 1);
	put(&writer, method, strlen(method));
	put(&writer, "(", 1);
	while (*at != ')') {
		put(&writer, separator, strlen(separator));
		if (!put_type(&writer, &at))
			return false;
		separator = ", ";
	}
	put(&writer, ")", 1);
	return true;
}

/* ---- as it is read --------------------------------------------------------------------------- */

static const enum hotspot_field needed[] = {
	HOTSPOT_METHOD_CONST,    HOTSPOT_CONST_POOL,    HOTSPOT_CONST_NAME,
	HOTSPOT_CONST_SIGNATURE, HOTSPOT_POOL_HOLDER,   HOTSPOT_POOL_LENGTH,
	HOTSPOT_KLASS_NAME,      HOTSPOT_SYMBOL_LENGTH, HOTSPOT_SYMBOL_BODY,
};

struct reader {
	const struct hotspot_layout *layout;
	const struct memory *memory;
	struct hotspot_trail trail;
};

static uint64_t hash_more(uint64_t hash, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = ((hash ^ hash >> 29) ^ bytes[i]) * HI_HASH;
	return hash;
}

static int read_bytes(struct reader *reader, remote_addr at, void *into, size_t size)
{
	struct hotspot_trail *trail = &reader->trail;
	const int err = trail->count < HOTSPOT_READS_MAX
				? memory_read(reader->memory, at, into, size)
				: -EPROTO;

	if (err)
		return err;
	trail->at[trail->count] = at;
	trail->size[trail->count++] = (uint32_t)size;
	trail->hash = hash_more(trail->hash, into, size);
	return 0;
}

static int read_field(struct reader *reader, remote_addr structure, enum hotspot_field field,
		      uint64_t *out_number)
{
	uint64_t number = 0;
	const int err = read_bytes(reader, structure + reader->layout->field[field].at, &number,
				   reader->layout->field[field].size);

	if (!err)
		*out_number = number;
	return err;
}

/* A name has no control characters, and ends where it is said to. */
static int read_symbol(struct reader *reader, remote_addr symbol, char text[HOTSPOT_NAME_MAX])
{
	uint64_t length = 0;
	int err = read_field(reader, symbol, HOTSPOT_SYMBOL_LENGTH, &length);

	if (!err && (!length || length >= HOTSPOT_NAME_MAX))
		err = -EPROTO;
	if (!err)
		err = read_bytes(reader, symbol + reader->layout->field[HOTSPOT_SYMBOL_BODY].at,
				 text, length);
	if (err)
		return err;
	text[length] = 0;
	for (uint64_t i = 0; i < length; i++)
		if ((uint8_t)text[i] <= ' ' || text[i] == 0x7f)
			return -EPROTO;
	return 0;
}

/* The symbol that an entry of a constant pool refers to. */
static int read_entry(struct reader *reader, remote_addr pool, uint64_t index,
		      char text[HOTSPOT_NAME_MAX])
{
	uint64_t length = 0;
	remote_addr symbol = 0;
	int err = read_field(reader, pool, HOTSPOT_POOL_LENGTH, &length);

	if (!err && (length > POOL_LENGTH_MAX || index >= length))
		err = -EPROTO;
	if (!err)
		err = read_bytes(reader, pool + reader->layout->pool_size + index * sizeof(symbol),
				 &symbol, sizeof(symbol));
	return err ? err : read_symbol(reader, symbol, text);
}

int hotspot_method_follow(const struct hotspot_layout *layout, const struct memory *memory,
			  remote_addr method, char name[HOTSPOT_NAME_MAX],
			  struct hotspot_trail *out_trail)
{
	struct reader reader = {.layout = layout, .memory = memory};
	char class[HOTSPOT_NAME_MAX], own[HOTSPOT_NAME_MAX], signature[HOTSPOT_NAME_MAX];
	uint64_t constant = 0, pool = 0, holder = 0, symbol = 0, number = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!hotspot_has(layout, needed[i]))
			return -ENOTSUP;
	int err = read_field(&reader, method, HOTSPOT_METHOD_CONST, &constant);

	if (!err)
		err = read_field(&reader, constant, HOTSPOT_CONST_POOL, &pool);
	if (!err)
		err = read_field(&reader, constant, HOTSPOT_CONST_NAME, &number);
	if (!err)
		err = read_entry(&reader, pool, number, own);
	if (!err)
		err = read_field(&reader, constant, HOTSPOT_CONST_SIGNATURE, &number);
	if (!err)
		err = read_entry(&reader, pool, number, signature);
	if (!err)
		err = read_field(&reader, pool, HOTSPOT_POOL_HOLDER, &holder);
	if (!err)
		err = read_field(&reader, holder, HOTSPOT_KLASS_NAME, &symbol);
	if (!err)
		err = read_symbol(&reader, symbol, class);
	if (!err && !hotspot_name_format(class, own, signature, name))
		err = -EPROTO;
	if (!err)
		*out_trail = reader.trail;
	return err;
}

int hotspot_method_name(const struct hotspot_layout *layout, const struct memory *memory,
			remote_addr method, char name[HOTSPOT_NAME_MAX])
{
	struct hotspot_trail trail;

	return hotspot_method_follow(layout, memory, method, name, &trail);
}

bool hotspot_trail_holds(const struct hotspot_trail *trail, const struct memory *memory)
{
	uint8_t bytes[HOTSPOT_READS_MAX][HOTSPOT_NAME_MAX];
	struct memory_piece piece[HOTSPOT_READS_MAX];
	uint64_t hash = 0;

	for (uint32_t i = 0; i < trail->count; i++)
		piece[i] = (struct memory_piece){
			.from = trail->at[i], .into = bytes[i], .size = trail->size[i]};
	if (memory_read_pieces(memory, piece, trail->count))
		return false;
	for (uint32_t i = 0; i < trail->count; i++) {
		if (!piece[i].is_read)
			return false;
		hash = hash_more(hash, bytes[i], trail->size[i]);
	}
	return hash == trail->hash;
}
