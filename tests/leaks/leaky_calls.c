/* SPDX-License-Identifier: MIT */
/*
 * leaky_calls.c - leaks by the call that allocates: each function of the C library that returns
 * memory to its caller, wrappers around it, and a library that came by dlopen.
 */
#include "programs.h"

#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <regex.h>
#include <stdio.h>
#include <unistd.h>

static SITE void leak_session_table(void)
{
	void *block = filled(malloc(1000), 1000);

	USE(block);
	count_leaked(1000);
}

static void textbook(void)
{
	for (unsigned i = due(300); i; i--)
		leak_session_table();
}

static SITE void leak_token(void)
{
	void *block = filled(malloc(24), 24);

	USE(block);
	count_leaked(24);
}

static void small_blocks(void)
{
	for (unsigned i = due(5000); i; i--)
		leak_token();
}

static SITE void leak_snapshot(void)
{
	void *block = filled(malloc(1 << 20), 1 << 20);

	USE(block);
	count_leaked(1 << 20);
}

static void large_now_and_then(void)
{
	if (is_time(2))
		leak_snapshot();
}

static SITE void leak_matrix(void)
{
	double *matrix = calloc(40, 40 * sizeof(double));

	filled(matrix, 40 * 40 * sizeof(double));
	USE(matrix);
	count_leaked(40 * 40 * sizeof(double));
}

static void by_calloc(void)
{
	for (unsigned i = due(10); i; i--)
		leak_matrix();
}

static SITE void leak_io_buffer(void)
{
	void *block;

	if (posix_memalign(&block, 4096, 8192) != 0)
		abort();
	USE(filled(block, 8192));
	count_leaked(8192);
}

static void by_posix_memalign(void)
{
	for (unsigned i = due(20); i; i--)
		leak_io_buffer();
}

static SITE void leak_grown_log(void)
{
	static size_t size = 2 << 20;
	static char *log;

	log = realloc(log, size += 16384);
	filled(log + size - 16384, 16384);
	USE(log);
	count_leaked(16384);
}

static void realloc_of_one(void)
{
	for (unsigned i = due(10); i; i--)
		leak_grown_log();
}

static SITE void leak_chat_history(void)
{
	static struct history {
		char *text;
		size_t size;
	} histories[200];
	struct history *history = &histories[random_below(LENGTH(histories))];
	const size_t more = 100 + random_below(800);

	history->text = realloc(history->text, history->size + more);
	filled(history->text + history->size, more);
	history->size += more;
	USE(history->text);
	count_leaked((int64_t)more);
}

static void realloc_of_many(void)
{
	for (unsigned i = due(400); i; i--)
		leak_chat_history();
}

static SITE void leak_user_name(const char *name)
{
	char *copy = strdup(name);

	USE(copy);
	count_leaked((int64_t)strlen(name) + 1);
}

static void by_strdup(void)
{
	char name[101];

	for (unsigned i = due(1500); i; i--) {
		memset(name, 'n', sizeof(name));
		name[20 + random_below(80)] = '\0';
		leak_user_name(name);
	}
}

/* The stream, and its buffer, in glibc. */
#define STREAM_BYTES (472 + 4096)

static SITE void leak_config_file(void)
{
	FILE *file = fopen("/proc/self/exe", "r");

	if (file && fgetc(file) != EOF)
		count_leaked(STREAM_BYTES);
	USE(file);
}

static void by_fopen(void)
{
	for (unsigned i = due(12); i; i--)
		leak_config_file();
}

static char input_text[60000];
static FILE *input;

static void prepare_input(void)
{
	memset(input_text, 'i', sizeof(input_text));
	for (size_t at = 50; at < sizeof(input_text); at += 50 + random_below(700))
		input_text[at] = '\n';
	input_text[sizeof(input_text) - 1] = '\n';
	input = fmemopen(input_text, sizeof(input_text), "r");
}

static SITE void leak_input_line(void)
{
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, input) < 0) {
		rewind(input);
		clearerr(input);
	}
	USE(line);
	count_leaked((int64_t)size);
}

static void by_getline(void)
{
	for (unsigned i = due(300); i; i--)
		leak_input_line();
}

static SITE void leak_metric_label(unsigned number)
{
	char *label;
	const int length = asprintf(
		&label, "service.requests.by_path.count{path=\"/v1/items/%u\",shard=\"%u\"}",
		number, number % 100);

	USE(label);
	count_leaked(length + 1);
}

static void by_asprintf(void)
{
	for (unsigned i = due(1000); i; i--)
		leak_metric_label(random_below(1000000));
}

/* regcomp() allocates at dozens of places. */
static int64_t pattern_bytes;

static SITE void leak_compiled_pattern(void)
{
	regex_t *pattern = malloc(sizeof(*pattern));

	if (!pattern || regcomp(pattern, "^/([a-z]+)/([0-9]{1,8})(/edit|/view)?$", REG_EXTENDED))
		abort();
	USE(pattern);
	count_leaked(pattern_bytes);
}

/* What one takes, known to some bytes a block. */
static void prepare_pattern(void)
{
	const size_t before = mallinfo2().uordblks;

	for (int i = 0; i < 16; i++)
		leak_compiled_pattern();
	pattern_bytes = (int64_t)(mallinfo2().uordblks - before) / 16;
}

