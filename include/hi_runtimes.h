/* SPDX-License-Identifier: MIT */
/*
 * hi_runtimes.h - language runtimes and programs that have memory which malloc does not give: what
 * of a process that runs one is seen, what is not, and what shows the rest.
 *
 * Header-only, so that injector and analyzer share the table without sharing objects. The injector
 * recognizes them (injector/hooks/runtimes.h). Stream and .heap files have their numbers, so a
 * number is never given to another one.
 */
#ifndef HI_RUNTIMES_H
#define HI_RUNTIMES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * enumerator, number, name for programs, name for people, where memory is that is not seen, what
 * is not seen and what is, and what gives names to frames that have none. Each sentence was
 * compared with what is seen of real programs (integration runtimes, foreign_runtimes, perf_map,
 * make browsers).
 */
#define HI_RUNTIMES(row)                                                                           \
	row(GO, 0, "go", "Go", "the Go heap",                                                      \
	    "the Go heap is not seen (go tool pprof shows it, of its /debug/pprof/heap); what C "  \
	    "code allocates (cgo) is")                                                             \
		row(JVM, 1, "jvm", "a JVM", "the Java heap",                                       \
		    "the Java heap, metaspace and compiled code are not seen (jcmd PID "           \
		    "GC.class_histogram "                                                          \
		    "shows the heap); direct buffers, JNI libraries and the JVM's own structures " \
		    "are") row(V8, 2, "v8", "V8", "the JavaScript heap",                           \
			       "the JavaScript heap and compiled code are not seen (node "         \
			       "--heapsnapshot-signal or "                                         \
			       "the inspector shows them); C++ code, add-ons and node's Buffers "  \
			       "are; JavaScript functions have names in stacks with node "         \
			       "--perf-basic-prof --interpreted-frames-native-stack")              \
			row(CHROMIUM, 3, "chromium", "Chromium",                                   \
			    "the JavaScript heap, Blink's objects or a partition "                 \
			    "of its own",                                                          \
			    "the JavaScript heap, Blink's objects and separate "                   \
			    "partitions of PartitionAlloc "                                        \
			    "(ArrayBuffers, strings) are not seen (DevTools shows "                \
			    "them); malloc and new of C++ "                                        \
			    "code and libraries are") row(FIREFOX, 4, "firefox", "Firefox",        \
							  "the JavaScript heap or an arena of "    \
							  "its own",                               \
							  "the JavaScript heap and separate "      \
							  "arenas of mozjemalloc "                 \
							  "(ArrayBuffers, strings) are "           \
							  "not seen (about:memory shows them); "   \
							  "malloc and new of C++ code and "        \
							  "libraries are")                         \
				row(PYTHON, 5, "python", "Python", "Python's small objects",       \
				    "objects of at most 512 bytes are not seen (tracemalloc "      \
				    "shows them, PYTHONMALLOC="                                    \
				    "malloc makes them seen); larger ones and C extensions are")   \
					row(PHP, 6, "php", "PHP", "memory of its requests",        \
					    "memory of requests is not seen (memory_get_usage() "  \
					    "shows it, USE_ZEND_ALLOC=0 makes "                    \
					    "it seen); what outlives a request and libraries are") \
						row(ERLANG, 7, "erlang", "Erlang",                 \
						    "memory of Erlang's own allocators",           \
						    "what processes, binaries and tables have is " \
						    "seen only with erl +Mea min "                 \
						    "(erlang:memory() shows it); what NIFs and "   \
						    "libraries take from malloc is; stacks "       \
						    "end in compiled Erlang code, which has "      \
						    "names with erl +JPperf true")

enum hi_runtime {
#define HI_RUNTIME_ENUM(name, number, word, title, heap, text) HI_RUNTIME_##name = number,
	HI_RUNTIMES(HI_RUNTIME_ENUM)
#undef HI_RUNTIME_ENUM
		HI_RUNTIME_COUNT
};

struct hi_runtime_text {
	const char *name, *title, *heap, *text;
};

#define HI_RUNTIMES_TEXT_MAX 1024u

/* NULL: a later version may know a runtime with this number. */
static inline const struct hi_runtime_text *hi_runtime_text(unsigned number)
{
	static const struct hi_runtime_text texts[HI_RUNTIME_COUNT] = {
#define HI_RUNTIME_TEXT(name, number, ...) [number] = {__VA_ARGS__},
		HI_RUNTIMES(HI_RUNTIME_TEXT)
#undef HI_RUNTIME_TEXT
	};

	return number < HI_RUNTIME_COUNT ? &texts[number] : NULL;
}

/*
 * "it runs a JVM: the Java heap ... are not seen ...; it runs Python: ..." of the runtimes whose
 * bits (1 << enum hi_runtime) are set; empty if none is. Returns text.
 */
static inline char *hi_runtimes_describe(uint32_t bits, char *text, size_t size)
{
	size_t at = 0;

	*text = 0;
	for (unsigned i = 0; i < HI_RUNTIME_COUNT && at < size; i++) {
		const struct hi_runtime_text *runtime = hi_runtime_text(i);

		if (bits >> i & 1)
			at += (size_t)snprintf(text + at, size - at, "%sit runs %s: %s",
					       at ? "; " : "", runtime->title, runtime->text);
	}
	return text;
}

/* "the Java heap or Python's small objects" */
static inline char *hi_runtimes_heaps(uint32_t bits, char *text, size_t size)
{
	size_t at = 0;

	*text = 0;
	for (unsigned i = 0; i < HI_RUNTIME_COUNT && at < size; i++)
		if (bits >> i & 1)
			at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " or " : "",
					       hi_runtime_text(i)->heap);
	return text;
}

#endif
