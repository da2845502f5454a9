/* SPDX-License-Identifier: MIT */
/*
 * elf_images_test.c - images, symbols and link order of this process against what its own dynamic
 * linker says; and damaged files.
 */
#include "elf_images.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "elf_memory_copy.h"
#include "hi_wire.h"
#include "own_images.h"

/* A library that is there wherever libc is, and that this program does not link. */
#define OTHER_LIBRARY "libresolv.so.2"

static const char *const names[] = {
	"malloc", "free",  "calloc", "realloc",        "posix_memalign", "aligned_alloc", "printf",
	"memcpy", "qsort", "fork",   "pthread_create", "dlopen",         "environ",       "stderr"};

UNIT_TEST(roles)
{
	struct own own = own_open();
	const struct elf_image *program = elf_images_find(&own.images, address_of(unit_main));
	const struct elf_image *loader = elf_images_find(&own.images, getauxval(AT_BASE));
	const struct elf_image *vdso = elf_images_find(&own.images, getauxval(AT_SYSINFO_EHDR));

	CHECK(program && program->is_main && !program->is_loader && program->link_order == 0);
	CHECK(loader && loader->is_loader && !loader->is_main);
	CHECK(vdso && vdso->is_vdso && vdso->memory_copy);
	CHECK_STR(vdso->path, "[vdso]");
	CHECK_STR(vdso->open_path, "");
	CHECK(strstr(program->open_path, "/map_files/") != NULL);
	const ElfW(Dyn) *entry = _DYNAMIC;
	while (entry->d_tag != DT_DEBUG)
		entry++;
	CHECK_EQ(own.images.r_debug, entry->d_un.d_ptr);
	CHECK(elf_images_find(&own.images, address_of(&own)) == NULL);
	own_close(&own);
	own_close(&own);
}

struct expected {
	const struct elf_images *images;
	int order;
};

/* dl_iterate_phdr goes by the link map. */
static int check_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct expected *expected = data;
	const struct elf_image *image = NULL;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		image = elf_images_find(expected->images, info->dlpi_addr + segment->p_vaddr);
		CHECK(image != NULL);
		CHECK_EQ(image->bias, info->dlpi_addr);
		CHECK_EQ(image->link_order, expected->order);
		CHECK(image->text_count >= 1);
		CHECK(image->text[0].lo <= info->dlpi_addr + segment->p_vaddr &&
		      info->dlpi_addr + segment->p_vaddr < image->text[0].hi);
	}
	CHECK(image != NULL);
	expected->order++;
	return 0;
}

UNIT_TEST(objects_biases_and_link_order)
{
	CHECK(dlopen(OTHER_LIBRARY, RTLD_NOW) != NULL);
	struct own own = own_open();
	struct expected expected = {.images = &own.images};

	dl_iterate_phdr(check_object, &expected);
	CHECK((size_t)expected.order <= own.images.count);
	for (size_t i = 1; i < own.images.count; i++)
		CHECK(own.images.image[i - 1].hi <= own.images.image[i].lo);
	own_close(&own);
}

UNIT_TEST(what_came_by_dlopen_may_go_again)
{
	CHECK(dlopen(OTHER_LIBRARY, RTLD_NOW) != NULL);
	struct own own = own_open();

	CHECK(own_image(&own, "libc.so")->is_pinned);
	CHECK(elf_images_find(&own.images, address_of(unit_main))->is_pinned);
	/* needed by a library that the program needs */
	CHECK(own_image(&own, "libz.so")->is_pinned);
	CHECK(!own_image(&own, OTHER_LIBRARY)->is_pinned);
	own_close(&own);
}

/*
 * A plug-in may bring a library that the program has, too, under the same name: the program's
 * stays, the plug-in's may go.
 */
UNIT_TEST(of_two_of_one_name_the_first_stays)
{
	struct own own = own_open();
	const struct elf_image *first = own_image(&own, "libz.so");
	char copy[] = "/tmp/elf_images_test_XXXXXX";
	const int from = open(first->open_path, O_RDONLY), to = mkstemp(copy);

	CHECK(from >= 0 && to >= 0);
	while (copy_file_range(from, NULL, to, NULL, 1u << 20, 0) > 0)
		;
	CHECK_EQ(close(to), 0);
	CHECK(dlopen(copy, RTLD_NOW | RTLD_LOCAL) != NULL);
	unlink(copy);
	own_close(&own);
	own = own_open();
	CHECK(own_image(&own, "/libz.so")->is_pinned);
	CHECK(!own_image(&own, copy)->is_pinned);
	own_close(&own);
}

