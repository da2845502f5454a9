/* SPDX-License-Identifier: MIT */
/*
 * pprof.c - builds the message in memory, strings and functions numbered at first use, and
 * compresses it. Start at pprof_build().
 */
#include "pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "allocators.h"
#include "caveats.h"
#include "estimate.h"
#include "heapfile_text.h"
#include "hi_units.h"
#include "hooked_lines.h"
#include "mapping_rows.h"
#include "pool_rows.h"
#include "pprof_fields.h"
#include "printable.h"
#include "residency.h"
#include "sample_types.h"
#include "table.h"
#include "text_out.h"

#define COMMENT_MAX 1280u
#define PPROF_VALUES (SAMPLE_TYPE_COUNT + MAPPING_TYPES + POOL_TYPES)
#define INODE_TEXT_MAX 64u /* of one module, and the key */

struct pprof_function {
	uint64_t name, system_name, file; /* string numbers */
};
struct pprof {
	const struct profile *profile;
	struct protobuf message;
	struct protobuf part, line; /* the current field of the profile, and a message within it */
	struct table strings, functions;
	char **string;
	size_t string_count, string_capacity;
	struct pprof_function *function;
	size_t function_count, function_capacity;
	bool failed;
};

static void part_begin(struct pprof *pprof)
{
	protobuf_reset(&pprof->part);
}

static void part_end(struct pprof *pprof, unsigned int field)
{
	protobuf_message(&pprof->message, field, &pprof->part);
}

/*
 * The number of a string, which is added to the message when it is first used. Readers insist on
 * UTF-8, which the target's strings need not be.
 */
static uint64_t string_number(struct pprof *pprof, const char *text)
{
	char *copy = strdup(text ? text : "");
	struct table_cursor cursor;
	uint64_t hash;
	uint32_t index;

	if (!copy || array_reserve(&pprof->string, &pprof->string_capacity, pprof->string_count,
				   sizeof(*pprof->string))) {
		pprof->failed = true;
		free(copy);
		return 0;
	}
	printable(copy);
	hash = hash_bytes(copy, strlen(copy));
	cursor = table_seek(&pprof->strings, hash);
	while (table_next(&pprof->strings, &cursor, &index)) {
		if (strcmp(pprof->string[index], copy) == 0) {
			free(copy);
			return index;
		}
	}
	index = (uint32_t)pprof->string_count;
	pprof->string[pprof->string_count++] = copy;
	pprof->failed = table_add(&pprof->strings, hash, index) || pprof->failed;
	protobuf_string(&pprof->message, PROFILE_STRING_TABLE, copy);
	return index;
}

static void put_function(struct pprof *pprof, uint64_t id, const struct pprof_function *function)
{
	struct protobuf message = {0};

	protobuf_number(&message, FUNCTION_ID, id);
	protobuf_number(&message, FUNCTION_NAME, function->name);
	protobuf_number(&message, FUNCTION_SYSTEM_NAME, function->system_name);
	protobuf_number(&message, FUNCTION_FILENAME, function->file);
	protobuf_message(&pprof->message, PROFILE_FUNCTION, &message);
	protobuf_close(&message);
}

/* The number of a function, likewise. Numbers start at 1. */
static uint64_t function_number(struct pprof *pprof, const struct profile_line *line)
{
	const struct pprof_function wanted = {
		.name = string_number(pprof, line->function),
		.system_name = string_number(pprof, line->system_name ? line->system_name
								      : line->function),
		.file = string_number(pprof, line->file),
	};
	const uint64_t hash = hash_bytes(&wanted, sizeof(wanted));
	struct table_cursor cursor = table_seek(&pprof->functions, hash);
	uint32_t index;

	while (table_next(&pprof->functions, &cursor, &index)) {
		if (memcmp(&pprof->function[index], &wanted, sizeof(wanted)) == 0)
			return index + 1ull;
	}
	index = (uint32_t)pprof->function_count;
	if (array_reserve(&pprof->function, &pprof->function_capacity, pprof->function_count,
			  sizeof(*pprof->function)) ||
	    table_add(&pprof->functions, hash, index)) {
		pprof->failed = true;
		return 0;
	}
	pprof->function[pprof->function_count++] = wanted;
	put_function(pprof, index + 1ull, &wanted);
	return index + 1ull;
}

