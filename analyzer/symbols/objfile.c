/* SPDX-License-Identifier: MIT */
/*
 * objfile.c - see objfile.h.
 */
#include "objfile.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfod.h"
#include "hi_debug_files.h"
#include "vdso.h"

/* What a candidate file must match. */
struct identity {
	const uint8_t *build_id;
	size_t build_id_size; /* 0 = unknown */
	/* What decides if either side has no build-id: */
	bool is_trusted;     /* the user or the kernel says that this is the file */
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
		const char *found =
			type == SHT_NULL ? elf_strptr(elf, strings, header.sh_name) : NULL;
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
		    memcmp((const char *)data->d_buf + name_at, ELF_NOTE_GNU,
			   sizeof(ELF_NOTE_GNU)) == 0 &&
		    note.n_descsz > 0) {
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
		if (gelf_getshdr(section, &section_header) && section_header.sh_type == SHT_NOTE &&
		    (id = build_id_in(elf_getdata(section, NULL), out_size)))
			return id;
	}
	/* A file without section headers (sstrip) still has the segment. */
	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		Elf_Data *notes =
			elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
					     header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if ((id = build_id_in(notes, out_size)))
			return id;
	}
	return NULL;
}

static bool is_wanted(const struct objfile *file, const struct stat *status,
		      const struct identity *wanted)
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
		return hi_debug_crc_matches(file->fd, *wanted->crc, UINT64_MAX);
	if (wanted->build_id_size)
		return false;
	return wanted->inode == 0 || wanted->inode == status->st_ino;
}

/* Takes ownership of fd, which may be a negative errno. 0 or -ENOENT. */
static int open_candidate(int fd, const struct identity *wanted, struct objfile *out_file)
{
	struct objfile file = {.fd = fd};
	struct stat status;

	if (fd < 0)
		return -ENOENT;
	elf_version(EV_CURRENT);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		file.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!file.elf || !is_wanted(&file, &status, wanted)) {
		objfile_close(&file);
		return -ENOENT;
	}
	*out_file = file;
	return 0;
}

static int open_places(const struct file_source *source, const struct profile_module *module,
		       struct hi_file_request *request, const struct identity *wanted,
		       struct objfile *out_file)
{
	const uint32_t count =
		request->kind == HI_FILE_DEBUG_LINK ? HI_FILE_DEBUG_LINK_PLACES : HI_FILE_ROOTS;
	int err = -ENOENT;

	for (request->place = 0; request->place < count && err == -ENOENT; request->place++)
		err = open_candidate(file_source_open(source, module, request), wanted, out_file);
	return err;
}

static int open_by_build_id(const struct file_source *source, const struct profile_module *module,
			    const struct identity *wanted, struct objfile *out_file)
{
	struct hi_file_request request = {.kind = HI_FILE_BUILD_ID,
					  .build_id_size = (uint32_t)wanted->build_id_size};

	if (wanted->build_id_size < 2 || wanted->build_id_size > sizeof(request.build_id))
		return -ENOENT;
	memcpy(request.build_id, wanted->build_id, wanted->build_id_size);
	return open_places(source, module, &request, wanted, out_file);
}

/* The last resort, as it may take long. */
static int open_from_server(const struct file_source *source, enum debuginfod_kind kind,
			    const struct identity *wanted, struct objfile *out_file)
{
	return source->ask_fd ? -ENOENT
			      : open_candidate(debuginfod_open(kind, wanted->build_id,
							       wanted->build_id_size),
					       wanted, out_file);
}

static int open_vdso(const struct file_source *source, const struct identity *wanted,
		     struct objfile *out_file)
{
	struct objfile file = {.fd = -1,
			       .elf = wanted->build_id_size || source->ask_fd ? vdso_open() : NULL};
	const struct stat none = {0};

	if (!file.elf || !is_wanted(&file, &none, wanted)) {
		objfile_close(&file);
		return -ENOENT;
	}
	*out_file = file;
	return 0;
}

int objfile_open(const struct file_source *source, const struct profile_module *module,
		 const char *binary, struct objfile *out_file)
{
	const struct identity wanted = {.build_id = module->build_id,
					.build_id_size = module->build_id_size,
					.inode = module->inode};
	struct identity trusted = wanted;
	int err = -ENOENT;

	trusted.is_trusted = true;
	if (binary)
		err = open_candidate(open(binary, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
				     &trusted, out_file);
	if (err == -ENOENT && module->path && strcmp(module->path, VDSO_PATH) == 0)
		err = open_vdso(source, &wanted, out_file);
	if (err == -ENOENT)
		err = open_candidate(
			file_source_open(source, module,
					 &(struct hi_file_request){.kind = HI_FILE_MAPPED}),
			&trusted, out_file);
	if (err == -ENOENT)
		err = open_places(source, module, &(struct hi_file_request){.kind = HI_FILE_NAMED},
				  &wanted, out_file);
	if (err == -ENOENT)
		err = open_by_build_id(source, module, &wanted, out_file);
	return err == -ENOENT ? open_from_server(source, DEBUGINFOD_DEBUG, &wanted, out_file) : err;
}

int objfile_open_program(const struct file_source *source, const struct profile_module *module,
			 struct objfile *out_file)
{
	const struct identity wanted = {.build_id = module->build_id,
					.build_id_size = module->build_id_size};

	return open_from_server(source, DEBUGINFOD_PROGRAM, &wanted, out_file);
}

bool objfile_has_code(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	bool is_left_out = false;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		if (header.sh_type != SHT_NOBITS)
			return true;
		is_left_out = true;
	}
	return !is_left_out; /* a file without section headers is the one that was run */
}

