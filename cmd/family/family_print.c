/* SPDX-License-Identifier: MIT */
/* family_print.c - see family_print.h. Start at family_print(). */
#include "family_print.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer_fields.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "plain_text.h"

static bool has_profile(const struct member *member)
{
	return member->outcome && member->outcome->heap_path[0];
}

static bool has_failed(const struct member *member)
{
	return member->state == MEMBER_ENDED &&
	       (member->exit_code == HI_EXIT_FAILED || member->exit_code == HI_EXIT_REFUSED);
}

/* The last word about one that has no answer. */
static const char *explain(const struct member *member)
{
	if (member->why)
		return member->why;
	if (member->state == MEMBER_GONE)
		return "has ended before it was attached to";
	if (member->killed_by && process_found_is_there(&member->process))
		return "its session was killed: heapinject detach PID removes what is left";
	if (member->killed_by)
		return "its session was killed, and the process has ended";
	return member->outcome && member->outcome->is_attached ? "the session failed"
							       : "was not attached to";
}

struct sum {
	struct answer_fields totals;
	size_t profiles, failed, refused, gone, not_begun, left;
};

static void add(struct sum *sum, const struct member *member, const struct answer_fields *fields)
{
	sum->profiles += has_profile(member);
	sum->failed += has_failed(member);
	sum->refused += has_failed(member) && member->exit_code == HI_EXIT_REFUSED;
	sum->gone += member->state == MEMBER_GONE && !member->why;
	sum->not_begun += member->state == MEMBER_GONE && member->why;
	sum->left += member->has_left;
	if (!fields)
		return;
	sum->totals.samples += fields->samples;
	sum->totals.in_use_bytes += fields->in_use_bytes;
	sum->totals.in_use_objects += fields->in_use_objects;
	sum->totals.allocated_bytes += fields->allocated_bytes;
	sum->totals.allocated_objects += fields->allocated_objects;
	sum->totals.has_mappings |= fields->has_mappings;
	for (size_t i = 0; i < ANSWER_MAPPED_COUNT; i++)
		sum->totals.mapped[i] += fields->mapped[i];
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_figures(const struct answer_fields *fields)
{
	char in_use[HI_UNITS_TEXT_MAX], allocated[HI_UNITS_TEXT_MAX];

	printf(" %10.0f %10s %10s", fields->samples,
	       hi_format_bytes(fields->in_use_bytes, in_use, sizeof(in_use)),
	       hi_format_bytes(fields->allocated_bytes, allocated, sizeof(allocated)));
}

static void print_row(const struct member *member, const struct answer_fields *fields)
{
	char mapped[HI_UNITS_TEXT_MAX];

	char comm[sizeof(member->process.comm)];

	plain_text_copy(comm, sizeof(comm), member->process.comm);
	printf("%9d %-15s", (int)member->process.pid, comm);
	if (!fields) {
		printf(" %10s %10s %10s  %s\n", "-", "-", "-", explain(member));
		return;
	}
	print_figures(fields);
	printf("  %s", *fields->sentence ? fields->sentence : "no answer");
	if (fields->has_mappings)
		printf(" Mapped: %s", hi_format_bytes(fields->mapped[ANSWER_MAPPED_APPLICATION],
						      mapped, sizeof(mapped)));
	fputc('\n', stdout);
}

/* What was mapped and is still there, of all of them. */
static void print_mapped(const struct answer_fields *totals)
{
	static const char *const what[ANSWER_MAPPED_COUNT] = {
		"for the programs themselves", "for allocators",   "for stacks of threads",
		"for the dynamic linker",      "for Go's runtime", "for nobody known"};
	char text[HI_UNITS_TEXT_MAX];

	if (!totals->has_mappings)
		return;
	fputs("Mapped meanwhile and still there:", stdout);
	for (size_t i = 0; i < ANSWER_MAPPED_COUNT; i++)
		if (!i || totals->mapped[i] > 0)
			printf("%s %s %s", i ? "," : "",
			       hi_format_bytes(totals->mapped[i], text, sizeof(text)), what[i]);
	fputc('\n', stdout);
}

/* Every one that was attached to, and is let go. */
static void print_receipt(const struct members *members, const struct sum *sum)
{
	size_t attached = 0, whole = 0;

	for (size_t i = 0; i < members->count; i++) {
		const struct member *member = &members->member[i];

		if (!member->outcome || !member->outcome->is_attached)
			continue;
		attached++;
		whole += !has_failed(member);
	}
	printf("Detach receipts: %zu of %zu without failure", whole, attached);
	if (sum->left)
		printf("; in %zu something is left behind, see above", sum->left);
	fputs("\n", stdout);
}

/* What became of those that were forked meanwhile. */
static void print_children(const struct members *members)
{
	size_t attached = 0;
	char closed[64] = "";

	if (!members->are_followed)
		return;
	if (members->closed)
		snprintf(closed, sizeof(closed), ", %zu that cannot be looked at", members->closed);
	for (size_t i = 0; i < members->count; i++)
		attached += members->member[i].parent && members->member[i].outcome &&
			    members->member[i].outcome->is_attached;
	printf("Children forked meanwhile: %zu attached to, %zu ended before that, %zu executed "
	       "another program, %zu beyond --max-children%s; children that lived for less than "
	       "100ms are not counted%s\n",
	       attached, members->ended, members->executed, members->beyond, closed,
	       members->is_incomplete ? "; some may have been missed, as /proc could not be read"
				      : "");
}

static void print_sum(const struct members *members, const struct sum *sum)
{
	if (members->count > 1) {
		printf("%9s %-15s", "all", "");
		print_figures(&sum->totals);
		printf("  %zu of %zu have a profile", sum->profiles, members->count);
		if (sum->gone)
			printf("; %zu ended before", sum->gone);
		if (sum->not_begun)
			printf("; %zu not begun", sum->not_begun);
		if (sum->failed)
			printf("; %zu failed", sum->failed);
		fputc('\n', stdout);
	}
	print_mapped(&sum->totals);
	print_children(members);
	print_receipt(members, sum);
}

/* ---- all profiles added up ------------------------------------------------------------------- */

/* In a process of its own, as all that shows profiles. */
static void show_report(char **argv, int argc)
{
	int status;

	fflush(NULL);
	const pid_t pid = fork();
	if (!pid) {
		const int exit_code = hi_analyzer_report(argc, argv);
		fflush(NULL);
		_exit(exit_code);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* Of the files that were written, as many as there are. NULL = out of memory. */
static char **files_of(const struct members *members, bool is_mapped, int *out_count)
{
	char **file = calloc(members->count + 1, sizeof(*file));

	*out_count = 0;
	for (size_t i = 0; file && i < members->count; i++) {
		struct session_outcome *outcome = members->member[i].outcome;

		if (has_profile(&members->member[i]))
			file[(*out_count)++] = is_mapped ? outcome->pprof_path : outcome->heap_path;
	}
	return file;
}

/* view: an option of report; NULL = none besides --text. */
static void show_sum(char **file, int count, char *view)
{
	static char name[] = "report", text[] = "--text", rows[] = "--nodecount=10";
	char **argv = calloc((size_t)count + 5, sizeof(*argv));
	int argc = 0;

	if (!argv)
		return;
	argv[argc++] = name;
	memcpy(&argv[argc], file, (size_t)count * sizeof(*argv));
	argc += count;
	argv[argc++] = text;
	argv[argc++] = rows;
	if (view)
		argv[argc++] = view;
	show_report(argv, argc);
	free(argv);
}

static void print_files(char **file, int count)
{
	for (int i = 0; i < count; i++)
		printf(" %s", file[i]);
}

/* What was mapped is in the .pb.gz files. */
static void print_mapped_report(const struct members *members)
{
	static char view[] = "--mmap";
	int count;
	char **file = files_of(members, true, &count);

	if (file && count) {
		fputs("\nWhat was mapped, added up:\n", stdout);
		show_sum(file, count, view);
		fputs("\nLook at what was mapped with: heapinject report", stdout);
		print_files(file, count);
		fputs(" --mmap --text\n", stdout);
	}
	free(file);
}

static void print_report(const struct members *members, bool has_mappings)
{
	int count;
	char **file = files_of(members, false, &count);

	if (file && count) {
		fputs("\nAll of them added up:\n", stdout);
		show_sum(file, count, NULL);
		fputs("\nLook at all with: heapinject report", stdout);
		print_files(file, count);
		fputs(" --text, or at one with --leaks\n", stdout);
	}
	free(file);
	if (has_mappings)
		print_mapped_report(members);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void print_json_member(const struct member *member, const char *answer)
{
	char comm[sizeof(member->process.comm) + 1] = "";

	memcpy(comm, member->process.comm, sizeof(member->process.comm));
	printf("{\"pid\":%d,\"name\":", (int)member->process.pid);
	plain_text_json(stdout, comm);
	if (member->parent)
		printf(",\"parent\":%d", (int)member->parent);
	if (member->state == MEMBER_ENDED)
		printf(",\"exit_status\":%d", member->exit_code);
	if (answer)
		printf(",\"answer\":%s", answer);
	else
		printf(",\"why\":\"%s\"", explain(member));
	fputc('}', stdout);
}

static void print_json_sum(const struct members *members, const struct sum *sum)
{
	printf("],\"totals\":{\"samples\":%.0f,\"in_use_bytes\":%.0f,\"in_use_objects\":%.0f,"
	       "\"allocated_bytes\":%.0f,\"allocated_objects\":%.0f",
	       sum->totals.samples, sum->totals.in_use_bytes, sum->totals.in_use_objects,
	       sum->totals.allocated_bytes, sum->totals.allocated_objects);
	for (size_t i = 0; i < ANSWER_MAPPED_COUNT && sum->totals.has_mappings; i++)
		printf("%s\"%s\":%.0f", i ? "," : ",\"mappings\":{", answer_mapped_names[i],
		       sum->totals.mapped[i]);
	printf("%s},\"profiles\":%zu,\"failed\":%zu,\"ended_before\":%zu,\"not_begun\":%zu",
	       sum->totals.has_mappings ? "}" : "", sum->profiles, sum->failed, sum->gone,
	       sum->not_begun);
	if (members->are_followed)
		printf(",\"children\":{\"ended_before\":%zu,\"executed\":%zu,\"beyond\":%zu,"
		       "\"not_readable\":%zu}",
		       members->ended, members->executed, members->beyond, members->closed);
	fputs("}\n", stdout);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* What failed comes before what grows, and that before what is not known. */
static int exit_code_of(const struct members *members, const struct sum *sum)
{
	int exit_code = HI_EXIT_OK;

	if (sum->failed || !sum->profiles)
		return sum->refused == sum->failed && !sum->profiles ? HI_EXIT_REFUSED
								     : HI_EXIT_FAILED;
	for (size_t i = 0; i < members->count; i++) {
		const struct member *member = &members->member[i];

		if (member->state != MEMBER_ENDED || member->exit_code == HI_EXIT_OK)
			continue;
		if (exit_code != HI_EXIT_ABOVE)
			exit_code = member->exit_code;
	}
	return exit_code;
}

int family_print(struct members *members, bool as_json)
{
	struct sum sum = {0};

	if (as_json)
		fputs("{\"processes\":[", stdout);
	else
		printf("%9s %-15s %10s %10s %10s  %s\n", "PID", "NAME", "SAMPLES", "IN USE",
		       "ALLOCATED", "ANSWER");
	for (size_t i = 0; i < members->count; i++) {
		const struct member *member = &members->member[i];
		char *answer = member_answer(member);
		struct answer_fields fields;
		const bool has_fields = answer && answer_fields_read(answer, &fields);

		add(&sum, member, has_fields ? &fields : NULL);
		if (as_json && i)
			fputc(',', stdout);
		if (as_json)
			print_json_member(member, answer);
		else
			print_row(member, has_fields ? &fields : NULL);
		free(answer);
	}
	if (as_json) {
		print_json_sum(members, &sum);
	} else {
		print_sum(members, &sum);
		print_report(members, sum.totals.has_mappings);
	}
	fflush(stdout);
	return exit_code_of(members, &sum);
}
