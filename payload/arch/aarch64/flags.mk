# SPDX-License-Identifier: MIT
#
# Flags of the compiler for the payload on aarch64: no vector registers, because the gate saves
# none; x18 belongs to the platform; atomic operations inline, not by calls of the compiler's
# library, which asks for its instructions in a constructor. No signed return addresses and no
# landing pads: the payload is mapped without PROT_BTI.
ARCH_PAYLOAD_FLAGS := -mgeneral-regs-only -ffixed-x18 -mno-outline-atomics \
	-mbranch-protection=none
