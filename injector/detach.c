/* SPDX-License-Identifier: MIT */
/*
 * detach.c - the recipe, in mirror order of attach.c. A step that fails is reported; the ones after it that are still safe are done all the same.
 *
 * The order is the argument: first nobody new comes in (disarm, restore), then nobody is in (quiesce), then nobody knows the way (heal), and only then it goes.
 */
#include "detach.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "heal.h"
#include "leak.h"
#include "quiesce.h"
#include "snapshot.h"
#include "standstill.h"

#define QUIESCE_DEADLINE_MS 30000 /* long: threads that get no CPU do not get out, either; nothing waits for us meanwhile */
#define QUIESCE_LOOK_MS 2500      /* a count that stands for so long may be one that nobody will lower */
#define BORROW_DEADLINE_MS 30000  /* as long: to unload by dlclose a thread must be met at a safe point, where a busy one is in one of hundreds of looks */
#define STANDSTILL_DEADLINE_NS 10000000000ull /* a vfork parent, a thread in state D: tried again until then */
#define ROUNDS_MAX 16

static int failed(struct receipt *receipt, const char *step, int err)
{
	if (err && !receipt->failed_step) {
		receipt->failed_step = step;
		receipt->error = err;
	}
	return err;
}

/* Who serves what, from the gate's own words: they are there as long as the gate is, whoever attached. */
static int read_originals(const struct attachment *attachment, struct heal_target *out_target)
{
	const struct hi_control *control = attachment->control;
	*out_target = (struct heal_target){
		.pid = attachment->pid,
		.memory = &attachment->memory,
		.gate = arena_gate(control),
		.gate_count = arena_gate_count(control),
		.skip_lo = control->arena,
		.skip_hi = control->arena + control->arena_size,
	};
	for (unsigned entry = 0; entry < out_target->gate_count; entry++) {
		int err = memory_read_u64(&attachment->memory, arena_words(control, entry) + offsetof(struct hi_gate_words, original),
					  &out_target->original[entry]);
		if (err)
			return err;
	}
	return 0;
}

static struct quiesce_target describe_inside(const struct attachment *attachment, const struct heal_target *heal)
{
	const struct hi_control *control = attachment->control;
	return (struct quiesce_target){
		.heal = heal,
		.gate_lo = arena_gate(control),
		.gate_hi = arena_gate(control) + HI_GATE_BYTES,
		.payload_lo = control->payload_base,
		.payload_hi = control->payload_base + control->payload_size,
		.thread_slots = arena_state(control) + arena_state_layout(control).thread_slots,
	};
}

static void note(struct receipt *receipt, const struct quiesced *quiesced)
{
	receipt->threads_checked = quiesced->threads;
	receipt->healed_registers += quiesced->registers_healed;
	if (quiesced->longest_stop_ns > receipt->longest_check_ns)
		receipt->longest_check_ns = quiesced->longest_stop_ns;
}

/* Until every thread is outside. Counts that stand still are looked into now and then: do they belong to anybody? */
static int wait_until_outside(const struct quiesce_target *target, struct receipt *receipt, struct quiesced *quiesced)
{
	int left_ms = QUIESCE_DEADLINE_MS, look_ms = QUIESCE_LOOK_MS, err;
	do {
		uint64_t leaked = 0;
		err = quiesce(target, look_ms, quiesced);
		note(receipt, quiesced);
		if (err == -EBUSY && quiesced->frames && !leak_forget(target, &leaked))
			receipt->frames_leaked += leaked;
		left_ms -= look_ms;
		look_ms = quiesced->frames ? QUIESCE_LOOK_MS : left_ms;
	} while (err == -EBUSY && left_ms > 0);
	return err;
}

/* Is every thread outside? out_found: some had copies in registers, which they may have stored or passed on before. */
static int look_at_threads(const struct quiesce_target *target, struct heal_target *heal, struct receipt *receipt, bool *out_found)
{
	const size_t healed_before = receipt->healed_registers;
	struct quiesced quiesced;
	int err = failed(receipt, "waiting until no thread is in the payload", wait_until_outside(target, receipt, &quiesced));
	receipt->frames_inside = err ? quiesced.frames : 0;
	receipt->thread_inside = err && !quiesced.frames ? quiesced.stuck : 0;
	*out_found = receipt->healed_registers > healed_before;
	if (!err && memory_read_u64(heal->memory, arch_pointer_guard_at(quiesced.thread_pointer), &heal->pointer_guard))
		heal->pointer_guard = 0;
	return err;
}