/* Maps the file as a plug-in would be, at `at` if that is not NULL. */
static void *map_code(int file, void *at)
{
	void *mapped = mmap(at, HI_PAGE_BYTES, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | (at ? MAP_FIXED : 0), file, 0);

	CHECK(mapped != MAP_FAILED);
	return mapped;
}

/* A plug-in was unloaded after the mappings were read, and another one lies at its address. */
UNIT_TEST(a_file_that_took_the_place_of_another_is_not_that)
{
	struct own own = own_open(), late = {0};
	const int one = open(own_image(&own, "libz.so")->open_path, O_RDONLY),
		  two = open(own_image(&own, "libc.so")->open_path, O_RDONLY);
	void *at = map_code(one, NULL);
	struct stat wanted, got;

	CHECK_EQ(fstat(one, &wanted), 0);
	CHECK_EQ(maps_read(getpid(), getpid(), &late.maps), 0);
	CHECK_EQ(memory_open(&late.memory, getpid(), getpid()), 0);
	map_code(two, at);
	CHECK_EQ(elf_images_read(getpid(), &late.maps, &late.memory, &late.images), 0);
	const struct elf_image *image = elf_images_find(&late.images, address_of(at));

	CHECK(image != NULL && strstr(image->path, "libz.so") != NULL);
	CHECK(image->fd < 0 || (fstat(image->fd, &got) == 0 && got.st_ino == wanted.st_ino));
	munmap(at, HI_PAGE_BYTES);
	close(one);
	close(two);
	own_close(&late);
	own_close(&own);
}

static pid_t start_with_preloaded(const char *library)
{
	int ready[2];
	char byte;
	CHECK_EQ(pipe2(ready, O_CLOEXEC), 0);
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CHECK_EQ(setenv("LD_PRELOAD", library, 1), 0);
		dup2(ready[1], STDOUT_FILENO); /* `cat` has loaded everything when it answers */
		execlp("cat", "cat", "/proc/self/comm", "/dev/zero", (char *)NULL);
		_exit(127);
	}
	CHECK(pid > 0);
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	return pid; /* who blocks on its pipe from now on: nobody reads it, and it stays open */
}

UNIT_TEST(what_was_preloaded_stays)
{
	const pid_t pid = start_with_preloaded(OTHER_LIBRARY);
	struct maps maps = {0};
	struct memory memory = {0};
	struct elf_images images = {0};

	CHECK_EQ(maps_read(pid, pid, &maps), 0);
	CHECK_EQ(memory_open(&memory, pid, pid), 0);
	CHECK_EQ(elf_images_read(pid, &maps, &memory, &images), 0);
	size_t found = 0;
	for (size_t i = 0; i < images.count; i++) {
		CHECK(images.image[i].is_pinned || images.image[i].is_vdso);
		found += strstr(images.image[i].path, OTHER_LIBRARY) != NULL;
	}
	CHECK_EQ(found, 1);
	elf_images_close(&images);
	memory_close(&memory);
	maps_close(&maps);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

UNIT_TEST(symbols_are_those_of_dlsym)
{
	struct own own = own_open();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const void *wanted = dlsym(RTLD_DEFAULT, names[i]);
		const struct elf_image *image;
		remote_addr found;

		CHECK(wanted != NULL);
		if (elf_images_resolve(&own.images, names[i], &found, &image) < 0)
			UNIT_FAIL("%s is not found", names[i]);
		/* an indirect function: ours is its resolver */
		if (strcmp(names[i], "memcpy") == 0)
			continue;
		CHECK_EQ(found, address_of(wanted));
	}
	own_close(&own);
}

UNIT_TEST(symbols_hidden_by_version_are_not_found)
{
	struct own own = own_open();
	const struct elf_image *libc = own_image(&own, "libc.so");
	remote_addr found;
	uint64_t size = 0;

	/* glibc keeps cfree for old programs only. */
	CHECK(dlvsym(RTLD_DEFAULT, "cfree", "GLIBC_2.2.5") != NULL);
	CHECK_EQ(elf_image_symbol(libc, "cfree", &found, NULL), -ENOENT);
	CHECK_EQ(elf_image_symbol(libc, "no such symbol", &found, NULL), -ENOENT);
	CHECK_EQ(elf_image_symbol(libc, "qsort", &found, &size), 0);
	CHECK(size > 0);
	/* An import is no definition. */
	CHECK_EQ(elf_image_symbol(own_image(&own, "elf_images_test"), "qsort", &found, NULL),
		 -ENOENT);
	CHECK_EQ(elf_images_resolve(&own.images, "no such symbol", &found, NULL), -ENOENT);
	own_close(&own);
}

