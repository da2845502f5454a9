/* SPDX-License-Identifier: MIT */
/* hotspot.c - see hotspot.h. */
#include "hotspot.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "hotspot_rows.h"

#define LOOK_EVERY_NS 1000000000ull
#define EARLY_NS 10000000ull
/* between two looks, pause at least this many times the CPU time that the last one took */
#define LOOK_SHARE 50u

bool hotspot_find(struct hotspot *hotspot, const struct elf_images *images,
		  const struct memory *memory)
{
	remote_addr address;

	for (size_t i = 0; i < images->count && !hotspot->is_known && !hotspot->refused; i++) {
		const struct elf_image *image = &images->image[i];

		if (image->is_vdso || elf_image_symbol(image, "gHotSpotVMStructs", &address, NULL))
			continue;
		const int err = hotspot_layout_read(image, memory, &hotspot->layout);

		hotspot->is_known = !err;
		hotspot->refused = err;
	}
	return hotspot->is_known;
}

uint64_t hotspot_bytes(const struct hotspot *hotspot, const struct memory *memory)
{
	struct hotspot_code code;
	uint64_t bytes = HOTSPOT_ROWS_PER_BLOB * HOTSPOT_BLOBS_MAX * sizeof(struct hi_unwind_row);

	if (!hotspot->is_known || hotspot_heaps_read(&hotspot->layout, memory, &code))
		return 0;
	for (size_t i = 0; i < code.heap_count; i++)
		bytes += ((code.heap[i].end - code.heap[i].lo) / HI_INDEX_BYTES + 4) *
			 sizeof(uint32_t);
	return bytes;
}

bool hotspot_is_due(const struct hotspot *hotspot, bool is_missing)
{
	return hotspot->is_known && !hotspot->refused &&
	       clock_now_ns() >= (is_missing ? hotspot->early_ns : hotspot->due_ns);
}

static void drop_tables(struct hotspot *hotspot)
{
	for (size_t i = 0; i < hotspot->table_count; i++)
		unwind_table_close(&hotspot->table[i]);
	hotspot->table_count = 0;
}

static int build_tables(struct hotspot *hotspot)
{
	int err = 0;

	drop_tables(hotspot);
	for (size_t i = 0; i < hotspot->code.heap_count && !err; i++) {
		const struct hotspot_heap *heap = &hotspot->code.heap[i];

		if (heap->hi == heap->lo)
			continue;
		err = hotspot_rows_build(&hotspot->code, heap,
					 &hotspot->table[hotspot->table_count]);
		hotspot->table_count += !err;
	}
	if (err)
		drop_tables(hotspot);
	return err;
}

static bool is_same(const struct hotspot_code *a, const struct hotspot_code *b)
{
	return a->heap_count == b->heap_count && a->blob_count == b->blob_count &&
	       !memcmp(a->heap, b->heap, a->heap_count * sizeof(*a->heap)) &&
	       (!a->blob_count || !memcmp(a->blob, b->blob, a->blob_count * sizeof(*a->blob)));
}

static uint64_t after_pause(uint64_t least_ns, uint64_t since_ns)
{
	const uint64_t pause_ns = LOOK_SHARE * (clock_used_ns() - since_ns);

	return clock_now_ns() + (pause_ns > least_ns ? pause_ns : least_ns);
}

/* Reads all code for later looks to begin with. */
static int read_whole(struct hotspot *hotspot, const struct memory *memory)
{
	const uint64_t before_ns = clock_used_ns();
	const int err =
		hotspot_code_read(&hotspot->layout, memory, &hotspot->texts, NULL, &hotspot->whole);

	hotspot->due_ns = after_pause(LOOK_EVERY_NS, before_ns);
	return err;
}

/* Makes the tables of all code, if it has changed. */
static int read_new(struct hotspot *hotspot, const struct memory *memory)
{
	struct hotspot_code code = {.heap_count = 0};
	int err = hotspot_code_read(&hotspot->layout, memory, &hotspot->texts, &hotspot->whole,
				    &code);

	if (!err && hotspot->table_count && is_same(&code, &hotspot->code)) {
		hotspot_code_close(&code);
		return 0;
	}
	hotspot_code_close(&hotspot->code);
	hotspot->code = code;
	if (!err)
		err = build_tables(hotspot);
	return err ? err : 1;
}

int hotspot_look(struct hotspot *hotspot, const struct memory *memory)
{
	int changed = clock_now_ns() >= hotspot->due_ns ? read_whole(hotspot, memory) : 0;
	const uint64_t before_ns = clock_used_ns();

	if (!changed)
		changed = read_new(hotspot, memory);
	hotspot->early_ns = after_pause(EARLY_NS, before_ns);
	if (changed < 0) {
		hotspot_code_close(&hotspot->code);
		drop_tables(hotspot);
	}
	return changed;
}

/* The last blob of the heap that begins at or below pc. */
static const struct hotspot_blob *last_below(const struct hotspot_code *code,
					     const struct hotspot_heap *heap, remote_addr pc)
{
	size_t low = heap->first, high = heap->first + heap->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (code->blob[middle].lo <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low > heap->first ? &code->blob[low - 1] : NULL;
}

const struct hotspot_blob *hotspot_at(const struct hotspot *hotspot, remote_addr pc)
{
	const struct hotspot_code *code = &hotspot->code;

	for (size_t i = 0; i < code->heap_count; i++) {
		const struct hotspot_heap *heap = &code->heap[i];

		if (pc < heap->lo || pc >= heap->hi)
			continue;
		const struct hotspot_blob *blob = last_below(code, heap, pc);

		return blob && pc < blob->hi ? blob : NULL;
	}
	return NULL;
}

int hotspot_name(const struct hotspot *hotspot, const struct memory *memory,
		 const struct hotspot_blob *blob, char name[HOTSPOT_NAME_MAX])
{
	if (blob->kind == HOTSPOT_COMPILED)
		return blob->method
			       ? hotspot_method_name(&hotspot->layout, memory, blob->method, name)
			       : -EPROTO;
	strcpy(name, hotspot->texts.text[blob->text].text);
	return *name ? 0 : -EPROTO;
}

void hotspot_close(struct hotspot *hotspot)
{
	drop_tables(hotspot);
	hotspot_code_close(&hotspot->code);
	hotspot_code_close(&hotspot->whole);
	hotspot_texts_close(&hotspot->texts);
	*hotspot = (struct hotspot){.is_known = false};
}
