/* SPDX-License-Identifier: MIT */
/*
 * stackwalk.c - libunwind's remote machinery with three accessors of the project's own: memory,
 * registers, and the unwind information of a pc.
 *
 * libunwind is lenient: without unwind information it tries the frame-pointer chain, and if that is
 * implausible it reports the end of the stack. Neither is good enough as proof. So a walk counts as
 * complete only if information was found for every frame, and the project's own unwind table shows
 * that the last frame's return address is undefined. Enter at stackwalk_read.
 *
 * Where calls leave the return address in a register, that table is the only source (row_walk.h).
 */
#include "stackwalk.h"

#include <errno.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "hi_wire.h"
#include "row_walk.h"
#include "unwind_table.h"

/* In libunwind's library and used by all of its front ends, but in none of its headers. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t pc, unw_dyn_info_t *table,
				       unw_proc_info_t *info, int need_unwind_info, void *argument);

/* ---- memory: a page cache -------------------------------------------------------------------- */

#define CACHE_PAGES 256u
/*
 * generation of pages of mapped objects: their unwind information does not change while the object
 * is mapped
 */
#define KEPT UINT64_MAX

struct page {
	remote_addr address;
	uint64_t generation; /* walk that read it, or KEPT; 0 = empty */
	uint8_t byte[HI_PAGE_BYTES];
};

/* Unwind information of one object; in the order of images. */
struct unwind_source {
	remote_addr header;         /* .eh_frame_hdr, 0 = the object has none */
	struct unwind_table *table; /* one for each text, after stackwalker_learn_ends */
};

struct stackwalker {
	const struct elf_images *images;
	struct unwind_source *source;
	unw_addr_space_t space;
	uint64_t generation; /* number of the walk */
	pid_t tid;
	struct arch_regs regs;
	bool has_gap;   /* a pc of this walk had no unwind information */
	bool is_unread; /* some memory that this walk needed could not be read */
	/*
	 * is_copy: the walk reads a copy of the stack; is_beyond: it needed memory beyond the copy
	 */
	bool is_copy, is_beyond;
	struct page page[CACHE_PAGES];
};

static struct page *page_get(struct stackwalker *walker, remote_addr address)
{
	struct page *page = &walker->page[address / HI_PAGE_BYTES % CACHE_PAGES];
	struct iovec local = {page->byte, HI_PAGE_BYTES};
	struct iovec remote;
	bool is_kept;

	address -= address % HI_PAGE_BYTES;
	if (page->address == address && page->generation &&
	    (page->generation == walker->generation || page->generation == KEPT))
		return page;
	is_kept = elf_images_find(walker->images, address) != NULL;
	if (walker->is_copy && !is_kept) {
		walker->is_beyond = true;
		return NULL;
	}
	remote.iov_base = (void *)(uintptr_t)address;
	remote.iov_len = HI_PAGE_BYTES;
	page->generation = 0;
	if (process_vm_readv(walker->tid, &local, 1, &remote, 1, 0) != HI_PAGE_BYTES) {
		walker->is_unread = true;
		return NULL;
	}
	page->address = address;
	page->generation = is_kept ? KEPT : walker->generation;
	return page;
}

static int read_bytes(struct stackwalker *walker, remote_addr from, void *into, size_t size)
{
	while (size > 0) {
		const struct page *page = page_get(walker, from);
		size_t offset = from % HI_PAGE_BYTES;
		size_t part = size < HI_PAGE_BYTES - offset ? size : HI_PAGE_BYTES - offset;

		if (!page)
			return -EFAULT;
		memcpy(into, page->byte + offset, part);
		from += part;
		into = (uint8_t *)into + part;
		size -= part;
	}
	return 0;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value,
			 int is_write, void *argument)
{
	(void)space;
	if (is_write || read_bytes(argument, address, value, sizeof(*value)))
		return -UNW_EINVAL;
	return 0;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* libunwind uses DWARF's register numbers. */
static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
			   int is_write, void *argument)
{
	const struct stackwalker *walker = argument;
	uint64_t word;

	(void)space;
	if (is_write || arch_dwarf_register(&walker->regs, number, &word))
		return -UNW_EBADREG;
	*value = word;
	return 0;
}

static int access_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value,
			int is_write, void *argument)
{
	(void)space, (void)number, (void)value, (void)is_write, (void)argument;
	return -UNW_EBADREG;
}

/* ---- unwind information ---------------------------------------------------------------------- */

/*
 * The head of .eh_frame_hdr as all linkers write it: version, three encodings, a 4-byte pointer to
 * .eh_frame, the number of entries. The entries follow, sorted, each with two 4-byte offsets from
 * the head. Anything else counts as no information.
 */
#define HEADER_BYTES 12
#define HEADER_START 0x3b031b01u /* version 1; pcrel sdata4, udata4, datarel sdata4 */

