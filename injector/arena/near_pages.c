/* SPDX-License-Identifier: MIT */
/* near_pages.c - see near_pages.h. */
#include "near_pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arena_file.h"
#include "entries_keep.h"
#include "hi_page.h"

#define CELL_BYTES (ARCH_LANDED_BYTES + ARCH_FAR_JUMP_BYTES + ARCH_EXIT_BYTES)
#define CELLS_IN_PAGE ((unsigned)(hi_page_bytes() / CELL_BYTES))

/* ---- who needs an island, and where ---------------------------------------------------------- */

/* Can jumps lead from the function to `to`, and from an exit at `exit` back into it? */
static bool is_in_reach(const struct memory *memory, const struct entry *entry, remote_addr to,
			remote_addr exit)
{
	uint8_t code[ARCH_EXIT_BYTES];
	struct entry_word words[ENTRY_WORDS_MAX];
	size_t used;
	return arch_make_exit(entry->code, entry->at, exit, code) &&
	       !entry_words(entry, to, memory, words, &used) &&
	       (entry->by != ENTRY_FAR_AWAY ||
		arch_make_jump(code, ARCH_JUMP_BYTES, entry->relay, to));
}

static bool is_gate_in_reach(const struct hi_control *control, const struct memory *memory,
			     const struct entry *entry)
{
	const remote_addr lo = arena_gate(control), hi = lo + HI_GATE_BYTES - HI_GATE_STRIDE;
	return !arch_landing(entry->code).signs && is_in_reach(memory, entry, lo, lo) &&
	       is_in_reach(memory, entry, hi, hi);
}

struct island {
	remote_addr at;
	unsigned most, cells;
};

/* Those entries of the gate that no function has, for functions from which the gate is in reach. */
static struct island gate_island(const struct hi_control *control)
{
	return (struct island){
		.at = arena_gate(control) + (uint64_t)ENTRIES_GATE_MAX * HI_GATE_STRIDE,
		.most = (HI_GATE_RESTORE - ENTRIES_GATE_MAX) * HI_GATE_STRIDE / CELL_BYTES};
}

static bool is_in_gate(const struct hi_control *control, remote_addr cell)
{
	return cell - arena_gate(control) < HI_GATE_BYTES;
}

static bool take_cell(struct island *island, const struct memory *memory, struct entry *entry)
{
	const remote_addr cell = island->at + (remote_addr)island->cells * CELL_BYTES;
	if (island->cells == island->most ||
	    !is_in_reach(memory, entry, cell, cell + CELL_BYTES - ARCH_EXIT_BYTES))
		return false;
	entry->cell = cell;
	island->cells++;
	return true;
}

void near_pages_plan(const struct hi_control *control, const struct memory *memory,
		     const struct maps *maps, struct entries *entries)
{
	struct island island[ALLOCATORS_MAX + 1] = {gate_island(control)};
	unsigned islands = 1;
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		struct entry *entry = &entries->entry[hook];
		bool has_way = !entry->at || is_gate_in_reach(control, memory, entry);
		for (unsigned i = 0; i < islands && !has_way; i++)
			has_way = take_cell(&island[i], memory, entry);
		if (!has_way && islands <= ALLOCATORS_MAX) {
			const remote_addr page = arena_place(maps, entries, hi_page_bytes(),
							     entry->at, entry->at + 1);
			if (page) {
				island[islands] = (struct island){page, CELLS_IN_PAGE, 0};
				has_way = take_cell(&island[islands++], memory, entry);
			}
		}
		if (!has_way)
			entries_drop(entries, hook);
	}
}

/* ---- mapping --------------------------------------------------------------------------------- */

static int map_page(const struct arena *arena, struct remote *remote, unsigned number)
{
	const struct hi_control *control = arena->control;
	const remote_addr page = control->near_page[number];
	const uint64_t offset = control->near.offset + (uint64_t)number * hi_page_bytes();
	uint64_t at;
	const int err =
		remote_syscall_or_fail(remote, SYS_mmap,
				       (uint64_t[6]){page, hi_page_bytes(), PROT_READ | PROT_EXEC,
						     MAP_PRIVATE | MAP_FIXED_NOREPLACE,
						     (uint64_t)arena->target_fd, offset},
				       &at);
	if (err || at == page)
		return err;
	/* Linux before 4.17 takes the address as a hint */
	(void)!remote_syscall_or_fail(remote, SYS_munmap, (uint64_t[6]){at, hi_page_bytes()}, NULL);
	return -EEXIST;
}