/* Does memory hold copies? They are turned back; if the target would not stand still, in the next round. */
static int look_at_memory(const struct heal_target *heal, struct receipt *receipt, bool *out_found)
{
	struct heal_copies copies;
	struct healed healed = {0};
	int err = failed(receipt, "looking for escaped pointers", heal_find(heal, &copies));
	if (err)
		return err;
	err = heal_copies(heal, &copies, &healed);
	*out_found = copies.count > 0;
	receipt->copies_in_files = copies.in_files;
	receipt->unsearched = copies.unsearched;
	heal_copies_close(&copies);
	receipt->healed_words += healed.words;
	receipt->healed_registers += healed.registers;
	if (healed.longest_stop_ns > receipt->standstill_ns)
		receipt->standstill_ns = healed.longest_stop_ns;
	return err == -EAGAIN ? 0 : failed(receipt, "turning escaped pointers back", err);
}

/*
 * Rounds, until one finds nobody inside, no register and no word that leads there. Copies that never end are being passed around, and those in files are not
 * ours to change: then the gate stays, inert.
 */
static int look_until_clear(const struct quiesce_target *target, struct heal_target *heal, struct receipt *receipt)
{
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		bool in_registers, in_memory;
		int err = look_at_threads(target, heal, receipt, &in_registers);
		if (!err)
			err = look_at_memory(heal, receipt, &in_memory);
		if (err)
			return err;
		receipt->gate_kept = receipt->copies_in_files > 0;
		if (!(in_registers || in_memory))
			return 0;
	}
	receipt->gate_kept = true;
	return 0;
}

struct unload {
	struct attachment *attachment;
	struct receipt *receipt;
};

/* To a thread of the target. */
static int find_the_way(struct attachment *attachment)
{
	int err = attachment->images.count ? 0 : attachment_read_images(attachment);
	return err ? err : remote_gadgets_find(&attachment->maps, &attachment->memory, &attachment->gadgets);
}

/* 5. One thread is borrowed once more. Run in a tracing thread of its own. */
static int unload(void *context)
{
	struct attachment *attachment = ((struct unload *)context)->attachment;
	struct receipt *receipt = ((struct unload *)context)->receipt;
	struct hi_control *control = attachment->control;
	const struct loader *loader = loader_by_id((enum hi_loader)control->loader);
	const struct loader_target target = attachment_loader_target(attachment);
	struct remote remote;
	int err = find_the_way(attachment);
	if (!err)
		err = loader->borrow(&target, &remote, BORROW_DEADLINE_MS);
	if (err)
		return err;
	control->phase = HI_PHASE_UNLOADING;
	err = attachment_store(attachment);
	if (!err)
		err = loader->unload(&target, &remote);
	if (!err) /* an image that is gone must not be asked for again */
		err = attachment_store(attachment);
	for (size_t i = 0; !err && i < attachment->leftover_count; i++)
		err = arena_close_fd(&remote, attachment->leftover_fd[i]);
	if (!err)
		err = arena_unmap(control, &remote, &attachment->payload, receipt->gate_kept);
	int closed = remote_close(&remote);
	receipt->detach_stop_ns = remote.stopped_ns;
	return err ? err : closed;
}

static void compare(const struct attachment *attachment, struct receipt *receipt)
{
	receipt->before = attachment->control->before;
	receipt->has_before = true;
	int err = snapshot_take(attachment->pid, attachment->tid, &receipt->after);
	struct snapshot_left left = {0};
	if (!err)
		err = snapshot_left(attachment->pid, attachment->tid, attachment->control->arena, attachment->control->arena + attachment->control->arena_size,
				    &left);
	(void)failed(receipt, "comparing it with what it was", err);
	receipt->own_mappings_left = left.of_session;
	receipt->earlier_gates = left.earlier;
	receipt->is_clean = !err && !receipt->own_mappings_left;
}

static int restore_passing(void *context)
{
	struct unload *unload = context;
	const struct word_changer changer = words_standing(&unload->attachment->memory);
	return journal_restore(unload->attachment->control, &changer, JOURNAL_PASSING, &unload->receipt->slots);
}

