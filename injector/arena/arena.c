/* SPDX-License-Identifier: MIT */
/*
 * arena.c - see arena.h.
 *
 * The order of steps matters if the injector dies: the memfd carries a complete control block
 * before its first mapping exists, and the first mapping covers the whole arena by name. So from
 * then on /proc/PID/maps leads to everything.
 */
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena_reserve.h"
#include "code_swap.h"
#include "fault.h"
#include "kernel_flags.h"
#include "target_memfd.h"

/* the stacks part is allocated in so many steps, each when the last one is half full */
#define STACKS_STEPS 64

static int create_memfd(struct arena *arena, struct remote *remote)
{
	uint64_t fd;
	int err =
		memory_write(remote->memory, remote->scratch, HI_MEMFD_NAME, sizeof(HI_MEMFD_NAME));
	if (err)
		return err;
	err = remote_syscall_or_fail(
		remote, SYS_memfd_create,
		(uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL},
		&fd);
	if (err == -EINVAL) /* kernels before 6.3 do not know MFD_NOEXEC_SEAL */
		err = remote_syscall_or_fail(
			remote, SYS_memfd_create,
			(uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_ALLOW_SEALING}, &fd);
	if (err)
		return err;
	arena->target_fd = (int)fd;

	return target_memfd_open(remote->tracee.pid, remote->tracee.tid, arena->target_fd,
				 HI_MEMFD_NAME, &arena->memfd);
}

static int put(const struct arena *arena, const void *bytes, size_t size, uint64_t offset)
{
	const int err = fault_next("fill_memfd");
	if (err)
		return err;
	const ssize_t put = pwrite(arena->memfd, bytes, size, (off_t)offset);
	return put == (ssize_t)size ? 0 : put < 0 ? -errno : -EIO;
}

/*
 * Where arena->kept holds the byte at `offset` of the arena's file, if that lies in a part that is
 * to be private; NULL: it does not.
 */
static uint8_t *kept_at(const struct arena *arena, uint64_t offset)
{
	const struct hi_control *control = arena->control;
	if (offset - control->relays.offset < control->relays.size)
		return arena->kept + (offset - control->relays.offset);
	if (offset - control->image.offset < control->arena_size - control->image.offset)
		return arena->kept + control->relays.size + (offset - control->image.offset);
	return NULL;
}

/*
 * Writes to the file before that part is mapped, and keeps a copy: make_private compares with it
 * once the part is mapped.
 */
static int put_kept(const struct arena *arena, const void *bytes, size_t size, uint64_t offset)
{
	memcpy(kept_at(arena, offset), bytes, size);
	return put(arena, bytes, size, offset);
}

/* One gate entry: which function it serves, and how that is hooked. */
struct served {
	enum hi_function function;
	enum gate_class class;
	const struct entry *entry; /* NULL: hooked by slots */
};

static enum gate_class class_of(enum hi_function function, const struct entries *entries)
{
	if (entries->nesting[function] == ENTRY_NESTS)
		return GATE_ALWAYS;
	return entries->nesting[function] == ENTRY_NULL && entries->entry[HI_FN_MALLOC].at
		       ? GATE_REALLOC_NULL
		       : hook_table[function].gate;
}

/* The functions that get a gate entry, in the order of the entries. */
static unsigned gate_functions(const struct arena_code *code,
			       struct served out_served[HI_GATE_ENTRIES])
{
	unsigned count = 0;
	for (unsigned function = 0; function < HI_FUNCTION_COUNT && count < HI_GATE_RESTORE;
	     function++) {
		const struct entry *entry =
			code->entries->entry[function].at ? &code->entries->entry[function] : NULL;
		if (!code->allocator->original[function] || !code->payload->hook[function])
			continue;
		if (!entry && entries_have(code->entries, (enum hi_function)function))
			continue;
		out_served[count++] =
			(struct served){(enum hi_function)function,
					class_of((enum hi_function)function, code->entries), entry};
	}
	return count;
}

