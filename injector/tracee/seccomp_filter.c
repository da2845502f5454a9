/* SPDX-License-Identifier: MIT */
/*
 * seccomp_filter.c - the kernel's classic BPF machine, as far as seccomp allows it, and the system
 * calls of a session as its input.
 *
 * The list of calls must name every call that arena/, the loaders and the guard frame make in the
 * target. Arguments that we do not choose (addresses, descriptors) are represented by arbitrary
 * values here: filters that judge those are rare. Entry point: seccomp_filter_check.
 */
#include "seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch.h"
#include "hi_wire.h"
#include "kernel_flags.h"

/* ---- the machine ----------------------------------------------------------------------------- */

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t calculate(uint16_t operation, uint32_t a, uint32_t operand)
{
	switch (operation) {
	case BPF_ADD:
		return a + operand;
	case BPF_SUB:
		return a - operand;
	case BPF_MUL:
		return a * operand;
	case BPF_DIV:
		return operand ? a / operand : 0;
	case BPF_AND:
		return a & operand;
	case BPF_OR:
		return a | operand;
	case BPF_XOR:
		return a ^ operand;
	case BPF_LSH:
		return a << (operand & 31);
	case BPF_RSH:
		return a >> (operand & 31);
	default:
		return -a;
	}
}

static bool compare(uint16_t operation, uint32_t a, uint32_t operand)
{
	switch (operation) {
	case BPF_JEQ:
		return a == operand;
	case BPF_JGT:
		return a > operand;
	case BPF_JGE:
		return a >= operand;
	default:
		return a & operand;
	}
}

static uint32_t load(const struct machine *machine, const struct sock_filter *step,
		     const struct seccomp_data *call)
{
	switch (BPF_MODE(step->code)) {
	case BPF_ABS:
		return step->k < sizeof(*call) ? ((const uint32_t *)call)[step->k / 4] : 0;
	case BPF_LEN:
		return sizeof(*call);
	case BPF_MEM:
		return machine->memory[step->k % BPF_MEMWORDS];
	default:
		return step->k;
	}
}