static size_t count_named(const ElfW(Rela) * relocation, size_t size)
{
	size_t named = 0;

	for (size_t i = 0; i < size / sizeof(*relocation); i++)
		named += ELF64_R_SYM(relocation[i].r_info) != 0;
	return named;
}

/*
 * glibc has relocated the pointers of the dynamic section, but for the vdso's, which has no
 * relocations.
 */
static size_t count_named_in_memory(const ElfW(Dyn) * entry)
{
	const ElfW(Rela) *relocation = NULL, *jump = NULL;
	size_t size = 0, jump_size = 0;

	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_RELA)
			relocation = (const ElfW(Rela) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_JMPREL)
			jump = (const ElfW(Rela) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_RELASZ)
			size = entry->d_un.d_val;
		else if (entry->d_tag == DT_PLTRELSZ)
			jump_size = entry->d_un.d_val;
	}
	return count_named(relocation, size) + count_named(jump, jump_size);
}

UNIT_TEST(no_relocation_that_names_a_symbol_is_left_out)
{
	struct own own = own_open();
	size_t total = 0;

	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		const struct elf_image *image = elf_images_find(&own.images, address_of(map->l_ld));
		size_t named = 0;

		if (!image || image->is_vdso || !image->dynamic)
			continue;
		for (size_t i = 0; i < elf_dynamic_relocation_count(image->dynamic); i++) {
			Elf64_Rela relocation;

			elf_dynamic_relocation(image->dynamic, i, &relocation);
			named += ELF64_R_SYM(relocation.r_info) != 0;
		}
		CHECK_EQ(named, count_named_in_memory(map->l_ld));
		total += named;
	}
	CHECK(total > 100);
	own_close(&own);
}

UNIT_TEST(build_id_is_the_note_in_memory)
{
	struct own own = own_open();
	const struct elf_image *libc = own_image(&own, "libc.so");

	CHECK_EQ(libc->build_id_size, 20);
	/* The note is mapped, too, close to the start. */
	CHECK(memmem((const void *)(uintptr_t)libc->lo, 4096, libc->build_id,
		     libc->build_id_size) != NULL);
	own_close(&own);
}

/* ---- files that cannot be found by name ------------------------------------------------------ */

static void copy_file(const char *from, const char *to)
{
	const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0700);
	struct stat status;

	CHECK(in >= 0 && out >= 0 && fstat(in, &status) == 0);
	for (off_t at = 0; at < status.st_size;)
		CHECK(copy_file_range(in, &at, out, NULL, (size_t)(status.st_size - at), 0) > 0);
	close(in);
	close(out);
}

/*
 * Loads a copy of a library from a file of an awkward name, which is then deleted. Returns its
 * handle; out_path as in maps.
 */
static void *load_deleted(char out_path[64])
{
	char directory[] = "/tmp/elf_images testXXXXXX";
	const struct link_map *map = dlopen(OTHER_LIBRARY, RTLD_NOW);

	CHECK(map != NULL && mkdtemp(directory) != NULL);
	snprintf(out_path, 64, "%s/a\nb.so", directory);
	copy_file(map->l_name, out_path);
	void *handle = dlopen(out_path, RTLD_NOW);
	CHECK_EQ(unlink(out_path) | rmdir(directory), 0);
	CHECK(handle != NULL);
	return handle;
}

static void check_deleted(const struct own *own, void *handle, const char *path)
{
	const struct elf_image *image = own_image(own, "a\nb.so");
	remote_addr found;

	CHECK_STR(image->path, path);
	CHECK_EQ(elf_image_symbol(image, "ns_datetosecs", &found, NULL), 0);
	CHECK_EQ(found, address_of(dlsym(handle, "ns_datetosecs")));
}

UNIT_TEST(deleted_library_with_newline_in_its_name)
{
	char path[64];
	void *handle = load_deleted(path);
	struct own own = own_open();

	check_deleted(&own, handle, path);
	own_close(&own);
}

/* ---- an earlier reading ---------------------------------------------------------------------- */

static void update(struct own *own)
{
	maps_close(&own->maps);
	CHECK_EQ(maps_read(getpid(), getpid(), &own->maps), 0);
	CHECK_EQ(elf_images_update(getpid(), &own->maps, &own->memory, &own->images), 0);
}

