/* SPDX-License-Identifier: MIT */
/* status_print.c - see status_print.h. */
#include "status_print.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "hi_interval.h"
#include "hi_units.h"
#include "plain_text.h"

#define SECOND_NS 1000000000ull
#define NAME_MAX_SIZE 64

/*
 * The name of the user in /etc/passwd, or the number. Other sources of names need libraries that a
 * static program cannot load.
 */
static void name_user(uint64_t uid, char name[NAME_MAX_SIZE])
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *entry = NULL;

	while (file && (entry = fgetpwent(file)) && entry->pw_uid != uid)
		;
	if (entry)
		plain_text_copy(name, NAME_MAX_SIZE, entry->pw_name);
	else
		snprintf(name, NAME_MAX_SIZE, "%" PRIu64, uid);
	if (file)
		fclose(file);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_time(const struct status_fields *fields, FILE *out)
{
	const time_t since = (time_t)(fields->since_unix_ns / SECOND_NS);
	char text[HI_UNITS_TEXT_MAX], when[64];
	struct tm local;

	if (localtime_r(&since, &local) &&
	    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local))
		fprintf(out, "  since      %s, for %s", when,
			hi_format_duration(fields->elapsed_ns / SECOND_NS, text, sizeof(text)));
	if (!fields->duration_ns)
		fprintf(out, ", until it is stopped\n");
	else
		fprintf(out, ", %s left\n",
			hi_format_duration(fields->duration_ns > fields->elapsed_ns
						   ? (fields->duration_ns - fields->elapsed_ns) /
							     SECOND_NS
						   : 0,
					   text, sizeof(text)));
}

static void print_rate(const struct status_fields *fields, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (fields->interval <= HI_INTERVAL_EXACT)
		fprintf(out, "  interval   1, every allocation");
	else
		fprintf(out, "  interval   %s",
			hi_format_bytes((double)fields->interval, text, sizeof(text)));
	if (fields->budget_ppm)
		fprintf(out, ", within %g%% of its CPU time", (double)fields->budget_ppm / 1e4);
	if (fields->paused)
		fprintf(out, "; paused: nothing is sampled now");
	fputc('\n', out);
	fprintf(out, "  profile    of the last %s",
		hi_format_duration(fields->profile_ns / SECOND_NS, text, sizeof(text)));
	if (fields->paused_ns)
		fprintf(out, ", paused for %s of it",
			hi_format_ns((double)fields->paused_ns, text, sizeof(text)));
	fputc('\n', out);
}

static void print_files(const struct status_fields *fields, FILE *out)
{
	fprintf(out, "  files      %" PRIu64 " written", fields->files_written);
	if (*fields->last_file)
		fprintf(out, ", the newest %s", fields->last_file);
	if (fields->keep)
		fprintf(out, "; keeps %" PRIu64, fields->keep);
	if (*fields->final_file)
		fprintf(out, "\n  at the end %s", fields->final_file);
	fprintf(out, "\n  triggers   %s\n", *fields->triggers ? fields->triggers : "none");
}

static void print_push(const struct status_fields *fields, FILE *out)
{
	if (!*fields->push_url)
		return;
	fprintf(out, "  pushed     %" PRIu64 " to %s", fields->pushed, fields->push_url);
	if (fields->push_waiting)
		fprintf(out, ", %" PRIu64 " %s", fields->push_waiting,
			fields->push_waiting == 1 ? "waits" : "wait");
	if (fields->push_lost)
		fprintf(out, ", %" PRIu64 " lost", fields->push_lost);
	fputs(fields->push_away ? "; it takes none at present\n" : "\n", out);
}

static void print_heap(const struct status_fields *fields, FILE *out)
{
	char used[HI_UNITS_TEXT_MAX], kept[HI_UNITS_TEXT_MAX], trim[HI_UNITS_TEXT_MAX];

	if (*fields->heap_unread)
		fprintf(out, "  heap       not known: %s\n", fields->heap_unread);
	else if (*fields->heap_of)
		fprintf(out,
			"  heap       %s in use, %s retained, of which a trim would give back %s, "
			"by "
			"the count of %s\n",
			hi_format_bytes((double)fields->heap_used, used, sizeof(used)),
			hi_format_bytes((double)fields->heap_kept, kept, sizeof(kept)),
			hi_format_bytes((double)fields->heap_trim, trim, sizeof(trim)),
			fields->heap_of);
}

