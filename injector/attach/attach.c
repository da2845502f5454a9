/* SPDX-License-Identifier: MIT */
/*
 * attach.c - the steps of an attach. docs/architecture.md shows them, docs/safety.md says why each
 * is safe, and the modules that it calls say how it is done.
 *
 * Entry point: attach(). detach() undoes it from the control block alone, whatever step was
 * reached.
 */
#include "attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach_entries.h"
#include "detach.h"
#include "elf_debug.h"
#include "journal.h"
#include "load_count.h"
#include "mapping_functions.h"
#include "own_rows.h"
#include "pool_operators.h"
#include "probes.h"
#include "recover.h"
#include "return_gadget.h"
#include "seccomp_filter.h"
#include "snapshot.h"
#include "watch.h"
#include "watch_code.h"

#define BORROW_DEADLINE_MS 5000
#define DEADMAN_SECONDS 5 /* the payload disarms itself after this long without a heartbeat */

/*
 * A process that was forked by an attached parent has inherited the parent's arena. The same steps
 * remove it that remove what a dead injector left. Any other arena belongs to another injector,
 * alive or dead: -EBUSY. Preflight looked for one, but a while ago, and without the lock.
 */
static int shed_inherited(struct attachment *attachment)
{
	struct receipt receipt;
	attachment->step = "removing what it has inherited from its parent";
	int err = recover(attachment);
	if (err == -ENOENT || (!err && !attachment->is_inherited))
		err = -EBUSY;
	if (!err) {
		err = detach(attachment, &receipt);
		attachment->left_behind = err != 0;
	}
	attachment_forget(attachment);
	return err ? err : attachment_read_images(attachment);
}

/* 1. Everything that can be learned while the target runs. */
static int prepare(struct attachment *attachment, const struct attach_options *options)
{
	attachment->step = "reading its ELF objects";
	attachment->prefixes = options->prefixes;
	int err = attachment_read_images(attachment);
	if (!err && arena_find(&attachment->maps))
		err = shed_inherited(attachment);
	if (!err)
		elf_debug_find(&attachment->images, attachment->pid, attachment->tid);
	if (!err)
		attachment->step = "finding the functions to hook";
	if (!err)
		err = allocators_find(&attachment->images, &attachment->memory, options->prefixes,
				      &attachment->allocators);
	if (!err && options->has_mappings)
		mapping_functions_find(&attachment->images, &attachment->allocators);
	if (!err && options->named) {
		attachment->step = "finding the functions that are named";
		attachment->named = options->named;
		err = named_functions_find(&attachment->images, options->named,
					   &attachment->allocators, attachment->named_problem);
	}
	if (!err) {
		attachment->load_count = load_count_find(&attachment->images, &attachment->memory);
		allocators_find_new_handler(&attachment->images, &attachment->memory,
					    &attachment->allocators);
		pool_operators_find(&attachment->images, &attachment->allocators);
		err = attach_entries_choose(attachment, options->hook);
	}
	if (!err)
		err = watch_begin(attachment);
	if (!err)
		err = payload_image_open(&attachment->payload);
	if (err)
		return err;
	attachment->step = "building unwind tables";
	err = publisher_build(&attachment->publisher, &attachment->images);
	if (err)
		return err;
	watch_code_begin(attachment);
	attachment->step = "looking for a system call instruction in it";
	return remote_gadgets_find(&attachment->maps, &attachment->memory, &attachment->gadgets);
}

/*
 * A C library's allocator never captures a stack. Where every call is a sample, a return gadget
 * would cost a quarter as much as the sample.
 */
static bool is_c_library(const struct elf_image *image)
{
	remote_addr start;
	return !elf_image_symbol(image, "__libc_start_main", &start, NULL);
}

/*
 * Fills the control block with what it must hold before anything of ours exists in the target.
 * layout is all zero.
 */
static int plan(struct attachment *attachment, const struct attach_options *options,
		struct hi_control *layout)
{
	unsigned kept = 0; /* the register through which originals return */