uint32_t seccomp_filter_run(const struct sock_filter *code, size_t count,
			    const struct seccomp_data *call)
{
	struct machine machine = {0};

	for (size_t at = 0; at < count; at++) { /* jumps lead forward only, so it ends */
		const struct sock_filter *step = &code[at];
		const uint32_t operand = BPF_SRC(step->code) == BPF_X ? machine.x : step->k;

		switch (BPF_CLASS(step->code)) {
		case BPF_LD:
			machine.a = load(&machine, step, call);
			break;
		case BPF_LDX:
			machine.x = load(&machine, step, call);
			break;
		case BPF_ST:
			machine.memory[step->k % BPF_MEMWORDS] = machine.a;
			break;
		case BPF_STX:
			machine.memory[step->k % BPF_MEMWORDS] = machine.x;
			break;
		case BPF_ALU:
			machine.a = calculate(BPF_OP(step->code), machine.a, operand);
			break;
		case BPF_JMP:
			if (BPF_OP(step->code) == BPF_JA)
				at += step->k;
			else
				at += compare(BPF_OP(step->code), machine.a, operand) ? step->jt
										      : step->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(step->code) == BPF_A ? machine.a : step->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(step->code) == BPF_TAX)
				machine.x = machine.a;
			else
				machine.a = machine.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* ---- the calls ------------------------------------------------------------------------------- */

#define PAGE HI_PAGE_BYTES
#define SOMEWHERE 0x7f0000000000
#define SOME_FD 3

static const struct {
	int number;
	uint64_t argument[6];
	enum seccomp_calls since; /* made with these calls, and with those after them */
} calls[] = {
	{SYS_rt_sigreturn,
	 {0},
	 SECCOMP_MAP}, /* the guard frame; the only call that must not even fail */
	{SYS_memfd_create,
	 {SOMEWHERE, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL},
	 SECCOMP_MAP},
	{SYS_mmap,
	 {0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, SOME_FD, 0},
	 SECCOMP_MAP},
	{SYS_mmap,
	 {SOMEWHERE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, SOME_FD, 0},
	 SECCOMP_MAP},
	{SYS_mmap,
	 {SOMEWHERE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, SOME_FD, 0},
	 SECCOMP_MAP},
	{SYS_mmap, {SOMEWHERE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, SOME_FD, 0}, SECCOMP_MAP},
	{SYS_mmap,
	 {SOMEWHERE, PAGE, PROT_READ | PROT_WRITE,
	  MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, ~0ull, 0},
	 SECCOMP_MAP},
	{SYS_mmap,
	 {SOMEWHERE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, ~0ull,
	  0},
	 SECCOMP_MAP},
	{SYS_mmap,
	 {0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, ~0ull, 0},
	 SECCOMP_MAP},
	{SYS_mmap,
	 {SOMEWHERE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, SOME_FD, 0},
	 SECCOMP_MAP},
	{SYS_mmap,
	 {SOMEWHERE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE,
	  ~0ull, 0},
	 SECCOMP_MAP},
	{SYS_munlock, {SOMEWHERE, PAGE}, SECCOMP_MAP},
	{SYS_mprotect, {SOMEWHERE, PAGE, PROT_READ}, SECCOMP_MAP},
	{SYS_mprotect, {SOMEWHERE, PAGE, PROT_READ | PROT_WRITE}, SECCOMP_MAP},
	{SYS_madvise, {SOMEWHERE, PAGE, MADV_WIPEONFORK}, SECCOMP_MAP},
	{SYS_madvise, {SOMEWHERE, PAGE, MADV_DONTDUMP}, SECCOMP_MAP},
	{SYS_madvise, {SOMEWHERE, PAGE, MADV_DONTNEED}, SECCOMP_MAP},
	{SYS_mremap, {SOMEWHERE, PAGE, 2 * PAGE, MREMAP_MAYMOVE}, SECCOMP_MAP},
	{SYS_mremap,
	 {SOMEWHERE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
	  SOMEWHERE + PAGE},
	 SECCOMP_MAP},
	{SYS_mremap,
	 {SOMEWHERE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, SOMEWHERE + PAGE},
	 SECCOMP_MAP},
	{SYS_munmap, {SOMEWHERE, PAGE}, SECCOMP_MAP},
	{SYS_close, {SOME_FD}, SECCOMP_MAP},
	{SYS_openat, {(uint32_t)AT_FDCWD, SOMEWHERE, PROBES_OPEN_FLAGS}, SECCOMP_OPEN},
	{SYS_openat, {(uint32_t)AT_FDCWD, SOMEWHERE, O_RDONLY | O_CLOEXEC}, SECCOMP_DLOPEN},
	{SYS_read, {SOME_FD, SOMEWHERE, PAGE}, SECCOMP_DLOPEN},
	{SYS_pread64, {SOME_FD, SOMEWHERE, PAGE, PAGE}, SECCOMP_DLOPEN},
	{SYS_newfstatat, {SOME_FD, SOMEWHERE, SOMEWHERE, AT_EMPTY_PATH}, SECCOMP_DLOPEN},
	{SYS_mmap,
	 {0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_DENYWRITE, SOME_FD, 0},
	 SECCOMP_DLOPEN},
};

/*
 * An error does no harm: the thread returns through the guard frame. The other answers are a
 * signal, or a supervisor that may never answer.
 */
static bool is_harmless(uint32_t answer, int number)
{
	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_TRACE: /* no tracer asked for that event: an error */
		return number != SYS_rt_sigreturn;
	default:
		return false;
	}
}

static bool passes(const struct sock_filter *code, remote_addr syscall_instruction,
		   enum seccomp_calls made)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct seccomp_data call = {
			.nr = calls[i].number,
			.arch = ARCH_AUDIT,
			.instruction_pointer = syscall_instruction,
		};

		for (size_t n = 0; n < 6; n++)
			call.args[n] = calls[i].argument[n];
		if (calls[i].since > made)
			continue;
		if (!is_harmless(seccomp_filter_run(code, BPF_MAXINSNS, &call), call.nr))
			return false;
	}
	return true;
}

int seccomp_filter_check(const struct tracee *tracee, remote_addr syscall_instruction,
			 enum seccomp_calls made)
{
	struct sock_filter code[BPF_MAXINSNS];

	for (unsigned index = 0; tracee->has_filter; index++) { /* a call must pass every filter */
		int err = tracee_get_filter(tracee, index, code);

		if (err)
			return err == -ENOENT ? 0 : err;
		if (!passes(code, syscall_instruction, made))
			return -ECANCELED;
	}
	return 0;
}
