/* SPDX-License-Identifier: MIT */
/* hotspot_layout.c - see hotspot_layout.h. Start at hotspot_layout_read(). */
#include "hotspot_layout.h"

#include <errno.h>
#include <string.h>

#define TEXT_MAX 64u
#define STRIDE_MAX 256u
#define ENTRIES_MAX 8192u /* three times as many as a JVM describes */
#define OFFSET_MAX 4096u  /* of a field: no structure that is read here is larger */

static const struct {
	const char *type, *field;
} wanted[HOTSPOT_FIELD_COUNT] = {
	[HOTSPOT_HEAPS] = {"CodeCache", "_heaps"},
	[HOTSPOT_ONE_HEAP] = {"CodeCache", "_heap"},
	[HOTSPOT_ARRAY_LENGTH] = {"GrowableArrayBase", "_len"},
	[HOTSPOT_ARRAY_LENGTH_OF_9] = {"GenericGrowableArray", "_len"},
	[HOTSPOT_ARRAY_DATA] = {"GrowableArray<int>", "_data"},
	[HOTSPOT_HEAP_MEMORY] = {"CodeHeap", "_memory"},
	[HOTSPOT_HEAP_SEGMENTS] = {"CodeHeap", "_segmap"},
	[HOTSPOT_SEGMENT_BITS] = {"CodeHeap", "_log2_segment_size"},
	[HOTSPOT_SPACE_LOW] = {"VirtualSpace", "_low"},
	[HOTSPOT_SPACE_HIGH] = {"VirtualSpace", "_high"},
	[HOTSPOT_SPACE_END] = {"VirtualSpace", "_high_boundary"},
	[HOTSPOT_BLOCK_HEADER] = {"HeapBlock", "_header"},
	[HOTSPOT_BLOCK_LENGTH] = {"HeapBlock::Header", "_length"},
	[HOTSPOT_BLOCK_USED] = {"HeapBlock::Header", "_used"},
	[HOTSPOT_CALL_STUB_RETURN] = {"StubRoutines", "_call_stub_return_address"},
	[HOTSPOT_BLOB_NAME] = {"CodeBlob", "_name"},
	[HOTSPOT_BLOB_SIZE] = {"CodeBlob", "_size"},
	[HOTSPOT_BLOB_COMPLETE] = {"CodeBlob", "_frame_complete_offset"},
	[HOTSPOT_BLOB_FRAME] = {"CodeBlob", "_frame_size"},
	[HOTSPOT_BLOB_CODE] = {"CodeBlob", "_code_begin"},
	[HOTSPOT_BLOB_CODE_END] = {"CodeBlob", "_code_end"},
	[HOTSPOT_BLOB_CODE_OFFSET] = {"CodeBlob", "_code_offset"},
	[HOTSPOT_BLOB_DATA_OFFSET] = {"CodeBlob", "_data_offset"},
	[HOTSPOT_COMPILED_METHOD] = {"nmethod", "_method"},
	[HOTSPOT_COMPILED_METHOD_OF_9] = {"CompiledMethod", "_method"},
	[HOTSPOT_METHOD_CONST] = {"Method", "_constMethod"},
	[HOTSPOT_CONST_POOL] = {"ConstMethod", "_constants"},
	[HOTSPOT_CONST_NAME] = {"ConstMethod", "_name_index"},
	[HOTSPOT_CONST_SIGNATURE] = {"ConstMethod", "_signature_index"},
	[HOTSPOT_POOL_HOLDER] = {"ConstantPool", "_pool_holder"},
	[HOTSPOT_POOL_LENGTH] = {"ConstantPool", "_length"},
	[HOTSPOT_KLASS_NAME] = {"Klass", "_name"},
	[HOTSPOT_SYMBOL_LENGTH] = {"Symbol", "_length"},
	[HOTSPOT_SYMBOL_BODY] = {"Symbol", "_body"},
	[HOTSPOT_COUNTERS] = {"PerfMemory", "_start"},
	[HOTSPOT_COUNTERS_USED] = {"PerfDataPrologue", "used"},
	[HOTSPOT_COUNTERS_FIRST] = {"PerfDataPrologue", "entry_offset"},
	[HOTSPOT_COUNTER_LENGTH] = {"PerfDataEntry", "entry_length"},
	[HOTSPOT_COUNTER_NAME] = {"PerfDataEntry", "name_offset"},
	[HOTSPOT_COUNTER_VALUE] = {"PerfDataEntry", "data_offset"},
};

