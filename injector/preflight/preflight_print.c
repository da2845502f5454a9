/* SPDX-License-Identifier: MIT */
/*
 * preflight_print.c - prints the answer of the preflight, for users and for programs.
 *
 * The JSON is a contract (heapinject(1)): members may be added, never renamed or removed. Enter at
 * preflight_explain, preflight_print and preflight_print_json.
 */
#include "preflight.h"

#include <stdint.h>
#include <string.h>

#include "hook_table.h"
#include "plain_text.h"

static const char *const verdict_names[PREFLIGHT_VERDICTS] = {
	[PREFLIGHT_OK] = "ok",
	[PREFLIGHT_FOREIGN_PROC] = "foreign-proc",
	[PREFLIGHT_NO_PROCESS] = "no-process",
	[PREFLIGHT_HIDDEN] = "hidden",
	[PREFLIGHT_SELF] = "self",
	[PREFLIGHT_KERNEL_THREAD] = "kernel-thread",
	[PREFLIGHT_ZOMBIE] = "zombie",
	[PREFLIGHT_TRACED] = "traced",
	[PREFLIGHT_OTHER_USER] = "other-user",
	[PREFLIGHT_NOT_DUMPABLE] = "not-dumpable",
	[PREFLIGHT_CAPABILITIES] = "capabilities",
	[PREFLIGHT_YAMA] = "yama",
	[PREFLIGHT_USER_NAMESPACE] = "user-namespace",
	[PREFLIGHT_SECURITY_MODULE] = "security-module",
	[PREFLIGHT_SANDBOXED] = "sandboxed",
	[PREFLIGHT_NO_PTRACE] = "no-ptrace",
	[PREFLIGHT_STRICT_SECCOMP] = "strict-seccomp",
	[PREFLIGHT_SECCOMP_FILTER] = "seccomp-filter",
	[PREFLIGHT_SHADOW_STACK] = "shadow-stack",
	[PREFLIGHT_FROZEN] = "frozen",
	[PREFLIGHT_UNINTERRUPTIBLE] = "uninterruptible",
	[PREFLIGHT_MEMORY_SHARED] = "memory-shared",
	[PREFLIGHT_INSTRUMENTED] = "instrumented",
	[PREFLIGHT_ATTACHED] = "attached",
	[PREFLIGHT_ORPHAN] = "orphan",
	[PREFLIGHT_WRONG_ABI] = "wrong-abi",
	[PREFLIGHT_NO_ROOM] = "no-room",
	[PREFLIGHT_LOADING] = "loading",
	[PREFLIGHT_NO_HOOKS] = "no-hooks",
};

static const char *const libc_names[] = {[PREFLIGHT_LIBC_UNKNOWN] = "unknown",
					 [PREFLIGHT_LIBC_GLIBC] = "glibc",
					 [PREFLIGHT_LIBC_MUSL] = "musl",
					 [PREFLIGHT_LIBC_STATIC] = "static"};

static const char *const seccomp_names[] = {"none", "strict", "filter"};

const char *preflight_verdict_name(enum preflight_verdict verdict)
{
	return verdict_names[verdict];
}

static const char *seccomp_name(const struct preflight *preflight)
{
	const int mode = preflight->status.seccomp;

	return mode >= 0 && mode <= 2 ? seccomp_names[mode] : "unknown";
}

/* ---- for people ------------------------------------------------------------------------------ */

void preflight_explain(const struct preflight *preflight, const char *what, char *line, size_t size)
{
	if (preflight->comm[0])
		snprintf(line, size, "cannot %s %d (%s): %s; %s", what, preflight->pid,
			 preflight->comm, preflight->cause, preflight->remedy);
	else
		snprintf(line, size, "cannot %s %d: %s; %s", what, preflight->asked,
			 preflight->cause, preflight->remedy);
}

static void print_function(FILE *stream, const struct preflight_allocator *allocator,
			   enum hi_function number)
{
	static const char *const relays[] = {
		[ENTRY_DIRECT] = "",
		[ENTRY_IN_GAP] = ", by a relay in the padding before it",
		[ENTRY_FAR_AWAY] = ", by a relay in a page of its own"};
	const struct preflight_function *function = &allocator->function[number];

	fprintf(stream, "    %016llx  %s%s: ", (unsigned long long)function->address,
		allocator->prefix, hook_name_after(allocator->prefix, number));
	switch (function->way) {
	case HOOKED_ENTRY:
		fprintf(stream, "at its entry%s\n", relays[function->by]);
		break;
	case HOOKED_COVERED:
		fprintf(stream, "as %s%s, which it is or jumps to\n", allocator->prefix,
			hook_name_after(allocator->prefix, function->covered_by));
		break;
	case HOOKED_INSIDE:
		fprintf(stream, "in the function that it calls; %s\n",
			hooked_obstacle_text(function->obstacle));
		break;
	case HOOKED_SLOTS:
		fprintf(stream, "by slots; %s\n", hooked_obstacle_text(function->obstacle));
		break;
	case HOOKED_NONE:
		fprintf(stream, "not hooked; %s\n", hooked_obstacle_text(function->obstacle));
	}
}

