/* SPDX-License-Identifier: MIT */
/*
 * symbols_test.c - resolves addresses of this very program, and of small programs compiled on the
 * spot, against addr2line and what the source says.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <search.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "objfile.h"
#include "perfmap.h"
#include "symbols.h"
#include "symtab.h"
#include "unwind_bounds.h"
#include "vdso.h"

static const struct symbols_options no_options;
static void *addresses[3]; /* return addresses, filled by note_caller() */
static int leaf_line, inlined_line;

static __attribute__((noinline)) void note_caller(void)
{
	addresses[0] = __builtin_return_address(0);
	__asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) void inlined_into_caller(void)
{
	leaf_line = __LINE__ + 1;
	note_caller();
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void calling_function(void)
{
	inlined_line = __LINE__ + 1;
	inlined_into_caller();
	__asm__ volatile("" ::: "memory");
}

static char *self_path(void)
{
	static char path[4096];
	const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CHECK(size > 0);
	path[size] = 0;
	return path;
}

static int take_first(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

static uint64_t own_bias(void)
{
	uint64_t bias = 0;

	dl_iterate_phdr(take_first, &bias);
	return bias;
}

/* A profile with one module and one frame in it. */
static struct profile profile_of(const char *path, uint64_t bias, uint64_t address)
{
	struct profile_module module = {.lo = 0x1000, .hi = UINT64_MAX, .bias = bias, .number = 1};
	struct profile profile;
	uint32_t index, frame;

	CHECK_EQ(profile_open(&profile), 0);
	profile.meta.pid = (uint32_t)getpid();
	module.path = strdup(path);
	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, address, (int32_t)index, &frame), 0);
	free(module.path);
	return profile;
}

static void set_build_id(struct profile *profile, const char *path)
{
	struct profile_module module = {.path = (char *)(uintptr_t)path};
	struct objfile file;
	size_t size;

	CHECK_EQ(objfile_open(&(struct file_source){.pid = (uint32_t)getpid()}, &module, NULL,
			      &file),
		 0);
	const uint8_t *id = objfile_build_id(file.elf, &size);
	CHECK(id && size == 20);
	memcpy(profile->module[0].build_id, id, size);
	profile->module[0].build_id_size = size;
	objfile_close(&file);
}

UNIT_TEST(function_line_and_inlined_call)
{
	calling_function();
	struct profile profile = profile_of(self_path(), own_bias(), (uint64_t)addresses[0]);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	const struct profile_frame *frame = &profile.frame[0];
	CHECK_EQ(frame->line_count, 2);
	CHECK_STR(frame->line[0].function, "inlined_into_caller");
	CHECK_STR(frame->line[1].function, "calling_function");
	CHECK_EQ(frame->line[0].line, leaf_line);
	CHECK_EQ(frame->line[1].line, inlined_line);
	CHECK(strstr(frame->line[0].file, "symbols_test.c"));
	CHECK(strstr(frame->line[1].file, "symbols_test.c"));
	profile_close(&profile);
}

UNIT_TEST(another_build_is_not_used)
{
	calling_function();
	struct profile profile = profile_of(self_path(), own_bias(), (uint64_t)addresses[0]);
	set_build_id(&profile, self_path());
	profile.module[0].build_id[3] ^= 1;
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 0);
	profile.module[0].build_id[3] ^= 1;
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 2);
	profile_close(&profile);
}

UNIT_TEST(another_inode_is_not_used)
{
	struct stat status;

	calling_function();
	CHECK_EQ(stat(self_path(), &status), 0);
	struct profile profile = profile_of(self_path(), own_bias(), (uint64_t)addresses[0]);
	profile.module[0].inode = status.st_ino + 1;
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	/* This program has a build-id, the module none: only the inode can tell. */
	CHECK_EQ(profile.frame[0].line_count, 0);
	profile_close(&profile);
}

/* The path by which a session has opened it may lead elsewhere when its records are read. */
UNIT_TEST(a_path_that_was_right_is_no_proof)
{
	struct stat status;
	char own[PATH_MAX + 64];

	calling_function();
	CHECK_EQ(stat(self_path(), &status), 0);
	struct profile profile = profile_of("/nowhere/program", own_bias(), (uint64_t)addresses[0]);
	snprintf(own, sizeof(own), "/proc/%d/root%s", (int)getpid(), self_path());
	profile.module[0].open_path = strdup(own);
	profile.module[0].inode = status.st_ino + 1;
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 0);
	profile_close(&profile);
}

