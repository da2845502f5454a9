/* SPDX-License-Identifier: MIT */
/*
 * Allocates by every form of new, through templates, with exceptions thrown from within
 * constructors and by new itself. Commands: keep = 20 MB of blocks that stay, and 20 MB that do
 * not; churn = containers, exceptions and failing allocations, for a while; each answers "right" or
 * what was wrong.
 */
#include "../target.h"

#include <map>
#include <memory>
#include <pthread.h>
#include <setjmp.h>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

template <size_t Size> struct Block {
	char bytes[Size];

	explicit Block(char fill)
	{
		memset(bytes, fill, sizeof(bytes));
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
	} catch (const std::runtime_error &err) {
		return std::string(err.what()) == "a constructor fails, after new has allocated";
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
		char *block = new char[impossible];

		/* a compiler may leave out what nobody uses */
		__asm__ volatile("" : : "r"(block) : "memory");
		delete[] block;
	} catch (const std::bad_alloc &) {
		thrown = true;
	}
	std::set_new_handler(nullptr);
	return thrown && handler_calls == 1 && new (std::nothrow) char[impossible] == nullptr;
}

/* ---- new-handlers that leave new in a way of their own --------------------------------------- */

static void throw_bad_alloc()
{
	handler_calls++;
	throw std::bad_alloc();
}

/* The standard does not allow it, and it works. */
static void throw_number()
{
	handler_calls++;
	throw 42;
}

static void end_thread()
{
	handler_calls++;
	pthread_exit(&handler_calls);
}

static jmp_buf way_out;

static void jump()
{
	handler_calls++;
	longjmp(way_out, 1);
}

static int destroyed;

struct Witness {
	~Witness()
	{
		destroyed++;
	}
};

enum Form { PLAIN, ARRAY, ALIGNED, FORMS };

static void *ask_for(int form)
{
	if (form == ALIGNED)
		return operator new (impossible, std::align_val_t{64});
	return form == ARRAY ? operator new[](impossible) : operator new(impossible);
}

__attribute__((noinline)) static void *ask_with_witness(void *form)
{
	Witness witness;
	void *block = ask_for(*(int *)form);

	__asm__ volatile("" : : "r"(block), "r"(&witness) : "memory");
	return nullptr;
}

/* Each is called once, and stacks are unwound that it leaves, but by a jump. */
static bool handlers_may_leave(int form)
{
	bool thrown = false, counted = true;
	pthread_t thread;
	void *result = nullptr;

	handler_calls = destroyed = 0;
	std::set_new_handler(throw_bad_alloc);
	try {
		ask_with_witness(&form);
	} catch (const std::bad_alloc &) {
		thrown = handler_calls == 1 && destroyed == 1;
	}
	std::set_new_handler(throw_number);
	try {
		ask_with_witness(&form);
	} catch (int) {
		counted = handler_calls == 2 && destroyed == 2;
	}
	std::set_new_handler(end_thread);
	counted &= pthread_create(&thread, nullptr, ask_with_witness, &form) == 0 &&
		   pthread_join(thread, &result) == 0;
	counted &= result == &handler_calls && handler_calls == 3 && destroyed == 3;
	std::set_new_handler(jump);
	if (setjmp(way_out) == 0)
		counted &= ask_for(form) == nullptr; /* not reached */
	std::set_new_handler(nullptr);
	return thrown && counted && handler_calls == 4;
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
	for (int form = PLAIN; form < FORMS; form++)
		if (!handlers_may_leave(form))
			return "a new-handler did not get away as it should";
	return small.is_whole() && large.is_whole() ? "right" : "a kept block has changed";
}

/*
 * By forms of delete that hardly anybody writes, but containers with allocators of their own:
 * nothing of these 20 MB stays.
 */
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
