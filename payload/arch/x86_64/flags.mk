# SPDX-License-Identifier: MIT
#
# Flags of the compiler for the payload on x86-64: no vector registers, because the gate saves none;
# no endbr64, because the payload is reached through no table. prfchw is an instruction that is used
# only where the injector has found it. gcc clears small structures by string instructions, which
# are slow to begin, unless an option forbids it; clang does not know that option.
ARCH_PAYLOAD_FLAGS := -fcf-protection=none -mgeneral-regs-only -mprfchw
ifeq ($(findstring clang,$(CC)),)
ARCH_PAYLOAD_FLAGS += -mmemset-strategy=unrolled_loop:-1:noalign
endif
