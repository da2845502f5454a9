/* SPDX-License-Identifier: MIT */
/* named_check: which signatures a named function may have, and what is said of others. */
#include "named_check.h"

#include "unit.h"

/* clang takes no constants where these begin others */
#define POOL                                                                     \
	{                                                                        \
		.kind = HI_PARAMETER_POINTER, .name = "pool", .type = "pool_t *" \
	}
#define SIZE                                                                               \
	{                                                                                  \
		.kind = HI_PARAMETER_INTEGER, .bytes = 8, .name = "size", .type = "size_t" \
	}
#define COUNT                                                                                     \
	{                                                                                         \
		.kind = HI_PARAMETER_INTEGER, .bytes = 4, .name = "count", .type = "unsigned int" \
	}
#define BLOCK                                                  \
	{                                                      \
		.kind = HI_PARAMETER_POINTER, .type = "void *" \
	}
#define NOTHING                                           \
	{                                                 \
		.kind = HI_PARAMETER_NONE, .type = "void" \
	}

static const struct hi_parameter place = {.kind = HI_PARAMETER_POINTER_TO_POINTER,
					  .name = "where",
					  .type = "void **"},
				 share = {.kind = HI_PARAMETER_OTHER, .type = "double"},
				 unread = {.kind = HI_PARAMETER_UNKNOWN, .type = "?"},
				 status = {.kind = HI_PARAMETER_INTEGER, .bytes = 4, .type = "int"};

/* void *get(pool_t *pool, size_t size, unsigned int count) */
static const struct hi_signature get = {
	.is_known = true, .count = 3, .result = BLOCK, .parameter = {POOL, SIZE, COUNT}};

static struct named_function alloc(unsigned of_size, unsigned of_pool)
{
	return (struct named_function){.name = "get", .size = of_size, .pool = of_pool};
}

static void check_wrong(struct named_function function, const struct hi_signature *signature,
			const char *expected)
{
	char why[NAMED_CHECK_TEXT_MAX] = "";

	CHECK_EQ(named_check(&function, signature, why), NAMED_CHECK_WRONG);
	if (strcmp(why, expected) != 0)
		UNIT_FAIL("'%s' (expected '%s')", why, expected);
}

static void check_good(struct named_function *function, const struct hi_signature *signature)
{
	char why[NAMED_CHECK_TEXT_MAX] = "";

	if (named_check(function, signature, why) != NAMED_CHECK_GOOD)
		UNIT_FAIL("refused: '%s'", why);
}

UNIT_TEST(a_size_is_an_integer_and_a_pool_a_pointer)
{
	struct named_function function = alloc(2, 1);

	check_good(&function, &get);
	CHECK(!function.size_is_int && function.size_is_known);
	function = (struct named_function){.name = "get", .size = 2, .count = 3};
	check_good(&function, &get);
	CHECK(!function.size_is_int && function.count_is_int);
	check_wrong(alloc(1, 0), &get,
		    "argument 1 of get is pool_t *: no size; it is "
		    "void *get(pool_t *pool, size_t size, unsigned int count)");
	check_wrong(alloc(3, 2), &get,
		    "argument 2 of get is size_t: no pool; it is "
		    "void *get(pool_t *pool, size_t size, unsigned int count)");
	check_wrong(alloc(4, 0), &get,
		    "get has no argument 4; it is "
		    "void *get(pool_t *pool, size_t size, unsigned int count)");
}

UNIT_TEST(the_only_size_is_named)
{
	struct hi_signature one = get;

	one.count = 2;
	check_wrong(alloc(1, 0), &one,
		    "argument 1 of get is pool_t *: no size; it is "
		    "void *get(pool_t *pool, size_t size), where argument 2 may be the size");
}

UNIT_TEST(an_int_is_one)
{
	struct named_function function = alloc(3, 0);

	check_good(&function, &get);
	CHECK(function.size_is_int);
	function = alloc(3, 0);
	function.size_is_int = true;
	check_good(&function, &get);
	CHECK(function.size_is_int);
	function = alloc(2, 0);
	function.size_is_int = true;
	check_wrong(function, &get,
		    "argument 2 of get is size_t: no int; it is "
		    "void *get(pool_t *pool, size_t size, unsigned int count)");
}

UNIT_TEST(the_block_is_a_pointer)
{
	struct hi_signature signature = get;
	struct named_function function = {
		.name = "get", .size = 2, .block = NAMED_BLOCK_MOVED, .block_argument = 1};

	check_good(&function, &get);
	function.block = NAMED_BLOCK_STORED;
	check_wrong(function, &get,
		    "argument 1 of get is pool_t *: no place where a block is stored; it is "
		    "void *get(pool_t *pool, size_t size, unsigned int count)");
	signature.parameter[0] = place;
	signature.result = status;
	check_good(&function, &signature);
	check_wrong(alloc(2, 0), &signature,
		    "the result of get is int: no block; it is "
		    "int get(void **where, size_t size, unsigned int count)");
}