static uint64_t exit_of(const struct hi_control *control, const struct payload_image *payload,
			const struct served *served, unsigned number)
{
	return control->arena + control->gate.offset + (uint64_t)number * HI_GATE_STRIDE +
	       payload->gate[served->class].exit;
}

/* Can jumps reach from the entry to any place in the gate, and back? */
static bool is_in_reach(const struct hi_control *control, const struct memory *memory,
			const struct entry *entry)
{
	uint8_t exit[ARCH_EXIT_BYTES];
	struct entry_word words[ENTRY_WORDS_MAX];
	size_t used;
	const remote_addr lo = arena_gate(control), hi = lo + HI_GATE_BYTES - HI_GATE_STRIDE;
	return arch_make_exit(entry->code, entry->at, lo, exit) &&
	       arch_make_exit(entry->code, entry->at, hi, exit) &&
	       !entry_words(entry, lo, memory, words, &used) &&
	       !entry_words(entry, hi, memory, words, &used) &&
	       (entry->by != ENTRY_FAR_AWAY ||
		(arch_make_jump(exit, ARCH_JUMP_BYTES, entry->relay, lo) &&
		 arch_make_jump(exit, ARCH_JUMP_BYTES, entry->relay, hi)));
}

static void drop_out_of_reach(const struct hi_control *control, const struct memory *memory,
			      struct entries *entries)
{
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (entries->entry[function].at &&
		    !is_in_reach(control, memory, &entries->entry[function]))
			entries_drop(entries, (enum hi_function)function);
}

/*
 * Sets the size for good: no process may shrink the file under our mapping or the target's, nor
 * have done so before the seal.
 */
static int set_size(int memfd, off_t size)
{
	struct stat info;
	const int err = fault_next("seal_memfd");
	if (err)
		return err;
	if (ftruncate(memfd, size) ||
	    fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    fstat(memfd, &info))
		return -errno;
	return info.st_size == size ? 0 : -EBUSY;
}

/*
 * All code is in the file before the target maps it: no page that is executable there is ever
 * written to.
 */
static int fill_memfd(struct arena *arena, const struct hi_control *layout,
		      const struct payload_image *payload)
{
	arena->control = arena_control_new();
	arena->kept = calloc(1, layout->relays.size + (layout->arena_size - layout->image.offset));
	if (!arena->control || !arena->kept)
		return -ENOMEM;
	memcpy(arena->control, layout, offsetof(struct hi_control, counters));
	int err = set_size(arena->memfd, (off_t)layout->arena_size);
	if (!err && layout->image.size)
		err = put_kept(arena, payload->file + payload->text_offset, payload->text_size,
			       layout->image.offset);
	const uint64_t restore = layout->gate.offset + (uint64_t)HI_GATE_RESTORE * HI_GATE_STRIDE;
	if (!err)
		err = put_kept(arena, payload->gate[GATE_RESTORE].code,
			       payload->gate[GATE_RESTORE].size, restore);
	if (err)
		return err;
	arena->shared_size = layout->tables.offset + layout->tables.size;
	void *shared =
		mmap(NULL, arena->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED, arena->memfd, 0);
	if (shared == MAP_FAILED)
		return -errno;
	arena->shared = shared;
	/* a page boundary */
	arena->ring = (struct hi_ring *)(void *)((uint8_t *)shared + layout->ring.offset);
	arena->ring_count = layout->ring_mask + 1;
	arena->ring_capacity = arena_ring_capacity(layout);
	arena->stacks = (struct hi_stacks *)(void *)((uint8_t *)shared + layout->stacks.offset);
	arena->stacks_size = layout->stacks.size;
	arena->stacks->used = sizeof(struct hi_stacks);
	arena->tables = (uint8_t *)shared + layout->tables.offset;
	arena->tables_size = layout->tables.size;
	memcpy(arena->shared, arena->control, offsetof(struct hi_control, counters));
	arena->control->magic = arena->shared->magic = HI_WIRE_MAGIC;
	for (uint32_t i = 0; i < arena->ring_count; i++) {
		struct hi_ring *ring = hi_ring_at(arena->ring, arena->ring_capacity, i);
		ring->capacity = arena->ring_capacity;
	}
	return 0;
}

