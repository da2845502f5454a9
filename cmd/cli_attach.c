/* SPDX-License-Identifier: MIT */
/* cli_attach.c - `heapinject attach`: the command and its help. Its options: cli_session.c. */
#include "cli_choice.h"
#include "cli_command.h"
#include "cli_family.h"
#include "cli_push.h"
#include "cli_session.h"
#include "hi_exit.h"
#include "session.h"

static int run_attach(int argc, char **argv)
{
	struct session_options options = cli_session_defaults();
	struct cli_family given = {.command = "attach"};
	const struct cli_more_options more = {cli_family_options, cli_family_parse, &given};
	int next, exit_code = cli_session_parse(argc, argv, false, &more, &options, &next);
	if (exit_code == HI_EXIT_OK)
		exit_code = cli_choice_complete(argc, argv, next, &given.choice, &options.pid);
	if (exit_code == HI_EXIT_OK)
		exit_code = cli_session_complete(&options);
	if (exit_code == HI_EXIT_OK && cli_family_is_given(&given))
		return cli_family_attach(&given, &options);
	if (exit_code == HI_EXIT_OK && choice_is_given(&given.choice))
		exit_code = cli_choose_one("attach", &given.choice, &options.pid);
	return exit_code == HI_EXIT_OK ? session_attach(&options) : exit_code;
}

