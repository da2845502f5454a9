/* SPDX-License-Identifier: MIT */
/*
 * heapfile_write.c - writes a text that google-pprof, jeprof and go pprof all read. What only
 * heapinject needs is in comment lines, which they ignore. Start at heapfile_write().
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "heapfile.h"
#include "heapfile_text.h"
#include "hi_path.h"
#include "modules.h"
#include "row_history.h"
#include "table.h"

#define COUNT_MAX 0x1p62
#define NO_ADDRESS "0x00000001"
#define MADE_UP_STEP 16u
#define MADE_UP UINT64_C(0x1000000000000000) /* no CPU has code there */
/* four times the longest path; go pprof reads no line of 64 KiB */
#define MAPS_LINE_MAX 16384u

/*
 * Rounds to whole numbers, and carries what that takes away or adds over to the next row, so that
 * totals are right to one.
 */
struct carry {
	double inuse_count, inuse_bytes, gone_count, gone_bytes; /* gone: allocated, not in use */
};

static uint64_t carry_round(double *carry, double value, double least)
{
	const double rounded = fmin(fmax(round(value + *carry), least), COUNT_MAX / 2);

	*carry += value - rounded;
	return (uint64_t)rounded;
}

/*
 * The row as other readers should see it, which know one interval per file. Where all samples were
 * drawn with one interval, they weight the counts themselves. Otherwise the file says that every
 * allocation was counted, and has the estimates. heapinject reads the true figures from the comment
 * before the line.
 */
static struct profile_row seen_by_others(const struct profile_row *row, uint64_t nominal,
					 struct carry *carry)
{
	struct profile_row seen = *row;

	if (row->key.interval == nominal)
		return seen;
	const struct estimate inuse_count = estimate_row(row->inuse_count, row->inuse_bytes,
							 row->key.interval, INUSE_OBJECTS),
			      inuse_bytes = estimate_row(row->inuse_count, row->inuse_bytes,
							 row->key.interval, INUSE_SPACE),
			      alloc_count = estimate_row(row->alloc_count, row->alloc_bytes,
							 row->key.interval, ALLOC_OBJECTS),
			      alloc_bytes = estimate_row(row->alloc_count, row->alloc_bytes,
							 row->key.interval, ALLOC_SPACE);
	const double one = row->inuse_count ? 1 : 0;

	seen.inuse_count = carry_round(&carry->inuse_count, inuse_count.value, one);
	seen.inuse_bytes = carry_round(&carry->inuse_bytes, inuse_bytes.value, 0);
	seen.alloc_count =
		seen.inuse_count +
		carry_round(&carry->gone_count, alloc_count.value - inuse_count.value, 1 - one);
	seen.alloc_bytes = seen.inuse_bytes + carry_round(&carry->gone_bytes,
							  alloc_bytes.value - inuse_bytes.value, 0);
	return seen;
}

/* The interval that the file states: 1 if not all samples were drawn with the same one. */
static uint64_t nominal_interval(const struct profile *profile)
{
	uint64_t finest, coarsest;

	profile_intervals(profile, &finest, &coarsest);
	return finest == coarsest && finest ? finest : 1;
}

/* If a source counts only what is in use, the row gets the same counts for what was allocated. */
static struct profile_row whole_row(const struct profile_row *row)
{
	struct profile_row whole = *row;

	if (row->alloc_count < row->inuse_count) {
		whole.alloc_count = row->inuse_count;
		whole.alloc_bytes = row->inuse_bytes;
	}
	return whole;
}

/* Goes through the rows that are written, for the header, and again for the lines. */
struct rows {
	const struct profile *profile;
	uint64_t nominal;
	struct carry carry;
	size_t next;
};

static struct rows rows_open(const struct profile *profile)
{
	return (struct rows){.profile = profile, .nominal = nominal_interval(profile)};
}

