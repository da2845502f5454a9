/* SPDX-License-Identifier: MIT */
/*
 * line_editor.c - see line_editor.h.
 *
 * While a line is typed the terminal does not turn keys into signals, so Ctrl-C is a key like
 * others. Otherwise libedit would send the signal on to the whole process group, which may contain
 * other processes.
 */
#include "line_editor.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "shared_library.h"
#include "table.h"

#define HISTORY_LINES 1000
#define HISTORY_BYTES_MAX (4 << 20) /* this program writes no larger file */
#define SHOWN_MAX 100u              /* candidates listed at a time */
#define LINE_MAX_BYTES 65536

struct line_editor {
	const struct line_editor_setup *setup;
	EditLine *edit;
	History *history;
	bool is_given_up;
	char line[LINE_MAX_BYTES];
};

/* ---- completion ------------------------------------------------------------------------------ */

int line_candidates_add(struct line_candidates *candidates, const char *text)
{
	char *copy = strdup(text);

	if (!copy || array_reserve(&candidates->text, &candidates->room, candidates->count,
				   sizeof(*candidates->text))) {
		free(copy);
		return -ENOMEM;
	}
	candidates->text[candidates->count++] = copy;
	return 0;
}

static void candidates_close(struct line_candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		free(candidates->text[i]);
	free(candidates->text);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static size_t common_length(const struct line_candidates *candidates)
{
	size_t length = strlen(candidates->text[0]);

	for (size_t i = 1; i < candidates->count; i++) {
		size_t same = 0;
		while (same < length && candidates->text[i][same] == candidates->text[0][same])
			same++;
		length = same;
	}
	/* Do not cut inside a UTF-8 character. */
	while (length && ((unsigned char)candidates->text[0][length] & 0xc0) == 0x80)
		length--;
	return length;
}

static void list_candidates(struct line_candidates *candidates)
{
	putchar('\n');
	for (size_t i = 0; i < candidates->count && i < SHOWN_MAX; i++)
		printf("%s\n", candidates->text[i]);
	if (candidates->count > SHOWN_MAX)
		printf("... and %zu more\n", candidates->count - SHOWN_MAX);
	fflush(stdout);
}

/*
 * Inserts the common prefix of all candidates. If it adds nothing to the word, lists the
 * candidates.
 */
static unsigned char insert(EditLine *edit, struct line_candidates *candidates, size_t typed)
{
	const size_t length = common_length(candidates);
	const bool is_whole =
		candidates->count == 1 && length && !strchr("=/", candidates->text[0][length - 1]);
	char *text;

	if (length <= typed && candidates->count > 1) {
		list_candidates(candidates);
		return CC_REDISPLAY;
	}
	if (asprintf(&text, "%.*s%s", (int)(length - typed), candidates->text[0] + typed,
		     is_whole ? " " : "") < 0)
		return CC_ERROR;
	const int failed = *text ? el_insertstr(edit, text) : 0;
	free(text);
	return failed ? CC_ERROR : CC_REFRESH;
}

static unsigned char complete(EditLine *edit, wint_t key)
{
	struct line_candidates candidates = {0};
	struct line_editor *editor;
	unsigned char action = CC_ERROR;
	const LineInfo *info = el_line(edit);
	char *line = strndup(info->buffer, (size_t)(info->cursor - info->buffer));

	(void)key;
	el_get(edit, EL_CLIENTDATA, &editor);
	if (line && !editor->setup->complete(editor->setup->context, line, &candidates) &&
	    candidates.count) {
		qsort(candidates.text, candidates.count, sizeof(*candidates.text), compare_texts);
		action = insert(edit, &candidates, strlen(line) - candidates.start);
	}
	candidates_close(&candidates);
	free(line);
	return action;
}

static unsigned char give_up(EditLine *edit, wint_t key)
{
	struct line_editor *editor;
	const LineInfo *info = el_line(edit);
	const int length = (int)(info->lastchar - info->buffer);

	(void)key;
	el_get(edit, EL_CLIENTDATA, &editor);
	el_cursor(edit, length);
	el_deletestr(edit, length);
	editor->is_given_up = true;
	fputs("^C\n", stdout);
	fflush(stdout);
	return CC_NEWLINE;
}

/* ---- history --------------------------------------------------------------------------------- */

/*
 * Opens the history file, which must be a regular file of the effective user. So root's history
 * cannot end up in a file of a user, and nobody can provide a history for another user to read.
 */
static FILE *open_history(const char *path, int flags, const char *mode)
{
	const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat status;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    status.st_size > HISTORY_BYTES_MAX || fchmod(fd, 0600)) {
		close(fd);
		return NULL;
	}
	FILE *file = fdopen(fd, mode);
	if (!file)
		close(fd);
	return file;
}