/* What frames cannot be read without. */
static const enum hotspot_field needed[] = {
	HOTSPOT_HEAP_MEMORY, HOTSPOT_HEAP_SEGMENTS,    HOTSPOT_SEGMENT_BITS, HOTSPOT_SPACE_LOW,
	HOTSPOT_SPACE_HIGH,  HOTSPOT_SPACE_END,        HOTSPOT_BLOCK_HEADER, HOTSPOT_BLOCK_LENGTH,
	HOTSPOT_BLOCK_USED,  HOTSPOT_BLOB_NAME,        HOTSPOT_BLOB_SIZE,    HOTSPOT_BLOB_COMPLETE,
	HOTSPOT_BLOB_FRAME,  HOTSPOT_CALL_STUB_RETURN,
};

/* One of the tables: an array of entries that ends with one that has no name. */
struct table {
	const struct memory *memory;
	remote_addr at;
	uint64_t stride;
	uint64_t left;
	uint8_t entry[STRIDE_MAX];
};

static int variable(const struct elf_image *libjvm, const struct memory *memory, const char *name,
		    uint64_t *out_value)
{
	remote_addr address;
	const int err = elf_image_symbol(libjvm, name, &address, NULL);

	return err ? err : memory_read_u64(memory, address, out_value);
}

/* The offsets in an entry are at most so large that a word fits behind them. */
static int offsets(const struct elf_image *libjvm, const struct memory *memory,
		   const char *const names[], size_t count, uint64_t *out_offsets)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		err = variable(libjvm, memory, names[i], &out_offsets[i]);
		if (!err && out_offsets[i] > STRIDE_MAX - sizeof(uint64_t))
			err = -ENOTSUP;
	}
	return err;
}

static int table_open(const struct elf_image *libjvm, const struct memory *memory, const char *name,
		      const char *stride, struct table *table)
{
	*table = (struct table){.memory = memory, .left = ENTRIES_MAX};
	int err = variable(libjvm, memory, name, &table->at);

	if (!err)
		err = variable(libjvm, memory, stride, &table->stride);
	return !err && (!table->stride || table->stride > STRIDE_MAX) ? -ENOTSUP : err;
}

/* 1: the next entry is there; 0: there is no more; or a negative errno. */
static int table_next(struct table *table, uint64_t name_offset)
{
	uint64_t name;

	if (!table->left--)
		return -ENOTSUP;
	const int err = memory_read(table->memory, table->at, table->entry, table->stride);

	if (err)
		return err;
	table->at += table->stride;
	memcpy(&name, table->entry + name_offset, sizeof(name));
	return name != 0;
}

static uint64_t word_at(const struct table *table, uint64_t offset)
{
	uint64_t word;

	memcpy(&word, table->entry + offset, sizeof(word));
	return word;
}

/* A string that an entry refers to; what is longer is cut off. */
static int text_at(const struct table *table, uint64_t offset, char text[TEXT_MAX])
{
	const remote_addr at = word_at(table, offset);
	const size_t to_page = 4096 - at % 4096, first = to_page < TEXT_MAX ? to_page : TEXT_MAX;

	memset(text, 0, TEXT_MAX);
	if (!at)
		return 0;
	int err = memory_read(table->memory, at, text, first);

	if (!err && first < TEXT_MAX && !memchr(text, 0, first))
		err = memory_read(table->memory, at + first, text + first, TEXT_MAX - first);
	text[TEXT_MAX - 1] = 0;
	return err;
}

