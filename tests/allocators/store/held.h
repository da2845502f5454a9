// SPDX-License-Identifier: MIT
//
// held.h - what the server holds, and which function allocated it, exactly.
//
// Each function that keeps memory counts it where it allocates and where it frees, by the mark that
// was the last one when the block was allocated. So the server knows of each mark what was
// allocated since then and is still held. The table is part of the program: counting allocates
// nothing.
#ifndef HELD_H
#define HELD_H

#include <atomic>
#include <cstddef>
#include <cstdint>

enum Holder { COPY_TEXT, NEW_ENTRY, NEW_SESSION, GROW_LOG, NEW_PAGE, KEEP_NAME, HOLDERS };
extern const char *const holder_names[HOLDERS];

constexpr uint32_t MARKS_MAX = 4096;

class Ledger
{
      public:
	// Adds a block; returns its mark, which goes with it.
	uint32_t add(Holder holder, size_t bytes)
	{
		const uint32_t mark = last.load();

		cells[holder][mark].bytes += bytes;
		cells[holder][mark].objects += 1;
		return mark;
	}
	void remove(Holder holder, uint32_t mark, size_t bytes)
	{
		cells[holder][mark].bytes -= bytes;
		cells[holder][mark].objects -= 1;
	}
	// Returns 0 if there are no more.
	uint32_t new_mark()
	{
		return last + 1 < MARKS_MAX ? ++last : 0;
	}
	void since(uint32_t mark, Holder holder, int64_t *out_bytes, int64_t *out_objects) const
	{
		*out_bytes = *out_objects = 0;
		for (uint32_t i = mark; i <= last && i < MARKS_MAX; i++) {
			*out_bytes += cells[holder][i].bytes;
			*out_objects += cells[holder][i].objects;
		}
	}

      private:
	struct Cell {
		std::atomic<int64_t> bytes, objects;
	};
	std::atomic<uint32_t> last{0};
	Cell cells[HOLDERS][MARKS_MAX];
};

extern Ledger ledger;

#endif
