/* SPDX-License-Identifier: MIT */
/*
 * shell_view.c - see shell_view.h.
 *
 * The words after the view are as in pprof: a number limits the rows, a regular expression is the
 * focus, and one after a minus is to be ignored. Words that begin with two minuses are options for
 * this view only.
 */
#include "shell_view.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hi_options.h"
#include "report_command_line.h"
#include "report_option_table.h"

struct command_line {
	char **argument;
	size_t count;
	char **owned; /* the arguments that are to be freed */
	size_t owned_count;
	char *focus, *ignore; /* regular expressions, joined with | */
};

void shell_complain(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
}

/* ---- the command line ------------------------------------------------------------------------ */

static void put(struct command_line *line, const char *argument)
{
	line->argument[line->count++] = (char *)argument;
}

/* "--name=value" */
static int put_option(struct command_line *line, const char *name, const char *value)
{
	char *argument;

	if (asprintf(&argument, "--%s=%s", name, value) < 0)
		return -ENOMEM;
	line->owned[line->owned_count++] = argument;
	put(line, argument);
	return 0;
}

static int join(char **text, const char *more)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *text ? *text : "", *text ? "|" : "", more) < 0)
		return -ENOMEM;
	free(*text);
	*text = joined;
	return 0;
}

/* Below zero, too, as in pprof: there a view shows all, and by -1 what it does by itself. */
static bool is_number(const char *word)
{
	word += *word == '-';
	return *word && word[strspn(word, "0123456789")] == '\0';
}

static int put_word(struct command_line *line, const char *word)
{
	if (strncmp(word, "--", 2) == 0)
		put(line, word);
	else if (strcmp(word, "-cum") == 0 || strcmp(word, "-flat") == 0)
		return put_option(line, "sort", word + 1);
	else if (is_number(word))
		return put_option(line, "limit", word);
	else if (word[0] == '-' && word[1])
		return join(&line->ignore, word + 1);
	else
		return join(&line->focus, word);
	return 0;
}

/* True if the option's value is the next word: "--sort cum". */
static bool wants_next(const char *word)
{
	const char *letters;
	const struct option *option = strncmp(word, "--", 2)
					      ? NULL
					      : hi_option_find(report_option_table_get(&letters),
							       word + 2, strlen(word + 2));
	return option && option->has_arg == required_argument;
}

static int put_filter(struct command_line *line, const char *name, const char *regex)
{
	if (!regex)
		return 0;
	if (!shell_settings_find(name, strlen(name))) {
		shell_complain("there is no --%s here, which \"%s\" would be for", name, regex);
		return -EINVAL;
	}
	return put_option(line, name, regex);
}

const struct renderer *shell_renderer(const char *name)
{
	const char *letters;
	const struct option *option =
		hi_option_find(report_option_table_get(&letters), name, strlen(name));

	return option && option->val >= OPTION_RENDERER ? &renderers[option->val - OPTION_RENDERER]
							: NULL;
}

static int put_view(const struct shell_view *view, struct command_line *line)
{
	const struct renderer *renderer = shell_renderer(view->name);
	size_t next = 0;
	int err = 0;

	if (renderer->argument && view->word_count == 0) {
		shell_complain("%s wants an argument: %s %s", view->name, view->name,
			       renderer->argument);
		return -EINVAL;
	}
	if (renderer->argument)
		err = put_option(line, renderer->name, view->word[next++]);
	else if (asprintf(&line->owned[line->owned_count], "--%s", renderer->name) < 0)
		return -ENOMEM;
	else
		put(line, line->owned[line->owned_count++]);
	if (!err && view->limit)
		err = put_option(line, "limit", view->limit);
	while (!err && next < view->word_count) {
		const char *word = view->word[next++];
		err = put_word(line, word);
		if (wants_next(word) && next < view->word_count)
			put(line, view->word[next++]);
	}
	/* As in pprof: what is chosen of tags are tags. */
	const bool is_tags = strcmp(renderer->name, "tags") == 0;
	if (!err)
		err = put_filter(line, is_tags ? "tagfocus" : "focus", line->focus);
	return err ? err : put_filter(line, is_tags ? "tagignore" : "ignore", line->ignore);
}

