/* SPDX-License-Identifier: MIT */
/*
 * target.c - exports the tables by which HotSpot describes itself: empty ones, or with an argument
 * one that leads to memory which is not there.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct entry {
	const char *name, *field, *type;
	uint64_t is_static, offset, address;
};
static struct entry none[2];

struct entry *gHotSpotVMStructs = none, *gHotSpotVMTypes = none, *gHotSpotVMIntConstants = none;
uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct entry);
uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct entry);
uint64_t gHotSpotVMIntConstantEntryArrayStride = sizeof(struct entry);
uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct entry, name);
uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct entry, field);
uint64_t gHotSpotVMStructEntryTypeStringOffset = offsetof(struct entry, type);
uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(struct entry, is_static);
uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct entry, offset);
uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct entry, address);
uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct entry, name);
uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct entry, offset);
uint64_t gHotSpotVMIntConstantEntryNameOffset = offsetof(struct entry, name);
uint64_t gHotSpotVMIntConstantEntryValueOffset = offsetof(struct entry, offset);

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	(void)argv;
	if (argc > 1)
		gHotSpotVMStructs = (struct entry *)(uintptr_t)64;
	for (;;) {
		void *volatile block = malloc(1000);

		free(block);
		nanosleep(&pause, NULL);
	}
}
