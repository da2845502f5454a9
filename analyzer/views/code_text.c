/* SPDX-License-Identifier: MIT */
/* code_text.c - see code_text.h. */
#include "code_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "printable.h"
#include "render_formats.h"
#include "vdso.h"

int code_text_machine(struct code_machine *machine, const struct machine_code *code,
		      const char *view)
{
	if (machine->disassembler && machine->machine == code->machine)
		return 0;
	disassembler_close(machine->disassembler);
	machine->disassembler = NULL;
	machine->machine = code->machine;
	const int err = disassembler_open(code->machine, &machine->disassembler);
	if (err == -ENOENT)
		return render_fail(err,
				   "--%s needs capstone (%s); on Debian and Ubuntu: apt install "
				   "libcapstone4",
				   view, disassembler_library());
	return err;
}

char *code_text_target(const struct machine_code *code, uint64_t target)
{
	uint64_t begin, end;
	const char *symbol =
		target ? module_names_extent(&code->names, target, &begin, &end) : NULL;
	char *name = symbol ? demangle(symbol, false) : NULL, *text = NULL;
	int size = -1;

	if (name && target != begin)
		size = asprintf(&text, "<%s+0x%" PRIx64 ">", name, target - begin);
	else if (name)
		size = asprintf(&text, "<%s>", name);
	free(name);
	return size < 0 ? NULL : text;
}

void code_text_missing(const struct profile_module *module, const struct code_block *block,
		       FILE *out)
{
	char build_id[2 * PROFILE_BUILD_ID_MAX + 1] = "", path[CODE_TEXT_PLACE_MAX];

	if (module && module->path && strcmp(module->path, VDSO_PATH) == 0 && !block->code) {
		fprintf(out, "no code: it is the vdso of another kernel than the one that runs "
			     "here\n");
		return;
	}
	if (!module || !module->path || module->path[0] != '/') {
		fprintf(out, "no code: it was generated at run time, or where it was is not "
			     "known\n");
		return;
	}
	snprintf(path, sizeof(path), "%s", module->path);
	printable(path);
	for (size_t i = 0; i < module->build_id_size && i < PROFILE_BUILD_ID_MAX; i++)
		sprintf(build_id + 2 * i, "%02x", module->build_id[i]);
	if (block->code)
		fprintf(out, "no code: %s has no function here in its symbol table\n", path);
	else if (*build_id)
		fprintf(out,
			"no code: no file with build-id %s, neither %s nor by that id; --binary "
			"names the program's\n",
			build_id, path);
	else
		fprintf(out,
			"no code: %s is not there, or is another file than when it ran; --binary "
			"names the program's\n",
			path);
}

void code_text_no_bytes(const struct code_block *block, FILE *out)
{
	if (machine_code_is_there(block->code))
		fprintf(out, "no code: the file has none at 0x%" PRIx64 "\n", block->begin);
	else
		fprintf(out, "no code: the debug file is there, and not what was run; --binary "
			     "names the program's\n");
}

void code_text_no_cpu(const struct machine_code *code, FILE *out)
{
	fprintf(out, "no code: it is for a CPU that is not known here (e_machine %u)\n",
		code->machine);
}
