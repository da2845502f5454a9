/* SPDX-License-Identifier: MIT */
/*
 * hi_analyzer.h - the interface of the analyzer for the command line and for the injector's
 * session.
 *
 * Both entry points run in a process of their own, which may be killed at any time: it holds no
 * privilege and touches no target.
 */
#ifndef HI_ANALYZER_H
#define HI_ANALYZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hi_signature.h"

/*
 * Reasons why a profile is not reliable (analyzer/model/caveats.h). The first two mean that the
 * figures of memory in use are too high. The next two mean that not everything was seen that should
 * be, and so does DROPPED. OTHER_HEAP is no doubt, but information.
 */
enum hi_caveat {
	/* the allocator returned addresses again whose frees were not seen */
	HI_CAVEAT_MISSED_FREES,
	/* the estimate of memory in use exceeds the memory that the process has */
	HI_CAVEAT_IMPOSSIBLE,
	HI_CAVEAT_UNHOOKED, /* an allocator that is not hooked serves some allocations */
	/* the process has grown by much more than the allocations that were seen */
	HI_CAVEAT_OTHER_MEANS,
	/* it runs a language runtime with a heap of its own: what is said of malloc's is right */
	HI_CAVEAT_OTHER_HEAP,
	/* for a while the user had nothing sampled: the figures are of the rest of the time */
	HI_CAVEAT_PAUSED,
	HI_CAVEAT_DROPPED, /* many samples, or frees of samples, were dropped */
	HI_CAVEATS,
};

#define HI_ANALYZER_SENTENCE_MAX 400u
#define HI_ANALYZER_GROWS 1u /* it is certain that something grows */

/*
 * The status that the analyzer child sends to the injector after every STATS record, for the
 * progress line: one such struct per write on status_fd.
 */
struct hi_analyzer_status {
	uint64_t samples;
	/* estimated in-use bytes of the blocks that were allocated during the session */
	uint64_t live_bytes;
	uint64_t live_objects; /* estimated */
	/* the same as live_bytes, and all allocated bytes, of this very STATS record; estimated */
	uint64_t inuse_bytes, allocated_bytes;
	uint32_t resets; /* RESET records so far, which all figures are since */
	uint64_t bad_records;
	uint32_t caveats; /* 1 << enum hi_caveat */
	uint32_t verdict; /* HI_ANALYZER_GROWS, or another one */
	/* bytes per second of all that grows, and its 95 % interval; 0 = nothing does for certain
	 */
	int64_t slope, slope_low, slope_high;
	/*
	 * The answer so far, if names_live is set: a sentence, terminated, empty before there is
	 * one. `answer` is its number, which changes when its verdict or the place that it names
	 * does.
	 */
	uint32_t answer;
	char sentence[HI_ANALYZER_SENTENCE_MAX];
};

/* Separates the summary, which is text, from the answer for programs, an object in JSON. */
#define HI_ANALYZER_ANSWER '\f'
/*
 * After that answer, if blocks were looked for that leaked: this, one of the letters below, the
 * report as text, this once more, and a member of the object, in JSON, after a comma.
 */
#define HI_ANALYZER_LEAKS '\v'
#define HI_ANALYZER_LEAKED 'l'
#define HI_ANALYZER_NOT_LEAKED 'n'
#define HI_ANALYZER_LEAKS_UNSURE 'u' /* not all that the program did was seen */

/*
 * Reads a record stream from stream_fd until its end (or the first damage), writes the gperftools
 * heap profile to heap_fd and the gzipped pprof profile to pprof_fd (each ignored if negative),
 * then prints to summary_fd: what grows, the totals (about three lines), and the answer for
 * programs: HI_ANALYZER_ANSWER and an object without its closing brace. status_fd: see above;
 * negative = none. Writes to status_fd never block and may be lost. At a DUMP record the analyzer
 * asks over ask_fd for two more files, and writes the profile as it is at that point into these. It
 * continues to read the stream meanwhile. The analyzer reads symbols at each dump and at the end,
 * from files for which it asks over ask_fd (hi_files.h). With ask_fd = 0 it opens them itself, by
 * the open paths of the stream's modules, and makes no dumps. Returns an exit code (hi_exit.h).
 * Owns none of the descriptors. Not thread-safe; call in a child process.
 */