/* False: there is no further one. */
static bool rows_next(struct rows *rows, struct profile_row *out_row, struct profile_row *out_seen)
{
	do {
		if (rows->next == rows->profile->row_count)
			return false;
		*out_row = whole_row(&rows->profile->row[rows->next++]);
	} while (!out_row->alloc_count);
	*out_seen = seen_by_others(out_row, rows->nominal, &rows->carry);
	return true;
}

/* " SHIFT SLICE:ALLOC:LIVE:GONE,..."; empty slices are left out. */
static void write_history(const struct profile *profile, const struct profile_row *row, FILE *out)
{
	struct history history;
	char before = ' ';

	if (!row_history_get(profile, row, &history))
		return;
	fprintf(out, " %" PRIu32, history.shift);
	for (uint32_t i = 0; i < HISTORY_SLICES; i++) {
		if (!history.alloc[i] && !history.gone[i])
			continue;
		fprintf(out, "%c%" PRIu32 ":%" PRIu32 ":%" PRIu32 ":%" PRIu32, before, i,
			history.alloc[i], history.live[i], history.gone[i]);
		before = ',';
	}
}

/*
 * Writes what the stack line that follows cannot hold, and the true counts, if the line shows other
 * ones. heapfile_read.c reads it.
 */
static void write_beside(const struct profile *profile, const struct profile_row *row, FILE *out)
{
	const double lifetime_ns =
		row->freed_count
			? fmin(fmax(row->freed_ns / (double)row->freed_count, 0), COUNT_MAX)
			: 0;
	const double born_ns =
		row->inuse_count
			? fmin(fmax(row->inuse_ns / (double)row->inuse_count, 0), COUNT_MAX)
			: 0;

	if (row->grain)
		fprintf(out, HEAPFILE_GRAIN "%" PRIu64 "\n", row->grain);
	fprintf(out,
		HEAPFILE_ROW "%" PRIu64 " %" PRIu64 ":%" PRIu64 " %" PRIu64 ":%" PRIu64 " %" PRIu64
			     ":%" PRIu64 " %" PRIu64 ":%.0f %.0f",
		row->key.interval, row->inuse_count, row->inuse_bytes, row->alloc_count,
		row->alloc_bytes, row->inuse_slack, row->alloc_slack, row->freed_count, lifetime_ns,
		born_ns);
	write_history(profile, row, out);
	putc('\n', out);
}

static void write_bucket(const struct profile_row *row, FILE *out)
{
	fprintf(out, "%6" PRIu64 ": %8" PRIu64 " [%6" PRIu64 ": %8" PRIu64 "] @", row->inuse_count,
		row->inuse_bytes, row->alloc_count, row->alloc_bytes);
}

/*
 * go pprof uses the totals for one thing only. If alloc and in-use are equal, or alloc is 0, the
 * profile has two sample types, else four. Profiles of two and of four types can be neither
 * compared nor merged. So equal totals get one object more, which no reader adds up.
 */
static void write_header(const struct profile *profile, FILE *out)
{
	struct rows rows = rows_open(profile);
	struct profile_row total = {0}, row, seen;

	while (rows_next(&rows, &row, &seen)) {
		total.inuse_count = heapfile_sum(total.inuse_count, seen.inuse_count);
		total.inuse_bytes = heapfile_sum(total.inuse_bytes, seen.inuse_bytes);
		total.alloc_count = heapfile_sum(total.alloc_count, seen.alloc_count);
		total.alloc_bytes = heapfile_sum(total.alloc_bytes, seen.alloc_bytes);
	}
	if (total.alloc_count == total.inuse_count)
		total.alloc_count++;
	fputs("heap profile: ", out);
	write_bucket(&total, out);
	fprintf(out, " heap_v2/%" PRIu64 "\n", rows.nominal);
}

static void write_modules(const struct profile *profile, FILE *out)
{
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->module[i];

		fprintf(out, "# module %" PRIx64 "-%" PRIx64 " %" PRIx64 " %" PRIx64 " ",
			module->lo, module->hi, module->file_offset, module->bias);
		for (size_t k = 0; k < module->build_id_size; k++)
			fprintf(out, "%02x", module->build_id[k]);
		fputs(module->build_id_size ? " " : "- ", out);
		heapfile_escape(module->path, out);
		putc('\n', out);
	}
}

