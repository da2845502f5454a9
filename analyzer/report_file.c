/* SPDX-License-Identifier: MIT */
/* report_file.c - see report_file.h. */
#include "report_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator_frames.h"
#include "bias.h"
#include "file_writer.h"
#include "hi_path.h"
#include "hi_units.h"
#include "mapping_rows.h"
#include "pool_rows.h"
#include "printable.h"
#include "progress_bar.h"
#include "reader.h"
#include "remote_argument.h"
#include "render_formats.h"
#include "report_url.h"
#include "symbols.h"

static const char *unreadable(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "none of what can be read: heap profiles of heapinject, gperftools and "
		       "jemalloc, with names before them or without, pprof profiles, "
		       "recordings of heaptrack, collapsed stacks, record streams";
	default:
		return strerror(-err);
	}
}

/* True if the file is one of several on its side. *out_is_last: the last one. */
static bool is_one_of_several(const struct report_options *options, const char *file,
			      bool *out_is_last)
{
	bool is_new = false;

	for (size_t i = 0; i < options->file_count; i++)
		is_new |= options->file[i] == file;
	*out_is_last = file == (is_new ? options->file[options->file_count - 1]
				       : options->base[options->base_count - 1]);
	return (is_new ? options->file_count : options->base_count) > 1;
}

bool report_file_is_left_out(const struct report_options *options, const char *file, int err,
			     const struct profile *profile)
{
	bool is_last;

	if (!is_one_of_several(options, file, &is_last))
		return false;
	if (err == -EINPROGRESS || (err == -ENODATA && is_last))
		return true;
	return options->renderer->render == render_growth && is_last &&
	       (err == -EBADMSG || (!err && profile->meta.damage));
}

/*
 * Says why a file is empty: the final file of a session is until the session ends. -EINPROGRESS if
 * it will be written, else -ENODATA.
 */
static int complain_of_empty(const struct report_options *options, const char *file, int fd)
{
	pid_t writer, target;
	const bool is_ours = file_writer_target(file, &target);
	const int err = is_ours && file_writer_find(fd, &writer) ? -EINPROGRESS : -ENODATA;
	const char *end = report_file_is_left_out(options, file, err, NULL) ? "; left out" : "";
	char number[32] = "";

	if (err == -EINPROGRESS) {
		if (writer)
			snprintf(number, sizeof(number), "pid %d, ", (int)writer);
		report_complain(options,
				"%s: the session that writes this is still running (%sof process "
				"%d); `heapinject dump %d` writes what there is now%s",
				file, number, (int)target, (int)target, end);
	} else if (is_ours) {
		report_complain(options,
				"%s: empty, and no session is left that would write it: it was "
				"killed, or the machine went down; its snapshots, if it wrote any, "
				"have lower numbers%s",
				file, end);
	} else {
		report_complain(options, "%s: empty%s",
				strcmp(file, "-") == 0 ? "standard input" : file, end);
	}
	return err;
}

static bool ends_with(const char *text, const char *ending)
{
	const size_t length = strlen(text), size = strlen(ending);

	return length > size && strcmp(text + length - size, ending) == 0;
}

static bool is_newer(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec != other->tv_sec ? one->tv_sec > other->tv_sec
					    : one->tv_nsec > other->tv_nsec;
}

