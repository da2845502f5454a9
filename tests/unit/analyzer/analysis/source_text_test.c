/* SPDX-License-Identifier: MIT */
/* source_text_test.c - sources where they are sought, and what is shown of them. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "source_text.h"

static char directory[] = "/tmp/source_text_test.XXXXXX";

static char *path_of(const char *name)
{
	char *path;

	CHECK(asprintf(&path, "%s/%s", directory, name) > 0);
	return path;
}

static void write_file(const char *name, const char *bytes, size_t size)
{
	char *path = path_of(name);
	FILE *file = fopen(path, "w");

	CHECK(file);
	CHECK_EQ(fwrite(bytes, 1, size, file), size);
	fclose(file);
	free(path);
}

static void make_directory(const char *name)
{
	char *path = path_of(name);

	CHECK_EQ(mkdir(path, 0700), 0);
	free(path);
}

static void set_up(void)
{
	CHECK(mkdtemp(directory));
	make_directory("src");
	make_directory("src/lib");
	write_file("src/lib/a.c", "one\n\ttwo \r\na\tb\n\nfive", 20);
}

static void tear_down(void)
{
	char *command;

	CHECK(asprintf(&command, "rm -rf %s", directory) > 0);
	CHECK_EQ(system(command), 0);
	free(command);
}

/* Found, as the file with these lines; or not. */
static void check_found(const char *path, const char *trim, const char *file, bool wanted)
{
	char *full = path ? path_of(path) : NULL;
	const struct source_places places = {.path = full, .trim = trim};
	struct source_text text;
	const int err = source_text_open(&places, file, &text);

	if ((err == 0) != wanted)
		UNIT_FAIL("%s in %s: error %d", file, path ? path : "nothing", err);
	if (!err) {
		CHECK_EQ(text.count, 5);
		source_text_close(&text);
	} else {
		CHECK_EQ(err, -ENOENT);
	}
	free(full);
}

static void check_line(const struct source_text *text, size_t number, const char *wanted)
{
	char *line = source_text_line(text, number);

	CHECK(line);
	CHECK_STR(line, wanted);
	free(line);
}

UNIT_TEST(places)
{
	set_up();
	char *absolute = path_of("src/lib/a.c");
	check_found(NULL, NULL, absolute, true);
	check_found(NULL, NULL, "/elsewhere/src/lib/a.c", false);
	check_found("", NULL, "/elsewhere/src/lib/a.c", true);
	check_found("src", NULL, "/elsewhere/src/lib/a.c", true);
	check_found("src/lib", NULL, "/elsewhere/src/lib/a.c", true);
	check_found("src/lib", NULL, "a.c", true);
	check_found("src", NULL, "a.c", false);
	check_found("src", "/elsewhere/src", "/elsewhere/src/lib/a.c", true);
	check_found("src", "/one:/elsewhere/src/", "/elsewhere/src/lib/a.c", true);
	check_found("src", "/elsewhere/sr", "/elsewhere/src/nothing.c", false);
	check_found("nowhere:/", NULL, absolute, true);
	CHECK_EQ(chdir(directory), 0);
	check_found(NULL, NULL, "src/lib/a.c", true);
	check_found(NULL, "/elsewhere", "/elsewhere/src/lib/a.c", true);
	check_found(NULL, "/else", "/elsewhere/src/lib/a.c", false);
	free(absolute);
	tear_down();
}

UNIT_TEST(lines)
{
	struct source_text text;

	set_up();
	char *path = path_of("src/lib/a.c");
	CHECK_EQ(source_text_open(&(struct source_places){0}, path, &text), 0);
	CHECK_STR(text.path, path);
	CHECK(text.modified_unix_ns > UINT64_C(1500000000) * 1000000000);
	check_line(&text, 1, "one");
	check_line(&text, 2, "        two");
	check_line(&text, 3, "a       b");
	check_line(&text, 4, "");
	check_line(&text, 5, "five");
	CHECK(!source_text_line(&text, 0) && !source_text_line(&text, 6) &&
	      !source_text_line(&text, SIZE_MAX));
	source_text_close(&text);
	free(path);
	tear_down();
}

UNIT_TEST(hostile_files)
{
	struct source_text text;

	set_up();
	write_file("src/odd", "a\0b\x1b[2J\n\xff\n", 10);
	char *odd = path_of("src/odd"), *empty = path_of("src/empty"), *pipe = path_of("src/pipe"),
	     *big = path_of("src/big");
	CHECK_EQ(source_text_open(&(struct source_places){0}, odd, &text), 0);
	check_line(&text, 1, "a?b?[2J");
	check_line(&text, 2, "?");
	source_text_close(&text);
	write_file("src/empty", "", 0);
	CHECK_EQ(source_text_open(&(struct source_places){0}, empty, &text), 0);
	CHECK_EQ(text.count, 0);
	source_text_close(&text);
	CHECK_EQ(mkfifo(pipe, 0600), 0);
	CHECK_EQ(source_text_open(&(struct source_places){0}, pipe, &text), -ENOENT);
	CHECK_EQ(source_text_open(&(struct source_places){0}, directory, &text), -ENOENT);
	write_file("src/big", "", 0);
	CHECK_EQ(truncate(big, (off_t)SOURCE_TEXT_MAX + 1), 0);
	CHECK_EQ(source_text_open(&(struct source_places){0}, big, &text), -ENOENT);
	free(odd);
	free(empty);
	free(pipe);
	free(big);
	tear_down();
}

UNIT_TEST(where_it_was_sought)
{
	char *text = source_text_sought(&(struct source_places){.path = "/a:/b", .trim = "/x"},
					"/y/z.c");

	CHECK(strstr(text, "/y/z.c") && strstr(text, "/a:/b"));
	free(text);
	text = source_text_sought(&(struct source_places){0}, "/y/z.c");
	CHECK(strstr(text, "/y/z.c") && strstr(text, "--source-path"));
	free(text);
}

UNIT_MAIN()
