/* SPDX-License-Identifier: MIT */
/*
 * render.c - see render.h.
 */
#include "render.h"

#include "render_formats.h"

const struct renderer renderers[] = {
	{"text", 't', NULL, ".txt", "table of functions", render_text, false},
	{"tree", 0, NULL, NULL, "each function with its callers above and its callees below",
	 render_tree, false},
	{"peek", 0, "RE", NULL, "the same for the functions whose names match, untrimmed",
	 render_peek, false},
	{"traces", 0, NULL, NULL, "every stack with what it holds", render_traces, false},
	{"threads", 0, NULL, NULL, "table of the threads that allocated", render_threads, false},
	{"modules", 0, NULL, NULL, "table of the program and its libraries", render_modules, false},
	{"sizes", 0, NULL, NULL, "histogram of block sizes", render_sizes, false},
	{"svg", 's', NULL, ".svg", "call graph, drawn by graphviz", render_svg, false},
	{"pdf", 0, NULL, ".pdf", "the same as PDF", render_pdf, false},
	{"png", 0, NULL, ".png", "the same as PNG", render_png, false},
	{"dot", 0, NULL, ".dot", "the same as graphviz' input", render_dot_text, false},
	{"collapsed", 0, NULL, ".collapsed",
	 "one line per stack, for flamegraph.pl, speedscope and the like", render_collapsed, true},
	{"heap", 0, NULL, ".heap", "heap profile, as attach writes it, of all that was read",
	 render_heap, false},
	{"pprof", 0, NULL, ".pb.gz", "profile of pprof", render_pprof, false},
	{"speedscope", 0, NULL, ".speedscope.json", "for speedscope, all sample types",
	 render_speedscope, true},
	{"callgrind", 0, NULL, ".callgrind",
	 "for kcachegrind and callgrind_annotate, all sample types", render_callgrind, true},
	{"dhat", 0, NULL, ".dhat.json", "for valgrind's dh_view.html, with lifetimes", render_dhat,
	 true},
	{"massif", 0, NULL, ".massif",
	 "for ms_print: how what is in use has grown, one snapshot a file", render_massif, true},
	{"json", 0, NULL, ".json", "everything, with intervals, for programs of your own",
	 render_json, false},
	{"leaks", 0, NULL, NULL, "what is still there, by stack, and which of it grows",
	 render_leaks, false},
	{"growth", 0, NULL, NULL,
	 "several files, the oldest first: how what each stack holds has changed; with --html or "
	 "into a .html the page, opened at a chart",
	 render_growth, false},
	{"temporary", 0, NULL, NULL,
	 "stacks whose blocks were freed soon after they were allocated", render_temporary, false},
	{"waste", 0, NULL, NULL, "usable bytes beyond those requested, by stack", render_waste,
	 false},
	{"flame", 0, NULL, ".flame.svg",
	 "flame graph, a picture that zooms and searches in a browser", render_flame, false},
	{"html", 0, NULL, ".html",
	 "what grows, flame graph, callers, functions, call graph and source in one page that "
	 "needs no network; of one file or of several",
	 render_html, false},
	{"symbolize", 0, NULL, ".heap",
	 "one heap profile as it is, completed by the names and source lines that are found here",
	 render_symbolize, false},
	{"list", 0, "REGEX", NULL, "source of matching functions, line by line", render_list,
	 false},
	{"disasm", 0, "REGEX", NULL, "machine code of matching functions, by instruction",
	 render_disasm, false},
	{NULL, 0, NULL, NULL, NULL, NULL, false},
};