/* Types of numbers that versions have used; all others that are read have 8 bytes. */
static uint8_t size_of(const char *type)
{
	static const struct {
		const char *type;
		uint8_t size;
	} known[] = {{"bool", 1},     {"u1", 1},   {"u2", 2},          {"int16_t", 2},
		     {"uint16_t", 2}, {"int", 4},  {"u4", 4},          {"int32_t", 4},
		     {"uint32_t", 4}, {"jint", 4}, {"unsigned int", 4}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type))
			return known[i].size;
	return sizeof(uint64_t); /* pointers, size_t, and structures, which are not read as one */
}

static bool is_type_wanted(const char *type)
{
	for (size_t i = 0; i < HOTSPOT_FIELD_COUNT; i++)
		if (!strcmp(type, wanted[i].type))
			return true;
	return false;
}

enum { TYPE_NAME, FIELD_NAME, TYPE_STRING, IS_STATIC, OFFSET, ADDRESS, STRUCT_COLUMNS };

static void note_field(const struct table *table, const uint64_t column[STRUCT_COLUMNS],
		       const char *type, const char *field, struct hotspot_layout *layout)
{
	const bool is_static = table->entry[column[IS_STATIC]];
	char number[TEXT_MAX];

	for (size_t i = 0; i < HOTSPOT_FIELD_COUNT; i++) {
		if (strcmp(type, wanted[i].type) != 0 || strcmp(field, wanted[i].field) != 0 ||
		    text_at(table, column[TYPE_STRING], number))
			continue;
		layout->field[i].at = word_at(table, column[is_static ? ADDRESS : OFFSET]);
		layout->field[i].size = size_of(number);
		layout->field[i].is_known = is_static || layout->field[i].at < OFFSET_MAX;
	}
}

static int read_fields(const struct elf_image *libjvm, const struct memory *memory,
		       struct hotspot_layout *layout)
{
	static const char *const names[STRUCT_COLUMNS] = {
		"gHotSpotVMStructEntryTypeNameOffset",   "gHotSpotVMStructEntryFieldNameOffset",
		"gHotSpotVMStructEntryTypeStringOffset", "gHotSpotVMStructEntryIsStaticOffset",
		"gHotSpotVMStructEntryOffsetOffset",     "gHotSpotVMStructEntryAddressOffset"};
	uint64_t column[STRUCT_COLUMNS];
	char type[TEXT_MAX], field[TEXT_MAX];
	struct table table;
	int more = 0, err = table_open(libjvm, memory, "gHotSpotVMStructs",
				       "gHotSpotVMStructEntryArrayStride", &table);

	if (!err)
		err = offsets(libjvm, memory, names, STRUCT_COLUMNS, column);
	while (!err && (more = table_next(&table, column[TYPE_NAME])) > 0) {
		err = text_at(&table, column[TYPE_NAME], type);
		if (err || !is_type_wanted(type))
			continue;
		err = text_at(&table, column[FIELD_NAME], field);
		if (!err)
			note_field(&table, column, type, field, layout);
	}
	return err ? err : more;
}

static int read_sizes(const struct elf_image *libjvm, const struct memory *memory,
		      struct hotspot_layout *layout)
{
	static const char *const names[] = {"gHotSpotVMTypeEntryTypeNameOffset",
					    "gHotSpotVMTypeEntrySizeOffset"};
	uint64_t column[2];
	char type[TEXT_MAX];
	struct table table;
	int more = 0, err = table_open(libjvm, memory, "gHotSpotVMTypes",
				       "gHotSpotVMTypeEntryArrayStride", &table);

	if (!err)
		err = offsets(libjvm, memory, names, 2, column);
	while (!err && (more = table_next(&table, column[0])) > 0) {
		err = text_at(&table, column[0], type);
		if (!err && !strcmp(type, "HeapBlock"))
			layout->block_size = word_at(&table, column[1]);
		if (!err && !strcmp(type, "ConstantPool"))
			layout->pool_size = word_at(&table, column[1]);
	}
	return err ? err : more;
}

