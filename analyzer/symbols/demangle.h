/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - readable function names from the mangled ones of C++ and Rust.
 */
#ifndef HI_DEMANGLE_H
#define HI_DEMANGLE_H

#include <stdbool.h>

/*
 * A new string, printable, to be freed by the caller; the name itself if it is not mangled. Without
 * full, names lose parameters, template and generic arguments, and return type, as in pprof. NULL =
 * out of memory.
 */
char *demangle(const char *name, bool full);

/*
 * Rust's older scheme, _ZN...17h<hash>E, and its newer one, _R... NULL if name is not of that kind,
 * or out of memory.
 */
char *demangle_rust_legacy(const char *name);
char *demangle_rust_v0(const char *name, bool full);
/* C++, _Z... Likewise; NULL also if the name would grow beyond a bound. May fork. */
char *demangle_cxx(const char *name, bool full);
/* "void ns::foo<int>(char) const" becomes "ns::foo", in place. */
void demangle_shorten(char *name);
/*
 * Removes the marks of the linker and the optimizer, which C names carry too, in place:
 * memcpy@@GLIBC_2.14, resize.part.0.
 */
void demangle_cut_marks(char *name);

#endif
