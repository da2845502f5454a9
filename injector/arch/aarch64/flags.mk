# SPDX-License-Identifier: MIT
# Flags of the compiler for the injector on aarch64.
ARCH_INJECTOR_FLAGS :=