/*
 * Which word of an interpreted frame is its Method is not described. On all CPUs it is the one
 * below that of last_sp, and the JVM's own debugger (SA) reckons like that.
 */
static int8_t method_below(int32_t last_sp)
{
	return last_sp < 0 && last_sp > INT8_MIN ? (int8_t)(last_sp - 1) : 0;
}

static int read_constants(const struct elf_image *libjvm, const struct memory *memory,
			  struct hotspot_layout *layout)
{
	static const char *const names[] = {"gHotSpotVMIntConstantEntryNameOffset",
					    "gHotSpotVMIntConstantEntryValueOffset"};
	uint64_t column[2];
	char name[TEXT_MAX];
	struct table table;
	int32_t value;
	int more = 0, err = table_open(libjvm, memory, "gHotSpotVMIntConstants",
				       "gHotSpotVMIntConstantEntryArrayStride", &table);

	if (!err)
		err = offsets(libjvm, memory, names, 2, column);
	while (!err && (more = table_next(&table, column[0])) > 0) {
		err = text_at(&table, column[0], name);
		memcpy(&value, table.entry + column[1], sizeof(value));
		if (!err && !strcmp(name, "frame::interpreter_frame_sender_sp_offset"))
			layout->sender_sp = value;
		if (!err && !strcmp(name, "frame::interpreter_frame_last_sp_offset"))
			layout->method_slot = method_below(value);
	}
	return err ? err : more;
}

/* Fields that newer versions have elsewhere. */
static void choose(struct hotspot_layout *layout, enum hotspot_field field,
		   enum hotspot_field other)
{
	if (!layout->field[field].is_known)
		layout->field[field] = layout->field[other];
}

static bool is_whole(const struct hotspot_layout *layout)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!hotspot_has(layout, needed[i]))
			return false;
	return (hotspot_has(layout, HOTSPOT_ONE_HEAP) ||
		(hotspot_has(layout, HOTSPOT_HEAPS) && hotspot_has(layout, HOTSPOT_ARRAY_LENGTH) &&
		 hotspot_has(layout, HOTSPOT_ARRAY_DATA))) &&
	       ((hotspot_has(layout, HOTSPOT_BLOB_CODE) &&
		 hotspot_has(layout, HOTSPOT_BLOB_CODE_END)) ||
		(hotspot_has(layout, HOTSPOT_BLOB_CODE_OFFSET) &&
		 hotspot_has(layout, HOTSPOT_BLOB_DATA_OFFSET))) &&
	       layout->block_size && layout->block_size <= OFFSET_MAX &&
	       layout->sender_sp == HOTSPOT_SENDER_SP;
}

int hotspot_layout_read(const struct elf_image *libjvm, const struct memory *memory,
			struct hotspot_layout *out_layout)
{
	struct hotspot_layout layout = {.sender_sp = 0};
	int err = read_fields(libjvm, memory, &layout);

	if (!err)
		err = read_sizes(libjvm, memory, &layout);
	if (!err)
		err = read_constants(libjvm, memory, &layout);
	if (err)
		return err;
	choose(&layout, HOTSPOT_ARRAY_LENGTH, HOTSPOT_ARRAY_LENGTH_OF_9);
	choose(&layout, HOTSPOT_COMPILED_METHOD, HOTSPOT_COMPILED_METHOD_OF_9);
	if (!is_whole(&layout))
		return -ENOTSUP;
	*out_layout = layout;
	return 0;
}

uint64_t hotspot_number(const struct hotspot_layout *layout, enum hotspot_field field,
			const uint8_t *bytes)
{
	uint64_t number = 0;

	memcpy(&number, bytes + layout->field[field].at, layout->field[field].size);
	return number;
}

int hotspot_read(const struct hotspot_layout *layout, const struct memory *memory,
		 remote_addr structure, enum hotspot_field field, uint64_t *out_number)
{
	uint64_t number = 0;
	const int err = memory_read(memory, structure + layout->field[field].at, &number,
				    layout->field[field].size);

	if (!err)
		*out_number = number;
	return err;
}
