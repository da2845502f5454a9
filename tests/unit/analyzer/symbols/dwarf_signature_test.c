/* SPDX-License-Identifier: MIT */
/* dwarf_signature: results and parameters of functions, of small libraries compiled on the spot. */
#include "dwarf_signature.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>

#include "unit.h"

#define DIRECTORY "/tmp/heapinject-signature-XXXXXX"

static char directory[] = DIRECTORY;

static void clean_up(void)
{
	char command[sizeof(directory) + 16];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	(void)!system(command);
}

/* Compiles the source to a library, and returns it. NULL: there is no such compiler. */
static const char *compile(const char *compiler, const char *options, const char *source)
{
	static char library[sizeof(directory) + 16];
	char path[sizeof(directory) + 16], command[512];

	if (!strcmp(directory, DIRECTORY)) {
		CHECK(mkdtemp(directory));
		atexit(clean_up);
	}
	snprintf(command, sizeof(command), "command -v %s >/dev/null", compiler);
	if (system(command))
		return NULL;
	snprintf(path, sizeof(path), "%s/a.%s", directory,
		 strstr(compiler, "++")     ? "cc"
		 : strstr(compiler, "gnat") ? "adb"
					    : "c");
	snprintf(library, sizeof(library), "%s/a.so", directory);
	FILE *file = fopen(path, "w");
	CHECK(file);
	fputs(source, file);
	fclose(file);
	if (strstr(compiler, "gnat")) /* does not link */
		snprintf(command, sizeof(command),
			 "cd %s && %s %s -fPIC -c a.adb && gcc -shared -o %s a.o", directory,
			 compiler, options, library);
	else
		snprintf(command, sizeof(command), "%s %s -shared -fPIC -o %s %s", compiler,
			 options, library, path);
	CHECK_EQ(system(command), 0);
	return library;
}

static int read_of(const char *library, const char *name, struct hi_signature *out_signature)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;

	CHECK(handle);
	CHECK_EQ(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
	const void *function = dlsym(handle, name);
	CHECK(function);
	struct objfile file = {.fd = open(library, O_RDONLY | O_CLOEXEC)};
	elf_version(EV_CURRENT);
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	CHECK(file.elf);
	const int err =
		dwarf_signature_read(&file, (uint64_t)function - map->l_addr, out_signature);
	elf_end(file.elf);
	close(file.fd);
	dlclose(handle);
	return err;
}

static void check_parameter(const struct hi_parameter *parameter, enum hi_parameter_kind kind,
			    const char *type, const char *name)
{
	if (parameter->kind != kind || strcmp(parameter->type, type) != 0 ||
	    strcmp(parameter->name, name) != 0)
		UNIT_FAIL("kind %d, type '%s', name '%s' (expected %d, '%s', '%s')",
			  parameter->kind, parameter->type, parameter->name, kind, type, name);
}

static const char pool[] = "#include <stddef.h>\n"
			   "#include <stdlib.h>\n"
			   "typedef struct pool { struct pool *next; } pool_t;\n"
			   "typedef const size_t *sizes;\n"
			   "enum how { PLAIN };\n"
			   "void *get(pool_t *pool, const size_t size) {\n"
			   "  pool->next = NULL; return malloc(size); }\n"
			   "int store(void **where, size_t align, unsigned count) {\n"
			   "  *where = malloc(align * count); return 0; }\n"
			   "void drop(pool_t **pools, sizes all, void (*by)(void *), char letter,\n"
			   "          enum how how, _Bool is, short few) {\n"
			   "  by(pools); by((void *)all); (void)letter; (void)how; }\n"
			   "pool_t whole(double share, pool_t by_value, __int128 wide) {\n"
			   "  (void)share; (void)wide; return by_value; }\n"
			   "char *text(const char *format, ...) { return (char *)format; }\n"
			   "const void *next(struct pool *const pool) { return pool->next; }\n";

