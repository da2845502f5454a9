/* SPDX-License-Identifier: MIT */
/* arch_values.h - the values of arch.h for aarch64, and its registers. Included by arch.h alone. */
#ifndef HI_ARCH_VALUES_H
#define HI_ARCH_VALUES_H

#include <elf.h>
#include <linux/audit.h>
#include <sys/user.h>

struct arch_regs {
	struct user_regs_struct user; /* NT_PRSTATUS */
	uint64_t thread_pointer;      /* NT_ARM_TLS */
	int32_t call;                 /* NT_ARM_SYSTEM_CALL: -1 = in none */
	int32_t restarted; /* the call that restart_syscall is to go on with; 0 = not known */
};

/* Not in older headers. */
#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#define NT_ARM_ZA 0x40c
#endif
#ifndef NT_ARM_GCS
#define NT_ARM_GCS 0x410
#endif

#define ARCH_RED_ZONE 0
#define ARCH_XSTATE_MAX 16384 /* SVE with vectors of 256 bytes takes 8.8 kB */
#define ARCH_UNSAVED_HEAD 16
#define ARCH_UNSAVED_REASON \
	", or all use what cannot be saved (SME: streaming mode, ZA; a guarded control stack)"
#define ARCH_ELF_MACHINE EM_AARCH64
#define ARCH_AUDIT AUDIT_ARCH_AARCH64
#define ARCH_USER_END 0x1000000000000ull
#define ARCH_SMALL_ABI_NAME "an ILP32"
/* The kernel shows a guarded control stack in no line of status yet. */
#define ARCH_SHADOW_STACK_FIELD "arm64_Thread_features"
#define ARCH_SHADOW_STACK_WORD "gcs"
#define ARCH_SHADOW_STACK_OFF "GLIBC_TUNABLES=glibc.cpu.aarch64_gcs=0"

/* DWARF for the Arm 64-bit Architecture, table 2 */
#define ARCH_DWARF_BP 29
#define ARCH_DWARF_SP 31
#define ARCH_DWARF_PC 30
#define ARCH_KEPT 10 /* x19 to x28 */
#define ARCH_SIGNAL_PC_WORD 71
#define ARCH_ENTRY_DEPTH 0

#define ARCH_HOOK_CFA 96
#define ARCH_HOOK_PC (-88)
#define ARCH_HOOK_BP (-96)

#define ARCH_STOP_ENDS_CALLS 1

#define ARCH_GUARD_MAX 10240
#define ARCH_GUARD_HEAD ARCH_GUARD_MAX
#define ARCH_RETURN_MAX ARCH_GUARD_HEAD
#define ARCH_GADGET_MAX 8
#define ARCH_CALL_MAX 4

#define ARCH_SHORT_JUMP_BYTES 4u
#define ARCH_SHORT_JUMP_REACH 134217724
#define ARCH_JUMP_BYTES 4u
#define ARCH_JUMP_REACH (1ull << 27)
#define ARCH_LANDED_BYTES 4u
#define ARCH_PADDED_JUMP_MAX 4u
#define ARCH_FAR_JUMP_BYTES 16u
#define ARCH_ENTRY_MAX 16u
#define ARCH_STUB_MAX 20u
#define ARCH_EXIT_BYTES 16u

#endif
