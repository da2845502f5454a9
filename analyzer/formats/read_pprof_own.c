/* SPDX-License-Identifier: MIT */
/*
 * read_pprof_own.c - see read_pprof_own.h.
 *
 * An estimate is the number of samples times a weight, rounded to a whole number. All of a row has
 * the same weight. It follows from the mean size of the row's blocks, which is bytes divided by
 * objects, weighted or not. The weight is 1 or more, so rounding gives back the exact number of
 * samples.
 */
#include "read_pprof_own.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapfile_text.h"
#include "hooked_lines.h"
#include "residency.h"
#include "scan.h"

#define COUNT_MAX 0x1p62
#define MANY 1000u

static void set_text(char **field, const char *text, size_t size)
{
	char *copy = size ? strndup(text, size) : NULL;

	if (!copy)
		return;
	free(*field);
	*field = copy;
}

/* "pid 123 (comm) on host" */
static void read_process(const char *text, struct profile_meta *meta)
{
	const char *end = strstr(text, ") on "), *last = end;
	uint64_t pid;

	/* a program's name may hold ") on ", a host's may not */
	for (; last; last = strstr(last + 1, ") on "))
		end = last;
	if (!scan_number(&text, 10, &pid) || pid > UINT32_MAX || strncmp(text, " (", 2) != 0 ||
	    !end || end < text + 2)
		return;
	meta->pid = (uint32_t)pid;
	set_text(&meta->comm, text + 2, (size_t)(end - text - 2));
	end += strlen(") on ");
	set_text(&meta->host, end, strlen(end));
}

static bool skip_text(const char **cursor, const char *text)
{
	if (strncmp(*cursor, text, strlen(text)) != 0)
		return false;
	*cursor += strlen(text);
	return true;
}

/* "65536 bytes, 4711 samples, 0 dropped" */
static void read_rate(const char *text, struct profile_meta *meta)
{
	uint64_t interval, samples, dropped;

	/* of several the coarsest; that there were is said by another comment */
	if (!scan_number(&text, 10, &interval) ||
	    (skip_text(&text, " to ") && !scan_number(&text, 10, &interval)) ||
	    !skip_text(&text, " bytes, ") || !scan_number(&text, 10, &samples) ||
	    !skip_text(&text, " samples, ") || !scan_number(&text, 10, &dropped) ||
	    interval <= HI_INTERVAL_EXACT || interval > INT64_MAX)
		return;
	meta->interval = interval;
	meta->samples = samples;
	meta->dropped_allocs = dropped;
	meta->is_scaled = false;
}

/* "4711 ticks after boot" */
static void read_ticks(const char *text, struct profile_meta *meta)
{
	uint64_t ticks;

	if (scan_number(&text, 10, &ticks) && strcmp(text, " ticks after boot") == 0)
		meta->process_start_ticks = ticks;
}

static void read_end(const char *text, struct profile_meta *meta)
{
	uint64_t reason;

	if (scan_number(&text, 10, &reason) && !*text && reason <= INT32_MAX)
		meta->end_reason = (int)reason;
}

/* Out of memory is ignored: if there is none for a line, the whole file will not be read either. */
static void read_caveat(const char *text, struct profile_meta *meta)
{
	char *copy = strdup(text);

	if (copy)
		(void)heapfile_read_caveat(copy, meta);
	free(copy);
}

/* " LO=INODE" of each, LO in hexadecimal */
void pprof_own_inodes(const char *text, struct profile *profile)
{
	uint64_t lo, inode;

	if (!profile->meta.version || !skip_text(&text, PPROF_INODES_KEY))
		return;
	while (scan_char(&text, ' ') && scan_number(&text, 16, &lo) && scan_char(&text, '=') &&
	       scan_number(&text, 10, &inode))
		for (size_t i = 0; i < profile->module_count; i++)
			if (profile->module[i].lo == lo && !profile->module[i].build_id_size)
				profile->module[i].inode = inode;
}

/*
 * The first comment that heapinject writes is its version. Without it, all comments are another
 * tool's and are ignored.
 */
void pprof_own_comment(const char *text, struct profile_meta *meta)
{
	if (skip_text(&text, HEAPFILE_VERSION_KEY " "))
		set_text(&meta->version, text, strlen(text));
	if (!meta->version)
		return;
	if (skip_text(&text, HEAPFILE_CAVEAT_KEY " ")) {
		read_caveat(text, meta);
	} else if (skip_text(&text, HOOKED_KEY " ")) {
		(void)hooked_lines_add(meta, text, strlen(text));
	} else if (skip_text(&text, "pid ")) {
		read_process(text, meta);
	} else if (skip_text(&text, "command line: ")) {
		set_text(&meta->cmdline, text, strlen(text));
	} else if (skip_text(&text, "executable: ")) {
		set_text(&meta->exe, text, strlen(text));
	} else if (skip_text(&text, "process start: ")) {
		read_ticks(text, meta);
	} else if (skip_text(&text, "end reason: ")) {
		read_end(text, meta);
	} else if (skip_text(&text, "trigger: ")) {
		set_text(&meta->trigger, text, strlen(text));
	} else if (residency_of(text)) {
		meta->residency = residency_of(text);
	} else if (skip_text(&text, "one sample per ")) {
		read_rate(text, meta);
	} else if (strcmp(text, "every allocation counted: exact") == 0) {
		meta->is_scaled = false;
	} else if (skip_text(&text, "the rate changed ")) {
		/* The file does not say with which rate each sample was drawn. */
		meta->is_scaled = true;
		meta->interval = 1;
	}
}

uint64_t pprof_own_interval(const struct profile_meta *meta)
{
	return meta->is_scaled ? 1 : meta->interval;
}

