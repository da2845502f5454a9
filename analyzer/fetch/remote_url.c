/* SPDX-License-Identifier: MIT */
/* remote_url.c - see remote_url.h. */
#include "remote_url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hi_units.h"

#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
#define SCHEME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."
#define ADDRESS_CHARACTERS "0123456789abcdefABCDEF:."
#define AUTHORITY_END "/?#"
#define SECONDS "seconds="
#define PATH_ROOM 256u /* for what is added to an argument */

static const char *after_scheme(const char *text)
{
	const size_t size = strspn(text, SCHEME_CHARACTERS);

	return size && strncmp(text + size, "://", 3) == 0 ? text + size + 3 : NULL;
}

/* The first character after the host, which may be an address of IPv6 in brackets. */
static const char *after_host(const char *text)
{
	if (*text == '[') {
		text += 1 + strspn(text + 1, ADDRESS_CHARACTERS);
		return *text == ']' ? text + 1 : NULL;
	}
	const size_t size = strspn(text, HOST_CHARACTERS);
	return size ? text + size : NULL;
}

/* The host, after user and password. *out_end: of host and port. */
static const char *host_of(const char *text, const char **out_end)
{
	const char *rest = after_scheme(text), *host = rest ? rest : text;

	*out_end = host + strcspn(host, AUTHORITY_END);
	for (const char *at = host; at < *out_end; at++) {
		if (*at == '@')
			host = at + 1;
	}
	return host;
}

static bool is_port(const char *text, const char *end)
{
	uint64_t port;

	return *text == ':' && hi_parse_digits(text + 1, &port, &text) == 0 && port &&
	       port <= UINT16_MAX && text == end;
}

bool remote_url_is(const char *text)
{
	if (after_scheme(text))
		return true;
	const char *host_end = after_host(text);
	return host_end && is_port(host_end, text + strcspn(text, AUTHORITY_END));
}

const char *remote_url_check(const char *text)
{
	const char *rest = after_scheme(text), *end, *host = host_of(text, &end);

	if (rest && strncasecmp(text, "http://", 7) != 0 && strncasecmp(text, "https://", 8) != 0)
		return "only http:// and https:// are fetched";
	for (const char *at = text; *at; at++) {
		if (*at <= ' ' || *at > '~')
			return "in a URL, spaces, control characters and what is not ASCII are "
			       "written as %20 and the like";
	}
	if (strlen(text) > REMOTE_URL_MAX - PATH_ROOM)
		return "the URL is too long";
	const char *host_end = after_host(host);
	if (!host_end || (host_end != end && !is_port(host_end, end)))
		return "the URL is not http://HOST:PORT/PATH or "
		       "http://USER:PASSWORD@HOST:PORT/PATH; / and @ in a password are written as "
		       "%2F and %40";
	return NULL;
}

void remote_url_complete(const char *text, char out_url[REMOTE_URL_MAX])
{
	snprintf(out_url, REMOTE_URL_MAX, "%s%.*s", after_scheme(text) ? "" : "http://",
		 (int)strcspn(text, "#"), text);
}

/* Parameters that are no secret: those of net/http/pprof. */
static bool is_known_parameter(const char *name, size_t size)
{
	static const char *const known[] = {SECONDS, "debug=", "gc="};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (size == strlen(known[i]) && memcmp(name, known[i], size) == 0)
			return true;
	}
	return false;
}

/* Puts a star in the place of each value that is not known. */
static bool hide_values(char *query)
{
	char *to = query, *at = query;
	bool is_hidden = false;

	while (*at) {
		const size_t whole = strcspn(at, "&#"), sign = strcspn(at, "=&#"),
			     name = sign < whole ? sign + 1 : whole;
		const bool is_star = whole == name + 1 && at[name] == '*';
		const bool hides = name < whole && !is_star && !is_known_parameter(at, name);
		const size_t kept = hides ? name : whole;

		memmove(to, at, kept);
		to += kept;
		if (hides)
			*to++ = '*';
		is_hidden |= hides;
		at += whole;
		if (*at)
			*to++ = *at++;
	}
	memset(to, 0, (size_t)(at - to));
	return is_hidden;
}

bool remote_url_hide(char *text)
{
	const char *rest = after_scheme(text), *end;
	char *authority = text + (rest ? rest - text : 0);
	const char *host = host_of(text, &end);
	char *query = strchr(text, '?');
	bool is_hidden = query && hide_values(query + 1);

	if (host > authority) {
		const size_t size = strlen(host), dropped = (size_t)(host - authority);

		memmove(authority, host, size);
		memset(authority + size, 0, dropped);
		is_hidden = true;
	}
	return is_hidden;
}

bool remote_url_is_bare(const char *url)
{
	const char *end;

	(void)host_of(url, &end);
	end += *end == '/';
	return !*end || *end == '?';
}

bool remote_url_with_path(const char *url, const char *path, char out_url[REMOTE_URL_MAX])
{
	const char *end;

	(void)host_of(url, &end);
	return snprintf(out_url, REMOTE_URL_MAX, "%.*s%s%s", (int)(end - url), url, path,
			end + strcspn(end, "?")) < (int)REMOTE_URL_MAX;
}

/* The parameter seconds=, or NULL. */
static const char *find_seconds(const char *url)
{
	for (const char *at = strchr(url, '?'); at; at = strchr(at, '&')) {
		at++;
		if (strncmp(at, SECONDS, strlen(SECONDS)) == 0)
			return at;
	}
	return NULL;
}

bool remote_url_with_seconds(const char *url, uint64_t seconds, char out_url[REMOTE_URL_MAX])
{
	const char *given = find_seconds(url), *rest = given ? given + strcspn(given, "&") : "";
	const char *sign = given ? "" : strchr(url, '?') ? "&" : "?";

	return snprintf(out_url, REMOTE_URL_MAX, "%.*s%s" SECONDS "%llu%s",
			(int)(given ? (size_t)(given - url) : strlen(url)), url, sign,
			(unsigned long long)seconds, rest) < (int)REMOTE_URL_MAX;
}

uint64_t remote_url_seconds(const char *url)
{
	const char *given = find_seconds(url), *end;
	uint64_t seconds;

	if (!given || hi_parse_digits(given + strlen(SECONDS), &seconds, &end))
		return 0;
	return seconds < REMOTE_URL_SECONDS_MAX ? seconds : REMOTE_URL_SECONDS_MAX;
}

bool remote_url_beside(const char *url, const char *page, char out_url[REMOTE_URL_MAX])
{
	static const char directory[] = "/pprof/";
	const char *path, *end = url + strcspn(url, "?#"), *last = NULL;

	(void)host_of(url, &path);
	for (const char *at = path; at < end; at++) {
		if (*at == '/')
			last = at + 1;
	}
	if (!last || (size_t)(last - path) < strlen(directory) ||
	    memcmp(last - strlen(directory), directory, strlen(directory)) != 0)
		return false;
	return snprintf(out_url, REMOTE_URL_MAX, "%.*s%s", (int)(last - url), url, page) <
	       (int)REMOTE_URL_MAX;
}

bool remote_url_is_loopback(const char *url)
{
	const char *end, *host = host_of(url, &end), *host_end = after_host(host);
	const size_t size = host_end ? (size_t)(host_end - host) : 0;

	return (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == size) ||
	       (size == 5 && strncmp(host, "[::1]", 5) == 0) ||
	       (size == 9 && strncasecmp(host, "localhost", 9) == 0);
}
