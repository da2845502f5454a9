/* SPDX-License-Identifier: MIT */
/* route.h - what the path of a request asks for. No path leads to a file. */
#ifndef HI_SERVE_ROUTE_H
#define HI_SERVE_ROUTE_H

#include <stdbool.h>
#include <sys/types.h>

enum serve_page {
	SERVE_NOTHING,  /* no such path */
	SERVE_LIST,     /* the sessions */
	SERVE_METRICS,  /* for Prometheus */
	SERVE_LIVE,     /* the live page of a session, */
	SERVE_EVENTS,   /* and what it is sent */
	SERVE_REPORT,   /* the page of reports */
	SERVE_PROFILES, /* those that are kept */
	SERVE_TEXT,     /* the table, and other views that are text */
	SERVE_TREE,
	SERVE_DOT,
	SERVE_COLLAPSED,
	SERVE_LEAKS,
	SERVE_HEAP,        /* .heap, as it is */
	SERVE_PPROF,       /* .pb.gz, of what is in use */
	SERVE_ALLOCS,      /* the same, of what was allocated */
	SERVE_SYMBOL,      /* names for addresses */
	SERVE_COMMAND,     /* the command line: arguments end with a newline, */
	SERVE_COMMAND_NUL, /* or with NUL */
	SERVE_ATTACH,      /* of this process, if pages may */
	SERVE_DETACH,
	SERVE_INSPECT_EXPLAIN, /* what a command of this name says of the process */
	SERVE_INSPECT_CENSUS,
	SERVE_INSPECT_LEAKS,
	SERVE_INSPECT_OWNERS,
	/* of no path, but asked by serve itself (follow.h) */
	SERVE_SESSIONS, /* the pids of the sessions */
	SERVE_LOOK,     /* a profile to keep */
};

struct serve_route {
	enum serve_page page;
	pid_t pid; /* 0 = none is named */
};

/* path: decoded, as it has come. */
struct serve_route serve_route_find(const char *path);
/* Whether the page is of one session. */
bool serve_page_has_session(enum serve_page page);
/* Whether it is one of SERVE_INSPECT_... */
bool serve_page_is_inspection(enum serve_page page);

#endif
