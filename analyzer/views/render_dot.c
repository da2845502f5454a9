/* SPDX-License-Identifier: MIT */
/*
 * render_dot.c - see render_dot.h.
 *
 * The size of a box grows with the flat weight, and the width of an edge with its weight. The color
 * goes from grey to red with the cumulative share, so that the reader sees the path from the root
 * to the weight. Sizes follow pprof.
 */
#include "render_dot.h"

#include <math.h>
#include <string.h>

#include "hi_units.h"
#include "render_header.h"

/* bytes; a longer name makes a box wider than a screen, and dot slow */
#define NAME_MAX_SHOWN 300
/*
 * Letters of fixed width are as wide in any such font, so a box fits its text wherever the picture
 * is looked at, but for some hundredths, for which there are margins. graphviz knows the widths of
 * this one, whatever fonts are installed.
 */
#define FONT "fontname=\"Courier,monospace\""

enum quoting {
	QUOTE_PLAIN,
	QUOTE_LINES,  /* a line break ends a left-aligned line */
	QUOTE_SCOPES, /* "::" breaks the line */
};

/*
 * Prints text inside a quoted string of dot. A backslash is doubled, because dot expands \N, \G, \l
 * and others.
 */
static void print_quoted(const char *text, size_t size, enum quoting quoting, FILE *out)
{
	for (size_t i = 0; i < size && text[i]; i++) {
		if (text[i] == '"' || text[i] == '\\')
			fputc('\\', out);
		if (text[i] == '\n')
			fputs(quoting == QUOTE_LINES ? "\\l" : " ", out);
		else if (quoting == QUOTE_SCOPES && i > 0 && text[i] == ':' && text[i + 1] == ':') {
			fputs("\\n", out);
			i++;
		} else
			fputc(text[i], out);
	}
}

static void print_name(const char *name, enum quoting quoting, FILE *out)
{
	size_t size = strnlen(name, NAME_MAX_SHOWN + 1);

	if (size <= NAME_MAX_SHOWN) {
		print_quoted(name, size, quoting, out);
		return;
	}
	/* Do not cut inside a UTF-8 character. */
	for (size = NAME_MAX_SHOWN; size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80; size--)
		;
	print_quoted(name, size, quoting, out);
	fputs("...", out);
}

/*
 * Prints hue, saturation and value: from grey to red, or in a comparison to blue for what has
 * become less. The color changes faster at small shares, where most nodes are. Below a fifth it is
 * nearly grey.
 */
static void print_colour(const char *attribute, double share, bool is_background, FILE *out)
{
	const double size = fmin(fabs(share), 1), score = pow(size, 0.3);
	const double strength = size < 0.2 ? score * size / 0.2 : score;

	fprintf(out, " %s=\"%s %.3f %.3f\"", attribute, share < 0 ? "0.6" : "0.02",
		strength * (is_background ? 0.12 : 1), is_background ? 0.93 : 0.7);
}

static double share_of(double value, const struct callgraph *graph)
{
	return graph->percent_base != 0 ? value / fabs(graph->percent_base) : 0;
}

static const char *percent(double value, const struct callgraph *graph, char *text)
{
	render_percent(value, graph->percent_base, text);
	return text + strspn(text, " ");
}

static void print_node(const struct callgraph *graph, uint32_t index, enum sample_type type,
		       double largest_flat, FILE *out)
{
	const struct callgraph_node *node = &graph->node[index];
	const double flat = callgraph_flat(node), cum = callgraph_cum(node);
	char value[HI_UNITS_TEXT_MAX], share[HI_UNITS_TEXT_MAX];

	fprintf(out, "N%u [label=\"", index);
	print_name(node->name, QUOTE_SCOPES, out);
	fprintf(out, "\\n%s", flat != 0 ? render_value(flat, type, value) : "0");
	if (flat != 0)
		fprintf(out, " (%s)", percent(flat, graph, share));
	if (flat != cum)
		fprintf(out, "\\nof %s (%s)", render_value(cum, type, value),
			percent(cum, graph, share));
	fprintf(out, "\" fontsize=%.0f shape=box tooltip=\"",
		8 + ceil(largest_flat > 0 ? 16 * sqrt(fabs(flat) / largest_flat) : 0));
	print_name(node->name, QUOTE_PLAIN, out);
	if (node->file && node->line) {
		fputc(' ', out);
		print_name(node->file, QUOTE_PLAIN, out);
		fprintf(out, ":%u", node->line);
	}
	fputc('"', out);
	print_colour("color", share_of(cum, graph), false, out);
	print_colour("fillcolor", share_of(cum, graph), true, out);
	fputs("]\n", out);
}

static void print_edge(const struct callgraph *graph, const struct callgraph_edge *edge,
		       enum sample_type type, FILE *out)
{
	const double share = share_of(callgraph_weight(edge), graph);
	char value[HI_UNITS_TEXT_MAX];

	fprintf(out, "N%u -> N%u [label=\" %s%s\" weight=%.0f penwidth=%.2f", edge->caller,
		edge->callee, render_value(callgraph_weight(edge), type, value),
		edge->is_inline ? "\\n (inline)" : "", 1 + fmin(100, floor(100 * fabs(share))),
		1 + fmin(5, 5 * fabs(share)));
	print_colour("color", share, false, out);
	fputs(" tooltip=\"", out);
	print_name(graph->node[edge->caller].name, QUOTE_PLAIN, out);
	fputs(edge->is_residual ? " ... " : " -> ", out);
	print_name(graph->node[edge->callee].name, QUOTE_PLAIN, out);
	fprintf(out, "\"%s]\n", edge->is_residual ? " style=dotted" : "");
}

void render_dot(const struct callgraph *graph, enum sample_type type, const char *header, FILE *out)
{
	double largest_flat = 0;

	for (size_t i = 0; i < graph->node_count; i++)
		largest_flat = fmax(largest_flat, fabs(callgraph_flat(&graph->node[i])));
	fputs("digraph heap {\nnode [style=filled fillcolor=\"#f8f8f8\" margin=\"0.16,0.07\" " FONT
	      "]\n"
	      "edge [" FONT " fontsize=11]\n"
	      "subgraph cluster_header {\ncolor=none\nheader [shape=box fontsize=12 "
	      "margin=\"0.28,0.1\" label=\"",
	      out);
	print_quoted(header, strlen(header), QUOTE_LINES, out);
	fputs("\" tooltip=\"heap profile\"]\n}\n", out);
	for (size_t i = 0; i < graph->node_count; i++) {
		if (callgraph_has(&graph->node[i]))
			print_node(graph, (uint32_t)i, type, largest_flat, out);
	}
	for (size_t i = 0; i < graph->edge_count; i++)
		print_edge(graph, &graph->edge[i], type, out);
	fputs("}\n", out);
}
