/* SPDX-License-Identifier: MIT */
/* referrer_rows.c - see referrer_rows.h. */
#include "referrer_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "group_name.h"
#include "plain_text.h"

static const struct reference_root *root_of(const struct referrer_rows *rows,
					    const struct referrer *referrer)
{
	return references_root(&rows->names.owners->references, referrer->index);
}

static const struct census_group *group_of(const struct referrer_rows *rows, size_t group)
{
	return &rows->names.owners->census.group[group];
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void print_referrer(const struct referrer_rows *rows, const struct referrer *referrer,
			   FILE *out)
{
	if (referrer->is_class)
		group_name_print(group_of(rows, referrer->index), rows->names.type, false, out);
	else if (root_of(rows, referrer)->kind == REFERENCE_ALL)
		fputs("several places together", out);
	else
		owner_name_print(&rows->names, referrer->index, out);
}

static bool is_object(const struct referrer_rows *rows, const struct referrer *referrer)
{
	return !referrer->is_class && root_of(rows, referrer)->kind == REFERENCE_OBJECT;
}

static void print_share(const struct referrer_rows *rows, size_t group, uint32_t blocks, FILE *out)
{
	fprintf(out, "%.1f%% ", 100.0 * blocks / (double)group_of(rows, group)->count);
}

static void print_list(const struct referrer_rows *rows, size_t group,
		       const struct referrer_list *list, FILE *out)
{
	for (unsigned i = 0; i < list->count; i++) {
		fputs(i ? ", " : "", out);
		print_share(rows, group, list->first[i].blocks, out);
		if (list == &rows->referrers->group[group].places &&
		    is_object(rows, &list->first[i]))
			fputs("several in ", out);
		print_referrer(rows, &list->first[i], out);
	}
	if (list->more)
		fprintf(out, ", and %" PRIu32 " more", list->more);
}

/* Modules whose places have not all been named. */
static void print_modules(const struct referrer_rows *rows, size_t group, FILE *out)
{
	const struct group_referrers *of = &rows->referrers->group[group];
	const char *before = "; in all ";

	for (unsigned i = 0; i < of->modules.count && of->places.count > 1; i++) {
		if (!is_object(rows, &of->modules.first[i]))
			continue;
		fputs(before, out);
		print_share(rows, group, of->modules.first[i].blocks, out);
		print_referrer(rows, &of->modules.first[i], out);
		before = ", ";
	}
}

void referrer_rows_print(const struct referrer_rows *rows, size_t group, FILE *out)
{
	if (!rows->referrers)
		return;
	const struct group_referrers *of = &rows->referrers->group[group];

	fputs("      pointers in: ", out);
	if (of->pointers.count)
		print_list(rows, group, &of->pointers, out);
	else
		fputs("nothing that was found", out);
	fputs("\n      kept by: ", out);
	print_list(rows, group, &of->places, out);
	print_modules(rows, group, out);
	fputc('\n', out);
}

void referrer_rows_note(const struct referrer_rows *rows, FILE *out)
{
	if (!rows->referrers)
		return;
	fputs("pointers in: of how many blocks of the row there are possible pointers in blocks of "
	      "that class, or in that\nplace; kept by: the variable, stack or other memory without "
	      "which a block would be free.\n",
	      out);
	owner_notes_print(&rows->names.owners->references, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_list_json(const struct referrer_rows *rows, const char *member,
			    const struct referrer_list *list, FILE *out)
{
	fprintf(out, ",\"%s\":[", member);
	for (unsigned i = 0; i < list->count; i++) {
		const struct referrer *referrer = &list->first[i];

		fputs(i ? ",{" : "{", out);
		if (referrer->is_class) {
			group_name_print_json(group_of(rows, referrer->index), rows->names.type,
					      false, out);
		} else {
			const struct reference_root *root = root_of(rows, referrer);
			char *name = owner_name_of_root(root);

			fprintf(out, "\"kind\":\"%s\",\"name\":", owner_kind_name(root->kind));
			plain_text_json(out, name ? name : "");
			free(name);
		}
		fprintf(out, ",\"blocks\":%" PRIu32 "}", referrer->blocks);
	}
	fputc(']', out);
}

void referrer_rows_print_json(const struct referrer_rows *rows, size_t group, FILE *out)
{
	if (!rows->referrers)
		return;
	const struct group_referrers *of = &rows->referrers->group[group];

	print_list_json(rows, "pointers", &of->pointers, out);
	print_list_json(rows, "places", &of->places, out);
	print_list_json(rows, "modules", &of->modules, out);
}

void referrer_rows_note_json(const struct referrer_rows *rows, FILE *out)
{
	if (rows->referrers)
		fprintf(out, ",\"conservative\":true,\"cut\":%s",
			references_are_cut(&rows->names.owners->references) ? "true" : "false");
}
