/* SPDX-License-Identifier: MIT */
/* cli_functions: what --alloc-fn and --free-fn mean, and what they refuse. */
#include "cli_functions.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "hi_exit.h"
#include "unit.h"

static const struct named_function *alloc(struct named_functions *functions, const char *text)
{
	CHECK_EQ(cli_parse_alloc_fn("attach", text, functions), HI_EXIT_OK);
	return &functions->alloc[functions->alloc_count - 1];
}

static const struct named_function *freed(struct named_functions *functions, const char *text)
{
	CHECK_EQ(cli_parse_free_fn("attach", text, functions), HI_EXIT_OK);
	return &functions->free[functions->free_count - 1];
}

/* Checks that it is refused, that nothing is added, and what is said: one line. */
static void check_refused(struct named_functions *functions, bool is_free, const char *text,
			  const char *line)
{
	const struct named_functions before = *functions;
	const int saved = dup(STDERR_FILENO), file = memfd_create("err", 0);
	char said[512];

	fflush(stderr);
	dup2(file, STDERR_FILENO);
	const int exit_code = is_free ? cli_parse_free_fn("attach", text, functions)
				      : cli_parse_alloc_fn("attach", text, functions);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	const ssize_t got = pread(file, said, sizeof(said) - 1, 0);
	CHECK(got > 0);
	said[got] = 0;
	close(file);
	close(saved);
	if (exit_code != HI_EXIT_USAGE || strchr(said, '\n') != said + got - 1 ||
	    !strstr(said, line) || !strstr(said, is_free ? "(NAME:PTR or" : "(NAME:SIZE["))
		UNIT_FAIL("%s: exit code %d, stderr: %s(expected: %s)", text, exit_code, said,
			  line);
	CHECK(!memcmp(&before, functions, sizeof(before)));
}

UNIT_TEST(the_size_is_an_argument_or_a_product)
{
	struct named_functions functions = {0};
	const struct named_function *function = alloc(&functions, "ngx_palloc:2");

	CHECK(!strcmp(function->name, "ngx_palloc"));
	CHECK(!function->object[0] && !function->is_free);
	CHECK_EQ(function->size, 2u);
	CHECK_EQ(function->count, 0u);
	CHECK_EQ(function->block, NAMED_BLOCK_RESULT);
	CHECK_EQ(function->block_argument, 0u);
	CHECK_EQ(function->pool, 0u);
	function = alloc(&functions, "_ZN5Arena3getEmm.x:1*6@2");
	CHECK(!strcmp(function->name, "_ZN5Arena3getEmm.x"));
	CHECK_EQ(function->size, 1u);
	CHECK_EQ(function->count, 6u);
	CHECK_EQ(function->pool, 2u);
	CHECK(!function->size_is_int && !function->count_is_int);
	function = alloc(&functions, "sqlite3_malloc:1i");
	CHECK(function->size_is_int && !function->count_is_int);
	function = alloc(&functions, "_talloc_array:2*3i@1");
	CHECK(!function->size_is_int && function->count_is_int);
	CHECK_EQ(function->pool, 1u);
	CHECK_EQ(functions.alloc_count, 4u);
}

UNIT_TEST(the_block_may_be_moved_or_stored)
{
	struct named_functions functions = {0};
	const struct named_function *function = alloc(&functions, "talloc_realloc:3:2@1");

	CHECK_EQ(function->block, NAMED_BLOCK_MOVED);
	CHECK_EQ(function->block_argument, 2u);
	CHECK_EQ(function->pool, 1u);
	function = alloc(&functions, "libx.so.6!get:3*4:*1");
	CHECK(!strcmp(function->object, "libx.so.6"));
	CHECK(!strcmp(function->name, "get"));
	CHECK_EQ(function->block, NAMED_BLOCK_STORED);
	CHECK_EQ(function->block_argument, 1u);
	CHECK_EQ(function->count, 4u);
}

UNIT_TEST(a_block_is_freed_or_a_pool)
{
	struct named_functions functions = {0};
	const struct named_function *function = freed(&functions, "ngx_pfree:2");

	CHECK(function->is_free);
	CHECK_EQ(function->block_argument, 2u);
	CHECK_EQ(function->pool, 0u);
	function = freed(&functions, "libapr-1.so.0!apr_pool_destroy:@1");
	CHECK_EQ(function->block_argument, 0u);
	CHECK_EQ(function->pool, 1u);
	CHECK_EQ(functions.free_count, 2u);
	CHECK_EQ(functions.alloc_count, 0u);
}