static void print_allocator(FILE *stream, const struct preflight_allocator *allocator,
			    bool in_detail)
{
	const char *why =
		hooked_left_alone(allocator->family, allocator->prefix, allocator->is_left_alone);
	const bool is_asked_for = allocator->prefix[0] && allocator->family != ALLOCATOR_DPDK;

	fprintf(stream, "  allocator  %s", hooked_family_name(allocator->family));
	if (allocator->prefix[0])
		fprintf(stream, " as %smalloc", allocator->prefix);
	fprintf(stream, " in %s%s: ", allocator->is_main ? "the program itself, " : "",
		allocator->path);
	if (*why)
		fprintf(stream, "%s%s%s%s\n", why, is_asked_for ? " (--prefix " : "",
			is_asked_for ? allocator->prefix : "",
			is_asked_for ? " hooks those of the C library)" : "");
	else
		fprintf(stream, "%zu functions at their entry\n", allocator->entry_count);
	if (allocator->hides_functions)
		fprintf(stream, "  not known  %s\n", HOOKED_HIDDEN_TEXT);
	for (unsigned function = 0; function < HI_FUNCTION_COUNT && in_detail; function++)
		if (allocator->function[function].address)
			print_function(stream, allocator, (enum hi_function)function);
}

void preflight_print(FILE *stream, const struct preflight *preflight, bool in_detail)
{
	char unhooked[UNHOOKED_TEXT_MAX];

	if (preflight->asked != preflight->pid)
		fprintf(stream, "%d is a thread of process %d\n", preflight->asked, preflight->pid);
	fprintf(stream, "%d (%s) can be attached to\n", preflight->pid, preflight->comm);
	fprintf(stream, "  program    %s\n", preflight->exe);
	fprintf(stream, "  user       uid %u\n", preflight->status.uid_effective);
	fprintf(stream, "  threads    %u\n", preflight->status.threads);
	fprintf(stream, "  libc       %s %s\n", libc_names[preflight->libc],
		preflight->libc_version);
	for (size_t i = 0; i < preflight->allocator_count; i++)
		print_allocator(stream, &preflight->allocators[i], in_detail);
	if (*unhooked_describe(&preflight->unhooked, false, unhooked, sizeof(unhooked)))
		fprintf(stream, "  not hooked %s: what is allocated by it is not seen\n", unhooked);
	if (*unhooked_describe(&preflight->unhooked, true, unhooked, sizeof(unhooked)))
		fprintf(stream, "  not hooked %s: what is freed by it counts as in use\n",
			unhooked);
	for (unsigned i = 0; i < HI_RUNTIME_COUNT; i++)
		if (preflight->runtimes >> i & 1)
			fprintf(stream, "  it runs    %s: %s\n", hi_runtime_text(i)->title,
				hi_runtime_text(i)->text);
	fprintf(stream,
		"  to hook    %zu functions at their entry, %zu slots (%zu others lead elsewhere "
		"and are left alone)\n",
		preflight->entry_count, preflight->slot_count, preflight->foreign_slot_count);
	if (preflight->is_inherited)
		fprintf(stream,
			"  inherited  it was forked while its parent was attached to, with what "
			"that had of heapinject: inert, and removed by attach first\n");
	fprintf(stream, "  seccomp    %s\n",
		preflight->status.seccomp
			? "filter; what it allows is not known before attach, as the kernel shows "
			  "it only of a stopped thread: attach looks, and refuses\n"
			  "             if it would kill the process for a call of ours"
			: "none");
	fprintf(stream, "  loaders    map%s\n",
		preflight->libc == PREFLIGHT_LIBC_GLIBC ? ", dlopen" : "");
}

/* ---- for programs ---------------------------------------------------------------------------- */

/* An empty text means that it is not known. */
static void print_text_member(FILE *stream, const char *name, const char *text)
{
	fprintf(stream, ",\"%s\":", name);
	if (*text)
		plain_text_json(stream, text);
	else
		fputs("null", stream);
}

/* Zero means that the number is not known. */
static void print_number_member(FILE *stream, const char *name, uint64_t number)
{
	if (number)
		fprintf(stream, ",\"%s\":%llu", name, (unsigned long long)number);
	else
		fprintf(stream, ",\"%s\":null", name);
}

static void print_unhooked(FILE *stream, const struct unhooked_list *list)
{
	static const char *const how_names[] = {
		[HI_UNHOOKED_PREFIXED] = "prefixed", [HI_UNHOOKED_DIRECT] = "direct",
		[HI_UNHOOKED_BOUND] = "bound",       [HI_UNHOOKED_NAMESPACE] = "namespace",
		[HI_UNHOOKED_FREE] = "free",         [HI_UNHOOKED_POOL] = "pool",
		[HI_UNHOOKED_COPY] = "copy"};

	fputs(",\"unhooked\":[", stream);
	for (size_t i = 0; i < list->count; i++) {
		fputs(i ? ",{\"function\":" : "{\"function\":", stream);
		plain_text_json(stream, list->unhooked[i].function);
		print_text_member(stream, "object", list->unhooked[i].path);
		fprintf(stream, ",\"how\":\"%s\",\"in_program\":%s}",
			how_names[list->unhooked[i].how],
			list->unhooked[i].is_main ? "true" : "false");
	}
	fputc(']', stream);
}

