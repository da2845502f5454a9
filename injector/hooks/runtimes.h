/* SPDX-License-Identifier: MIT */
/*
 * runtimes.h - which language runtimes with memory of their own a process runs (hi_runtimes.h), by
 * marks of its objects that nothing else has. What is not marked for certain is not named.
 */
#ifndef HI_RUNTIMES_FIND_H
#define HI_RUNTIMES_FIND_H

#include "elf_images.h"
#include "hi_runtimes.h"

/*
 * The bit 1 << enum hi_runtime for each. pid and tid: of the process, whose environment may say
 * that a runtime takes all its memory from malloc.
 */
uint32_t runtimes_find(const struct elf_images *images, pid_t pid, pid_t tid);

#endif
