/* SPDX-License-Identifier: MIT */
/*
 * moved: the first instructions of the functions that real libraries export. Capstone judges how
 * the decoder reads them; each that arch_make_exit moves is executed where it was and where it is
 * moved to, near and nearly 2 GB away, below and above, and must do the same there.
 *
 * Files are mapped as they are, unrelocated, and no code of theirs runs but these single
 * instructions. All registers but the stack pointer point into a page of our own.
 */
#include "arch.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>

#include "moved.h"

enum {
	PAGE = 4096,
	SCRATCH = 2 * PAGE,
	OPERAND_MAX = 64, /* bytes that one instruction may change at an operand relative to pc */
	STEPS_MAX = 4096, /* of a repeated string instruction */
	LIBRARIES_MIN = 20,
	TRAP_FLAG = 0x100,
	FP_MAX = ARCH_XSTATE_MAX + 16,
	FP_BASIC = 512,
	FP_STACK = 32, /* where st0 to st7, xmm0 to xmm15 and the feature bits stand */
	FP_XMM = 160,
	FP_XMM_END = 416,
	FP_SIZE_AT = 468,
	FP_YMM = 576,
	FP_YMM_END = 832,
};

#define REGION 0x200000000000ull /* images are mapped here: there is room around them */
#define FAR 0x70000000ull /* nearly 2 GB; an operand in a library of 250 MB is still in reach */

/*
 * The scratch area lies in the middle of 4 GB where nothing else is mapped, so that an instruction
 * with a large displacement changes no other memory. An address that is the sum of two registers is
 * in no program's address space.
 */
#define SURROUNDINGS 0x410000000000ull
#define DISPLACEMENT_MAX (1ull << 31)

/* ---- executing one instruction --------------------------------------------------------------- */

struct outcome {
	int signal, code;
	uint64_t fault_address, trap;
	gregset_t regs; /* pc: the offset from the code if it is still there */
	uint8_t fp[FP_YMM_END];
	uint8_t scratch[SCRATCH], operand[OPERAND_MAX];
};

static struct {
	volatile bool is_active;
	uint64_t lo, hi; /* it has been executed when pc is outside */
	unsigned steps;
	gregset_t start, home;
	struct outcome *out;
} run;
static uint8_t fp_start[FP_MAX];
static size_t fp_size;
static uint8_t *scratch;
static uint8_t scratch_start[SCRATCH];

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static bool is_fault(int signal)
{
	return signal != SIGTRAP;
}

static void begin(ucontext_t *context)
{
	memcpy(run.home, context->uc_mcontext.gregs, sizeof(run.home));
	if (!fp_size) {
		uint32_t size;

		memcpy(&size, (uint8_t *)context->uc_mcontext.fpregs + FP_SIZE_AT, sizeof(size));
		fp_size = size;
		if (fp_size < FP_YMM_END || fp_size > FP_MAX)
			_exit(UNIT_EXIT_FAIL);
		memcpy(fp_start, context->uc_mcontext.fpregs, fp_size);
		for (unsigned i = FP_XMM; i < FP_XMM_END; i++)
			fp_start[i] = (uint8_t)(i * 7);
		fp_start[FP_BASIC] |= 2;
	}
	memcpy(context->uc_mcontext.fpregs, fp_start, fp_size);
	run.start[REG_CSGSFS] = run.home[REG_CSGSFS];
	memcpy(context->uc_mcontext.gregs, run.start, sizeof(run.start));
	run.is_active = true;
}

static void end(int signal, const siginfo_t *info, ucontext_t *context)
{
	struct outcome *out = run.out;
	greg_t *pc = &out->regs[REG_RIP];

	out->signal = signal;
	out->code = info->si_code;
	out->fault_address = is_fault(signal) ? (uint64_t)info->si_addr : 0;
	memcpy(out->regs, context->uc_mcontext.gregs, sizeof(out->regs));
	memcpy(out->fp, context->uc_mcontext.fpregs, sizeof(out->fp));
	if ((uint64_t)*pc - run.lo < run.hi - run.lo)
		*pc -= (greg_t)run.lo;
	if (out->fault_address - run.lo < run.hi - run.lo)
		out->fault_address -= run.lo;
	memcpy(context->uc_mcontext.fpregs, fp_start, fp_size);
	memcpy(context->uc_mcontext.gregs, run.home, sizeof(run.home));
	run.is_active = false;
}

