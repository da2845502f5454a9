/* SPDX-License-Identifier: MIT */
/* session_begin.c - see session_begin.h. */
#include "session_begin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "hi_exit.h"
#include "hi_version.h"
#include "mapping_functions.h"
#include "named_signatures.h"
#include "proc_file.h"
#include "refusal.h"
#include "session_loop.h"
#include "session_memory.h"

/* ---- before the target is touched ------------------------------------------------------------ */

/* Whether every free is recorded, and so no live set is kept. */
static bool records_all_frees(const struct session_options *options)
{
	return options->interval == HI_INTERVAL_EXACT && !options->budget_ppm &&
	       !options->live_max && !options->has_probes;
}

int session_check_target(struct session *session)
{
	const struct arena_plan plan = {.interval = session->options->interval,
					.adapts = session->options->budget_ppm != 0,
					.live_max = session->options->live_max,
					.records_all_frees = records_all_frees(session->options)};
	struct preflight_program program;
	int err = preflight_run(session->options->pid, &plan, &session->options->prefixes,
				&session->preflight, &program);
	if (err) {
		fprintf(stderr, "heapinject: cannot look at process %d: %s\n",
			(int)session->options->pid, strerror(-err));
		return HI_EXIT_FAILED;
	}
	if (session->preflight.verdict == PREFLIGHT_OK) {
		attachment_init(&session->attachment, session->preflight.pid);
		session->attachment.memory = program.memory;
		session->attachment.images = program.images;
		if (session->preflight.asked != session->preflight.pid && !session->options->quiet)
			fprintf(stderr,
				"heapinject: %d is a thread of process %d (%s); attaching to "
				"that\n",
				(int)session->preflight.asked, (int)session->preflight.pid,
				session->preflight.comm);
		session->named = session->options->named;
		const int exit_code =
			named_signatures_check(&session->preflight, &session->attachment.images,
					       session->options->quiet, &session->named);
		if (exit_code != HI_EXIT_OK)
			attachment_close(&session->attachment);
		return exit_code;
	}
	char line[512];
	preflight_explain(&session->preflight, "attach to", line, sizeof(line));
	fprintf(stderr, "heapinject: %s\n", line);
	return HI_EXIT_REFUSED;
}

/* ---- attach ---------------------------------------------------------------------------------- */

