/* SPDX-License-Identifier: MIT */
/* own_rows.c - see own_rows.h. */
#include "own_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "derived_rows.h"
#include "row_builder.h"

/* Adds a table, and closes it. */
static int add(struct publisher *publisher, const struct arena *arena, struct unwind_table *table)
{
	const int err = publisher_add_own(publisher, table, arena->tables);

	unwind_table_close(table);
	return err == -ENOSPC ? 0 : err;
}

static int add_payload(struct publisher *publisher, const struct arena *arena,
		       const struct payload_image *payload)
{
	const remote_addr base = arena->control->payload_base;
	const struct elf_text text = {.lo = base + payload->text_offset,
				      .hi = base + payload->text_offset + payload->text_size,
				      .file_offset = payload->text_offset};
	/* libelf does not write to it */
	const struct elf_image image = {
		.elf = elf_memory((char *)(uintptr_t)payload->file, payload->file_size),
		.bias = base};
	struct unwind_table table;
	int err = image.elf ? unwind_table_build_described(&image, &text, &table) : -ENOMEM;

	if (!err)
		err = add(publisher, arena, &table);
	elf_end(image.elf);
	return err;
}

static int make_gate_table(const struct derived_code *code, const struct derived_rows *rows,
			   struct unwind_table *out_table)
{
	struct row_builder builder = {.lo = code->lo, .hi = code->hi};
	struct unwind_table table = {.lo = code->lo, .hi = code->hi};
	int err = 0;

	for (size_t i = 0; i < rows->count && !err; i++)
		err = row_builder_push(&builder, code->lo + i, rows->row[i]);
	table.row = builder.row;
	table.row_count = builder.row_count;
	if (!err)
		err = unwind_table_index(&table);
	if (err)
		unwind_table_close(&table);
	else
		*out_table = table;
	return err;
}

static int add_gate(struct publisher *publisher, const struct arena *arena,
		    const struct memory *memory)
{
	const remote_addr gate = arena_gate(arena->control);
	const size_t count = arena_gate_count(arena->control);
	uint8_t *bytes = malloc(HI_GATE_BYTES);
	const struct derived_code code = {.bytes = bytes, .lo = gate, .hi = gate + HI_GATE_BYTES};
	uint64_t entry[HI_GATE_ENTRIES];
	struct unwind_table table;
	struct derived_rows rows;
	int err = bytes ? memory_read(memory, gate, bytes, HI_GATE_BYTES) : -ENOMEM;

	for (size_t i = 0; i < count; i++)
		entry[i] = gate + i * HI_GATE_STRIDE;
	if (!err)
		err = derived_rows_make(&code, entry, count, &rows);
	if (!err) {
		err = make_gate_table(&code, &rows, &table);
		derived_rows_free(&rows);
	}
	if (!err)
		err = add(publisher, arena, &table);
	free(bytes);
	return err;
}

int own_rows_add(struct publisher *publisher, const struct arena *arena,
		 const struct memory *memory, const struct payload_image *payload)
{
	/* a library that was loaded by dlopen is an object among the others */
	const int err = arena->control->image.size ? add_payload(publisher, arena, payload) : 0;

	return err ? err : add_gate(publisher, arena, memory);
}
