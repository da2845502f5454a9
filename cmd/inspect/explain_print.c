/* SPDX-License-Identifier: MIT */
/* explain_print.c - see explain_print.h. */
#include "explain_print.h"

#include "hi_units.h"
#include "plain_text.h"
#include "stopped_print.h"

struct row {
	const char *key; /* in JSON; documented, never renamed */
	const char *text;
};

static const struct row rows[ACCOUNT_PARTS] = {
	[ACCOUNT_USED] = {"used", "blocks in use"},
	[ACCOUNT_HEADS] = {"heads", "heads of blocks, and rounding"},
	[ACCOUNT_CACHED] = {"cached", "freed blocks in caches"},
	[ACCOUNT_FREE] = {"free", "free memory of the allocator"},
	[ACCOUNT_METADATA] = {"metadata", "the allocator's own data"},
	[ACCOUNT_UNSURE] = {"unsure", "of the allocator, not understood"},
	[ACCOUNT_STACKS] = {"stacks", "stacks of threads"},
	[ACCOUNT_ANONYMOUS] = {"anonymous", "other anonymous mappings"},
	[ACCOUNT_DATA] = {"data", "data of the program and libraries"},
	[ACCOUNT_FILES] = {"files", "files, unchanged"},
	[ACCOUNT_SHARED] = {"shared", "shared memory"},
	[ACCOUNT_SESSION] = {"session", "of the session of heapinject"},
};

static struct stopped stopped_for(const struct account *account)
{
	return (struct stopped){account->held_times, account->held_ns, account->threads};
}

static double seconds_of(const struct explained *explained)
{
	return explained->seen.before
		       ? (double)(explained->seen.now->at_ns - explained->seen.before->at_ns) / 1e9
		       : 0;
}

static void print_growth(const struct explained *explained, enum account_part part, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (!explained->seen.before)
		return;
	const double growth = ((double)explained->seen.now->part[part].resident -
			       (double)explained->seen.before->part[part].resident) /
			      seconds_of(explained);

	if (growth > -512 && growth < 512) {
		fprintf(out, "  %12s", "");
		return;
	}
	char number[HI_UNITS_TEXT_MAX + 4];

	snprintf(number, sizeof(number), "%c%s/s", growth < 0 ? '-' : '+',
		 hi_format_bytes(growth < 0 ? -growth : growth, text, sizeof(text)));
	fprintf(out, "  %12s", number);
}

static void print_swapped(uint64_t swapped, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "  %10s", swapped ? hi_format_bytes((double)swapped, text, sizeof(text)) : "");
}

static void print_details(const struct account *account, enum account_part part, FILE *out)
{
	const struct account_sum *sum = &account->part[part];
	char text[HI_UNITS_TEXT_MAX];

	if (part == ACCOUNT_USED)
		fprintf(out, ": %llu, %s usable", (unsigned long long)sum->count,
			hi_format_bytes((double)sum->bytes, text, sizeof(text)));
	if (part == ACCOUNT_FREE)
		fprintf(out, ", %s of it a trim would give back",
			hi_format_bytes((double)account->trimmable, text, sizeof(text)));
	if (part == ACCOUNT_STACKS)
		fprintf(out, ": %llu, of %zu threads", (unsigned long long)sum->count,
			account->threads);
}

static void print_parts(const struct explained *explained, FILE *out)
{
	const struct account *now = explained->seen.now;
	const uint64_t all = account_resident(now);
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "  %10s  %5s  %10s%s\n", "resident", "%", "swapped",
		explained->seen.before ? "        growth" : "");
	for (unsigned i = 0; i < ACCOUNT_PARTS; i++) {
		const struct account_sum *sum = &now->part[i];

		if (!sum->resident && !sum->swapped)
			continue;
		fprintf(out, "  %10s  %5.1f",
			hi_format_bytes((double)sum->resident, text, sizeof(text)),
			all ? 100.0 * (double)sum->resident / (double)all : 0);
		print_swapped(sum->swapped, out);
		print_growth(explained, (enum account_part)i, out);
		fprintf(out, "  %s", rows[i].text);
		print_details(now, (enum account_part)i, out);
		fputc('\n', out);
	}
	fprintf(out, "  %10s  %5.1f", hi_format_bytes((double)all, text, sizeof(text)), 100.0);
	print_swapped(now->swapped, out);
	fprintf(out, "%s  in all; the kernel says %s\n",
		explained->seen.before ? "              " : "",
		hi_format_bytes((double)now->resident, text, sizeof(text)));
}

static void print_allocators(const struct account *account, FILE *out)
{
	for (size_t i = 0; i < account->heaps.count; i++) {
		const struct heap_found *found = &account->heaps.found[i];

		if (*found->refusal)
			fprintf(out, "%s was not read: %s; its memory is among the mappings\n",
				found->name, found->refusal);
		else
			fprintf(out, "%s, %u arena%s\n", found->name, found->arenas,
				found->arenas == 1 ? "" : "s");
	}
	if (!account->heaps.count)
		fprintf(out, "no allocator was found: its memory is among the mappings\n");
	if (account->is_partial)
		fprintf(out, "the allocator's memory is too large to be read in this time: the "
			     "rest is among the mappings\n");
}

