/* SPDX-License-Identifier: MIT */
/* push_options.c - see push_options.h. */
#include "push_options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hi_otlp.h"
#include "identity.h"

#define PARCA_PORT "7070"
#define OTLP_PORT "4318"

/* ---- labels ---------------------------------------------------------------------------------- */

/* Names of OpenTelemetry have dots; see check_labels(). */
static bool is_label_name(const char *name, size_t size)
{
	if (!size || size > PUSH_LABEL_NAME_MAX || isdigit((unsigned char)*name) || *name == '.')
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '.')
			return false;
	/* such names have a meaning for the servers */
	return size < 2 || strncmp(name, "__", 2) != 0;
}

static bool is_printable_ascii(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

const char *push_options_add_label(struct push_options *options, const char *text)
{
	const size_t size = strcspn(text, "=");
	struct push_label *label = NULL;

	if (text[size] != '=' || !is_label_name(text, size))
		return "not a label (NAME=VALUE; letters, digits, _ and, for otlp, dots in NAME, "
		       "and no __ in front)";
	if (strlen(text + size + 1) > PUSH_LABEL_VALUE_MAX || !is_printable_ascii(text + size + 1))
		return "the value of a label is not printable ASCII, or too long";
	for (size_t i = 0; i < options->label_count; i++)
		if (strlen(options->label[i].name) == size &&
		    !strncmp(options->label[i].name, text, size))
			label = &options->label[i];
	if (!label && options->label_count == PUSH_LABELS_MAX)
		return "more than 16 labels";
	if (!label)
		label = &options->label[options->label_count++];
	snprintf(label->name, sizeof(label->name), "%.*s", (int)size, text);
	snprintf(label->value, sizeof(label->value), "%s", text + size + 1);
	return NULL;
}

/* ---- the server ------------------------------------------------------------------------------ */

int push_options_parse_protocol(const char *text, enum push_protocol *out_protocol)
{
	if (!strcmp(text, "pyroscope"))
		*out_protocol = PUSH_PYROSCOPE;
	else if (!strcmp(text, "parca"))
		*out_protocol = PUSH_PARCA;
	else if (!strcmp(text, "otlp"))
		*out_protocol = PUSH_OTLP;
	else
		return -EINVAL;
	return 0;
}

/* The host and port of a URL. */
struct authority {
	const char *host, *port; /* a port that is not given has no digits */
	size_t host_size, port_size;
};

static bool split(const char *url, struct authority *out)
{
	const char *begin = strstr(url, "://") + 3;
	const size_t size = strcspn(begin, "/");
	const char *bracket = *begin == '[' ? memchr(begin, ']', size) : NULL;
	const char *colon = bracket ? bracket + 1 : memchr(begin, ':', size);
	const char *end = begin + size;

	if (*begin == '[' && !bracket)
		return false;
	if (!colon || colon == end)
		colon = end;
	else if (*colon != ':')
		return false;
	*out = (struct authority){.host = begin,
				  .host_size = (size_t)(colon - begin),
				  .port = colon == end ? end : colon + 1};
	out->port_size = (size_t)(end - out->port);
	for (size_t i = 0; i < out->port_size; i++)
		if (!isdigit((unsigned char)out->port[i]))
			return false;
	return out->host_size > 0 && out->port_size <= 5 && (colon == end || out->port_size);
}

static bool is_host(const struct authority *at, const char *name)
{
	return at->host_size == strlen(name) && !strncasecmp(at->host, name, at->host_size);
}

/* 127.0.0.0/8 by its digits, as names such as 127.example.org begin with them, too. */
static bool is_loopback(const struct authority *at)
{
	bool is_address = at->host_size > 4 && !strncmp(at->host, "127.", 4);

	for (size_t i = 0; i < at->host_size && is_address; i++)
		is_address = isdigit((unsigned char)at->host[i]) || at->host[i] == '.';
	return is_address || is_host(at, "localhost") || is_host(at, "[::1]");
}

static bool is_port(const struct authority *at, const char *port)
{
	return at->port_size == strlen(port) && !strncmp(at->port, port, at->port_size);
}

bool push_options_has_otlp_path(const char *url, size_t size)
{
	const size_t path = strlen(HI_OTLP_PATH);

	return size > path && !strncmp(url + size - path, HI_OTLP_PATH, path);
}

static enum push_protocol protocol_by(const char *url, const struct authority *at)
{
	size_t size = strlen(url);

	while (size && url[size - 1] == '/')
		size--;
	if (is_port(at, OTLP_PORT) || push_options_has_otlp_path(url, size))
		return PUSH_OTLP;
	return is_port(at, PARCA_PORT) ? PUSH_PARCA : PUSH_PYROSCOPE;
}

/* Labels of Pyroscope and Parca are those of Prometheus. */
static const char *check_labels(const struct push_options *options, const char **out_value)
{
	for (size_t i = 0; i < options->label_count && options->protocol != PUSH_OTLP; i++) {
		if (strchr(options->label[i].name, '.')) {
			*out_value = options->label[i].name;
			return "labels have dots in their names only with --push-protocol otlp";
		}
	}
	return NULL;
}

static const char *check_url(struct push_options *options)
{
	const char *url = options->url;
	const bool is_http = !strncasecmp(url, "http://", 7);
	struct authority at;

	if (!is_http && strncasecmp(url, "https://", 8) != 0)
		return "not a URL (http://HOST:PORT, https://HOST)";
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("?#\"\\<>", *c))
			return "a URL to push to has neither spaces nor parameters";
	if (strlen(url) > PUSH_URL_MAX / 2 || !split(url, &at))
		return "not a URL (http://HOST:PORT, https://HOST)";
	if (memchr(at.host, '@', at.host_size))
		return "users and passwords come from --push-token FILE, as all users see "
		       "arguments";
	options->is_direct = is_loopback(&at);
	if (is_http && !options->is_direct && !options->is_plain)
		return "profiles have names and command lines, which http shows to the network: "
		       "use "
		       "https, or allow it by --push-plain";
	if (options->protocol == PUSH_BY_URL)
		options->protocol = protocol_by(url, &at);
	if (options->protocol == PUSH_OTLP && !options->is_experimental)
		return "profiles of OTLP (" HI_OTLP_VERSION ") are alpha, and servers of another "
		       "version misread them: allow them by --experimental, or choose "
		       "--push-protocol pyroscope or parca";
	return NULL;
}

