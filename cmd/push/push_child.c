/* SPDX-License-Identifier: MIT */
/* push_child.c - see push_child.h. Start at push_child_run(). */
#include "push_child.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "push_intake.h"

#define NS_PER_MS 1000000u
#define SECOND_NS 1000000000ull
#define SEND_MS_MAX 30000u
#define ENTRY_MAX ((uint64_t)128 << 20)
#define FOREVER UINT64_MAX
#define NICE 5 /* nobody waits for it */
/* with a wrong address or token: somebody may put that right */
#define MISDIRECTED_S 30u

/* ---- from the spool to the server ------------------------------------------------------------ */

static uint64_t end_of(struct pushing *pushing)
{
	pthread_mutex_lock(&pushing->lock);
	const uint64_t end_ns = pushing->is_ending ? pushing->end_ns : FOREVER;
	pthread_mutex_unlock(&pushing->lock);
	return end_ns;
}

static bool gives_up(void *context)
{
	return clock_now_ns() >= end_of(context);
}

/* Sends one entry. False: it cannot be read. */
static bool send_entry(struct pushing *pushing, const struct spool_entry *entry,
		       struct hi_sent *out_sent)
{
	const struct push_options *options = pushing->child->target.options;
	uint8_t *const bytes = entry->size && entry->size <= ENTRY_MAX ? malloc(entry->size) : NULL;
	const bool is_read = bytes && !push_intake_read(entry->fd, bytes, entry->size);

	if (is_read) {
		const struct hi_send request = {
			.url = pushing->url,
			.headers = pushing->headers.line,
			.body = bytes,
			.size = entry->size,
			.timeout_ms = SEND_MS_MAX,
			.is_grpc = options->protocol == PUSH_PARCA,
			.is_direct = options->is_direct,
			.gives_up = gives_up,
			.context = pushing,
		};
		hi_send(&request, out_sent);
	}
	free(bytes);
	return is_read;
}

static void describe_failure(const struct hi_sent *sent, const char *remark,
			     char text[HI_SEND_TEXT_MAX])
{
	const char *const said = *remark ? remark : sent->text;

	if (sent->err)
		snprintf(text, HI_SEND_TEXT_MAX, "%.200s", sent->text);
	else if (sent->grpc_status > 0)
		snprintf(text, HI_SEND_TEXT_MAX,
			 "the server answers with status %d of gRPC%s%.180s", sent->grpc_status,
			 *sent->text ? ": " : "", sent->text);
	else
		snprintf(text, HI_SEND_TEXT_MAX, "the server answers with status %ld%s%.180s",
			 sent->status, *said ? ": " : "", said);
}

/*
 * What there is to say of a profile that was taken; false: nothing. It is not sent again, as the
 * server has the rest.
 */
static bool describe_partial(uint64_t rejected, const char *remark, char text[HI_SEND_TEXT_MAX])
{
	const char *const colon = *remark ? ": " : "";

	if (rejected)
		snprintf(text, HI_SEND_TEXT_MAX,
			 "the server has rejected %" PRIu64 " of a profile's sample types%s%.180s",
			 rejected, colon, remark);
	else
		snprintf(text, HI_SEND_TEXT_MAX, "the server warns%s%.220s", colon, remark);
	return rejected || *remark;
}

static void put_off(struct pushing *pushing, uint64_t wait_s)
{
	uint32_t random = 0;

	(void)!getrandom(&random, sizeof(random), 0);
	pushing->next_ns =
		clock_now_ns() + backoff_fail(&pushing->backoff, wait_s, random) * NS_PER_MS;
	pushing->asked_ns = wait_s ? pushing->next_ns : 0;
}

/* Whether it is open if the server has it: the answer was lost, here or at a gateway. */
static bool is_open(const struct hi_sent *sent)
{
	return sent->err ? sent->was_taken : sent->status == 502 || sent->status == 504;
}