static int map_fixed(struct remote *remote, uint64_t at, uint64_t size, int protection, int flags,
		     int fd, uint64_t offset)
{
	return remote_syscall_or_fail(remote, SYS_mmap,
				      (uint64_t[6]){at, size, (uint64_t)protection,
						    (uint64_t)(flags | MAP_FIXED), (uint64_t)fd,
						    offset},
				      NULL);
}

/*
 * Writes an entry's code. If the function is hooked at its entry, that includes the displaced
 * instructions.
 */
static int fill_entry(const struct arena *arena, const struct payload_image *payload,
		      const struct served *served, unsigned number)
{
	uint8_t code[HI_GATE_STRIDE];
	const size_t size = payload->gate[served->class].size;
	memcpy(code, payload->gate[served->class].code, size);
	if (served->entry && !arch_make_exit(served->entry->code, served->entry->at,
					     exit_of(arena->control, payload, served, number),
					     code + payload->gate[served->class].exit))
		return -ERANGE;
	return put_kept(arena, code, size,
			arena->control->gate.offset + (uint64_t)number * HI_GATE_STRIDE);
}

static remote_addr page_of(remote_addr address)
{
	return address / HI_PAGE_BYTES * HI_PAGE_BYTES;
}

/* Several relays may lie in one page: the number of the first relay in that page. */
static unsigned first_in_page(const struct hi_control *control, remote_addr relay)
{
	unsigned number = 0;
	while (number < HI_RELAYS_MAX &&
	       (!control->relay[number] || page_of(control->relay[number]) != page_of(relay)))
		number++;
	return number;
}

/* Fills the relay pages: they hold nothing but jumps. */
static int fill_relays(const struct arena *arena, const struct served *served, unsigned count)
{
	const struct hi_control *control = arena->control;
	int err = 0;
	for (unsigned number = 0; number < HI_RELAYS_MAX && control->relay[number] && !err;
	     number++) {
		uint8_t page[HI_PAGE_BYTES];
		if (first_in_page(control, control->relay[number]) != number)
			continue;
		arch_fill(page, sizeof(page));
		for (unsigned i = 0; i < count && !err; i++) {
			const struct entry *entry = served[i].entry;
			if (entry && entry->by == ENTRY_FAR_AWAY &&
			    page_of(entry->relay) == page_of(control->relay[number]) &&
			    !arch_make_jump(page + entry->relay % HI_PAGE_BYTES, ARCH_JUMP_BYTES,
					    entry->relay,
					    arena_gate(control) + (uint64_t)i * HI_GATE_STRIDE))
				err = -ERANGE;
		}
		if (!err)
			err = put_kept(arena, page, sizeof(page),
				       control->relays.offset + (uint64_t)number * HI_PAGE_BYTES);
	}
	return err;
}

/*
 * The address that leads to a function: the exit of its gate entry if it is hooked at its entry,
 * else its own address.
 */
static remote_addr way_to(const struct arena *arena, const struct arena_code *code,
			  const struct served *served, unsigned count, remote_addr address)
{
	for (unsigned i = 0; i < count; i++)
		if (address && served[i].entry && served[i].entry->at == address)
			return exit_of(arena->control, code->payload, &served[i], i);
	return address;
}

/*
 * Writes code and words of every entry, disarmed, to the file. They hold addresses, so the base
 * must be known, and the pages must not be mapped yet.
 */
