/* SPDX-License-Identifier: MIT */
/* hooked.c - see hooked.h. Start at hooked_describe(). */
#include "hooked.h"

#include <stdarg.h>
#include <stdio.h>

#include "hook_table.h"
#include "plain_text.h"

enum hooked_way hooked_way_of(const struct entries *entries, unsigned hook)
{
	if (entries->entry[hook].at)
		return HOOKED_ENTRY;
	if (entries_have(entries, hook))
		return HOOKED_COVERED;
	if (entries->is_seen_inside[hook])
		return HOOKED_INSIDE;
	return hook < HI_FUNCTION_COUNT ? HOOKED_SLOTS : HOOKED_NONE;
}

const char *hooked_family_name(enum allocator_family family)
{
	static const char *const names[] = {
		[ALLOCATOR_UNKNOWN] = "unknown",   [ALLOCATOR_GLIBC] = "glibc",
		[ALLOCATOR_MUSL] = "musl",         [ALLOCATOR_JEMALLOC] = "jemalloc",
		[ALLOCATOR_TCMALLOC] = "tcmalloc", [ALLOCATOR_MIMALLOC] = "mimalloc",
		[ALLOCATOR_DPDK] = "dpdk"};

	return names[family];
}

#define OBSTACLES (ENTRY_REGISTERS + 1)

const char *hooked_obstacle_text(enum entry_obstacle obstacle)
{
	static const char *const texts[OBSTACLES] = {
		[ENTRY_NO_OBSTACLE] = "its allocator's functions are left to slots",
		[ENTRY_MAY_UNLOAD] = "its object may be unloaded",
		[ENTRY_NO_FILE] = "its object's file cannot be read",
		[ENTRY_CHANGED] = "its code is not its file's: a breakpoint, a probe, a relocation "
				  "or another "
				  "patch",
		[ENTRY_WRITABLE] = "the program may write to its code",
		[ENTRY_UNMOVABLE] = "its first instruction cannot be executed elsewhere",
		[ENTRY_NO_PLACE] = "there is no place near it for a jump",
		[ENTRY_REGISTERS] = "its callers may count on registers that it leaves alone"};

	return texts[obstacle];
}

const char *hooked_left_alone(enum allocator_family family, const char *prefix, bool is_left_alone)
{
	if (family == ALLOCATOR_DPDK)
		return "not hooked, as its functions take other arguments";
	if (is_left_alone && *prefix)
		return "not hooked, as nothing else shows what its functions take";
	return is_left_alone ? "not hooked, as it may call another one" : "";
}

/* A line that grows; what does not fit is cut off. */
struct line {
	char *text;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void append(struct line *line, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line->text + line->length, HOOKED_TEXT_MAX - line->length, format,
			   arguments);
	va_end(arguments);
	if (length > 0)
		line->length += (size_t)length;
	if (line->length >= HOOKED_TEXT_MAX)
		line->length = HOOKED_TEXT_MAX - 1;
}

/* "; by slots: calloc, realloc (its object may be unloaded)": the functions of each reason. */
static void append_reasons(struct line *line, const struct allocator *allocator, unsigned first,
			   const struct entries *entries, enum hooked_way way)
{
	for (unsigned obstacle = 0; obstacle < OBSTACLES; obstacle++) {
		const char *prefix = allocator->prefix,
			   *before = way == HOOKED_SLOTS ? "; by slots: " : "; not hooked: ";
		bool is_any = false;

		for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++) {
			if (!allocator->original[number] ||
			    entries->obstacle[first + number] != obstacle ||
			    hooked_way_of(entries, first + number) != way)
				continue;
			append(line, "%s%s%s", before, prefix, hook_name_after(prefix, number));
			before = ", ";
			is_any = true;
		}
		if (is_any)
			append(line, " (%s)", hooked_obstacle_text(obstacle));
	}
}

static void append_functions(struct line *line, const struct allocator *allocator, unsigned first,
			     const struct entries *entries)
{
	size_t count[HOOKED_SLOTS + 1] = {0}, others;

	for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++)
		count[hooked_way_of(entries, first + number)] += allocator->original[number] != 0;
	others = count[HOOKED_COVERED] + count[HOOKED_INSIDE];
	append(line, "%zu function%s at %s entry", count[HOOKED_ENTRY],
	       count[HOOKED_ENTRY] == 1 ? "" : "s", count[HOOKED_ENTRY] == 1 ? "its" : "their");
	if (others)
		append(line, ", %zu that lead%s there", others, others == 1 ? "s" : "");
	append_reasons(line, allocator, first, entries, HOOKED_SLOTS);
	append_reasons(line, allocator, first, entries, HOOKED_NONE);
}

char *hooked_describe(const struct allocators *allocators, const struct entries *entries,
		      size_t number, char text[HOOKED_TEXT_MAX])
{
	const struct allocator *allocator = &allocators->allocator[number];
	const char *why;
	struct line line = {.text = text};
	char path[256], prefix[HI_ALLOCATOR_NAME_MAX];

	plain_text_copy(path, sizeof(path), allocator->image->path);
	plain_text_copy(prefix, sizeof(prefix), allocator->prefix);
	why = hooked_left_alone(allocator->family, prefix, !allocator->original[HI_FN_MALLOC]);
	*text = 0;
	append(&line, "%s", hooked_family_name(allocator->family));
	if (*prefix)
		append(&line, " as %smalloc", prefix);
	append(&line, " in %s%s: ", allocator->image->is_main ? "the program itself, " : "", path);
	if (*why)
		append(&line, "%s", why);
	else
		append_functions(&line, allocator, (unsigned)number * HI_FUNCTION_COUNT, entries);
	if (allocator->hides_functions)
		append(&line, "; %s", HOOKED_HIDDEN_TEXT);
	return text;
}
