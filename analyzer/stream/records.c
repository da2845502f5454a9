/* SPDX-License-Identifier: MIT */
/*
 * records.c - framing and bounds of the record stream. Start at records_next().
 */
#include "records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hi_wire.h"

bool records_recognize(const uint8_t *bytes, size_t size)
{
	const uint64_t magic = HI_STREAM_MAGIC;
	const size_t offset = offsetof(struct hi_stream_header, magic);

	return size >= offset + sizeof(magic) && memcmp(bytes + offset, &magic, sizeof(magic)) == 0;
}

static int records_cut(const struct input *input, size_t size, char *damage)
{
	if (input->err)
		snprintf(damage, RECORDS_DAMAGE_MAX, "unreadable from byte %" PRIu64 " on: %s",
			 input->position, input_complaint(input));
	else
		snprintf(damage, RECORDS_DAMAGE_MAX,
			 "cut off in the record at byte %" PRIu64 ", %zu bytes into it",
			 input->position, size);
	return -EBADMSG;
}

int records_next(struct input *input, const struct hi_stream_record **out_record, char *damage)
{
	const uint8_t *bytes;
	uint32_t record_size;
	size_t size = input_peek(input, sizeof(struct hi_stream_record), &bytes);

	if (size == 0 && !input->err)
		return 0;
	if (size < sizeof(struct hi_stream_record))
		return records_cut(input, size, damage);
	memcpy(&record_size, bytes, sizeof(record_size));
	if (record_size < sizeof(struct hi_stream_record) || record_size % 8 ||
	    record_size > HI_STREAM_RECORD_MAX) {
		snprintf(damage, RECORDS_DAMAGE_MAX,
			 "damaged at byte %" PRIu64 ": a record cannot be %" PRIu32 " bytes long",
			 input->position, record_size);
		return -EBADMSG;
	}
	size = input_peek(input, record_size, &bytes);
	if (size < record_size)
		return records_cut(input, size, damage);
	*out_record = (const void *)bytes;
	input_skip(input, record_size);
	return 1;
}

/* Bytes that a record with this fixed part must have, or 0 if the fixed part contradicts itself. */
static uint64_t header_needs(const struct hi_stream_header *header)
{
	return sizeof(*header) + (uint64_t)header->comm_size + header->cmdline_size +
	       header->exe_size + header->host_size + header->version_size;
}

static uint64_t module_needs(const struct hi_stream_module *module)
{
	if (module->build_id_size > HI_STREAM_BUILD_ID_MAX || module->hi <= module->lo)
		return 0;
	return sizeof(*module) + (uint64_t)module->build_id_size + module->path_size +
	       module->open_path_size;
}

static uint64_t alloc_needs(const struct hi_stream_alloc *alloc)
{
	return alloc->frame_count > RECORDS_FRAMES_MAX ? 0
						       : sizeof(*alloc) + 8ull * alloc->frame_count;
}

static uint64_t stack_needs(const struct hi_stream_stack *stack)
{
	return stack->frame_count > RECORDS_FRAMES_MAX ? 0
						       : sizeof(*stack) + 8ull * stack->frame_count;
}

static uint64_t unhooked_needs(const struct hi_stream_unhooked *unhooked)
{
	return sizeof(*unhooked) + (uint64_t)unhooked->name_size + unhooked->path_size;
}

static uint64_t frees_needs(const struct hi_stream_unsampled_frees *frees)
{
	return frees->classes > HI_SIZE_CLASSES
		       ? 0
		       : sizeof(*frees) + (uint64_t)frees->classes * sizeof(struct hi_stream_frees);
}

static uint64_t thinned_needs(const struct hi_stream_thinned *thinned)
{
	return sizeof(*thinned) + (uint64_t)thinned->count * sizeof(struct hi_stream_thinned_place);
}

static uint64_t leaked_needs(const struct hi_stream_leaked *leaked)
{
	return sizeof(*leaked) + (uint64_t)leaked->count * sizeof(struct hi_stream_leaked_block);
}

static uint64_t heap_text_size(const struct hi_stream_heap *heap)
{
	return (uint64_t)heap->name_size + heap->refusal_size;
}