	layout->phase = HI_PHASE_LOADING;
	layout->loader = (uint32_t)options->loader;
	layout->pid = (uint32_t)attachment->pid;
	layout->start_time = attachment->start_time;
	layout->injector_pid = (uint32_t)getpid();
	layout->heartbeat = arch_cycles();
	const struct arena_plan sizes = {
		.interval = options->interval,
		.adapts = options->adapts,
		.begin = options->begin,
		.live_max = options->live_max,
		.records_all_frees = options->records_all_frees,
		.tables_bytes = publisher_bytes(&attachment->publisher),
		.image_bytes = options->loader == HI_LOADER_MAP ? attachment->payload.text_size : 0,
		.probes_bytes = options->has_probes ? PROBES_BYTES : 0,
	};
	arena_layout(&sizes, layout);
	/* without sizes of freed blocks, sentinels would only cost */
	if (!attachment->allocators.allocator[0].is_asked_at_free)
		layout->unsampled_frees.sentinels = 0;
	if (options->interval > HI_INTERVAL_EXACT || options->adapts || options->named ||
	    !is_c_library(attachment->allocators.allocator[0].image)) {
		const struct return_gadget gadget = return_gadget_find(
			&attachment->images, attachment->allocators.allocator[0].image,
			&attachment->memory, options->named != NULL);

		layout->return_gadget = gadget.at;
		layout->return_register = gadget.kept | (gadget.is_signed ? HI_RETURN_SIGNED : 0);
		kept = gadget.kept;
	}
	if (options->named && !layout->return_gadget) {
		snprintf(attachment->named_problem, sizeof(attachment->named_problem),
			 "its code has no place to which a function can return that a hook has "
			 "called, so that no named one can be hooked");
		return -EINVAL;
	}
	int err = options->named
			  ? named_functions_forward(&attachment->images, &attachment->allocators,
						    options->named, kept, attachment->named_problem)
			  : 0;
	if (!err)
		err = attach_entries_plan(attachment, options->hook, layout);
	return err ? err : snapshot_take(attachment->pid, attachment->tid, &layout->before);
}

struct load {
	struct attachment *attachment;
	const struct hi_control *layout;
};

/*
 * Hooks read the clock. A program may have forbidden itself to (PR_SET_TSC, which threads and
 * children inherit), and would get a signal for it. -ENODATA: the borrowed thread has. Of one with
 * a filter it is not known, as that might object to the question.
 */
static int check_clock(const struct attachment *attachment, struct remote *remote)
{
	const remote_addr answer =
		arena_state(attachment->arena.control) + offsetof(struct hi_state, store);
	int64_t result;
	uint32_t clock;
	if (remote->tracee.has_filter)
		return 0;
	int err = remote_syscall(remote, SYS_prctl, (uint64_t[6]){PR_GET_TSC, answer}, &result);
	if (err || result) /* a kernel that has no such question lets all read it */
		return err;
	err = memory_read(&attachment->memory, answer, &clock, sizeof(clock));
	return !err && clock == PR_TSC_SIGSEGV ? -ENODATA : err;
}

/*
 * 2. Borrows one thread for some tenths of a millisecond: maps the arena and loads the payload.
 * Runs in a tracing thread of its own.
 */
