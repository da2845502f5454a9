// SPDX-License-Identifier: MIT
//
// operators.cc - the sites of C++: operators new and delete in all their forms, and exceptions that
// pass through, or come from, an allocation. Where the allocator has a prefix, the operators are
// the program's own.
#include "program.h"

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#define IMPOSSIBLE ((size_t)1 << 60)
#define STAYS false

#if PREFIXED
extern "C" void *CALL(malloc)(size_t);
extern "C" void *CALL(memalign)(size_t, size_t);
extern "C" void CALL(free)(void *);

static void *checked(void *block)
{
	if (!block)
		throw std::bad_alloc();
	return block;
}

void *operator new(size_t size)
{
	return checked(CALL(malloc)(size));
}

void *operator new(size_t size, std::align_val_t alignment)
{
	return checked(CALL(memalign)((size_t)alignment, size));
}

void operator delete(void *block) noexcept
{
	CALL(free)(block);
}

void operator delete(void *block, size_t) noexcept
{
	CALL(free)(block);
}

void operator delete(void *block, std::align_val_t) noexcept
{
	CALL(free)(block);
}

void operator delete(void *block, size_t, std::align_val_t) noexcept
{
	CALL(free)(block);
}
#endif

static const std::align_val_t aligned{ALIGNMENT};

// A new-handler may throw.
static void refuse()
{
	throw std::bad_alloc();
}

__attribute__((constructor)) static void install_handler()
{
	std::set_new_handler(refuse);
}

__attribute__((noinline)) static void fail_below(int depth, const std::string &text)
{
	std::string longer = text + " and some more of it, so that it is allocated";

	if (depth == 0)
		throw std::runtime_error(longer);
	fail_below(depth - 1, longer);
}

// Blocks that are freed on the way up.
static void unwind()
{
	try {
		fail_below(3, "a reason");
	} catch (const std::runtime_error &error) {
		if (std::string(error.what()).find("a reason and") != 0)
			abort();
		return;
	}
	abort();
}

// mimalloc, compiled as C, aborts instead.
static void be_refused()
{
	void *volatile block;

	if (NEW_ABORTS)
		return;
	try {
		block = ::operator new(IMPOSSIBLE);
	} catch (const std::bad_alloc &) {
		return;
	}
	(void)block;
	abort();
}

// As its constructor throws, the block of the expression new is freed again.
struct Unfinished {
	char room[100];

	Unfinished()
	{
		unwind();
		throw std::runtime_error("unfinished");
	}
};

static void leave_unfinished()
{
	try {
		delete new Unfinished;
	} catch (const std::runtime_error &) {
		return;
	}
	abort();
}

// libstdc++ rounds what is aligned up to a multiple of the alignment: so sizes are.
//
// X(is it here, name, unit of sizes, may it move, how to get a block, how to free it)
#define CXX_SITES(X)                                                                           \
	X(1, op_new, 1, STAYS, block = operator new(size), operator delete(block))             \
	X(1, op_new_sized, 1, STAYS, block = operator new(size), operator delete(block, size)) \
	X(1, op_new_array, 1, STAYS, block = operator new[](size), operator delete[](block))   \
	X(1, op_new_array_sized, 1, STAYS,                                                     \
	  block = operator new[](size), operator delete[](block, size))                        \
	X(1, op_new_nothrow, 1, STAYS,                                                         \
	  block = operator new(size, std::nothrow), operator delete(block, std::nothrow))      \
	X(1, op_new_array_nothrow, 1, STAYS,                                                   \
	  block = operator new[](size, std::nothrow), operator delete[](block, std::nothrow))  \
	X(1, op_new_aligned, ALIGNMENT, STAYS,                                                 \
	  block = operator new(size, aligned), operator delete(block, aligned))                \
	X(1, op_new_aligned_sized, ALIGNMENT, STAYS,                                           \
	  block = operator new(size, aligned), operator delete(block, size, aligned))          \
	X(1, op_new_array_aligned, ALIGNMENT, STAYS,                                           \
	  block = operator new[](size, aligned), operator delete[](block, aligned))            \
	X(1, op_new_array_aligned_sized, ALIGNMENT, STAYS,                                     \
	  block = operator new[](size, aligned), operator delete[](block, size, aligned))      \
	X(1, op_new_aligned_nothrow, ALIGNMENT, STAYS,                                         \
	  block = operator new(size, aligned, std::nothrow),                                   \
	  operator delete(block, aligned, std::nothrow))                                       \
	X(1, op_new_array_aligned_nothrow, ALIGNMENT, STAYS,                                   \
	  block = operator new[](size, aligned, std::nothrow),                                 \
	  operator delete[](block, aligned, std::nothrow))                                     \
	X(1, new_expression, 1, STAYS, block = new char[size],                                 \
	  delete[] static_cast<char *>(block))                                                 \
	X(1, new_after_unwinding, 1, STAYS, unwind();                                          \
	  block = operator new(size), operator delete(block))                                  \
	X(1, new_after_refusal, 1, STAYS, be_refused();                                        \
	  block = operator new(size), operator delete(block); leave_unfinished())

CXX_SITES(SITE)
extern "C" {
const struct site more_sites[] = {CXX_SITES(ROW)};
const unsigned more_site_count = sizeof(more_sites) / sizeof(more_sites[0]);
}