UNIT_TEST(binary_by_option)
{
	calling_function();
	struct profile profile = profile_of("/nowhere/program", own_bias(), (uint64_t)addresses[0]);
	const struct symbols_options options = {.files.binary = self_path()};
	CHECK_EQ(symbols_resolve(&profile, &options), 0);
	CHECK_EQ(profile.frame[0].line_count, 2);
	profile_close(&profile);
}

UNIT_TEST(library_function_by_symbol_table)
{
	struct link_map *map;
	Dl_info info;

	CHECK(dladdr1((void *)&insque, &info, (void **)&map, RTLD_DL_LINKMAP));
	char *path = realpath(info.dli_fname, NULL);
	CHECK(path);
	struct profile profile = profile_of(path, map->l_addr, (uint64_t)info.dli_saddr + 5);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK(profile.frame[0].line_count > 0);
	CHECK_STR(profile.frame[0].line[profile.frame[0].line_count - 1].function, "insque");
	profile_close(&profile);
	free(path);
}

/* It has no file. */
UNIT_TEST(vdso_function_if_the_kernel_is_the_same)
{
	const uint64_t bias = getauxval(AT_SYSINFO_EHDR);
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	size_t size;

	if (!bias || !vdso)
		SKIP("this process has no vdso");
	const uint64_t function = (uint64_t)dlsym(vdso, "__vdso_clock_gettime");
	CHECK(function > bias);
	Elf *elf = vdso_open();
	const uint8_t *id = objfile_build_id(elf, &size);
	CHECK(id && size <= PROFILE_BUILD_ID_MAX);
	struct profile profile = profile_of(VDSO_PATH, bias, function + 5);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 0); /* nobody knows of which kernel it is */
	memcpy(profile.module[0].build_id, id, size);
	profile.module[0].build_id_size = size;
	profile.module[0].build_id[1] ^= 1;
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 0);
	profile.module[0].build_id[1] ^= 1;
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 1);
	CHECK_STR(profile.frame[0].line[0].function, "__vdso_clock_gettime");
	profile_close(&profile);
	elf_end(elf);
	dlclose(vdso);
}

/* Where no other function ends just there, which depends on the kernel. */
UNIT_TEST(vdso_function_that_was_interrupted_before_it_began)
{
	const uint64_t bias = getauxval(AT_SYSINFO_EHDR);
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	struct symtab table;
	size_t size;

	if (!bias || !vdso)
		SKIP("this process has no vdso");
	const uint64_t function = (uint64_t)dlsym(vdso, "__vdso_clock_gettime");
	CHECK(function > bias);
	Elf *elf = vdso_open();
	CHECK_EQ(symtab_open(elf, &table), 0);
	const char *before = symtab_find(&table, function - bias - 1);
	struct profile profile = profile_of(VDSO_PATH, bias, function);
	const uint8_t *id = objfile_build_id(elf, &size);
	CHECK(id && size <= PROFILE_BUILD_ID_MAX);
	memcpy(profile.module[0].build_id, id, size);
	profile.module[0].build_id_size = size;
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 1);
	CHECK_STR(profile.frame[0].line[0].function, before ? before : "__vdso_clock_gettime");
	profile_close(&profile);
	symtab_close(&table);
	elf_end(elf);
	dlclose(vdso);
}

UNIT_TEST(what_was_sought_and_found)
{
	struct symbols_findings findings = {0};
	uint32_t frame;

	calling_function();
	struct profile profile = profile_of(self_path(), own_bias(), (uint64_t)addresses[0]);
	CHECK_EQ(profile_frame_at(&profile, 1, -1, &frame), 0);
	CHECK_EQ(symbols_resolve(&profile, &(struct symbols_options){.findings = &findings}), 0);
	CHECK_EQ(findings.sought, 2);
	CHECK_EQ(findings.found, 1);
	CHECK_EQ(findings.lacking, 0);
	CHECK(!findings.lacked);
	profile_close(&profile);
}

