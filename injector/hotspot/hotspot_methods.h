/* SPDX-License-Identifier: MIT */
/*
 * hotspot_methods.h - the names of interpreted methods, by the addresses that frames have.
 *
 * A Method dies with its class, and another one may be made in its place. So names hold for a
 * generation: until classes are unloaded, by the JVM's own count, and for a second at most; or for
 * a moment, if it does not count. A frame from before the last unloading has a name only if that
 * was known before, and is still there.
 */
#ifndef HI_HOTSPOT_METHODS_H
#define HI_HOTSPOT_METHODS_H

#include "hotspot_names.h"

struct hotspot_method {
	remote_addr at;
	uint64_t name_hash;         /* 0 = its name was not read yet */
	uint64_t given_hash;        /* the name that was given last; 0 = none */
	struct hotspot_trail trail; /* of no reads: it has no name */
	uint32_t generation;        /* in which it was seen to live, and to have this name */
	uint64_t since;             /* the first moment for which that was so */
	/* in which it was seen whether the name is that of before the generation */
	uint32_t past_generation;
	bool was_same;
};

struct hotspot_methods {
	struct hotspot_method *method; /* as many as a JVM may interpret, and no more */
	uint32_t *place;               /* hash table by address: 1 + index in method; 0 = free */
	size_t count, room;
	uint32_t generation;
	uint64_t renewed_ns; /* when it began */
	remote_addr counter; /* of unloaded classes (hotspot_unloads.h); 0 = not known */
	uint64_t second_ns; /* when another second begins: to look for it, and to read more names */
	uint32_t reads_left; /* in this second; a hostile target cannot make us read without end */
	uint64_t unloaded;   /* what it was last */
	/*
	 * moments: it was that from `sure`, which who looks sets to one after the look, to `looked`
	 */
	uint64_t sure, looked;
};

/*
 * Begins a generation if it is time. To be called when a frame is younger than the last look. A
 * moment is now, by the counter that frames have, and never adjusted; now_ns is clock_now_ns().
 * True: classes were unloaded, and `sure` is to be set.
 */
bool hotspot_methods_look(struct hotspot_methods *methods, const struct hotspot_layout *layout,
			  const struct memory *memory, uint64_t moment, uint64_t now_ns);
/*
 * The method that was at this address at that moment: *out_hash is that of its name, never 0. 1:
 * the name was not given before, and is in name[]; 0: it was. The name is "Interpreter" of what
 * cannot be read, of what is one too many, and where it is not sure. A method that is gone keeps
 * its name. -ENOMEM.
 */
must_check int hotspot_methods_find(struct hotspot_methods *methods,
				    const struct hotspot_layout *layout,
				    const struct memory *memory, uint64_t moment, remote_addr at,
				    char name[HOTSPOT_NAME_MAX], uint64_t *out_hash);
void hotspot_methods_close(struct hotspot_methods *methods);

#endif
