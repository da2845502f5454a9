/* SPDX-License-Identifier: MIT */
/*
 * render_flame.c - the flame graph as one SVG file: a picture for any viewer, and in a browser one
 * that zooms and searches (html/flame_svg.js).
 *
 * The root is at the bottom. A function's width is what was allocated in its subtree. In a
 * comparison widths are those of the new side, and colors run from blue (less) to orange (more);
 * otherwise colors tell the modules apart. Text is cut where it no longer fits; the font has a
 * fixed width, so its length is known.
 */
#include "render_formats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "caveats.h"
#include "hi_units.h"
#include "html_page.h"
#include "render_header.h"

#define NODES_DEFAULT 8000u
#define WIDTH 1200.0
#define MARGIN 12.0
#define ROW 18.0
#define HEAD 78.0
#define LINE 18.0
/* about as many characters as fit in a line of the heading */
#define LINE_BYTES 180u
#define FOOT 42.0
#define LETTER 6.7 /* width */
#define LETTERS_MIN 5u
#define NARROWEST 0.12
#define MODULE_COLOURS 8u
#define NAME_MAX_SHOWN 2000u /* bytes */

struct picture {
	const struct calltree *tree;
	enum sample_type type;
	bool is_comparison;
	double head, height;
	uint32_t *colour; /* by function: its module's color */
	FILE *out;
};

