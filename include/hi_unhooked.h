/* SPDX-License-Identifier: MIT */
/*
 * hi_unhooked.h - how an object allocates, or frees, without passing the hooks: as the record
 * stream has it (struct hi_stream_unhooked), and in words. Anything may include this header.
 */
#ifndef HI_UNHOOKED_WAYS_H
#define HI_UNHOOKED_WAYS_H

/* How an object allocates without passing the hooks. */
enum hi_unhooked {
	/* through its own allocator, which has names of its own: je_malloc */
	HI_UNHOOKED_PREFIXED = 1,
	HI_UNHOOKED_DIRECT = 2, /* it defines malloc itself, and calls it without a GOT slot */
	/* objects are bound to its malloc, which is not the hooked one: RTLD_DEEPBIND */
	HI_UNHOOKED_BOUND = 3,
	HI_UNHOOKED_NAMESPACE = 4, /* it serves another namespace: dlmopen */
	/* the function frees: what it frees counts as in use, or nothing that frees is known */
	HI_UNHOOKED_FREE = 5,
	HI_UNHOOKED_POOL = 6, /* operator new of the object gives parts of blocks of its own */
	/* the compiler made it of an allocator's function: je_calloc.constprop.0 */
	HI_UNHOOKED_COPY = 7,
};

/*
 * What follows the name of the function and its object: which calls come there; empty if the name
 * shows it. how: enum hi_unhooked, or the number of a later one.
 */
static inline const char *hi_unhooked_calls(unsigned how)
{
	return how == HI_UNHOOKED_DIRECT      ? " (by direct calls)"
	       : how == HI_UNHOOKED_BOUND     ? " (by objects that are bound to it)"
	       : how == HI_UNHOOKED_NAMESPACE ? " (the one of another namespace, made by dlmopen)"
	       : how == HI_UNHOOKED_COPY      ? " (made of an allocator's function by the compiler)"
	       : how == HI_UNHOOKED_POOL      ? " (which gives parts of blocks of its own)"
					      : "";
}

#endif
