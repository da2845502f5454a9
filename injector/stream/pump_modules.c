/* SPDX-License-Identifier: MIT */
/*
 * pump_modules.c - which loaded objects the stream has described, and what has changed since: see
 * pump_modules() in pump.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pump.h"

static struct sent_module *sent_find(struct pump *pump, const struct elf_image *image,
				     const struct elf_text *text)
{
	for (size_t i = 0; i < pump->sent_count; i++) {
		struct sent_module *sent = &pump->sent[i];
		if (sent->lo == text->lo && sent->hi == text->hi && sent->inode == image->inode &&
		    sent->device == image->device && !strcmp(sent->path, image->path))
			return sent;
	}
	return NULL;
}

/* All mappings of one loaded object have the same number. */
static uint32_t number_for(struct pump *pump, const struct elf_image *image)
{
	for (size_t i = 0; i < pump->sent_count; i++) {
		const struct sent_module *sent = &pump->sent[i];
		if (sent->inode == image->inode && sent->device == image->device &&
		    sent->bias == image->bias && !strcmp(sent->path, image->path))
			return sent->number;
	}
	return ++pump->last_module;
}

static int send_module(struct pump *pump, const struct elf_image *image,
		       const struct elf_text *text)
{
	struct sent_module *grown = realloc(pump->sent, (pump->sent_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pump->sent = grown;
	const struct sent_module sent = {
		.path = strdup(image->path),
		.device = image->device,
		.inode = image->inode,
		.lo = text->lo,
		.hi = text->hi,
		.bias = image->bias,
		.number = number_for(pump, image),
		.seen = true,
	};
	if (!sent.path)
		return -ENOMEM;
	pump->sent[pump->sent_count++] = sent;
	if (pump->broker)
		file_broker_keep(pump->broker, sent.number, image);

	struct hi_stream_module module = {
		.record.flags = image->is_pinned ? HI_STREAM_STAYS : 0,
		.module = sent.number,
		.build_id_size = (uint32_t)image->build_id_size,
		.time_ns = pump_now_ns(pump),
		.lo = text->lo,
		.hi = text->hi,
		.file_offset = text->file_offset,
		.bias = image->bias,
		.device = image->device,
		.inode = image->inode,
		.path_size = (uint32_t)strlen(image->path),
		.open_path_size = (uint32_t)strlen(image->open_path),
	};
	const struct stream_part parts[] = {{image->build_id, image->build_id_size},
					    {image->path, module.path_size},
					    {image->open_path, module.open_path_size}};
	return stream_out_record(pump->out, HI_STREAM_MODULE, &module, sizeof(module), parts, 3);
}

static const struct sent_module *sent_unseen(const struct pump *pump)
{
	for (size_t i = 0; i < pump->sent_count; i++)
		if (!pump->sent[i].seen)
			return &pump->sent[i];
	return NULL;
}

/*
 * The number identifies the whole object: all its texts are removed with it, and those that are
 * still mapped will be sent again.
 */
static int send_gone(struct pump *pump, uint32_t number)
{
	struct hi_stream_module_gone gone = {.module = number, .time_ns = pump_now_ns(pump)};
	size_t kept = 0;
	for (size_t i = 0; i < pump->sent_count; i++) {
		if (pump->sent[i].number == number)
			free(pump->sent[i].path);
		else
			pump->sent[kept++] = pump->sent[i];
	}
	pump->sent_count = kept;
	return stream_out_record(pump->out, HI_STREAM_MODULE_GONE, &gone, sizeof(gone), NULL, 0);
}

static int send_new(struct pump *pump, const struct elf_images *images)
{
	int err = 0;
	for (size_t i = 0; i < images->count; i++)
		for (size_t j = 0; j < images->image[i].text_count && !err; j++)
			if (!sent_find(pump, &images->image[i], &images->image[i].text[j]))
				err = send_module(pump, &images->image[i],
						  &images->image[i].text[j]);
	return err;
}

int pump_modules(struct pump *pump, const struct elf_images *images)
{
	int err = 0;
	for (size_t i = 0; i < pump->sent_count; i++)
		pump->sent[i].seen = false;
	for (size_t i = 0; i < images->count; i++)
		for (size_t j = 0; j < images->image[i].text_count; j++) {
			struct sent_module *sent =
				sent_find(pump, &images->image[i], &images->image[i].text[j]);
			if (sent)
				sent->seen = true;
		}
	for (const struct sent_module *unseen; !err && (unseen = sent_unseen(pump));)
		err = send_gone(pump, unseen->number);
	return err ? err : send_new(pump, images);
}

/* ---- in the order of the records ------------------------------------------------------------- */

int pump_settle_modules(struct pump *pump)
{
	const struct pump_objects coming = pump->coming;
	pump->coming.images = NULL;
	if (!coming.images)
		return 0;
	pump->loads = coming.loads;
	pump->are_blurred = coming.are_blurred;
	return coming.are_blurred ? 0 : pump_modules(pump, coming.images);
}

int pump_follow_modules(struct pump *pump, const struct pump_objects *objects)
{
	const int err = pump_settle_modules(pump);
	const bool is_known = pump->loads != 0;
	pump->coming = *objects;
	if (err || (is_known && objects->loads))
		return err;
	return pump_settle_modules(pump);
}

/* Objects of the list that the stream does not have. */
static size_t count_new(struct pump *pump, const struct elf_images *images)
{
	size_t count = 0;
	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];
		count += image->link_order >= 0 && image->text_count &&
			 !sent_find(pump, image, &image->text[0]);
	}
	return count;
}

/*
 * A record of after the change. If each object that was loaded since is among those that are new,
 * none has come and gone: then what was unloaded meanwhile may still have records, wherever nothing
 * new lies.
 */
static int turn(struct pump *pump)
{
	const uint64_t added = pump->coming.loads - pump->loads;
	if (pump->are_blurred || count_new(pump, pump->coming.images) != added)
		return pump_settle_modules(pump);
	pump->loads = pump->coming.loads;
	return send_new(pump, pump->coming.images);
}

int pump_reach(struct pump *pump, uint16_t loads, bool *out_is_sure)
{
	int err = 0;
	*out_is_sure = true;
	if (!pump->loads)
		return 0;
	const int16_t ahead = (int16_t)(loads - (uint16_t)pump->loads);
	if (ahead > 0 && pump->coming.images && !pump->coming.are_blurred &&
	    (uint16_t)pump->coming.loads == loads)
		err = turn(pump);
	*out_is_sure = (uint16_t)pump->loads == loads && !pump->are_blurred;
	return err;
}