static int fill_gate(const struct arena *arena, const struct arena_code *code)
{
	struct hi_control *control = arena->control;
	const struct arena_state_layout layout = arena_state_layout(control);
	const remote_addr state = arena_state(control);
	struct served served[HI_GATE_ENTRIES];
	const unsigned count = gate_functions(code, served);
	int err = 0;
	for (unsigned i = 0; !err && i < count; i++) {
		const enum hi_function function = served[i].function;
		const remote_addr original =
			way_to(arena, code, served, count, code->allocator->original[function]);
		struct hi_gate_words words = {
			.original = original,
			.hook = original,
			.thread_slots = state + layout.thread_slots,
			.occupancy = state + layout.occupancy,
			.state = state,
			.nothrow = way_to(arena, code, served, count,
					  code->allocator->nothrow[function]),
			.plain = way_to(arena, code, served, count,
					code->allocator->plain[function]),
			.new_handler = code->allocator->new_handler,
			.usable_size = code->allocator->usable_size[function],
			.occupancy_mask = (1u << control->occupancy_bits) - 1,
			.function = function,
			.nests = code->entries->nesting[function] == ENTRY_NESTS,
			.return_gadget = control->return_gadget,
		};
		for (unsigned from = 0; from < HI_NESTED_FROM_MAX; from++) {
			words.nested_from[from].lo = code->entries->nested_from[from].lo;
			words.nested_from[from].hi = code->entries->nested_from[from].hi;
		}
		err = fill_entry(arena, code->payload, &served[i], i);
		if (!err)
			err = put_kept(arena, &words, sizeof(words),
				       control->words.offset + (uint64_t)i * HI_GATE_STRIDE);
	}
	control->gate_count = count;
	return err ? err : fill_relays(arena, served, count);
}

/*
 * Maps one page, where nothing may be mapped yet. Its contents come later: no thread jumps there
 * before the function's entry is written.
 */
static int map_relay(const struct arena *arena, struct remote *remote, unsigned number)
{
	const struct hi_control *control = arena->control;
	const remote_addr page = page_of(control->relay[number]);
	const uint64_t offset = control->relays.offset + (uint64_t)number * HI_PAGE_BYTES;
	uint64_t at;
	if (first_in_page(control, page) != number)
		return 0;
	const int err =
		remote_syscall_or_fail(remote, SYS_mmap,
				       (uint64_t[6]){page, HI_PAGE_BYTES, PROT_READ | PROT_EXEC,
						     MAP_PRIVATE | MAP_FIXED_NOREPLACE,
						     (uint64_t)arena->target_fd, offset},
				       &at);
	if (err || at == page)
		return err;
	/* Linux before 4.17 takes the address as a hint */
	(void)!remote_syscall_or_fail(remote, SYS_munmap, (uint64_t[6]){at, HI_PAGE_BYTES}, NULL);
	return -EEXIST;
}

/* Did the kernel certainly not make the mapping (or is there no relay page left)? */
static bool is_refusal(int err)
{
	return err == -ENOSPC || err == -EEXIST || err == -ENOMEM || err == -EPERM ||
	       err == -EACCES || err == -EINVAL || err == -EAGAIN;
}

/* Maps the relays. Functions whose relay's place is taken are left to slots. */
static int map_relays(struct arena *arena, struct remote *remote, struct entries *entries)
{
	struct hi_control *control = arena->control;
	unsigned number = 0;
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++) {
		struct entry *entry = &entries->entry[function];
		if (!entry->at || entry->by != ENTRY_FAR_AWAY)
			continue;
		int err = number < HI_RELAYS_MAX ? 0 : -ENOSPC;
		if (!err) {
			control->relay[number] = entry->relay;
			err = arena_note(control, remote->memory);
		}
		if (!err)
			err = map_relay(arena, remote, number);
		if (!err) {
			number++;
			continue;
		}
		if (!is_refusal(err)) /* the mapping may have been made all the same */
			return err;
		if (number < HI_RELAYS_MAX)
			control->relay[number] = 0;
		entries_drop(entries, (enum hi_function)function);
	}
	return 0;
}

/*
 * Compares the mapped control block, as make_private does for other parts, before anything is
 * written there.
 */
static int check_control(const struct arena *arena, const struct memory *memory)
{
	uint8_t mapped[HI_PAGE_BYTES];
	const struct hi_control *control = arena->shared;
	return memory_read(memory, arena->control->arena, mapped, sizeof(mapped)) ||
			       memcmp(mapped, control, sizeof(mapped)) != 0
		       ? -ESTALE
		       : 0;
}

