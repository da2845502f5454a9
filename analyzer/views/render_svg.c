/* SPDX-License-Identifier: MIT */
/*
 * render_svg.c - the call graph as a picture (svg, pdf or png), drawn by a process of graphviz'
 * dot; and as the text that is dot's input.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph_tree.h"
#include "html_page.h"
#include "program.h"
#include "render_dot.h"
#include "render_header.h"

#define NODES_DEFAULT 80
/*
 * The limits up to which dot draws any graph within some seconds; a larger one would not finish.
 * DRAWN_BEST_LENGTH_MAX is the limit for dot's best quality.
 */
#define DRAWN_NODES_MAX 1000u
#define DRAWN_EDGES_MAX 2000u
#define DRAWN_LENGTH_MAX 4000u
#define DRAWN_BEST_LENGTH_MAX 1000u
#define PATIENCE_MS 60000u

#define HEADER_COLUMNS 100u

/* The graph that is shown, and why it is not complete. */
struct picture {
	struct callgraph graph;
	struct callgraph_limits limits;
	struct callgraph_dropped dropped;
	bool is_limited; /* to fewer functions than the user asked for */
};

static void write_header(const struct profile *profile, const struct picture *picture,
			 enum sample_type type, FILE *out)
{
	const struct callgraph *graph = &picture->graph;
	size_t shown = 0;

	render_header(profile, type, &graph->total, out);
	for (size_t i = 0; i < graph->node_count; i++)
		shown += graph->node[i].cum.value != 0;
	if (shown)
		fprintf(out, "Showing %zu of %zu functions\n", shown, graph->node_count);
	else
		fprintf(out, "Nothing to show\n");
	if (picture->is_limited && picture->dropped.candidates > picture->limits.nodes)
		fprintf(out, "More than %zu functions are too many for graphviz\n",
			picture->limits.nodes);
	if (picture->dropped.fitted.dropped)
		fprintf(out,
			"Left out: the %zu lightest of %zu calls, as graphviz would not come to an "
			"end\n",
			picture->dropped.fitted.dropped,
			picture->dropped.fitted.dropped + graph->edge_count);
}

/*
 * Writes the lines of a header so that none is much longer than the others: the picture is as wide
 * as its longest line.
 */
static void write_wrapped(const char *text, FILE *out)
{
	size_t column = 0;

	for (; *text; text++) {
		const size_t word = strcspn(text + 1, " \n");

		if (*text == ' ' && column + word >= HEADER_COLUMNS) {
			fputs("\n   ", out);
			column = 3;
		}
		fputc(*text, out);
		column = *text == '\n' ? 0 : column + 1;
	}
}

/* Returns the graph as dot's input. The caller frees it. NULL = out of memory. */
static char *dot_text(const struct profile *profile, const struct picture *picture,
		      enum sample_type type, size_t *out_size)
{
	char *lines = NULL, *header = NULL, *text = NULL;
	size_t lines_size, header_size;
	FILE *lines_stream = open_memstream(&lines, &lines_size),
	     *header_stream = open_memstream(&header, &header_size),
	     *stream = open_memstream(&text, out_size);
	bool is_whole = lines_stream && header_stream && stream;

	if (lines_stream) {
		write_header(profile, picture, type, lines_stream);
		is_whole &= fclose(lines_stream) == 0;
	}
	if (header_stream) {
		if (is_whole)
			write_wrapped(lines, header_stream);
		is_whole &= fclose(header_stream) == 0;
	}
	if (stream) {
		if (is_whole)
			render_dot(&picture->graph, type, header, stream);
		is_whole &= fclose(stream) == 0;
	}
	free(lines);
	free(header);
	if (!is_whole) {
		free(text);
		text = NULL;
	}
	return text;
}