void status_print_text(const struct status_fields *fields, FILE *out)
{
	char user[NAME_MAX_SIZE], inuse[HI_UNITS_TEXT_MAX], allocated[HI_UNITS_TEXT_MAX];

	char family[48] = "";

	name_user(fields->uid, user);
	if (fields->family)
		snprintf(family, sizeof(family), ", one of those of pid %" PRIu64, fields->family);
	fprintf(out, "%" PRIu64 " %s: attached to by %s (heapinject is pid %" PRIu64 "%s%s)\n",
		fields->pid, fields->program, user, fields->injector, family,
		fields->is_elsewhere ? ", in another container; files are named as there" : "");
	print_time(fields, out);
	print_rate(fields, out);
	fprintf(out, "  samples    %" PRIu64 ", dropped %" PRIu64 "\n", fields->samples,
		fields->dropped);
	fprintf(out, "  memory     %s in use of %s allocated\n",
		hi_format_bytes((double)fields->inuse_bytes, inuse, sizeof(inuse)),
		hi_format_bytes((double)fields->allocated_bytes, allocated, sizeof(allocated)));
	print_heap(fields, out);
	fprintf(out,
		"  overhead   %.2f%% of a CPU in the process, %.2f%% of its CPU time; %.2f%% of a "
		"CPU beside it\n",
		share(fields->payload_cpu_ns, fields->elapsed_ns),
		share(fields->payload_cpu_ns, fields->target_cpu_ns),
		share(fields->own_cpu_ns, fields->elapsed_ns));
	print_files(fields, out);
	print_push(fields, out);
}

static void put_text(const char *key, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", key);
	if (*text)
		plain_text_json(out, text);
	else
		fputs("null", out);
}

static void put_number(const char *key, uint64_t number, FILE *out)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, number);
}

void status_print_json(const struct status_fields *fields, FILE *out)
{
	char user[NAME_MAX_SIZE];

	name_user(fields->uid, user);
	fprintf(out, "{\"pid\":%" PRIu64, fields->pid);
	put_text("program", fields->program, out);
	put_number("heapinject_pid", fields->injector, out);
	put_text("user", user, out);
	put_number("uid", fields->uid, out);
	if (fields->family)
		put_number("family_pid", fields->family, out);
	else
		put_text("family_pid", "", out);
	fprintf(out, ",\"in_other_container\":%s", fields->is_elsewhere ? "true" : "false");
	put_number("since_unix_ns", fields->since_unix_ns, out);
	put_number("elapsed_ns", fields->elapsed_ns, out);
	if (fields->duration_ns)
		put_number("left_ns",
			   fields->duration_ns > fields->elapsed_ns
				   ? fields->duration_ns - fields->elapsed_ns
				   : 0,
			   out);
	else
		put_text("left_ns", "", out);
	put_number("interval_bytes", fields->interval, out);
	put_number("budget_ppm", fields->budget_ppm, out);
	fprintf(out, ",\"paused\":%s", fields->paused ? "true" : "false");
	put_number("profile_ns", fields->profile_ns, out);
	put_number("paused_ns", fields->paused_ns, out);
	put_number("samples", fields->samples, out);
	put_number("dropped", fields->dropped, out);
	put_number("inuse_bytes", fields->inuse_bytes, out);
	put_number("allocated_bytes", fields->allocated_bytes, out);
	put_text("heap_allocator", fields->heap_of, out);
	put_text("heap_unread", fields->heap_unread, out);
	put_number("heap_used_bytes", fields->heap_used, out);
	put_number("heap_retained_bytes", fields->heap_kept, out);
	put_number("heap_trimmable_bytes", fields->heap_trim, out);
	fprintf(out, ",\"grows\":%s", fields->grows ? "true" : "false");
	put_number("slope_bytes_per_second", fields->slope, out);
	put_number("slope_low_bytes_per_second", fields->slope_low, out);
	put_number("slope_high_bytes_per_second", fields->slope_high, out);
	put_number("payload_cpu_ns", fields->payload_cpu_ns, out);
	put_number("target_cpu_ns", fields->target_cpu_ns, out);
	put_number("own_cpu_ns", fields->own_cpu_ns, out);
	put_number("files_written", fields->files_written, out);
	put_text("push_url", fields->push_url, out);
	put_number("pushed", fields->pushed, out);
	put_number("push_waiting", fields->push_waiting, out);
	put_number("push_lost", fields->push_lost, out);
	fprintf(out, ",\"push_away\":%s", fields->push_away ? "true" : "false");
	put_text("last_file", fields->last_file, out);
	put_text("final_file", fields->final_file, out);
	put_number("keep", fields->keep, out);
	put_text("triggers", fields->triggers, out);
	fputc('}', out);
}
