# SPDX-License-Identifier: MIT
# Flags of the compiler for the injector on x86-64. prfchw: an instruction that is used only where
# arch_has_write_prefetch has found it.
ARCH_INJECTOR_FLAGS := -mprfchw
