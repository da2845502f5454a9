/* SPDX-License-Identifier: MIT */
/* choice_print.c - see choice_print.h. */
#include "choice_print.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hi_units.h"
#include "plain_text.h"
#include "proc_file.h"

#define COMMAND_MAX 120u

static uint64_t age_seconds(const struct process_found *process)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	const uint64_t began = process->start_ticks / (uint64_t)(ticks > 0 ? ticks : 100);
	struct timespec now = {0};

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec > began ? (uint64_t)now.tv_sec - began : 0;
}

/* Its arguments with spaces between them; where there are none, its name. */
static void read_command(const struct process_found *process, char command[COMMAND_MAX])
{
	char *text;
	size_t size = 0;

	plain_text_copy(command, COMMAND_MAX, process->comm);
	if (proc_file_read(process->pid, 0, "cmdline", &text, &size))
		return;
	while (size && !text[size - 1])
		size--;
	for (size_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = ' ';
	if (size)
		plain_text_copy(command, COMMAND_MAX, text);
	free(text);
}

void choice_print(const struct processes_found *found, FILE *out)
{
	fprintf(out, "%9s %10s %10s  %s\n", "PID", "AGE", "RSS", "COMMAND");
	for (size_t i = 0; i < found->count; i++) {
		const struct process_found *process = &found->process[i];
		char age[HI_UNITS_TEXT_MAX], resident[HI_UNITS_TEXT_MAX], command[COMMAND_MAX];

		read_command(process, command);
		fprintf(out, "%9d %10s %10s  %s\n", (int)process->pid,
			hi_format_duration(age_seconds(process), age, sizeof(age)),
			hi_format_bytes((double)process->resident_bytes, resident,
					sizeof(resident)),
			command);
	}
}
