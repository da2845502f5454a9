/* SPDX-License-Identifier: MIT */
/*
 * refusal.c - a table of errors and remedies. An error that is not in it is a failure of
 * heapinject, not a refusal.
 */
#include "refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "arch.h"
#include "hi_exit.h"

/*
 * Errors that mean: this target cannot be attached to, and nothing of ours is left in it. The first
 * line that fits names the remedy.
 */
static const struct refusal {
	int err;
	bool is_dlopen; /* only with the dlopen loader */
	const char *remedy;
} refusals[] = {
	{EBUSY, false,
	 "another heapinject is at work in it, or in a process that shares its memory; end that "
	 "with `heapinject detach`, or try again"},
	{EAGAIN, true,
	 "no thread came to a safe point in time; the process is untouched; try again, or use "
	 "--loader map"},
	{EAGAIN, false,
	 "no thread could be stopped in time, or none has a few KB of stack to "
	 "spare" ARCH_UNSAVED_REASON "; the process is untouched; try again"},
	{ENOENT, false, "no function of its allocator can be hooked"},
	{ENXIO, false,
	 "--mmap needs them at their entry, as the C library calls them itself, and with --hook "
	 "slot "
	 "nothing is hooked there; leave out one of the two"},
	{ENOLINK, false,
	 "it has no code by which a thread that we borrow gets back on its own; every program that "
	 "handles signals, and nearly every other one, has some"},
	{EADDRNOTAVAIL, false,
	 "some can be hooked by slots only, or none can while memory is locked (mlock): heapinject "
	 "check -v PID says which; use --hook auto"},
	{EPERM, false,
	 "something else traces it, perhaps from outside of this container; end that, or try "
	 "again"},
	{EMFILE, false, "it can open no descriptor, and we need one for a moment (ulimit -n)"},
	{ENFILE, false, "it can open no descriptor, and we need one for a moment (fs.file-max)"},
	{ENOMEM, false, "it has no room for a mapping of ours (ulimit -v, vm.max_map_count)"},
	{ENOBUFS, false,
	 "it locks what it maps (mlockall), and may lock no more; raise that limit by 256 KB: "
	 "prlimit --pid PID --memlock=BYTES"},
	{EACCES, false,
	 "it may not map code: SELinux (execmem, execute) or another security module forbids it"},
	{ECANCELED, false,
	 "its seccomp filter would kill it should heapinject die amid its work; run it without the "
	 "filter to profile it (--otel and --loader dlopen make more calls: without them it may "
	 "pass)"},
	{ENODATA, false,
	 "it has forbidden itself to read the clock of the CPU (prctl PR_SET_TSC), which our hooks "
	 "do: a signal would end it"},
	{EBADMSG, true,
	 "a process that was just forked from it has written to our file; try again, or use "
	 "--loader map"},
	{EPROTO, false,
	 "that is of another version of heapinject (use that one to detach it), or the process has "
	 "written over it"},
	{ELIBACC, false,
	 "its dlopen cannot reach our file: it sees no /proc, or can open no more descriptors; use "
	 "--loader map"},
	{EROFS, false,
	 "--otel needs a directory where heapinject may create a file and the process may map "
	 "code from it; see to one of these, or leave out --otel"},
	{ESTALE, false,
	 "another file was in the place of the one that heapinject had just created: the process "
	 "closes descriptors that it did not open, or a program replaces files; nothing of that "
	 "file is used; try again"},
	{EFBIG, false,
	 "heapinject itself may make no file that large (ulimit -f where it is started)"},
	{ENOTSUP, true, "that loader works with glibc only; use --loader map"},
};

/* More than an attach needs at a time. */
#define DESCRIPTORS_NEEDED 16

static const char own_descriptors[] =
	"heapinject itself can open no more descriptors (ulimit -n where it is started)";

/* The same error occurs when the target is out of descriptors. */
static bool is_short_of_descriptors(void)
{
	struct rlimit limit;
	unsigned left = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	for (rlim_t fd = 0; fd < limit.rlim_cur && left < DESCRIPTORS_NEEDED; fd++)
		left += fcntl((int)fd, F_GETFD) < 0;
	return left < DESCRIPTORS_NEEDED;
}