static void check_pool(const char *compiler, const char *options)
{
	const char *library = compile(compiler, options, pool);
	struct hi_signature got;

	if (!library)
		return;
	CHECK_EQ(read_of(library, "get", &got), 0);
	CHECK(got.is_known && !got.is_variadic);
	CHECK_EQ(got.count, 2u);
	check_parameter(&got.result, HI_PARAMETER_POINTER, "void *", "");
	check_parameter(&got.parameter[0], HI_PARAMETER_POINTER, "pool_t *", "pool");
	check_parameter(&got.parameter[1], HI_PARAMETER_INTEGER, "size_t", "size");
	CHECK_EQ(got.parameter[1].bytes, 8);

	CHECK_EQ(read_of(library, "store", &got), 0);
	CHECK_EQ(got.count, 3u);
	check_parameter(&got.result, HI_PARAMETER_INTEGER, "int", "");
	check_parameter(&got.parameter[0], HI_PARAMETER_POINTER_TO_POINTER, "void **", "where");
	check_parameter(&got.parameter[2], HI_PARAMETER_INTEGER, "unsigned int", "count");
	CHECK_EQ(got.parameter[2].bytes, 4);

	CHECK_EQ(read_of(library, "drop", &got), 0);
	CHECK_EQ(got.count, 7u);
	check_parameter(&got.result, HI_PARAMETER_NONE, "void", "");
	check_parameter(&got.parameter[0], HI_PARAMETER_POINTER_TO_POINTER, "pool_t **", "pools");
	check_parameter(&got.parameter[1], HI_PARAMETER_POINTER, "sizes", "all");
	check_parameter(&got.parameter[2], HI_PARAMETER_POINTER, "function *", "by");
	check_parameter(&got.parameter[3], HI_PARAMETER_WORD, "char", "letter");
	check_parameter(&got.parameter[4], HI_PARAMETER_WORD, "enum how", "how");
	CHECK_EQ(got.parameter[5].kind, HI_PARAMETER_WORD);
	CHECK_EQ(got.parameter[6].kind, HI_PARAMETER_WORD);

	CHECK_EQ(read_of(library, "whole", &got), 0);
	check_parameter(&got.result, HI_PARAMETER_STRUCTURE, "pool_t", "");
	check_parameter(&got.parameter[0], HI_PARAMETER_OTHER, "double", "share");
	check_parameter(&got.parameter[1], HI_PARAMETER_STRUCTURE, "pool_t", "by_value");
	CHECK_EQ(got.parameter[2].kind, HI_PARAMETER_OTHER);

	CHECK_EQ(read_of(library, "text", &got), 0);
	CHECK(got.is_variadic);
	CHECK_EQ(got.count, 1u);

	CHECK_EQ(read_of(library, "next", &got), 0);
	check_parameter(&got.result, HI_PARAMETER_POINTER, "void *", "");
	check_parameter(&got.parameter[0], HI_PARAMETER_POINTER, "struct pool *", "pool");
}

UNIT_TEST(functions_of_c_are_as_in_the_source)
{
	check_pool("gcc", "-g -O2");
	check_pool("gcc", "-g -O0 -gdwarf-4");
	check_pool("gcc", "-g -O2 -flto");
	check_pool("clang", "-g -O2");
}

UNIT_TEST(of_a_method_this_is_the_first)
{
	static const char arena[] =
		"#include <cstdlib>\n"
		"namespace store { class Arena { public: void *get(std::size_t size);\n"
		"  unsigned long used; }; }\n"
		"void *store::Arena::get(std::size_t size) { used += size; return malloc(size); "
		"}\n";
	static const char *const compilers[] = {"g++", "clang++"};
	struct hi_signature got;

	for (size_t i = 0; i < 2; i++) {
		const char *library = compile(compilers[i], "-g -O2", arena);
		if (!library)
			continue;
		CHECK_EQ(read_of(library, "_ZN5store5Arena3getEm", &got), 0);
		CHECK_EQ(got.count, 2u);
		CHECK_EQ(got.result.kind, HI_PARAMETER_POINTER);
		check_parameter(&got.parameter[0], HI_PARAMETER_POINTER, "Arena *", "this");
		CHECK_EQ(got.parameter[1].kind, HI_PARAMETER_INTEGER);
		CHECK(!strcmp(got.parameter[1].name, "size"));
	}
}

UNIT_TEST(of_ada_an_address_is_a_pointer_and_a_range_an_integer)
{
	static const char get[] =
		"with System; with System.Storage_Elements; use System.Storage_Elements;\n"
		"function A (Pool : System.Address; Size : Storage_Count) return System.Address "
		"is\n"
		"begin return Pool + Storage_Offset (Size); end A;\n";
	const char *library = compile("gnatgcc", "-g -O1 -gnatp", get);
	struct hi_signature got;

	if (!library)
		SKIP("there is no compiler for Ada here");
	CHECK_EQ(read_of(library, "_ada_a", &got), 0);
	CHECK_EQ(got.count, 2u);
	CHECK_EQ(got.result.kind, HI_PARAMETER_POINTER);
	check_parameter(&got.parameter[0], HI_PARAMETER_POINTER, "system__address", "pool");
	CHECK_EQ(got.parameter[1].kind, HI_PARAMETER_INTEGER);
	CHECK_EQ(got.parameter[1].bytes, 8);
}

UNIT_TEST(without_debug_information_nothing_is_known)
{
	const char *library = compile("gcc", "-O2", pool);
	struct hi_signature got = {.count = 77};

	CHECK(library);
	CHECK_EQ(read_of(library, "get", &got), -ENOENT);
	CHECK_EQ(got.count, 77u);
}

UNIT_TEST(an_address_within_a_function_is_none)
{
	const char *library = compile("gcc", "-g -O2", pool);
	struct hi_signature got;

	CHECK(library);
	struct objfile file = {.fd = open(library, O_RDONLY | O_CLOEXEC)};
	elf_version(EV_CURRENT);
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	CHECK_EQ(dwarf_signature_read(&file, 0x10, &got), -ENOENT);
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;
	CHECK_EQ(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
	CHECK_EQ(
		dwarf_signature_read(&file, (uint64_t)dlsym(handle, "get") - map->l_addr + 1, &got),
		-ENOENT);
	dlclose(handle);
	elf_end(file.elf);
	close(file.fd);
}

UNIT_MAIN()
