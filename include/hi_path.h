/* SPDX-License-Identifier: MIT */
/*
 * hi_path.h - parts of a file's path.
 *
 * Header-only, so that injector and analyzer can share it without sharing objects.
 */
#ifndef HI_PATH_H
#define HI_PATH_H

#include <string.h>

/*
 * The last component of a path: what follows its last slash, or the whole path if it has none. It
 * is a part of the path, and "" for a path that ends in a slash.
 */
static inline const char *hi_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
