/* SPDX-License-Identifier: MIT */
/*
 * report_help.c - the text of `heapinject report --help`.
 *
 * The views come from their table (render.h). Completion and the shell parse this text, too. So an
 * option must be at the beginning of its line, with at least two spaces between it and its
 * description.
 */
#include <stdio.h>
#include <string.h>

#include "hi_analyzer.h"
#include "render.h"

#define HELP_MAX 16384u

static const char help_head[] =
	"usage: heapinject report FILE|URL|-... [VIEW] [options]\n"
	"       heapinject diff OLD NEW [VIEW] [options]\n"
	"\n"
	"Shows what a session has found. FILE is one of its profiles (PREFIX.PID.NNNN.heap or "
	".pb.gz), a record stream (heapinject attach PID -o -), or of\n"
	"another tool: gperftools, jemalloc, pprof, heaptrack, collapsed stacks, compressed or "
	"not;\n"
	"URL is http://HOST:PORT/debug/pprof/heap?seconds=30, HOST:PORT/pprof/heap, or HOST:PORT: "
	"fetched from a program that serves its profile, and\n"
	"not stored; -o FILE.heap stores it. - reads standard input. Several files are added up; "
	"of snapshots of one session, only the "
	"last counts. A heap profile of heapinject holds "
	"its symbols: neither the program nor its\n"
	"machine is needed.\n"
	"\n"
	"At a terminal, without a view and without -o, it asks what to show, one view after "
	"another; \"help\" there says how.\n"
	"\n"
	"views, the first one where none is named:\n";

