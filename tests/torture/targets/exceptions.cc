/* SPDX-License-Identifier: MIT */
/*
 * exceptions - four threads that throw and catch through operator new in every way: sizes that
 * cannot be had, lengths that overflow, nothrow, a new-handler that first frees a reserve and then
 * gives up, constructors that throw, and exceptions that carry strings.
 */
#include "selfcheck.h"

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#define THREADS 4

static const volatile size_t huge = (size_t)PTRDIFF_MAX - 100;
static thread_local int handler_calls;

struct throwing {
	std::string text;
	explicit throwing(int number) : text(100, 'x')
	{
		throw std::runtime_error(
			"number " + std::to_string(number) +
			" of a text that is too long to lie within the string itself");
	}
};

static void give_up_at_second_call()
{
	if (++handler_calls % 2 == 0)
		throw std::bad_alloc();
}

/* Something of its own lives in every frame, which the unwinding must destroy. */
static void fail_deep_down(int depth, std::vector<std::string> &trail)
{
	std::string mine(50 + (size_t)depth, 'a');

	if (depth == 0) {
		char *none = new char[huge];
		trail.push_back(none);
		return;
	}
	fail_deep_down(depth - 1, trail);
	trail.push_back(mine);
}

template <class Exception, class Function>
static void must_throw(const char *what, Function function)
{
	try {
		function();
		self_wrong("%s: nothing was thrown", what);
	} catch (const Exception &) {
	}
}

static void *throw_and_catch(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block block = {};
	std::vector<std::string> trail;

	while (!self_is_stopping()) {
		/* Volatile: clang leaves out a new whose result nobody needs. */
		void *volatile none;
		const size_t size = 1 + self_random(worker) % 2000;
		const int calls = handler_calls;

		must_throw<std::bad_alloc>("a huge block", [&] {
			fail_deep_down((int)(self_random(worker) % 20), trail);
		});
		SELF_CHECK(handler_calls == calls + 2);
		none = new (std::nothrow) char[huge];
		SELF_CHECK(none == nullptr);
		must_throw<std::bad_alloc>("an array that overflows", [&] {
			const volatile size_t count = SIZE_MAX / 4;
			none = new uint64_t[count];
		});
		must_throw<std::runtime_error>("a constructor",
					       [&] { delete new throwing((int)size); });
		must_throw<std::length_error>("a vector", [] { std::vector<int>().reserve(huge); });
		if (block.at) {
			self_block_check(&block);
			operator delete(block.at);
		}
		self_block_take(worker, &block, operator new(size), size);
		self_step(worker);
	}
	operator delete(block.at);
	SELF_CHECK(trail.empty());
	return unused;
}

int main()
{
	std::set_new_handler(give_up_at_second_call);
	return self_run(THREADS, throw_and_catch, NULL);
}
