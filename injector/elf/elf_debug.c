/* SPDX-License-Identifier: MIT */
/* elf_debug.c - see elf_debug.h. Enter at elf_debug_find. */
#include "elf_debug.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_section.h"
#include "elf_unpack.h"
#include "hi_debug_files.h"
#include "hi_files.h"
#include "roots.h"

/* Of all objects of a process together: seconds. */
#define CHECKSUM_BYTES_MAX (4ull << 30)
#define UNPACKED_BYTES_MAX (256u << 20)
#define UNPACK_MS_MAX 5000u
#define LOCALS_MAX 65536u /* symbols of a table that are looked at */
#define LINK_BYTES_MAX (HI_FILE_NAME_MAX + 8u)

struct search {
	struct roots roots;
	struct roots own; /* as the caller, for the caller's own cache */
	uint64_t checksum_room;
	struct elf_unpack_room unpack_room;
};

/* What a debug file must match if the image has no build-id. */
struct link {
	char name[HI_FILE_NAME_MAX];
	uint32_t crc;
};

/*
 * Does the table name a function that only its source file can call? Each linked object has some,
 * be it those of crtbegin.o. Where there is none, they were removed (strip -x, strip -K malloc).
 */
static bool names_local_functions(Elf *elf, const GElf_Shdr *table)
{
	const uint64_t locals = table->sh_info < LOCALS_MAX ? table->sh_info : LOCALS_MAX;
	const Elf_Data *data =
		table->sh_offset <= INT64_MAX
			? elf_getdata_rawchunk(elf, (int64_t)table->sh_offset,
					       locals * sizeof(Elf64_Sym), ELF_T_BYTE)
			: NULL;

	for (size_t i = 0; data && i < data->d_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym symbol;

		memcpy(&symbol, (const Elf64_Sym *)data->d_buf + i, sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
			return true;
	}
	return locals == LOCALS_MAX;
}

/* Has it a symbol table, and not just the rest of one? */
static bool has_table(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			return names_local_functions(elf, &header);
	return false;
}

bool elf_debug_has_symbols(const struct elf_image *image)
{
	return image->debug.elf || (image->elf && image->fd >= 0 && has_table(image->elf));
}

/* ---- is it the right one? -------------------------------------------------------------------- */

/* Debug files keep the headers of sections whose contents they leave out. */
static bool has_same_code(Elf *one, Elf *other)
{
	GElf_Shdr code, same;

	return !elf_section_find(one, ".text", &code) || !elf_section_find(other, ".text", &same) ||
	       (code.sh_addr == same.sh_addr && code.sh_size == same.sh_size);
}

static bool has_build_id_of(Elf *elf, const struct elf_image *image)
{
	const struct build_id id = elf_file_build_id(elf);

	return id.size == image->build_id_size && memcmp(id.bytes, image->build_id, id.size) == 0;
}

static bool is_of(struct search *search, const struct elf_image *image, Elf *elf, int fd,
		  const struct stat *status, const struct link *link)
{
	const uint64_t size = (uint64_t)status->st_size;

	if (!has_table(elf) || !has_same_code(image->elf, elf))
		return false;
	if (image->build_id_size)
		return has_build_id_of(elf, image);
	if (!link || size > search->checksum_room)
		return false;
	search->checksum_room -= size;
	return hi_debug_crc_matches(fd, link->crc, size);
}

/* Takes ownership of fd, which may be a negative errno. */
static bool take_file(struct search *search, struct elf_image *image, int fd,
		      const struct stat *status, const struct link *link)
{
	Elf *elf = fd < 0 ? NULL : elf_file_open(fd);

	if (elf && is_of(search, image, elf, fd, status, link)) {
		image->debug = (struct elf_debug){.elf = elf, .fd = fd};
		return true;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return false;
}

/* ---- where it may be ------------------------------------------------------------------------- */

static bool take_from_places(struct search *search, struct elf_image *image,
			     struct hi_file_request *request, uint32_t count,
			     const struct link *link)
{
	struct stat status;
	char path[PATH_MAX];

	for (request->place = 0; request->place < count; request->place++) {
		if (hi_file_path(request, image->path, 0, path, sizeof(path)))
			return false;
		if (take_file(search, image,
			      roots_file(&search->roots, hi_file_is_in_target(request->place), path,
					 0, &status),
			      &status, link))
			return true;
	}
	return false;
}

static bool take_by_build_id(struct search *search, struct elf_image *image)
{
	struct hi_file_request request = {.kind = HI_FILE_BUILD_ID,
					  .build_id_size = (uint32_t)image->build_id_size};

	memcpy(request.build_id, image->build_id, image->build_id_size);
	return image->build_id_size &&
	       take_from_places(search, image, &request, HI_FILE_ROOTS, NULL);
}

static bool read_link(const struct elf_image *image, struct link *out_link)
{
	char section[LINK_BYTES_MAX];
	const char *name = NULL;
	GElf_Shdr header;

	if (elf_section_find(image->elf, ".gnu_debuglink", &header) &&
	    header.sh_size <= sizeof(section) &&
	    pread(image->fd, section, header.sh_size, (off_t)header.sh_offset) ==
		    (ssize_t)header.sh_size)
		name = hi_debug_link(section, header.sh_size, &out_link->crc);
	if (!name || strlen(name) >= sizeof(out_link->name))
		return false;
	memset(out_link->name, 0, sizeof(out_link->name));
	memcpy(out_link->name, name, strlen(name));
	return true;
}

static bool take_by_link(struct search *search, struct elf_image *image)
{
	struct hi_file_request request = {.kind = HI_FILE_DEBUG_LINK};
	struct link link;

	if (!read_link(image, &link))
		return false;
	memcpy(request.name, link.name, sizeof(request.name));
	return take_from_places(search, image, &request, HI_FILE_DEBUG_LINK_PLACES, &link);
}

/* As libdebuginfod finds its cache. Returns a negative number if the path is too long. */
static int format_cache(const char *id, char *path, size_t size)
{
	const char *own = secure_getenv("DEBUGINFOD_CACHE_PATH"),
		   *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int length = -1;

	if (own && *own)
		length = snprintf(path, size, "%s/%s/debuginfo", own, id);
	else if (cache && *cache)
		length = snprintf(path, size, "%s/debuginfod_client/%s/debuginfo", cache, id);
	else if (home && *home)
		length = snprintf(path, size, "%s/.cache/debuginfod_client/%s/debuginfo", home, id);
	return length >= 0 && (size_t)length < size && path[0] == '/' ? length : -1;
}

static bool take_from_cache(struct search *search, struct elf_image *image)
{
	char path[PATH_MAX], id[2 * BUILD_ID_MAX + 1] = "";
	struct stat status;

	for (size_t i = 0; i < image->build_id_size; i++)
		snprintf(id + 2 * i, 3, "%02x", image->build_id[i]);
	return *id && format_cache(id, path, sizeof(path)) > 0 &&
	       take_file(search, image, roots_file(&search->own, false, path, 0, &status), &status,
			 NULL);
}

static void take_packed(struct search *search, struct elf_image *image)
{
	GElf_Shdr header;
	Elf *elf;
	int fd;

	if (!elf_section_find(image->elf, ".gnu_debugdata", &header) ||
	    elf_unpack(image->fd, header.sh_offset, header.sh_size, &search->unpack_room, &fd))
		return;
	elf = elf_file_open(fd);
	/* it is part of the file, and may be without a build-id */
	if (elf && has_table(elf) && has_same_code(image->elf, elf) &&
	    (!elf_file_build_id(elf).size || has_build_id_of(elf, image))) {
		image->debug = (struct elf_debug){.elf = elf, .fd = fd, .is_partial = true};
		return;
	}
	elf_end(elf);
	close(fd);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void find(struct search *search, struct elf_image *image)
{
	if (image->debug_is_sought || image->fd < 0 || image->is_vdso || image->is_loader)
		return;
	image->debug_is_sought = true;
	if (has_table(image->elf) || take_by_build_id(search, image) ||
	    take_by_link(search, image) || take_from_cache(search, image))
		return;
	take_packed(search, image);
}

void elf_debug_find(struct elf_images *images, pid_t pid, pid_t tid)
{
	struct search search = {.checksum_room = CHECKSUM_BYTES_MAX,
				.unpack_room = {UNPACKED_BYTES_MAX, UNPACK_MS_MAX}};
	struct proc_status status;

	if (proc_status_read(pid, tid, &status))
		return;
	roots_open(&search.roots, pid, tid, &status);
	search.own = search.roots;
	search.own.reader = identity_of_caller();
	for (size_t i = 0; i < images->count; i++)
		if (images->image[i].is_main)
			find(&search, &images->image[i]);
	for (size_t i = 0; i < images->count; i++)
		find(&search, &images->image[i]);
	roots_close(&search.roots);
}
