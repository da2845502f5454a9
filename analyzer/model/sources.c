/* SPDX-License-Identifier: MIT */
/* sources.c - see sources.h. What is said of the files is in sources_text.c. */
#include "sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hi_path.h"
#include "printable.h"
#include "table.h"
#include "text_equal.h"

#define DELETED " (deleted)"

/* A printable copy in *out_copy; NULL of nothing. 0 or -ENOMEM. */
static int copy_printable(const char *text, char **out_copy)
{
	if (!text || !*text)
		return 0;
	*out_copy = strdup(text);
	if (!*out_copy)
		return -ENOMEM;
	printable(*out_copy);
	return 0;
}

/* The last component of an executable's path, likewise; an unlinked file keeps its name. */
static int copy_exe(const char *path, char **out_copy)
{
	const char *name = path ? hi_base_name(path) : NULL;
	const int err = copy_printable(name, out_copy);
	char *deleted = *out_copy ? strstr(*out_copy, DELETED) : NULL;

	if (deleted && !deleted[strlen(DELETED)])
		*deleted = 0;
	return err;
}

static bool is_executable(const struct profile_module *module, const char *exe)
{
	const size_t size = strlen(module->path);

	return size && strncmp(module->path, exe, size) == 0 &&
	       (!exe[size] || strcmp(exe + size, DELETED) == 0);
}

static void take_build_id(struct source *source, const struct profile *profile)
{
	for (size_t i = 0; i < profile->module_count && profile->meta.exe; i++) {
		const struct profile_module *module = &profile->module[i];

		if (!module->path || !is_executable(module, profile->meta.exe))
			continue;
		memcpy(source->build_id, module->build_id, module->build_id_size);
		source->build_id_size = module->build_id_size;
		return;
	}
}

static void source_close(struct source *source)
{
	free(source->host);
	free(source->comm);
	free(source->exe);
}

int sources_add(struct sources *sources, const struct profile *profile, const char *file,
		enum profile_side side)
{
	const struct profile_meta *meta = &profile->meta;
	struct source source = {
		.file = file,
		.side = side,
		.is_known = meta->version && meta->pid && meta->start_unix_ns,
		.pid = meta->pid,
		.start_unix_ns = meta->start_unix_ns,
		.duration_ns = meta->duration_ns,
		.process_start_ticks = meta->process_start_ticks,
	};

	take_build_id(&source, profile);
	if (copy_printable(meta->host, &source.host) || copy_printable(meta->comm, &source.comm) ||
	    copy_exe(meta->exe, &source.exe) ||
	    array_reserve(&sources->source, &sources->capacity, sources->count,
			  sizeof(*sources->source))) {
		source_close(&source);
		return -ENOMEM;
	}
	sources->source[sources->count++] = source;
	return 0;
}

bool source_is_same_process(const struct source *a, const struct source *b)
{
	return a->is_known && b->is_known && a->pid == b->pid && text_equal(a->host, b->host) &&
	       (!a->process_start_ticks || !b->process_start_ticks ||
		a->process_start_ticks == b->process_start_ticks);
}

bool source_is_same_session(const struct source *a, const struct source *b)
{
	return source_is_same_process(a, b) && a->start_unix_ns == b->start_unix_ns;
}

const char *source_program(const struct source *source)
{
	return source->exe ? source->exe : source->comm ? source->comm : "";
}

bool source_is_other_program(const struct source *a, const struct source *b)
{
	if (a->exe && b->exe)
		return strcmp(a->exe, b->exe) != 0;
	return a->comm && b->comm && strcmp(a->comm, b->comm) != 0;
}

bool source_is_other_build(const struct source *a, const struct source *b)
{
	return a->build_id_size && b->build_id_size &&
	       (a->build_id_size != b->build_id_size ||
		memcmp(a->build_id, b->build_id, a->build_id_size) != 0);
}

typedef bool source_relation(const struct source *, const struct source *);

/* True if a counted file before number `at`, on its side, has the relation to it. */
static bool is_related_to_earlier(const struct sources *sources, size_t at,
				  source_relation *relation)
{
	for (size_t i = 0; i < at; i++) {
		const struct source *other = &sources->source[i];

		if (!other->is_superseded && other->side == sources->source[at].side &&
		    relation(other, &sources->source[at]))
			return true;
	}
	return false;
}