/* Slots of libraries that may be unloaded while we write (journal.h). */
static int restore_at_standstill(struct attachment *attachment, struct receipt *receipt)
{
	const uint64_t deadline_ns = clock_now_ns() + STANDSTILL_DEADLINE_NS;
	int err = 0;
	while (journal_left(attachment->control, JOURNAL_PASSING)) {
		uint64_t held_ns;
		err = standstill_do(attachment->pid, restore_passing, &(struct unload){.attachment = attachment, .receipt = receipt}, &held_ns);
		if (held_ns > receipt->standstill_ns)
			receipt->standstill_ns = held_ns;
		if (err != -EAGAIN || clock_now_ns() >= deadline_ns)
			break;
	}
	return err;
}

/* Slots first: who comes in no more need not be led past. */
static int restore_lasting(const struct word_changer *changer, void *context)
{
	struct unload *unload = context;
	const int restored = journal_restore(unload->attachment->control, changer, JOURNAL_LASTING, &unload->receipt->slots);
	const int bypassed = arena_bypass(unload->attachment->control, &unload->attachment->memory, changer);
	return restored ? restored : bypassed;
}

static int restore_slots(struct attachment *attachment, struct receipt *receipt)
{
	const struct store_target target = attachment_store_target(attachment);
	receipt->slots.written = journal_left(attachment->control, JOURNAL_LASTING) + journal_left(attachment->control, JOURNAL_PASSING);
	struct store_held held;
	const int lasting = store_do(&target, restore_lasting, &(struct unload){.attachment = attachment, .receipt = receipt}, &held);
	receipt->restore_stop_ns = held.one_ns;
	receipt->standstill_ns = held.all_ns;
	const int passing = restore_at_standstill(attachment, receipt);
	return lasting ? lasting : passing;
}

/* 1. and 2.: nobody new comes in. */
static int close_the_way(struct attachment *attachment, struct receipt *receipt)
{
	struct hi_control *control = attachment->control;
	control->phase = HI_PHASE_DISARMED;
	(void)!attachment_store(attachment); /* a word to those after us; what counts is below */
	int disarmed = failed(receipt, "disarming the gate", arena_disarm(control, &attachment->memory));
	(void)!find_the_way(attachment); /* without it all threads are stopped */
	int restored = failed(receipt, "restoring GOT slots", restore_slots(attachment, receipt));
	control->phase = HI_PHASE_RESTORED;
	(void)!attachment_store(attachment);
	return disarmed ? disarmed : restored;
}

/* 3. and 4.: nobody is in, and nobody knows the way. */
static int empty(struct attachment *attachment, struct receipt *receipt)
{
	struct heal_target heal;
	int err = close_the_way(attachment, receipt);
	if (!err)
		err = failed(receipt, "reading the gate", read_originals(attachment, &heal));
	if (err)
		return err;
	struct quiesce_target target = describe_inside(attachment, &heal);
	/* Without a walker (objects that cannot be read any more) counts and registers must carry the proof. */
	if (attachment_read_images(attachment) || stackwalker_open(attachment->pid, &attachment->images, &target.walker))
		target.walker = NULL;
	err = look_until_clear(&target, &heal, receipt);
	if (target.walker)
		stackwalker_close(target.walker);
	return err;
}

int detach(struct attachment *attachment, struct receipt *out_receipt)
{
	struct receipt receipt = {.attach_stop_ns = attachment->attach_stop_ns};
	if (attachment_check(attachment) || attachment_follow(attachment)) {
		receipt.target_gone = receipt.is_clean = true;
		*out_receipt = receipt;
		return 0;
	}
	int err = 0;
	/* Else no slot was ever written, and nobody can be inside. */
	if (attachment->control->phase > HI_PHASE_LOADING || attachment->control->journal_count)
		err = empty(attachment, &receipt);
	if (!err)
		err = failed(&receipt, "unloading the payload", tracee_worker(unload, &(struct unload){.attachment = attachment, .receipt = &receipt}));
	if (attachment_check(attachment))
		receipt.target_gone = receipt.is_clean = true;
	else
		compare(attachment, &receipt);
	*out_receipt = receipt;
	return receipt.target_gone ? 0 : err;
}
static int close_descriptors(void *context)
{
	struct attachment *attachment = context;
	struct remote remote;
	int err = attachment_read_images(attachment);
	if (!err)
		err = remote_gadgets_find(&attachment->maps, &attachment->memory, &attachment->gadgets);
	if (!err)
		err = remote_open(&remote, attachment->pid, &attachment->memory, &attachment->gadgets, BORROW_DEADLINE_MS);
	if (err)
		return err;
	for (size_t i = 0; !err && i < attachment->leftover_count; i++)
		err = arena_close_fd(&remote, attachment->leftover_fd[i]);
	int closed = remote_close(&remote);
	return err ? err : closed;
}