static int find_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
		     int need_unwind_info, void *argument)
{
	struct stackwalker *walker = argument;
	const struct elf_image *image = elf_images_find(walker->images, pc);
	remote_addr header = image ? walker->source[image - walker->images->image].header : 0;
	uint32_t word[HEADER_BYTES / 4];
	unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};
	int err;

	walker->has_gap = true;
	if (!header || read_bytes(walker, header, word, sizeof(word)) || word[0] != HEADER_START)
		return -UNW_ENOINFO;
	table.start_ip = image->lo;
	table.end_ip = image->hi;
	table.u.rti.segbase = header;
	table.u.rti.table_data = header + HEADER_BYTES;
	table.u.rti.table_len = word[2]; /* in words of 8 bytes: the size of one entry */
	err = UNW_OBJ(dwarf_search_unwind_table)(space, pc, &table, info, need_unwind_info, walker);
	walker->has_gap = err != 0;
	return err;
}

/* libunwind frees what dwarf_search_unwind_table has made. */
static void put_info(unw_addr_space_t space, unw_proc_info_t *info, void *argument)
{
	(void)space, (void)info, (void)argument;
}

static int no_dynamic_info(unw_addr_space_t space, unw_word_t *address, void *argument)
{
	(void)space, (void)address, (void)argument;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_info,
	.put_unwind_info = put_info,
	.get_dyn_info_list_addr = no_dynamic_info,
	.access_mem = access_memory,
	.access_reg = access_register,
	.access_fpreg = access_float,
};

static remote_addr header_address(const struct elf_image *image)
{
	GElf_Phdr segment;
	size_t count, i;

	if (elf_getphdrnum(image->elf, &count))
		return 0;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(image->elf, (int)i, &segment) && segment.p_type == PT_GNU_EH_FRAME)
			return segment.p_vaddr + image->bias;
	}
	return 0;
}

/* ---- the end of a stack ---------------------------------------------------------------------- */

static const struct unwind_table *table_of(const struct stackwalker *walker,
					   const struct elf_image *image, remote_addr pc)
{
	const struct unwind_table *table = walker->source[image - walker->images->image].table;
	size_t i;

	for (i = 0; table && i < image->text_count; i++) {
		if (pc >= image->text[i].lo && pc < image->text[i].hi)
			return table[i].row ? &table[i] : NULL;
	}
	return NULL;
}

/*
 * Is the last frame one whose return address is undefined: the start of a program or of a thread?
 */
static bool is_proper_end(const struct stackwalker *walker, const struct stackwalk *walk)
{
	size_t last = walk->count - 1;
	bool is_return_address = last > 0 && !walk->is_signal[last - 1];
	remote_addr pc = walk->pc[last] - is_return_address;
	const struct elf_image *image = elf_images_find(walker->images, pc);
	const struct unwind_table *table = image ? table_of(walker, image, pc) : NULL;

	return table && unwind_table_find(table, pc)->kind == HI_UNWIND_END;
}

/* ---- entry ----------------------------------------------------------------------------------- */

int stackwalker_open(pid_t pid, const struct elf_images *images, struct stackwalker **out_walker)
{
	struct stackwalker *walker = calloc(1, sizeof(*walker));
	size_t i;

	if (!walker)
		return -ENOMEM;
	walker->tid = pid;
	walker->images = images;
	walker->source = calloc(images->count ? images->count : 1, sizeof(*walker->source));
	walker->space = unw_create_addr_space(&accessors, 0);
	if (!walker->source || !walker->space) {
		stackwalker_close(walker);
		return -ENOMEM;
	}
	unw_set_caching_policy(walker->space, UNW_CACHE_GLOBAL);
	for (i = 0; i < images->count; i++)
		walker->source[i].header = header_address(&images->image[i]);
	if (HI_ARCH_LINK_REGISTER)
		stackwalker_learn_ends(walker);
	*out_walker = walker;
	return 0;
}

/* Where rows are what the walk follows, and not only where it may end, guesses are none. */
static int build_table(const struct elf_image *image, const struct elf_text *text,
		       struct unwind_table *out_table)
{
	return HI_ARCH_LINK_REGISTER ? unwind_table_build_described(image, text, out_table)
				     : unwind_table_build(image, text, out_table);
}

void stackwalker_learn_ends(struct stackwalker *walker)
{
	size_t i, k;

	for (i = 0; i < walker->images->count; i++) {
		const struct elf_image *image = &walker->images->image[i];
		struct unwind_source *source = &walker->source[i];

		if (source->table)
			continue;
		source->table =
			calloc(image->text_count ? image->text_count : 1, sizeof(*source->table));
		for (k = 0; source->table && k < image->text_count; k++) {
			if (build_table(image, &image->text[k], &source->table[k]))
				source->table[k] = (struct unwind_table){0};
		}
	}
}

