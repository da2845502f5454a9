/* SPDX-License-Identifier: MIT */
/*
 * site.h - the address that is listened on, and which Host and Origin a request may name.
 *
 * A page of another site that has its name lead to our address (DNS rebinding) is refused, as its
 * requests name that site's host. Names other than localhost are refused, addresses are not a name
 * that anybody can have lead elsewhere.
 */
#ifndef HI_SERVE_SITE_H
#define HI_SERVE_SITE_H

#include <netinet/in.h>
#include <stdbool.h>

#include "must_check.h"

struct serve_address {
	int family; /* AF_INET or AF_INET6 */
	union {
		struct in_addr v4;
		struct in6_addr v6;
	} ip;
};

struct serve_site {
	struct serve_address address;
	uint16_t port;
};

/* Reads an address, with brackets or without, or localhost. 0 or -EINVAL. */
must_check int serve_address_read(const char *text, struct serve_address *out_address);
bool serve_address_is_loopback(const struct serve_address *address);
/* Whether HOST[:PORT] is us. NULL is not. */
bool serve_site_is_host(const struct serve_site *site, const char *host);
/* The same for the Origin of a request; NULL = there is none, which is fine. */
bool serve_site_is_origin(const struct serve_site *site, const char *origin);

#endif