static void put_value_type(struct pprof *pprof, unsigned int field, const char *type,
			   const char *unit)
{
	part_begin(pprof);
	protobuf_number(&pprof->part, VALUE_TYPE, string_number(pprof, type));
	protobuf_number(&pprof->part, VALUE_UNIT, string_number(pprof, unit));
	part_end(pprof, field);
}

/*
 * What is known about the frames of one module. pprof looks up the names itself if the mapping does
 * not claim to have them.
 */
struct mapping_has {
	bool functions, files, lines;
};

static void put_mapping(struct pprof *pprof, size_t index, struct mapping_has has)
{
	const struct profile_module *module = &pprof->profile->module[index];
	char build_id[2 * PROFILE_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < module->build_id_size; i++)
		snprintf(&build_id[2 * i], 3, "%02x", module->build_id[i]);
	part_begin(pprof);
	protobuf_number(&pprof->part, MAPPING_ID, index + 1);
	protobuf_number(&pprof->part, MAPPING_START, module->lo);
	protobuf_number(&pprof->part, MAPPING_LIMIT, module->hi);
	protobuf_number(&pprof->part, MAPPING_OFFSET, module->file_offset);
	protobuf_number(&pprof->part, MAPPING_FILENAME, string_number(pprof, module->path));
	protobuf_number(&pprof->part, MAPPING_BUILD_ID, string_number(pprof, build_id));
	protobuf_number(&pprof->part, MAPPING_HAS_FUNCTIONS, has.functions);
	protobuf_number(&pprof->part, MAPPING_HAS_FILENAMES, has.files);
	protobuf_number(&pprof->part, MAPPING_HAS_LINE_NUMBERS, has.lines);
	protobuf_number(&pprof->part, MAPPING_HAS_INLINE_FRAMES, has.lines);
	part_end(pprof, PROFILE_MAPPING);
}

static void put_mappings(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	struct mapping_has *has = calloc(profile->module_count + 1, sizeof(*has));

	if (!has) {
		pprof->failed = true;
		return;
	}
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frame[i];

		for (size_t k = 0; k < frame->line_count && frame->module >= 0; k++) {
			has[frame->module].functions |= frame->line[k].function != NULL;
			has[frame->module].files |= frame->line[k].file != NULL;
			has[frame->module].lines |= frame->line[k].line != 0;
		}
	}
	for (size_t i = 0; i < profile->module_count; i++)
		put_mapping(pprof, i, has[i]);
	free(has);
}

static void put_location(struct pprof *pprof, size_t index)
{
	const struct profile_frame *frame = &pprof->profile->frame[index];

	part_begin(pprof);
	protobuf_number(&pprof->part, LOCATION_ID, index + 1);
	protobuf_number(&pprof->part, LOCATION_MAPPING_ID, (uint64_t)(frame->module + 1));
	/* Readers of this format subtract nothing: the address is that of the call. */
	protobuf_number(&pprof->part, LOCATION_ADDRESS, frame->address ? frame->address - 1 : 0);
	for (size_t i = 0; i < frame->line_count; i++) {
		protobuf_reset(&pprof->line);
		protobuf_number(&pprof->line, LINE_FUNCTION_ID,
				function_number(pprof, &frame->line[i]));
		protobuf_number(&pprof->line, LINE_LINE, frame->line[i].line);
		protobuf_message(&pprof->part, LOCATION_LINE, &pprof->line);
	}
	part_end(pprof, PROFILE_LOCATION);
}

static void put_text_label(struct pprof *pprof, const char *key, const char *text)
{
	protobuf_reset(&pprof->line);
	protobuf_number(&pprof->line, LABEL_KEY, string_number(pprof, key));
	protobuf_number(&pprof->line, LABEL_STR, string_number(pprof, text));
	protobuf_message(&pprof->part, SAMPLE_LABEL, &pprof->line);
}

