/* SPDX-License-Identifier: MIT */
/*
 * vdso.h - the ELF image that the kernel maps into every process as [vdso]. It has no file. All
 * processes of one kernel have the same.
 */
#ifndef HI_VDSO_H
#define HI_VDSO_H

#include <libelf.h>

#define VDSO_PATH "[vdso]" /* in /proc/PID/maps */

/*
 * Opens the vdso of this process, in place. The caller calls elf_end(). Its build-id tells whether
 * another process has the same. NULL = there is none.
 */
Elf *vdso_open(void);

#endif
