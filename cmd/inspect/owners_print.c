/* SPDX-License-Identifier: MIT */
/* owners_print.c - see owners_print.h. */
#include "owners_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "group_name.h"
#include "hi_units.h"
#include "plain_text.h"

/* ---- table ----------------------------------------------------------------------------------- */

static void print_held(const struct owners_found *found, const struct owner_row *row, FILE *out)
{
	const struct owners *owners = found->names.owners;

	for (unsigned i = 0; i < row->held_count; i++) {
		const struct owner_held *held = &row->held[i];
		const double share =
			100.0 * (double)held->bytes / (double)(row->bytes ? row->bytes : 1);

		if (share < 1)
			break;
		fprintf(out, "%s%.0f%% ", i ? ", " : ": ", share);
		group_name_print(&owners->census.group[held->group], found->names.type, false, out);
	}
}

/* What an object and the root retain themselves is what no single place below them does. */
static void print_place(const struct owners_found *found, const struct owner_row *row, FILE *out)
{
	const struct references *references = &found->names.owners->references;
	const enum reference_kind kind = references_root(references, row->node)->kind;

	if (kind == REFERENCE_OBJECT)
		fputs("several in ", out);
	if (kind == REFERENCE_ALL)
		fputs("several of these", out);
	else
		owner_name_print(&found->names, row->node, out);
	print_held(found, row, out);
}

static void print_row(const struct owners_found *found, const struct owner_row *row, FILE *out)
{
	const struct owners *owners = found->names.owners;
	char bytes[HI_UNITS_TEXT_MAX], own[HI_UNITS_TEXT_MAX];
	const double all = (double)(found->blocks->bytes ? found->blocks->bytes : 1);

	fprintf(out, "  %10s  %5.1f  %10" PRIu32 "  %10s  %*s",
		hi_format_bytes((double)row->bytes, bytes, sizeof(bytes)),
		100.0 * (double)row->bytes / all, row->blocks,
		hi_format_bytes((double)row->own, own, sizeof(own)), (int)(2 * row->depth), "");
	if (!row->depth) {
		print_place(found, row, out);
	} else {
		fprintf(out, "%" PRIu32 " x ", row->count);
		group_name_print(&owners->census.group[row->group], found->names.type, false, out);
	}
	fputc('\n', out);
}

static void print_rows(const struct owners_found *found, FILE *out)
{
	size_t places = 0;

	fprintf(out, "  %10s  %5s  %10s  %10s  %s\n", "retained", "%", "blocks", "own", "by");
	for (size_t i = 0; i < found->rows.count; i++) {
		print_row(found, &found->rows.row[i], out);
		places += !found->rows.row[i].depth;
	}
	if (places < found->rows.places)
		fprintf(out, "  (%zu more: --all)\n", found->rows.places - places);
}

void owners_print(const struct owners_found *found, FILE *out)
{
	const struct references *references = &found->names.owners->references;
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out,
		"%d (%s): %zu blocks in use, %s usable; %" PRIu32 " pointers to them, in %" PRIu32
		" places and in blocks\n",
		(int)found->pid, found->name, found->blocks->count,
		hi_format_bytes((double)found->blocks->bytes, text, sizeof(text)),
		references->pointers, references->places);
	if (found->paths)
		owner_paths_print(found->paths, &found->names, out);
	else
		print_rows(found, out);
	group_notes_print(found->blocks, out);
	owner_notes_print(references, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_place_json(const struct owners_found *found, const struct owner_row *row,
			     FILE *out)
{
	const struct owners *owners = found->names.owners;
	const struct reference_root *root = references_root(&owners->references, row->node);
	char *name = owner_name_of_root(root);

	fprintf(out, "\"kind\":\"%s\",\"name\":", owner_kind_name(root->kind));
	plain_text_json(out, name ? name : "");
	free(name);
	fprintf(out, ",\"address\":\"0x%" PRIx64 "\",\"held\":[", root->lo);
	for (unsigned i = 0; i < row->held_count; i++) {
		fputs(i ? ",{" : "{", out);
		group_name_print_json(&owners->census.group[row->held[i].group], found->names.type,
				      false, out);
		fprintf(out, ",\"blocks\":%" PRIu32 ",\"bytes\":%" PRIu64 "}", row->held[i].blocks,
			row->held[i].bytes);
	}
	fputc(']', out);
}

static void print_row_json(const struct owners_found *found, const struct owner_row *row, FILE *out)
{
	fprintf(out, "{\"depth\":%u,", row->depth);
	if (row->depth)
		group_name_print_json(&found->names.owners->census.group[row->group],
				      found->names.type, false, out);
	else
		print_place_json(found, row, out);
	fprintf(out,
		",\"count\":%" PRIu32 ",\"own_bytes\":%" PRIu64 ",\"retained_blocks\":%" PRIu32
		",\"retained_bytes\":%" PRIu64 "}",
		row->count, row->own, row->blocks, row->bytes);
}

void owners_print_json(const struct owners_found *found, FILE *out)
{
	const struct references *references = &found->names.owners->references;

	fprintf(out, "{\"pid\":%d,\"name\":", (int)found->pid);
	plain_text_json(out, found->name);
	fprintf(out,
		",\"conservative\":true,\"blocks\":%zu,\"bytes\":%" PRIu64 ",\"pointers\":%" PRIu32
		",\"places\":%" PRIu32 ",\"cut\":%s",
		found->blocks->count, found->blocks->bytes, references->pointers,
		references->places, references_are_cut(references) ? "true" : "false");
	group_notes_print_json(found->blocks, out);
	if (found->paths)
		owner_paths_print_json(found->paths, &found->names, out);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; i < found->rows.count; i++) {
		fputs(i ? "," : "", out);
		print_row_json(found, &found->rows.row[i], out);
	}
	fputs("]}\n", out);
}
