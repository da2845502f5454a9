/* SPDX-License-Identifier: MIT */
/*
 * preflight_checks.h - what the files of the preflight share; nobody else needs it.
 *
 * A check looks at one possible obstacle. 0: not there. PREFLIGHT_REFUSED: there, and refuse() has named cause and remedy. Negative: errno.
 */
#ifndef HI_PREFLIGHT_CHECKS_H
#define HI_PREFLIGHT_CHECKS_H

#include "elfimage.h"
#include "preflight.h"

/* One process under examination, and what the checks so far have opened of it. */
struct subject {
	struct preflight *out;
	struct maps maps; /* from check_permission on */
	struct memory memory;
	struct elf_images images; /* of check_hooks */
};

#define PREFLIGHT_REFUSED 1

/* Always PREFLIGHT_REFUSED. */
__attribute__((format(printf, 4, 5))) int refuse(struct subject *subject, enum preflight_verdict verdict, const char *remedy, const char *cause, ...);

/* Names come from the target, which may have chosen them to upset a terminal. */
void copy_printable(char *into, size_t size, const char *from);
void comm_of(pid_t pid, char comm[16]);
/* Reads a small file of /proc or /sys; always terminated. Bytes read or negative errno. */
ssize_t read_text(const char *path, char *into, size_t size);

/* preflight_access.c */
must_check int check_permission(struct subject *subject);

/* preflight_program.c */
must_check int check_emulated(struct subject *subject);
must_check int check_earlier_session(struct subject *subject);
must_check int check_abi(struct subject *subject);
must_check int check_hooks(struct subject *subject);

#endif