static int load(void *context)
{
	struct attachment *attachment = ((struct load *)context)->attachment;
	const struct hi_control *layout = ((struct load *)context)->layout;
	const struct elf_image *image = attachment->allocators.allocator[0].image;
	const struct arena_code code = {
		.payload = &attachment->payload,
		.allocators = &attachment->allocators,
		.entries = &attachment->entries,
		.maps = &attachment->maps,
		.hint = entries_count(&attachment->entries)
				? arena_place(&attachment->maps, &attachment->entries,
					      layout->arena_size, image->lo, image->hi)
				: 0,
	};
	struct loader_target target = attachment_loader_target(attachment);
	struct remote remote;
	attachment->step = "borrowing a thread";
	int err = attachment->loader->borrow(&target, &remote, BORROW_DEADLINE_MS);
	if (err)
		return err;
	err = seccomp_filter_check(&remote.tracee, attachment->gadgets.syscall_ret,
				   attachment->loader->id == HI_LOADER_DLOPEN ? SECCOMP_DLOPEN
				   : layout->probes.size                      ? SECCOMP_OPEN
									      : SECCOMP_MAP);
	if (!err) {
		attachment->step = "mapping memory into it";
		err = arena_map(&attachment->arena, &remote, layout, &code);
	}
	if (!err) { /* from here on there is something to undo; the control block says what */
		attachment->control = attachment->arena.control;
		attachment->publisher.room = attachment->arena.tables_size;
		attachment->step = "reading the clock";
		err = check_clock(attachment, &remote);
		if (!err && layout->probes.size) {
			attachment->step = "mapping the probes";
			err = probes_map(&attachment->probes, &attachment->arena, &remote);
		}
	}
	if (!err) {
		attachment->step = "loading the payload";
		target = attachment_loader_target(attachment);
		err = attachment->loader->load(&target, &remote);
		/* where the payload lies, even if half loaded */
		const int stored = attachment_store(attachment);
		err = err ? err : stored;
	}
	int closed = remote_close(&remote);
	attachment->attach_stop_ns = remote.stopped_ns;
	return err ? err : closed;
}

/* The same for a file of the probes in another directory. */
static int map_probes(void *context)
{
	struct attachment *attachment = context;
	struct remote remote;
	int err = remote_open(&remote, attachment->pid, &attachment->memory, &attachment->gadgets,
			      BORROW_DEADLINE_MS);
	if (err)
		return err;
	err = seccomp_filter_check(&remote.tracee, attachment->gadgets.syscall_ret, SECCOMP_OPEN);
	if (!err)
		err = probes_map(&attachment->probes, &attachment->arena, &remote);
	const int closed = remote_close(&remote);
	if (remote.stopped_ns > attachment->attach_stop_ns)
		attachment->attach_stop_ns = remote.stopped_ns;
	return err ? err : closed;
}

/*
 * The file of the probes has a name while `load` runs, and no longer: a file system that answers
 * late must not hold a thread.
 */
static int load_with_probes(struct attachment *attachment, struct load *context)
{
	attachment->step = "creating the file of the probes";
	int err = probes_create(&attachment->probes, attachment->pid, attachment->tid);
	if (!err)
		err = tracee_worker(load, context);
	while (!err && !attachment->probes.is_mapped) {
		attachment->step = "creating the file of the probes";
		err = probes_create(&attachment->probes, attachment->pid, attachment->tid);
		if (err)
			break;
		attachment->step = "mapping the probes";
		err = tracee_worker(map_probes, attachment);
	}
	probes_remove(&attachment->probes);
	return err;
}

struct write {
	struct attachment *attachment;
	const struct slots *slots;
};

static int write_pinned(const struct patcher *patcher, void *context)
{
	struct attachment *attachment = ((struct write *)context)->attachment;
	const struct journal_plan plan = {
		.slots = ((struct write *)context)->slots,
		.entry = attachment->entry,
		.memory = &attachment->memory,
		.maps = &attachment->maps,
		.which = JOURNAL_PINNED,
	};
	return journal_write(&(struct journal){attachment->control, attachment->arena.shared},
			     &plan, patcher, &attachment->slots_written);
}

