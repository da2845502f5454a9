/* SPDX-License-Identifier: MIT */
/*
 * render_html.c - the flame graph as one HTML file that needs nothing else: no network, no server.
 * The page is in html/, and html_data.c writes its data.
 *
 * A file should be small enough to be sent by mail and opened in a second, so it is kept below
 * FILE_MAX. If the whole tree does not fit, the lightest paths are summed up, and the page says so.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>

#include "calltree.h"
#include "html_data.h"
#include "html_page.h"
#include "html_write.h"

#define NODES_DEFAULT 12000u
#define FILE_MAX 1000000u
#define ATTEMPTS 8

/* Returns the page's data. The caller frees it. NULL = out of memory. */
static char *data_of(const struct profile *profile, const struct calltree *tree,
		     enum sample_type type, size_t *out_size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, out_size);
	bool is_whole = stream && html_data_write(profile, tree, type, stream) == 0;

	if (stream)
		is_whole &= fclose(stream) == 0;
	if (!is_whole) {
		free(text);
		text = NULL;
	}
	return text;
}

/* Returns the data with as many nodes as fit, and at most the requested number. */
static char *fitting_data(const struct profile *profile, const struct render_options *options,
			  size_t room)
{
	const struct calltree_options tree_options = {
		.type = options->type, .limit = options->limit ? options->limit : NODES_DEFAULT};
	struct calltree tree;
	size_t size;

	if (calltree_open(profile, &tree_options, &tree))
		return NULL;
	char *text = data_of(profile, &tree, options->type, &size);
	for (int i = 0; text && size > room && i < ATTEMPTS; i++) {
		const double nodes = (double)tree.count * (double)room / (double)size * 0.97;

		free(text);
		text = calltree_cut(&tree, (size_t)nodes)
			       ? NULL
			       : data_of(profile, &tree, options->type, &size);
	}
	calltree_close(&tree);
	return text;
}

int render_html(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const size_t own = (size_t)(hi_html_page_end - hi_html_page) +
			   (size_t)(hi_html_style_end - hi_html_style) +
			   (size_t)(hi_html_script_end - hi_html_script);
	char *data = fitting_data(profile, options, FILE_MAX - own);

	if (!data)
		return render_result(-ENOMEM, out);
	html_write_page(hi_html_page, hi_html_style, data, hi_html_script, out);
	free(data);
	return render_result(0, out);
}