/* Did the kernel certainly not make the mapping (or is there no page left)? */
static bool is_refusal(int err)
{
	return err == -ENOSPC || err == -EEXIST || err == -ENOMEM || err == -EPERM ||
	       err == -EACCES || err == -EINVAL || err == -EAGAIN;
}

/* The page is recorded before it is mapped. */
static int add_page(struct arena *arena, struct remote *remote, remote_addr address)
{
	struct hi_control *control = arena->control;
	const remote_addr page = address / hi_page_bytes() * hi_page_bytes();
	unsigned number = 0;
	while (number < HI_NEAR_PAGES_MAX && control->near_page[number] &&
	       control->near_page[number] != page)
		number++;
	if (number == HI_NEAR_PAGES_MAX)
		return -ENOSPC;
	if (control->near_page[number] == page)
		return 0;
	control->near_page[number] = page;
	int err = arena_note(control, remote->memory);
	if (!err)
		err = map_page(arena, remote, number);
	if (is_refusal(err))
		control->near_page[number] = 0;
	return err;
}

int near_pages_map(struct arena *arena, struct remote *remote, struct entries *entries)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &entries->entry[hook];
		int err = 0;
		if (!entry->at)
			continue;
		if (entry->by == ENTRY_FAR_AWAY)
			err = add_page(arena, remote, entry->relay);
		if (!err && entry->cell && !is_in_gate(arena->control, entry->cell))
			err = add_page(arena, remote, entry->cell);
		if (is_refusal(err))
			entries_drop(entries, hook);
		else if (err) /* the mapping may have been made all the same */
			return err;
	}
	return 0;
}

/* ---- contents -------------------------------------------------------------------------------- */

static bool put_relay(uint8_t *page, const struct near_function *function)
{
	const struct entry *entry = function->entry;
	return arch_make_jump(page + entry->relay % hi_page_bytes(), ARCH_JUMP_BYTES, entry->relay,
			      entry->cell ? entry->cell : function->gate);
}

static bool put_cell(uint8_t cell[CELL_BYTES], const struct near_function *function)
{
	const struct entry *entry = function->entry;
	arch_make_landed(entry->code, cell);
	arch_make_far_jump(cell + ARCH_LANDED_BYTES, function->gate);
	return arch_make_exit(entry->code, entry->at, near_pages_exit(entry),
			      cell + (near_pages_exit(entry) - entry->cell));
}

static bool is_in_page(remote_addr address, remote_addr page)
{
	return address - page < hi_page_bytes();
}

static bool fill_page(uint8_t *bytes, remote_addr page, const struct near_function *functions,
		      size_t count)
{
	bool is_good = true;
	arch_fill(bytes, hi_page_bytes());
	for (size_t i = 0; i < count && is_good; i++) {
		const struct entry *entry = functions[i].entry;
		if (entry->by == ENTRY_FAR_AWAY && is_in_page(entry->relay, page))
			is_good = put_relay(bytes, &functions[i]);
		if (entry->cell && is_in_page(entry->cell, page))
			is_good &= put_cell(bytes + entry->cell % hi_page_bytes(), &functions[i]);
	}
	return is_good;
}

static int fill_gate_cell(const struct arena *arena, const struct near_function *function)
{
	const struct hi_control *control = arena->control;
	const remote_addr at = function->entry->cell;
	uint8_t cell[CELL_BYTES];
	if (!is_in_gate(control, at))
		return 0;
	return put_cell(cell, function)
		       ? arena_file_put(arena, cell, sizeof(cell),
					control->gate.offset + (at - arena_gate(control)))
		       : -ERANGE;
}

int near_pages_fill(const struct arena *arena, const struct near_function *functions, size_t count)
{
	const struct hi_control *control = arena->control;
	int err = 0;
	for (unsigned number = 0; number < HI_NEAR_PAGES_MAX && control->near_page[number] && !err;
	     number++) {
		uint8_t page[HI_PAGE_BYTES_MAX];
		err = fill_page(page, control->near_page[number], functions, count)
			      ? arena_file_put(arena, page, hi_page_bytes(),
					       control->near.offset +
						       (uint64_t)number * hi_page_bytes())
			      : -ERANGE;
	}
	for (size_t i = 0; i < count && !err; i++)
		err = fill_gate_cell(arena, &functions[i]);
	return err;
}