static size_t read_cmdline(pid_t pid, char *into, size_t size)
{
	int fd;
	if (proc_open(pid, 0, "cmdline", O_RDONLY, &fd))
		return 0;
	const ssize_t got = read(fd, into, size);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

/* Warns of an unhooked allocator. Later the user could notice it only by what is missing. */
static void warn_unhooked(const struct session *session)
{
	const struct unhooked_list *list = &session->preflight.unhooked;
	char text[UNHOOKED_TEXT_MAX];
	if (session->options->quiet)
		return;
	if (*unhooked_describe(list, false, text, sizeof(text)))
		fprintf(stderr,
			"heapinject: its allocations go to %s, which is not hooked: they will not "
			"be seen\n",
			text);
	if (*unhooked_describe(list, true, text, sizeof(text)))
		fprintf(stderr,
			"heapinject: its frees go to %s, which is not hooked: what it frees will "
			"count as in use\n",
			text);
}

/* One sentence, of however many allocators it is true. */
static void name_hidden(const struct session *session)
{
	bool hides_functions = false;

	for (size_t i = 0; i < session->preflight.allocator_count; i++)
		hides_functions |= session->preflight.allocators[i].hides_functions;
	if (hides_functions && !session->options->quiet)
		fprintf(stderr, "heapinject: %s\n", HOOKED_HIDDEN_TEXT);
}

/* Why stacks will lack what they have of other programs, and what the user can do about it. */
static void name_lost_frames(const struct session *session)
{
	const int err = session->attachment.hotspot.refused;

	if (err && !session->options->quiet)
		fprintf(stderr,
			"heapinject: this JVM does not describe its code as expected (%s): stacks "
			"through it will not be complete; with java -XX:+PreserveFramePointer they "
			"are, and jcmd %d Compiler.perfmap gives names\n",
			strerror(-err), (int)session->attachment.pid);
}

/* Mappings were asked for: what will be missing. */
static void name_unseen_mappings(const struct session *session)
{
	const struct allocators *allocators = &session->attachment.allocators;

	if (!session->options->has_mappings || session->options->quiet)
		return;
	if (!session->sees_mappings)
		fputs("heapinject: mmap, munmap and mremap cannot all be hooked at their entry "
		      "here (no room for a jump, locked memory, or no symbols): mappings will not "
		      "be "
		      "seen\n",
		      stderr);
	else if (!allocators->allocator[0].original[HI_FN_BRK])
		fputs("heapinject: brk cannot be hooked at its entry here: its heap will not be "
		      "among the mappings\n",
		      stderr);
}

/* Says of which memory the profile will know nothing: no warning, as malloc does not give it. */
static void name_runtimes(const struct session *session)
{
	char text[HI_RUNTIMES_TEXT_MAX];
	if (session->preflight.runtimes && !session->options->quiet)
		fprintf(stderr, "heapinject: %s\n",
			hi_runtimes_describe(session->preflight.runtimes, text, sizeof(text)));
}

static int describe_target(struct session *session)
{
	char host[256] = "", cmdline[4096];
	gethostname(host, sizeof(host) - 1);
	const struct pump_target target = {
		.pid = session->attachment.pid,
		.start_ticks = session->attachment.start_time,
		.interval = session->options->interval,
		.budget_ppm = session->options->budget_ppm,
		.comm = session->preflight.comm,
		.exe = session->preflight.exe,
		.host = host,
		.version = HI_VERSION,
		.cmdline = cmdline,
		.cmdline_size = read_cmdline(session->attachment.pid, cmdline, sizeof(cmdline)),
	};
	int err = pump_header(&session->pump, &target);
	if (!err)
		err = pump_hooked(&session->pump, &session->attachment.allocators,
				  &session->attachment.entries);
	if (!err)
		err = pump_unhooked(&session->pump, &session->preflight.unhooked);
	if (!err)
		err = pump_runtimes(&session->pump, session->preflight.runtimes);
	if (!err && session->sees_mappings)
		err = pump_mappings_asked(&session->pump);
	if (!err)
		err = pump_named(&session->pump, &session->options->named,
				 session->attachment.arena.shared);
	const struct proc_status status = session_read_memory(session);
	if (!err)
		err = session_send_memory(session, &status);
	if (!err)
		err = pump_modules(&session->pump, &session->attachment.images);
	return err ? err : pump_maps(&session->pump, &session->attachment.maps);
}

/*
 * To be called only after attachment_open has taken the target: the socket of a session that is
 * attached already must not be replaced.
 */
static void listen_for_detach(struct session *session)
{
	control_socket_sweep();
	int err = control_socket_listen(&session->socket, session->attachment.pid);
	if (err && !session->options->quiet)
		fprintf(stderr,
			"heapinject: no control socket (%s): `heapinject detach` will not reach "
			"this session; end it with Ctrl-C\n",
			strerror(-err));
}

/* Tools that are given a file find the probes in the one behind the mapping. */
static void describe_probes(const struct attachment *attachment)
{
	const struct hi_control *control = attachment->control;
	const unsigned long long lo = control->arena + control->probes.offset;

	fprintf(stderr,
		"heapinject: for other tools, probes otel_memory:alloc and otel_memory:free are in "
		"/proc/%d/map_files/%llx-%llx\n",
		(int)attachment->pid, lo, lo + control->probes.size);
}

static void describe_session(const struct session *session)
{
	const struct attachment *attachment = &session->attachment;
	fprintf(stderr,
		"heapinject: attached to %d (%s): %zu functions at their entry, %zu GOT slots, "
		"thread held for %.2f ms, %s loader\n",
		(int)attachment->pid, session->preflight.comm, attachment->entries_written,
		attachment->slots_written, (double)attachment->attach_stop_ns / 1e6,
		attachment->loader->name);
	if (session->options->has_probes)
		describe_probes(attachment);
	sink_describe(&session->sink);
}

static void hide_own_code(struct pump *pump, const struct hi_control *control)
{
	pump_hide_code(pump, arena_gate(control), arena_gate(control) + HI_GATE_BYTES);
	pump_hide_code(pump, control->payload_base, control->payload_base + control->payload_size);
}

int session_begin(struct session *session)
{
	struct attachment *attachment = &session->attachment;
	const struct session_options *asked = session->options;
	const struct attach_options options = {
		.interval = asked->interval,
		.adapts = asked->budget_ppm != 0,
		.begin = asked->interval_shift,
		.live_max = asked->live_max,
		/*
		 * If every block is a sample for the whole session, the target needs no live set:
		 * the analyzer knows which block a free belongs to.
		 */
		.records_all_frees = records_all_frees(asked),
		.has_mappings = asked->has_mappings,
		.named = session_names_functions(asked) ? &session->named : NULL,
		.has_probes = asked->has_probes,
		.loader = asked->loader,
		.hook = asked->hook,
		.prefixes = &asked->prefixes,
	};
	int err = attachment_open(attachment, session->preflight.tid);
	if (!err) {
		listen_for_detach(session);
		err = attach(attachment, &options);
	}
	if (err)
		return refusal_explain(&session->preflight, attachment, session->options->loader,
				       err);
	session->sees_mappings =
		asked->has_mappings && mapping_functions_are_hooked(&attachment->allocators);
	/* some functions may not have been hooked although preflight took that for possible */
	unhooked_find(&attachment->allocators, &attachment->entries, &session->preflight.unhooked);
	attachment->unhooked = session->preflight.unhooked;
	err = pump_open(&session->pump, &session->sink.out, &attachment->memory,
			&attachment->images, attachment->pid);
	session->pump.broker = sink_broker(&session->sink);
	if (!err)
		err = describe_target(session);
	pump_connect(&session->pump,
		     &(struct rings){attachment->arena.ring, attachment->arena.ring_capacity,
				     attachment->arena.ring_count});
	session->pump.code.hotspot = &attachment->hotspot;
	hide_own_code(&session->pump, attachment->control);
	if (!err)
		err = pump_connect_stacks(&session->pump, attachment->arena.stacks,
					  attachment->arena.stacks_size);
	(void)!proc_cpu_time(attachment->pid, &session->cpu_before_ns);
	session->own_before_ns = sink_cpu_ns(&session->sink);
	overhead_open(&session->overhead, session->options->budget_ppm, session->options->interval,
		      session->options->interval_shift, attachment->control->shift_max);
	session->interval_shift = session->options->interval_shift;
	heap_looks_open(&session->heap, attachment->pid, attachment->start_time);
	if (!err && session->interval_shift)
		err = pump_interval(&session->pump,
				    session->options->interval << session->interval_shift);
	if (session->options->verbose)
		describe_session(session);
	warn_unhooked(session);
	name_hidden(session);
	name_unseen_mappings(session);
	name_runtimes(session);
	name_lost_frames(session);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}
