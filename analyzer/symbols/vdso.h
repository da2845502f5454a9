/* SPDX-License-Identifier: MIT */
/*
 * vdso.h - the ELF image that the kernel maps into every process as [vdso]. It has no file; the one of this process is that of all others of the same kernel.
 */
#ifndef HI_VDSO_H
#define HI_VDSO_H

#include <libelf.h>

#define VDSO_PATH "[vdso]" /* in /proc/PID/maps */

/* That of this process, in place; for elf_end(). Its build-id tells whether it is another's, too. NULL = there is none. */
Elf *vdso_open(void);

#endif
