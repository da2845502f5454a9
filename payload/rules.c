/* SPDX-License-Identifier: MIT */
/*
 * rules.c - see rules.h. The entry point is rules_find(). Rows never move or change; the directory
 * that leads to them may (published.h).
 */
#include "rules.h"

static bool is_table_inside(const struct hi_unwind_module *module, uint64_t tables_size)
{
	return module->rows <= tables_size &&
	       module->row_count <= (tables_size - module->rows) / sizeof(struct hi_unwind_row) &&
	       module->index <= tables_size &&
	       module->index_count <= (tables_size - module->index) / sizeof(uint32_t);
}

static bool find_module(const struct hi_state *state, uint64_t pc,
			struct hi_unwind_module *out_module)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	const struct hi_unwind_directory *directory =
		&control->directory[__atomic_load_n(&control->current_directory, __ATOMIC_ACQUIRE) &
				    1];
	uint64_t generation = __atomic_load_n(&directory->generation, __ATOMIC_ACQUIRE);
	uint32_t low = 0, high = directory->count < HI_MODULE_CAPACITY ? directory->count
								       : HI_MODULE_CAPACITY;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (directory->module[middle].hi <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == HI_MODULE_CAPACITY || low >= directory->count)
		return false;
	*out_module = directory->module[low];
	return published_is_unchanged(&directory->generation, generation) &&
	       is_table_inside(out_module, state->tables_size) && out_module->lo <= pc &&
	       pc < out_module->hi;
}

/* The row that covers pc, or NULL. */
static const struct hi_unwind_row *find_row(const struct hi_state *state, uint64_t pc)
{
	struct hi_unwind_module module;
	const struct hi_unwind_row *row;
	const uint32_t *index;
	uint64_t offset, place;
	uint32_t low, high;

	if (!find_module(state, pc, &module))
		return NULL;
	row = (const struct hi_unwind_row *)(state->tables + module.rows);
	index = (const uint32_t *)(state->tables + module.index);
	offset = pc - module.lo;
	place = offset / HI_INDEX_BYTES;
	if (place + 1 >= module.index_count || index[place + 1] >= module.row_count)
		return NULL;
	low = index[place];
	high = index[place + 1];
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (row[middle].pc <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low < module.row_count && row[low].pc <= offset ? &row[low] : NULL;
}

static struct hi_rule_entry *entry_at(const struct hi_state *state, uint64_t place)
{
	return (struct hi_rule_entry *)(state->rules + place);
}

static void remember(struct hi_rule_entry *entry, uint64_t pc_and_mark, uint64_t value)
{
	__atomic_store_n(&entry->value, value, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->check, pc_and_mark ^ value * HI_HASH, __ATOMIC_RELAXED);
}

/*
 * Searches the row, and stores the rule in the cache for all threads. Does not store it if the
 * current directory is no longer the one that was asked for.
 */
__attribute__((noinline)) static struct rule search(const struct hi_state *state, uint64_t stamp,
						    uint64_t pc)
{
	const struct hi_unwind_row *row = find_row(state, pc);
	union rule_bits found = {.bits = 0};

	if (row)
		found.rule =
			(struct rule){.cfa = row->cfa, .kind = row->kind, .bp_slot = row->bp_slot};
	if (!published_is_being_written(stamp) && stamp == rules_stamp(state))
		remember(entry_at(state, rules_place(pc)),
			 pc + rules_mark(stamp) +
				 (rules_is_plain(found.rule) ? 0 : RULES_NOT_PLAIN),
			 found.bits);
	return found.rule;
}

struct rule rules_find(const struct hi_state *state, uint64_t stamp, uint64_t pc)
{
	uint64_t value, found = rules_read(entry_at(state, rules_place(pc)), &value);

	if (((found - pc - rules_mark(stamp)) & ~RULES_NOT_PLAIN) == 0)
		return (union rule_bits){.bits = (uint32_t)value}.rule;
	return search(state, stamp, pc);
}

__attribute__((noinline)) void rules_remember_next(const struct hi_state *state, uint64_t stamp,
						   uint64_t pc, uint64_t next)
{
	struct hi_rule_entry *entry = entry_at(state, rules_place(pc));
	uint64_t value, mark = rules_mark(stamp);

	if (rules_read(entry, &value) == pc + mark)
		remember(entry, pc + mark, (uint32_t)value | next << RULES_NEXT_SHIFT);
}