static void on_signal(int signal, siginfo_t *info, void *context_)
{
	ucontext_t *context = context_;
	const uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];

	if (!run.is_active && signal != SIGTRAP) {
		(void)!write(STDOUT_FILENO, "FAIL: a fault of the test\n", 26);
		_exit(UNIT_EXIT_FAIL);
	}
	if (!run.is_active)
		begin(context);
	else if (signal == SIGTRAP && info->si_code == TRAP_TRACE && pc >= run.lo && pc < run.hi &&
		 run.steps++ < STEPS_MAX)
		context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	else
		end(signal, info, context);
}

static void prepare(void)
{
	static uint8_t stack[1 << 17];
	const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
	const struct sigaction action = {.sa_sigaction = on_signal,
					 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	static const int signals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

	CHECK_EQ(sigaltstack(&alternative, NULL), 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		CHECK_EQ(sigaction(signals[i], &action, NULL), 0);
	scratch = mmap((void *)SURROUNDINGS, 2 * DISPLACEMENT_MAX, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(scratch == (void *)SURROUNDINGS);
	scratch += DISPLACEMENT_MAX;
	CHECK_EQ(mprotect(scratch, SCRATCH, PROT_READ | PROT_WRITE), 0);
	for (uint64_t i = 0; i < SCRATCH; i += sizeof(i)) { /* each word may be jumped to */
		const uint64_t word = 0x111100000000 + i * 0x1357;

		memcpy(scratch_start + i, &word, sizeof(word));
	}
	memcpy(scratch, scratch_start, SCRATCH);
}

/*
 * All registers but the stack pointer point into the scratch area. All flags that a branch may
 * depend on are clear; in the other variant they are set, and rcx is 1.
 */
static void set_start(unsigned variant)
{
	static const int pointers[] = {REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12,
				       REG_R13, REG_R14, REG_R15, REG_RDI, REG_RSI,
				       REG_RBP, REG_RBX, REG_RDX, REG_RAX, REG_RCX};

	memset(run.start, 0, sizeof(run.start));
	for (unsigned i = 0; i < sizeof(pointers) / sizeof(*pointers); i++)
		run.start[pointers[i]] = (greg_t)(uintptr_t)(scratch + SCRATCH / 4 + 64 * i);
	run.start[REG_RSP] = (greg_t)(uintptr_t)(scratch + SCRATCH / 4 * 3 + 8);
	run.start[REG_EFL] = 0x202 | TRAP_FLAG | (variant ? 0x8d5 : 0);
	if (variant)
		run.start[REG_RCX] = 1;
}

/* Executes what is at pc until pc is outside [pc, pc + size). */
static void execute(uint64_t pc, uint64_t size, uint8_t *operand, unsigned variant,
		    struct outcome *out)
{
	uint8_t saved[OPERAND_MAX];

	if (operand)
		memcpy(saved, operand, sizeof(saved));
	set_start(variant);
	run.start[REG_RIP] = (greg_t)pc;
	run.lo = pc;
	run.hi = pc + size;
	run.steps = 0;
	run.out = out;
	__asm__ volatile("int3" ::
				 : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
				   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
				   "xmm13", "xmm14", "xmm15");
	memcpy(out->scratch, scratch, SCRATCH);
	memcpy(scratch, scratch_start, SCRATCH);
	memset(out->operand, 0, sizeof(out->operand));
	if (operand) {
		memcpy(out->operand, operand, sizeof(saved));
		memcpy(operand, saved, sizeof(saved));
	}
}

/* What differs; NULL = nothing. The address of the last x87 instruction may differ. */
static const char *difference(const struct outcome *a, const struct outcome *b)
{
	if (a->signal != b->signal || a->code != b->code || a->fault_address != b->fault_address)
		return "fault";
	if (a->regs[REG_RIP] != b->regs[REG_RIP])
		return "pc";
	if (a->regs[REG_EFL] != b->regs[REG_EFL])
		return "flags";
	for (int i = 0; i <= REG_TRAPNO; i++)
		if (i != REG_OLDMASK && a->regs[i] != b->regs[i])
			return "a register";
	if (memcmp(a->fp, b->fp, 8) != 0 ||
	    memcmp(a->fp + FP_STACK, b->fp + FP_STACK, FP_XMM_END - FP_STACK) != 0 ||
	    memcmp(a->fp + FP_YMM, b->fp + FP_YMM, FP_YMM_END - FP_YMM) != 0)
		return "a vector register";
	if (memcmp(a->scratch, b->scratch, SCRATCH) != 0)
		return "memory";
	return memcmp(a->operand, b->operand, OPERAND_MAX) != 0 ? "memory of the library" : NULL;
}

/* ---- images and places ----------------------------------------------------------------------- */

enum { PLACES = 4 };

struct image {
	const char *name;
	uint8_t *base, *end;
	uint8_t *writable;      /* from here to the end */
	uint8_t *place[PLACES]; /* near and far, below and above; a page each */
};

static uint8_t *map_at(uint64_t address, size_t size, int protection)
{
	uint8_t *page =
		mmap((void *)address, size, protection,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (page != (void *)address)
		UNIT_FAIL("nothing can be mapped at 0x%" PRIx64, address);
	return page;
}

static struct image image_reserve(const char *name, size_t size)
{
	struct image image = {.name = name};
	const int all = PROT_READ | PROT_WRITE | PROT_EXEC;

	size = (size + PAGE - 1) / PAGE * PAGE;
	image.base = image.writable = map_at(REGION, size, PROT_READ | PROT_WRITE);
	image.end = image.base + size;
	image.place[0] = map_at(REGION - PAGE, PAGE, all);
	image.place[1] = map_at(REGION + size, PAGE, all);
	image.place[2] = map_at(REGION - FAR, PAGE, all);
	image.place[3] = map_at(REGION + FAR, PAGE, all);
	return image;
}

static void image_close(const struct image *image)
{
	munmap(image->base, (size_t)(image->end - image->base));
	for (unsigned i = 0; i < PLACES; i++)
		munmap(image->place[i], PAGE);
}

/* ---- one function ---------------------------------------------------------------------------- */

static void fail(const struct judge *judge, const struct image *image, const uint8_t *code,
		 const char *what, const char *where)
{
	char bytes[3 * ARCH_ENTRY_MAX + 1];

	for (unsigned i = 0; i < ARCH_ENTRY_MAX; i++)
		sprintf(bytes + 3 * i, "%02x ", code[i]);
	UNIT_FAIL("%s+0x%zx: %s(capstone: %s %s): %s%s", image->name, (size_t)(code - image->base),
		  bytes, judge->instruction->mnemonic, judge->instruction->op_str, what, where);
}

/*
 * May it be executed here? Not if it calls the kernel, has another result each time, or writes to
 * this thread's own variables.
 */
static bool may_be_executed(const struct judge *judge)
{
	static const unsigned others[] = {X86_INS_SYSCALL, X86_INS_SYSENTER, X86_INS_RDTSC,
					  X86_INS_RDTSCP,  X86_INS_CPUID,    X86_INS_RDRAND,
					  X86_INS_RDSEED};
	const cs_x86 *x86 = &judge->instruction->detail->x86;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (judge->instruction->id == others[i])
			return false;
	for (unsigned i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
		    (x86->operands[i].access & CS_AC_WRITE) &&
		    (x86->operands[i].mem.segment == X86_REG_FS ||
		     x86->operands[i].mem.segment == X86_REG_GS))
			return false;
	return !judge_is(judge, X86_GRP_INT) && !judge_is(judge, X86_GRP_PRIVILEGE);
}

/* What the instruction may change at an operand relative to pc; NULL = there is no such memory. */
static uint8_t *operand_of(const struct image *image, const struct judge *judge, uint64_t pc)
{
	const cs_x86 *x86 = &judge->instruction->detail->x86;

	if (!judge_pc_relative_at(judge))
		return NULL;
	uint8_t *operand =
		(uint8_t *)(uintptr_t)(pc + judge->instruction->size + (uint64_t)x86->disp);
	return operand >= image->writable && operand + OPERAND_MAX <= image->end ? operand : NULL;
}

/* Executes it where it is and where it is moved to. */
static void execute_both(const struct image *image, const struct judge *judge, const uint8_t *code,
			 unsigned place, unsigned variant)
{
	static const char *const where[PLACES] = {", near, below", ", near, above", ", far, below",
						  ", far, above"};
	static struct outcome before, after;
	const uint64_t pc = address_of(code),
		       at = address_of(image->place[place]) + count.moved * ARCH_EXIT_BYTES % PAGE;
	uint8_t *operand = operand_of(image, judge, pc), exit[ARCH_EXIT_BYTES];

	execute(pc, judge->instruction->size, operand, variant, &before);
	if (!arch_make_exit(code, pc, at, exit))
		fail(judge, image, code, "out of reach", where[place]);
	memcpy((void *)(uintptr_t)at, exit, sizeof(exit));
	execute(at, sizeof(exit), operand, variant, &after);
	const char *what = difference(&before, &after);
	if (what)
		fail(judge, image, code, what, where[place]);
	count.executed++;
	count.faulted += before.signal != SIGTRAP;
}

enum ways {
	NO_WAY, /* it is not executed */
	ONE_WAY,
	ALL_WAYS, /* at all places, with and without flags */
};

/*
 * Examines the first instruction of the function at code, and executes it if it can be moved; one
 * way is another one for each function. False: it cannot be moved.
 */
static bool examine(const struct image *image, const struct judge *judge, const uint8_t *code,
		    enum ways ways)
{
	const uint64_t pc = address_of(code);
	const char *dispute = judge_dispute(judge, code, pc);

	if (dispute)
		fail(judge, image, code, dispute, "");
	if (!count_first(judge, code, pc))
		return false;
	if (ways == NO_WAY)
		return true;
	count.not_executed += !may_be_executed(judge);
	if (may_be_executed(judge))
		for (unsigned way = 0; way < 2 * PLACES; way++)
			if (ways == ALL_WAYS || way == count.moved % (2 * PLACES))
				execute_both(image, judge, code, way / 2, way % 2);
	return true;
}

/* ---- libraries ------------------------------------------------------------------------------- */

struct file {
	int fd;
	uint8_t *data;
	size_t size;
};

/* Opens a shared library. False: it is something else. */
static bool file_open(const char *path, struct file *out)
{
	struct stat status;

	out->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (out->fd < 0)
		return false;
	CHECK_EQ(fstat(out->fd, &status), 0);
	out->size = (size_t)status.st_size;
	out->data = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, out->fd, 0);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)out->data;
	if (out->size > sizeof(*head) && out->data != MAP_FAILED &&
	    memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
	    head->e_machine == ARCH_ELF_MACHINE && head->e_type == ET_DYN)
		return true;
	close(out->fd);
	return false;
}

static void file_close(const struct file *file)
{
	munmap(file->data, file->size);
	close(file->fd);
}

/* Maps the segments as the dynamic linker does; what lies between them is writable. */
static struct image image_of(const char *name, const struct file *file)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file->data;
	const Elf64_Phdr *part = (const Elf64_Phdr *)(const void *)(file->data + head->e_phoff),
			 *end = part + head->e_phnum;
	uint64_t size = 0;

	for (const Elf64_Phdr *at = part; at < end; at++)
		if (at->p_type == PT_LOAD && at->p_vaddr + at->p_memsz > size)
			size = at->p_vaddr + at->p_memsz;
	struct image image = image_reserve(name, size + OPERAND_MAX);
	image.writable = image.end;
	for (; part < end; part++) {
		const size_t skew = part->p_vaddr % PAGE;
		uint8_t *to = image.base + part->p_vaddr - skew;
		const int protection = PROT_READ | (part->p_flags & PF_W ? PROT_WRITE : 0) |
				       (part->p_flags & PF_X ? PROT_EXEC : 0);

		if (part->p_type != PT_LOAD)
			continue;
		CHECK_EQ(mprotect(to, part->p_memsz + skew, protection), 0);
		if (part->p_filesz)
			CHECK(mmap(to, part->p_filesz + skew, protection, MAP_PRIVATE | MAP_FIXED,
				   file->fd, (off_t)(part->p_offset - skew)) == to);
		if ((part->p_flags & PF_W) && to < image.writable)
			image.writable = to;
	}
	return image;
}

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The addresses of the functions that the library exports, each once. The caller frees them. */
static size_t functions_of(const struct file *file, uint64_t **out)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file->data;
	const Elf64_Shdr *section = (const Elf64_Shdr *)(const void *)(file->data + head->e_shoff),
			 *symbols = NULL;
	size_t found = 0, kept = 0;

	for (unsigned i = 0; i < head->e_shnum; i++)
		if (section[i].sh_type == SHT_DYNSYM)
			symbols = &section[i];
	const size_t all = symbols ? symbols->sh_size / sizeof(Elf64_Sym) : 0;
	const Elf64_Sym *symbol =
		symbols ? (const Elf64_Sym *)(const void *)(file->data + symbols->sh_offset) : NULL;
	uint64_t *address = calloc(all + 1, sizeof(*address));
	CHECK(address);
	for (size_t i = 0; i < all; i++) {
		const unsigned type = ELF64_ST_TYPE(symbol[i].st_info);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol[i].st_shndx != SHN_UNDEF)
			address[found++] = symbol[i].st_value;
	}
	qsort(address, found, sizeof(*address), compare);
	for (size_t i = 0; i < found; i++)
		if (!i || address[i] != address[kept - 1])
			address[kept++] = address[i];
	*out = address;
	return kept;
}