#define MEMORY_NEEDED (64ul << 20)

static const char own_memory[] =
	"heapinject itself may map no more memory (ulimit -v where it is started)";

/*
 * The same error occurs when the target is out of memory. A thread of ours that cannot be started
 * is -EAGAIN.
 */
static bool is_short_of_memory(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return false;
	void *probe = mmap(NULL, MEMORY_NEEDED, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (probe == MAP_FAILED)
		return true;
	munmap(probe, MEMORY_NEEDED);
	return false;
}

/* What heapinject itself is short of; NULL: nothing that would explain it. */
static const char *own_lack(int err)
{
	if (err == -EMFILE && is_short_of_descriptors())
		return own_descriptors;
	return (err == -ENOMEM || err == -EAGAIN) && is_short_of_memory() ? own_memory : NULL;
}

static const struct refusal *find_refusal(enum hi_loader loader, int err)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *refusal = &refusals[i];
		if (refusal->err == -err && (!refusal->is_dlopen || loader == HI_LOADER_DLOPEN))
			return refusal;
	}
	return NULL;
}

/*
 * Whatever step failed: if the target exited or replaced its program meanwhile, that is the reason.
 */
static bool is_gone(const struct preflight *preflight, const struct attachment *attachment)
{
	const int gone = attachment_check(attachment);
	if (gone)
		fprintf(stderr, "heapinject: cannot attach to %d (%s): it %s just now\n",
			(int)preflight->pid, preflight->comm,
			gone == -ESRCH ? "exited" : "replaced its program");
	return gone != 0;
}

/* How a browser is started without the filters of its sandbox. */
static const char *sandbox_switch(const struct preflight *preflight, int err)
{
	if (err != -ECANCELED)
		return "";
	return preflight->runtimes >> HI_RUNTIME_CHROMIUM & 1 ? " (--no-sandbox)"
	       : preflight->runtimes >> HI_RUNTIME_FIREFOX & 1
		       ? " (MOZ_DISABLE_CONTENT_SANDBOX=1, for processes of pages)"
		       : "";
}

/* About the file of the probes. */
static void describe_file(const struct attachment *attachment, int err, char text[PROBES_REASONS])
{
	const struct probes *probes = &attachment->probes;
	text[0] = 0;
	if (err == -EROFS)
		probes_file_reasons(&probes->file, text);
	else if (err == -ESTALE && probes->is_swapped)
		snprintf(text, PROBES_REASONS,
			 "if it goes on, find out which program renames or writes to %s "
			 "(inotifywait -m), or leave out --otel",
			 probes->file.path);
}

int refusal_explain(const struct preflight *preflight, const struct attachment *attachment,
		    enum hi_loader loader, int err)
{
	const char *ours = own_lack(err);
	const struct refusal *refusal = ours ? NULL : find_refusal(loader, err);
	const char *remedy = refusal ? refusal->remedy : ours ? ours : "";
	char about_file[PROBES_REASONS];
	if (is_gone(preflight, attachment))
		return HI_EXIT_REFUSED;
	if (err == -EINVAL && *attachment->named_problem && !attachment->left_behind) {
		fprintf(stderr, "heapinject: cannot attach to %d (%s): %s\n", (int)preflight->pid,
			preflight->comm, attachment->named_problem);
		return HI_EXIT_REFUSED;
	}
	if (attachment->left_behind)
		remedy = "not everything could be undone: `heapinject detach` removes the rest";
	describe_file(attachment, err, about_file);
	fprintf(stderr, "heapinject: %s failed for %d (%s): %s%s%s%s%s%s\n", attachment->step,
		(int)preflight->pid, preflight->comm, strerror(-err), *remedy ? "; " : "", remedy,
		sandbox_switch(preflight, err), *about_file ? "; " : "", about_file);
	return refusal && !attachment->left_behind ? HI_EXIT_REFUSED : HI_EXIT_FAILED;
}
