/* SPDX-License-Identifier: MIT */
/*
 * hotspot_names.h - the name of a Java method, by its Method in the JVM's memory.
 *
 * Method, ConstMethod, ConstantPool and Symbol are followed as they are. A class may be unloaded
 * meanwhile: whatever cannot be a name is none.
 */
#ifndef HI_HOTSPOT_NAMES_H
#define HI_HOTSPOT_NAMES_H

#include "hotspot_layout.h"

#define HOTSPOT_NAME_MAX 1024u
#define HOTSPOT_READS_MAX 16u

/* What was read to find a name. As long as it is the same, so is the name. */
struct hotspot_trail {
	uint64_t hash; /* of the bytes */
	uint32_t count;
	uint32_t size[HOTSPOT_READS_MAX]; /* less than HOTSPOT_NAME_MAX each */
	remote_addr at[HOTSPOT_READS_MAX];
};

/*
 * As the JVM writes it into perf maps: "int package.Class.method(java.lang.String, int[])". What
 * is longer is cut off. -ENOTSUP: the JVM does not describe its methods; -EPROTO: that is no
 * method; or the error of a read.
 */
must_check int hotspot_method_name(const struct hotspot_layout *layout, const struct memory *memory,
				   remote_addr method, char name[HOTSPOT_NAME_MAX]);
/* The same, and what was read for it. */
must_check int hotspot_method_follow(const struct hotspot_layout *layout,
				     const struct memory *memory, remote_addr method,
				     char name[HOTSPOT_NAME_MAX], struct hotspot_trail *out_trail);
/* Is it all the same still? One system call. */
bool hotspot_trail_holds(const struct hotspot_trail *trail, const struct memory *memory);
/* The same of class, method and signature, as class files have them. False: it is no signature. */
bool hotspot_name_format(const char *class, const char *method, const char *signature,
			 char name[HOTSPOT_NAME_MAX]);

#endif
