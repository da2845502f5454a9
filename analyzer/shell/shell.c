/* SPDX-License-Identifier: MIT */
/*
 * shell.c - see shell.h. A line begins with a command of the table in this file, the name of a
 * view, or an option. Start at shell_run().
 */
#include "shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "browser.h"
#include "functions.h"
#include "hi_analyzer.h"
#include "hi_options.h"
#include "line_editor.h"
#include "output_file.h"
#include "report_option_table.h"
#include "shell_assign.h"
#include "shell_completion.h"
#include "shell_settings.h"
#include "shell_view.h"
#include "shell_words.h"

#define TOP_ROWS "10"

struct shell {
	const struct report_options *start;
	struct profile *profile;
	shell_show *show;
	struct shell_settings settings;
	struct functions functions; /* for completion */
	struct line_editor *editor;
	bool is_over;
};

struct command {
	const char *name, *argument, *help;
	void (*run)(struct shell *shell, const struct shell_words *words);
};

/* ---- views ----------------------------------------------------------------------------------- */

static struct shell_view view_of(const struct shell *shell, const char *name)
{
	return (struct shell_view){.command = shell->start->command,
				   .profile = shell->profile,
				   .show = shell->show,
				   .settings = &shell->settings,
				   .name = name,
				   .output_fd = -1};
}

static void run_view(const struct shell *shell, const struct shell_words *words, const char *name,
		     const char *limit)
{
	struct shell_view view = view_of(shell, name);
	struct output_file output = {0};
	int err;

	view.limit = limit;
	view.word = words->word + 1;
	view.word_count = words->count - 1;
	if (!words->output) {
		shell_view_run(&view);
		return;
	}
	err = output_open(&output, words->output);
	if (err) {
		shell_complain("cannot write %s: %s", words->output, strerror(-err));
		return;
	}
	view.output_fd = fileno(output.stream);
	if (shell_view_run(&view)) {
		output_abandon(&output);
		return;
	}
	err = output_close(&output);
	if (err)
		shell_complain("cannot write %s: %s", words->output, strerror(-err));
}

static void run_top(struct shell *shell, const struct shell_words *words)
{
	const char *limit = shell_settings_value(&shell->settings, shell_settings_find("limit", 5));
	static char rows[] = TOP_ROWS;
	struct shell_words shown = *words;

	for (size_t i = 1; i < shown.count; i++) {
		if (strcmp(shown.word[i], "-1") == 0)
			shown.word[i] = rows;
	}
	run_view(shell, &shown, "text", limit && strcmp(limit, "-1") != 0 ? NULL : TOP_ROWS);
}

/* first: the first word after the view's name */
static void show_in_browser(struct shell *shell, const struct shell_words *words, const char *name,
			    size_t first)
{
	struct shell_view view = view_of(shell, name);
	const struct renderer *renderer = shell_renderer(view.name);
	char path[BROWSER_PATH_MAX];

	if (!renderer) {
		shell_complain("no view is called \"%s\"; help lists them", view.name);
		return;
	}
	view.word = words->word + first;
	view.word_count = words->count > first ? words->count - first : 0;
	view.output_fd = browser_file(renderer->ending ? renderer->ending : ".txt", path);
	if (view.output_fd < 0) {
		shell_complain("cannot write a temporary file: %s", strerror(-view.output_fd));
		return;
	}
	const int err = shell_view_run(&view);
	close(view.output_fd);
	if (err)
		unlink(path);
	else
		printf("%s: %s\n", path,
		       browser_open(path)
			       ? "written; there is no display and no xdg-open to show it"
			       : "written, and shown by xdg-open");
}

static void run_web(struct shell *shell, const struct shell_words *words)
{
	show_in_browser(shell, words, words->count > 1 ? words->word[1] : "svg", 2);
}

