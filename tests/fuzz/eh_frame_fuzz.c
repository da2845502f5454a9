/* SPDX-License-Identifier: MIT */
/*
 * eh_frame_fuzz.c - unwind information: the input is an .eh_frame section, around which the
 * smallest ELF file is made that has one. Then every row that the payload could be led to is looked
 * at.
 *
 * libFuzzer: -max_len=4096
 */
#include "fuzz.h"
#include "unwind_table.h"

#define TEXT_BYTES 8192u
#define FRAME_AT sizeof(struct small_file) /* address of the section: that is its offset, too */

struct small_file {
	Elf64_Ehdr header;
	Elf64_Phdr load, frame_header;
	struct {
		uint8_t version, frame_encoding, count_encoding, table_encoding;
		uint32_t frame_at;
	} search;
};

/*
 * The section lies behind its header; the text it speaks of is said to lie at the addresses from 0
 * on.
 */
static char *make_file(const uint8_t *section, size_t size)
{
	const struct small_file head = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_phoff = offsetof(struct small_file, load),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.load = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_filesz = FRAME_AT + size,
			 .p_memsz = FRAME_AT + size},
		.frame_header = {.p_type = PT_GNU_EH_FRAME,
				 .p_offset = offsetof(struct small_file, search),
				 .p_vaddr = offsetof(struct small_file, search),
				 .p_filesz = sizeof(head.search)},
		.search = {.version = 1,
			   .frame_encoding = 0x03 /* DW_EH_PE_udata4 */,
			   .frame_at = FRAME_AT},
	};
	char *file = malloc(sizeof(head) + size);

	FUZZ_CHECK(file);
	memcpy(file, &head, sizeof(head));
	if (size)
		memcpy(file + sizeof(head), section, size);
	return file;
}

static void check_table(const struct unwind_table *table)
{
	FUZZ_CHECK(table->row_count && table->row[0].pc == 0 &&
		   table->index_count == TEXT_BYTES / HI_INDEX_BYTES + 2);
	for (uint32_t i = 0; i < table->row_count; i++)
		FUZZ_CHECK(table->row[i].kind <= HI_UNWIND_INDEXED &&
			   table->row[i].pc < TEXT_BYTES &&
			   (i == 0 || table->row[i - 1].pc < table->row[i].pc));
	for (uint32_t i = 0; i < table->index_count; i++)
		FUZZ_CHECK(table->index[i] < table->row_count);
	for (remote_addr pc = table->lo; pc < table->hi; pc += 16)
		FUZZ_CHECK(unwind_table_find(table, pc)->pc <= pc - table->lo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct elf_text text = {.lo = 0x10000, .hi = 0x10000 + TEXT_BYTES};
	char *file = make_file(data, size);
	struct elf_image image = {.bias = text.lo, .fd = -1};
	struct unwind_table table;

	elf_version(EV_CURRENT);
	image.elf = elf_memory(file, FRAME_AT + size);
	FUZZ_CHECK(image.elf);
	if (!unwind_table_build(&image, &text, &table)) {
		check_table(&table);
		unwind_table_close(&table);
	}
	elf_end(image.elf);
	free(file);
	return 0;
}