static void judge(struct pushing *pushing, struct spool_entry *entry, const struct hi_sent *sent)
{
	const struct push_options *options = pushing->child->target.options;
	char text[HI_SEND_TEXT_MAX], remark[HI_SEND_TEXT_MAX];
	enum push_verdict verdict = push_request_judge(options, sent);
	const uint64_t rejected = push_request_remark(options, sent, remark);
	bool has_text = true;

	if (!sent->err && sent->is_page && (sent->status / 100 == 2 || sent->status == 400)) {
		/* a login, a proxy, a port with TLS, or a server of something else */
		verdict = PUSH_MISDIRECTED;
		snprintf(text, sizeof(text),
			 "the server answers with a page for browsers, and takes no profile");
	} else if (verdict == PUSH_TAKEN) {
		has_text = describe_partial(rejected, remark, text);
	} else {
		describe_failure(sent, remark, text);
	}
	if (verdict == PUSH_TAKEN || verdict == PUSH_REFUSED)
		spool_remove(&pushing->spool, entry);
	else
		spool_put_back(entry);
	pthread_mutex_lock(&pushing->lock);
	pushing->state.sent += verdict == PUSH_TAKEN && !rejected;
	pushing->state.partial += verdict == PUSH_TAKEN && rejected;
	pushing->state.refused += verdict == PUSH_REFUSED;
	pushing->state.is_away = verdict == PUSH_LATER || verdict == PUSH_MISDIRECTED;
	if (has_text)
		pushing_complain(pushing, text);
	pushing->state.lost_answers += is_open(sent);
	pushing_tell(pushing);
	pthread_mutex_unlock(&pushing->lock);
	if (verdict == PUSH_LATER)
		put_off(pushing, sent->retry_after_s);
	else if (verdict == PUSH_MISDIRECTED)
		put_off(pushing, MISDIRECTED_S);
	else
		backoff_reset(&pushing->backoff);
}

/* At the end an attempt is not put off for longer, unless the server has asked for that. */
static void hurry(struct pushing *pushing, uint64_t now_ns)
{
	const uint64_t earliest_ns = pushing->asked_ns > now_ns ? pushing->asked_ns : now_ns;

	if (pushing->has_hurried)
		return;
	pushing->has_hurried = true;
	backoff_reset(&pushing->backoff);
	if (pushing->next_ns > earliest_ns)
		pushing->next_ns = earliest_ns;
}

/* Whether nothing more is to come, or it would come too late. */
static bool is_over(const struct pushing *pushing, bool is_empty, uint64_t now_ns)
{
	if (!pushing->is_ending)
		return false;
	return now_ns >= pushing->end_ns ||
	       (is_empty ? !pushing->has_new : pushing->next_ns >= pushing->end_ns);
}

/*
 * Waits for a profile, or for the time of the next attempt. False: the process is to end.
 * is_empty: the spool was.
 */
static bool await_work(struct pushing *pushing, bool is_empty)
{
	bool goes_on;

	pthread_mutex_lock(&pushing->lock);
	for (;;) {
		const uint64_t now_ns = clock_now_ns();
		const struct timespec wake = {.tv_sec = (time_t)(pushing->next_ns / SECOND_NS),
					      .tv_nsec = (long)(pushing->next_ns % SECOND_NS)};

		if (pushing->is_ending)
			hurry(pushing, now_ns);
		goes_on = !is_over(pushing, is_empty, now_ns);
		if (!goes_on || (is_empty ? pushing->has_new : now_ns >= pushing->next_ns))
			break;
		if (is_empty)
			pthread_cond_wait(&pushing->changed, &pushing->lock);
		else
			(void)pthread_cond_timedwait(&pushing->changed, &pushing->lock, &wake);
	}
	pushing->has_new = false;
	pthread_mutex_unlock(&pushing->lock);
	return goes_on;
}

