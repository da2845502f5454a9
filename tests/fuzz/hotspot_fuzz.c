/* SPDX-License-Identifier: MIT */
/*
 * hotspot_fuzz.c - the input is the memory of a JVM, whose structures are where this says.
 *
 * Holds: whatever they contain, the code that is found lies in its heap, in order, and its rows
 * cover the heap in ascending order. A name is a name. So is that of what interpreted frames may
 * have, which is given once as long as nothing is unloaded; a counter of that lies in the memory.
 */
#include "hotspot_methods.h"
#include "hotspot_names.h"
#include "hotspot_rows.h"
#include "hotspot_unloads.h"
#include "memory_copy.h"

#include "fuzz.h"

#define BASE 0x10000u

static void set(struct hotspot_layout *layout, enum hotspot_field field, uint64_t at, uint8_t size)
{
	layout->field[field].at = at;
	layout->field[field].size = size;
	layout->field[field].is_known = true;
}

/* Static fields are at the beginning of the memory. */
static struct hotspot_layout layout_of(bool is_newer)
{
	struct hotspot_layout layout = {.block_size = 16, .pool_size = 32, .sender_sp = -1};

	set(&layout, HOTSPOT_HEAPS, BASE, 8);
	set(&layout, HOTSPOT_CALL_STUB_RETURN, BASE + 8, 8);
	set(&layout, HOTSPOT_ARRAY_LENGTH, 0, 4);
	set(&layout, HOTSPOT_ARRAY_DATA, 8, 8);
	set(&layout, HOTSPOT_HEAP_MEMORY, 0, 8);
	set(&layout, HOTSPOT_HEAP_SEGMENTS, 24, 8);
	set(&layout, HOTSPOT_SEGMENT_BITS, 48, 4);
	set(&layout, HOTSPOT_SPACE_LOW, 0, 8);
	set(&layout, HOTSPOT_SPACE_HIGH, 8, 8);
	set(&layout, HOTSPOT_SPACE_END, 16, 8);
	set(&layout, HOTSPOT_BLOCK_HEADER, 0, 8);
	set(&layout, HOTSPOT_BLOCK_LENGTH, 0, 8);
	set(&layout, HOTSPOT_BLOCK_USED, 8, 1);
	set(&layout, HOTSPOT_BLOB_NAME, 0, 8);
	set(&layout, HOTSPOT_BLOB_SIZE, 8, 4);
	set(&layout, HOTSPOT_BLOB_FRAME, 12, 4);
	set(&layout, HOTSPOT_BLOB_COMPLETE, 16, 2);
	set(&layout, is_newer ? HOTSPOT_BLOB_CODE_OFFSET : HOTSPOT_BLOB_CODE, 24, is_newer ? 4 : 8);
	set(&layout, is_newer ? HOTSPOT_BLOB_DATA_OFFSET : HOTSPOT_BLOB_CODE_END, 32,
	    is_newer ? 4 : 8);
	set(&layout, HOTSPOT_COMPILED_METHOD, 40, 8);
	set(&layout, HOTSPOT_METHOD_CONST, 0, 8);
	set(&layout, HOTSPOT_CONST_POOL, 8, 8);
	set(&layout, HOTSPOT_CONST_NAME, 16, 2);
	set(&layout, HOTSPOT_CONST_SIGNATURE, 18, 2);
	set(&layout, HOTSPOT_POOL_HOLDER, 0, 8);
	set(&layout, HOTSPOT_POOL_LENGTH, 8, 4);
	set(&layout, HOTSPOT_KLASS_NAME, 0, 8);
	set(&layout, HOTSPOT_SYMBOL_LENGTH, 0, 2);
	set(&layout, HOTSPOT_SYMBOL_BODY, 2, 1);
	set(&layout, HOTSPOT_COUNTERS, BASE + 16, 8);
	set(&layout, HOTSPOT_COUNTERS_USED, 0, 4);
	set(&layout, HOTSPOT_COUNTERS_FIRST, 4, 4);
	set(&layout, HOTSPOT_COUNTER_LENGTH, 0, 4);
	set(&layout, HOTSPOT_COUNTER_NAME, 4, 4);
	set(&layout, HOTSPOT_COUNTER_VALUE, 8, 4);
	layout.method_slot = -3;
	return layout;
}