struct run_over {
	struct judge judge;
	size_t most; /* functions of one library that are executed, evenly spread */
};

static void examine_library(const char *path, void *data)
{
	const struct run_over *over = data;
	struct file file;
	uint64_t *address;

	if (!file_open(path, &file))
		return;
	const struct image image = image_of(path, &file);
	const size_t all = functions_of(&file, &address),
		     step = (all + over->most - 1) / over->most;
	for (size_t i = 0; i < all; i++)
		examine(&image, &over->judge, image.base + address[i], i % step ? NO_WAY : ONE_WAY);
	count.files += all != 0;
	free(address);
	image_close(&image);
	file_close(&file);
}

static void examine_libraries(const char *const *beginnings, size_t most)
{
	struct run_over over = {.judge = judge_open(), .most = most};

	prepare();
	libraries_each(beginnings, ".so", examine_library, &over);
	count_print();
	CHECK(count.files >= LIBRARIES_MIN);
}

UNIT_TEST(each_kind_of_first_instruction_does_the_same_elsewhere_or_is_refused)
{
	/* Operands relative to pc lie in the page after the code. */
	static const struct {
		const char *name;
		bool is_moved;
		uint8_t code[ARCH_ENTRY_MAX];
	} kinds[] = {
		{"endbr64", true, {0xf3, 0x0f, 0x1e, 0xfa}},
		{"push rbx", true, {0x53}},
		{"push r12", true, {0x41, 0x54}},
		{"pop rax", true, {0x58}},
		{"sub rsp, 0x28", true, {0x48, 0x83, 0xec, 0x28}},
		{"mov rbp, rsp", true, {0x48, 0x89, 0xe5}},
		{"cmp byte [rip+x], 0", true, {0x80, 0x3d, 0x00, 0x08, 0, 0, 0}},
		{"mov rax, [rip+x]", true, {0x48, 0x8b, 0x05, 0x00, 0x08, 0, 0}},
		{"lea rax, [rip+x]", true, {0x48, 0x8d, 0x05, 0x00, 0x08, 0, 0}},
		{"mov [rip+x], rcx", true, {0x48, 0x89, 0x0d, 0x00, 0x08, 0, 0}},
		{"lock add qword [rip+x], 1", true, {0xf0, 0x48, 0x83, 0x05, 0x00, 0x08, 0, 0, 1}},
		{"mov word [rip+x], imm16", true, {0x66, 0xc7, 0x05, 0x00, 0x08, 0, 0, 0x34, 0x12}},
		{"mov qword [rip+x], imm32",
		 true,
		 {0x48, 0xc7, 0x05, 0x00, 0x08, 0, 0, 1, 2, 3, 4}},
		{"movdqu xmm1, [rip+x]", true, {0xf3, 0x0f, 0x6f, 0x0d, 0x00, 0x08, 0, 0}},
		{"vmovdqu ymm1, [rip+x]", true, {0xc5, 0xfe, 0x6f, 0x0d, 0x00, 0x08, 0, 0}},
		{"vpblendvb xmm0, xmm1, [rip+x], xmm2",
		 true,
		 {0xc4, 0xe3, 0x71, 0x4c, 0x05, 0x00, 0x08, 0, 0, 0x20}},
		{"vpxor xmm0, xmm0, xmm0", true, {0xc5, 0xf9, 0xef, 0xc0}},
		{"vmovdqu64 zmm0, [rip+x]",
		 false,
		 {0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x05, 0x00, 0x08, 0, 0}},
		{"vpxord zmm0, zmm0, zmm0", false, {0x62, 0xf1, 0x7d, 0x48, 0xef, 0xc0}},
		{"movabs rax, imm64", true, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"mov rax, fs:[0]", true, {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}},
		{"mov rax, fs:[0], longer", true, {0x66, 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}},
		{"mov qword [rsp+x], imm32",
		 false, /* no room for the jump back */
		 {0x48, 0xc7, 0x84, 0x24, 0x00, 0x02, 0, 0, 1, 2, 3, 4}},
		{"fld tbyte [rsp+8]", true, {0xdb, 0x6c, 0x24, 0x08}},
		{"rep movsq", true, {0xf3, 0x48, 0xa5}},
		{"mov eax, [edi]", true, {0x67, 0x8b, 0x07}},
		{"mov eax, [eip+x]", false, {0x67, 0x8b, 0x05, 0x00, 0x08, 0, 0}},
		{"jmp rel8", true, {0xeb, 0x10}},
		{"jmp rel8, back", true, {0xeb, 0xe0}},
		{"jmp rel32", true, {0xe9, 0x00, 0x02, 0, 0}},
		{"jmp [rip+x]", true, {0xff, 0x25, 0x00, 0x08, 0, 0}},
		{"bnd jmp [rip+x]", true, {0xf2, 0xff, 0x25, 0x00, 0x08, 0, 0}},
		{"jmp [rdi+8]", true, {0xff, 0x67, 0x08}},
		{"notrack jmp rax", true, {0x3e, 0xff, 0xe0}},
		{"ret", true, {0xc3}},
		{"rep ret", true, {0xf3, 0xc3}},
		{"ret 8", true, {0xc2, 8, 0}},
		{"je rel8", false, {0x74, 0x10}},
		{"jne rel32", false, {0x0f, 0x85, 0x00, 0x02, 0, 0}},
		{"loop rel8", false, {0xe2, 0x10}},
		{"jrcxz rel8", false, {0xe3, 0x10}},
		{"jecxz rel8", false, {0x67, 0xe3, 0x10}},
		{"xbegin rel32", false, {0xc7, 0xf8, 0x00, 0x02, 0, 0}},
		{"call rel32", false, {0xe8, 0x00, 0x02, 0, 0}},
		{"addr32 call rel32", false, {0x67, 0xe8, 0x00, 0x02, 0, 0}},
		{"call [rip+x]", false, {0xff, 0x15, 0x00, 0x08, 0, 0}},
		{"call rax", false, {0xff, 0xd0}},
		{"int3", false, {0xcc}},
		{"ud2", false, {0x0f, 0x0b}},
		{"hlt", false, {0xf4}},
	};
	const struct judge judge = judge_open();
	struct image image = image_reserve("by hand", 2 * PAGE);
	uint8_t *code = image.base + PAGE - ARCH_ENTRY_MAX;
	const uint64_t word = address_of(image.base) + 0x123;
	uint8_t *operand;

	prepare();
	image.writable = image.base + PAGE;
	CHECK_EQ(mprotect(image.base, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		memcpy(code, kinds[i].code, ARCH_ENTRY_MAX);
		for (size_t at = 0; at < PAGE; at++)
			image.writable[at] = (uint8_t)(at * 7);
		operand = judge_decode(&judge, code, address_of(code))
				  ? operand_of(&image, &judge, address_of(code))
				  : NULL;
		if (operand) /* which may be jumped to */
			memcpy(operand, &word, sizeof(word));
		image.name = kinds[i].name;
		if (examine(&image, &judge, code, ALL_WAYS) != kinds[i].is_moved)
			fail(&judge, &image, code, kinds[i].is_moved ? "refused" : "moved", "");
	}
	count_print();
}

/*
 * All opcodes with all kinds of operands, after each prefix that changes what follows. Nothing is
 * compared where capstone does not know the bytes, of instructions that are the kernel's, and of
 * opcodes that no program has (VIA's own, SSE4a, ud0, ud1); nor where capstone 4 errs:
 * 66 f2 68, 66 48 c2, 66 48 e9, 67 48 e8.
 */
UNIT_TEST(decoder_reads_all_opcodes_as_capstone_does)
{
	static const uint8_t heads[][4] = {{0},
					   {1, 0x66},
					   {1, 0xf2},
					   {1, 0xf3},
					   {1, 0x48},
					   {2, 0x66, 0x48},
					   {2, 0x67, 0x4f},
					   {1, 0x67},
					   {2, 0xc5, 0xf9},
					   {2, 0xc5, 0x7f},
					   {3, 0xc4, 0xe1, 0xfa},
					   {3, 0xc4, 0x62, 0x7d},
					   {3, 0xc4, 0xe2, 0xf9},
					   {3, 0xc4, 0xe3, 0x7d}};
	static const uint8_t maps[][3] = {{0}, {1, 0x0f}, {2, 0x0f, 0x38}, {2, 0x0f, 0x3a}};
	static const uint8_t operands[] = {0, 4, 5}, rest[] = {0x24, 0x11, 0x12, 0x13, 0x14};
	const struct judge judge = judge_open();
	size_t compared = 0, unknown = 0;

	for (unsigned number = 0; number < sizeof(heads) / sizeof(*heads) * 4 * 256 * 32 * 3;
	     number++) {
		const unsigned opcode = number / 3 / 32 % 256;
		const uint8_t *map = maps[number / 3 / 32 / 256 % 4],
			      *head = heads[number / 3 / 32 / 256 / 4],
			      modrm = (uint8_t)(number / 3 % 32 << 3 | operands[number % 3]);
		uint8_t code[2 * ARCH_ENTRY_MAX] = {0}, *at = code;
		struct arch_instruction own;

		at = mempcpy(mempcpy(at, head + 1, head[0]), map + 1, map[0]);
		*at++ = (uint8_t)opcode;
		*at++ = modrm;
		memcpy(at, rest, sizeof(rest));
		if ((map == maps[1] && memchr("\x78\xa6\xa7\xb9\xff", (int)opcode, 5)) ||
		    (map == maps[0] && ((opcode & 0xfe) == 0xf2 || (opcode & 0xf8) == 0x48 ||
					(head[0] == 2 && memchr("\xc2\xe8\xe9", (int)opcode, 3)))))
			continue;
		if (!judge_decode(&judge, code, REGION) || judge_is(&judge, X86_GRP_PRIVILEGE))
			continue;
		const char *dispute = judge_dispute(&judge, code, REGION);
		if (dispute)
			fail(&judge, &(struct image){.name = "opcode", .base = code}, code, dispute,
			     "");
		unknown += !arch_decode(code, ARCH_ENTRY_MAX, REGION, &own);
		compared++;
	}
	printf("%zu instructions compared, %zu not known to the decoder\n", compared, unknown);
	CHECK(unknown < compared / 10);
}

UNIT_TEST(first_instructions_of_libraries_do_the_same_elsewhere)
{
	static const char *const beginnings[] = {
		"libX11.so",     "libasound.so",   "libbz2.so",
		"libc.so",       "libcairo.so",    "libcrypto.so",
		"libcurl.so",    "libdw-",         "libelf-",
		"libexpat.so",   "libffi.so",      "libfreetype.so",
		"libgcc_s.so",   "libglib-2.0.so", "libgmp.so",
		"libgnutls.so",  "libjemalloc",    "liblzma.so",
		"libm.so",       "libmimalloc",    "libncursesw.so",
		"libpcre2-8.so", "libpng16.so",    "libpython3.",
		"libsqlite3.so", "libssl.so",      "libstdc++.so",
		"libtcmalloc",   "libunwind.so",   "libxml2.so",
		"libz.so",       "libzstd.so",     NULL};

	examine_libraries(beginnings, 1000);
}

/* All libraries that the directory has. */
UNIT_SLOW_TEST(first_instructions_of_all_libraries_do_the_same_elsewhere)
{
	examine_libraries(NULL, 2000);
}

UNIT_MAIN()