static void push_all(struct pushing *pushing)
{
	struct spool_entry entry;
	struct hi_sent sent;
	bool is_empty = false;

	while (await_work(pushing, is_empty)) {
		is_empty = spool_take(&pushing->spool, &entry) != 0;
		if (is_empty)
			continue;
		if (send_entry(pushing, &entry, &sent)) {
			judge(pushing, &entry, &sent);
			continue;
		}
		spool_remove(&pushing->spool, &entry);
		pthread_mutex_lock(&pushing->lock);
		pushing->state.failed++;
		pthread_mutex_unlock(&pushing->lock);
	}
	pthread_mutex_lock(&pushing->lock);
	pushing->state.is_over = true;
	pushing_tell(pushing);
	pthread_mutex_unlock(&pushing->lock);
}

/* ---- the process ----------------------------------------------------------------------------- */

/* What names of hosts, certificates, and the libraries for both are read from. */
static const char *const readable[] = {
	"/etc",         "/usr",       "/lib",      "/lib64", "/run", "/dev/null",
	"/dev/urandom", "/proc/self", "/proc/sys", NULL,     NULL};

static int enter_sandbox(struct push_child *child, struct sandbox_state *out_state)
{
	const size_t count = sizeof(readable) / sizeof(*readable);
	const char *all[sizeof(readable) / sizeof(*readable)];

	memcpy(all, readable, sizeof(readable));
	all[count - 2] = getenv("SSL_CERT_FILE");
	return sandbox_enter_network(child->user, all, child->spool, out_state);
}

/* Whether a file can be created in the spool with what is left of the rights. */
static int try_spool(const struct spool *spool)
{
	char id[SPOOL_ID_MAX];
	struct spool other = *spool;
	struct spool_entry entry;
	unsigned removed;
	int err = push_intake_id(id);

	/* no process sends it */
	other.destination = 0;
	other.bytes_max = UINT64_MAX;
	if (!err)
		err = spool_add(&other, 0, id, (struct spool_bytes){"", 0}, &removed);
	while (!err && !spool_take(&other, &entry))
		spool_remove(&other, &entry);
	return err;
}

static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* Negative errno; the text of the state says more. */
static int prepare(struct pushing *pushing)
{
	struct push_child *child = pushing->child;
	struct push_state *state = &pushing->state;
	const bool is_grpc = child->target.options->protocol == PUSH_PARCA;
	int *const kept[] = {&child->socket, &child->spool};
	int err = sandbox_keep(kept, sizeof(kept) / sizeof(*kept));

	if (err)
		return err;
	if (!hi_send_prepare(is_grpc, state->text))
		return -ENOSYS;
	err = enter_sandbox(child, &state->sandbox);
	if (err) {
		snprintf(state->text, sizeof(state->text), "its rights cannot be given up");
		return err;
	}
	pushing->spool =
		(struct spool){.fd = child->spool, .bytes_max = child->target.options->spool_bytes};
	pushing->spool.destination = push_request_url(child->target.options, pushing->url);
	push_request_headers(child->target.options, &pushing->headers);
	spool_sweep(&pushing->spool);
	err = try_spool(&pushing->spool);
	if (err)
		snprintf(state->text, sizeof(state->text), "the spool cannot be written: %s",
			 strerror(-err));
	return err;
}

void push_child_run(struct push_child *child)
{
	static struct pushing pushing = {.lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_condattr_t monotonic;
	pthread_t thread;

	pushing.child = child;
	ignore_signals();
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	(void)prctl(PR_SET_NAME, "heapinject-push", 0, 0, 0);
	pushing.state.err = prepare(&pushing);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&pushing.changed, &monotonic);
	pthread_mutex_lock(&pushing.lock);
	pushing_tell(&pushing);
	pthread_mutex_unlock(&pushing.lock);
	if (pushing.state.err)
		_exit(1);
	if (pthread_create(&thread, NULL, push_intake_serve, &pushing))
		_exit(1);
	push_all(&pushing);
	_exit(0);
}
