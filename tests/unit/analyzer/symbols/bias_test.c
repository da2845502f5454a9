/* SPDX-License-Identifier: MIT */
/* bias_test.c - the bias found from a memory map is the one that the dynamic linker has used. */
#include "unit.h"

#include <link.h>

#include "bias.h"

/*
 * Adds the first executable segment of every loaded file as its line in /proc/self/maps would have
 * it; `device` holds the true bias.
 */
static int add_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct profile *profile = context;
	char path[4096];
	uint32_t index;

	(void)size;
	if (!info->dlpi_name[0] && profile->module_count)
		return 0;
	snprintf(path, sizeof(path), "%s", info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
	for (size_t i = 0; i < info->dlpi_phnum && path[0] == '/'; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		const struct profile_module module = {
			.lo = (info->dlpi_addr + header->p_vaddr) & ~4095ull,
			.hi = info->dlpi_addr + header->p_vaddr + header->p_memsz,
			.file_offset = header->p_offset & ~4095ull,
			.bias = PROFILE_BIAS_UNKNOWN,
			.device = info->dlpi_addr,
			.path = path,
		};
		CHECK_EQ(profile_add_module(profile, &module, &index), 0);
	}
	return 0;
}

UNIT_TEST(bias_is_the_dynamic_linkers)
{
	struct profile profile;

	CHECK_EQ(profile_open(&profile), 0);
	dl_iterate_phdr(add_object, &profile);
	CHECK(profile.module_count > 3);
	CHECK_EQ(bias_complete(&profile, NULL), 0);
	for (size_t i = 0; i < profile.module_count; i++)
		CHECK_EQ(profile.module[i].bias, profile.module[i].device);
	profile_close(&profile);
}

UNIT_TEST(without_the_file_addresses_are_offsets)
{
	struct profile_module module = {
		.lo = 0x7000, .hi = 0x8000, .file_offset = 0x1000, .bias = PROFILE_BIAS_UNKNOWN};
	struct profile profile;
	uint32_t index;

	CHECK_EQ(profile_open(&profile), 0);
	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	module.bias = 5;
	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(bias_complete(&profile, NULL), 0);
	CHECK_EQ(profile.module[0].bias, 0x6000);
	CHECK_EQ(profile.module[1].bias, 5);
	profile_close(&profile);
}

UNIT_MAIN()