static void by_regcomp(void)
{
	for (unsigned i = due(15); i; i--)
		leak_compiled_pattern();
}

/* ---- wrappers, through which goes what is freed as well --------------------------------- */

static SITE void *xmalloc(size_t size)
{
	void *block = malloc(size);

	if (!block)
		abort();
	USE(block);
	return block;
}

static SITE void leak_attribute(void)
{
	void *block = filled(xmalloc(400), 400);

	USE(block);
	count_leaked(400);
}

static SITE void *decoded_frame(void)
{
	const size_t size = 200 + random_below(4000);
	void *block = filled(xmalloc(size), 200);

	USE(block);
	return block;
}

static void wrapped(void)
{
	static void *frames[500];

	for (unsigned i = due(2000); i; i--) {
		void **at = &frames[random_below(LENGTH(frames))];

		free(*at);
		*at = decoded_frame();
	}
	for (unsigned i = due(300); i; i--)
		leak_attribute();
}

/* As redis does: the size is before the block. */
static SITE void *zmalloc(size_t size)
{
	size_t *block = xmalloc(size + sizeof(size_t));

	*block = size;
	USE(block);
	return block + 1;
}

static void zfree(void *block)
{
	if (block)
		free((size_t *)block - 1);
}

static SITE char *dup_value(size_t size)
{
	char *copy = filled(zmalloc(size), size);

	USE(copy);
	return copy;
}

static SITE void leak_dict_entry(void)
{
	const size_t size = 50 + random_below(500);
	char *value = dup_value(size);

	USE(value);
	count_leaked((int64_t)(size + sizeof(size_t)));
}

static SITE char *set_value(void)
{
	char *value = dup_value(50 + random_below(500));

	USE(value);
	return value;
}

static void wrapped_deeply(void)
{
	static char *values[20000];

	for (unsigned i = due(4000); i; i--) {
		char **at = &values[random_below(LENGTH(values))];

		zfree(*at);
		*at = set_value();
	}
	for (unsigned i = due(600); i; i--)
		leak_dict_entry();
}

/* ---- a library -------------------------------------------------------------------------- */

static size_t (*decode)(size_t size, bool is_kept);

/* libcodec.so, beside the program. */
static void prepare_library(void)
{
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 16);
	void *library, *function = NULL;

	if (length > 0) {
		path[length] = '\0';
		strcpy(strrchr(path, '/') + 1, "libcodec.so");
		library = dlopen(path, RTLD_NOW);
		function = library ? dlsym(library, "codec_decode") : NULL;
	}
	if (!function)
		abort();
	memcpy(&decode, &function, sizeof(decode));
}

static void in_library(void)
{
	for (unsigned i = due(1000); i; i--)
		count_leaked((int64_t)decode(200 + random_below(1000), i % 5 == 0));
}

const struct program leaky_calls[] = {
	{"textbook", "leak_session_table", 500, 20, NULL, textbook,
	 "1000 bytes, 300 times a second"},
	{"small_blocks", "leak_token", 100, 5, NULL, small_blocks, "24 bytes, 5000 times a second"},
	{"large_now_and_then", "leak_snapshot", 100, 3, NULL, large_now_and_then,
	 "one megabyte every two seconds"},
	{"by_calloc", "leak_matrix", 100, 30, NULL, by_calloc,
	 "matrices of 12800 bytes, ten a second, by calloc"},
	{"by_posix_memalign", "leak_io_buffer", 50, 3, NULL, by_posix_memalign,
	 "aligned buffers of 8 KB, 20 a second"},
	{"realloc_of_one", "leak_grown_log", 100, 3, NULL, realloc_of_one,
	 "one block that grows by 16 KB ten times a second"},
	{"realloc_of_many", "leak_chat_history", 100, 15, NULL, realloc_of_many,
	 "200 blocks that grow by some hundred bytes each time"},
	{"by_strdup", "leak_user_name", 100, 2, NULL, by_strdup,
	 "strings of 20 to 100 bytes, 1500 a second, by strdup"},
	{"by_fopen", "leak_config_file", 20, 1, NULL, by_fopen,
	 "12 streams a second that are never closed"},
	{"by_getline", "leak_input_line", 50, 3, prepare_input, by_getline,
	 "each line is read into a buffer of its own"},
	{"by_asprintf", "leak_metric_label", 100, 5, NULL, by_asprintf,
	 "labels of 60 to 70 bytes, 1000 a second"},
	{"by_regcomp", "leak_compiled_pattern", 50, 3, prepare_pattern, by_regcomp,
	 "patterns that are compiled and not freed: dozens of stacks in the C library"},
	{"wrapped", "leak_attribute", 50, 5, NULL, wrapped,
	 "xmalloc is called for the leak, and for 35 times as much that is freed"},
	{"wrapped_deeply", "leak_dict_entry", 50, 5, NULL, wrapped_deeply,
	 "three wrappers in a row, shared by the leak and by a cache that fills at first"},
	{"in_library", "leak_codec_frame", 50, 10, prepare_library, in_library,
	 "a library that came by dlopen keeps one frame of five"},
	{0},
};
