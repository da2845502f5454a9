/* SPDX-License-Identifier: MIT */
/* names.c - the names that a profile has for addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hi_analyzer.h"
#include "hi_exit.h"
#include "printable.h"
#include "reader.h"
#include "table.h"

/* "outer--inlined": as jeprof and google-pprof join them. */
static void write_names(uint64_t address, const struct profile_frame *frame, FILE *out)
{
	fprintf(out, "0x%016" PRIx64 "\t", address);
	for (size_t i = frame->line_count; i-- > 0;) {
		char *name = strdup(frame->line[i].function);

		if (name)
			printable(name);
		fprintf(out, "%s%s", name ? name : "??", i ? "--" : "\n");
		free(name);
	}
}

static const struct profile_frame *find(const struct profile *profile,
					const struct table *by_address, uint64_t call)
{
	struct table_cursor cursor = table_seek(by_address, hash_number(call));
	uint32_t index;

	while (table_next(by_address, &cursor, &index)) {
		const struct profile_frame *frame = &profile->frame[index];

		if (frame->address - 1 == call && frame->line_count)
			return frame;
	}
	return NULL;
}

int hi_analyzer_names(int fd, const uint64_t *address, size_t count, FILE *out)
{
	struct table by_address = {0};
	struct profile profile;
	int err = profile_open(&profile);

	if (!err)
		err = reader_read(fd, &profile);
	for (size_t i = 0; i < profile.frame_count && !err; i++)
		err = table_add(&by_address, hash_number(profile.frame[i].address - 1),
				(uint32_t)i);
	for (size_t i = 0; i < count && !err; i++) {
		const struct profile_frame *frame = find(&profile, &by_address, address[i]);

		/* google-pprof and jeprof ask for the innermost frames by their return addresses */
		if (!frame)
			frame = find(&profile, &by_address, address[i] - 1);
		if (frame)
			write_names(address[i], frame, out);
	}
	table_close(&by_address);
	profile_close(&profile);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}
