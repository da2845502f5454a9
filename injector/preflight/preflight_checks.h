/* SPDX-License-Identifier: MIT */
/*
 * preflight_checks.h - declarations shared by the files of the preflight, for no other file.
 *
 * A check looks for one possible obstacle. 0: not there. PREFLIGHT_REFUSED: there, and refuse() has
 * recorded cause and remedy. Negative: errno.
 */
#ifndef HI_PREFLIGHT_CHECKS_H
#define HI_PREFLIGHT_CHECKS_H

#include "elf_images.h"
#include "memory.h"
#include "preflight_answer.h"

/* One process under examination, and what the checks have opened of it so far. */
struct subject {
	struct preflight *out;
	const struct arena_plan *plan;
	const struct hi_prefixes *prefixes; /* that must be there; NULL = none */
	struct proc_status ours;            /* from check_proc on */
	struct maps maps;                   /* from check_permission on */
	struct memory memory;
	/* a thread under a seccomp filter, from check_seccomp on; 0 = none */
	pid_t filtered;
	struct elf_images images; /* of check_hooks */
};

#define PREFLIGHT_REFUSED 1

/* Always PREFLIGHT_REFUSED. */
__attribute__((format(printf, 4, 5))) int refuse(struct subject *subject,
						 enum preflight_verdict verdict, const char *remedy,
						 const char *cause, ...);

void comm_of(pid_t pid, char comm[16]);
bool is_dead(char state); /* as in struct proc_status */
bool has_capability(const struct proc_status *status, unsigned capability);
/*
 * Reads a small file with facts about the machine (/proc/sys, /sys, /proc/self). The text is always
 * terminated. Returns bytes read or a negative errno. Tests that simulate other machines put a
 * directory in front of all these paths (system_root), which is why settings of /proc/sys are read
 * by this and not by proc_sys_number.
 */
extern const char *system_root;
ssize_t read_system(const char *path, char *into, size_t size);
long read_system_number(const char *path, long otherwise);

/*
 * Calls look(subject, tid, status) for each live thread until one returns a value other than 0.
 * Returns that value, 0, or a negative errno.
 */
must_check int for_each_thread(struct subject *subject,
			       int (*look)(struct subject *, pid_t, const struct proc_status *));

/* preflight_caller.c: what the injector is able to do, whatever the target. */
must_check int check_proc(struct subject *subject);
must_check int check_ptrace(struct subject *subject);
/* May the injector as a tracer suspend seccomp filters? */
must_check int ask_suspend(bool *out_may);
bool in_initial_user_namespace(void);

/* preflight_access.c */
must_check int check_permission(struct subject *subject);
/* The kernel refused access to the thread with this status: finds out by which rule. */
must_check int explain_denied(struct subject *subject, pid_t tid, const struct proc_status *status);
must_check int check_seccomp(struct subject *subject);

/* How the user can give the injector CAP_SYS_PTRACE. */
const char *more_rights(const struct proc_status *ours);

/* preflight_sharers.c */
must_check int check_sharers(struct subject *subject);

/* preflight_state.c: can the process be stopped, and is there room in it? */
must_check int check_shadow_stack(struct subject *subject);
must_check int check_frozen(struct subject *subject);
must_check int check_uninterruptible(struct subject *subject);
must_check int check_room(struct subject *subject);

/* preflight_program.c */
must_check int check_emulated(struct subject *subject);
must_check int check_earlier_session(struct subject *subject);
must_check int check_abi(struct subject *subject);
must_check int check_hooks(struct subject *subject);

#endif