/* A size keeps its unit, other numbers what the file said. */
static void put_number_label(struct pprof *pprof, const struct label *label)
{
	protobuf_reset(&pprof->line);
	protobuf_number(&pprof->line, LABEL_KEY, string_number(pprof, label->key));
	protobuf_number(&pprof->line, LABEL_NUM, (uint64_t)label->number);
	if (*label->unit)
		protobuf_number(&pprof->line, LABEL_NUM_UNIT, string_number(pprof, label->unit));
	protobuf_message(&pprof->part, SAMPLE_LABEL, &pprof->line);
}

/* The mean block size. A row with only in-use figures has nothing allocated. */
static uint64_t block_size(const struct profile_row *row)
{
	if (row->alloc_count && row->alloc_bytes)
		return row->alloc_bytes / row->alloc_count;
	return row->inuse_count ? row->inuse_bytes / row->inuse_count : 0;
}

/* True if the file that was read holds negative values, and nothing was compared with it. */
static bool is_bare_difference(const struct profile_meta *meta)
{
	bool is_compared = false;

	for (size_t i = 0; i < PROFILE_VALUES; i++)
		is_compared |= meta->base_changes[i] != 0;
	return meta->is_difference && !is_compared;
}

/*
 * The labels that pprof -tags and -tagfocus understand: the size as a number, the thread as texts,
 * because pprof shows no number without a unit.
 */
static void put_labels(struct pprof *pprof, const struct profile_row *row, const struct part *part)
{
	const struct part_thread *thread =
		part->thread ? &pprof->profile->breakdown.thread[part->thread] : NULL;
	const struct label_set *labels = labels_get(&pprof->profile->labels, row->key.labels);
	char tid[16];

	put_number_label(pprof, &(struct label){.key = "bytes",
						.number = (int64_t)block_size(row),
						.unit = LABEL_BYTES});
	if (row->key.side == PROFILE_BASE && !is_bare_difference(&pprof->profile->meta))
		/* pprof -diff_base marks base samples in this way: percentages are of their sum */
		put_text_label(pprof, "pprof::base", "true");
	if (thread && thread->name)
		put_text_label(pprof, "thread", thread->name);
	if (thread && thread->tid) {
		snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
		put_text_label(pprof, "thread_id", tid);
	}
	if (row->is_mapping)
		put_text_label(pprof, MAPPING_OWNER_LABEL, mapping_rows_owner(pprof->profile, row));
	for (size_t i = 0; i < labels->count; i++) {
		if (row->is_mapping && strcmp(labels->label[i].key, MAPPING_OWNER_LABEL) == 0)
			continue;
		if (labels->label[i].text)
			put_text_label(pprof, labels->label[i].key, labels->label[i].text);
		else
			put_number_label(pprof, &labels->label[i]);
	}
}

/*
 * A part's share in the estimate of its row. All blocks of a row have the same weight, so the
 * shares add up to the estimate.
 */
static int64_t value_of(const struct pprof *pprof, const struct profile_row *row,
			const struct part *part, enum sample_type type)
{
	const uint64_t whole = sample_type_of_row(row, type),
		       share = sample_type_of_part(part, type);
	const double value = estimate_of(pprof->profile, row, type).value;

	return text_whole(share == whole ? value : value * (double)share / (double)whole);
}

/* How many types of mappings the file has, after those of blocks. */
static size_t mapping_type_count(const struct profile *profile)
{
	if (!profile->has_mappings)
		return 0;
	/* the last is that of what is resident */
	return sample_type_count(profile) == SAMPLE_TYPE_COUNT &&
			       profile->mapping_residency == PROFILE_RESIDENCY_KNOWN
		       ? MAPPING_TYPES
		       : MAPPING_TYPES - 1;
}

/* Likewise of blocks of pools, after those of mappings. */
static size_t pool_type_count(const struct profile *profile)
{
	return profile->has_pooled ? POOL_TYPES : 0;
}

