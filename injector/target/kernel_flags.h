/* SPDX-License-Identifier: MIT */
/*
 * kernel_flags.h - flags of mmap, mremap, madvise and memfd_create that the headers of older C
 * libraries lack. The values are those of the kernel's include/uapi/asm-generic, which x86-64 and
 * aarch64 use. A kernel that does not know a flag answers EINVAL; the callers say what they do
 * then.
 */
#ifndef HI_KERNEL_FLAGS_H
#define HI_KERNEL_FLAGS_H

#include <linux/memfd.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL
/*
 * Linux 6.3: the file cannot be executed, though it can be mapped as code; all that
 * vm.memfd_noexec=2 allows
 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* Linux 5.18 */
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* Linux 4.17 */
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4 /* Linux 5.7 */
#endif

#endif