/* As in pprof: a page for a browser, unless it goes into a file. */
static void run_weblist(struct shell *shell, const struct shell_words *words)
{
	if (words->output)
		run_view(shell, words, words->word[0], NULL);
	else
		show_in_browser(shell, words, words->word[0], 1);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void run_options(struct shell *shell, const struct shell_words *words)
{
	(void)words;
	shell_settings_print(&shell->settings, sample_type_shown_first(shell->profile), stdout);
}

/* What pprof clears by one sign. */
static void run_clear(struct shell *shell, const struct shell_words *words)
{
	static const char *const cleared[] = {"focus", "ignore", "hide", "tagfocus", "tagignore"};

	(void)words;
	for (size_t i = 0; i < sizeof(cleared) / sizeof(cleared[0]); i++)
		shell_settings_unset(&shell->settings,
				     shell_settings_find(cleared[i], strlen(cleared[i])));
}

static void run_unset(struct shell *shell, const struct shell_words *words)
{
	for (size_t i = 1; i < words->count; i++) {
		const struct option *option =
			shell_settings_find(words->word[i], strlen(words->word[i]));
		if (!option || !shell_settings_unset(&shell->settings, option))
			shell_complain("%s is not set", words->word[i]);
	}
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void run_history(struct shell *shell, const struct shell_words *words)
{
	(void)words;
	line_editor_print_history(shell->editor);
}

static void run_quit(struct shell *shell, const struct shell_words *words)
{
	(void)words;
	shell->is_over = true;
}

static void run_help(struct shell *shell, const struct shell_words *words);

static const struct command commands[] = {
	{"top", "[N] [REGEX...]", "the first rows of text, 10 if nothing else is said", run_top},
	{"web", "[VIEW]", "the call graph, or another view, in a browser", run_web},
	{"weblist", "REGEX", "source with instructions, a page in a browser, or > FILE.html",
	 run_weblist},
	{"options", "", "all that can be set, and what it is set to", run_options},
	{"o", "", "the same", run_options},
	{"unset", "OPTION...", "what was set is no longer in force; so is OPTION=", run_unset},
	{":", "", "focus, ignore, hide, tagfocus and tagignore are no longer in force", run_clear},
	{"history", "", "lines that were typed", run_history},
	{"help", "[WORD]", "this list, or what a command, a view or an option is for", run_help},
	{"quit", "", "leave; so do exit and Ctrl-D", run_quit},
	{"exit", "", "leave", run_quit},
	{"q", "", "leave", run_quit},
	{NULL, NULL, NULL, NULL},
};

static const struct command *command_of(const char *name)
{
	const struct command *command = commands;

	while (command->name && strcmp(command->name, name) != 0)
		command++;
	return command->name ? command : NULL;
}

static void complain_of_name(const char *what, const char *name)
{
	struct hi_nearest nearest = {.typed = name, .size = strlen(name)};
	const char *letters;

	for (const struct command *command = commands; command->name; command++)
		hi_nearest_look(&nearest, command->name);
	for (const struct option *option = report_option_table_get(&letters); option->name;
	     option++) {
		if (option->val >= OPTION_RENDERER ||
		    shell_settings_find(option->name, strlen(option->name)))
			hi_nearest_look(&nearest, option->name);
	}
	shell_complain("%s \"%s\"; %s%s%s", what, name,
		       nearest.name ? "did you mean " : "help lists what there is",
		       nearest.name ? nearest.name : "", nearest.name ? "?" : "");
}

static void print_help_line(const char *name, const char *argument, const char *help)
{
	char words[64];

	snprintf(words, sizeof(words), "%s %s", name, argument ? argument : "");
	printf("  %-22s %s\n", words, help);
}

/* Prints the part of report's help about an option: its line, and the lines that continue it. */
static bool print_option_help(const char *name)
{
	const char *text = hi_analyzer_report_help(), *line = text, *end;
	const size_t size = strlen(name);
	bool is_found = false;

	for (; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		const char *found = strstr(line, "--");
		const bool is_option =
			found && found < end && strspn(line, " ") < 8 && line[0] == ' ';
		if (is_found && (is_option || line == end || *line != ' '))
			return true;
		is_found |= is_option && strncmp(found + 2, name, size) == 0 &&
			    strchr(" \n", found[2 + size]);
		if (is_found)
			printf("%.*s\n", (int)(end - line), line);
	}
	return is_found;
}

static void help_on(const char *name)
{
	const struct renderer *renderer = shell_renderer(name);
	const struct option *option = shell_settings_find(name, strlen(name));

	const struct command *command = command_of(name);

	if (command)
		print_help_line(command->name, command->argument, command->help);
	else if (renderer)
		print_help_line(name, renderer->argument, renderer->help);
	else if (!option)
		complain_of_name("there is no", name);
	else if (!print_option_help(option->name))
		printf("  %s\n", option->name);
}

static void run_help(struct shell *shell, const struct shell_words *words)
{
	const char *letters;
	size_t column = 0;

	(void)shell;
	if (words->count > 1) {
		help_on(words->word[1]);
		return;
	}
	printf("Commands:\n");
	for (const struct command *command = commands; command->name; command++)
		print_help_line(command->name, command->argument, command->help);
	printf("Views; after each may stand a number of rows, a REGEX to focus on, -REGEX to "
	       "ignore, and > FILE:\n");
	for (const struct renderer *renderer = renderers; renderer->name; renderer++)
		print_help_line(renderer->name, renderer->argument, renderer->help);
	printf("Options, in force from OPTION=VALUE, or OPTION, to OPTION=; for one view "
	       "--OPTION=VALUE after it:\n ");
	for (const struct option *option = report_option_table_get(&letters); option->name;
	     option++) {
		if (shell_settings_find(option->name, strlen(option->name)) != option)
			continue;
		column += strlen(option->name) + 2;
		printf("%s %s%s", column > 90 ? "\n " : "", option->name,
		       option->has_arg == required_argument ? "=" : "");
		column = column > 90 ? strlen(option->name) + 2 : column;
	}
	printf("\n");
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* A command, or the view of that name. False if there is none. */
static bool run_command(struct shell *shell, const struct shell_words *words)
{
	const struct command *command = command_of(words->word[0]);
	const struct renderer *renderer = shell_renderer(words->word[0]);

	if (command)
		command->run(shell, words);
	else if (renderer)
		run_view(shell, words, renderer->name, NULL);
	return command || renderer;
}

/* "top20" is "top 20". False if the line is none of these. */
static bool run_with_number(struct shell *shell, const struct shell_words *words)
{
	struct shell_words split = {.output = words->output};
	const size_t size = strcspn(words->word[0], "0123456789");
	char *number = words->word[0] + size, name[32];

	if (!*number || number[strspn(number, "0123456789")] || size >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)size, words->word[0]);
	split.word[split.count++] = name;
	split.word[split.count++] = number;
	for (size_t i = 1; i < words->count; i++)
		split.word[split.count++] = words->word[i];
	return run_command(shell, &split);
}

static void run_words(struct shell *shell, const struct shell_words *words)
{
	const char *name = words->word[0];

	const struct shell_assign assign = {.settings = &shell->settings,
					    .view = view_of(shell, "text")};

	if (!run_command(shell, words) && !shell_assign_type(&assign, words) &&
	    !shell_assign_setting(&assign, words) && !run_with_number(shell, words))
		complain_of_name("unknown command", name);
}

static void run_line(struct shell *shell, const char *line)
{
	struct shell_words words;
	const char *complaint = "out of memory";

	if (shell_words_split(line, &words, &complaint)) {
		shell_complain("%s", complaint);
		return;
	}
	if (words.count)
		run_words(shell, &words);
	else if (words.output)
		shell_complain("what is to be written? A view comes first: svg > FILE");
	fflush(stdout);
	shell_words_close(&words);
}

/* The path of the history file; NULL = none. The caller frees it. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int size = -1;

	if (state && *state == '/')
		size = asprintf(&path, "%s/heapinject/history", state);
	else if (home && *home == '/')
		size = asprintf(&path, "%s/.local/state/heapinject/history", home);
	return size < 0 ? NULL : path;
}

static int converse(struct shell *shell)
{
	const char *names[sizeof(commands) / sizeof(commands[0])] = {NULL};
	struct shell_completion completion = {.functions = &shell->functions, .commands = names};
	char *history = history_path();
	const struct line_editor_setup setup = {.prompt = "(heapinject) ",
						.history = history,
						.complete = shell_complete,
						.context = &completion};
	const char *line;
	int err;

	for (size_t i = 0; commands[i].name; i++)
		names[i] = commands[i].name;
	err = line_editor_open(&setup, &shell->editor);
	if (!err) {
		printf("Type \"help\" for what there is, \"quit\" to leave.\n");
		while (!shell->is_over && (line = line_editor_read(shell->editor)))
			run_line(shell, line);
		if (!shell->is_over)
			putchar('\n');
		line_editor_close(shell->editor);
	}
	free(history);
	return err;
}

bool shell_is_wanted(const struct report_options *options)
{
	bool reads_terminal = false;

	for (size_t i = 0; i < options->file_count; i++)
		reads_terminal |= strcmp(options->file[i], "-") == 0;
	return !options->has_view && !options->output && !reads_terminal && isatty(STDIN_FILENO) &&
	       isatty(STDOUT_FILENO);
}

int shell_run(const struct report_options *options, struct profile *profile, shell_show *show)
{
	struct shell shell = {.start = options, .profile = profile, .show = show};
	int err = functions_open(profile, &shell.functions);

	if (!err) {
		err = shell_settings_open(options->argc, options->argv, &shell.settings);
		if (!err)
			err = converse(&shell);
		shell_settings_close(&shell.settings);
		functions_close(&shell.functions);
	}
	if (err)
		report_complain(options, "%s", strerror(-err));
	return err;
}