struct hi_analyzer_outputs {
	int stream_fd;
	int status_fd;
	int heap_fd;
	int pprof_fd;
	int summary_fd;
	int ask_fd;
	/*
	 * /proc/PID/pagemap of the process, to be read when a profile is written; 0 = what is
	 * resident is not wanted, negative = it could not be opened
	 */
	int pagemap_fd;
	/* looks up names while the session runs, for the sentence of the status */
	bool names_live;
	/* lines of a file that says what is no leak, as of LeakSanitizer; NULL = none */
	const char *suppressions;
};
int hi_analyzer_collect(const struct hi_analyzer_outputs *outputs);

/*
 * The number of the first line of the text that no file of suppressions has, or that is one too
 * many; 0 = all are good.
 */
size_t hi_analyzer_check_suppressions(const char *text);

/*
 * The readable name of a C++ class from its mangled one, as typeid(T).name() has it; the mangled
 * one itself where it is none. A new string, or NULL: out of memory. The name may be hostile: call
 * it without rights.
 */
char *hi_analyzer_type_name(const char *mangled);
/* The same of a variable, by its symbol, of C++ or Rust; the symbol itself if it is not mangled. */
char *hi_analyzer_variable_name(const char *symbol);

/*
 * Reads a heap profile of heapinject from profile_fd, names and all, and writes what it says to
 * out_fd, as hi_rows.h describes it: the same figures as those of `heapinject report --leaks`.
 * Opens no file, and needs no right. Returns an exit code; on failure it has written nothing, or a
 * part. Owns neither descriptor.
 */
int hi_analyzer_rows(int profile_fd, int out_fd);

/*
 * The same, as JSON for a page: an object with `start` and `duration` of the window (Unix time,
 * seconds), `live`, `low` and `high` (bytes in use and the 95% interval), `notes` (texts: why the
 * figures are not reliable, if so), and `moments` and `answer` of the page of reports
 * (analyzer/views/html_data.h). Returns an exit code.
 */
int hi_analyzer_live(int profile_fd, FILE *out);

/*
 * Reads a record stream of an exact session from stream_fd, packed or not, and writes its
 * allocations and frees to the empty file list_fd, as hi_trial.h describes it. Opens no file, and
 * needs no right. Returns an exit code; on failure the head of the list says why, if even that
 * could be written.
 */
int hi_analyzer_list_events(int stream_fd, int list_fd);

/*
 * `heapinject report ...` and `heapinject diff ...`: argv[0] is the command. Returns an exit code.
 */
int hi_analyzer_report(int argc, char **argv);

/*
 * Names for addresses of calls (a return address less one) or, where there is no such call, return
 * addresses, as the profile at fd has them: lines "0xADDRESS\tNAME"; what has no name has none.
 * Returns an exit code.
 */
int hi_analyzer_names(int fd, const uint64_t *address, size_t count, FILE *out);

/*
 * What is between <style> and </style>, and between <script> and </script>, in each page of
 * `report --html`. For hashes in a Content-Security-Policy.
 */
void hi_analyzer_page_style(FILE *out);
void hi_analyzer_page_script(FILE *out);
/* The part of the script that formats figures and draws a chart, for a page beside it. */
void hi_analyzer_chart_script(FILE *out);

/*
 * The signature of the function that begins at an address of an ELF file with debug information.
 * The file may be hostile: call it without rights. Reads it by its descriptor, and opens no other.
 * 0; -ENOENT: there is no debug information of it; -ENOMEM.
 */
int hi_analyzer_signature(int fd, uint64_t address, struct hi_signature *out_signature);

/* Help text of `report`, for `heapinject help report`. */
const char *hi_analyzer_report_help(void);

#endif
