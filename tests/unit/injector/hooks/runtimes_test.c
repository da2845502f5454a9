/* SPDX-License-Identifier: MIT */
/* runtimes_test.c - libraries with the marks of runtimes, loaded into this very process. */
#include "runtimes.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "own_images.h"

/* Builds a library of this code and loads it. */
static void load(const char *code)
{
	const char *compiler = getenv("CC");
	char directory[] = "/tmp/runtimes.XXXXXX", path[64], command[1024];

	CHECK(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/libmarked.so", directory);
	snprintf(command, sizeof(command), "echo '%s' | %s -shared -fPIC -w -x c - -o %s", code,
		 compiler ? compiler : "cc", path);
	CHECK_EQ(system(command), 0);
	CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL);
	unlink(path);
	rmdir(directory);
}

/* as_main: a library is the program */
static uint32_t found(bool as_main)
{
	struct own own = own_open();
	uint32_t bits;

	for (size_t i = 0; i < own.images.count && as_main; i++)
		own.images.image[i].is_main = strstr(own.images.image[i].path, "libmarked");
	bits = runtimes_find(&own.images, getpid(), getpid());
	own_close(&own);
	return bits;
}

UNIT_TEST(a_program_in_c_runs_none)
{
	CHECK_EQ(found(false), 0);
}

UNIT_TEST(go_is_known_by_its_section)
{
	load("__attribute__((section(\".go.buildinfo\"))) int info[8] = {1};");
	CHECK_EQ(found(false), 1u << HI_RUNTIME_GO);
}

UNIT_TEST(both_symbols_are_needed)
{
	load("void JNI_CreateJavaVM(void) {} void zend_mm_startup(void) {} int _PyRuntime = 1;");
	CHECK_EQ(found(false), 0);
	load("void JNI_CreateJavaVM(void) {} void JVM_GC(void) {}");
	CHECK_EQ(found(false), 1u << HI_RUNTIME_JVM);
	load("void zend_mm_startup(void) {} void _emalloc(void) {}"
	     "int _PyRuntime = 1; void PyObject_Malloc(void) {}");
	CHECK_EQ(found(false),
		 1u << HI_RUNTIME_JVM | 1u << HI_RUNTIME_PHP | 1u << HI_RUNTIME_PYTHON);
}

UNIT_TEST(an_imported_symbol_is_no_mark)
{
	load("void _ZN2v82V818InitializePlatformEPNS_8PlatformE(void *);"
	     "void user(void *p) { _ZN2v82V818InitializePlatformEPNS_8PlatformE(p); }"
	     "__asm__(\".weak _ZN2v82V818InitializePlatformEPNS_8PlatformE\");");
	CHECK_EQ(found(false), 0);
	load("void _ZN2v82V818InitializePlatformEPNS_8PlatformE(void *p) {}");
	CHECK_EQ(found(false), 1u << HI_RUNTIME_V8);
}

UNIT_TEST(erlang_is_known_by_what_its_drivers_call)
{
	load("void enif_make_atom(void) {}");
	CHECK_EQ(found(false), 0);
	load("void enif_make_atom(void) {} void erl_drv_output_term(void) {}");
	CHECK_EQ(found(false), 1u << HI_RUNTIME_ERLANG);
}

UNIT_TEST(browsers_are_known_by_the_malloc_that_they_bring)
{
	load("void ChromeMain(void) {} void *malloc(unsigned long n) { return 0; }"
	     "void moz_arena_malloc(void) {}");
	CHECK_EQ(found(false), 1u << HI_RUNTIME_FIREFOX);
	CHECK_EQ(found(true), 1u << HI_RUNTIME_FIREFOX | 1u << HI_RUNTIME_CHROMIUM);
}

UNIT_TEST(what_is_said_of_several)
{
	char text[HI_RUNTIMES_TEXT_MAX], little[64];

	CHECK_STR(hi_runtimes_describe(0, text, sizeof(text)), "");
	CHECK_STR(hi_runtimes_heaps(0, text, sizeof(text)), "");
	CHECK_STR(hi_runtimes_heaps(1u << HI_RUNTIME_JVM | 1u << HI_RUNTIME_PYTHON | 1u << 31, text,
				    sizeof(text)),
		  "the Java heap or Python's small objects");
	hi_runtimes_describe(1u << HI_RUNTIME_JVM | 1u << HI_RUNTIME_GO, text, sizeof(text));
	CHECK(strstr(text, "it runs Go: the Go heap is not seen") == text);
	CHECK(strstr(text, "; it runs a JVM: the Java heap, metaspace") != NULL);
	CHECK_EQ(strlen(hi_runtimes_describe(~0u, little, sizeof(little))), 63);
	/* all of them together are too much for a caveat; a process has two or three */
	CHECK(strlen(hi_runtimes_describe(~0u, text, sizeof(text))) < sizeof(text));
}

UNIT_MAIN()
