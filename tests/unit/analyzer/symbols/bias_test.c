/* SPDX-License-Identifier: MIT */
/* bias_test.c - the bias found from a memory map is the one that the dynamic linker has used. */
#include "unit.h"

#include <link.h>
#include <stdlib.h>
#include <unistd.h>

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
	CHECK_EQ(bias_complete(&profile, &(struct file_wish){0}), 0);
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
	CHECK_EQ(bias_complete(&profile, &(struct file_wish){0}), 0);
	CHECK_EQ(profile.module[0].bias, 0x6000);
	CHECK_EQ(profile.module[1].bias, 5);
	profile_close(&profile);
}

/* A file whose code is a part of the second page of 64 kB. */
static void write_program(char path[])
{
	const struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment[2];
	} file = {{.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			       EV_CURRENT},
		   .e_type = ET_DYN,
		   .e_version = EV_CURRENT,
		   .e_phoff = sizeof(Elf64_Ehdr),
		   .e_ehsize = sizeof(Elf64_Ehdr),
		   .e_phentsize = sizeof(Elf64_Phdr),
		   .e_phnum = 2},
		  {{.p_type = PT_LOAD,
		    .p_flags = PF_R,
		    .p_filesz = 0x14000,
		    .p_memsz = 0x14000,
		    .p_align = 0x10000},
		   {.p_type = PT_LOAD,
		    .p_flags = PF_R | PF_X,
		    .p_offset = 0x14120,
		    .p_vaddr = 0x24120,
		    .p_filesz = 0x800,
		    .p_memsz = 0x800,
		    .p_align = 0x10000}}};
	const int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, &file, sizeof(file)), sizeof(file));
	close(fd);
}

UNIT_TEST(pages_of_another_machine_are_larger)
{
	static const uint64_t pages[] = {0x1000, 0x4000, 0x10000};
	char path[] = "/tmp/bias_test.XXXXXX";
	struct profile profile;
	uint32_t index;

	write_program(path);
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const struct profile_module module = {
			.lo = 0x7f0000020000 + (0x4120 & ~(pages[i] - 1)),
			.hi = 0x7f0000030000,
			.file_offset = 0x14120 & ~(pages[i] - 1),
			.bias = PROFILE_BIAS_UNKNOWN,
			.path = path,
		};
		CHECK_EQ(profile_open(&profile), 0);
		CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
		CHECK_EQ(bias_complete(&profile, &(struct file_wish){0}), 0);
		CHECK_EQ(profile.module[0].bias, 0x7f0000000000);
		profile_close(&profile);
	}
	unlink(path);
}

UNIT_MAIN()
