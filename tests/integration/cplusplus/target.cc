/* SPDX-License-Identifier: MIT */
/*
 * Allocates by every form of new, through templates, with exceptions thrown from within constructors and by new itself. Commands: keep = 20 MB of blocks that
 * stay, and 20 MB that do not; churn = containers, exceptions and failing allocations, for a while; each answers "right" or what was wrong.
 */
#include "../target.h"

#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

template <size_t Size> struct Block {
	char bytes[Size];

	explicit Block(char fill)
	{
		memset(bytes, fill, sizeof bytes);
		if (fill == 'x')
			throw std::runtime_error("a constructor fails, after new has allocated");
	}
};

template <class Kept> struct Keeper {
	std::vector<std::unique_ptr<Kept>> kept;

	__attribute__((noinline)) void keep(int count)
	{
		for (int i = 0; i < count; i++)
			kept.emplace_back(new Kept('k'));
	}
	bool is_whole() const
	{
		for (const auto &block : kept)
			for (char byte : block->bytes)
				if (byte != 'k')
					return false;
		return true;
	}
};

static Keeper<Block<2000>> small;
static Keeper<Block<100000>> large;

/* The catch is two allocating frames up. */
__attribute__((noinline)) static std::string thrower(int depth)
{
	std::string text(100 + depth, 'a');

	if (depth == 0)
		delete new Block<5000>('x');
	return text + thrower(depth - 1);
}

static bool exceptions_arrive()
{
	try {
		thrower(5);
	} catch (const std::runtime_error &error) {
		return std::string(error.what()) == "a constructor fails, after new has allocated";
	}
	return false;
}

static size_t impossible = (size_t)1 << 60;
static int handler_calls;

static void give_up()
{
	handler_calls++;
	std::set_new_handler(nullptr);
}

/* bad_alloc is thrown, after the handler was asked; the nothrow form returns nothing. */
static bool failure_is_told()
{
	bool thrown = false;

	handler_calls = 0;
	std::set_new_handler(give_up);
	try {
		delete[] new char[impossible];
	} catch (const std::bad_alloc &) {
		thrown = true;
	}
	std::set_new_handler(nullptr);
	return thrown && handler_calls == 1 && new (std::nothrow) char[impossible] == nullptr;
}

struct alignas(256) Aligned {
	char bytes[300];
};

static bool alignment_holds()
{
	std::unique_ptr<Aligned> one(new Aligned);
	std::unique_ptr<Aligned[]> some(new Aligned[3]);

	return (uintptr_t)one.get() % 256 == 0 && (uintptr_t)some.get() % 256 == 0;
}

static bool containers_work()
{
	std::map<std::string, std::vector<int>> map;

	for (int i = 0; i < 300; i++)
		map["key " + std::to_string(i)].assign(i, i);
	int sum = 0;
	for (const auto &[key, values] : map)
		for (int value : values)
			sum += value;
	return sum == 8955050 && map.size() == 300;
}

static const char *churn()
{
	for (int i = 0; i < 200; i++) {
		if (!exceptions_arrive())
			return "an exception was lost";
		if (!alignment_holds())
			return "not aligned";
		if (!containers_work())
			return "a container is wrong";
		if (!failure_is_told())
			return "an impossible size was not refused as it must";
	}
	return small.is_whole() && large.is_whole() ? "right" : "a kept block has changed";
}

/* By forms of delete that hardly anybody writes, but containers with allocators of their own: nothing of these 20 MB stays. */
__attribute__((noinline)) static void give_all_back()
{
	const std::align_val_t alignment{64};
	static void *one[500], *some[500];

	for (int i = 0; i < 500; i++) {
		one[i] = operator new(20000, alignment, std::nothrow);
		some[i] = operator new[](20000, alignment, std::nothrow);
	}
	for (int i = 0; i < 500; i++) {
		operator delete(one[i], alignment, std::nothrow);
		operator delete[](some[i], alignment, std::nothrow);
	}
}

static const char *keep()
{
	give_all_back();
	small.keep(5000);
	large.keep(100);
	return "right";
}

int main()
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command))
		target_say("%s\n", strcmp(command, "keep") == 0 ? keep() : churn());
	return 0;
}
