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

/*
 * As the JVM writes it into perf maps: "int package.Class.method(java.lang.String, int[])". What
 * is longer is cut off. -ENOTSUP: the JVM does not describe its methods; -EPROTO: that is no
 * method; or the error of a read.
 */
must_check int hotspot_method_name(const struct hotspot_layout *layout, const struct memory *memory,
				   remote_addr method, char name[HOTSPOT_NAME_MAX]);
/* The same of class, method and signature, as class files have them. False: it is no signature. */
bool hotspot_name_format(const char *class, const char *method, const char *signature,
			 char name[HOTSPOT_NAME_MAX]);

#endif
