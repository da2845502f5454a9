/* SPDX-License-Identifier: MIT */
/*
 * render_html.c - one HTML file with all that a profile, or up to twenty of them, has to say. It
 * needs nothing else: no network, no server. The page is in html/, and html_data.c writes its data.
 *
 * A file should be small enough to be sent by mail and opened in a second, so it is kept below
 * FILE_MAX. If the whole tree does not fit, the lightest paths are summed up, and the page says so.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>

#include "calltree.h"
#include "growth.h"
#include "html_answer.h"
#include "html_data.h"
#include "html_page.h"
#include "html_series.h"
#include "html_source.h"
#include "html_write.h"

#define NODES_DEFAULT 12000u
#define FILE_MAX 1000000u
#define SERIES_SHARE 0.6 /* of the room of all data, that the series may take */
#define ATTEMPTS 8

/* Returns the page's data. The caller frees it. NULL = out of memory. */
static char *data_of(const struct html_data *data, size_t *out_size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, out_size);
	bool is_whole = stream && html_data_write(data, stream) == 0;

	if (stream)
		is_whole &= fclose(stream) == 0;
	if (!is_whole) {
		free(text);
		text = NULL;
	}
	return text;
}

/* Returns the data with as many nodes as fit, and at most the requested number. */
static char *fitting_data(const struct html_data *data, struct calltree *tree, size_t room)
{
	size_t size;
	char *text = data_of(data, &size);

	for (int i = 0; text && size > room && tree->count > CALLTREE_LEAST && i < ATTEMPTS; i++) {
		const double nodes = (double)tree->count * (double)room / (double)size * 0.97;

		free(text);
		text = html_nodes_cut(data->nodes, tree, (size_t)nodes) ? NULL
									: data_of(data, &size);
	}
	return text;
}

/* Members of the object that do not depend on the size of the tree. NULL = out of memory. */
static char *source_members(const struct html_data *data, const struct calltree *tree)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	bool is_whole =
		stream && html_source_write(data->profile, tree, data->options, stream) == 0;

	if (stream)
		is_whole &= fclose(stream) == 0;
	if (!is_whole) {
		free(text);
		text = NULL;
	}
	return text;
}

static int write_page(struct html_data *data, FILE *out)
{
	const size_t own = (size_t)(hi_html_page_end - hi_html_page) +
			   (size_t)(hi_html_style_end - hi_html_style) +
			   (size_t)(hi_html_script_end - hi_html_script);
	const struct render_options *options = data->options;
	const struct calltree_options tree_options = {
		.type = options->type,
		.limit = options->limit && !data->is_growth ? options->limit : NODES_DEFAULT};
	const struct estimate total = estimate_total(data->profile, options->type);
	struct calltree tree;
	struct html_nodes nodes = {0};
	char *sources, *text = NULL;

	if (calltree_open(data->profile, &tree_options, &tree))
		return -ENOMEM;
	sources = source_members(data, &tree);
	data->sources = sources;
	data->total = &total;
	data->nodes = &nodes;
	if (sources && !html_nodes_open(data->profile, &tree, &options->user_frames, &nodes))
		text = fitting_data(data, &tree, FILE_MAX - own);
	if (text)
		html_write_page(text, out);
	free(text);
	free(sources);
	html_nodes_close(&nodes);
	calltree_close(&tree);
	return text ? 0 : -ENOMEM;
}

/* Opens what the options have of a series; *out_json: NULL = there is none. The caller frees it. */
static int series_json(const struct profile *profile, const struct render_options *options,
		       char **out_json)
{
	const struct html_series_options wish = {.type = options->type,
						 .stacks = options->limit ? options->limit
									  : HTML_SERIES_STACKS,
						 .room = (size_t)(SERIES_SHARE * FILE_MAX)};
	struct growth growth;
	int err;

	if (!options->series || options->series->snapshot_count < 2 ||
	    options->series->snapshot_count > SLOPE_POINTS_MAX)
		return 0;
	err = growth_open(options->series, wish.stacks, &growth);
	if (!err) {
		*out_json = html_series_json(&profile->meta, &growth, &wish);
		err = *out_json ? 0 : -ENOMEM;
	}
	growth_close(&growth);
	return err;
}

static int render(const struct profile *profile, const struct render_options *options,
		  bool is_growth, FILE *out)
{
	const bool has_answer = html_answer_is_known(profile, options->file_count);
	struct html_data data = {.profile = profile, .options = options, .is_growth = is_growth};
	struct answer answer;
	char *series = NULL;
	int err = render_refuse_terminal(out, "html");

	if (err)
		return err;
	if (options->type >= SAMPLE_TYPES_ALWAYS)
		return render_fail(
			-EINVAL,
			"a page has no place for what is resident or swapped out; --text, --svg "
			"or --flame do");
	if (has_answer)
		err = answer_open(profile, LEAKS_TAIL_SHARE * (double)profile->meta.duration_ns,
				  TREND_LEVEL, &answer);
	if (!err)
		err = series_json(profile, options, &series);
	data.answer = has_answer ? &answer : NULL;
	data.series = series;
	if (!err)
		err = write_page(&data, out);
	free(series);
	if (has_answer)
		answer_close(&answer);
	return render_result(err, out);
}

int render_html(const struct profile *profile, const struct render_options *options, FILE *out)
{
	return render(profile, options, false, out);
}

int render_growth_page(const struct profile *profile, const struct render_options *options,
		       FILE *out)
{
	return render(profile, options, true, out);
}