/* Names that were found where there was no debug information. */
UNIT_TEST(names_are_completed_if_that_is_asked_for)
{
	const struct profile_line name = {.function = (char[]){"told"}},
				  place = {.function = (char[]){"told"},
					   .file = (char[]){"told.c"},
					   .line = 7};
	struct symbols_findings findings = {0};
	uint32_t unknown, complete;

	calling_function();
	struct profile profile = profile_of(self_path(), own_bias(), (uint64_t)addresses[0]);
	CHECK_EQ(profile_frame_at(&profile, own_bias() + 1, 0, &unknown), 0);
	CHECK_EQ(profile_frame_at(&profile, (uint64_t)(void *)note_caller + 1, 0, &complete), 0);
	CHECK_EQ(profile_frame_lines(&profile.frame[0], &name, 1), 0);
	CHECK_EQ(profile_frame_lines(&profile.frame[unknown], &place, 1), 0);
	CHECK_EQ(profile_frame_lines(&profile.frame[complete], &place, 1), 0);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 1);
	CHECK_STR(profile.frame[0].line[0].function, "told");
	CHECK_EQ(symbols_resolve(&profile, &(struct symbols_options){.complete = true,
								     .findings = &findings}),
		 0);
	CHECK_EQ(profile.frame[0].line_count, 2);
	CHECK_STR(profile.frame[0].line[0].function, "inlined_into_caller");
	CHECK_STR(profile.frame[unknown].line[0].function, "told");
	/* nothing more can be said of it */
	CHECK_STR(profile.frame[complete].line[0].function, "told");
	CHECK_EQ(findings.sought, 0);
	CHECK_EQ(findings.bettered, 1);
	profile_close(&profile);
}

UNIT_TEST(unknown_addresses_stay_empty)
{
	struct profile profile = profile_of(self_path(), own_bias(), own_bias() + 1);
	uint32_t frame;

	CHECK_EQ(profile_frame_at(&profile, UINT64_MAX, 0, &frame), 0);
	CHECK_EQ(profile_frame_at(&profile, 0, 0, &frame), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x1234, -1, &frame), 0);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	for (size_t i = 0; i < profile.frame_count; i++)
		CHECK_EQ(profile.frame[i].line_count, 0);
	profile_close(&profile);
}

/* ---- separate debug files -------------------------------------------------------------------- */

static const char source[] = "__attribute__((noinline)) int hidden_worker(int x) { __asm__ "
			     "volatile(\"\"); return x + 1; }\n"
			     "int main(int n, char **v) { (void)v; return hidden_worker(n); }\n";

static char directory[64];

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	char command[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command) != 0)
		UNIT_FAIL("%s", command);
}

/* Compiles the source into DIRECTORY/program; the address of hidden_worker in it. */
static uint64_t compile(const char *flags)
{
	char path[128];
	uint64_t address = 0;

	strcpy(directory, "/tmp/symbols_test.XXXXXX");
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/program.c", directory);
	FILE *file = fopen(path, "w");
	CHECK(file && fputs(source, file) >= 0 && fclose(file) == 0);
	run("cd %s && cc -O1 -g %s program.c -o program && nm program | awk '/hidden_worker/ "
	    "{print $1}' > address",
	    directory, flags);
	snprintf(path, sizeof(path), "%s/address", directory);
	file = fopen(path, "r");
	CHECK(file && fscanf(file, "%" SCNx64, &address) == 1 && fclose(file) == 0);
	return address;
}

static void check_worker(uint64_t address, bool expected)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/program", directory);
	struct profile profile = profile_of(path, 0, address + 1);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, expected ? 1 : 0);
	if (expected) {
		CHECK_STR(profile.frame[0].line[0].function, "hidden_worker");
		CHECK_EQ(profile.frame[0].line[0].line, 1);
		CHECK(strstr(profile.frame[0].line[0].file, "program.c"));
	}
	profile_close(&profile);
	run("rm -r %s", directory);
}

UNIT_TEST(debug_link_next_to_the_file)
{
	const uint64_t address = compile("-Wl,--build-id=none");

	run("cd %s && objcopy --only-keep-debug program program.debug && strip program && objcopy "
	    "--add-gnu-debuglink=program.debug program",
	    directory);
	check_worker(address, true);
}

UNIT_TEST(debug_link_in_a_directory_with_build_id)
{
	const uint64_t address = compile("-Wl,--build-id");

	run("cd %s && mkdir .debug && objcopy --only-keep-debug program .debug/x && strip program "
	    "&& objcopy --add-gnu-debuglink=.debug/x program",
	    directory);
	check_worker(address, true);
}

UNIT_TEST(debug_link_with_wrong_checksum)
{
	const uint64_t address = compile("-Wl,--build-id=none");

	run("cd %s && objcopy --only-keep-debug program program.debug && strip program && objcopy "
	    "--add-gnu-debuglink=program.debug program && "
	    "objcopy --add-section .extra=program.c program.debug",
	    directory);
	check_worker(address, false);
}