/* Runs dot. A large graph gets fewer optimization steps and straight lines, to finish in time. */
static int draw(const struct program_input *input, char *format, bool is_large, FILE *out)
{
	static char dot[] = "dot", rows[] = "-Gnslimit1=1", columns[] = "-Gnslimit=1",
		    crossings[] = "-Gmclimit=0.3", lines[] = "-Gsplines=line";
	char *const argv[] = {dot, format, is_large ? rows : NULL, columns, crossings, lines, NULL};
	char complaint[256];
	const int err = program_filter(argv, input, out, complaint);

	if (err == -ENOENT)
		return render_fail(err,
				   "graphviz's dot is not installed: apt-get install graphviz; "
				   "--text, --dot and --collapsed work without it");
	if (err == -ETIMEDOUT)
		return render_fail(err,
				   "graphviz's dot was not done after %u s and was stopped; fewer "
				   "boxes (-n) take less, --dot needs none of it",
				   PATIENCE_MS / 1000);
	if (err == -EIO && complaint[0])
		return render_fail(
			err,
			"graphviz's dot failed: %s; --text, --dot and --collapsed work without it",
			complaint);
	return render_result(err, out);
}

static int put_text(const struct program_input *input, FILE *out)
{
	return render_result(fwrite(input->bytes, 1, input->size, out) == input->size ? 0 : -EIO,
			     out);
}

/* A graph that dot draws has limits, whatever the user asked for. */
static struct picture picture_of(const struct render_options *options, bool is_drawn)
{
	struct picture picture = {.limits = callgraph_limits_of(options, NODES_DEFAULT)};

	picture.limits.is_picture = true;
	if (!is_drawn)
		return picture;
	picture.limits.room =
		(struct callgraph_room){.edges = DRAWN_EDGES_MAX, .length = DRAWN_LENGTH_MAX};
	picture.is_limited = !picture.limits.nodes || picture.limits.nodes > DRAWN_NODES_MAX;
	if (picture.is_limited)
		picture.limits.nodes = DRAWN_NODES_MAX;
	return picture;
}

/* format: the argument for dot; NULL = emit dot's own input. */
static int render_graph(const struct profile *profile, const struct render_options *options,
			char *format, FILE *out)
{
	struct program_input input = {.patience_ms = PATIENCE_MS};
	struct picture picture = picture_of(options, format);
	int err = (options->call_tree ? callgraph_build_tree : callgraph_build_limited)(
		profile, options->type, &picture.limits, &picture.graph, &picture.dropped);

	if (err)
		return render_result(err, out);
	char *text = dot_text(profile, &picture, options->type, &input.size);
	input.bytes = text;
	if (!text)
		err = render_result(-ENOMEM, out);
	else
		err = format ? draw(&input, format,
				    picture.dropped.fitted.length > DRAWN_BEST_LENGTH_MAX, out)
			     : put_text(&input, out);
	free(text);
	callgraph_close(&picture.graph);
	return err;
}

/*
 * Writes graphviz' picture so that it fills the window, and with the script that moves it. Without
 * the script it is a picture of the same shape.
 */
static void write_moving(const char *svg, FILE *out)
{
	const char *head = strstr(svg, "<svg "), *size = head ? strstr(head, "viewBox=") : NULL,
		   *end = strstr(svg, "</svg>");

	if (!size || !end) {
		fputs(svg, out);
		return;
	}
	fwrite(svg, 1, (size_t)(head - svg), out);
	fputs("<svg width=\"100%\" height=\"100%\" ", out);
	fwrite(size, 1, (size_t)(end - size), out);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n%s", hi_html_graph_script, end);
}

int render_svg(const struct profile *profile, const struct render_options *options, FILE *out)
{
	static char format[] = "-Tsvg";
	char *text = NULL;
	size_t size;
	FILE *stream;
	int err = render_refuse_terminal(out, "svg");

	if (err)
		return err;
	stream = open_memstream(&text, &size);
	if (!stream)
		return render_result(-ENOMEM, out);
	err = render_graph(profile, options, format, stream);
	if (fclose(stream))
		err = render_result(-ENOMEM, out);
	if (!err) {
		write_moving(text, out);
		err = render_result(0, out);
	}
	free(text);
	return err;
}

int render_pdf(const struct profile *profile, const struct render_options *options, FILE *out)
{
	static char format[] = "-Tpdf";
	const int err = render_refuse_terminal(out, "pdf");

	return err ? err : render_graph(profile, options, format, out);
}

int render_png(const struct profile *profile, const struct render_options *options, FILE *out)
{
	static char format[] = "-Tpng";
	const int err = render_refuse_terminal(out, "png");

	return err ? err : render_graph(profile, options, format, out);
}

int render_dot_text(const struct profile *profile, const struct render_options *options, FILE *out)
{
	return render_graph(profile, options, NULL, out);
}