/* A row of blocks has no mappings, and the other way round. Values are int64 on the wire. */
static size_t values_of(const struct pprof *pprof, const struct profile_row *row,
			const struct part *part, uint64_t value[PPROF_VALUES])
{
	const struct profile *profile = pprof->profile;
	const size_t types = (size_t)sample_type_count(profile),
		     mapping_types_here = mapping_type_count(profile),
		     pool_types_here = pool_type_count(profile);
	size_t count = 0;

	memset(value, 0, PPROF_VALUES * sizeof(*value));
	for (size_t type = 0; type < types && !row->is_mapping && !row->is_pooled; type++)
		value[type] = (uint64_t)value_of(pprof, row, part, (enum sample_type)type);
	count = types;
	for (size_t i = 0; i < mapping_types_here && row->is_mapping; i++)
		value[count + i] =
			(uint64_t)value_of(pprof, row, part, (enum sample_type)mapping_types[i].as);
	count += mapping_types_here;
	for (size_t i = 0; i < pool_types_here && row->is_pooled; i++)
		value[count + i] =
			(uint64_t)value_of(pprof, row, part, (enum sample_type)pool_types[i].as);
	return count + pool_types_here;
}

static void put_sample(struct pprof *pprof, const struct profile_row *row, const struct part *part)
{
	const struct profile_stack *stack = &pprof->profile->stack[row->key.stack];
	uint64_t value[PPROF_VALUES],
		*location = calloc(stack->frame_count + 1u, sizeof(*location));

	if (!location) {
		pprof->failed = true;
		return;
	}
	for (uint32_t i = 0; i < stack->frame_count; i++)
		location[i] = stack->frame[i] + 1ull;
	const size_t values = values_of(pprof, row, part, value);
	part_begin(pprof);
	protobuf_packed(&pprof->part, SAMPLE_LOCATION_ID, location, stack->frame_count);
	protobuf_packed(&pprof->part, SAMPLE_VALUE, value, values);
	put_labels(pprof, row, part);
	part_end(pprof, PROFILE_SAMPLE);
	free(location);
}

static void put_row(struct pprof *pprof, const struct profile_row *row)
{
	const struct part all = {.alloc_count = row->alloc_count,
				 .alloc_bytes = row->alloc_bytes,
				 .inuse_count = row->inuse_count,
				 .inuse_bytes = row->inuse_bytes,
				 .resident_bytes = row->resident_bytes,
				 .swapped_bytes = row->swapped_bytes};

	if (row->alloc_count || row->inuse_count)
		put_sample(pprof, row, &all);
}

static void put_samples(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (size_t i = 0; i < profile->breakdown.count; i++) {
		if (profile->breakdown.part[i].alloc_count ||
		    profile->breakdown.part[i].inuse_count)
			put_sample(pprof, &profile->row[profile->breakdown.part[i].row],
				   &profile->breakdown.part[i]);
	}
	for (size_t i = 0; i < profile->row_count && !profile->breakdown.count; i++)
		put_row(pprof, &profile->row[i]);
	for (size_t i = 0; i < profile->mapping_count; i++)
		put_row(pprof, &profile->mapping[i]);
	for (size_t i = 0; i < profile->pooled_count; i++)
		if (!pool_rows_is_senseless(profile, &profile->pooled[i]))
			put_row(pprof, &profile->pooled[i]);
}

__attribute__((format(printf, 2, 3))) static void put_comment(struct pprof *pprof,
							      const char *format, ...)
{
	char text[COMMENT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	protobuf_number(&pprof->message, PROFILE_COMMENT, string_number(pprof, text));
}

static bool has_text(const char *text)
{
	return text && *text;
}

static bool is_thinned(const struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++)
		if (profile->row[i].grain > profile->row[i].key.interval)
			return true;
	return false;
}