/* The address where the nameless function begins that has this one; 0 = unknown. */
static uint64_t function_of(const char *path, uint64_t bias, uint64_t address)
{
	struct profile profile = profile_of(path, bias, bias + address + 1);

	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 0);
	const uint64_t function = profile.frame[0].function;
	profile_close(&profile);
	return function;
}

UNIT_TEST(functions_of_a_stripped_file)
{
	const uint64_t bias = 0x550000000000, worker = compile("-fno-inline");
	char path[128];
	GElf_Ehdr header;

	snprintf(path, sizeof(path), "%s/program", directory);
	run("strip %s", path);
	CHECK_EQ(function_of(path, bias, worker), bias + worker);
	CHECK_EQ(function_of(path, bias, worker + 1), bias + worker);
	CHECK_EQ(function_of(path, bias, 0x10), 0); /* the ELF header */
	CHECK_EQ(function_of(path, bias, UINT64_C(1) << 40), 0);

	/* Code between functions belongs to none. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	CHECK(elf && gelf_getehdr(elf, &header));
	struct objfile file = {.fd = fd, .elf = elf};
	struct unwind_bounds bounds;
	uint64_t begin, end = worker;
	CHECK_EQ(unwind_bounds_open(&file, &bounds), 0);
	while (unwind_bounds_find(&bounds, &file, end, &begin) == 0 && begin == worker)
		end++;
	CHECK(end > worker && end - worker < 64);
	CHECK_EQ(unwind_bounds_find(&bounds, &file, worker - 1, &begin) == 0 && begin == worker, 0);
	unwind_bounds_close(&bounds);
	objfile_close(&file);
	run("rm -r %s", directory);
}

/* Small sections are left as they are, but not all those names of macros. */
static uint64_t compile_packed(const char *packing, const char *flags)
{
	char all_flags[128];

	snprintf(all_flags, sizeof(all_flags), "-g3 %s", flags);
	const uint64_t address = compile(all_flags);
	run("objcopy --compress-debug-sections=%s %s/program", packing, directory);
	return address;
}

UNIT_TEST(compressed_debug_sections)
{
	check_worker(compile_packed("zlib", ""), true);
}

UNIT_TEST(debug_sections_compressed_with_zstd)
{
	check_worker(compile_packed("zstd", ""), true);
}

UNIT_TEST(position_dependent_dwarf4)
{
	check_worker(compile("-no-pie -gdwarf-4"), true);
}

/* ---- hostile files --------------------------------------------------------------------------- */

#define TINY "-static -nostdlib -Wl,-e,main"

/*
 * Every byte of a small program damaged in turn (in steps), and the program cut short: any answer
 * will do, but there must be one.
 */
static void damage(uint64_t address)
{
	char path[128];
	struct stat status;
	uint64_t random = 88172645463325252u;

	snprintf(path, sizeof(path), "%s/program", directory);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && fstat(fd, &status) == 0);
	for (int round = 0; round < 600; round++) {
		uint8_t saved[8], noise[8];
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		const off_t at = (off_t)(random % (uint64_t)(status.st_size - 8));
		const size_t size = 1 + random % 8;
		memset(noise, (int)(random >> 24), sizeof(noise));
		CHECK_EQ(pread(fd, saved, size, at), size);
		CHECK_EQ(pwrite(fd, noise, size, at), size);
		struct profile profile = profile_of(path, 0, address + 1);
		CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
		profile_close(&profile);
		CHECK_EQ(pwrite(fd, saved, size, at), size);
	}
	for (off_t size = status.st_size; size >= 0; size -= 397) {
		CHECK_EQ(ftruncate(fd, size), 0);
		struct profile profile = profile_of(path, 0, address + 1);
		CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
		profile_close(&profile);
	}
	close(fd);
	run("rm -r %s", directory);
}

UNIT_TEST(damaged_files)
{
	damage(compile(TINY));
}

UNIT_TEST(damaged_compressed_files)
{
	damage(compile_packed("zlib", TINY));
}

UNIT_TEST(damaged_files_compressed_with_zstd)
{
	damage(compile_packed("zstd", TINY));
}