static void check_symbol(const struct elf_image *image, const char *name, const void *wanted)
{
	remote_addr found;

	CHECK_EQ(elf_image_symbol(image, name, &found, NULL), 0);
	CHECK_EQ(found, address_of(wanted));
}

UNIT_TEST(what_is_known_is_not_opened_again)
{
	struct own own = own_open();
	const Elf *elf = own_image(&own, "libc.so")->elf, *vdso = own_image(&own, "[vdso]")->elf;
	const int fd = own_image(&own, "libc.so")->fd;

	CHECK(dlopen(OTHER_LIBRARY, RTLD_NOW) != NULL);
	update(&own);
	struct own fresh = own_open();
	CHECK_EQ(own.images.count, fresh.images.count);
	CHECK_EQ(own.images.r_debug, fresh.images.r_debug);
	for (size_t i = 0; i < own.images.count; i++) {
		const struct elf_image *is = &own.images.image[i], *wanted = &fresh.images.image[i];

		CHECK(is->lo == wanted->lo && is->hi == wanted->hi && is->bias == wanted->bias &&
		      is->text_count == wanted->text_count);
		CHECK_EQ(memcmp(is->text, wanted->text, is->text_count * sizeof(*is->text)), 0);
		CHECK(is->is_main == wanted->is_main && is->is_loader == wanted->is_loader &&
		      is->is_pinned == wanted->is_pinned);
		CHECK(is->link_order == wanted->link_order &&
		      is->build_id_size == wanted->build_id_size && !is->known);
		CHECK_STR(is->path, wanted->path);
		CHECK_STR(is->open_path, wanted->open_path);
	}
	CHECK(own_image(&own, "libc.so")->elf == elf && own_image(&own, "libc.so")->fd == fd);
	/* what is read from memory may be another by now */
	CHECK(own_image(&own, "[vdso]")->elf != vdso);
	check_symbol(own_image(&own, "libc.so"), "gnu_get_libc_version",
		     dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
	own_close(&fresh);
	own_close(&own);
}

/* A copy of the library; all have the same name. */
static int open_copy(void)
{
	const struct link_map *map = dlopen(OTHER_LIBRARY, RTLD_NOW);
	const int fd = memfd_create("copy", MFD_CLOEXEC),
		  from = map ? open(map->l_name, O_RDONLY) : -1;
	struct stat status;

	CHECK(fd >= 0 && from >= 0 && fstat(from, &status) == 0);
	for (off_t at = 0; at < status.st_size;)
		CHECK(sendfile(fd, from, &at, (size_t)(status.st_size - at)) > 0);
	close(from);
	return fd;
}

/* As a dynamic linker would, as far as it shows in maps. base: 0 = anywhere. */
static char *map_object(int fd, char *base)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) segment[16];

	CHECK(pread(fd, &header, sizeof(header), 0) == sizeof(header) && header.e_phnum <= 16);
	CHECK_EQ(pread(fd, segment, header.e_phnum * sizeof(segment[0]), (off_t)header.e_phoff),
		 header.e_phnum * sizeof(segment[0]));
	if (!base)
		base = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		const size_t begin = segment[i].p_vaddr & ~4095ull,
			     end = segment[i].p_vaddr + segment[i].p_filesz;

		if (segment[i].p_type == PT_LOAD)
			CHECK(mmap(base + begin, end - begin,
				   segment[i].p_flags & PF_X ? PROT_READ | PROT_EXEC : PROT_READ,
				   MAP_PRIVATE | MAP_FIXED, fd,
				   (off_t)(segment[i].p_offset & ~4095ull)) != MAP_FAILED);
	}
	return base;
}

UNIT_TEST(another_file_in_the_place_of_one_that_is_known)
{
	const int first = open_copy(), second = open_copy();
	char *base = map_object(first, NULL);
	struct own own = own_open();
	const struct elf_image *image = elf_images_find(&own.images, address_of(base));
	struct stat status;

	CHECK(image && fstat(first, &status) == 0);
	CHECK_EQ(image->inode, status.st_ino);
	const Elf *elf = image->elf;
	map_object(second, base);
	update(&own);
	image = elf_images_find(&own.images, address_of(base));
	CHECK(image && image->elf != elf && fstat(second, &status) == 0);
	CHECK_EQ(image->inode, status.st_ino);
	CHECK(fstat(image->fd, &status) == 0 && status.st_ino == image->inode);
	own_close(&own);
}

