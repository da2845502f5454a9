/* SPDX-License-Identifier: MIT */
/*
 * load_count.h - the word in which glibc's dynamic linker counts the objects that it has loaded so
 * far (dlpi_adds of dl_iterate_phdr).
 *
 * The list of loaded objects is read now and then, and a library may be unloaded and another one
 * loaded at the same place in between. The count shows that: it goes up with each object, before
 * any of its code runs, and never comes down. Where it lies is not public. It is looked for in
 * _rtld_global, by what surrounds it.
 */
#ifndef HI_LOAD_COUNT_H
#define HI_LOAD_COUNT_H

#include "elf_images.h"

/*
 * The address of that count, within the dynamic linker's data, which is mapped as long as the
 * process lives. 0: there is none (musl, a static program), or it was not recognized.
 */
remote_addr load_count_find(const struct elf_images *images, const struct memory *memory);

#endif