/* The unpacked size of a section stands in its head, in eight bytes after the first eight. */
static void lie_about_the_size(uint64_t address)
{
	static const uint64_t lies[] = {0, 1, 1ull << 20, 1ull << 40, UINT64_MAX};
	char path[128];
	uint64_t truth;
	GElf_Shdr header;

	snprintf(path, sizeof(path), "%s/program", directory);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	CHECK(elf && gelf_getshdr(objfile_section(elf, SHT_NULL, ".debug_str"), &header) &&
	      (header.sh_flags & SHF_COMPRESSED));
	elf_end(elf);
	CHECK_EQ(pread(fd, &truth, sizeof(truth), (off_t)header.sh_offset + 8), sizeof(truth));
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		CHECK_EQ(pwrite(fd, &lies[i], sizeof(lies[i]), (off_t)header.sh_offset + 8),
			 sizeof(lies[i]));
		struct profile profile = profile_of(path, 0, address + 1);
		CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
		CHECK(profile.frame[0].line_count <= 1);
		profile_close(&profile);
	}
	CHECK_EQ(pwrite(fd, &truth, sizeof(truth), (off_t)header.sh_offset + 8), sizeof(truth));
	close(fd);
	check_worker(address, true);
}

UNIT_TEST(compressed_section_that_lies_about_its_size)
{
	lie_about_the_size(compile_packed("zlib", ""));
}

UNIT_TEST(section_compressed_with_zstd_that_lies_about_its_size)
{
	lie_about_the_size(compile_packed("zstd", ""));
}

/* ---- perf maps ------------------------------------------------------------------------------- */

UNIT_TEST(perf_map_lines)
{
	struct perfmap map;

	CHECK_EQ(perfmap_parse(strdup("7f0000001000 100 js::first name\nnonsense\n7f0000002000 80 "
				      "old\n\n7f0000002000 40 new\nffffffffffffffff 2 wraps\n1 2"),
			       &map),
		 0);
	CHECK_STR(perfmap_find(&map, 0x7f0000001000), "js::first name");
	CHECK_STR(perfmap_find(&map, 0x7f00000010ff), "js::first name");
	CHECK(!perfmap_find(&map, 0x7f0000001100));
	CHECK_STR(perfmap_find(&map, 0x7f0000002020), "new");
	CHECK(!perfmap_find(&map, 0x7f0000002060));
	CHECK(!perfmap_find(&map, 0));
	CHECK(!perfmap_find(&map, UINT64_MAX));
	perfmap_close(&map);
}

UNIT_TEST(perf_map_of_a_process)
{
	char path[64];
	struct profile profile = profile_of("/nowhere", 0, 0);
	uint32_t frame;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *file = fopen(path, "w");
	CHECK(file && fputs("5000 10 compiled_by_jit\n", file) >= 0 && fclose(file) == 0);
	CHECK_EQ(profile_frame_at(&profile, 0x5008, -1, &frame), 0);
	const int err = symbols_resolve(&profile, &no_options);
	unlink(path);
	CHECK_EQ(err, 0);
	CHECK_EQ(profile.frame[frame].line_count, 1);
	CHECK_STR(profile.frame[frame].line[0].function, "compiled_by_jit");
	profile_close(&profile);
}

UNIT_TEST(fifo_does_not_block)
{
	char path[128];

	strcpy(directory, "/tmp/symbols_test.XXXXXX");
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/program", directory);
	CHECK_EQ(mkfifo(path, 0600), 0);
	struct profile profile = profile_of(path, 0, 0x1000);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 0);
	profile_close(&profile);
	run("rm -r %s", directory);
}

/*
 * Of frames that have been looked up before, only those that have come since are looked up again.
 */
UNIT_TEST(only_from_the_first_frame_on)
{
	uint32_t frame;

	calling_function();
	struct profile profile = profile_of(self_path(), own_bias(), (uint64_t)addresses[0]);
	CHECK_EQ(profile_frame_at(&profile, (uint64_t)addresses[0] + 1, 0, &frame), 0);
	CHECK_EQ(symbols_resolve(&profile, &(struct symbols_options){.first_frame = 1}), 0);
	CHECK_EQ(profile.frame[0].line_count, 0);
	CHECK(profile.frame[1].line_count > 0);
	CHECK_EQ(symbols_resolve(&profile, &(struct symbols_options){.first_frame = 2}), 0);
	CHECK_EQ(profile.frame[0].line_count, 0);
	CHECK_EQ(symbols_resolve(&profile, &no_options), 0);
	CHECK_EQ(profile.frame[0].line_count, 2);
	profile_close(&profile);
}

UNIT_MAIN()
