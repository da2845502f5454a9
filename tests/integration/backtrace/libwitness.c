/* SPDX-License-Identifier: MIT */
/*
 * libwitness - preloaded: asks glibc's backtrace() for the stack of every $WITNESS_EVERY-th
 * allocation and writes what it says to $WITNESS_FILE; and to $WITNESS_FILE.count a byte for each,
 * so that its size is their number.
 *
 * The constructor leads the GOT slots of all objects loaded by then to the functions here. Only the
 * allocations that are to be compared go on through slots of our own, and these heapinject finds
 * and hooks; all others are served through plain pointers, which it does not see. So with `--sample
 * 1` it records of these objects just what was witnessed; of those that are loaded later it records
 * all, and nothing is witnessed. Both see our frame below the caller's: frames are compared from
 * the caller upwards. The number in the bytes asked for tells allocations at one address apart, up
 * to a thousand; the order in which a thread makes them does the rest.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAMES_MAX 256
#define TAG_MASK 0x3ffu /* up to a kilobyte more is asked for */

struct testimony {
	uint64_t thread; /* its tid */
	uint64_t address, bytes;
	uint64_t count;
	void *frame[FRAMES_MAX];
};

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
} unseen;

static int file = -1, count_file = -1;
static pid_t owner;
static unsigned every = 1, tag;
static __thread unsigned countdown __attribute__((tls_model("initial-exec")));
static __thread pid_t thread __attribute__((tls_model("initial-exec")));

static void testify(struct testimony *testimony, void *address, size_t bytes)
{
	if (!thread)
		thread = gettid();
	testimony->thread = (uint64_t)thread;
	testimony->address = (uint64_t)address;
	testimony->bytes = bytes;
	/* Appended in one piece, no matter who else writes. */
	if (write(file, testimony,
		  offsetof(struct testimony, frame) + testimony->count * sizeof(void *)) < 0 ||
	    write(count_file, "", 1) < 0)
		file = -1;
}

static int is_chosen(void)
{
	if (file < 0 || ++countdown < every || getpid() != owner)
		return 0;
	countdown = 0;
	return 1;
}

static size_t tagged(size_t bytes)
{
	return bytes + (__atomic_add_fetch(&tag, 1, __ATOMIC_RELAXED) & TAG_MASK);
}

static void *witness_malloc(size_t bytes)
{
	struct testimony testimony;
	void *block;

	if (!is_chosen())
		return unseen.malloc(bytes);
	bytes = tagged(bytes);
	testimony.count = (uint64_t)backtrace(testimony.frame, FRAMES_MAX);
	block = malloc(bytes);
	testify(&testimony, block, bytes);
	return block;
}

static void *witness_calloc(size_t count, size_t size)
{
	struct testimony testimony;
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes) || !is_chosen())
		return unseen.calloc(count, size);
	bytes = tagged(bytes);
	testimony.count = (uint64_t)backtrace(testimony.frame, FRAMES_MAX);
	block = calloc(1, bytes);
	testify(&testimony, block, bytes);
	return block;
}

static void *witness_realloc(void *old, size_t bytes)
{
	struct testimony testimony;
	void *block;

	if (!bytes || !is_chosen())
		return unseen.realloc(old, bytes);
	bytes = tagged(bytes);
	testimony.count = (uint64_t)backtrace(testimony.frame, FRAMES_MAX);
	block = realloc(old, bytes);
	testify(&testimony, block, bytes);
	return block;
}

/* ---- slots ----------------------------------------------------------------------------------- */

struct object {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *names;
};

static void *replacement(const char *name)
{
	return !strcmp(name, "malloc")    ? (void *)witness_malloc
	       : !strcmp(name, "calloc")  ? (void *)witness_calloc
	       : !strcmp(name, "realloc") ? (void *)witness_realloc
					  : NULL;
}

static void redirect(const struct object *object, const ElfW(Rela) * rela, size_t bytes)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < bytes / sizeof(*rela); i++) {
		const unsigned type = ELF64_R_TYPE(rela[i].r_info);
		void **slot = (void **)(object->base + rela[i].r_offset);
		void *ours = replacement(object->names +
					 object->symbols[ELF64_R_SYM(rela[i].r_info)].st_name);

		if (!ours || (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT))
			continue;
		mprotect((void *)((uintptr_t)slot & -page), page, PROT_READ | PROT_WRITE);
		*slot = ours;
	}
}

static int visit(struct dl_phdr_info *info, size_t size, void *own_base)
{
	struct object object = {.base = info->dlpi_addr};
	const ElfW(Rela) *rela = NULL, *jump = NULL;
	size_t rela_bytes = 0, jump_bytes = 0;
	const ElfW(Dyn) *dynamic = NULL;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (!dynamic || (void *)info->dlpi_addr == own_base ||
	    strstr(info->dlpi_name, "ld-linux") || strstr(info->dlpi_name, "vdso"))
		return 0;
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *pointer = (const void *)dynamic->d_un.d_ptr;

		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			object.symbols = pointer;
			break;
		case DT_STRTAB:
			object.names = pointer;
			break;
		case DT_RELA:
			rela = pointer;
			break;
		case DT_RELASZ:
			rela_bytes = dynamic->d_un.d_val;
			break;
		case DT_JMPREL:
			jump = pointer;
			break;
		case DT_PLTRELSZ:
			jump_bytes = dynamic->d_un.d_val;
			break;
		}
	}
	if (!object.symbols || !object.names)
		return 0;
	redirect(&object, rela, rela_bytes);
	redirect(&object, jump, jump_bytes);
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("WITNESS_FILE"), *number = getenv("WITNESS_EVERY");
	void *frame[FRAMES_MAX];
	char count_path[4096];
	Dl_info own;

	/* The programs that this one starts are none of our business. */
	unsetenv("LD_PRELOAD");
	if (!path || !dladdr((void *)begin, &own))
		return;
	/*
	 * Not what comes first: in a program at a fixed address that may be a stub of its own,
	 * which leads back here.
	 */
	unseen.malloc = dlsym(RTLD_NEXT, "malloc");
	unseen.calloc = dlsym(RTLD_NEXT, "calloc");
	unseen.realloc = dlsym(RTLD_NEXT, "realloc");
	every = number ? (unsigned)atoi(number) : 1;
	owner = getpid();
	backtrace(frame, FRAMES_MAX); /* loads what it needs */
	dl_iterate_phdr(visit, own.dli_fbase);
	snprintf(count_path, sizeof(count_path), "%s.count", path);
	count_file = open(count_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}
