/* SPDX-License-Identifier: MIT */
/*
 * unwind_fill.h - rows for code that .eh_frame does not describe: by Go's own table (go_rows.h), or
 * derived (derived_rows.h). They replace rows of kind NONE.
 */
#ifndef HI_UNWIND_FILL_H
#define HI_UNWIND_FILL_H

#include "elf_image.h"
#include "row_builder.h"

/* For a text that the Go compiler has made. -ENOMEM. */
must_check int unwind_fill_from_go(struct row_builder *builder, const struct elf_image *image);
/*
 * For a text of which hardly any part has rows: derives all of it. Otherwise, if the code around
 * the program's entry, where all stacks begin, has none: derives that. If the program has its libc
 * in itself, that has none either, and each large part of the text that has none is derived.
 * -ENOMEM.
 */
must_check int unwind_fill_gaps(struct row_builder *builder, const struct elf_image *image);
/*
 * Is all of the object derived, as it has no .eh_frame? So is the vdso of some CPUs, which has the
 * trampoline that every signal handler returns to.
 */
bool unwind_fill_is_whole(const struct elf_image *image);

#endif
