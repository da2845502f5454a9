/* SPDX-License-Identifier: MIT */
/* family_say.c - see family_say.h. */
#include "family_say.h"

#include <stdio.h>
#include <string.h>

#include "hi_exit.h"
#include "hi_units.h"

#define SECOND_NS 1000000000u

/* ---- messages -------------------------------------------------------------------------------- */

#define PREFIX "heapinject: "

static void say(struct family *family, const struct member *member, const char *line)
{
	char text[MEMBER_LINE_MAX + 64];

	if (member->is_program) {
		progress_complain(&family->progress, line);
		return;
	}
	if (!strncmp(line, PREFIX, sizeof(PREFIX) - 1))
		line += sizeof(PREFIX) - 1;
	snprintf(text, sizeof(text), PREFIX "%d: %s", (int)member->process.pid, line);
	progress_complain(&family->progress, text);
}

/* A warning is the same for all processes of a program: who said it first is enough. */
static bool was_said(struct family *family, const char *line)
{
	for (size_t i = 0; i < FAMILY_WARNINGS; i++) {
		if (!strcmp(family->all.warning[i], line))
			return true;
		if (family->all.warning[i][0])
			continue;
		snprintf(family->all.warning[i], sizeof(family->all.warning[i]), "%s", line);
		return false;
	}
	return false;
}

/* What a session said until it had attached. */
static void pass_warnings_on(struct family *family, struct member *member)
{
	const bool verbose = family->options->session->verbose;
	static const char attached[] = PREFIX "attached to ";
	char line[MEMBER_LINE_MAX];

	while ((uint64_t)member->shown < member->outcome->begun_size &&
	       member_next_line(member, line))
		if (verbose ||
		    (strncmp(line, attached, sizeof(attached) - 1) != 0 && !was_said(family, line)))
			say(family, member, line);
}

/* What it said at its end: all, if it failed, else only what it has left behind. */
static void pass_end_on(struct family *family, struct member *member)
{
	const bool has_failed =
		member->exit_code == HI_EXIT_FAILED || member->exit_code == HI_EXIT_REFUSED;
	char line[MEMBER_LINE_MAX];

	while (member_next_line(member, line)) {
		const bool is_left = strstr(line, "left behind") != NULL;

		member->has_left |= is_left;
		if (member->state == MEMBER_ENDED &&
		    (has_failed || is_left || family->options->session->verbose))
			say(family, member, line);
	}
	member->is_over = true;
}

/* As `run` does: all that is no answer and no receipt, at once. */
static void pass_program_on(struct family *family, struct member *member)
{
	const struct session_options *options = family->options->session;
	static const char attached[] = PREFIX "attached to ";
	char line[MEMBER_LINE_MAX];

	while (member_next_line(member, line)) {
		const bool is_left = strstr(line, "left behind") != NULL;

		member->has_left |= is_left;
		if (is_left || options->verbose ||
		    (!strncmp(line, PREFIX, sizeof(PREFIX) - 1) &&
		     strncmp(line, attached, sizeof(attached) - 1) != 0 && !was_said(family, line)))
			say(family, member, line);
	}
	member->has_begun |= member->outcome && member->outcome->is_attached;
}

void family_pass_on(struct family *family)
{
	for (size_t i = 0; i < family->all.count; i++) {
		struct member *member = &family->all.member[i];

		if (member->is_program) {
			pass_program_on(family, member);
			continue;
		}
		if (member->outcome && member->outcome->is_attached && !member->has_begun) {
			member->has_begun = true;
			pass_warnings_on(family, member);
		}
		if (!member->is_over && member->state != MEMBER_WAITS &&
		    member->state != MEMBER_RUNS)
			pass_end_on(family, member);
	}
}

void family_show_progress(struct family *family)
{
	const uint64_t elapsed_ns = clock_now_ns() - family->began_ns,
		       duration_ns = family->options->session->duration_ns;
	uint64_t samples = 0, live = 0, dropped = 0;
	size_t attached = 0, growing = 0;
	char line[256], elapsed[HI_UNITS_TEXT_MAX], whole[HI_UNITS_TEXT_MAX] = "",
						    bytes[HI_UNITS_TEXT_MAX], grows[64] = "";

	for (size_t i = 0; i < family->all.count; i++) {
		const struct session_outcome *outcome = family->all.member[i].outcome;

		if (!outcome)
			continue;
		attached += family->all.member[i].state == MEMBER_RUNS && outcome->is_attached;
		samples += outcome->samples;
		dropped += outcome->dropped;
		live += outcome->live_bytes;
		growing += outcome->is_growing;
	}
	if (growing)
		snprintf(grows, sizeof(grows), ", %zu grow%s", growing, growing == 1 ? "s" : "");
	if (duration_ns)
		hi_format_duration(duration_ns / SECOND_NS, whole, sizeof(whole));
	snprintf(line, sizeof(line),
		 "heapinject: %s%s%s, %zu of %zu processes attached to, %llu samples, %s live%s, "
		 "%llu dropped",
		 hi_format_duration(elapsed_ns / SECOND_NS, elapsed, sizeof(elapsed)),
		 duration_ns ? " of " : "", whole, attached, family->all.count,
		 (unsigned long long)samples, hi_format_bytes((double)live, bytes, sizeof(bytes)),
		 grows, (unsigned long long)dropped);
	progress_draw(&family->progress, elapsed_ns, line);
}
