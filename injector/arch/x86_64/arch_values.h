/* SPDX-License-Identifier: MIT */
/* arch_values.h - the values of arch.h for x86-64, and its registers. Included by arch.h alone. */
#ifndef HI_ARCH_VALUES_H
#define HI_ARCH_VALUES_H

#include <elf.h>
#include <linux/audit.h>
#include <sys/user.h>

struct arch_regs {
	struct user_regs_struct user;
};

#define ARCH_RED_ZONE 128
#define ARCH_XSTATE_MAX 16384 /* AMX state included */
#define ARCH_UNSAVED_HEAD 16
#define ARCH_UNSAVED_REASON ""
#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_AUDIT AUDIT_ARCH_X86_64
#define ARCH_USER_END 0x7ffffffff000ull
#define ARCH_SMALL_ABI_NAME "an x32"
#define ARCH_SHADOW_STACK_FIELD "x86_Thread_features"
#define ARCH_SHADOW_STACK_WORD "shstk"
#define ARCH_SHADOW_STACK_OFF "GLIBC_TUNABLES=glibc.cpu.x86_shstk=off"

/* System V ABI, AMD64 supplement, figure 3.36 */
#define ARCH_DWARF_BP 6
#define ARCH_DWARF_SP 7
#define ARCH_DWARF_PC 16
#define ARCH_KEPT 5 /* rbx, r12 to r15 */
#define ARCH_SIGNAL_PC_WORD 21
#define ARCH_ENTRY_DEPTH 8

#define ARCH_HOOK_CFA 16
#define ARCH_HOOK_PC (-8)
#define ARCH_HOOK_BP (-16)

#define ARCH_STOP_ENDS_CALLS 0

#define ARCH_GUARD_MAX (ARCH_XSTATE_MAX + 1024)
#define ARCH_GUARD_HEAD 456
#define ARCH_RETURN_MAX (ARCH_GUARD_HEAD + 16)
#define ARCH_GADGET_MAX 16
#define ARCH_CALL_MAX 8

#define ARCH_SHORT_JUMP_BYTES 2u
#define ARCH_SHORT_JUMP_REACH 126
#define ARCH_JUMP_BYTES 5u
#define ARCH_JUMP_REACH (1ull << 31)
#define ARCH_LANDED_BYTES 0u
#define ARCH_PADDED_JUMP_MAX 8u
#define ARCH_FAR_JUMP_BYTES 16u
#define ARCH_ENTRY_MAX 16u
#define ARCH_STUB_MAX 16u
#define ARCH_EXIT_BYTES 16u

#endif
