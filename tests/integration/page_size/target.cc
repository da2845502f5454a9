/* SPDX-License-Identifier: MIT */
/* Hundreds of functions of one name, each with much code, and ninety paths to them. */
#include <cstdlib>
#include <utility>

static volatile long work;
static void *volatile kept;

#define TEN(code) code code code code code code code code code code

template <int N> __attribute__((noinline)) void keep_block()
{
	TEN(work = work * N + 1; work = work + N;)
	kept = malloc(1000 + N);
	work = work + 1; /* so that the call of malloc is no jump */
}

template <int... N> void keep_all(std::integer_sequence<int, N...>)
{
	(keep_block<N>(), ...);
}

/* from 10 to 99 */
#define EACH_OF_TEN(a, DO) \
	DO(a##0) DO(a##1) DO(a##2) DO(a##3) DO(a##4) DO(a##5) DO(a##6) DO(a##7) DO(a##8) DO(a##9)
#define EACH(DO)           \
	EACH_OF_TEN(1, DO) \
	EACH_OF_TEN(2, DO) \
	EACH_OF_TEN(3, DO) \
	EACH_OF_TEN(4, DO) \
	EACH_OF_TEN(5, DO) \
	EACH_OF_TEN(6, DO) EACH_OF_TEN(7, DO) EACH_OF_TEN(8, DO) EACH_OF_TEN(9, DO)
#define WAY(n)                                          \
	__attribute__((noinline)) static void way_##n() \
	{                                               \
		keep_block<n>();                        \
		work = work + 1;                        \
	}
#define GO(n) way_##n();
EACH(WAY)

int main()
{
	EACH(GO)

	keep_all(std::make_integer_sequence<int, 1500>());
	return 0;
}
