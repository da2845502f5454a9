/* SPDX-License-Identifier: MIT */
/*
 * objfile.c - see objfile.h.
 */
#include "objfile.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* What a candidate has to be. */
struct identity {
	const uint8_t *build_id;
	size_t build_id_size; /* 0 = unknown */
	/* What decides if either side has no build-id: */
	bool is_trusted;     /* somebody who knows says that this is the file */
	const uint32_t *crc; /* of a .gnu_debuglink; NULL = none */
	uint64_t inode;      /* 0 = unknown */
};

Elf_Scn *objfile_section(Elf *elf, uint32_t type, const char *name)
{
	size_t strings;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (type != SHT_NULL && header.sh_type == type)
			return section;
		const char *found = type == SHT_NULL ? elf_strptr(elf, strings, header.sh_name) : NULL;
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

/* The GNU build-id among the notes of one section or segment. */
static const uint8_t *build_id_in(Elf_Data *data, size_t *out_size)
{
	size_t at = 0, name_at, text_at;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name_at, &text_at)) > 0) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp((const char *)data->d_buf + name_at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 && note.n_descsz > 0) {
			*out_size = note.n_descsz;
			return (const uint8_t *)data->d_buf + text_at;
		}
	}
	return NULL;
}

const uint8_t *objfile_build_id(Elf *elf, size_t *out_size)
{
	Elf_Scn *section = NULL;
	const uint8_t *id;
	GElf_Shdr section_header;
	GElf_Phdr header;
	size_t count;

	*out_size = 0;
	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &section_header) && section_header.sh_type == SHT_NOTE && (id = build_id_in(elf_getdata(section, NULL), out_size)))
			return id;
	}
	/* A file without section headers (sstrip) still has the segment. */
	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		Elf_Data *notes = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if ((id = build_id_in(notes, out_size)))
			return id;
	}
	return NULL;
}

static bool crc_matches(int fd, uint32_t wanted)
{
	static unsigned char chunk[1 << 16];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t size;

	while ((size = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		crc = crc32(crc, chunk, (uInt)size);
		at += size;
	}
	return size == 0 && crc == wanted;
}

static bool is_wanted(const struct objfile *file, const struct stat *status, const struct identity *wanted)
{
	size_t size;

	if (elf_kind(file->elf) != ELF_K_ELF)
		return false;
	const uint8_t *id = objfile_build_id(file->elf, &size);
	if (id && wanted->build_id_size)
		return size == wanted->build_id_size && memcmp(id, wanted->build_id, size) == 0;
	if (wanted->is_trusted)
		return true;
	if (wanted->crc)
		return crc_matches(file->fd, *wanted->crc);
	if (wanted->build_id_size)
		return false;
	return wanted->inode == 0 || wanted->inode == status->st_ino;
}

/* Takes path over. 0, -ENOENT, -ENOMEM. */
static int open_candidate(char *path, const struct identity *wanted, struct objfile *out_file)
{
	struct objfile file = {.fd = -1, .path = path};
	struct stat status;

	if (!path)
		return -ENOMEM;
	/* Without O_NONBLOCK a fifo under that name would hold us for good. */
	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file.fd < 0 || fstat(file.fd, &status) || !S_ISREG(status.st_mode))
		goto refused;
	elf_version(EV_CURRENT);
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	if (!file.elf || !is_wanted(&file, &status, wanted))
		goto refused;
	*out_file = file;
	return 0;
refused:
	objfile_close(&file);
	return -ENOENT;
}

static int open_printf(const struct identity *wanted, struct objfile *out_file, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int open_printf(const struct identity *wanted, struct objfile *out_file, const char *format, ...)
{
	va_list arguments;
	char *path;

	va_start(arguments, format);
	if (vasprintf(&path, format, arguments) < 0)
		path = NULL;
	va_end(arguments);
	return open_candidate(path, wanted, out_file);
}

static int open_by_build_id(const struct identity *wanted, uint32_t pid, struct objfile *out_file)
{
	char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

	if (wanted->build_id_size < 2 || wanted->build_id_size > PROFILE_BUILD_ID_MAX)
		return -ENOENT;
	for (size_t i = 0; i < wanted->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", wanted->build_id[i]);
	int error = open_printf(wanted, out_file, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (error == -ENOENT)
		error = open_printf(wanted, out_file, "/proc/%u/root" DEBUG_ROOT "/.build-id/%.2s/%s.debug", pid, hex, hex + 2);
	return error;
}

int objfile_open(const struct profile_module *module, uint32_t pid, const char *binary, struct objfile *out_file)
{
	const struct identity wanted = {.build_id = module->build_id, .build_id_size = module->build_id_size, .inode = module->inode};
	struct identity trusted = wanted;
	const bool has_path = module->path && module->path[0] == '/';
	int error = -ENOENT;

	trusted.is_trusted = true;
	if (binary)
		error = open_printf(&trusted, out_file, "%s", binary);
	if (error == -ENOENT && module->open_path && module->open_path[0] == '/')
		error = open_printf(&trusted, out_file, "%s", module->open_path);
	if (error == -ENOENT && has_path)
		error = open_printf(&wanted, out_file, "/proc/%u/root%s", pid, module->path);
	if (error == -ENOENT && has_path)
		error = open_printf(&wanted, out_file, "%s", module->path);
	return error == -ENOENT ? open_by_build_id(&wanted, pid, out_file) : error;
}

/* .gnu_debuglink: a file name, padded to 4, then the CRC of that file. */
static const char *debug_link(Elf *elf, uint32_t *out_crc)
{
	Elf_Scn *section = objfile_section(elf, SHT_NULL, ".gnu_debuglink");
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (!data || !data->d_buf || data->d_size < 8)
		return NULL;
	const char *name = data->d_buf;
	const size_t crc_at = (strnlen(name, data->d_size) + 4) & ~(size_t)3;
	if (crc_at + sizeof(*out_crc) > data->d_size || !*name || strchr(name, '/'))
		return NULL;
	memcpy(out_crc, name + crc_at, sizeof(*out_crc));
	return name;
}

int objfile_open_debug(const struct objfile *file, const char *path, uint32_t pid, struct objfile *out_debug)
{
	static const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_ROOT, "/"}}; /* what stands before and behind the directory */
	struct identity wanted = {0};
	char root[32];
	uint32_t crc;

	wanted.build_id = objfile_build_id(file->elf, &wanted.build_id_size);
	int error = open_by_build_id(&wanted, pid, out_debug);
	const char *name = debug_link(file->elf, &crc);
	const char *slash = path ? strrchr(path, '/') : NULL;
	if (error != -ENOENT || !name || !slash)
		return error;
	wanted.crc = &crc;
	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	for (size_t i = 0; i < 2 * sizeof(places) / sizeof(places[0]) && error == -ENOENT; i++) {
		const char *const *place = places[i / 2];
		error = open_printf(&wanted, out_debug, "%s%s%.*s%s%s", i % 2 ? root : "", place[0], (int)(slash - path), path, place[1], name);
	}
	return error;
}

void objfile_close(struct objfile *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	*file = OBJFILE_CLOSED;
}
