// SPDX-License-Identifier: MIT
//
// target.cc - holds 5000 objects of one class and 700 of another, has lost 300 blocks, and says how
// many bytes these are: orders, customers, lost. An argument is the name that it takes.
#include <alloca.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace shop
{
struct order {
	virtual ~order() = default;
	char room[120] = {1};
};
struct customer {
	virtual ~customer() = default;
	char name[40] = {1};
};
} // namespace shop

std::vector<shop::order *> orders;
std::vector<shop::customer *> customers;

template <class T> static size_t hold(std::vector<T *> &kept, unsigned count)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++) {
		kept.push_back(new T);
		bytes += malloc_usable_size(kept.back());
	}
	return bytes;
}

static size_t __attribute__((noinline)) lose(unsigned count)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++) {
		volatile char *block = static_cast<char *>(malloc(700));
		block[0] = 1;
		bytes += malloc_usable_size(const_cast<char *>(block));
	}
	return bytes;
}

// What is left of pointers on the stack.
static void __attribute__((noinline)) forget()
{
	void *volatile room = alloca(16384);

	memset(room, 0, 16384);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		prctl(PR_SET_NAME, argv[1]);

	const size_t of_orders = hold(orders, 5000), of_customers = hold(customers, 700);
	const size_t of_lost = lose(300);

	forget();
	printf("%zu %zu %zu\nready\n", of_orders, of_customers, of_lost);
	fflush(stdout);
	for (;;)
		pause();
}