/* The finest interval stands in it only where samples were drawn with several. */
static void put_rate(struct pprof *pprof, uint64_t finest, uint64_t coarsest)
{
	const struct profile_meta *meta = &pprof->profile->meta;
	char least[32] = "";

	if (finest != coarsest)
		snprintf(least, sizeof(least), "%" PRIu64 " to ", finest);
	put_comment(pprof,
		    "one sample per %s%" PRIu64 " bytes, %" PRIu64 " samples, %" PRIu64 " dropped",
		    least, coarsest, meta->samples, meta->dropped_allocs);
}

/*
 * Of files without build-id only the inode says whether a file is the one that ran. A mapping of
 * pprof's has no field for it.
 */
static void put_inodes(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	char text[COMMENT_MAX] = "";
	size_t size = 0;

	for (size_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->module[i];

		if (module->build_id_size || !module->inode)
			continue;
		size += (size_t)snprintf(text + size, sizeof(text) - size, " %" PRIx64 "=%" PRIu64,
					 module->lo, module->inode);
		if (size + INODE_TEXT_MAX >= sizeof(text)) {
			put_comment(pprof, PPROF_INODES_KEY "%s", text);
			size = 0;
		}
	}
	if (size)
		put_comment(pprof, PPROF_INODES_KEY "%s", text);
}

/* pprof prints them above every report. */
static void put_comments(struct pprof *pprof)
{
	const struct profile_meta *meta = &pprof->profile->meta;
	char value[HI_UNITS_TEXT_MAX], low[HI_UNITS_TEXT_MAX], high[HI_UNITS_TEXT_MAX];
	const struct estimate total = estimate_total(pprof->profile, INUSE_SPACE);
	const char *cursor = meta->hooked, *hooked;
	uint64_t finest, coarsest;
	double from, to;
	size_t size;

	estimate_interval(&total, &from, &to);
	profile_rates(pprof->profile, &finest, &coarsest);
	put_comment(pprof, "heapinject%s%s", has_text(meta->version) ? " " : "",
		    meta->version ? meta->version : "");
	if (meta->pid || has_text(meta->comm) || has_text(meta->host))
		put_comment(pprof, "pid %" PRIu32 " (%s) on %s", meta->pid,
			    meta->comm ? meta->comm : "", meta->host ? meta->host : "");
	if (has_text(meta->cmdline))
		put_comment(pprof, "command line: %s", meta->cmdline);
	if (meta->exe)
		put_comment(pprof, "executable: %s", meta->exe);
	if (meta->process_start_ticks)
		put_comment(pprof, "process start: %" PRIu64 " ticks after boot",
			    meta->process_start_ticks);
	if (meta->end_reason)
		put_comment(pprof, "end reason: %d", meta->end_reason);
	if (meta->trigger)
		put_comment(pprof, "trigger: %s", meta->trigger);
	if (meta->is_scaled)
		put_comment(pprof, "figures as told by the file that was read; how sure they are "
				   "is not known");
	else if (coarsest <= HI_INTERVAL_EXACT)
		put_comment(pprof, "every allocation counted: exact");
	else
		put_rate(pprof, finest, coarsest);
	/* where thinning let more escape, weights do not tell it: as where the rate changed */
	if (meta->change_count || finest != coarsest || is_thinned(pprof->profile))
		put_comment(pprof,
			    "the rate changed %" PRIu64 " times; each sample is weighed by its own",
			    meta->change_count);
	if (meta->slack_samples)
		put_comment(pprof, "waste: %s more than was requested, of what is in use",
			    hi_format_bytes(total.slack, value, sizeof(value)));
	if (caveats_withdraw(meta, true))
		put_comment(pprof, "in use: %s, of which it is not known how sure that is",
			    hi_format_bytes(total.value, value, sizeof(value)));
	else
		put_comment(pprof, "in use: %s, 95 %% interval %s to %s",
			    hi_format_bytes(total.value, value, sizeof(value)),
			    hi_format_bytes(from, low, sizeof(low)),
			    hi_format_bytes(to, high, sizeof(high)));
	while ((hooked = hooked_lines_next(&cursor, &size)) != NULL)
		put_comment(pprof, HOOKED_KEY " %.*s", (int)size, hooked);
	if (residency_text(meta->residency))
		put_comment(pprof, "%s", residency_text(meta->residency));
	put_inodes(pprof);
	for (int kind = 0; kind < HI_CAVEATS; kind++)
		if (meta->caveat[kind])
			put_comment(pprof, HEAPFILE_CAVEAT_KEY " %s %s",
				    caveats_name((enum hi_caveat)kind), meta->caveat[kind]);
}

