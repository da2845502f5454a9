// SPDX-License-Identifier: MIT
/*
 * named_functions/throwing.cc - a function of a pool that fails by an exception, each tenth time.
 * Command: "keep N BYTES".
 */
#include <stdexcept>

#include "../target.h"

extern "C" __attribute__((noinline)) void *pool_get(size_t size, bool fails)
{
	if (fails)
		throw std::runtime_error("the pool is empty");
	return malloc(size);
}

int main()
{
	char command[TARGET_COMMAND_MAX];
	size_t count, size, caught;

	target_say("ready\n");
	while (target_read(command)) {
		caught = 0;
		if (sscanf(command, "keep %zu %zu", &count, &size) != 2)
			return 1;
		for (size_t i = 0; i < count; i++) {
			try {
				memset(pool_get(size, i % 10 == 0), 1, size);
			} catch (const std::runtime_error &) {
				caught++;
			}
		}
		target_say("caught %zu\n", caught);
	}
	return 0;
}
