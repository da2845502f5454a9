/* SPDX-License-Identifier: MIT */
/* owner_name.c - see owner_name.h. */
#include "owner_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "group_name.h"
#include "hi_path.h"
#include "plain_text.h"
#include "type_names.h"

#define NAME_WIDTH 80

char *owner_name_of_group(const struct owner_names *names, uint32_t group)
{
	const struct census_group *of = &names->owners->census.group[group];
	char *text = NULL;
	size_t size;

	if (of->kind == CONTENT_OBJECT)
		return strdup(names->type[of->type]);
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	group_name_print(of, names->type, false, out);
	return fclose(out) ? NULL : text;
}

static void print_file(const struct elf_image *image, FILE *out)
{
	char name[256];

	plain_text_copy(name, sizeof(name), hi_base_name(image->path));
	fputs(name, out);
}

static void print_variable(const struct reference_root *root, FILE *out)
{
	char *name = type_names_variable(root->name);

	fprintf(out, "%s in ", name ? name : "");
	print_file(root->image, out);
	free(name);
}

static void print_data(const struct reference_root *root, FILE *out)
{
	fputs(root->lo >= root->segment->bss ? ".bss of " : ".data of ", out);
	print_file(root->image, out);
	fprintf(out, "+0x%" PRIx64, root->lo - root->image->bias);
}

static void print_mapping(const struct reference_root *root, FILE *out)
{
	char path[256];

	plain_text_copy(path, sizeof(path), root->name);
	fprintf(out, "%s at 0x%" PRIx64, *path ? path : "anonymous mapping", root->lo);
}

static void print_root(const struct reference_root *root, FILE *out)
{
	switch (root->kind) {
	case REFERENCE_VARIABLE:
		print_variable(root, out);
		break;
	case REFERENCE_DATA:
		print_data(root, out);
		break;
	case REFERENCE_STACK:
		fprintf(out, "stack of %s (%d)", root->thread, (int)root->tid);
		break;
	case REFERENCE_MAPPING:
		print_mapping(root, out);
		break;
	case REFERENCE_REST:
		fputs("other places", out);
		break;
	case REFERENCE_OBJECT:
		print_file(root->image, out);
		break;
	case REFERENCE_NOTHING:
		fputs("nothing that was found", out);
		break;
	case REFERENCE_ALL:
		fputs("all of these", out);
		break;
	}
}

char *owner_name_of_root(const struct reference_root *root)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	print_root(root, out);
	return fclose(out) ? NULL : text;
}

void owner_name_print(const struct owner_names *names, uint32_t node, FILE *out)
{
	const struct reference_root *root = references_root(&names->owners->references, node);

	if (!root) {
		group_name_print(&names->owners->census.group[owners_group(names->owners, node)],
				 names->type, false, out);
		return;
	}
	char *name = owner_name_of_root(root);

	if (name)
		fprintf(out, "%.*s%s", NAME_WIDTH, name, strlen(name) > NAME_WIDTH ? "..." : "");
	free(name);
}

const char *owner_kind_name(enum reference_kind kind)
{
	static const char *const name[] = {
		[REFERENCE_VARIABLE] = "variable", [REFERENCE_DATA] = "data",
		[REFERENCE_STACK] = "stack",       [REFERENCE_MAPPING] = "mapping",
		[REFERENCE_REST] = "rest",         [REFERENCE_OBJECT] = "object",
		[REFERENCE_NOTHING] = "nothing",   [REFERENCE_ALL] = "all",
	};

	return name[kind];
}

void owner_notes_print(const struct references *references, FILE *out)
{
	if (references->graph.is_cut)
		fprintf(out, "not followed: pointers beyond the first %u\n",
			references->graph.edges);
	if (references->is_late)
		fputs("not followed: pointers in blocks that were not reached in time\n", out);
	if (references->data.is_cut)
		fputs("not named: variables beyond the first ones\n", out);
	fprintf(out,
		"A number that looks like the address of a block, or leads into one, counts as a "
		"pointer; so does\nan old one that was not written over: an owner may be shown "
		"that is "
		"none, or several instead of one.\nWhat only %sthe kernel refers to%s seems to be "
		"kept by "
		"nothing.\n",
		references->is_of_copy ? "" : "a register or ",
		references->is_of_copy ? "" : ", or what moved meanwhile,");
}