const struct command cli_attach = {
	"attach", run_attach,
	"PID|NAME|--name NAME|--cgroup PATH|--unit NAME|--port N [--all] [--follow-fork] "
	"[--max-children N] [-s TIME] [-c BYTES] "
	"[--every "
	"TIME] [--every-alloc BYTES] [--at-peak BYTES] "
	"[--at-rss BYTES|PERCENT] [--on-signal SIG] [--keep COUNT] [--max-overhead SHARE] "
	"[--live-max BLOCKS] [-o PREFIX] [--stream FILE] [--hook auto|entry|slot] [--prefix NAME] "
	"[--loader "
	"map|dlopen] [--until-sure] [--json] [--fail-if-grows] [--detached] [--push URL] [--otel] "
	"[--mmap] [--alloc-fn NAME:SIZE[:PTR][@POOL]] [--free-fn NAME:PTR|NAME:@POOL] "
	"[-q] [-v]",
	"profile the heap of a live process",
	"Samples the allocations of a running process, detaches, and leaves it as it was found.\n"
	"Ends after TIME, at Ctrl-C or SIGTERM, at `heapinject detach PID`, or when the process "
	"exits; each time the files are written.\n"
	"A process is given by its PID, or by what only one process has; if several have it, they "
	"are listed.\n"
	"\n"
	"      --name NAME        the process of this name (comm), or the file name of its "
	"executable; NAME alone is the same\n"
	"      --cgroup PATH      of this cgroup or one below it: /sys/fs/cgroup/a/b, or a/b\n"
	"      --unit NAME        of this unit of systemd\n"
	"      --port N           that listens on this TCP port\n"
	"      --all              a session of each process that has it, and at the end what they "
	"come to together\n"
	"      --follow-fork      also a session of each child that it forks meanwhile without "
	"executing another program, and of theirs\n"
	"      --max-children N   of so many at a time (default 64)\n"
	"  -s, --duration TIME    how long: 120, 500ms, 1.5s, 2m, 1h30m (default 60s)\n"
	"  -c, --sample BYTES     mean bytes between samples: 524288, 512K, 1M; 1 = every "
	"allocation, exact;\n"
	"                         auto (default): as many samples as --max-overhead allows\n"
	"      --every TIME       write a profile of what there is so far each so often, besides "
	"that of the end: 30s, 5m; their numbers\n"
	"                         NNNN follow each other in time, the end has the last one\n"
	"      --every-alloc BYTES  also each time that so much more was allocated: 1G\n"
	"      --at-peak BYTES    also each time that what is in use exceeds the highest written "
	"so far by so much: 64M\n"
	"      --at-rss BYTES|PERCENT  also once, when the process first has more resident "
	"memory: "
	"4G, or 80% of its memory limit\n"
	"      --on-signal SIG    also when heapinject, not the process, gets this signal: USR1, "
	"USR2, RTMIN+3\n"
	"      --keep COUNT, --max-kept COUNT  of all these, keep only the newest, older ones are "
	"removed; all: remove none\n"
	"                         (default: 32 with one of the options above, else all)\n"
	"      --max-overhead SHARE  share of its CPU time, or a quarter of that share of one "
	"CPU, that profiling may take: 1%, 0.2%, or off;\n"
	"                         samples are taken so seldom that it is kept, and weighed by how "
	"seldom (default 1%,\n"
	"                         or off where --sample is a number)\n"
	"      --live-max BLOCKS  how many sampled blocks may be live at a time: 50M (default "
	"256K; exact: any number); memory for\n"
	"                         them is reserved in the process, and used as needed: some 16 "
	"bytes each\n"
	"  -o, --output PREFIX    files are PREFIX.PID.NNNN.heap and .pb.gz (default "
	"./heapinject);\n"
	"                         in a directory, out/, they are called after the program;\n"
	"                         - writes the record stream to standard output, for `heapinject "
	"report -`\n"
	"      --stream FILE      writes the record stream into this new file, and no others, for "
	"`heapinject report FILE` and, with -c 1,\n"
	"                         `heapinject replay FILE`\n"
	"      --hook WHERE       entry: where the allocator's functions begin, the place that "
	"all calls pass; slot: in the tables of addresses by\n"
	"                         which programs and libraries call them, which leaves code "
	"alone, but misses what kept an address;\n"
	"                         auto (default): entry where that can be done safely, else slot\n"
	"      --prefix NAME      also an allocator whose functions have this prefix: my_ for "
	"my_malloc, my_free, ...; again for another\n"
	"      --loader LOADER    map (default): no code of the process's libraries runs for us;\n"
	"                         dlopen: debuggers see the payload by name, only at a proved "
	"safe point\n"
	"      --until-sure       end as soon as it is certain that something grows, at the "
	"latest "
	"after --duration\n"
	"      --json             at the end, write what grows as one JSON object to standard "
	"output, and all else to standard error\n"
	"      --fail-if-grows    exit with 4 if something grows, or probably does, and with 5 if "
	"that cannot be told\n"
	"      --detached         return once it is attached, and print the pid of the session, "
	"which goes on without a terminal;\n"
	"                         its messages go to PREFIX.PID.NNNN.log\n" CLI_PUSH_HELP
	"      --otel             show each sample to other tools as well, by probes in the "
	"process: "
	"otel_memory:alloc(address, size,\n"
	"                         weight) and otel_memory:free(address), for OpenTelemetry's eBPF "
	"profiler, bpftrace, perf\n"
	"      --mmap             hook mmap, munmap, mremap and brk of the C library, too; report "
	"--mmap shows what was mapped\n"
	"      --alloc-fn NAME:SIZE[:PTR][@POOL]  hook this function of a pool, too: "
	"ngx_palloc:2@1; again for another, up to 8\n"
	"                         SIZE: the argument (1 to 6) that is the size, or N*M: a count "
	"and the size of each; Ni: an int\n"
	"                         PTR: the argument that is the old block, which the result "
	"replaces, or *N: where the block is stored\n"
	"                         POOL: the argument that is the pool it lies in\n"
	"                         NAME: as in symbol tables; OBJECT!NAME is that of one library\n"
	"      --free-fn NAME:PTR, NAME:@POOL  the same of a function that frees the block in "
	"argument PTR, or all blocks of the\n"
	"                         pool in argument POOL: ngx_pfree:2, ngx_destroy_pool:@1\n"
	"  -q, --quiet            no progress\n"
	"  -v, --verbose          say what is done, and what grows whenever that changes\n"};