static bool is_own(const char *directory)
{
	struct stat status;

	return stat(directory, &status) == 0 && status.st_uid == geteuid();
}

/*
 * Creates the missing directories of a path, each accessible only to the user, below directories
 * that the user owns. True if the user owns the last one.
 */
static bool make_directories(const char *path)
{
	char *copy = strdup(path);
	bool owned = false;

	for (char *slash = copy ? strchr(copy + 1, '/') : NULL; slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (owned)
			mkdir(copy, 0700);
		owned = is_own(copy);
		*slash = '/';
	}
	free(copy);
	return owned;
}

/*
 * Loads the history, one line of the file per entry. The format is our own, because libedit cannot
 * read its own format from a descriptor.
 */
static void load_history(struct line_editor *editor)
{
	FILE *file =
		editor->setup->history ? open_history(editor->setup->history, O_RDONLY, "r") : NULL;
	HistEvent event;

	while (file && fgets(editor->line, sizeof(editor->line), file)) {
		editor->line[strcspn(editor->line, "\n")] = '\0';
		history(editor->history, &event, H_ENTER, editor->line);
	}
	if (file)
		fclose(file);
}

static void print_history(struct line_editor *editor, FILE *file)
{
	HistEvent event;

	for (int found = history(editor->history, &event, H_LAST); found >= 0;
	     found = history(editor->history, &event, H_PREV))
		fprintf(file, "%.*s\n", (int)strcspn(event.str, "\n"), event.str);
}

static void save_history(struct line_editor *editor)
{
	if (!editor->setup->history || !make_directories(editor->setup->history))
		return;
	FILE *file = open_history(editor->setup->history, O_WRONLY | O_CREAT, "w");
	if (!file)
		return;
	if (!ftruncate(fileno(file), 0))
		print_history(editor, file);
	fclose(file);
}

void line_editor_print_history(struct line_editor *editor)
{
	print_history(editor, stdout);
}

/* ---- the editor ------------------------------------------------------------------------------ */

static char *prompt_of(EditLine *edit)
{
	struct line_editor *editor;
	static char prompt[64];

	el_get(edit, EL_CLIENTDATA, &editor);
	snprintf(prompt, sizeof(prompt), "%s", editor->setup->prompt);
	return prompt;
}

static void configure(struct line_editor *editor)
{
	EditLine *edit = editor->edit;
	HistEvent event;

	history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
	history(editor->history, &event, H_SETUNIQUE, 1);
	el_set(edit, EL_CLIENTDATA, editor);
	el_set(edit, EL_PROMPT, prompt_of);
	el_set(edit, EL_EDITOR, "emacs");
	el_set(edit, EL_HIST, history, editor->history);
	/*
	 * Register wide strings: libedit keeps them as they are. Of narrow strings it makes copies
	 * that it does not free.
	 */
	el_wset(edit, EL_ADDFN, L"heapinject-complete", L"complete the word", complete);
	el_wset(edit, EL_ADDFN, L"heapinject-give-up", L"give the line up", give_up);
	el_set(edit, EL_BIND, "^I", "heapinject-complete", NULL);
	el_set(edit, EL_BIND, "^C", "heapinject-give-up", NULL);
	el_set(edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_set(edit, EL_SETTY, "-d", "-isig", NULL);
}

/*
 * libc loads a library for each character set but these two. Where that is not possible, characters
 * of other sets are bytes.
 */
static void set_character_set(void)
{
	setlocale(LC_CTYPE, "");
	if (!shared_library_is_loadable() && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C");
}

int line_editor_open(const struct line_editor_setup *setup, struct line_editor **out_editor)
{
	struct line_editor *editor = calloc(1, sizeof(*editor));

	if (!editor)
		return -ENOMEM;
	set_character_set();
	editor->setup = setup;
	editor->history = history_init();
	editor->edit = editor->history ? el_init("heapinject", stdin, stdout, stderr) : NULL;
	if (!editor->edit) {
		if (editor->history)
			history_end(editor->history);
		free(editor);
		return -ENOMEM;
	}
	configure(editor);
	load_history(editor);
	*out_editor = editor;
	return 0;
}

const char *line_editor_read(struct line_editor *editor)
{
	HistEvent event;
	int count = 0;

	editor->is_given_up = false;
	const char *typed = el_gets(editor->edit, &count);
	if (editor->is_given_up)
		return "";
	if (!typed || count <= 0)
		return NULL;
	snprintf(editor->line, sizeof(editor->line), "%s", typed);
	editor->line[strcspn(editor->line, "\r\n")] = '\0';
	if (editor->line[strspn(editor->line, " \t")])
		history(editor->history, &event, H_ENTER, editor->line);
	return editor->line;
}

void line_editor_close(struct line_editor *editor)
{
	save_history(editor);
	el_end(editor->edit);
	history_end(editor->history);
	free(editor);
}