UNIT_TEST(what_is_wrong_is_said)
{
	static const struct {
		bool is_free;
		const char *text, *line;
	} cases[] = {
		{false, "ngx_palloc", "--alloc-fn: the argument that is the size is missing"},
		{false, "ngx_palloc:", "the argument that is the size is missing"},
		{false, "ngx_palloc:@1", "the argument that is the size is missing"},
		{false, "ngx_palloc:0", "arguments have the numbers 1 to 6"},
		{false, "ngx_palloc:7@1", "arguments have the numbers 1 to 6"},
		{false, "ngx_palloc:2@9", "arguments have the numbers 1 to 6"},
		{false, "ngx_palloc:4294967298", "arguments have the numbers 1 to 6"},
		{false, "ngx_palloc:99999999999999999999999", "the number of an argument"},
		{false, "ngx_palloc:size", "what is expected is the number of an argument"},
		{false, "ngx_palloc:2*", "what is expected is the number of an argument"},
		{false, "ngx_palloc:2:", "what is expected is the number of an argument"},
		{false, "ngx_palloc:2:*", "what is expected is the number of an argument"},
		{false, "ngx_palloc:2@", "what is expected is the number of an argument"},
		{false, "ngx_palloc:2@1:3", "this does not end where it should"},
		{false, "ngx_palloc:2 ", "this does not end where it should"},
		{false, "f:2*2", "one argument cannot be two things"},
		{false, "f:2:2", "one argument cannot be two things"},
		{false, "f:1*2:*3@1", "one argument cannot be two things"},
		{false, "", "no name of a function"},
		{false, ":2", "no name of a function"},
		{false, "2f:2", "no name of a function"},
		{false, "a b:2", "no name of a function"},
		{false, "ns::f:2", "no name of a function as symbol tables have it"},
		{false, "!f:2", "begins with no file name"},
		{false, "lib/x.so!f:2", "begins with no file name"},
		{false, "f:1ii", "this does not end where it should"},
		{false, "f:1:2i", "this does not end where it should"},
		{false, "f.isra.0:1", "a copy that the compiler made"},
		{true, "f.constprop.2:1", "a copy that the compiler made"},
		{false, "malloc:1", "of malloc's family and of mmap's none can be named"},
		{false, "mmap:2", "of malloc's family and of mmap's none can be named"},
		{false, "taken:1", "this function was named before"},
		{false, "libx.so!taken:1", "this function was named before"},
		{true, "taken:1", "--free-fn: this function was named before"},
		{true, "f", "--free-fn: the argument that is freed is missing"},
		{true, "f:0", "arguments have the numbers 1 to 6"},
		{true, "f:@7", "arguments have the numbers 1 to 6"},
		{true, "f:2@1", "this does not end where it should"},
		{true, "f:*1", "what is expected is the number of an argument"},
		{true, "free:1", "of malloc's family and of mmap's none can be named"},
	};
	struct named_functions functions = {0};

	(void)alloc(&functions, "taken:2");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(&functions, cases[i].is_free, cases[i].text, cases[i].line);
}

UNIT_TEST(two_objects_may_have_a_function_of_one_name)
{
	struct named_functions functions = {0};

	(void)alloc(&functions, "liba.so!get:1");
	(void)alloc(&functions, "libb.so!get:2");
	check_refused(&functions, false, "liba.so!get:2", "this function was named before");
	check_refused(&functions, false, "get:2", "this function was named before");
}

UNIT_TEST(there_is_room_for_so_many_and_no_longer_names)
{
	struct named_functions functions = {0};
	char text[NAMED_FUNCTION_NAME_MAX + 8];

	for (unsigned i = 0; i < NAMED_FUNCTIONS_MAX; i++) {
		snprintf(text, sizeof(text), "f%u:1", i);
		(void)alloc(&functions, text);
	}
	check_refused(&functions, false, "g:1", "this is one too many, 8 are possible");
	(void)freed(&functions, "g:1");
	memset(text, 'n', sizeof(text));
	strcpy(text + NAMED_FUNCTION_NAME_MAX, ":1");
	check_refused(&functions, true, text, "no name of a function");
	strcpy(text + NAMED_FUNCTION_NAME_MAX - 1, ":1");
	CHECK_EQ(strlen(freed(&functions, text)->name), NAMED_FUNCTION_NAME_MAX - 1);
}

UNIT_MAIN()