static void print_functions(FILE *stream, const struct preflight_allocator *allocator)
{
	static const char *const ways[] = {[HOOKED_NONE] = "none",
					   [HOOKED_ENTRY] = "entry",
					   [HOOKED_COVERED] = "covered",
					   [HOOKED_INSIDE] = "inside",
					   [HOOKED_SLOTS] = "slots"};
	const char *separator = "";

	fputs(",\"functions\":[", stream);
	for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++) {
		const struct preflight_function *function = &allocator->function[number];

		if (!function->address)
			continue;
		fprintf(stream, "%s{\"name\":\"%s%s\",\"hooked\":\"%s\"", separator,
			allocator->prefix, hook_name_after(allocator->prefix, number),
			ways[function->way]);
		print_text_member(stream, "obstacle",
				  function->obstacle ? hooked_obstacle_text(function->obstacle)
						     : "");
		fputc('}', stream);
		separator = ",";
	}
	fputc(']', stream);
}

static void print_allocators(FILE *stream, const struct preflight *preflight)
{
	fputs(",\"allocators\":[", stream);
	for (size_t i = 0; i < preflight->allocator_count; i++) {
		const struct preflight_allocator *allocator = &preflight->allocators[i];

		fprintf(stream, "%s{\"family\":\"%s\"", i ? "," : "",
			hooked_family_name(allocator->family));
		print_text_member(stream, "prefix", allocator->prefix);
		print_text_member(stream, "object", allocator->path);
		fprintf(stream, ",\"in_program\":%s,\"hides_functions\":%s",
			allocator->is_main ? "true" : "false",
			allocator->hides_functions ? "true" : "false");
		print_functions(stream, allocator);
		fputc('}', stream);
	}
	fputc(']', stream);
}

static void print_runtimes(FILE *stream, uint32_t runtimes)
{
	const char *before = "";

	fputs(",\"runtimes\":[", stream);
	for (unsigned i = 0; i < HI_RUNTIME_COUNT; i++) {
		if (!(runtimes >> i & 1))
			continue;
		fprintf(stream, "%s{\"name\":\"%s\"", before, hi_runtime_text(i)->name);
		print_text_member(stream, "text", hi_runtime_text(i)->text);
		fputc('}', stream);
		before = ",";
	}
	fputc(']', stream);
}

static void print_process(FILE *stream, const struct preflight *preflight)
{
	const struct proc_status *status = &preflight->status;

	fprintf(stream, ",\"process\":{\"pid\":%d", preflight->pid);
	print_number_member(stream, "inner_pid", (uint64_t)status->ns_pid);
	print_text_member(stream, "command", preflight->comm);
	print_text_member(stream, "program", preflight->exe);
	fprintf(stream, ",\"uid\":%u,\"gid\":%u", status->uid_effective, status->gid_effective);
	print_number_member(stream, "threads", status->threads);
	fprintf(stream, ",\"seccomp\":\"%s\"", seccomp_name(preflight));
	print_text_member(stream, "libc", preflight->libc ? libc_names[preflight->libc] : "");
	print_text_member(stream, "libc_version", preflight->libc_version);
	print_text_member(stream, "allocator", preflight->allocator);
	print_allocators(stream, preflight);
	fprintf(stream, ",\"functions\":%zu,\"slots\":%zu,\"foreign_slots\":%zu",
		preflight->entry_count, preflight->slot_count, preflight->foreign_slot_count);
	print_unhooked(stream, &preflight->unhooked);
	print_runtimes(stream, preflight->runtimes);
	fprintf(stream, ",\"inherited\":%s", preflight->is_inherited ? "true" : "false");
	print_number_member(stream, "injector", (uint64_t)preflight->injector);
	fputc('}', stream);
}

void preflight_print_json(FILE *stream, const struct preflight *preflight)
{
	const bool is_ok = preflight->verdict == PREFLIGHT_OK;

	fprintf(stream, "{\"asked\":%d,\"verdict\":\"%s\"", preflight->asked,
		preflight_verdict_name(preflight->verdict));
	print_text_member(stream, "cause", preflight->cause);
	print_text_member(stream, "remedy", preflight->remedy);
	fprintf(stream, ",\"loaders\":[%s%s]", is_ok ? "\"map\"" : "",
		is_ok && preflight->libc == PREFLIGHT_LIBC_GLIBC ? ",\"dlopen\"" : "");
	if (preflight->pid)
		print_process(stream, preflight);
	else
		fputs(",\"process\":null", stream);
	fputs("}\n", stream);
}