static void write_symbol(uint64_t address, const struct profile_line *line, FILE *out)
{
	fprintf(out, "# symbol 0x%" PRIx64 " ", address);
	heapfile_escape(line->function ? line->function : HEAPFILE_UNKNOWN, out);
	putc('\t', out);
	heapfile_escape(line->file ? line->file : HEAPFILE_UNKNOWN, out);
	fprintf(out, ":%" PRIu32, line->line);
	if (line->system_name &&
	    (!line->function || strcmp(line->system_name, line->function) != 0)) {
		putc('\t', out);
		heapfile_escape(line->system_name, out);
	}
	putc('\n', out);
}

/* A frame that got another address keeps, as its name, its module and the place in it. */
static void write_place(uint64_t address, const struct profile *profile,
			const struct profile_frame *frame, FILE *out)
{
	const bool has_module =
		frame->module >= 0 && frame->module < (int64_t)profile->module_count;
	const struct profile_module *module = has_module ? &profile->module[frame->module] : NULL;

	fprintf(out, "# symbol 0x%" PRIx64 " ", address);
	if (module && module->path) {
		heapfile_escape(hi_base_name(module->path), out);
		putc('+', out);
	}
	fprintf(out, "0x%" PRIx64 "\t" HEAPFILE_UNKNOWN ":0\n",
		frame->address - (module ? 1 + module->bias : 0));
}

static void write_symbols(const struct profile *profile, const uint64_t *address, FILE *out)
{
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frame[i];

		for (size_t k = 0; k < frame->line_count; k++)
			write_symbol(address[i], &frame->line[k], out);
		if (!frame->line_count && address[i] != frame->address)
			write_place(address[i], profile, frame, out);
	}
}

static void write_row(const struct profile *profile, const struct profile_row *counts,
		      const struct profile_row *seen, const uint64_t *address, FILE *out)
{
	const struct profile_stack *stack = &profile->stack[counts->key.stack];

	write_beside(profile, counts, out);
	write_bucket(seen, out);
	for (uint32_t i = 0; i < stack->frame_count; i++)
		fprintf(out, " 0x%08" PRIx64, address[stack->frame[i]]);
	if (!stack->frame_count)
		fputs(" " NO_ADDRESS, out);
	putc('\n', out);
}

static void write_rows(const struct profile *profile, const uint64_t *address, FILE *out)
{
	struct rows rows = rows_open(profile);
	struct profile_row row, seen;

	while (rows_next(&rows, &row, &seen))
		write_row(profile, &row, &seen, address, out);
}

/* The target controls the maps: lines that no kernel would write are left out. */
static void write_maps(const char *maps, FILE *out)
{
	fputs("\n" HEAPFILE_MAPS "\n", out);
	while (maps && *maps) {
		const size_t length = strcspn(maps, "\n");

		if (length && length < MAPS_LINE_MAX) {
			fwrite(maps, 1, length, out);
			putc('\n', out);
		}
		maps += length + (maps[length] == '\n');
	}
}

static bool is_taken(const struct table *by_address, const uint64_t *address, uint64_t wanted)
{
	struct table_cursor cursor = table_seek(by_address, hash_number(wanted));
	uint32_t index;

	while (table_next(by_address, &cursor, &index)) {
		if (address[index] == wanted)
			return true;
	}
	return false;
}

/* The modules as a reader of the file knows them: of those at one place the last. */
static int last_modules(const struct profile *profile, struct modules *out_modules)
{
	int err = 0;

	for (size_t i = 0; i < profile->module_count && !err; i++)
		err = modules_add(out_modules, &(struct module_range){.lo = profile->module[i].lo,
								      .hi = profile->module[i].hi,
								      .index = (uint32_t)i});
	return err == -ENOSPC ? 0 : err;
}