int detach_descriptors(struct attachment *attachment)
{
	return tracee_worker(close_descriptors, attachment);
}

static void print_left(const struct receipt *receipt, FILE *out)
{
	if (receipt->gate_kept)
		fprintf(out, "  left behind    an inert page of plain jumps: copies of allocator pointers %s\n",
			receipt->copies_in_files ? "lie in a file that is mapped shared, and files are not changed" : "are still being passed around");
	else if (receipt->own_mappings_left)
		fprintf(out, "  left behind    %zu mappings\n", receipt->own_mappings_left);
	else
		fprintf(out, "  mappings       none of ours left; %llu of its own before, %llu now\n", (unsigned long long)receipt->before.map_count,
			(unsigned long long)receipt->after.map_count);
	if (receipt->earlier_gates)
		fprintf(out, "                 %zu inert page%s of plain jumps of earlier sessions stay%s\n", receipt->earlier_gates,
			receipt->earlier_gates == 1 ? "" : "s", receipt->earlier_gates == 1 ? "s" : "");
}

static bool same_signals(const struct hi_snapshot *a, const struct hi_snapshot *b)
{
	return a->sig_blocked == b->sig_blocked && a->sig_ignored == b->sig_ignored && a->sig_caught == b->sig_caught;
}

void receipt_print(const struct receipt *receipt, FILE *out)
{
	if (receipt->target_gone) {
		fprintf(out, "Detach receipt: the process or its program is gone; nothing was left to restore\n");
		return;
	}
	fprintf(out, "Detach receipt:\n");
	fprintf(out, "  GOT slots      %zu written, %zu restored, %zu since changed by the target, %zu gone with their libraries\n", receipt->slots.written,
		receipt->slots.restored, receipt->slots.overwritten, receipt->slots.vanished);
	fprintf(out, "  copies         %zu in memory and %zu in registers turned back\n", receipt->healed_words, receipt->healed_registers);
	if (receipt->unsearched)
		fprintf(out, "                 %llu MB of shared memory are too much to search for copies, and were not\n",
			(unsigned long long)(receipt->unsearched >> 20));
	print_left(receipt, out);
	if (receipt->frames_leaked)
		fprintf(out, "  calls          %llu never came back (jumped out of, or their thread was cancelled): every thread was seen to be outside\n",
			(unsigned long long)receipt->frames_leaked);
	fprintf(out, "  descriptors    %llu before, %llu now\n", (unsigned long long)receipt->before.fd_count, (unsigned long long)receipt->after.fd_count);
	fprintf(out, "  threads        %llu before, %llu now\n", (unsigned long long)receipt->before.thread_count,
		(unsigned long long)receipt->after.thread_count);
	fprintf(out, "  signal state   %s\n", same_signals(&receipt->before, &receipt->after) ? "unchanged" : "changed (by the target itself: we set none)");
	fprintf(out, "  stopped        ");
	if (receipt->attach_stop_ns) /* not known of a session whose injector died */
		fprintf(out, "one thread %.2f ms at attach, ", (double)receipt->attach_stop_ns / 1e6);
	fprintf(out, "one %.2f and %.2f ms at detach; %zu checked, at most %.2f ms each\n", (double)receipt->restore_stop_ns / 1e6,
		(double)receipt->detach_stop_ns / 1e6, receipt->threads_checked, (double)receipt->longest_check_ns / 1e6);
	if (receipt->standstill_ns)
		fprintf(out, "                 all of them %.2f ms, while copies, or slots of libraries that may be unloaded, were turned back\n",
			(double)receipt->standstill_ns / 1e6);
	if (receipt->failed_step)
		fprintf(out, "  FAILED         %s: %s; it is inert and can wait; try `heapinject detach` again\n", receipt->failed_step,
			strerror(-receipt->error));
	if (receipt->frames_inside)
		fprintf(out, "                 %llu calls are still inside\n", (unsigned long long)receipt->frames_inside);
	if (receipt->thread_inside)
		fprintf(out, "                 thread %d is inside, or did not stop when asked to\n", (int)receipt->thread_inside);
}
