/* SPDX-License-Identifier: MIT */
/* watch_code.c - see watch_code.h. */
#include "watch_code.h"

void watch_code_begin(struct attachment *attachment)
{
	struct hotspot *hotspot = &attachment->hotspot;

	if (hotspot_find(hotspot, &attachment->images, &attachment->memory))
		publisher_reserve_code(&attachment->publisher,
				       hotspot_bytes(hotspot, &attachment->memory));
}

/*
 * Tables that cannot be made anew are taken back: they would lead astray where other code is by
 * now.
 */
bool watch_code_read(struct attachment *attachment)
{
	struct hotspot *hotspot = &attachment->hotspot;
	struct publisher *publisher = &attachment->publisher;

	if (!hotspot_is_due(hotspot, true))
		return false;
	if (!publisher->code.bytes) /* the JVM had no heaps yet */
		publisher_reserve_code(publisher, hotspot_bytes(hotspot, &attachment->memory));
	const uint32_t before = publisher->code.count;
	const int changed = hotspot_look(hotspot, &attachment->memory);

	if (changed == 0)
		return false;
	const int err = publisher_set_code(publisher, hotspot->table,
					   changed < 0 ? 0 : hotspot->table_count,
					   attachment->arena.tables);
	return before || (!err && publisher->code.count);
}

void watch_code_round(struct attachment *attachment, struct pump *pump)
{
	if (!hotspot_is_due(&attachment->hotspot, pump->is_code_missing))
		return;
	pump->is_code_missing = false;
	if (watch_code_read(attachment))
		publisher_publish_tables(&attachment->publisher, &attachment->images,
					 attachment->arena.shared, attachment->arena.tables);
}