/* Would a reader look for the name of a frame that has none in another module than its own? */
static bool is_misplaced(const struct profile_frame *frame, const struct modules *modules)
{
	return !frame->line_count && frame->address &&
	       modules_find(modules, frame->address - 1, true) != frame->module;
}

/*
 * The file tells frames apart only by their addresses. So a frame that has a name and no address,
 * or the address of another frame (of another process, or of a module that was mapped there
 * before), or an address where another module was mapped later, gets an address that no other
 * frame has.
 */
static int find_addresses(const struct profile *profile, const struct modules *modules,
			  struct table *by_address, uint64_t *out_address)
{
	uint64_t next = MADE_UP;

	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frame[i];

		out_address[i] = frame->address;
		if ((frame->line_count && !frame->address) || is_misplaced(frame, modules) ||
		    is_taken(by_address, out_address, frame->address)) {
			while (is_taken(by_address, out_address, next))
				next += MADE_UP_STEP;
			out_address[i] = next;
		}
		if (table_add(by_address, hash_number(out_address[i]), (uint32_t)i))
			return -ENOMEM;
	}
	return 0;
}

/* The address to write, by frame. The caller frees it. NULL = out of memory. */
static uint64_t *addresses_of(const struct profile *profile)
{
	uint64_t *address = malloc((profile->frame_count + 1) * sizeof(*address));
	struct table by_address = {0};
	struct modules modules = {0};

	if (address && (last_modules(profile, &modules) ||
			find_addresses(profile, &modules, &by_address, address))) {
		free(address);
		address = NULL;
	}
	modules_close(&modules);
	table_close(&by_address);
	return address;
}

static void write_moment(const struct profile_moment *moment, FILE *out)
{
	fprintf(out, "# " HEAPFILE_MEMORY_KEY " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		moment->time_ns, moment->anonymous, moment->resident, moment->seen);
}

static void write_heap(const struct heap_moment *moment, FILE *out)
{
	fprintf(out,
		"# " HEAPFILE_HEAP_KEY " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		moment->time_ns, moment->anonymous, moment->used_bytes, moment->used_count,
		moment->used, moment->free, moment->cached, moment->trimmable, moment->own,
		moment->unsure);
}

static void write_freed(const struct profile_meta *meta, FILE *out)
{
	if (meta->frees_share > 0)
		fprintf(out, "# " HEAPFILE_FREES_SHARE_KEY " %.0f\n", meta->frees_share * 1e6);
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++) {
		const struct profile_freed *freed = &meta->unsampled_freed[i];

		if (freed->seen)
			fprintf(out,
				"# " HEAPFILE_FREED_KEY " %" PRIu32 " %" PRIu64 " %" PRIu64
				" %" PRIu64 "\n",
				i, freed->seen, freed->count, freed->bytes);
	}
}

int heapfile_write(const struct profile *profile, FILE *out)
{
	uint64_t *address = addresses_of(profile);

	if (!address)
		return -ENOMEM;
	write_header(profile, out);
	heapfile_write_meta(&profile->meta, out);
	for (size_t i = 0; i < profile->meta.change_count && i < PROFILE_CHANGES_MAX; i++)
		fprintf(out, "# interval %" PRIu64 " %" PRIu64 "\n",
			profile->meta.change[i].time_ns, profile->meta.change[i].interval);
	for (uint32_t i = 0; i < profile->meta.moment_count; i++)
		write_moment(&profile->meta.moment[i], out);
	for (uint32_t i = 0; i < profile->meta.heap.count; i++)
		write_heap(&profile->meta.heap.moment[i], out);
	write_freed(&profile->meta, out);
	write_modules(profile, out);
	write_symbols(profile, address, out);
	write_rows(profile, address, out);
	write_maps(profile->meta.maps, out);
	fputs(HEAPFILE_END "\n", out);
	free(address);
	return 0;
}