/* The newest file that is named as a heap profile and is not empty. False if there is none. */
static bool find_newest(const char *path, char out_name[NAME_MAX + 1])
{
	DIR *directory = opendir(path);
	struct timespec newest = {0};
	bool is_found = false;
	struct dirent *entry;
	struct stat file;

	while (directory && (entry = readdir(directory))) {
		if ((!ends_with(entry->d_name, ".heap") && !ends_with(entry->d_name, ".pb.gz")) ||
		    fstatat(dirfd(directory), entry->d_name, &file, 0) || !S_ISREG(file.st_mode) ||
		    !file.st_size || (is_found && !is_newer(&file.st_mtim, &newest)))
			continue;
		is_found = true;
		newest = file.st_mtim;
		snprintf(out_name, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (directory)
		closedir(directory);
	return is_found;
}

/* Says which file of a directory may be meant. */
static void complain_of_directory(const struct report_options *options, const char *file)
{
	const bool has_slash = *file && file[strlen(file) - 1] == '/';
	char name[NAME_MAX + 1];

	if (!find_newest(file, name)) {
		report_complain(options,
				"%s: a directory, which holds no .heap or .pb.gz file; name a "
				"profile",
				file);
		return;
	}
	printable(name);
	report_complain(options, "%s: a directory; name a profile in it, the newest is %s%s%s",
			file, file, has_slash ? "" : "/", name);
}

/*
 * Opens a file. Where nothing may be opened (cmd/output/sandbox.h), /dev/fd/N is descriptor N all
 * the same.
 */
static int open_file(const char *file)
{
	static const char directory[] = "/dev/fd/";
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	const char *end;
	uint64_t number;

	if (fd >= 0 || errno != EPERM || strncmp(file, directory, strlen(directory)) != 0)
		return fd;
	if (hi_parse_digits(file + strlen(directory), &number, &end) || *end || number > INT_MAX) {
		errno = ENOENT;
		return -1;
	}
	return fcntl((int)number, F_DUPFD_CLOEXEC, 0);
}

static int load(const struct report_options *options, const char *file, struct profile *profile)
{
	const bool is_stdin = strcmp(file, "-") == 0;
	const char *name = is_stdin ? "standard input" : file;
	const int fd = is_stdin ? STDIN_FILENO : open_file(file);
	int err;

	if (fd < 0) {
		report_complain(options, "%s: %s", name, strerror(errno));
		return -EIO;
	}
	progress_bar_phase("reading");
	progress_bar_file(fd);
	err = reader_read(fd, profile);
	progress_bar_phase("reading"); /* progress of that file has ended */
	if (err == -ENODATA)
		err = complain_of_empty(options, file, fd);
	if (!is_stdin)
		close(fd);
	if (err == -ENODATA || err == -EINPROGRESS)
		return err;
	if (report_file_is_left_out(options, file, err, profile))
		return err;
	if (err == -EBADMSG)
		report_complain(options, "%s: %s", name,
				profile->meta.damage ? profile->meta.damage : "damaged");
	else if (err == -EISDIR && !is_stdin)
		complain_of_directory(options, file);
	else if (err)
		report_complain(options, "%s: %s", name, unreadable(err));
	else if (profile->meta.damage)
		report_complain(options, "%s: %s; showing what was good", name,
				profile->meta.damage);
	return err;
}

/* Refuses a --binary with another build-id: wrong names are worse than none. */
static int check_binary(const struct report_options *options, const char *file,
			const struct profile *profile)
{
	const int err = symbols_check_binary(profile, &options->symbols);
	const char *binary = options->symbols.files.binary;

	if (err == -ESTALE)
		report_complain(
			options,
			"%s is another build than the program in %s: their build-ids differ",
			binary, file);
	else if (err)
		report_complain(options, "%s: %s", binary,
				err == -ENOEXEC ? "not an ELF file" : strerror(-err));
	return err;
}

/* Prints once, for all files, which missing files would have provided more names. */
static void complain_of_lacks(const struct report_options *options,
			      const struct symbols_findings *findings)
{
	static bool is_reported;

	if (!findings->lacked || is_reported)
		return;
	is_reported = true;
	report_complain(
		options,
		"frames without the calls that are inlined there, for want of split debug "
		"information: %zu; %s is not there%s%s%s",
		findings->lacking, findings->lacked, findings->lacked_here ? ", and " : "",
		findings->lacked_here ? findings->lacked_here : "",
		findings->lacked_here
			? " is a package of such files, which libdw reads from elfutils 0.191 on"
			: "");
}

static int look_up(const struct symbols_options *symbols, struct known_names *names,
		   struct profile *profile)
{
	int err = bias_complete(profile, &symbols->files);

	if (!err && names)
		err = known_names_apply(names, profile);
	progress_bar_phase("naming");
	if (!err)
		err = symbols_resolve(profile, symbols);
	if (!err && names)
		err = known_names_learn(names, profile);
	return err;
}

static int resolve(const struct report_options *options, struct known_names *names,
		   struct profile *profile)
{
	struct symbols_findings findings = {0};
	struct symbols_options symbols = options->symbols;

	symbols.findings = &findings;
	symbols.complete = options->renderer->render == render_symbolize;
	const int err = look_up(&symbols, names, profile);
	if (err)
		report_complain(options, "out of memory");
	else
		complain_of_lacks(options, &findings);
	if (!err && symbols.complete)
		report_complain(options,
				"%zu frames without a name, of which %zu have one now; %zu that "
				"had one have source lines or inlined calls now",
				findings.sought, findings.found, findings.bettered);
	free(findings.lacked);
	free(findings.lacked_here);
	return err;
}

const char *report_file_name(const char *file)
{
	return remote_argument_is(file) ? file : hi_base_name(file);
}

static int show_mappings(const struct report_options *options, const char *file,
			 struct profile *profile)
{
	if (profile->has_mappings)
		return mapping_rows_show(profile);
	report_complain(options,
			"--mmap: %s: mappings were not recorded; attach and run record them with "
			"--mmap, and .pb.gz files and record streams have them",
			file);
	return -ENODATA;
}

static int show_pools(const struct report_options *options, const char *file,
		      struct profile *profile)
{
	if (profile->has_pooled)
		return pool_rows_show(profile);
	report_complain(options,
			"--pools: %s: no function of a pool was named; attach and run record its "
			"blocks with --alloc-fn, and .pb.gz files and record streams have them",
			file);
	return -ENODATA;
}

int report_file_load(const struct report_options *options, const char *file,
		     struct known_names *names, struct profile *profile)
{
	int err = remote_argument_is(file) ? report_url_load(options, file, profile)
					   : load(options, file, profile);

	if (!err)
		err = check_binary(options, file, profile);
	if (!err)
		err = resolve(options, names, profile);
	if (!err && options->mmap)
		err = show_mappings(options, file, profile);
	if (!err && options->pools)
		err = show_pools(options, file, profile);
	/* Our own stacks begin at what called the allocator. */
	if (!err && !profile->meta.version)
		err = allocator_frames_cut(profile);
	return err;
}
