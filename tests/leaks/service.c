/* SPDX-License-Identifier: MIT */
/*
 * service.c - what goes on in a server beside anything that leaks: requests that come and go,
 * sessions, a table that never changes; and churn, of which there is as much as one wants.
 */
#include "programs.h"

#define REQUESTS 64
#define SESSIONS 40
#define SESSION_EVERY 20 /* requests */
#define ROUTES 500
#define CHURN_BLOCKS 256
#define CHURN_MEAN 2048

struct request {
	void *headers, *body, *page;
};

static struct request requests[REQUESTS];
static void *sessions[SESSIONS], *routes[ROUTES];

static SITE void *read_headers(void)
{
	const size_t size = 200 + random_below(1300);
	void *block = filled(malloc(size), size);

	USE(block);
	return block;
}

static SITE void *read_body(void)
{
	const size_t size = 500 + random_below(7500);
	void *block = filled(malloc(size), 500);

	USE(block);
	return block;
}

/* Written piece by piece, in a buffer that grows with it. */
static SITE void *render_page(void)
{
	const size_t size = 2000 + random_below(18000);
	char *page = NULL;

	for (size_t at = 0; at < size; at += 1000) {
		if (at % 4000 == 0)
			page = realloc(page, at + 4000);
		filled(page + at, 1000);
	}
	USE(page);
	return page;
}

static SITE void *open_session(void)
{
	void *block = filled(calloc(1, 1500), 1500);

	USE(block);
	return block;
}

static SITE void *add_route(void)
{
	void *block = filled(malloc(600), 600);

	USE(block);
	return block;
}

static SITE void handle_request(void)
{
	static unsigned count;
	struct request *request = &requests[count % REQUESTS];

	free(request->headers);
	free(request->body);
	free(request->page);
	request->headers = read_headers();
	request->body = read_body();
	request->page = render_page();
	if (count % SESSION_EVERY == 0) {
		void **session = &sessions[count / SESSION_EVERY % SESSIONS];

		free(*session);
		*session = open_session();
	}
	count++;
}

void service_prepare(void)
{
	for (size_t i = 0; i < ROUTES; i++)
		routes[i] = add_route();
	for (size_t i = 0; i < SESSIONS * SESSION_EVERY; i++)
		handle_request();
}

void service_tick(unsigned per_second)
{
	for (unsigned i = due(per_second); i; i--)
		handle_request();
}

static SITE void *churn_small(void)
{
	void *block = malloc(16 + random_below(CHURN_MEAN));

	USE(filled(block, 16));
	return block;
}

static SITE void *churn_large(void)
{
	void *block = malloc(CHURN_MEAN / 2 + random_below(2 * CHURN_MEAN));

	USE(filled(block, 64));
	return block;
}

static SITE void *churn_zeroed(void)
{
	void *block = calloc(1, 16 + random_below(2 * CHURN_MEAN));

	USE(filled(block, 16));
	return block;
}

void churn(double bytes_per_second)
{
	static _Thread_local void *blocks[CHURN_BLOCKS];

	for (unsigned i = due(bytes_per_second / CHURN_MEAN); i; i--) {
		void **at = &blocks[random_below(CHURN_BLOCKS)];
		const unsigned kind = random_below(8);

		free(*at);
		*at = kind == 0 ? churn_zeroed() : kind < 4 ? churn_large() : churn_small();
	}
}
