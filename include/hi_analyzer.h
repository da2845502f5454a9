/* SPDX-License-Identifier: MIT */
/*
 * hi_analyzer.h - the analyzer, as the command line and the injector's session see it.
 *
 * Both entries run in a process of their own that may be killed at any time: they hold no privilege and touch no target.
 */
#ifndef HI_ANALYZER_H
#define HI_ANALYZER_H

#include <stdint.h>

/*
 * What keeps us from saying what a profile would otherwise say (analyzer/model/caveats.h). The first two: figures of what is in use are too high; the others:
 * what was seen is not all.
 */
enum hi_caveat {
	HI_CAVEAT_MISSED_FREES, /* blocks come back whose frees nobody has seen */
	HI_CAVEAT_IMPOSSIBLE,   /* more would be in use than there is memory for */
	HI_CAVEAT_UNHOOKED,     /* allocations go to an allocator that is not hooked */
	HI_CAVEAT_OTHER_MEANS,  /* the process has grown by much more than by what was seen */
	HI_CAVEATS,
};

/* What the analyzer child tells the injector after every STATS record, one such struct per write on status_fd, for the progress line. */
struct hi_analyzer_status {
	uint64_t samples;
	uint64_t live_bytes;   /* estimated in-use bytes of what was allocated in the window */
	uint64_t live_objects; /* estimated */
	uint64_t bad_records;
	uint32_t caveats; /* 1 << enum hi_caveat */
	uint32_t reserved;
};

/*
 * Reads a record stream from stream_fd until its end (or the first damage), writes the gperftools heap profile to heap_fd and the gzipped
 * pprof profile to pprof_fd (each ignored if negative), then prints the totals (three or so lines) to summary_fd.
 * status_fd: see above; negative = none. Writes to status_fd never block and may be lost.
 * At a DUMP record it asks over ask_fd for two more files, and writes the profile as it is then into these; the stream is read on meanwhile.
 * Symbols are read then and at the end, from files that are asked for over ask_fd (hi_files.h); with ask_fd = 0 it opens them itself, by the
 * open paths of the stream's modules, and makes no dumps. Returns an exit code (hi_exit.h). Owns none of the descriptors. Not thread-safe; call in a child
 * process.
 */
struct hi_analyzer_outputs {
	int stream_fd;
	int status_fd;
	int heap_fd;
	int pprof_fd;
	int summary_fd;
	int ask_fd;
};
int hi_analyzer_collect(const struct hi_analyzer_outputs *outputs);

/* `heapinject report ...` and `heapinject diff ...`: argv[0] is the command. Returns an exit code. */
int hi_analyzer_report(int argc, char **argv);

/* Help text of `report`, for `heapinject help report`. */
const char *hi_analyzer_report_help(void);

#endif