/* Escapes what has a meaning in XML. Names are UTF-8 without control characters (functions.h). */
static void print_escaped(const char *text, size_t size, FILE *out)
{
	for (size_t i = 0; i < size && text[i]; i++) {
		switch (text[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(text[i], out);
		}
	}
}

/* The size in bytes of at most this many characters from the start of the text. */
static size_t bytes_of(const char *text, size_t characters)
{
	size_t size = 0;

	while (text[size] && (characters > 0 || ((unsigned char)text[size] & 0xc0) == 0x80)) {
		characters -= ((unsigned char)text[size] & 0xc0) != 0x80;
		size++;
	}
	return size;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double new_value(const struct estimate *estimate)
{
	return fmax(estimate->value + estimate->base, 0);
}

/* The relative change: -1 (gone) to 1 (new). */
static double change(const struct estimate *estimate)
{
	const double larger = fmax(new_value(estimate), estimate->base);

	return larger > 0 ? estimate->value / larger : 0;
}

static void print_change(const struct picture *picture, const struct estimate *total)
{
	char value[HI_UNITS_TEXT_MAX];

	fprintf(picture->out, "; %s%s", total->value > 0 ? "+" : "",
		render_value(total->value, picture->type, value));
	if (total->base <= 0)
		fprintf(picture->out, ", new");
	else
		fprintf(picture->out, ", %+.1f%%", 100 * total->value / total->base);
}

/* Prints a node's tooltip: its share is of the total of the root. */
static void print_title(const struct picture *picture, const struct calltree_node *node)
{
	const struct estimate *total = &node->total[picture->type],
			      *self = &node->self[picture->type];
	const double whole = new_value(&picture->tree->node[0].total[picture->type]);
	const char *name = calltree_name(picture->tree, node);
	char value[HI_UNITS_TEXT_MAX], percent[HI_UNITS_TEXT_MAX], text[HI_UNITS_TEXT_MAX];
	double low, high;

	fprintf(picture->out, "<title>");
	print_escaped(name, bytes_of(name, NAME_MAX_SHOWN), picture->out);
	fprintf(picture->out, "\n%s, %s", render_value(new_value(total), picture->type, value),
		render_percent(new_value(total), whole, percent) + strspn(percent, " "));
	if (picture->is_comparison)
		print_change(picture, total);
	estimate_interval(total, &low, &high);
	if (high > low)
		fprintf(picture->out, "; 95%% interval %s .. %s",
			render_value(low, picture->type, value),
			render_value(high, picture->type, text));
	if (new_value(self) > 0)
		fprintf(picture->out, "; itself %s",
			render_value(new_value(self), picture->type, value));
	fprintf(picture->out, "</title>");
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/*
 * The class of a box, which sets its color. The color scale is not linear, so that small changes
 * are visible.
 */
static const char *class_of(const struct picture *picture, const struct calltree_node *node,
			    char *text, size_t size)
{
	const double difference = change(&node->total[picture->type]);

	if (picture->is_comparison)
		snprintf(text, size, "d%ld",
			 4 + lround(copysign(4 * pow(fabs(difference), 0.7), difference)));
	else if (node->function >= CALLTREE_OTHER ||
		 picture->colour[node->function] >= MODULE_COLOURS)
		snprintf(text, size, "mx");
	else
		snprintf(text, size, "m%u", picture->colour[node->function]);
	return text;
}

/* The sign before the name, for readers who cannot tell the colors apart. */
static const char *sign_of(const struct picture *picture, const struct calltree_node *node)
{
	const double difference = picture->is_comparison ? change(&node->total[picture->type]) : 0;

	return difference >= 0.005 ? "+ " : difference <= -0.005 ? "\u2212 " : "";
}

static void print_box(const struct picture *picture, const struct calltree_node *node, double x,
		      double width)
{
	const double y = picture->height - FOOT - ROW * (node->depth + 1);
	const size_t letters = width > 6 ? (size_t)((width - 6) / LETTER) : 0;
	const char *name = calltree_name(picture->tree, node), *sign = sign_of(picture, node);
	const size_t signs = *sign ? 2 : 0;
	char class[24];

	fprintf(picture->out, "<g class=\"f\">");
	print_title(picture, node);
	fprintf(picture->out,
		"<rect class=\"%s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"/>",
		class_of(picture, node, class, sizeof(class)), x, y, fmax(width - 0.6, 0.1),
		ROW - 1);
	if (letters >= LETTERS_MIN + signs) {
		const size_t whole = bytes_of(name, letters - signs),
			     cut = name[whole] ? bytes_of(name, letters - signs - 1) : whole;

		fprintf(picture->out, "<text x=\"%.2f\" y=\"%.1f\">%s", x + 3, y + ROW - 5.5, sign);
		print_escaped(name, cut, picture->out);
		fprintf(picture->out, "%s</text>", name[whole] ? "\u2026" : "");
	}
	fprintf(picture->out, "</g>\n");
}

static double width_of(const struct picture *picture, const struct calltree_node *node)
{
	const double whole = new_value(&picture->tree->node[0].total[picture->type]);

	return whole > 0 ? new_value(&node->total[picture->type]) / whole * (WIDTH - 2 * MARGIN)
			 : 0;
}

/*
 * Draws the nodes in preorder. Siblings are side by side: next[] of the parent says where a node
 * begins.
 */
static int print_boxes(const struct picture *picture)
{
	const struct calltree *tree = picture->tree;
	/* by node: where its next child begins */
	double *next = malloc(tree->count * sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct calltree_node *node = &tree->node[i];
		const double width = width_of(picture, node), x = i ? next[node->parent] : MARGIN;

		next[i] = x;
		if (i)
			next[node->parent] += width;
		if (width >= NARROWEST)
			print_box(picture, node, x, width);
	}
	free(next);
	return 0;
}

/* ---- colours of modules: the heaviest get one each ------------------------------------------- */

struct module_weight {
	const char *module;
	double weight;
};

static int compare_weights(const void *left, const void *right)
{
	const struct module_weight *a = left, *b = right;

	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

static size_t module_find(const struct module_weight *weights, size_t count, const char *module)
{
	size_t i = 0;

	while (i < count && strcmp(weights[i].module, module) != 0)
		i++;
	return i;
}

#define MODULES_WEIGHED 256u

static int choose_colours(struct picture *picture)
{
	const struct calltree *tree = picture->tree;
	struct module_weight weights[MODULES_WEIGHED];
	size_t count = 0;

	picture->colour = malloc((tree->functions.count + 1) * sizeof(*picture->colour));
	if (!picture->colour)
		return -ENOMEM;
	for (size_t i = 0; i < tree->count; i++) {
		const uint32_t function = tree->node[i].function;
		const char *module =
			function < CALLTREE_OTHER ? tree->place[function].module : NULL;
		const size_t at = module ? module_find(weights, count, module) : MODULES_WEIGHED;

		if (at == count && count < MODULES_WEIGHED)
			weights[count++] = (struct module_weight){.module = module};
		if (at < count)
			weights[at].weight += new_value(&tree->node[i].total[picture->type]);
	}
	qsort(weights, count, sizeof(*weights), compare_weights);
	for (size_t i = 0; i < tree->functions.count; i++)
		picture->colour[i] =
			tree->place[i].module
				? (uint32_t)module_find(weights, count, tree->place[i].module)
				: MODULE_COLOURS;
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Prints one line per caveat. The full text is a tooltip. */
static void print_caveats(const struct picture *picture, const struct profile *profile, double y)
{
	for (int kind = 0; kind < HI_CAVEATS; kind++) {
		const char *caveat = profile->meta.caveat[kind];

		if (!caveat)
			continue;
		fprintf(picture->out, "<text class=\"sub\" x=\"%.0f\" y=\"%.0f\"><title>", MARGIN,
			y);
		print_escaped(caveat, strlen(caveat), picture->out);
		fprintf(picture->out, "</title>%s: ", caveats_word((enum hi_caveat)kind));
		print_escaped(caveat, bytes_of(caveat, LINE_BYTES), picture->out);
		fprintf(picture->out, "%s</text>\n", strlen(caveat) > LINE_BYTES ? "\u2026" : "");
		y += LINE;
	}
}

/* Prints the first header line of a report and those of the window and the total. */
static int print_heading(const struct picture *picture, const struct profile *profile)
{
	const struct estimate total = estimate_total(profile, picture->type);
	char *text = NULL, *rest, *line;
	double y = 24;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return -ENOMEM;
	render_header(profile, picture->type, &total, stream);
	if (fclose(stream)) {
		free(text);
		return -ENOMEM;
	}
	rest = text;
	for (unsigned i = 0; (line = strsep(&rest, "\n"));) {
		const bool is_shown = i == 0 || strncmp(line, "Window: ", 8) == 0 ||
				      strncmp(line, "Total: ", 7) == 0;
		if (!is_shown)
			continue;
		fprintf(picture->out, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\">",
			i == 0 ? "head" : "sub", MARGIN, y);
		print_escaped(line, bytes_of(line, 150), picture->out);
		fprintf(picture->out, "</text>\n");
		y += LINE;
		i++;
	}
	free(text);
	print_caveats(picture, profile, y);
	return 0;
}

static void print_start(const struct picture *picture)
{
	fprintf(picture->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"flame graph\">\n"
		"<style><![CDATA[\n%s]]></style>\n"
		"<rect class=\"page\" x=\"0\" y=\"0\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, picture->height, WIDTH, picture->height, hi_html_svg_style);
}

static void print_end(const struct picture *picture)
{
	const struct calltree *tree = picture->tree;

	if (new_value(&tree->node[0].total[picture->type]) <= 0)
		fprintf(picture->out,
			"<text class=\"sub\" x=\"%.0f\" y=\"%.0f\">Nothing to show</text>\n",
			MARGIN, picture->head + ROW);
	if (tree->folded)
		fprintf(picture->out,
			"<text class=\"note\" x=\"%.0f\" y=\"%.0f\">%zu light paths are summed up "
			"as (other)</text>\n",
			MARGIN, picture->height - 8, tree->folded);
	if (picture->is_comparison)
		fprintf(picture->out,
			"<text class=\"note\" text-anchor=\"end\" x=\"%.0f\" y=\"%.0f\">width: the "
			"new profile; blue, \u2212: less; orange, +: more</text>\n",
			WIDTH - MARGIN, picture->height - 8);
	fprintf(picture->out,
		"<text id=\"details\" class=\"sub\" x=\"%.0f\" y=\"%.0f\"> </text>\n"
		"<text id=\"unzoom\" class=\"button\" x=\"%.0f\" y=\"24\" text-anchor=\"end\" "
		"role=\"button\"> </text>\n"
		"<text id=\"search\" class=\"button\" x=\"%.0f\" y=\"24\" text-anchor=\"end\" "
		"role=\"button\"> </text>\n"
		"<text id=\"matched\" class=\"sub\" x=\"%.0f\" y=\"42\" text-anchor=\"end\"> "
		"</text>\n"
		"<script><![CDATA[\n%s]]></script>\n</svg>\n",
		MARGIN, picture->height - 24, WIDTH - MARGIN - 70, WIDTH - MARGIN, WIDTH - MARGIN,
		hi_html_svg_script);
}

static uint32_t deepest(const struct picture *picture)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < picture->tree->count; i++) {
		const struct calltree_node *node = &picture->tree->node[i];
		if (node->depth > depth && width_of(picture, node) >= NARROWEST)
			depth = node->depth;
	}
	return depth;
}

static int draw(struct picture *picture, const struct profile *profile)
{
	int err = choose_colours(picture);

	picture->head = HEAD + LINE * __builtin_popcount(caveats_bits(&profile->meta));
	picture->height = picture->head + FOOT + ROW * (deepest(picture) + 1);
	picture->is_comparison = profile_is_comparison(profile);
	if (!err) {
		print_start(picture);
		err = print_heading(picture, profile);
	}
	if (!err)
		err = print_boxes(picture);
	if (!err)
		print_end(picture);
	free(picture->colour);
	return err;
}

int render_flame(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct calltree_options tree_options = {
		.type = options->type,
		.is_only_type = true,
		.by_name = true,
		.limit = options->limit ? options->limit : NODES_DEFAULT,
		.fraction = NARROWEST / WIDTH,
	};
	struct calltree tree;
	int err = render_refuse_terminal(out, "flame");

	if (err)
		return err;
	err = calltree_open(profile, &tree_options, &tree);
	if (err)
		return render_result(err, out);
	struct picture picture = {.tree = &tree, .type = options->type, .out = out};
	err = draw(&picture, profile);
	calltree_close(&tree);
	return render_result(err, out);
}