/*
 * Excludes the arena from core dumps, except the staged code: that will be the program's own again,
 * and must be like its neighbours.
 */
static int leave_out_of_core_dumps(const struct hi_control *control, struct remote *remote)
{
	const uint64_t end = control->code[0].size ? control->stage.offset : control->arena_size,
		       rest = control->stage.offset + control->stage.size;
	const int err = remote_syscall_or_fail(
		remote, SYS_madvise, (uint64_t[6]){control->arena, end, MADV_DONTDUMP}, NULL);
	if (err || end == control->arena_size)
		return err;
	return remote_syscall_or_fail(
		remote, SYS_madvise,
		(uint64_t[6]){control->arena + rest, control->arena_size - rest, MADV_DONTDUMP},
		NULL);
}

static int map_parts(struct arena *arena, struct remote *remote, const struct arena_code *code)
{
	struct hi_control *control = arena->control;
	const int fd = arena->target_fd;
	remote_addr base;
	bool is_locking;
	int err =
		arena_reserve_file(remote, fd, code->hint, control->arena_size, &base, &is_locking);
	if (err)
		return err;
	control->arena = arena->shared->arena = base;
	/*
	 * Records for the cleanup of one process must not reach its forked children, nor the other
	 * way round.
	 */
	err = map_fixed(remote, base, HI_PAGE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!err)
		err = check_control(arena, remote->memory);
	if (!err)
		err = arena_note(control, remote->memory);
	if (err)
		return err;
	drop_out_of_reach(control, remote->memory, code->entries);
	err = map_relays(arena, remote, code->entries);
	if (!err && code_swap_stage(control, remote)) {
		memset(control->code, 0, sizeof(control->code));
		entries_drop_all(code->entries);
	}
	if (!err)
		err = fill_gate(arena, code);
	if (!err)
		err = arena_note(control, remote->memory);
	if (err)
		return err;

	const struct hi_part *tables = &control->tables, *image = &control->image,
			     *gate = &control->gate, *words = &control->words,
			     *state = &control->state;
	err = remote_syscall_or_fail(remote, SYS_mprotect,
				     (uint64_t[6]){base + tables->offset, tables->size, PROT_READ},
				     NULL);
	if (!err) /* image and gate lie side by side */
		err = map_fixed(remote, base + image->offset, image->size + gate->size,
				PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, image->offset);
	if (!err)
		err = map_fixed(remote, base + words->offset, words->size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE, fd, words->offset);
	if (!err)
		err = arena_reserve_private(remote, base + state->offset, state->size, is_locking);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_madvise,
					     (uint64_t[6]){base + state->offset + HI_PAGE_BYTES,
							   state->size - HI_PAGE_BYTES,
							   MADV_WIPEONFORK},
					     NULL);
	if (!err) /* not before MADV_WIPEONFORK: a child would have it, too */
		err = memory_write_u64(remote->memory,
				       base + state->offset + offsetof(struct hi_state, unforked),
				       1);
	if (!err)
		err = leave_out_of_core_dumps(control, remote);
	return err;
}

/* Makes pages private that show the file at this `offset`. */
static int make_pages_private(const struct arena *arena, const struct memory *memory,
			      remote_addr at, uint64_t size, uint64_t offset)
{
	const uint8_t *kept = kept_at(arena, offset);
	uint8_t mapped[HI_PAGE_BYTES];
	int err = 0;
	for (uint64_t done = 0; done < size && !err; done += sizeof(mapped)) {
		err = memory_write(memory, at + done, kept + done, sizeof(uint64_t));
		if (!err && (memory_read(memory, at + done, mapped, sizeof(mapped)) ||
			     memcmp(mapped, kept + done, sizeof(mapped)) != 0))
			err = -ESTALE;
	}
	return err;
}