static const char help_tail[] =
	"\n"
	"what is counted (estimates from the samples, exact with --sample 1):\n"
	"      --inuse-space      bytes allocated in the window and still live (default)\n"
	"      --inuse-objects    the same in objects\n"
	"      --alloc-space      bytes allocated in the window\n"
	"      --alloc-objects    the same in objects\n"
	"      --resident-space   bytes in use whose pages are in memory; of .pb.gz files of "
	"sessions\n"
	"      --swapped-space    bytes in use whose pages are swapped out; likewise\n"
	"      --sample-index TYPE  one of these, or its number for pprof: alloc_objects is 0, "
	"inuse_space 3\n"
	"\n"
	"options, by one dash or two, with - or _, as of pprof: -top, -nodecount=20, "
	"--trim=false; none is guessed from a part of its name:\n"
	"      --top, --proto     --text, --pprof\n"
	"  -p, --binary FILE      take the main program's symbols from FILE\n"
	"      --sysroot DIR      look for the program, its libraries and debug files below DIR "
	"first, "
	"as for a profile of another machine\n"
	"  -o, --output FILE      write the view to FILE instead of standard output; where no view "
	"is named, the ending says which;\n"
	"                         - is standard output\n"
	"      --seconds N        have the servers of URLs profile for N seconds: ?seconds=N\n"
	"      --timeout TIME     wait so long for a URL at most (60s, and what seconds= asks "
	"for); 90, 90s, 5m\n"
	"      --base FILE        compare: what is in FILE, or at a URL, counts against the rest; "
	"percentages "
	"are of all changes, up or down\n"
	"      --diff-base FILE   the same with percentages of what is in FILE; diff OLD NEW is "
	"report --diff-base OLD NEW\n"
	"      --as-is            compare windows of different length as they are: the longer one "
	"has more of everything\n"
	"      --scale-base       compare them as if that of the base were as long as the other: "
	"for "
	"what is allocated, or grows evenly\n"
	"      --normalize        scale what is compared so that its totals are those of the base: "
	"only shares differ\n"
	"      --sum              add up all files, snapshots of one session, too\n"
	"      --sort flat|cum    order rows by the function itself, or with what it calls\n"
	"      --flat, --cum      the same\n"
	"      --intervals        text: the 95 % interval of each figure, too\n"
	"      --details          text: waste (usable bytes beyond those requested), mean age of "
	"what is in use, mean lifetime of what was freed;\n"
	"                         above the table, the peak, the waste and the whole command line\n"
	"                         leaks, growth, temporary, waste: all calls of each stack\n"
	"      --tail TIME        leaks: what is younger does not count; 5s, 500ms, or a part of "
	"the "
	"window (default 10%); 0 is none\n"
	"      --fail-above BYTES exit with 4 if more is there: with --leaks, of what grows; else, "
	"in use in all (compared: more in use)\n"
	"                         and with 5 if that cannot be told\n"
	"      --color auto|always|never\n"
	"                         text: colour at a terminal, unless NO_COLOR is set (default); "
	"also through a pipe; nowhere. A file never has any\n"
	"  -h, --help             this text\n"
	"\n"
	"filters, for every view (RE: a regular expression, found anywhere in the names of "
	"functions, source files or modules):\n"
	"      --focus RE         only stacks in which something matches\n"
	"      --ignore RE        no stacks in which something matches\n"
	"      --hide RE          take out the functions that match\n"
	"      --show RE          take out the functions that do not\n"
	"      --show-from RE     take out what calls the outermost function that matches, and "
	"stacks without one\n"
	"      --prune-from RE    take out what the innermost function that matches calls\n"
	"      --tagfocus TAG     only blocks of a size (600b:, 1kb:1mb, :4kb), a thread "
	"(worker, thread=^io-, thread_id=77) or a label (request=/login)\n"
	"      --tagignore TAG    no blocks of that size, thread or label\n"
	"      --tagroot KEYS     make tags callers of all: bytes, thread, thread_id or labels, "
	"with commas between\n"
	"      --tagleaf KEYS     make tags what is called last\n"
	"      --tagshow RE       --tags: only keys that match\n"
	"      --taghide RE       --tags: no keys that match\n"
	"      --relative-percentages\n"
	"                         percentages of what passes the filters; else they stay those of "
	"the whole\n"
	"\n"
	"what counts as one:\n"
	"      --functions        a function (default)\n"
	"      --filefunctions    a function of a source file\n"
	"      --files, --lines, --addresses\n"
	"                         a source file, a line, an address of code\n"
	"      --granularity functions|filefunctions|files|lines|addresses\n"
	"                         the same\n"
	"      --no-inlines, --noinlines\n"
	"                         count inlined functions for the one that they were inlined into\n"
	"      --all-functions    text: also the functions that only hand memory on, or start the "
	"process or a thread; the order is pprof's\n"
	"      --wrapper RE       functions that match only hand memory on, like malloc and "
	"xmalloc: what calls them is shown as what allocates\n"
	"      --no-wrapper RE    those that match do not, whatever they are called\n"
	"      --trim-path DIRS   leave such prefixes of source files away, separated by colons\n"
	"      --source-path DIRS where source files lie here\n"
	"\n"
	"how much is shown, and how:\n"
	"  -n, --limit N, --nodecount N\n"
	"                         at most N rows, or N boxes in the graph (80 in trees and "
	"graphs); 0 is all, -1 is the view's own\n"
	"      --nodefraction F   nothing below F of the total (0.005)\n"
	"      --edgefraction F   no calls below F of the total (0.001)\n"
	"      --trim, --no-trim  leave these out (default), or nothing; --trim=false is "
	"--no-trim\n"
	"      --call-tree        graph: a box for each way to a function, not one for each "
	"function\n"
	"      --drop-negative    leave out rows that are below zero in a comparison\n"
	"      --unit UNIT        sizes in bytes, kb, mb, gb, tb; auto: each in its own (default); "
	"minimum: rows in that of the smallest\n"
	"      --mmap             what was mapped (mmap, mremap) in place of blocks, where attach "
	"was\n"
	"                         given --mmap\n"
	"      --pools            blocks of pools in place of those that malloc gave, where attach "
	"was\n"
	"                         given --alloc-fn\n"
	"      --mean             text, tree, peek, traces, topproto, graph: a mean per object "
	"allocated, by what is counted\n"
	"      --divide-by N      figures of views by function, divided by N; percentages stay\n"
	"      --show-bytes       --unit bytes\n"
	"\n"
	"exit status: 0 ok; 1 the file is missing, unusable or damaged (what was good in it is "
	"shown all the same), or the view failed;\n"
	"2 wrong usage; 4 more than --fail-above; 5 it cannot be told what grows (--leaks, "
	"--growth), or is above: the warnings of the report say why\n"
	"\n"
	"examples:\n"
	"  heapinject report heap.1234.0001.heap\n"
	"  heapinject report heap.1234.0001.heap --svg -o heap.svg\n"
	"  heapinject report heap.1234.0001.heap --leaks --tail 5s --fail-above 1M\n"
	"  heapinject report heap.1234.*.heap --growth\n"
	"  heapinject report http://127.0.0.1:6060/debug/pprof/heap --base morning.heap\n"
	"  heapinject attach 1234 -s 60 -o - | ssh box heapinject report - --alloc-space -n 20\n";

const char *hi_analyzer_report_help(void)
{
	static char text[HELP_MAX];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", help_head);

	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		char letter[] = "    ", name[64];

		if (renderer->letter)
			memcpy(letter, (const char[]){'-', renderer->letter, ','}, 3);
		snprintf(name, sizeof(name), "%s%s%s", renderer->name,
			 renderer->argument ? " " : "",
			 renderer->argument ? renderer->argument : "");
		used += (size_t)snprintf(text + used, sizeof(text) - used, "  %s--%-16s %s\n",
					 letter, name, renderer->help);
		if (used >= sizeof(text))
			return text;
	}
	snprintf(text + used, sizeof(text) - used, "%s", help_tail);
	return text;
}