/* Makes pprof leave out the same functions at the leaf of a stack as our views do. */
static void put_drop_frames(struct pprof *pprof)
{
	char *pattern = allocators_pattern();

	protobuf_number(&pprof->message, PROFILE_DROP_FRAMES, string_number(pprof, pattern));
	pprof->failed |= !pattern;
	free(pattern);
}

static int pprof_build(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	const enum sample_type shown_first = sample_type_shown_first(profile);

	string_number(pprof, ""); /* string 0 must be empty */
	for (int type = 0; type < sample_type_count(profile); type++)
		put_value_type(pprof, PROFILE_SAMPLE_TYPE, sample_types[type].name,
			       sample_types[type].unit);
	for (size_t i = 0; i < mapping_type_count(profile); i++)
		put_value_type(pprof, PROFILE_SAMPLE_TYPE, mapping_types[i].name,
			       mapping_types[i].unit);
	for (size_t i = 0; i < pool_type_count(profile); i++)
		put_value_type(pprof, PROFILE_SAMPLE_TYPE, pool_types[i].name, pool_types[i].unit);
	put_value_type(pprof, PROFILE_PERIOD_TYPE, "space", "bytes");
	protobuf_number(&pprof->message, PROFILE_PERIOD, profile->meta.interval);
	protobuf_number(&pprof->message, PROFILE_DEFAULT_SAMPLE_TYPE,
			string_number(pprof, sample_types[shown_first].name));
	protobuf_number(&pprof->message, PROFILE_TIME_NANOS, profile->meta.start_unix_ns);
	protobuf_number(&pprof->message, PROFILE_DURATION_NANOS, profile->meta.duration_ns);
	put_comments(pprof);
	put_drop_frames(pprof);
	put_mappings(pprof);
	for (size_t i = 0; i < profile->frame_count; i++)
		put_location(pprof, i);
	put_samples(pprof);
	return pprof->failed || pprof->message.failed || pprof->part.failed || pprof->line.failed
		       ? -ENOMEM
		       : 0;
}

static void pprof_close(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->string_count; i++)
		free(pprof->string[i]);
	free(pprof->string);
	free(pprof->function);
	table_close(&pprof->strings);
	table_close(&pprof->functions);
	protobuf_close(&pprof->message);
	protobuf_close(&pprof->part);
	protobuf_close(&pprof->line);
}

int pprof_compress(const struct protobuf *message, FILE *out)
{
	const int gzip_window = 15 + 16; /* zlib: +16 asks for a gzip header and trailer */
	uint8_t buffer[16384];
	z_stream stream = {.next_in = message->bytes, .avail_in = (uInt)message->size};
	int state;

	if (message->size > UINT32_MAX || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
						       gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		state = deflate(&stream, Z_FINISH);
		fwrite(buffer, 1, sizeof(buffer) - stream.avail_out, out);
	} while (state == Z_OK);
	deflateEnd(&stream);
	return state == Z_STREAM_END ? 0 : -ENOMEM;
}

int pprof_message(const struct profile *profile, struct protobuf *out_message)
{
	struct pprof pprof = {.profile = profile};
	const int err = pprof_build(&pprof);

	*out_message = pprof.message;
	pprof.message = (struct protobuf){0};
	pprof_close(&pprof);
	return err;
}

int pprof_write(const struct profile *profile, FILE *out)
{
	struct protobuf message;
	int err = pprof_message(profile, &message);

	if (!err)
		err = pprof_compress(&message, out);
	protobuf_close(&message);
	return err;
}
