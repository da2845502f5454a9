/* SPDX-License-Identifier: MIT */
/*
 * html_source.h - the source and the machine code of the heaviest functions, as far as the files
 * are at hand, as part of the page's data.
 *
 *     sources[]   function, file (texts), note (why it may be another file; ""), lines[]: number,
 *                 text, and the bytes or objects of the line itself and with what it calls
 *     code[]      function (its name in the symbol table), lines[]: texts, as --disasm prints them
 */
#ifndef HI_HTML_SOURCE_H
#define HI_HTML_SOURCE_H

#include <stdio.h>

#include "calltree.h"
#include "render_options.h"

/*
 * Writes two members. 0 or -ENOMEM. It does not check `out` for write errors. Nothing is written of
 * a comparison, whose two sides may be of different files.
 */
int html_source_write(const struct profile *profile, const struct calltree *tree,
		      const struct render_options *options, FILE *out);

#endif