UNIT_TEST(a_known_file_in_another_place)
{
	const int fd = open_copy();
	char *base = map_object(fd, NULL);
	struct own own = own_open();
	const Elf *elf = elf_images_find(&own.images, address_of(base))->elf;

	CHECK_EQ(munmap(base, 1 << 20), 0);
	char *elsewhere = map_object(fd, base + (64 << 20));
	update(&own);
	const struct elf_image *image = elf_images_find(&own.images, address_of(elsewhere));
	CHECK(image && image->elf != elf);
	CHECK_EQ(image->bias, address_of(elsewhere));
	CHECK(elf_images_find(&own.images, address_of(base)) == NULL);
	own_close(&own);
}

UNIT_TEST(a_known_file_that_was_written_to_is_read_anew)
{
	const int fd = open_copy();
	char *base = map_object(fd, NULL);
	struct own own = own_open();
	const Elf *elf = elf_images_find(&own.images, address_of(base))->elf;
	const struct timespec tick = {.tv_nsec = 20000000}; /* the clock of time stamps */

	update(&own);
	CHECK(elf_images_find(&own.images, address_of(base))->elf == elf);
	nanosleep(&tick, NULL);
	/* a byte of padding: as long as before, and the same */
	CHECK_EQ(pwrite(fd, "", 1, EI_NIDENT - 1), 1);
	update(&own);
	CHECK(elf_images_find(&own.images, address_of(base))->elf != elf);
	own_close(&own);
}