static void print_mappings(const struct account *account, FILE *out)
{
	const uint64_t least = account_resident(account) / 20;
	char text[HI_UNITS_TEXT_MAX], size[HI_UNITS_TEXT_MAX];
	bool is_first = true;

	for (size_t i = 0; i < account->mapping_count; i++) {
		const struct account_mapping *mapping = &account->mapping[i];

		if (mapping->resident < least)
			break;
		fprintf(out, "%s  %10s  of %s: %s", is_first ? "Largest mappings\n" : "",
			hi_format_bytes((double)mapping->resident, text, sizeof(text)),
			hi_format_bytes((double)mapping->bytes, size, sizeof(size)),
			rows[mapping->part].text);
		if (*mapping->name)
			fprintf(out, ", %s", mapping->name);
		fputc('\n', out);
		is_first = false;
	}
}

static void print_huge(const struct account *account, FILE *out)
{
	char huge[HI_UNITS_TEXT_MAX], zero[HI_UNITS_TEXT_MAX];

	if (account->huge)
		fprintf(out, "%s are in transparent huge pages, about %s of it zeros\n",
			hi_format_bytes((double)account->huge, huge, sizeof(huge)),
			hi_format_bytes((double)account->huge_zero, zero, sizeof(zero)));
}

void explain_print(const struct explained *explained, FILE *out)
{
	const struct stopped stopped = stopped_for(explained->seen.now);

	fprintf(out, "%d (%s)", (int)explained->pid, explained->name);
	if (explained->seen.before)
		fprintf(out, ", watched for %.1f s", seconds_of(explained));
	if (stopped.times) {
		fputs(", ", out);
		stopped_print(&stopped, out);
	}
	fputs("; nothing in it was changed\n", out);
	print_parts(explained, out);
	print_allocators(explained->seen.now, out);
	print_huge(explained->seen.now, out);
	print_mappings(explained->seen.now, out);
	fprintf(out, "\n%s: %s\n", verdict_name(explained->verdict.kind), explained->verdict.why);
	fprintf(out, "  %s\n", explained->verdict.remedy);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_part_json(const struct account_sum *sum, const struct row *row, FILE *out)
{
	fprintf(out,
		"\"%s\":{\"bytes\":%llu,\"resident\":%llu,\"swapped\":%llu,\"huge\":%llu,\"count\":"
		"%llu}",
		row->key, (unsigned long long)sum->bytes, (unsigned long long)sum->resident,
		(unsigned long long)sum->swapped, (unsigned long long)sum->huge,
		(unsigned long long)sum->count);
}

static void print_account_json(const struct account *account, FILE *out)
{
	const struct stopped stopped = stopped_for(account);

	fprintf(out,
		"{\"resident\":%llu,\"swapped\":%llu,\"huge\":%llu,\"huge_zero\":%llu,"
		"\"trimmable\":%llu,\"partial\":%s,\"threads\":%zu,",
		(unsigned long long)account->resident, (unsigned long long)account->swapped,
		(unsigned long long)account->huge, (unsigned long long)account->huge_zero,
		(unsigned long long)account->trimmable, account->is_partial ? "true" : "false",
		account->threads);
	stopped_print_json(&stopped, out);
	fputs(",\"parts\":{", out);
	for (unsigned i = 0; i < ACCOUNT_PARTS; i++) {
		fputs(i ? "," : "", out);
		print_part_json(&account->part[i], &rows[i], out);
	}
	fputs("},\"arenas\":[", out);
	for (size_t i = 0; i < account->arena_count; i++)
		fprintf(out, "%s{\"used\":%llu,\"free\":%llu}", i ? "," : "",
			(unsigned long long)account->arena[i].used,
			(unsigned long long)account->arena[i].free_resident);
	fputs("],\"allocators\":[", out);
	for (size_t i = 0; i < account->heaps.count; i++) {
		const struct heap_found *found = &account->heaps.found[i];

		fputs(i ? ",{\"name\":" : "{\"name\":", out);
		plain_text_json(out, found->name);
		fputs(",\"refusal\":", out);
		plain_text_json(out, found->refusal);
		fprintf(out, ",\"arenas\":%u,\"reread\":%llu}", found->arenas,
			(unsigned long long)found->reread);
	}
	fputs("],\"mappings\":[", out);
	for (size_t i = 0; i < account->mapping_count; i++) {
		const struct account_mapping *mapping = &account->mapping[i];

		fprintf(out, "%s{\"part\":\"%s\",\"name\":", i ? "," : "", rows[mapping->part].key);
		plain_text_json(out, mapping->name);
		fprintf(out, ",\"bytes\":%llu,\"resident\":%llu}",
			(unsigned long long)mapping->bytes, (unsigned long long)mapping->resident);
	}
	fputs("]}", out);
}

void explain_print_json(const struct explained *explained, FILE *out)
{
	fprintf(out, "{\"pid\":%d,\"name\":", (int)explained->pid);
	plain_text_json(out, explained->name);
	fprintf(out, ",\"seconds\":%.3f,\"limit\":%llu,\"verdict\":\"%s\",\"why\":",
		seconds_of(explained), (unsigned long long)explained->seen.limit,
		verdict_name(explained->verdict.kind));
	plain_text_json(out, explained->verdict.why);
	fputs(",\"remedy\":", out);
	plain_text_json(out, explained->verdict.remedy);
	fputs(",\"before\":", out);
	if (explained->seen.before)
		print_account_json(explained->seen.before, out);
	else
		fputs("null", out);
	fputs(",\"now\":", out);
	print_account_json(explained->seen.now, out);
	fputs("}\n", out);
}