/*
 * A private page shows later writes to its file until the page itself is written to. So this writes
 * to each page one word of what it should already hold: other processes that have the file open may
 * have fewer rights than the target. From then on the contents are fixed, and are compared: since
 * the file was created another thread may have put another file under its number, or written to it.
 */
static int make_private(const struct arena *arena, const struct memory *memory)
{
	const struct hi_control *control = arena->control;
	const uint64_t from = control->image.offset;
	int err = make_pages_private(arena, memory, control->arena + from,
				     control->arena_size - from, from);
	for (unsigned number = 0; number < HI_RELAYS_MAX && control->relay[number] && !err;
	     number++)
		if (first_in_page(control, control->relay[number]) == number)
			err = make_pages_private(
				arena, memory, page_of(control->relay[number]), HI_PAGE_BYTES,
				control->relays.offset + (uint64_t)number * HI_PAGE_BYTES);
	return err;
}

int arena_close_fd(struct remote *remote, int fd)
{
	if (!target_memfd_is_ours(remote->tracee.pid, remote->tracee.tid, fd))
		return 0; /* the program closed it */
	return remote_syscall_or_fail(remote, SYS_close, (uint64_t[6]){(uint64_t)fd}, NULL);
}

static int close_in_target(struct arena *arena, struct remote *remote)
{
	if (arena->target_fd < 0)
		return 0;
	int err = arena_close_fd(remote, arena->target_fd);
	if (!err)
		arena->target_fd = -1;
	return err;
}

int arena_map(struct arena *arena, struct remote *remote, const struct hi_control *layout,
	      const struct arena_code *code)
{
	*arena = (struct arena){.memfd = -1, .target_fd = -1};
	int err = create_memfd(arena, remote);
	if (!err)
		err = fill_memfd(arena, layout, code->payload);
	if (!err)
		err = map_parts(arena, remote, code);
	if (!err)
		err = make_private(arena, remote->memory);
	int close_err = close_in_target(arena, remote);
	if (!err)
		err = close_err;
	free(arena->kept);
	arena->kept = NULL;
	if (!err)
		return 0;

	if (arena->control && arena->control->arena)
		(void)arena_unmap(arena->control, remote, code->payload, false);
	(void)close_in_target(arena, remote); /* a second try, if the first one failed */
	arena_close(arena);
	/* to callers EAGAIN means that no thread could be borrowed */
	return err == -EAGAIN ? -ENOBUFS : err;
}

int arena_touch_ring(const struct arena *arena)
{
	const struct hi_part *ring = &arena->control->ring;
	const int err = fault_next("allocate_ring");
	if (err)
		return err;
	return fallocate(arena->memfd, 0, (off_t)ring->offset, (off_t)ring->size) ? -errno : 0;
}

/* A failure is no error: stacks that find no room are recorded with each sample. */
void arena_extend_stacks(struct arena *arena)
{
	const uint64_t step = arena->stacks_size / STACKS_STEPS,
		       used = __atomic_load_n(&arena->stacks->used, __ATOMIC_RELAXED);
	const uint64_t limit = arena->stacks_limit;
	if (limit >= arena->stacks_size || (limit && used < limit - step / 2))
		return;
	if (fallocate(arena->memfd, 0, (off_t)(arena->control->stacks.offset + limit), (off_t)step))
		return;
	arena->stacks_limit = limit + step;
	__atomic_store_n(&arena->stacks->limit, arena->stacks_limit, __ATOMIC_RELEASE);
}

/*
 * Makes pages of bare jumps and moves them over the live gate. mremap replaces the gate under the
 * kernel's mapping lock: a thread that arrives meanwhile waits in its page fault and finds the new
 * pages, so the gate is whole at any instant. The pages are never writable in the target, which may
 * have forbidden itself to make code of what it can write (PR_SET_MDWE).
 */
