/* SPDX-License-Identifier: MIT */
/*
 * moved.h - first instructions of real functions: capstone as an independent judge of each, which
 * of them are moved, and the libraries of this machine. Capstone is loaded as the analyzer's
 * disassembler loads it; a machine without it skips the case.
 */
#ifndef HI_MOVED_H
#define HI_MOVED_H

#include <capstone/capstone.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "arch.h"
#include "unit.h"

#define MOVED_TEXT_OF(number) MOVED_TEXT_OF_(number)
#define MOVED_TEXT_OF_(number) #number

struct judge {
	csh handle;
	cs_insn *instruction; /* the last one that judge_decode read */
	__typeof__(cs_disasm_iter) *decode;
};

static inline struct judge judge_open(void)
{
	void *library = dlopen("libcapstone.so." MOVED_TEXT_OF(CS_API_MAJOR), RTLD_NOW);
	static struct judge judge; /* never closed: it lasts as long as the case */

	if (!library)
		SKIP("capstone is not installed");
	judge.decode = (__typeof__(cs_disasm_iter) *)dlsym(library, "cs_disasm_iter");
	CHECK_EQ(((__typeof__(cs_open) *)dlsym(library, "cs_open"))(CS_ARCH_X86, CS_MODE_64,
								    &judge.handle),
		 0);
	CHECK_EQ(((__typeof__(cs_option) *)dlsym(library, "cs_option"))(judge.handle, CS_OPT_DETAIL,
									CS_OPT_ON),
		 0);
	judge.instruction = ((__typeof__(cs_malloc) *)dlsym(library, "cs_malloc"))(judge.handle);
	CHECK(judge.instruction);
	return judge;
}

static inline bool judge_decode(const struct judge *judge, const uint8_t code[ARCH_ENTRY_MAX],
				uint64_t pc)
{
	size_t room = ARCH_ENTRY_MAX;

	return judge->decode(judge->handle, &code, &room, &pc, judge->instruction);
}

/* Where in the instruction the displacement of an operand relative to pc stands; 0 = nowhere. */
static inline uint8_t judge_pc_relative_at(const struct judge *judge)
{
	const cs_x86 *x86 = &judge->instruction->detail->x86;

	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
		    (x86->operands[i].mem.base == X86_REG_RIP ||
		     x86->operands[i].mem.base == X86_REG_EIP))
			return x86->encoding.disp_offset;
	return 0;
}

static inline bool judge_is(const struct judge *judge, uint8_t group)
{
	const cs_detail *detail = judge->instruction->detail;

	return memchr(detail->groups, group, detail->groups_count) != NULL;
}

/* The destination of a branch, jump or call that names it; 0 = there is none. */
static inline uint64_t judge_target(const struct judge *judge)
{
	const cs_x86 *x86 = &judge->instruction->detail->x86;

	return judge_is(judge, X86_GRP_BRANCH_RELATIVE) && x86->operands[0].type == X86_OP_IMM
		       ? (uint64_t)x86->operands[0].imm
		       : 0;
}

/*
 * What the project's decoder and the judge disagree about; NULL = nothing. An instruction that the
 * decoder does not know is no disagreement: it is not moved.
 */
static inline const char *judge_dispute(const struct judge *judge,
					const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	struct arch_instruction own;

	if (!arch_decode(code, ARCH_ENTRY_MAX, pc, &own))
		return NULL;
	if (!judge_decode(judge, code, pc))
		return "capstone does not know it";
	if (own.size != judge->instruction->size)
		return "size";
	if (own.pc_relative_at != judge_pc_relative_at(judge))
		return "operand relative to pc";
	return own.target == judge_target(judge) ? NULL : "target";
}

/* ---- what becomes of them -------------------------------------------------------------------- */

enum refusal {
	REFUSED_UNKNOWN,
	REFUSED_CALL,
	REFUSED_BRANCH,
	REFUSED_STOP,
	REFUSED_TOO_LONG,
	REFUSALS,
};

static struct {
	size_t files, functions, moved, relative, executed, faulted, not_executed;
	size_t refused[REFUSALS];
} count;

static inline enum refusal refusal_of(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	struct arch_instruction own;

	if (!arch_decode(code, ARCH_ENTRY_MAX, pc, &own))
		return REFUSED_UNKNOWN;
	return own.flow == ARCH_FLOW_CALL     ? REFUSED_CALL
	       : own.flow == ARCH_FLOW_BRANCH ? REFUSED_BRANCH
	       : own.flow == ARCH_FLOW_STOP   ? REFUSED_STOP
					      : REFUSED_TOO_LONG;
}

/* Counts a function, which judge_dispute has passed. Can its first instruction be moved? */
static inline bool count_first(const struct judge *judge, const uint8_t code[ARCH_ENTRY_MAX],
			       uint64_t pc)
{
	const bool is_moved = arch_entry_size(code, pc) != 0;

	count.functions++;
	count.moved += is_moved;
	count.relative += is_moved && judge_pc_relative_at(judge);
	if (!is_moved)
		count.refused[refusal_of(code, pc)]++;
	return is_moved;
}

static inline void count_print(void)
{
	static const char *const name[REFUSALS] = {"not known to the decoder", "call",
						   "conditional branch", "never continues",
						   "too long"};

	printf("%zu files: %zu functions, %zu moved (%zu with an operand relative to pc) and "
	       "executed at %zu places (%zu faults, alike; %zu not executed); refused:",
	       count.files, count.functions, count.moved, count.relative, count.executed,
	       count.faulted, count.not_executed);
	for (unsigned i = 0; i < REFUSALS; i++)
		printf(" %zu %s%s", count.refused[i], name[i], i + 1 < REFUSALS ? "," : "\n");
}

/* ---- the libraries of this machine ----------------------------------------------------------- */

static inline int library_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Calls use for each file (symbolic links are left out) of the directory in which this process's
 * libc lies that has `part` in its name and begins with one of these; NULL = with anything. In the
 * order of the names.
 */
static inline void libraries_each(const char *const *beginnings, const char *part,
				  void (*use)(const char *path, void *data), void *data)
{
	char directory[PATH_MAX], path[PATH_MAX + 257];
	struct dirent **entry;
	struct stat status;
	Dl_info info;

	CHECK(dladdr((void *)(uintptr_t)qsort, &info) && realpath(info.dli_fname, directory));
	*strrchr(directory, '/') = '\0';
	const int entries = scandir(directory, &entry, NULL, library_order);
	CHECK(entries >= 0);
	for (int i = 0; i < entries; i++) {
		const char *name = entry[i]->d_name;
		bool is_chosen = !beginnings;

		for (const char *const *beginning = beginnings; beginning && *beginning;
		     beginning++)
			is_chosen |= strncmp(name, *beginning, strlen(*beginning)) == 0;
		snprintf(path, sizeof(path), "%s/%s", directory, name);
		if (is_chosen && strstr(name, part) && lstat(path, &status) == 0 &&
		    S_ISREG(status.st_mode))
			use(path, data);
		free(entry[i]);
	}
	free(entry);
}

#endif
