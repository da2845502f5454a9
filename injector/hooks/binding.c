/* SPDX-License-Identifier: MIT */
/* binding.c - see binding.h. */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>

/* ---- definitions ----------------------------------------------------------------------------- */

static int push(struct definitions *definitions, const struct definition *definition)
{
	struct definition *grown =
		reallocarray(definitions->definition, definitions->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	definitions->definition = grown;
	grown[definitions->count++] = *definition;
	return 0;
}

/*
 * Drops the definitions in ld.so (malloc, in old versions of glibc): they come after libc's. Keeps
 * the definition if ld.so is libc (musl), and the only one.
 */
static void drop_loader(struct definitions *definitions)
{
	size_t kept = 0;

	for (size_t i = 0; i < definitions->count && definitions->count > 1; i++)
		if (!definitions->definition[i].image->is_loader)
			definitions->definition[kept++] = definitions->definition[i];
	if (kept)
		definitions->count = kept;
}

int definitions_find(const struct elf_images *images, const char *name,
		     struct definitions *out_definitions)
{
	struct definitions definitions = {0};
	int err = 0;

	for (size_t i = 0; !err && i < images->count; i++) {
		struct definition definition = {.image = &images->image[i]};

		if (definition.image->link_order >= 0 && definition.image->dynamic &&
		    elf_dynamic_find_any(definition.image->dynamic, name, &definition.version) == 0)
			err = push(&definitions, &definition);
	}
	if (err) {
		definitions_close(&definitions);
		return err;
	}
	drop_loader(&definitions);
	*out_definitions = definitions;
	return 0;
}

void definitions_close(struct definitions *definitions)
{
	free(definitions->definition);
	*definitions = (struct definitions){0};
}

static const struct definition *definition_in(const struct definitions *definitions,
					      const struct elf_image *image)
{
	for (size_t i = 0; i < definitions->count; i++)
		if (definitions->definition[i].image == image)
			return &definitions->definition[i];
	return NULL;
}

/* ---- binding --------------------------------------------------------------------------------- */

/*
 * May the dynamic linker find `rival` instead of the definition in the definer? An object that was
 * loaded with the program finds objects that were loaded with it, in link-map order. It finds an
 * object after the definer only if the definer does not provide the requested version, and an
 * object before it only if that object provides it in a version that is not the default one. It
 * finds its own definition if it searches itself first (DT_SYMBOLIC).
 */
static bool may_be_preferred(const struct reference *reference, const struct definition *rival,
			     const struct definition *definer)
{
	if (!reference->importer->is_pinned || rival->image == reference->importer)
		return true;
	return rival->image->is_pinned && (rival->image->link_order < definer->image->link_order ||
					   definer->version > ELF_VERSION_NONE);
}

bool binding_is_certain(const struct reference *reference, const struct elf_image *definer)
{
	const struct definitions *definitions = reference->definitions;
	const struct definition *wanted = definition_in(definitions, definer);

	/* The order in which objects of other namespaces bind is not known. */
	if (!wanted || reference->importer->link_order < 0 ||
	    (!reference->importer->is_pinned && reference->images->unread))
		return false;
	for (size_t i = 0; i < definitions->count; i++)
		if (&definitions->definition[i] != wanted &&
		    may_be_preferred(reference, &definitions->definition[i], wanted))
			return false;
	return true;
}

bool binding_follows(const struct reference *reference, const struct reference *bound)
{
	if (reference->importer->link_order < 0 || reference->images->unread ||
	    reference->version != bound->version)
		return false;
	for (size_t i = 0; i < reference->definitions->count; i++) {
		const struct definition *own = &reference->definitions->definition[i],
					*other = definition_in(bound->definitions, own->image);

		if (!other || other->version != own->version || own->version == ELF_VERSION_SEVERAL)
			return false;
	}
	return true;
}