static int replace_gate(const struct hi_control *control, struct remote *remote,
			const struct payload_image *payload, remote_addr made_at)
{
	const int made_flags = MAP_PRIVATE | MAP_ANONYMOUS | (made_at ? MAP_FIXED : 0),
		  moved_flags = MREMAP_MAYMOVE | MREMAP_FIXED | (made_at ? MREMAP_DONTUNMAP : 0);
	uint64_t pages;
	int err =
		remote_syscall_or_fail(remote, SYS_mmap,
				       (uint64_t[6]){made_at, HI_GATE_BYTES, PROT_READ | PROT_EXEC,
						     (uint64_t)made_flags, (uint64_t)-1, 0},
				       &pages);
	for (unsigned entry = 0; !err && entry < arena_gate_count(control); entry++)
		err = memory_write(remote->memory, pages + (uint64_t)entry * HI_GATE_STRIDE,
				   payload->gate[GATE_INERT].code, payload->gate[GATE_INERT].size);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_mremap,
					     (uint64_t[6]){pages, HI_GATE_BYTES, HI_GATE_BYTES,
							   (uint64_t)moved_flags,
							   arena_gate(control)},
					     NULL);
	return err;
}

/*
 * The pages are made in the scratch part, which no thread uses any more, and leave zeros there. So
 * until it is unmapped, the arena has no hole that the target could fill, and if this injector dies
 * a later one finds all of it and may repeat this.
 */
static int make_gate_inert(const struct hi_control *control, struct remote *remote,
			   const struct payload_image *payload)
{
	int err = replace_gate(control, remote, payload,
			       arena_state(control) + arena_state_layout(control).scratch);
	/*
	 * Linux before 5.7: make the pages outside of the arena, where they stay if we are killed
	 * now
	 */
	if (err == -EINVAL)
		err = replace_gate(control, remote, payload, 0);
	return err;
}

/* Is the mapping at a relay's address this relay's page of our file? Otherwise it is not ours. */
static bool is_relay(const struct hi_control *control, const struct maps *maps, unsigned number)
{
	const struct mapping *mapping =
		control->relay[number] ? maps_find(maps, control->relay[number]) : NULL;
	return mapping && !strcmp(mapping->path, "/memfd:" HI_MEMFD_NAME) &&
	       mapping->file_offset == control->relays.offset + (uint64_t)number * HI_PAGE_BYTES &&
	       mapping->hi - mapping->lo == HI_PAGE_BYTES;
}

static int unmap_relays(const struct hi_control *control, struct remote *remote)
{
	struct maps maps = {0};
	int err = 0;
	if (!control->relay[0])
		return 0;
	err = maps_read(remote->tracee.pid, remote->tracee.tid, &maps);
	for (unsigned number = 0; number < HI_RELAYS_MAX && !err; number++)
		if (is_relay(control, &maps, number))
			err = remote_syscall_or_fail(
				remote, SYS_munmap,
				(uint64_t[6]){page_of(control->relay[number]), HI_PAGE_BYTES},
				NULL);
	maps_close(&maps);
	return err;
}

int arena_unmap(const struct hi_control *control, struct remote *remote,
		const struct payload_image *payload, bool keep_gate)
{
	uint64_t size = control->arena_size;
	const int relays = unmap_relays(control, remote);
	if (relays)
		return relays;
	if (keep_gate) {
		const int err = make_gate_inert(control, remote, payload);
		if (err)
			return err;
		size = control->gate.offset;
	}
	return remote_syscall_or_fail(remote, SYS_munmap, (uint64_t[6]){control->arena, size},
				      NULL);
}

void arena_free_rings(const struct arena *arena)
{
	const struct hi_control *control = arena->control;
	if (arena->memfd >= 0 && control) /* a failure costs only memory */
		(void)!fallocate(arena->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				 (off_t)control->ring.offset,
				 (off_t)(control->tables.offset - control->ring.offset));
}

void arena_close(struct arena *arena)
{
	if (arena->shared)
		munmap(arena->shared, arena->shared_size);
	arena_control_free(arena->control);
	if (arena->memfd >= 0)
		close(arena->memfd);
	*arena = (struct arena){.memfd = -1, .target_fd = -1};
}