static int command_line_fill(const struct shell_view *view, struct command_line *line)
{
	int err;

	put(line, view->command);
	for (size_t i = 0; i < view->settings->fixed_count; i++)
		put(line, view->settings->fixed[i]);
	for (size_t i = 0; i < view->settings->count; i++)
		put(line, view->settings->argument[i]);
	err = put_view(view, line);
	put(line, "--");
	for (size_t i = 0; i < view->settings->file_count; i++)
		put(line, view->settings->file[i]);
	line->argument[line->count] = NULL;
	return err;
}

static void command_line_close(struct command_line *line)
{
	while (line->owned_count)
		free(line->owned[--line->owned_count]);
	free(line->owned);
	free(line->argument);
	free(line->focus);
	free(line->ignore);
}

static int command_line_open(const struct shell_view *view, struct command_line *out_line)
{
	const size_t room = view->settings->fixed_count + view->settings->count +
			    view->settings->file_count + view->word_count + 16;
	struct command_line line = {.argument = calloc(room, sizeof(*line.argument)),
				    .owned = calloc(room, sizeof(*line.owned))};
	int err = line.argument && line.owned ? 0 : -ENOMEM;

	if (!err)
		err = command_line_fill(view, &line);
	if (err == -ENOMEM)
		shell_complain("out of memory");
	if (err)
		command_line_close(&line);
	else
		*out_line = line;
	return err;
}

/*
 * Parses the command line. The caller frees the result, which must not outlive the command line.
 * NULL: the error message was already printed.
 */
static struct report_options *parse(const struct command_line *line)
{
	struct report_options *options = malloc(sizeof(*options));

	if (!options)
		shell_complain("out of memory");
	else if (!report_options_parse((int)line->count, line->argument, options))
		return options;
	free(options);
	return NULL;
}

bool shell_view_is_right(const struct shell_view *view)
{
	struct command_line line;

	if (command_line_open(view, &line))
		return false;
	struct report_options *options = parse(&line);
	const bool is_right = options != NULL;
	free(options);
	command_line_close(&line);
	return is_right;
}

/* ---- the process ----------------------------------------------------------------------------- */

static int await(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status) == 0 ? 0 : -EIO;
	if (WTERMSIG(status) == SIGINT)
		shell_complain("\nended");
	else
		shell_complain("the view ended by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	return -EINTR;
}

/* Runs in the child process. It frees nothing that the shell holds: the exit does that. */
__attribute__((noreturn)) static void make_view(const struct shell_view *view,
						const struct report_options *options)
{
	signal(SIGINT, SIG_DFL);
	if (view->output_fd >= 0 && dup2(view->output_fd, STDOUT_FILENO) < 0) {
		shell_complain("cannot write: %s", strerror(errno));
		_exit(1);
	}
	const int err = view->show(options, view->profile);
	_exit(err || fflush(stdout) ? 1 : 0);
}

static int run(const struct shell_view *view, const struct report_options *options)
{
	int err;

	fflush(NULL);
	void (*const before)(int) = signal(SIGINT, SIG_IGN);
	const pid_t child = fork();
	if (child == 0)
		make_view(view, options);
	err = child < 0 ? -errno : await(child);
	signal(SIGINT, before);
	if (child < 0)
		shell_complain("cannot start a process: %s", strerror(-err));
	return err;
}

int shell_view_run(const struct shell_view *view)
{
	struct command_line line;
	int err = command_line_open(view, &line);

	if (err)
		return err;
	struct report_options *options = parse(&line);
	err = options ? run(view, options) : -EINVAL;
	free(options);
	command_line_close(&line);
	return err;
}
