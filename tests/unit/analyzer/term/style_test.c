/* SPDX-License-Identifier: MIT */
/* style_test.c - colour at a terminal that can show it, and in no other place. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>

#include "style.h"

#define MORE "\033[38;5;202m"
#define LESS "\033[38;5;33m"
#define END "\033[0m"

/* The master of a new pseudo-terminal; out_slave: the terminal itself. */
static int open_terminal(FILE **out_slave)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master < 0)
		SKIP("no pseudo-terminals here: %s", strerror(errno));
	CHECK_EQ(grantpt(master), 0);
	CHECK_EQ(unlockpt(master), 0);
	*out_slave = fopen(ptsname(master), "w");
	CHECK(*out_slave);
	return master;
}

static void set_environment(const char *term, const char *no_color)
{
	unsetenv("TERM");
	unsetenv("NO_COLOR");
	if (term)
		setenv("TERM", term, 1);
	if (no_color)
		setenv("NO_COLOR", no_color, 1);
}

static void check_written(int from, FILE *to, enum style_when when, const char *expected)
{
	char text[256];

	style_use(to, when);
	style_print(STYLE_MORE, to, "%4d", 7);
	style_print(STYLE_PLAIN, to, "|");
	fflush(to);
	const ssize_t got = read(from, text, sizeof(text) - 1);
	CHECK(got > 0);
	text[got] = '\0';
	CHECK_STR(text, expected);
}

UNIT_TEST(a_terminal)
{
	FILE *terminal;
	const int master = open_terminal(&terminal);

	set_environment("xterm", NULL);
	check_written(master, terminal, STYLE_AUTO, MORE "   7" END "|");
	check_written(master, terminal, STYLE_NEVER, "   7|");
	set_environment("xterm", "");
	check_written(master, terminal, STYLE_AUTO, MORE "   7" END "|");
	set_environment("xterm", "1");
	check_written(master, terminal, STYLE_AUTO, "   7|");
	check_written(master, terminal, STYLE_ALWAYS, MORE "   7" END "|");
	set_environment("dumb", NULL);
	check_written(master, terminal, STYLE_AUTO, "   7|");
	set_environment(NULL, NULL);
	check_written(master, terminal, STYLE_AUTO, "   7|");
	fclose(terminal);
	close(master);
}

UNIT_TEST(a_pipe)
{
	int ends[2];

	CHECK_EQ(pipe(ends), 0);
	FILE *out = fdopen(ends[1], "w");
	set_environment("xterm", NULL);
	check_written(ends[0], out, STYLE_AUTO, "   7|");
	check_written(ends[0], out, STYLE_ALWAYS, MORE "   7" END "|");
	fclose(out);
	close(ends[0]);
}

UNIT_TEST(never_a_file)
{
	char text[64];
	FILE *file = tmpfile();

	CHECK(file);
	style_use(file, STYLE_ALWAYS);
	style_print(STYLE_HEADING, file, "heading");
	rewind(file);
	CHECK(fgets(text, sizeof(text), file));
	CHECK_STR(text, "heading");
	fclose(file);
}

/* What a view writes into memory first, such as the text in a picture. */
UNIT_TEST(no_other_stream)
{
	char *text;
	size_t size;
	FILE *memory = open_memstream(&text, &size), *terminal;
	const int master = open_terminal(&terminal);

	set_environment("xterm", NULL);
	style_use(terminal, STYLE_ALWAYS);
	style_print(STYLE_LESS, memory, "-1");
	fclose(memory);
	CHECK_STR(text, "-1");
	free(text);
	style_use(NULL, STYLE_ALWAYS);
	style_print(STYLE_LESS, terminal, "-1");
	fflush(terminal);
	char shown[16] = "";
	CHECK_EQ(read(master, shown, sizeof(shown) - 1), 2);
	CHECK_STR(shown, "-1");
	fclose(terminal);
	close(master);
}

UNIT_TEST(signs)
{
	FILE *terminal;
	const int master = open_terminal(&terminal);
	char text[64] = "";

	CHECK_EQ(style_of_change(3, true), STYLE_MORE);
	CHECK_EQ(style_of_change(-3, true), STYLE_LESS);
	CHECK_EQ(style_of_change(0.4, true), STYLE_PLAIN);
	CHECK_EQ(style_of_change(-0.4, true), STYLE_PLAIN);
	CHECK_EQ(style_of_change(NAN, true), STYLE_PLAIN);
	CHECK_EQ(style_of_change(3, false), STYLE_PLAIN);
	style_use(terminal, STYLE_ALWAYS);
	style_print(style_of_change(-3, true), terminal, "-3");
	fflush(terminal);
	CHECK(read(master, text, sizeof(text) - 1) > 0);
	CHECK_STR(text, LESS "-3" END);
	fclose(terminal);
	close(master);
}

UNIT_TEST(words)
{
	enum style_when when = STYLE_ALWAYS;

	CHECK_EQ(style_when_parse("never", &when), 0);
	CHECK_EQ(when, STYLE_NEVER);
	CHECK_EQ(style_when_parse("auto", &when), 0);
	CHECK_EQ(when, STYLE_AUTO);
	CHECK_EQ(style_when_parse("always", &when), 0);
	CHECK_EQ(when, STYLE_ALWAYS);
	when = STYLE_NEVER;
	CHECK_EQ(style_when_parse("Always", &when), -EINVAL);
	CHECK_EQ(style_when_parse("", &when), -EINVAL);
	CHECK_EQ(when, STYLE_NEVER);
}

UNIT_MAIN()
