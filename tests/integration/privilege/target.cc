// SPDX-License-Identifier: MIT
/*
 * Commands: work = 8 MB that stay; leave = the same, and exit a little later. Anything else is
 * answered.
 */
#include <map>
#include <string>
#include <vector>

#include "../target.h"

static void keep(void *block)
{
	static void *volatile kept;

	kept = block;
}

static inline __attribute__((always_inline)) void hoard_inlined(int count)
{
	for (int i = 0; i < count; i++)
		keep(malloc(10000)); // mark: hoard_inlined
}

/* Its mangled name refers back to its own parts so often that it might stand for gigabytes. */
using Lists = std::map<std::string, std::vector<std::string>>;
using Deep = std::map<Lists, std::map<Lists, std::string>>;
template <class First, class Second>
__attribute__((noinline)) static void hoard_of(First *, Second *)
{
	hoard_inlined(400); // mark: hoard_of
	asm volatile("");
}

__attribute__((noinline)) static void hoard()
{
	hoard_inlined(400); // mark: hoard
	hoard_of<Deep, std::map<Lists, Deep>>(nullptr, nullptr);
}

int main()
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		const bool leaves = !strcmp(command, "leave");
		if (leaves || !strcmp(command, "work"))
			hoard();
		target_say("done\n");
		if (leaves) {
			usleep(500000);
			return 0;
		}
	}
	return 0;
}