UNIT_TEST(a_failed_reading_leaves_the_one_before)
{
	struct own own = own_open();
	const struct elf_image *program = elf_images_find(&own.images, address_of(unit_main));
	const struct elf_images before = own.images;
	struct maps without = {0};

	/*
	 * Mappings of all but the program: the libraries are taken over, and then there is no
	 * program.
	 */
	CHECK_EQ(maps_read(getpid(), getpid(), &without), 0);
	size_t kept = 0;
	for (size_t i = 0; i < without.count; i++)
		if (without.mapping[i].inode != program->inode)
			without.mapping[kept++] = without.mapping[i];
	CHECK(kept < without.count);
	without.count = kept;
	CHECK_EQ(elf_images_update(getpid(), &without, &own.memory, &own.images), -ENOEXEC);
	maps_close(&without);
	CHECK(own.images.image == before.image && own.images.count == before.count &&
	      own.images.r_debug == before.r_debug);
	check_symbol(own_image(&own, "libc.so"), "gnu_get_libc_version",
		     dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
	const Elf *elf = own_image(&own, "libc.so")->elf;
	update(&own);
	CHECK(own_image(&own, "libc.so")->elf == elf);
	check_symbol(own_image(&own, "libc.so"), "gnu_get_libc_version",
		     dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
	own_close(&own);
}

static bool is_present(const void *at)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t word = 0;

	CHECK_EQ(pread(fd, &word, sizeof(word),
		       (off_t)(address_of(at) / HI_PAGE_BYTES * sizeof(word))),
		 sizeof(word));
	close(fd);
	return word >> 63;
}

/* Of a library whose header is not in memory, and of a file that was mapped and never read. */
UNIT_TEST(what_is_not_resident_is_not_touched)
{
	CHECK(dlopen(OTHER_LIBRARY, RTLD_NOW) != NULL);
	struct own own = own_open();
	const struct elf_image *library = own_image(&own, OTHER_LIBRARY);
	void *header = (void *)(uintptr_t)library->lo;
	char path[] = "/tmp/elf_images_test_XXXXXX";
	const int fd = mkstemp(path);
	struct elf_images images;
	struct pages pages;

	CHECK(fd >= 0 && unlink(path) == 0 && ftruncate(fd, HI_PAGE_BYTES) == 0);
	const void *data = mmap(NULL, HI_PAGE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(data != MAP_FAILED);
	maps_close(&own.maps);
	CHECK_EQ(maps_read(getpid(), getpid(), &own.maps), 0);
	CHECK_EQ(madvise(header, HI_PAGE_BYTES, MADV_DONTNEED), 0);
	pages_open(&pages, getpid(), getpid());
	CHECK(!is_present(data) && !is_present(header));
	CHECK_EQ(elf_images_read_resident(getpid(), &own.maps, &own.memory, &pages, &images), 0);
	CHECK(!is_present(data) && !is_present(header));
	/* all but the vdso */
	CHECK_EQ(images.count, own.images.count - 1);
	CHECK(elf_images_find(&images, getauxval(AT_SYSINFO_EHDR)) == NULL);
	const struct elf_image *found = elf_images_find(&images, library->lo);
	CHECK(found && found->bias == library->bias && !found->memory_copy);
	elf_images_close(&images);
	pages_close(&pages);
	own_close(&own);
}

/* Without the right to use map_files: by path where the inode proves it right, else from memory. */
UNIT_TEST(unprivileged)
{
	char path[64];
	void *handle = load_deleted(path);

	if (getuid() == 0 &&
	    (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
		SKIP("cannot give up privilege");
	/* A change of user makes /proc/self root's. */
	prctl(PR_SET_DUMPABLE, 1);
	struct own own = own_open();
	const struct elf_image *libc = own_image(&own, "libc.so");
	CHECK(libc->open_path[0] && !strstr(libc->open_path, "map_files") && !libc->memory_copy);
	/* the program needs no path */
	CHECK(strstr(own.images.image[0].open_path, "/exe") != NULL);
	CHECK(own_image(&own, "a\nb.so")->memory_copy != NULL);
	CHECK_STR(own_image(&own, "a\nb.so")->open_path, "");
	check_deleted(&own, handle, path);
	own_close(&own);
}

UNIT_TEST(copy_from_memory_has_the_same_symbols)
{
	struct own own = own_open();
	const struct elf_image *libc = own_image(&own, "libc.so");
	struct elf_dynamic *dynamic;
	void *copy;
	size_t size;

	CHECK_EQ(elf_memory_copy(&own.memory, NULL, libc->lo, 64 << 20, &copy, &size), 0);
	Elf *elf = elf_memory(copy, size);
	CHECK(elf != NULL);
	CHECK_EQ(elf_dynamic_open(elf, libc->bias, &dynamic), 0);
	for (size_t i = 0; i < 5; i++) {
		remote_addr wanted;
		Elf64_Sym symbol;

		CHECK_EQ(elf_image_symbol(libc, names[i], &wanted, NULL), 0);
		CHECK_EQ(elf_dynamic_find(dynamic, names[i], &symbol), 0);
		CHECK_EQ(libc->bias + symbol.st_value, wanted);
	}
	CHECK_EQ(elf_dynamic_relocation_count(dynamic),
		 elf_dynamic_relocation_count(libc->dynamic));
	CHECK_EQ(elf_memory_copy(&own.memory, NULL, own.images.image[0].hi - 4096, 64 << 20, &copy,
				 &size),
		 -ENOEXEC);
	CHECK_EQ(elf_memory_copy(&own.memory, NULL, libc->lo, size - 1, &copy, &size), -ENOEXEC);
	CHECK_EQ(elf_memory_copy(&own.memory, NULL, libc->lo, 0, &copy, &size), -ENOEXEC);
	elf_dynamic_close(dynamic);
	elf_end(elf);
	free(copy);
	own_close(&own);
}

/* For reading, as debuggers do; a piece of code once more, as V8 does with its builtins. */
UNIT_TEST(other_mappings_of_a_file_are_no_images)
{
	struct own before = own_open();
	const struct elf_text *text = &own_image(&before, "elf_images_test")->text[0];
	const int fd = open("/proc/self/exe", O_RDONLY);
	const void *whole = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	const void *piece =
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)text->file_offset);

	CHECK(whole != MAP_FAILED && piece != MAP_FAILED);
	struct own after = own_open();
	CHECK_EQ(after.images.count, before.images.count);
	CHECK(elf_images_find(&after.images, address_of(whole)) == NULL);
	CHECK(elf_images_find(&after.images, address_of(piece)) == NULL);
	own_close(&before);
	own_close(&after);
}

/* As programs do that put their code on huge pages. */
UNIT_TEST(code_moved_to_anonymous_memory_is_still_text)
{
	CHECK(dlopen(OTHER_LIBRARY, RTLD_NOW) != NULL);
	struct own before = own_open();
	const struct elf_image *image = own_image(&before, OTHER_LIBRARY);
	const struct elf_text text = image->text[0];
	const size_t size = text.hi - text.lo;
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(copy != MAP_FAILED && size > 4096);
	memcpy(copy, (const void *)(uintptr_t)text.lo, size);
	CHECK_EQ(mprotect(copy, size, PROT_READ | PROT_EXEC), 0);
	CHECK(mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)text.lo) !=
	      MAP_FAILED);
	struct own after = own_open();
	image = own_image(&after, OTHER_LIBRARY);
	CHECK_EQ(image->text_count, 1);
	CHECK_EQ(image->text[0].lo, text.lo);
	CHECK_EQ(image->text[0].hi, text.hi);
	CHECK_EQ(image->text[0].file_offset, text.file_offset);
	own_close(&before);
	own_close(&after);
}

