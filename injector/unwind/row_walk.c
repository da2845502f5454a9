/* SPDX-License-Identifier: MIT */
/* row_walk.c - see row_walk.h. */
#include "row_walk.h"

#include "hi_wire.h"

#define WORD 8

/* The registers of a frame that a row can need. */
struct frame {
	uint64_t pc, sp, bp;
	uint64_t link; /* the register in which calls leave the return address */
	/* pc was not called from: the thread was stopped there, or a signal interrupted it */
	bool is_exact;
};

static bool read_plain(const struct row_walk_source *source, remote_addr at, uint64_t *out_pc)
{
	if (!source->read(source->context, at, out_pc))
		return false;
	*out_pc = arch_plain_address(*out_pc);
	return true;
}

/* Where the return address is, and where the caller's bp; 0 = still in its register. */
struct places {
	uint64_t cfa, link, bp;
};

/* False: the walk does not follow such a row, or not here. */
static bool places_of(const struct frame *frame, const struct hi_unwind_row *row,
		      struct places *out_places)
{
	const bool is_by_bp = row->kind == HI_UNWIND_BP || row->kind == HI_UNWIND_BP_RECORD;
	const uint64_t base = is_by_bp ? frame->bp : frame->sp;
	struct places places = {.cfa = base + WORD * (uint64_t)row->cfa};

	switch (row->kind) {
	case HI_UNWIND_SP:
	case HI_UNWIND_BP:
		places.link = places.cfa + WORD * (uint64_t)HI_ARCH_RETURN_SLOT(row->bp_slot);
		if (row->bp_slot)
			places.bp = places.cfa + WORD * (uint64_t)row->bp_slot;
		break;
	case HI_UNWIND_SP_RECORD:
	case HI_UNWIND_BP_RECORD:
		places.bp = base + WORD * (uint64_t)row->bp_slot;
		places.link = places.bp + WORD;
		break;
	case HI_UNWIND_ALONE:
		places.link =
			(row->bp_slot < 0 ? places.cfa : base) + WORD * (uint64_t)row->bp_slot;
		break;
	case HI_UNWIND_LINK:
		if (!frame->is_exact)
			return false;
		break;
	default:
		return false;
	}
	*out_places = places;
	/* sp rises, or else stays in one frame, which was interrupted */
	return places.cfa > frame->sp || (places.cfa == frame->sp && !places.link);
}

static bool leave(const struct row_walk_source *source, const struct hi_unwind_row *row,
		  struct frame *frame)
{
	struct frame caller = {.bp = frame->bp, .pc = arch_plain_address(frame->link)};
	struct places places;

	if (!places_of(frame, row, &places) ||
	    (places.link && !read_plain(source, places.link, &caller.pc)) ||
	    (places.bp && !source->read(source->context, places.bp, &caller.bp)))
		return false;
	caller.sp = places.cfa;
	*frame = caller;
	return true;
}

static bool read_interrupted(const struct row_walk_source *source, uint64_t frame, int word,
			     uint64_t *out_value)
{
	return source->read(source->context, frame + WORD * (uint64_t)word, out_value);
}

/* Goes on where the signal interrupted the thread. */
static bool leave_signal(const struct row_walk_source *source, struct frame *frame)
{
	const uint64_t at = frame->sp;
	struct frame interrupted = {.is_exact = true};

	if (!read_interrupted(source, at, ARCH_SIGNAL_PC_WORD, &interrupted.pc) ||
	    !read_interrupted(source, at, arch_signal_word(ARCH_DWARF_SP), &interrupted.sp) ||
	    !read_interrupted(source, at, arch_signal_word(ARCH_DWARF_BP), &interrupted.bp) ||
	    (HI_ARCH_LINK_REGISTER &&
	     !read_interrupted(source, at, arch_signal_word(ARCH_DWARF_PC), &interrupted.link)))
		return false;
	*frame = interrupted;
	return true;
}

static struct frame first_frame(const struct arch_regs *regs)
{
	struct frame frame = {.pc = arch_pc(regs), .sp = arch_sp(regs), .is_exact = true};

	if (arch_dwarf_register(regs, ARCH_DWARF_BP, &frame.bp) ||
	    arch_dwarf_register(regs, ARCH_DWARF_PC, &frame.link))
		frame.bp = frame.link = 0;
	return frame;
}

void row_walk(const struct row_walk_source *source, const struct arch_regs *regs,
	      struct stackwalk *out_walk)
{
	struct frame frame = first_frame(regs);

	out_walk->count = 0;
	out_walk->is_complete = false;
	out_walk->is_cut = true;
	while (out_walk->count < STACKWALK_FRAMES_MAX) {
		const struct hi_unwind_row *row =
			source->find(source->context, frame.pc - !frame.is_exact);
		const size_t i = out_walk->count++;

		out_walk->pc[i] = frame.pc;
		out_walk->cfa[i] = 0;
		out_walk->is_signal[i] = row && row->kind == HI_UNWIND_SIGNAL;
		if (row && row->kind == HI_UNWIND_END) {
			out_walk->is_complete = true;
			out_walk->is_cut = false;
			return;
		}
		if (!row || !(out_walk->is_signal[i] ? leave_signal(source, &frame)
						     : leave(source, row, &frame)))
			return;
		out_walk->cfa[i] = frame.sp;
		if (!frame.pc) {
			out_walk->is_cut = false;
			return;
		}
	}
}
