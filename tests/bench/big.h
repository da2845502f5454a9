/* SPDX-License-Identifier: MIT */
/*
 * big.h - what the generated parts of the big program (see big_main.cc) are instances of: much
 * code, many types, much debug information.
 */
#ifndef BIG_H
#define BIG_H

#include <map>
#include <memory>
#include <string>
#include <vector>

template <int number> struct Request {
	int id = number;
	std::string name;
	std::vector<std::unique_ptr<Request>> parts;
};

template <class Kind> class Handler
{
      public:
	/* A dozen allocations and frees, a heap that stays small. */
	static void handle(int key)
	{
		static thread_local Handler handler;

		handler.add(key);
		if (handler.open.size() > 4)
			handler.open.erase(handler.open.begin());
	}

      private:
	void add(int key)
	{
		Kind &request = open[key];

		request.name.assign(32 + static_cast<size_t>(key) % 64, 'x');
		request.parts.push_back(std::make_unique<Kind>());
	}

	std::map<int, Kind> open;
};

using Handle = void (*)(int key);

/* One for each part; ends with a null pointer. */
extern const Handle *const big_parts[];

#endif
