/* SPDX-License-Identifier: MIT */
/*
 * attached.h - a child with a session in it, for tests of attach and detach, recover and watch.
 *
 * attached_start notes what every slot of the child holds before it attaches; attached_check_gone
 * compares, and looks for whatever may have been left.
 */
#ifndef HI_ATTACHED_H
#define HI_ATTACHED_H

#include <errno.h>

#include "attach.h"
#include "detach.h"
#include "snapshot.h"
#include "victim.h"

#ifdef __has_feature /* clang's way to tell; gcc defines the macro itself */
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#define SKIP_WITH_ADDRESS_SANITIZER()                                                        \
	SKIP("the children have the sanitizer's allocator, and its shadow memory, which is " \
	     "terabytes to search")
#else
#define SKIP_WITH_ADDRESS_SANITIZER() (void)0
#endif

#define ATTACHED_INTERVAL 4096

/* By which way its functions are hooked; a test that sets it is alone in its process. */
static enum hi_hook attached_hook __attribute__((unused)) = HI_HOOK_SLOT;

struct attached {
	struct victim victim;
	struct attachment attachment;
	struct slots slots; /* as they were */
	struct hi_snapshot before;
	/* those that do not grow by themselves: with a name in the file system, or executable */
	size_t map_count;
};

static inline size_t attached_count_maps(pid_t pid)
{
	struct maps maps;
	size_t count = 0;
	CHECK_EQ(maps_read(pid, pid, &maps), 0);
	for (size_t i = 0; i < maps.count; i++)
		count += maps.mapping[i].path[0] == '/' || maps.mapping[i].executable;
	maps_close(&maps);
	return count;
}

static inline void attached_note_slots(struct attached *attached)
{
	struct elf_images images;
	struct allocators allocators;
	const struct victim *victim = &attached->victim;
	CHECK_EQ(elf_images_read(victim->pid, &victim->maps, &victim->memory, &images), 0);
	CHECK_EQ(allocators_find(&images, &victim->memory, NULL, &allocators), 0);
	CHECK_EQ(slots_find(&images, &allocators.allocator[0], &victim->memory, 0, 0,
			    &attached->slots),
		 0);
	CHECK(attached->slots.count > 4);
	elf_images_close(&images);
}

/* The child alone: for those who attach to it in their own way. */
static inline void attached_prepare(struct attached *attached,
				    void (*work)(struct victim_page *page))
{
	*attached = (struct attached){.map_count = 0};
	victim_start(&attached->victim, work);
	attached_note_slots(attached);
	CHECK_EQ(snapshot_take(attached->victim.pid, attached->victim.pid, &attached->before), 0);
	attached->map_count = attached_count_maps(attached->victim.pid);
	attachment_init(&attached->attachment, attached->victim.pid);
}

/*
 * -EAGAIN is what a user hears, too, where the target gets no CPU: it is untouched, and may be
 * tried again.
 */
static inline int attached_attach(struct attached *attached, enum hi_loader loader)
{
	const struct attach_options options = {
		.interval = ATTACHED_INTERVAL, .loader = loader, .hook = attached_hook};
	const uint64_t end_ms = unit_now_ms() + UNIT_PATIENCE_MS;
	for (;;) {
		CHECK_EQ(attachment_open(&attached->attachment, attached->victim.pid), 0);
		const int err = attach(&attached->attachment, &options);
		if (err != -EAGAIN || attached->attachment.left_behind || unit_now_ms() >= end_ms)
			return err;
		attachment_close(&attached->attachment);
		attachment_init(&attached->attachment, attached->victim.pid);
	}
}

static inline void attached_start(struct attached *attached, void (*work)(struct victim_page *page),
				  enum hi_loader loader)
{
	attached_prepare(attached, work);
	const int err = attached_attach(attached, loader);
	if (err)
		UNIT_FAIL("attach: %s: %s", attached->attachment.step, strerror(-err));
}

static inline uint64_t attached_samples_in(const struct hi_ring *ring)
{
	const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	uint64_t samples = 0, first;
	for (uint64_t at = ring->tail; at < head; at += first & UINT32_MAX) {
		first = __atomic_load_n(
			(const uint64_t *)(const void *)(ring->data + at % ring->capacity),
			__ATOMIC_ACQUIRE);
		if (!(first & UINT32_MAX))
			break; /* not begun yet */
		samples += first >> 32 == HI_RECORD_ALLOC || first >> 32 == HI_RECORD_KNOWN;
	}
	return samples;
}

/* Alloc records that wait in the rings; nobody may read these meanwhile. */
static inline uint64_t attached_samples(const struct attached *attached)
{
	const struct arena *arena = &attached->attachment.arena;
	uint64_t samples = 0;
	for (uint32_t i = 0; i < arena->ring_count; i++)
		samples += attached_samples_in(hi_ring_at(arena->ring, arena->ring_capacity, i));
	return samples;
}

static inline void attached_wait_for_samples(const struct attached *attached, uint64_t samples)
{
	const uint64_t wanted = attached_samples(attached) + samples;
	WAIT_FOR(attached_samples(attached) >= wanted);
}

static inline uint64_t attached_read(const struct attached *attached, remote_addr address)
{
	uint64_t value;
	CHECK_EQ(memory_read_u64(&attached->victim.memory, address, &value), 0);
	return value;
}

/* Byte for byte what they held, but for lazy ones that the dynamic linker has bound since. */
static inline void attached_check_slots(const struct attached *attached)
{
	for (size_t i = 0; i < attached->slots.count; i++) {
		const struct slot *slot = &attached->slots.slot[i];
		const uint64_t now = attached_read(attached, slot->address);
		if (!slot->lazy || now != slot->original)
			CHECK_EQ(now, slot->value);
	}
}

/* Nothing of ours is left, and the child goes on. */
static inline void attached_check_gone(const struct attached *attached)
{
	const pid_t pid = attached->victim.pid;
	struct hi_snapshot after;
	attached_check_slots(attached);
	CHECK_EQ(victim_own_mappings(&attached->victim), 0);
	CHECK_EQ(attached_count_maps(pid), attached->map_count);
	CHECK_EQ(snapshot_take(pid, pid, &after), 0);
	CHECK_EQ(after.fd_count, attached->before.fd_count);
	CHECK_EQ(after.thread_count, attached->before.thread_count);
	CHECK_EQ(after.sig_blocked, attached->before.sig_blocked);
	CHECK_EQ(after.sig_ignored, attached->before.sig_ignored);
	CHECK_EQ(after.sig_caught, attached->before.sig_caught);
	victim_check(&attached->victim);
}

static inline void attached_close(struct attached *attached)
{
	attachment_close(&attached->attachment);
	slots_close(&attached->slots);
}

static inline void attached_end(struct attached *attached)
{
	attached_close(attached);
	victim_end(&attached->victim);
}

#endif