void stackwalker_close(struct stackwalker *walker)
{
	size_t i, k;

	if (!walker)
		return;
	for (i = 0; walker->source && i < walker->images->count; i++) {
		for (k = 0; walker->source[i].table && k < walker->images->image[i].text_count; k++)
			unwind_table_close(&walker->source[i].table[k]);
		free(walker->source[i].table);
	}
	free(walker->source);
	if (walker->space)
		unw_destroy_addr_space(walker->space);
	free(walker);
}

static bool read_word(void *context, remote_addr at, uint64_t *out_word)
{
	return read_bytes(context, at, out_word, sizeof(*out_word)) == 0;
}

/* By texts: the kernel may put the vdso between two segments of another object. */
static const struct hi_unwind_row *find_row(void *context, remote_addr pc)
{
	const struct stackwalker *walker = context;

	for (size_t i = 0; i < walker->images->count; i++) {
		const struct unwind_table *table = table_of(walker, &walker->images->image[i], pc);

		if (table)
			return unwind_table_find(table, pc);
	}
	return NULL;
}

static void walk_by_rows(struct stackwalker *walker, struct stackwalk *out_walk)
{
	const struct row_walk_source source = {walker, read_word, find_row};

	row_walk(&source, &walker->regs, out_walk);
}

static void walk_by_libunwind(struct stackwalker *walker, struct stackwalk *out_walk)
{
	unw_cursor_t cursor;
	unw_word_t word;
	int step;

	walker->has_gap = walker->is_unread = false;
	out_walk->count = 0;
	out_walk->is_complete = false;
	out_walk->is_cut = true;
	if (unw_init_remote(&cursor, walker->space, walker))
		return;
	do {
		size_t frame = out_walk->count;

		if (frame == STACKWALK_FRAMES_MAX || unw_get_reg(&cursor, UNW_REG_IP, &word))
			return;
		out_walk->pc[frame] = word;
		out_walk->cfa[frame] = 0;
		out_walk->is_signal[frame] = unw_is_signal_frame(&cursor) > 0;
		out_walk->count++;
		step = unw_step(&cursor);
		if (step > 0 && unw_get_reg(&cursor, UNW_REG_SP, &word) == 0)
			out_walk->cfa[frame] = word;
	} while (step > 0 && !walker->has_gap);
	out_walk->is_cut = step != 0 || walker->has_gap || walker->is_unread;
	out_walk->is_complete = step == 0 && !walker->has_gap && is_proper_end(walker, out_walk);
}

static void walk_on(struct stackwalker *walker, struct stackwalk *out_walk)
{
	if (HI_ARCH_LINK_REGISTER)
		walk_by_rows(walker, out_walk);
	else
		walk_by_libunwind(walker, out_walk);
}

static void begin(struct stackwalker *walker, pid_t tid)
{
	walker->tid = tid;
	walker->generation++;
	walker->is_copy = walker->is_beyond = false;
}

int stackwalk_read(struct stackwalker *walker, const struct tracee *tracee,
		   struct stackwalk *out_walk)
{
	int err = tracee_get_regs(tracee, &walker->regs);

	if (err)
		return err;
	begin(walker, tracee->tid);
	walk_on(walker, out_walk);
	return 0;
}

int stackwalk_copy(const struct tracee *tracee, struct stackwalk_copy *out_copy)
{
	struct iovec local = {out_copy->byte, sizeof(out_copy->byte)},
		     remote = {NULL, sizeof(out_copy->byte)};
	ssize_t got;
	int err = tracee_get_regs(tracee, &out_copy->regs);

	if (err)
		return err;
	out_copy->from = arch_sp(&out_copy->regs) - arch_sp(&out_copy->regs) % HI_PAGE_BYTES;
	remote.iov_base = (void *)(uintptr_t)out_copy->from;
	/* up to the end of the mapping, at most */
	got = process_vm_readv(tracee->tid, &local, 1, &remote, 1, 0);
	out_copy->size = got > 0 ? (size_t)got : 0;
	return 0;
}

int stackwalk_read_copy(struct stackwalker *walker, pid_t tid, const struct stackwalk_copy *copy,
			struct stackwalk *out_walk)
{
	begin(walker, tid);
	walker->is_copy = true;
	walker->regs = copy->regs;
	for (size_t at = 0; at + HI_PAGE_BYTES <= copy->size; at += HI_PAGE_BYTES) {
		struct page *page = &walker->page[(copy->from + at) / HI_PAGE_BYTES % CACHE_PAGES];

		memcpy(page->byte, copy->byte + at, HI_PAGE_BYTES);
		page->address = copy->from + at;
		page->generation = walker->generation;
	}
	walk_on(walker, out_walk);
	return walker->is_beyond ? -E2BIG : 0;
}
