/* SPDX-License-Identifier: MIT */
/*
 * compat.c - becomes a 32-bit program, which it writes to the file of its argument: a loop of one
 * instruction, so that no compiler for 32-bit ARM is needed.
 *
 *     compat FILE
 */
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT 0x10000u
#define BRANCH_TO_ITSELF 0xeafffffeu

struct program {
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	uint32_t code;
};

static const struct program program = {
	.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			       EV_CURRENT},
		   .e_type = ET_EXEC,
		   .e_machine = EM_ARM,
		   .e_version = EV_CURRENT,
		   .e_entry = AT + offsetof(struct program, code),
		   .e_phoff = offsetof(struct program, segment),
		   .e_flags = EF_ARM_EABI_VER5,
		   .e_ehsize = sizeof(Elf32_Ehdr),
		   .e_phentsize = sizeof(Elf32_Phdr),
		   .e_phnum = 1},
	.segment = {.p_type = PT_LOAD,
		    .p_vaddr = AT,
		    .p_filesz = sizeof(struct program),
		    .p_memsz = sizeof(struct program),
		    .p_flags = PF_R | PF_X,
		    .p_align = 0x1000},
	.code = BRANCH_TO_ITSELF,
};

int main(int argc, char **argv)
{
	const int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0755) : -1;

	if (fd < 0 || write(fd, &program, sizeof(program)) != sizeof(program) || close(fd))
		return 1;
	execl(argv[1], argv[1], (char *)NULL);
	perror("compat");
	return 2;
}
