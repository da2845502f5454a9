/* SPDX-License-Identifier: MIT */
/* remote_names.c - see remote_names.h. Start at remote_names_add(). */
#include "remote_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "joined_names.h"
#include "remote_page.h"
#include "scan.h"
#include "table.h"

#define PAGE_SIZE_MAX ((size_t)64 << 20)
#define LINE_SIZE_MAX 65536u
#define ASKED_MAX 5000u /* addresses in one request */

struct asking {
	const char *page;
	bool is_direct;
	uint64_t deadline_ns;
	struct profile *profile;
	struct table by_address; /* frames of the profile */
	char *text, *line;       /* room for the body of a request, and for a line of an answer */
	char *complaint;
};

/* post: NULL = GET. */
static int open_page(const struct asking *asking, const char *post, struct input *out_page)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	const struct http_request request = {
		.url = asking->page,
		.post = post,
		.timeout_ns = now_ns < asking->deadline_ns ? asking->deadline_ns - now_ns : 1,
		.size_max = PAGE_SIZE_MAX,
		.is_direct = asking->is_direct,
	};
	return remote_page_open(&request, out_page, asking->complaint);
}

/* "num_symbols: N": whether the server can name addresses at all. */
static int check_symbols(const struct asking *asking)
{
	static const char name[] = "num_symbols:";
	struct input page;
	char line[256];
	bool is_whole, has = false;
	uint64_t number;
	const int err = open_page(asking, NULL, &page);

	if (err)
		return err;
	while (!has && input_line(&page, line, sizeof(line), &is_whole)) {
		const char *cursor = line + strlen(name);

		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		skip_spaces(&cursor);
		has = scan_number(&cursor, 10, &number) && number;
	}
	remote_page_close(&page);
	if (!has)
		snprintf(asking->complaint, HTTP_COMPLAINT_MAX, "it has no symbols");
	return has ? 0 : -ENODATA;
}

/* The frames whose call is at this address and that have no name get it. */
static int take_line(const struct asking *asking)
{
	char *line = asking->line;
	const char *cursor = line;
	uint64_t address;
	uint32_t index;

	if (!scan_number(&cursor, 16, &address))
		return 0;
	char *names = line + (cursor - line);
	names += strspn(names, " \t");
	if (!*names || strncmp(names, "0x", 2) == 0 || strncmp(names, "??", 2) == 0)
		return 0;
	struct table_cursor seek = table_seek(&asking->by_address, hash_number(address));
	while (table_next(&asking->by_address, &seek, &index)) {
		struct profile_frame *frame = &asking->profile->frame[index];
		char *copy;

		if (frame->address - 1 != address || frame->line_count)
			continue;
		copy = strdup(names);
		const int err = copy ? joined_names_apply(frame, copy) : -ENOMEM;
		free(copy);
		if (err)
			return err;
	}
	return 0;
}

static int ask(const struct asking *asking)
{
	struct input page;
	bool is_whole;
	int err = open_page(asking, asking->text, &page);

	if (err)
		return err;
	while (!err && input_line(&page, asking->line, LINE_SIZE_MAX, &is_whole))
		err = take_line(asking);
	remote_page_close(&page);
	return err;
}

/* Writes the addresses of the next frames without a name, joined by +, into the text. */
static size_t list_addresses(const struct profile *profile, size_t *frame, char *text, size_t size)
{
	size_t used = 0, count = 0;

	for (; *frame < profile->frame_count && count < ASKED_MAX; ++*frame) {
		const struct profile_frame *at = &profile->frame[*frame];

		if (at->line_count || !at->address)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s0x%" PRIx64, count ? "+" : "",
					 at->address - 1);
		count++;
	}
	return count;
}

int remote_names_add(const char *page, bool is_direct, uint64_t deadline_ns,
		     struct profile *profile, char complaint[HTTP_COMPLAINT_MAX])
{
	const size_t size = ASKED_MAX * (sizeof("+0x") + 16);
	struct asking asking = {
		.page = page,
		.is_direct = is_direct,
		.deadline_ns = deadline_ns,
		.profile = profile,
		.text = malloc(size),
		.line = malloc(LINE_SIZE_MAX),
		.complaint = complaint,
	};
	int err = asking.text && asking.line ? check_symbols(&asking) : -ENOMEM;

	for (size_t i = 0; i < profile->frame_count && !err; i++)
		err = table_add(&asking.by_address, hash_number(profile->frame[i].address - 1),
				(uint32_t)i);
	for (size_t frame = 0; !err && list_addresses(profile, &frame, asking.text, size);)
		err = ask(&asking);
	table_close(&asking.by_address);
	free(asking.text);
	free(asking.line);
	return err;
}