static size_t fixed_size(uint16_t type)
{
	switch (type) {
	case HI_STREAM_HEADER:
		return sizeof(struct hi_stream_header);
	case HI_STREAM_MODULE:
		return sizeof(struct hi_stream_module);
	case HI_STREAM_MODULE_GONE:
		return sizeof(struct hi_stream_module_gone);
	case HI_STREAM_MAPS:
		return sizeof(struct hi_stream_maps);
	case HI_STREAM_THREAD:
		return sizeof(struct hi_stream_thread);
	case HI_STREAM_STACK:
		return sizeof(struct hi_stream_stack);
	case HI_STREAM_ALLOC:
	case HI_STREAM_MAPPED:
	case HI_STREAM_POOLED:
		return sizeof(struct hi_stream_alloc);
	case HI_STREAM_POOL:
		return sizeof(struct hi_stream_pool);
	case HI_STREAM_NAMED:
		return sizeof(struct hi_stream_named);
	case HI_STREAM_MAPPING:
		return sizeof(struct hi_stream_mapping);
	case HI_STREAM_FREE:
	case HI_STREAM_UNFREE:
		return sizeof(struct hi_stream_free);
	case HI_STREAM_EVENTS:
		return sizeof(struct hi_stream_events);
	case HI_STREAM_INTERVAL:
		return sizeof(struct hi_stream_interval);
	case HI_STREAM_STATS:
		return sizeof(struct hi_stream_stats);
	case HI_STREAM_PAUSE:
		return sizeof(struct hi_stream_pause);
	case HI_STREAM_RESET:
		return sizeof(struct hi_stream_reset);
	case HI_STREAM_DUMP:
		return sizeof(struct hi_stream_dump);
	case HI_STREAM_MEMORY:
		return HI_STREAM_MEMORY_OF_4;
	case HI_STREAM_UNHOOKED:
		return sizeof(struct hi_stream_unhooked);
	case HI_STREAM_CODE:
		return sizeof(struct hi_stream_code);
	case HI_STREAM_HOOKED:
		return sizeof(struct hi_stream_hooked);
	case HI_STREAM_RUNTIME:
		return sizeof(struct hi_stream_runtime);
	case HI_STREAM_PROCESS:
		return sizeof(struct hi_stream_process);
	case HI_STREAM_UNSAMPLED_FREES:
		return sizeof(struct hi_stream_unsampled_frees);
	case HI_STREAM_THINNED:
		return sizeof(struct hi_stream_thinned);
	case HI_STREAM_LEAKED:
		return sizeof(struct hi_stream_leaked);
	case HI_STREAM_HEAP:
		return sizeof(struct hi_stream_heap);
	case HI_STREAM_END:
		return sizeof(struct hi_stream_end);
	default:
		return sizeof(struct hi_stream_record);
	}
}

bool record_is_sound(const struct hi_stream_record *record)
{
	const void *fixed = record;
	uint64_t needed = fixed_size(record->type);

	if (record->size < needed)
		return false;
	if (record->type == HI_STREAM_HEADER)
		needed = header_needs(fixed);
	else if (record->type == HI_STREAM_MODULE)
		needed = module_needs(fixed);
	else if (record->type == HI_STREAM_MAPS)
		needed += ((const struct hi_stream_maps *)fixed)->text_size;
	else if (record->type == HI_STREAM_THREAD)
		needed += ((const struct hi_stream_thread *)fixed)->name_size;
	else if (record->type == HI_STREAM_HEAP)
		needed += heap_text_size(fixed);
	else if (record->type == HI_STREAM_CODE)
		needed += ((const struct hi_stream_code *)fixed)->name_size;
	else if (record->type == HI_STREAM_HOOKED)
		needed += ((const struct hi_stream_hooked *)fixed)->text_size;
	else if (record->type == HI_STREAM_UNSAMPLED_FREES)
		needed = frees_needs(fixed);
	else if (record->type == HI_STREAM_THINNED)
		needed = thinned_needs(fixed);
	else if (record->type == HI_STREAM_LEAKED)
		needed = leaked_needs(fixed);
	else if (record->type == HI_STREAM_UNHOOKED)
		needed = unhooked_needs(fixed);
	else if (record->type == HI_STREAM_NAMED)
		needed += ((const struct hi_stream_named *)fixed)->name_size;
	else if (record->type == HI_STREAM_ALLOC || record->type == HI_STREAM_MAPPED ||
		 record->type == HI_STREAM_POOLED)
		needed = alloc_needs(fixed);
	else if (record->type == HI_STREAM_STACK)
		needed = stack_needs(fixed);
	return needed && record->size >= needed;
}
