/* SPDX-License-Identifier: MIT */
/* route.c - see route.h. A new path is one line in one of the tables. */
#include "route.h"

#include <stdint.h>
#include <string.h>

#include "hi_units.h"

#define PID_PREFIX "/pid/"

struct path {
	const char *path;
	enum serve_page page;
};

/* below /pid/PID, and bare, then of the only session or the first that was named */
static const struct path of_session[] = {
	{"/events", SERVE_EVENTS},
	{"/report", SERVE_REPORT},
	{"/profiles", SERVE_PROFILES},
	{"/text", SERVE_TEXT},
	{"/pprof/heap", SERVE_HEAP},
	/* a session begins with nothing: what is in use has grown since */
	{"/pprof/growth", SERVE_HEAP},
	{"/pprof/symbol", SERVE_SYMBOL},
	{"/pprof/cmdline", SERVE_COMMAND},
	{"/debug/pprof/heap", SERVE_PPROF},
	{"/debug/pprof/allocs", SERVE_ALLOCS},
	{"/debug/pprof/growth", SERVE_PPROF},
	{"/debug/pprof/symbol", SERVE_SYMBOL},
	{"/debug/pprof/cmdline", SERVE_COMMAND_NUL},
	{NULL, SERVE_NOTHING},
};
/* below /pid/PID alone */
static const struct path of_process[] = {
	{"/attach", SERVE_ATTACH},
	{"/detach", SERVE_DETACH},
	{"/explain", SERVE_INSPECT_EXPLAIN},
	{"/census", SERVE_INSPECT_CENSUS},
	{"/leaks", SERVE_INSPECT_LEAKS},
	{"/owners", SERVE_INSPECT_OWNERS},
	{NULL, SERVE_NOTHING},
};
static const struct path of_all[] = {
	{"/", SERVE_LIST}, {"/metrics", SERVE_METRICS}, {NULL, SERVE_NOTHING}};

static enum serve_page find(const struct path *path, const char *wanted)
{
	while (path->path && strcmp(path->path, wanted) != 0)
		path++;
	return path->page;
}

struct serve_route serve_route_find(const char *path)
{
	struct serve_route route = {0};
	const char *rest;
	uint64_t pid;

	if (strncmp(path, PID_PREFIX, strlen(PID_PREFIX)) != 0) {
		route.page = find(of_all, path);
		if (!route.page)
			route.page = find(of_session, path);
		return route;
	}
	if (hi_parse_digits(path + strlen(PID_PREFIX), &pid, &rest) || !pid || pid > INT32_MAX)
		return route;
	route.page = !*rest || strcmp(rest, "/") == 0 ? SERVE_LIVE : find(of_session, rest);
	if (!route.page)
		route.page = find(of_process, rest);
	if (route.page)
		route.pid = (pid_t)pid;
	return route;
}

bool serve_page_has_session(enum serve_page page)
{
	return page != SERVE_NOTHING && page != SERVE_LIST && page != SERVE_METRICS;
}

bool serve_page_is_inspection(enum serve_page page)
{
	return page == SERVE_INSPECT_EXPLAIN || page == SERVE_INSPECT_CENSUS ||
	       page == SERVE_INSPECT_LEAKS || page == SERVE_INSPECT_OWNERS;
}
