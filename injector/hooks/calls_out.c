/* SPDX-License-Identifier: MIT */
/* calls_out.c - see calls_out.h. Enter at calls_out(). */
#include "calls_out.h"

#include "arch.h"
#include "elf_segment.h"

#define FUNCTION_BYTES_MAX (16u << 10) /* of one function that are examined */
#define UNKNOWN_BYTES_MAX 512u         /* of a function of unknown size */
#define REACHED_MAX 256u               /* functions that one reaches */

struct search {
	const struct elf_image *image;
	const struct eh_frame *frame;
	uint64_t reached[REACHED_MAX]; /* addresses in the file */
	unsigned count;
};

/* False: there are too many. */
static bool note(struct search *search, uint64_t at)
{
	for (unsigned i = 0; i < search->count; i++)
		if (search->reached[i] == at)
			return true;
	if (search->count == REACHED_MAX)
		return false;
	search->reached[search->count++] = at;
	return true;
}

/* Does the function at this address call what is not known? Notes what it calls of the image. */
static bool leaves(struct search *search, uint64_t at)
{
	const struct eh_fde *fde = eh_frame_find(search->frame, at);
	const uint64_t room = elf_segment_room(search->image->elf, at);
	struct arch_instruction instruction;
	uint64_t size = fde ? fde->hi - at : UNKNOWN_BYTES_MAX;
	const void *bytes;

	size = size < room ? size : room;
	size = size < FUNCTION_BYTES_MAX ? size : FUNCTION_BYTES_MAX;
	if (!size || elf_segment_bytes(search->image->elf, at, size, &bytes) < 0)
		return true; /* not code of this object */
	for (size_t offset = 0; offset < size; offset += instruction.size) {
		if (!arch_decode((const uint8_t *)bytes + offset, size - offset, at + offset,
				 &instruction)) {
			instruction.size = 1;
			continue;
		}
		const bool is_jump =
			instruction.flow == ARCH_FLOW_JUMP || instruction.flow == ARCH_FLOW_BRANCH;

		if (instruction.flow == ARCH_FLOW_CALL && !instruction.target)
			return true;
		/* through a slot; others may be of a table in the function */
		if (is_jump && !instruction.target && instruction.pc_relative_at)
			return true;
		if ((is_jump || instruction.flow == ARCH_FLOW_CALL) && instruction.target &&
		    instruction.target - at >= size && !note(search, instruction.target))
			return true;
	}
	return false;
}

bool calls_out(const struct elf_image *image, const struct eh_frame *frame, remote_addr function)
{
	struct search search = {.image = image, .frame = frame};

	(void)note(&search, function - image->bias);
	for (unsigned i = 0; i < search.count; i++)
		if (leaves(&search, search.reached[i]))
			return true;
	return false;
}