static void check(const struct hotspot_code *code, const struct hotspot_heap *heap)
{
	struct unwind_table table;

	for (size_t i = heap->first; i < heap->first + heap->count; i++)
		FUZZ_CHECK(heap->lo < code->blob[i].lo && code->blob[i].lo < code->blob[i].hi &&
			   code->blob[i].hi <= heap->hi);
	if (heap->lo == heap->hi || hotspot_rows_build(code, heap, &table))
		return;
	FUZZ_CHECK(table.row[0].pc == 0);
	for (uint32_t i = 1; i < table.row_count; i++)
		FUZZ_CHECK(table.row[i - 1].pc < table.row[i].pc &&
			   table.row[i].pc < heap->hi - heap->lo);
	FUZZ_CHECK(table.index[table.index_count - 1] < table.row_count);
	unwind_table_close(&table);
}

static void check_name(const struct hotspot_layout *layout, const struct memory *memory,
		       remote_addr method)
{
	char name[HOTSPOT_NAME_MAX];

	if (hotspot_method_name(layout, memory, method, name))
		return;
	FUZZ_CHECK(memchr(name, 0, sizeof(name)) && strchr(name, ' '));
}

/* Each word of the beginning as what a frame has. */
static void check_methods(const struct hotspot_layout *layout, const struct memory *memory,
			  const struct copied_run *run)
{
	struct hotspot_methods methods = {.count = 0};
	char name[HOTSPOT_NAME_MAX];
	remote_addr at, counter;
	uint64_t first, second;

	if (!hotspot_unloads_find(layout, memory, &counter))
		FUZZ_CHECK(run->lo <= counter && counter + sizeof(uint64_t) <= run->hi);
	hotspot_methods_look(&methods, layout, memory, 0, 0);
	for (size_t i = 0; i < 32 && run->lo + (i + 1) * sizeof(at) <= run->hi; i++) {
		memcpy(&at, run->byte + i * sizeof(at), sizeof(at));
		const int is_new =
			hotspot_methods_find(&methods, layout, memory, 1, at, name, &first);

		FUZZ_CHECK(is_new < 0 || (first && (!is_new || memchr(name, 0, sizeof(name)))));
		if (is_new >= 0 && methods.reads_left &&
		    hotspot_methods_find(&methods, layout, memory, 2, at, name, &second) == 0)
			FUZZ_CHECK(first == second);
	}
	hotspot_methods_close(&methods);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	const struct hotspot_layout layout = layout_of(data[0] & 1);
	struct copied_run run = {
		.lo = BASE, .hi = BASE + size - 1, .byte = (uint8_t *)(uintptr_t)(data + 1)};
	const struct memory_copy copy = {.run = &run, .count = 1};
	const struct memory memory = {.fd = -1, .copy = &copy};
	struct hotspot_texts texts = {.count = 0};
	struct hotspot_code code = {.heap_count = 0}, again = {.heap_count = 0};

	if (!hotspot_code_read(&layout, &memory, &texts, NULL, &code)) {
		FUZZ_CHECK(!hotspot_code_read(&layout, &memory, &texts, &code, &again));
		FUZZ_CHECK(again.heap_count == code.heap_count);
		for (size_t i = 0; i < again.heap_count; i++)
			check(&again, &again.heap[i]);
		for (size_t i = 0; i < code.heap_count; i++)
			check(&code, &code.heap[i]);
	}
	for (size_t i = 0; i < code.blob_count; i++)
		check_name(&layout, &memory, code.blob[i].method);
	check_methods(&layout, &memory, &run);
	hotspot_code_close(&code);
	hotspot_code_close(&again);
	hotspot_texts_close(&texts);
	return 0;
}