/* ---- the link map ---------------------------------------------------------------------------- */

/*
 * As Linux 6.1 has code with pages that were replaced. Here two parts differ in what only the
 * kernel knows of them.
 */
UNIT_TEST(code_that_the_kernel_has_in_parts_is_one_text)
{
	struct own own = own_open();
	const struct elf_image *image = own_image(&own, "libc.so");
	const size_t texts = image->text_count;
	const struct elf_text text = image->text[0];
	const uint64_t page = (text.lo + (text.hi - text.lo) / 2) / HI_PAGE_BYTES * HI_PAGE_BYTES;

	own_close(&own);
	CHECK_EQ(madvise((void *)(uintptr_t)page, HI_PAGE_BYTES, MADV_DONTDUMP), 0);
	own = own_open();
	image = own_image(&own, "libc.so");
	CHECK_EQ(maps_find(&own.maps, page)->lo, page);
	CHECK_EQ(maps_find(&own.maps, page)->hi, page + HI_PAGE_BYTES);
	CHECK_EQ(image->text_count, texts);
	CHECK_EQ(image->text[0].lo, text.lo);
	CHECK_EQ(image->text[0].hi, text.hi);
	CHECK_EQ(image->text[0].file_offset, text.file_offset);
	own_close(&own);
}

UNIT_TEST(fingerprint_follows_dlopen_and_dlclose)
{
	struct own own = own_open();
	uint64_t before, opened, closed;

	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, NULL, &before), 0);
	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, NULL, &closed), 0);
	CHECK_EQ(before, closed);
	void *handle = dlopen(OTHER_LIBRARY, RTLD_NOW);
	CHECK(handle != NULL);
	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, NULL, &opened), 0);
	CHECK(opened != before);
	dlclose(handle);
	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, NULL, &closed), 0);
	CHECK_EQ(closed, before);
	own_close(&own);
}

UNIT_TEST(fingerprint_sees_other_namespaces)
{
	struct own own = own_open();
	uint64_t before, after;

	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, NULL, &before), 0);
	if (!dlmopen(LM_ID_NEWLM, OTHER_LIBRARY, RTLD_NOW))
		SKIP("no second namespace here: %s", dlerror());
	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, NULL, &after), 0);
	CHECK(after != before);
	own_close(&own);
}

/* What the fingerprint was made from is the same as long as the list is, and not longer. */
UNIT_TEST(a_look_follows_dlopen_and_dlclose_and_dlmopen)
{
	struct own own = own_open();
	struct look look = {0};
	uint64_t fingerprint;

	own.memory.witness = getauxval(AT_RANDOM);
	look_begin(&look);
	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, &look, &fingerprint), 0);
	CHECK_EQ(look_again(&look, &own.memory), 0);
	void *handle = dlopen(OTHER_LIBRARY, RTLD_NOW);
	CHECK(handle != NULL);
	CHECK_EQ(look_again(&look, &own.memory), -EAGAIN);
	look_begin(&look);
	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, &look, &fingerprint), 0);
	CHECK_EQ(look_again(&look, &own.memory), 0);
	dlclose(handle);
	CHECK_EQ(look_again(&look, &own.memory), -EAGAIN);
	look_begin(&look);
	CHECK_EQ(link_map_fingerprint(&own.memory, own.images.r_debug, &look, &fingerprint), 0);
	if (dlmopen(LM_ID_NEWLM, OTHER_LIBRARY, RTLD_NOW))
		CHECK_EQ(look_again(&look, &own.memory), -EAGAIN);
	look_close(&look);
	own_close(&own);
}