UNIT_TEST(what_frees_has_a_pointer_too)
{
	const struct hi_signature put = {
		.is_known = true, .count = 2, .result = NOTHING, .parameter = {POOL, SIZE}};
	struct named_function function = {.name = "put", .is_free = true, .pool = 1};

	check_good(&function, &put);
	function.pool = 0;
	function.block_argument = 2;
	check_wrong(function, &put,
		    "argument 2 of put is size_t: no block; it is "
		    "void put(pool_t *pool, size_t size)");
}

UNIT_TEST(registers_must_be_those_of_the_numbers)
{
	struct hi_signature signature = get;

	signature.parameter[0] = share;
	check_wrong(alloc(2, 0), &signature,
		    "argument 1 of get is double, which is not in one register as integers are, "
		    "so that it is not known where argument 2 is; it is "
		    "void *get(double, size_t size, unsigned int count)");
	signature = get;
	signature.parameter[2] = share; /* behind it */
	struct named_function function = alloc(2, 1);
	check_good(&function, &signature);
	const struct hi_signature put = {.is_known = true,
					 .count = 1,
					 .result = {.kind = HI_PARAMETER_OTHER, .type = "state"},
					 .parameter = {POOL}};
	check_wrong((struct named_function){.name = "put", .is_free = true, .pool = 1}, &put,
		    "the result of put is state: where its arguments are is not known; it is "
		    "state put(pool_t *pool)");
}

UNIT_TEST(what_is_not_passed_moves_the_others)
{
	struct hi_signature signature = get;
	struct named_function function = alloc(2, 1);

	signature.parameter[2].is_left_out = true; /* behind it */
	check_good(&function, &signature);
	signature.parameter[0].is_left_out = true;
	check_wrong(alloc(2, 0), &signature,
		    "the compiler has left out argument 1 of get, so that others may be elsewhere; "
		    "it is void *get(pool_t *pool, size_t size, unsigned int count)");
}

UNIT_TEST(arguments_must_be_few_and_small)
{
	const struct hi_parameter state = {
		.kind = HI_PARAMETER_STRUCTURE, .name = "state", .type = "state_t"};
	struct hi_signature signature = get;
	struct named_function put = {.name = "get", .is_free = true, .pool = 1};

	signature.parameter[2] = state;
	check_wrong(alloc(2, 1), &signature,
		    "argument 3 of get is state_t: it may be too large for a hook; it is "
		    "void *get(pool_t *pool, size_t size, state_t state)");
	check_good(&put, &signature);
	signature.parameter[2] = (struct hi_parameter){
		.kind = HI_PARAMETER_OTHER, .bytes = 16, .name = "share", .type = "long double"};
	check_wrong(alloc(2, 1), &signature,
		    "argument 3 of get is long double: it may be too large for a hook; it is "
		    "void *get(pool_t *pool, size_t size, long double share)");
	signature = get;
	signature.is_variadic = true;
	check_wrong(alloc(2, 1), &signature,
		    "get has a variable number of arguments, which a hook cannot pass on; it is "
		    "void *get(pool_t *pool, size_t size, unsigned int count)");
	check_good(&put, &signature);
	signature = get;
	signature.count = HI_SIGNATURE_PARAMETERS + 1;
	char why[NAMED_CHECK_TEXT_MAX];
	struct named_function function = alloc(2, 1);
	CHECK_EQ(named_check(&function, &signature, why), NAMED_CHECK_WRONG);
	CHECK(!strncmp(why, "get has more than 16 arguments; it is ", 38));
	check_good(&put, &signature);
}

UNIT_TEST(what_is_not_known_is_not_refused)
{
	struct named_function function = alloc(2, 1);
	struct hi_signature signature = get;
	char why[NAMED_CHECK_TEXT_MAX];

	CHECK_EQ(named_check(&function, &(struct hi_signature){0}, why), NAMED_CHECK_UNKNOWN);
	signature.parameter[0] = unread;
	CHECK_EQ(named_check(&function, &signature, why), NAMED_CHECK_UNKNOWN);
	signature.parameter[1] = share; /* which is wrong for certain */
	CHECK_EQ(named_check(&function, &signature, why), NAMED_CHECK_WRONG);
	signature = get;
	signature.result = unread;
	CHECK_EQ(named_check(&function, &signature, why), NAMED_CHECK_UNKNOWN);
}

UNIT_MAIN()