/*
 * The share of the blocks that was sampled. For few objects (below MANY) the whole numbers of the
 * file do not give the size well; then the file's label gives it.
 */
static double share_of(uint64_t count, uint64_t bytes, uint64_t interval, uint64_t size)
{
	const double mean = count >= MANY || !size ? (double)bytes / (double)count : (double)size;

	return count && bytes ? -expm1(-mean / (double)interval) : 1;
}

/* At least 1 for an estimate that is not 0: a sample never stands for less than itself. */
static uint64_t sampled(uint64_t estimate, double share)
{
	return estimate ? (uint64_t)fmin(fmax(round((double)estimate * share), 1), COUNT_MAX) : 0;
}

static bool is_estimate(const struct profile_row *row)
{
	return row->key.interval > HI_INTERVAL_EXACT;
}

static void take_back_part(struct part *part, double alloc_share, double inuse_share)
{
	part->alloc_count = sampled(part->alloc_count, alloc_share);
	part->alloc_bytes = sampled(part->alloc_bytes, alloc_share);
	part->inuse_count = sampled(part->inuse_count, inuse_share);
	part->inuse_bytes = sampled(part->inuse_bytes, inuse_share);
	part->resident_bytes = sampled(part->resident_bytes, inuse_share);
	part->swapped_bytes = sampled(part->swapped_bytes, inuse_share);
	if (part->inuse_count > part->alloc_count)
		part->inuse_count = part->alloc_count;
}

static void add_part(struct profile_row *row, const struct part *part)
{
	row->alloc_count = heapfile_sum(row->alloc_count, part->alloc_count);
	row->alloc_bytes = heapfile_sum(row->alloc_bytes, part->alloc_bytes);
	row->inuse_count = heapfile_sum(row->inuse_count, part->inuse_count);
	row->inuse_bytes = heapfile_sum(row->inuse_bytes, part->inuse_bytes);
	row->resident_bytes = heapfile_sum(row->resident_bytes, part->resident_bytes);
	row->swapped_bytes = heapfile_sum(row->swapped_bytes, part->swapped_bytes);
}

/*
 * First the parts, while the rows still hold the estimates that give their weight. Then each row
 * becomes the sum of its parts.
 */
static void take_back_parts(struct profile *profile, const uint64_t *row_size)
{
	for (size_t i = 0; i < profile->breakdown.count; i++) {
		struct part *part = &profile->breakdown.part[i];
		const struct profile_row *row = &profile->row[part->row];
		const uint64_t size = row_size[part->row];

		if (is_estimate(row))
			take_back_part(part,
				       share_of(row->alloc_count, row->alloc_bytes,
						row->key.interval, size),
				       share_of(row->inuse_count, row->inuse_bytes,
						row->key.interval, size));
	}
	for (size_t i = 0; i < profile->row_count; i++) {
		if (is_estimate(&profile->row[i]))
			profile->row[i].alloc_count = profile->row[i].alloc_bytes =
				profile->row[i].inuse_count = profile->row[i].inuse_bytes =
					profile->row[i].resident_bytes =
						profile->row[i].swapped_bytes = 0;
	}
	for (size_t i = 0; i < profile->breakdown.count; i++) {
		if (is_estimate(&profile->row[profile->breakdown.part[i].row]))
			add_part(&profile->row[profile->breakdown.part[i].row],
				 &profile->breakdown.part[i]);
	}
}

static void take_back_row(struct profile_row *row, uint64_t size)
{
	struct part all = {.alloc_count = row->alloc_count,
			   .alloc_bytes = row->alloc_bytes,
			   .inuse_count = row->inuse_count,
			   .inuse_bytes = row->inuse_bytes,
			   .resident_bytes = row->resident_bytes,
			   .swapped_bytes = row->swapped_bytes};

	take_back_part(&all, share_of(row->alloc_count, row->alloc_bytes, row->key.interval, size),
		       share_of(row->inuse_count, row->inuse_bytes, row->key.interval, size));
	row->alloc_count = all.alloc_count;
	row->alloc_bytes = all.alloc_bytes;
	row->inuse_count = all.inuse_count;
	row->inuse_bytes = all.inuse_bytes;
	row->resident_bytes = all.resident_bytes;
	row->swapped_bytes = all.swapped_bytes;
}

static uint64_t known_size(const struct profile_row *row)
{
	return row->block_bytes == PROFILE_NO_LABEL ? 0 : row->block_bytes;
}

/* What is left of a mapping has the weight that all of it had. */
static void take_back_mapping(struct profile_row *row)
{
	const uint64_t size = known_size(row);
	const double share = share_of(row->alloc_count, row->alloc_bytes, row->key.interval, size);

	row->alloc_count = sampled(row->alloc_count, share);
	row->alloc_bytes = sampled(row->alloc_bytes, share);
	row->inuse_count = sampled(row->inuse_count, share);
	row->inuse_bytes = sampled(row->inuse_bytes, share);
	row->resident_bytes = sampled(row->resident_bytes, share);
}

void pprof_own_take_back(struct profile *profile, const uint64_t *row_size)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (is_estimate(&profile->mapping[i]))
			take_back_mapping(&profile->mapping[i]);
	for (size_t i = 0; i < profile->pooled_count; i++)
		if (is_estimate(&profile->pooled[i]))
			take_back_row(&profile->pooled[i], known_size(&profile->pooled[i]));
	if (profile->breakdown.count) {
		take_back_parts(profile, row_size);
		return;
	}
	for (size_t i = 0; i < profile->row_count; i++) {
		if (is_estimate(&profile->row[i]))
			take_back_row(&profile->row[i], row_size[i]);
	}
}
