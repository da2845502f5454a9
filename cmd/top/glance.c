/* SPDX-License-Identifier: MIT */
/* glance.c - see glance.h. */
#include "glance.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hi_analyzer.h"
#include "hi_exit.h"
#include "sandbox.h"
#include "session_profile.h"
#include "session_request.h"
#include "session_list.h"

#define GLANCE_MAGIC 0x316b6f6f6c6968u

/* What the job writes first. */
struct status_part {
	uint64_t magic;
	struct status_fields status;
};

/* ---- the job --------------------------------------------------------------------------------- */

/* Reads the profile without any right. Returns only if the rights cannot be given up. */
static int read_without_rights(int profile)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	int *const kept[] = {&profile, &out};
	struct sandbox_state state;

	if (out < 0 || sandbox_keep(kept, 2) ||
	    sandbox_enter(identity_to_run_as(identity_of_caller()), profile, &state))
		return HI_EXIT_FAILED;
	_exit(hi_analyzer_rows(profile, out));
}

static int work(void *context)
{
	static struct preflight preflight;
	static struct status_part part = {.magic = GLANCE_MAGIC};
	const pid_t pid = *(const pid_t *)context;
	int profile, exit_code = session_list_read(pid, &part.status, &preflight);

	if (exit_code == HI_EXIT_OK)
		exit_code = session_profile(pid, &profile, &preflight);
	if (exit_code == SESSION_NO_ANSWER) {
		(void)session_explain_none(pid, &preflight);
		return preflight.verdict == PREFLIGHT_OK       ? GLANCE_NO_SESSION
		       : preflight.verdict == PREFLIGHT_ZOMBIE ? GLANCE_NO_PROCESS
							       : HI_EXIT_FAILED;
	}
	if (exit_code == HI_EXIT_REFUSED)
		return GLANCE_NO_PROCESS;
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	fwrite(&part, sizeof(part), 1, stdout);
	fflush(stdout);
	return read_without_rights(profile);
}

int glance_start(struct job *job, pid_t *pid)
{
	return job_start(job, work, pid);
}

/* ---- its result ------------------------------------------------------------------------------ */

#define TERMINATE(text) ((text)[sizeof(text) - 1] = 0)

/* Takes a part of the bytes. False: there are too few. */
static bool take(const char **bytes, size_t *size, void *to, size_t wanted)
{
	if (*size < wanted)
		return false;
	memcpy(to, *bytes, wanted);
	*bytes += wanted;
	*size -= wanted;
	return true;
}

/* A figure that can be shown and compared. */
static void make_plain(double *figure)
{
	if (!isfinite(*figure))
		*figure = 0;
}

static void check_row(struct hi_row *row)
{
	double *const figures[] = {&row->slope,   &row->slope_low, &row->slope_high, &row->live,
				   &row->objects, &row->age_ns,    &row->samples};

	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		make_plain(figures[i]);
	TERMINATE(row->verdict);
	TERMINATE(row->name);
	TERMINATE(row->source);
}

static void check_head(struct hi_rows_head *head)
{
	double *const figures[] = {&head->window_ns, &head->tail_ns, &head->live, &head->live_low,
				   &head->live_high};

	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		make_plain(figures[i]);
	TERMINATE(head->answer);
	TERMINATE(head->notes);
}

static int read_row(const char **bytes, size_t *size, struct glance_row *out_row)
{
	struct glance_row row = {0};

	if (!take(bytes, size, &row.row, sizeof(row.row)) || row.row.kind >= HI_ROW_KINDS ||
	    row.row.stack_size > HI_ROWS_STACK_MAX || row.row.stack_size > *size)
		return -EPROTO;
	check_row(&row.row);
	row.stack = calloc(1, row.row.stack_size + 1);
	if (!row.stack)
		return -ENOMEM;
	(void)take(bytes, size, row.stack, row.row.stack_size);
	*out_row = row;
	return 0;
}

static int read_rows(const char *bytes, size_t size, struct glance *glance)
{
	int err = 0;

	if (!take(&bytes, &size, &glance->head, sizeof(glance->head)) ||
	    glance->head.magic != HI_ROWS_MAGIC || glance->head.count > HI_ROWS_MAX)
		return -EPROTO;
	check_head(&glance->head);
	glance->row = calloc(glance->head.count + 1, sizeof(*glance->row));
	if (!glance->row)
		return -ENOMEM;
	while (glance->count < glance->head.count && !err) {
		err = read_row(&bytes, &size, &glance->row[glance->count]);
		glance->count += !err;
	}
	glance->has_rows = !err;
	return err;
}

int glance_read(const char *bytes, size_t size, struct glance *glance)
{
	struct status_part part;
	struct glance found = {0};

	if (!bytes || !take(&bytes, &size, &part, sizeof(part)) || part.magic != GLANCE_MAGIC)
		return -EPROTO;
	found.status = part.status;
	const int err = size ? read_rows(bytes, size, &found) : 0;
	if (err) {
		glance_close(&found);
		return err;
	}
	glance_close(glance);
	*glance = found;
	return 0;
}

void glance_close(struct glance *glance)
{
	for (size_t i = 0; i < glance->count; i++)
		free(glance->row[i].stack);
	free(glance->row);
	*glance = (struct glance){0};
}
