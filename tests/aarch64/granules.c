/* SPDX-License-Identifier: MIT */
/*
 * granules.c - tells whether the CPU has memory tagging that works: each 16 bytes have a tag of
 * their own. (Under qemu 7.2 all of a page have the same.) Exit status: 0 = yes, 1 = no.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define GRANULE 16
#define TAG_AT 56
#define TAG 5ull
#ifndef PROT_MTE
#define PROT_MTE 0x20
#endif

/* The assembler's word for it, whatever the compiler was told of the CPU. */
#define TAGGING ".arch armv8.5-a+memtag\n\t"

static void set_tag(const char *at, uint64_t tag)
{
	const uint64_t pointer = (uintptr_t)at | tag << TAG_AT;

	__asm__ volatile(TAGGING "stg %0, [%0]" : : "r"(pointer) : "memory");
}

static uint64_t tag_of(const char *at)
{
	uint64_t pointer = (uintptr_t)at;

	__asm__ volatile(TAGGING "ldg %0, [%0]" : "+r"(pointer));
	return pointer >> TAG_AT;
}

int main(void)
{
	if (!(getauxval(AT_HWCAP2) & HWCAP2_MTE)) {
		puts("this CPU has no memory tagging");
		return 1;
	}
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_MTE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED ||
	    prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0)) {
		puts("this kernel has no memory tagging");
		return 1;
	}
	*page = 1;
	set_tag(page + 2 * GRANULE, TAG);
	if (tag_of(page) || tag_of(page + 4 * GRANULE) || tag_of(page + 2 * GRANULE) != TAG) {
		puts("memory tagging of this emulator is broken: one tag for all of a page");
		return 1;
	}
	return 0;
}