/* ---- the secret ------------------------------------------------------------------------------ */

static void encode(const char *text, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t size = strlen(text);

	for (size_t i = 0; i < size; i += 3) {
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < size ? (unsigned char)text[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			*out++ = i + k > size ? '=' : digits[bits >> (18 - 6 * k) & 63];
	}
	*out = '\0';
}

/* A token has no colon (RFC 6750), a user and a password have. */
static const char *set_authorization(struct push_options *options, const char *secret)
{
	char encoded[PUSH_SECRET_MAX];

	if (!*secret || !is_printable_ascii(secret))
		return "the token is empty, or not printable ASCII";
	if (strlen(secret) > PUSH_SECRET_MAX / 2)
		return "the token is too long";
	if (!strchr(secret, ':')) {
		snprintf(options->authorization, sizeof(options->authorization), "Bearer %.*s",
			 (int)(PUSH_SECRET_MAX / 2), secret);
		return NULL;
	}
	encode(secret, encoded);
	snprintf(options->authorization, sizeof(options->authorization), "Basic %.480s", encoded);
	explicit_bzero(encoded, sizeof(encoded));
	return NULL;
}

static const char *read_file(const char *path, char secret[PUSH_SECRET_MAX])
{
	struct identity_window window;
	struct stat status;

	if (identity_begin(identity_of_caller(), &window))
		return "the token cannot be read with the rights of the calling user";
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	identity_end(&window);
	if (fd < 0)
		return strerror(errno);
	const bool is_open_to_all =
		fstat(fd, &status) || (S_ISREG(status.st_mode) && status.st_mode & 0007);
	const ssize_t got = is_open_to_all ? 0 : read(fd, secret, PUSH_SECRET_MAX - 1);
	close(fd);
	if (is_open_to_all)
		return "all users may read or write the file of the token; chmod o= it";
	if (got < 0)
		return strerror(errno);
	secret[got] = '\0';
	secret[strcspn(secret, "\r\n")] = '\0';
	return NULL;
}

static const char *read_secret(struct push_options *options, const char **out_value)
{
	char secret[PUSH_SECRET_MAX] = "";
	const char *variable = getenv(PUSH_TOKEN_VARIABLE), *why = NULL;

	if (options->token_file) {
		*out_value = options->token_file;
		why = read_file(options->token_file, secret);
	} else if (variable) {
		*out_value = PUSH_TOKEN_VARIABLE;
		snprintf(secret, sizeof(secret), "%s", variable);
	}
	if (!why && (options->token_file || variable))
		why = set_authorization(options, secret);
	explicit_bzero(secret, sizeof(secret));
	return why;
}

const char *push_options_complete(struct push_options *options, const char **out_value)
{
	const char *why;

	*out_value = NULL;
	if (!options->url) {
		why = options->label_count || options->token_file || options->tenant ||
				      options->spool || options->spool_bytes || options->has_wait ||
				      options->is_plain || options->is_experimental ||
				      options->protocol != PUSH_BY_URL
			      ? "the options of --push want --push URL"
			      : NULL;
	} else if (strchr(options->url, '@')) {
		/* which is not shown again */
		why = "users and passwords come from --push-token FILE, as all users see arguments";
	} else {
		*out_value = options->url;
		why = check_url(options);
		if (!why)
			why = check_labels(options, out_value);
		if (!why && options->tenant &&
		    (!*options->tenant || !is_printable_ascii(options->tenant) ||
		     strlen(options->tenant) > PUSH_LABEL_VALUE_MAX)) {
			*out_value = options->tenant;
			why = "not the name of a tenant";
		}
		if (!why)
			why = read_secret(options, out_value);
	}
	(void)unsetenv(PUSH_TOKEN_VARIABLE);
	if (!options->spool_bytes)
		options->spool_bytes = PUSH_SPOOL_BYTES;
	if (!options->has_wait)
		options->wait_ns = PUSH_WAIT_NS;
	return why;
}