static int write_slots(struct attachment *attachment)
{
	const remote_addr gate = arena_gate(attachment->control);
	const struct live_patch_target target = attachment_patch_target(attachment);
	struct slots slots;
	struct live_patch_held held = {0};
	if (!attachment_needs_slots(attachment))
		return 0;
	/* from here on watch.c writes the slots of libraries that load later */
	attachment->control->has_slots = 1;
	int err = attachment_store(attachment);
	if (!err)
		err = slots_find(&attachment->images, &attachment->by_slot, &attachment->memory,
				 gate, gate + HI_GATE_BYTES, &slots);
	if (err)
		return err;
	if (slots.count)
		err = live_patch_do(&target, write_pinned, &(struct write){attachment, &slots},
				    &held);
	else if (!attachment->entries_written)
		err = -ENOENT;
	if (held.one_ns > attachment->attach_stop_ns)
		attachment->attach_stop_ns = held.one_ns;
	attachment->slots_foreign = slots.foreign;
	slots_close(&slots);
	return err;
}

/*
 * 3. The target runs again. Publishes tables and regions; then a thread of the target writes the
 * slots. Nothing is sampled yet. watch.c writes the slots of libraries that may be unloaded.
 */
static int patch(struct attachment *attachment)
{
	struct hi_control *control = attachment->control;
	attachment->step = "allocating the ring";
	int err = arena_touch_ring(&attachment->arena);
	if (err)
		return err;
	arena_extend_stacks(&attachment->arena);
	attachment->step = "publishing unwind tables";
	(void)watch_code_read(attachment);
	err = own_rows_add(&attachment->publisher, &attachment->arena, &attachment->memory,
			   &attachment->payload);
	if (err)
		return err;
	publisher_publish_tables(&attachment->publisher, &attachment->images,
				 attachment->arena.shared, attachment->arena.tables);
	publisher_publish_regions(&attachment->publisher, &attachment->maps,
				  attachment->arena.shared);
	err = arena_fill_state(control, &attachment->memory, attachment->load_count);
	if (!err)
		err = arena_gate_entries(control, &attachment->memory, attachment->entry);
	if (!err)
		err = arena_set_hooks(control, &attachment->memory, &attachment->payload);
	if (err)
		return err;

	attachment->step = "hooking its functions";
	control->phase = HI_PHASE_ARMING;
	err = attachment_store(attachment);
	if (!err)
		err = attach_entries_write(attachment);
	if (err)
		return err;
	attachment->step = "writing its GOT slots";
	return write_slots(attachment);
}

/* 4. Writes one word, and sampling begins. */
static int arm(struct attachment *attachment)
{
	attachment->step = "arming the gate";
	/* not earlier: an early caller waits for the calibration of the cycle counter */
	attachment->arena.shared->deadman_cycles = DEADMAN_SECONDS * arch_cycles_per_second();
	attachment->arena.shared->heartbeat = arch_cycles();
	attachment->control->phase = HI_PHASE_ARMED;
	const int err = attachment_store(attachment);
	return err ? err : arena_arm(attachment->control, &attachment->memory);
}

/*
 * Undoes what was loaded and patched, as for any session. `step` keeps naming the step that failed
 * first.
 */
static void give_back(struct attachment *attachment)
{
	const char *step = attachment->step;
	struct receipt receipt;
	attachment->left_behind = detach(attachment, &receipt) != 0;
	arena_close(&attachment->arena);
	attachment->control = NULL;
	attachment->step = step;
}

int attach(struct attachment *attachment, const struct attach_options *options)
{
	struct hi_control *layout = arena_control_new();
	attachment->loader = loader_by_id(options->loader);
	int err = layout ? prepare(attachment, options) : -ENOMEM;
	if (!err)
		err = plan(attachment, options, layout);
	struct load context = {.attachment = attachment, .layout = layout};
	if (!err)
		err = options->has_probes ? load_with_probes(attachment, &context)
					  : tracee_worker(load, &context);
	/* some functions may turn out not to be hookable at their entry */
	if (!err)
		err = attach_entries_settle(attachment, options->hook);
	arena_control_free(layout);
	if (!err)
		err = patch(attachment);
	if (!err)
		err = arm(attachment);
	if (err && attachment->control)
		give_back(attachment);
	return err;
}