/* How many different moments of this one's session there are on its side. */
static size_t count_snapshots(const struct sources *sources, const struct source *of)
{
	size_t count = 0;

	for (size_t i = 0; i < sources->count; i++) {
		const struct source *at = &sources->source[i];
		bool is_new = at->side == of->side && (at == of || source_is_same_session(at, of));

		for (size_t k = 0; k < i && is_new; k++)
			is_new = sources->source[k].side != of->side ||
				 sources->source[k].duration_ns != at->duration_ns ||
				 !source_is_same_session(&sources->source[k], of);
		count += is_new;
	}
	return count;
}

struct sources_side sources_side(const struct sources *sources, enum profile_side side)
{
	struct sources_side all = {.is_known = true};

	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->source[i];
		const uint64_t window_ns = source->duration_ns;

		if (source->side != side)
			continue;
		if (source->is_superseded) {
			all.superseded++;
			continue;
		}
		if (!all.count++) {
			all.first = source;
			all.shortest_ns = window_ns;
		}
		all.is_known = all.is_known && source->is_known;
		all.shortest_ns = window_ns < all.shortest_ns ? window_ns : all.shortest_ns;
		all.longest_ns = window_ns > all.longest_ns ? window_ns : all.longest_ns;
		all.sessions += !is_related_to_earlier(sources, i, source_is_same_session);
		all.processes += !is_related_to_earlier(sources, i, source_is_same_process);
	}
	if (all.first)
		all.snapshots = count_snapshots(sources, all.first);
	return all;
}

bool sources_are_same_sessions(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->source[i];
		bool is_found = false;

		for (size_t k = 0; k < sources->count && !is_found; k++)
			is_found = sources->source[k].side != source->side &&
				   source_is_same_session(source, &sources->source[k]);
		if (!is_found)
			return false;
	}
	return true;
}

bool sources_are_alike(uint64_t shortest_ns, uint64_t longest_ns)
{
	return (double)longest_ns <= 1.1 * (double)shortest_ns;
}

static int refuse(char *why, char **out_why)
{
	*out_why = why;
	return why ? -EINVAL : -ENOMEM;
}

static int refuse_windows(const struct sources_side *base, const struct sources_side *new,
			  char **out_why)
{
	const uint64_t shortest_ns = base->shortest_ns < new->shortest_ns ? base->shortest_ns
									  : new->shortest_ns,
		       longest_ns = base->longest_ns > new->longest_ns ? base->longest_ns
								       : new->longest_ns;
	char *why = NULL;

	if (asprintf(&why,
		     "windows of %.1fs and %.1fs: the longer one has more of everything. "
		     "--scale-base counts the base as if its window were as long, which is right "
		     "for what is allocated and what grows evenly; --as-is compares them as they "
		     "are; snapshots of one session, and windows of one length, need neither",
		     (double)shortest_ns / 1e9, (double)longest_ns / 1e9) < 0)
		why = NULL;
	return refuse(why, out_why);
}

/* The factor that --scale-base asks for. */
static int scale(const struct sources *sources, const struct sources_side *base,
		 const struct sources_side *new, double *out_scale, char **out_why)
{
	const char *why = NULL;

	if (!base->is_known || !new->is_known || !base->shortest_ns || !new->shortest_ns)
		why = "--scale-base wants files that say how long their windows were";
	else if (sources_are_same_sessions(sources))
		why = "--scale-base is for files of different sessions; these are of one, and can "
		      "be compared without it";
	else if (!sources_are_alike(base->shortest_ns, base->longest_ns) ||
		 !sources_are_alike(new->shortest_ns, new->longest_ns))
		why = "--scale-base wants windows of one length on each side";
	if (why)
		return refuse(strdup(why), out_why);
	*out_scale = ((double)new->shortest_ns + (double)new->longest_ns) /
		     ((double)base->shortest_ns + (double)base->longest_ns);
	return 0;
}

int sources_check(const struct sources *sources, double *out_scale, char **out_why)
{
	const struct sources_side base = sources_side(sources, PROFILE_BASE),
				  new = sources_side(sources, PROFILE_NEW);

	if (sources->do_scale)
		return scale(sources, &base, &new, out_scale, out_why);
	*out_scale = 1;
	if (!base.count || !new.count || !base.is_known || !new.is_known || sources->as_is ||
	    sources_are_same_sessions(sources))
		return 0;
	if (sources_are_alike(base.shortest_ns, new.longest_ns) &&
	    sources_are_alike(new.shortest_ns, base.longest_ns))
		return 0;
	return refuse_windows(&base, &new, out_why);
}

void sources_close(struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		source_close(&sources->source[i]);
	free(sources->source);
	*sources = (struct sources){0};
}
