/* SPDX-License-Identifier: MIT */
/* site.c - see site.h. */
#include "site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hi_units.h"

#define SCHEME "http://"
#define SCHEME_PORT 80u

int serve_address_read(const char *text, struct serve_address *out_address)
{
	char plain[INET6_ADDRSTRLEN + 2];
	size_t size = strlen(text);

	*out_address = (struct serve_address){.family = AF_INET};
	if (strcasecmp(text, "localhost") == 0)
		text = "127.0.0.1";
	if (inet_pton(AF_INET, text, &out_address->ip.v4) == 1)
		return 0;
	if (size > 2 && text[0] == '[' && text[size - 1] == ']') {
		text++;
		size -= 2;
	}
	if (size >= sizeof(plain))
		return -EINVAL;
	memcpy(plain, text, size);
	plain[size] = '\0';
	out_address->family = AF_INET6;
	return inet_pton(AF_INET6, plain, &out_address->ip.v6) == 1 ? 0 : -EINVAL;
}

bool serve_address_is_loopback(const struct serve_address *address)
{
	return address->family == AF_INET ? ntohl(address->ip.v4.s_addr) >> 24 == IN_LOOPBACKNET
					  : IN6_IS_ADDR_LOOPBACK(&address->ip.v6);
}

static bool is_any(const struct serve_address *address)
{
	return address->family == AF_INET ? address->ip.v4.s_addr == INADDR_ANY
					  : IN6_IS_ADDR_UNSPECIFIED(&address->ip.v6);
}

static bool is_same(const struct serve_address *one, const struct serve_address *other)
{
	return one->family == other->family &&
	       (one->family == AF_INET ? one->ip.v4.s_addr == other->ip.v4.s_addr
				       : IN6_ARE_ADDR_EQUAL(&one->ip.v6, &other->ip.v6));
}

bool serve_site_is_host(const struct serve_site *site, const char *host)
{
	char name[INET6_ADDRSTRLEN + 2];
	struct serve_address address;
	const char *end;
	uint64_t port = SCHEME_PORT;

	if (!host)
		return false;
	const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
	const size_t size = bracket ? (size_t)(bracket + 1 - host) : strcspn(host, ":");
	if (size >= sizeof(name))
		return false;
	if (host[size] == ':' &&
	    (host[size + 1] == '0' || hi_parse_digits(host + size + 1, &port, &end) || *end))
		return false;
	if ((host[size] && host[size] != ':') || port != site->port)
		return false;
	memcpy(name, host, size);
	name[size] = '\0';
	/* without brackets it is no address of this kind, in a Host header */
	if (serve_address_read(name, &address) || (address.family == AF_INET6 && !bracket))
		return false;
	return is_any(&site->address) || serve_address_is_loopback(&address) ||
	       is_same(&address, &site->address);
}

bool serve_site_is_origin(const struct serve_site *site, const char *origin)
{
	return !origin || (strncasecmp(origin, SCHEME, strlen(SCHEME)) == 0 &&
			   serve_site_is_host(site, origin + strlen(SCHEME)));
}
