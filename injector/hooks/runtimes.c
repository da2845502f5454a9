/* SPDX-License-Identifier: MIT */
/* runtimes.c - see runtimes.h. Start at marks[]. */
#include "runtimes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "elf_section.h"
#include "proc_file.h"

#define ENVIRONMENT_MAX (256u << 10)

/*
 * Two symbols that one object exports, or a section. Symbols need no symbol table, which may be
 * stripped.
 */
struct mark {
	enum hi_runtime runtime;
	const char *symbol[2];
	const char *section;
	bool only_main; /* another object with these symbols does not serve the whole process */
	/* a variable of the environment by which the runtime takes all memory from malloc */
	const char *unless, *is;
};

static const struct mark marks[] = {
	/* cmd/link of Go writes it for every program and library, stripped ones, too */
	{.runtime = HI_RUNTIME_GO, .section = ".go.buildinfo"},
	/* the launcher's libjli has neither, a library of native-image only the first */
	{.runtime = HI_RUNTIME_JVM, .symbol = {"JNI_CreateJavaVM", "JVM_GC"}},
	/* v8::V8::InitializePlatform: node, Electron, libnode, libv8 */
	{.runtime = HI_RUNTIME_V8, .symbol = {"_ZN2v82V818InitializePlatformEPNS_8PlatformE"}},
	/* the entry that Chromium's programs of whatever name export, and the allocator shim */
	{.runtime = HI_RUNTIME_CHROMIUM, .symbol = {"ChromeMain", "malloc"}, .only_main = true},
	{.runtime = HI_RUNTIME_FIREFOX, .symbol = {"moz_arena_malloc", "malloc"}},
	/* from 3.7 on */
	{.runtime = HI_RUNTIME_PYTHON,
	 .symbol = {"_PyRuntime", "PyObject_Malloc"},
	 .unless = "PYTHONMALLOC",
	 .is = "malloc"},
	{.runtime = HI_RUNTIME_PHP,
	 .symbol = {"zend_mm_startup", "_emalloc"},
	 .unless = "USE_ZEND_ALLOC",
	 .is = "0"},
	/* a NIF or driver imports these */
	{.runtime = HI_RUNTIME_ERLANG, .symbol = {"enif_make_atom", "erl_drv_output_term"}},
};

static bool exports(const struct elf_image *image, const char *symbol)
{
	remote_addr address;

	return !symbol || elf_image_symbol(image, symbol, &address, NULL) == 0;
}

static bool is_marked(const struct elf_image *image, const struct mark *mark)
{
	GElf_Shdr header;

	if (image->is_vdso || image->is_loader || (mark->only_main && !image->is_main))
		return false;
	if (mark->section)
		return image->elf && elf_section_find(image->elf, mark->section, &header);
	return exports(image, mark->symbol[0]) && exports(image, mark->symbol[1]);
}

/* Does a text of NAME=VALUE strings, each of them terminated, set the variable to this value? */
static bool sets(const char *text, size_t size, const char *name, const char *value)
{
	const size_t name_size = strlen(name);

	for (size_t at = 0; at < size; at += strnlen(text + at, size - at) + 1) {
		const char *entry = text + at;
		const size_t length = strnlen(entry, size - at);

		if (length == name_size + 1 + strlen(value) && entry[name_size] == '=' &&
		    memcmp(entry, name, name_size) == 0 &&
		    memcmp(entry + name_size + 1, value, strlen(value)) == 0)
			return true;
	}
	return false;
}

/* As the process was started; it may have changed its environment since. */
static bool uses_malloc(const struct mark *mark, pid_t pid, pid_t tid)
{
	static char text[ENVIRONMENT_MAX];
	size_t size = 0;
	ssize_t got = 1;
	int fd;

	if (!mark->unless || proc_open(pid, tid, "environ", O_RDONLY, &fd))
		return false;
	while (size < sizeof(text) && got > 0) {
		got = read(fd, text + size, sizeof(text) - size);
		size += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return sets(text, size, mark->unless, mark->is);
}

uint32_t runtimes_find(const struct elf_images *images, pid_t pid, pid_t tid)
{
	uint32_t found = 0;

	for (size_t m = 0; m < sizeof(marks) / sizeof(marks[0]); m++) {
		const struct mark *mark = &marks[m];
		bool is_there = false;

		for (size_t i = 0; i < images->count && !is_there; i++)
			is_there = is_marked(&images->image[i], mark);
		if (is_there && !uses_malloc(mark, pid, tid))
			found |= 1u << mark->runtime;
	}
	return found;
}
