/* SPDX-License-Identifier: MIT */
/* mapping_rows.c - see mapping_rows.h. */
#include "mapping_rows.h"

#include <errno.h>
#include <string.h>

#include "allocator_frames.h"
#include "estimate.h"
#include "side_rows.h"

const struct mapping_type mapping_types[MAPPING_TYPES] = {
	{"mmap_objects", "count", ALLOC_OBJECTS},
	{"mmap_space", "bytes", ALLOC_SPACE},
	{"inuse_mmap_objects", "count", INUSE_OBJECTS},
	{"inuse_mmap_space", "bytes", INUSE_SPACE},
	{"resident_mmap_space", "bytes", RESIDENT_SPACE},
};

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* glibc's and musl's functions that create a thread, and map its stack. */
static bool creates_threads(const char *function)
{
	return strcmp(function, "allocate_stack") == 0 ||
	       strstr(function, "pthread_create") != NULL;
}

/* glibc's own is not seen, as it maps by functions of its own; musl's is its libc. */
static bool loads_objects(const char *function)
{
	return begins_with(function, "_dl_") || strcmp(function, "dlopen") == 0 ||
	       strcmp(function, "map_library") == 0 || strcmp(function, "load_library") == 0;
}

/* What the function says of whose mapping it is; NULL = nothing. */
static const char *owner_by(const char *function)
{
	if (strcmp(function, MAPPING_BY_ALLOCATOR) == 0 || allocator_frames_has(function))
		return MAPPING_OF_ALLOCATOR;
	if (strcmp(function, MAPPING_BY_UNKNOWN) == 0)
		return MAPPING_OF_UNKNOWN;
	if (creates_threads(function))
		return MAPPING_OF_THREAD;
	if (strcmp(function, "x_cgo_mmap") == 0) /* Go's runtime, where it is linked with C */
		return MAPPING_OF_GO;
	return loads_objects(function) ? MAPPING_OF_LINKER : NULL;
}

static const char *text_in(const struct label_set *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (labels->label[i].text && strcmp(labels->label[i].key, key) == 0)
			return labels->label[i].text;
	return NULL;
}

static const char *owner_in_labels(const struct label_set *labels)
{
	return text_in(labels, MAPPING_OWNER_LABEL);
}

bool mapping_rows_is_reserved(const struct profile *profile, const struct profile_row *row)
{
	const char *content = text_in(labels_get(&profile->labels, row->key.labels), MAPPING_LABEL);

	return content && strcmp(content, MAPPING_RESERVED) == 0;
}

/* Of what was reserved: it has got rights since. 0, where it is not known. */
static double reserved_in_memory(const struct profile *profile, const struct profile_row *row)
{
	if (profile->mapping_residency != PROFILE_RESIDENCY_KNOWN || !row->inuse_bytes)
		return 0;
	return estimate_of(profile, row, INUSE_SPACE).value * (double)row->resident_bytes /
	       (double)row->inuse_bytes;
}

void mapping_rows_sum(const struct profile *profile, double *out_mapped, double *out_inuse)
{
	*out_mapped = *out_inuse = 0;
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_row *row = &profile->mapping[i];

		if (mapping_rows_is_reserved(profile, row)) {
			const double in_memory = reserved_in_memory(profile, row);

			*out_mapped += in_memory;
			*out_inuse += in_memory;
			continue;
		}
		*out_mapped += estimate_of(profile, row, ALLOC_SPACE).value;
		*out_inuse += estimate_of(profile, row, INUSE_SPACE).value;
	}
}

/* The frame nearest to the call decides: a program may map memory while an allocator calls it. */
const char *mapping_rows_owner(const struct profile *profile, const struct profile_row *row)
{
	const struct profile_stack *stack = &profile->stack[row->key.stack];
	const char *owner = owner_in_labels(labels_get(&profile->labels, row->key.labels));

	for (uint32_t i = 0; i < stack->frame_count && !owner; i++) {
		const struct profile_frame *frame = &profile->frame[stack->frame[i]];

		for (size_t k = 0; k < frame->line_count && !owner; k++)
			if (frame->line[k].function)
				owner = owner_by(frame->line[k].function);
	}
	return owner ? owner : MAPPING_OF_APPLICATION;
}

static int label_owner(struct profile *profile, struct profile_row *row)
{
	const struct label_set *set = labels_get(&profile->labels, row->key.labels);
	struct label label[LABELS_MAX];
	size_t count = 0;

	if (owner_in_labels(set))
		return 0;
	for (; count < set->count && count + 1 < LABELS_MAX; count++)
		label[count] = set->label[count];
	label[count++] = (struct label){.key = MAPPING_OWNER_LABEL,
					.text = mapping_rows_owner(profile, row)};
	return labels_add(&profile->labels, label, count, &row->key.labels);
}

int mapping_rows_show(struct profile *profile)
{
	struct profile_row *row = profile->mapping;
	const size_t count = profile->mapping_count;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = label_owner(profile, &row[i]);
	if (err)
		return err;
	profile->mapping = NULL;
	profile->mapping_count = 0;
	profile->meta.residency = profile->mapping_residency;
	return side_rows_show(profile, row, count);
}