bool objfile_has_package(const struct objfile *file, char out_path[PATH_MAX])
{
	static const char ending[] = ".dwp";
	char link[64];
	struct stat status;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
	const ssize_t size =
		file->fd < 0 ? -1 : readlink(link, out_path, PATH_MAX - sizeof(ending));
	if (size <= 0 || out_path[0] != '/')
		return false;
	memcpy(out_path + size, ending, sizeof(ending));
	return stat(out_path, &status) == 0 && S_ISREG(status.st_mode);
}

int objfile_check(const struct profile_module *module, const char *binary)
{
	const struct identity anything = {.is_trusted = true};
	const int fd = open(binary, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct objfile file;
	size_t size;

	if (fd < 0)
		return -errno;
	if (open_candidate(fd, &anything, &file))
		return -ENOEXEC;
	const uint8_t *id = objfile_build_id(file.elf, &size);
	const bool is_other =
		id && module->build_id_size &&
		(size != module->build_id_size || memcmp(id, module->build_id, size) != 0);
	objfile_close(&file);
	return is_other ? -ESTALE : 0;
}

static const char *debug_link(Elf *elf, uint32_t *out_crc)
{
	Elf_Scn *section = objfile_section(elf, SHT_NULL, ".gnu_debuglink");
	const Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	return data ? hi_debug_link(data->d_buf, data->d_size, out_crc) : NULL;
}

int objfile_open_debug(const struct file_source *source, const struct profile_module *module,
		       const struct objfile *file, struct objfile *out_debug)
{
	struct hi_file_request request = {.kind = HI_FILE_DEBUG_LINK};
	struct identity wanted = {0};
	uint32_t crc;

	wanted.build_id = objfile_build_id(file->elf, &wanted.build_id_size);
	int err = open_by_build_id(source, module, &wanted, out_debug);
	const char *name = debug_link(file->elf, &crc);
	if (err == -ENOENT && name && strlen(name) < sizeof(request.name)) {
		struct identity linked = wanted;
		linked.crc = &crc;
		memcpy(request.name, name, strlen(name));
		err = open_places(source, module, &request, &linked, out_debug);
	}
	return err == -ENOENT ? open_from_server(source, DEBUGINFOD_DEBUG, &wanted, out_debug)
			      : err;
}

/*
 * .gnu_debugaltlink: a path with its terminator, then the build-id of that file. The files that
 * packages share lie below one directory; other paths are not followed.
 */
static const char *alternate_link(Elf *elf, struct identity *out_wanted)
{
	static const char directory[] = "/.dwz/";
	Elf_Scn *section = objfile_section(elf, SHT_NULL, ".gnu_debugaltlink");
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (!data || !data->d_buf)
		return NULL;
	const size_t size = strnlen(data->d_buf, data->d_size);
	if (size + 1 >= data->d_size || data->d_size - size - 1 > HI_FILE_BUILD_ID_MAX)
		return NULL;
	out_wanted->build_id = (const uint8_t *)data->d_buf + size + 1;
	out_wanted->build_id_size = data->d_size - size - 1;
	const char *found = strstr(data->d_buf, directory);
	return found ? found + sizeof(directory) - 1 : "";
}

int objfile_open_alternate(const struct file_source *source, const struct profile_module *module,
			   const struct objfile *file, struct objfile *out_alternate)
{
	struct hi_file_request request = {.kind = HI_FILE_ALTERNATE};
	struct identity wanted = {0};
	const char *name = alternate_link(file->elf, &wanted);

	if (!name)
		return -ENOENT;
	int err = open_by_build_id(source, module, &wanted, out_alternate);
	if (err == -ENOENT && strlen(name) < sizeof(request.name)) {
		memcpy(request.name, name, strlen(name));
		err = open_places(source, module, &request, &wanted, out_alternate);
	}
	return err == -ENOENT ? open_from_server(source, DEBUGINFOD_DEBUG, &wanted, out_alternate)
			      : err;
}

void objfile_close(struct objfile *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = OBJFILE_CLOSED;
}