/* Another plugin at the same addresses. What lies behind its name is not the linker's. */
UNIT_TEST(fingerprint_and_look_follow_the_names)
{
	struct own own = own_open();
	static struct r_debug debug = {.r_version = 1, .r_state = RT_CONSISTENT};
	static char name[] = "/opt/one.so\0 other data";
	static struct link_map link = {.l_name = name};
	struct look look = {0};
	uint64_t one, two;

	own.memory.witness = getauxval(AT_RANDOM);
	debug.r_map = &link;
	look_begin(&look);
	CHECK_EQ(link_map_fingerprint(&own.memory, address_of(&debug), &look, &one), 0);
	CHECK_EQ(look_again(&look, &own.memory), 0);
	name[sizeof("/opt/one.so")] = '!';
	CHECK_EQ(look_again(&look, &own.memory), 0);
	CHECK_EQ(link_map_fingerprint(&own.memory, address_of(&debug), NULL, &two), 0);
	CHECK_EQ(one, two);
	name[5] = 'a';
	CHECK_EQ(look_again(&look, &own.memory), -EAGAIN);
	CHECK_EQ(link_map_fingerprint(&own.memory, address_of(&debug), NULL, &two), 0);
	CHECK(one != two);
	link.l_name = (char *)8; /* of a hostile program */
	CHECK_EQ(link_map_fingerprint(&own.memory, address_of(&debug), NULL, &two), 0);
	look_close(&look);
	own_close(&own);
}

UNIT_TEST(link_map_that_is_nonsense)
{
	struct own own = own_open();
	static struct r_debug debug = {.r_version = 1, .r_state = RT_CONSISTENT};
	static struct link_map ring;
	uint64_t fingerprint;
	struct link_map_list list;

	debug.r_map = &ring;
	ring.l_next = &ring;
	CHECK_EQ(link_map_read(&own.memory, address_of(&debug), &list), 0);
	CHECK(list.count <= 10000 && list.base_count == list.count);
	link_map_list_close(&list);
	CHECK_EQ(link_map_fingerprint(&own.memory, address_of(&debug), NULL, &fingerprint), 0);
	debug.r_state = RT_ADD;
	CHECK_EQ(link_map_fingerprint(&own.memory, address_of(&debug), NULL, &fingerprint),
		 -EAGAIN);
	debug.r_state = RT_CONSISTENT;
	ring.l_next = (struct link_map *)8;
	CHECK_EQ(link_map_fingerprint(&own.memory, address_of(&debug), NULL, &fingerprint),
		 -EFAULT);
	CHECK_EQ(link_map_read(&own.memory, address_of(&debug), &list), -EFAULT);
	CHECK_EQ(link_map_fingerprint(&own.memory, 8, NULL, &fingerprint), -EFAULT);
	own_close(&own);
}

/* ---- damaged files --------------------------------------------------------------------------- */

/*
 * Opens a damaged file as the tool would, and asks for everything; that it returns at all is the
 * test.
 */
static void use_damaged(void *bytes, size_t size)
{
	Elf *elf = elf_memory(bytes, size);
	struct elf_dynamic *dynamic;
	Elf64_Rela relocation;
	Elf64_Sym symbol;

	if (elf && elf_kind(elf) == ELF_K_ELF && elf_dynamic_open(elf, 0, &dynamic) == 0) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			(void)!elf_dynamic_find(dynamic, names[i], &symbol);
		for (size_t i = 0; i < elf_dynamic_relocation_count(dynamic); i++) {
			elf_dynamic_relocation(dynamic, i, &relocation);
			elf_dynamic_symbol(dynamic, (uint32_t)ELF64_R_SYM(relocation.r_info),
					   &symbol);
		}
		elf_dynamic_close(dynamic);
	}
	elf_end(elf);
}

UNIT_TEST(damaged_files_do_no_harm)
{
	const struct link_map *map = dlopen(OTHER_LIBRARY, RTLD_NOW);
	const int fd = map ? open(map->l_name, O_RDONLY) : -1;
	unsigned random = 1;
	struct stat status;

	CHECK(fd >= 0 && fstat(fd, &status) == 0);
	elf_version(EV_CURRENT);
	for (unsigned round = 0; round < 1500; round++) {
		const size_t size = round % 3 ? (size_t)status.st_size
					      : (size_t)rand_r(&random) % (size_t)status.st_size;
		uint8_t *bytes = malloc(size + 1);

		CHECK_EQ(pread(fd, bytes, size, 0), (ssize_t)size);
		/* Every second one in the headers, which lie in front. */
		for (unsigned flips = 0; flips <= round % 8 && size > sizeof(Elf64_Ehdr); flips++)
			bytes[EI_NIDENT +
			      (size_t)rand_r(&random) % ((flips % 2 && size > 1024 ? 1024 : size) -
							 EI_NIDENT)] = (uint8_t)rand_r(&random);
		use_damaged(bytes, size);
		free(bytes);
	}
}

UNIT_MAIN()
