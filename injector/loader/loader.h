/* SPDX-License-Identifier: MIT */
/*
 * Room loader/: puts the payload's code into the target and takes it out again. loader_map.c
 * maps it into the arena's file; loader_dlopen.c has the target's own dynamic linker load it from a
 * file (payload_file.h). Uses arena/ and below.
 */

/*
 * loader.h - how the payload's code gets into the target, and out again: one interface, two loaders
 * (loader_map.c, loader_dlopen.c), chosen by id (loader.c).
 *
 * The caller has created the arena (hi_wire.h) and holds the borrowed thread. A loader records in
 * the journal in `control` what it is about to do before it does it.
 */
#ifndef HI_LOADER_H
#define HI_LOADER_H

#include "elf_images.h"
#include "hi_wire.h"
#include "payload_image.h"
#include "remote.h"

struct loader_target {
	pid_t pid;
	const struct memory *memory;
	const struct maps *maps;
	const struct elf_images *images;
	const struct remote_gadgets *gadgets;
	const struct payload_image *payload;
	struct hi_control *control; /* injector's own mapping of it */
	int memfd;                  /* the arena's memfd, opened by the injector */
	int arena_fd;               /* its number in the target while the arena is being mapped */
};

struct loader {
	const char *name; /* "map", "dlopen" */
	enum hi_loader id;
	/*
	 * Stops a suitable thread and opens `remote` on it. map: any thread. dlopen: one that was
	 * proved to be at a safe point. -EAGAIN: none found within the deadline; the target is
	 * untouched.
	 */
	int (*borrow)(const struct loader_target *target, struct remote *remote, int deadline_ms);
	/* Loads the image; sets control->payload_base and payload_size (and dlopen_handle). */
	int (*load)(const struct loader_target *target, struct remote *remote);
	/* Removes the image; afterwards no mapping of it is left. */
	int (*unload)(const struct loader_target *target, struct remote *remote);
};

/*
 * Name of the memfd that holds the dlopen loader's image: appears as /memfd:heapinject-payload
 * (deleted). The arena's own name is HI_MEMFD_NAME.
 */
#define LOADER_DLOPEN_MEMFD HI_MEMFD_NAME "-payload"

extern const struct loader loader_map;
extern const struct loader loader_dlopen;

/* Any id but HI_LOADER_DLOPEN, which may be read from the target, means loader_map. */
const struct loader *loader_by_id(enum hi_loader id);

#endif
