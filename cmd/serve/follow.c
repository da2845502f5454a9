/* SPDX-License-Identifier: MIT */
/* follow.c - see follow.h. Start at follow_tick(). */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hi_units.h"

#define SECOND_NS UINT64_C(1000000000)
#define FIND_NS UINT64_C(5000000000)
#define AGAIN_NS UINT64_C(1000000000) /* after a look that could not begin */
/* between two looks, while somebody watches: at least, in times of what one takes, at most */
#define REST_NS UINT64_C(2000000000)
#define REST_TIMES 20u
#define REST_MAX_NS UINT64_C(60000000000)

/* ---- which sessions -------------------------------------------------------------------------- */

static struct followed *add(struct follow *follow, pid_t pid)
{
	for (size_t i = 0; i < FOLLOW_MAX; i++) {
		struct followed *session = &follow->session[i];

		if (session->pid)
			continue;
		*session = (struct followed){.all = follow, .pid = pid};
		return session;
	}
	return NULL;
}

static struct followed *find(struct follow *follow, pid_t pid)
{
	for (size_t i = 0; i < FOLLOW_MAX; i++)
		if (follow->session[i].pid == pid)
			return &follow->session[i];
	return NULL;
}

static bool is_there(const struct followed *session)
{
	return session->pid && !session->is_missing;
}

size_t follow_count(const struct follow *follow)
{
	size_t count = 0;

	for (size_t i = 0; i < FOLLOW_MAX; i++)
		count += is_there(&follow->session[i]);
	return count;
}

static struct followed *find_only(struct follow *follow)
{
	for (size_t i = 0; i < FOLLOW_MAX && follow_count(follow) == 1; i++)
		if (is_there(&follow->session[i]))
			return &follow->session[i];
	return NULL;
}

struct followed *follow_find(struct follow *follow, pid_t pid)
{
	if (pid)
		return find(follow, pid);
	return follow->options->pid_count ? find(follow, follow->options->pid[0])
					  : find_only(follow);
}

/* One that has ended makes room, once it is the only kind left to do so. */
static void make_room(struct follow *follow)
{
	struct followed *oldest = NULL;

	for (size_t i = 0; i < FOLLOW_MAX; i++) {
		struct followed *session = &follow->session[i];

		if (!session->pid)
			return;
		if (session->is_missing && !session->is_looked_at && !session->watchers &&
		    (!oldest || session->began_ns < oldest->began_ns))
			oldest = session;
	}
	if (oldest) {
		kept_profiles_drop_all(&oldest->kept);
		live_event_let_go(oldest->event);
		*oldest = (struct followed){0};
	}
}

struct followed *follow_get(struct follow *follow, pid_t pid)
{
	struct followed *session = follow_find(follow, pid);

	if (session || !pid || follow->options->pid_count)
		return session;
	make_room(follow);
	return add(follow, pid);
}

/* The job has written the pids of the sessions, each on a line. */
static void read_pids(struct follow *follow, int fd)
{
	char text[FOLLOW_MAX * 12 + 1];
	const ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
	uint64_t pid;
	const char *end;

	text[size > 0 ? size : 0] = '\0';
	for (const char *at = text; !hi_parse_digits(at, &pid, &end) && *end == '\n';
	     at = end + 1) {
		struct followed *known;

		if (!pid || pid > INT32_MAX)
			continue;
		known = follow_get(follow, (pid_t)pid);
		/* a session that has come back is looked at now */
		if (known && known->is_missing) {
			known->is_missing = false;
			known->keep_ns = 0;
		}
	}
}

static void on_found(const struct serve_job *job, int status)
{
	struct follow *follow = job->owner;

	follow->is_finding = false;
	follow->find_ns = serve_now_ns() + FIND_NS;
	if (WIFEXITED(status) && WEXITSTATUS(status) == SERVE_ANSWERED)
		read_pids(follow, job->answer_fd);
	serve_job_close(job);
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void forget_oldest(struct follow *follow)
{
	struct kept_profiles *oldest = NULL;
	uint64_t bytes = 0;

	for (size_t i = 0; i < FOLLOW_MAX; i++) {
		struct kept_profiles *kept = &follow->session[i].kept;

		bytes += kept->bytes;
		if (kept->count && (!oldest || kept->profile[0].time < oldest->profile[0].time))
			oldest = kept;
	}
	if (bytes > FOLLOW_BYTES_MAX && oldest)
		kept_profiles_drop_oldest(oldest);
}

/* The profile in memory becomes one that nobody can change. */
static void keep(struct followed *session, int profile_fd)
{
	const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	struct stat file;
	const int fd = fcntl(profile_fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (fstat(fd, &file) || !file.st_size || (uint64_t)file.st_size > KEPT_PROFILE_BYTES_MAX ||
	    fcntl(fd, F_ADD_SEALS, seals)) {
		close(fd);
		return;
	}
	kept_profiles_add(&session->kept, (uint64_t)time(NULL), fd, (uint64_t)file.st_size);
	forget_oldest(session->all);
}

/* What is in memory, at an offset; the caller frees it. NULL: nothing, or too much. */
static char *read_text(int fd, size_t offset, size_t *out_size)
{
	struct stat file;
	char *text;

	*out_size = 0;
	if (fstat(fd, &file) || (size_t)file.st_size <= offset ||
	    (size_t)file.st_size - offset > LIVE_LOOK_BYTES_MAX)
		return NULL;
	text = malloc((size_t)file.st_size - offset);
	const ssize_t got =
		text ? pread(fd, text, (size_t)file.st_size - offset, (off_t)offset) : -1;
	*out_size = got > 0 ? (size_t)got : 0;
	return text;
}

static void tell(struct followed *session, const struct serve_job *job, bool is_looked)
{
	struct live_news news = {.time = (uint64_t)time(NULL),
				 .every_s = session->all->options->every_ns / SECOND_NS,
				 .kept = &session->kept,
				 .may_steer = session->all->options->attach != NULL,
				 .is_missing = session->is_missing};
	char *text = is_looked ? read_text(job->answer_fd, sizeof(struct serve_look_head),
					   &news.look_size)
			       : read_text(job->complaint_fd, 0, &news.why_size);
	struct live_event *event;

	*(is_looked ? &news.look : &news.why) = text;
	event = live_event_make(&news);
	free(text);
	if (!event)
		return;
	live_event_let_go(session->event);
	session->event = event;
	session->event_number++;
}

static bool take_look(struct followed *session, const struct serve_job *job)
{
	struct serve_look_head head;

	if (pread(job->answer_fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return false;
	if (session->last.injector != head.injector || session->last.elapsed_ns > head.elapsed_ns) {
		kept_profiles_drop_all(&session->kept);
		session->keep_ns = 0;
	}
	session->last = head;
	session->is_missing = false;
	if (serve_now_ns() >= session->keep_ns) {
		keep(session, job->profile_fd);
		session->keep_ns = session->began_ns + session->all->options->every_ns;
	}
	return true;
}

static void on_looked(const struct serve_job *job, int status)
{
	struct followed *session = job->owner;
	const int outcome = WIFEXITED(status) ? WEXITSTATUS(status) : SERVE_FAILED;
	const uint64_t now_ns = serve_now_ns();
	uint64_t rest_ns = (now_ns - session->began_ns) * REST_TIMES;
	bool is_looked = false;

	session->is_looked_at = false;
	if (outcome == SERVE_ANSWERED)
		is_looked = take_look(session, job);
	session->is_missing = outcome == SERVE_NO_SESSION;
	if (!is_looked)
		session->keep_ns = now_ns + FIND_NS;
	rest_ns = rest_ns < REST_NS ? REST_NS : rest_ns > REST_MAX_NS ? REST_MAX_NS : rest_ns;
	session->news_ns = now_ns + rest_ns;
	if (session->is_watched)
		tell(session, job, is_looked);
	serve_job_close(job);
}

static void look(struct followed *session, uint64_t now_ns)
{
	session->is_watched = session->watchers != 0;
	const struct serve_question question = {.options = session->all->options,
						.route = {SERVE_LOOK, session->pid},
						.is_watched = session->is_watched,
						.view_fd = -1,
						.base_fd = -1};

	session->began_ns = now_ns;
	session->is_looked_at =
		serve_jobs_start(session->all->jobs, &question, on_looked, session) == 0;
	if (!session->is_looked_at) {
		session->keep_ns = now_ns + AGAIN_NS;
		session->news_ns = now_ns + AGAIN_NS;
	}
}

void follow_want_news(struct followed *session, uint64_t now_ns)
{
	/* who comes and goes has the session asked no more often than who stays */
	if (session->event && now_ns < session->news_ns)
		return;
	live_event_let_go(session->event);
	session->event = NULL;
	session->news_ns = now_ns;
}

void follow_look_now(struct followed *session)
{
	session->is_missing = false;
	session->keep_ns = session->news_ns = 0;
}

static bool is_due(const struct followed *session, uint64_t now_ns)
{
	if (!session->pid || session->is_looked_at)
		return false;
	if (session->watchers && now_ns >= session->news_ns)
		return true;
	/* whether it has come back is seen with the others, if none are named */
	return now_ns >= session->keep_ns &&
	       (!session->is_missing || session->all->options->pid_count);
}

void follow_tick(struct follow *follow, uint64_t now_ns)
{
	const struct serve_question sessions = {.options = follow->options,
						.route = {SERVE_SESSIONS, 0},
						.view_fd = -1,
						.base_fd = -1};

	if (!follow->options->pid_count && !follow->is_finding && now_ns >= follow->find_ns) {
		follow->is_finding =
			serve_jobs_start(follow->jobs, &sessions, on_found, follow) == 0;
		follow->find_ns = now_ns + FIND_NS;
	}
	for (size_t i = 0; i < FOLLOW_MAX; i++)
		if (is_due(&follow->session[i], now_ns))
			look(&follow->session[i], now_ns);
}

/* ---- all of it ------------------------------------------------------------------------------- */

void follow_open(struct follow *follow, const struct serve_options *options,
		 struct serve_jobs *jobs)
{
	*follow = (struct follow){.options = options, .jobs = jobs};
	for (size_t i = 0; i < options->pid_count; i++)
		if (!find(follow, options->pid[i]))
			(void)add(follow, options->pid[i]);
}

void follow_write_profiles(const struct followed *session, FILE *out)
{
	char bytes[HI_UNITS_TEXT_MAX], when[32];

	for (size_t i = session ? session->kept.count : 0; i-- > 0;) {
		const struct kept_profile *profile = &session->kept.profile[i];
		const time_t time = (time_t)profile->time;
		struct tm tm;

		if (!gmtime_r(&time, &tm) ||
		    !strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm))
			snprintf(when, sizeof(when), "?");
		fprintf(out, "%" PRIu64 "  %s UTC  %s\n", profile->time, when,
			hi_format_bytes((double)profile->bytes, bytes, sizeof(bytes)));
	}
}

void follow_close(struct follow *follow)
{
	for (size_t i = 0; i < FOLLOW_MAX; i++)
		if (follow->session[i].pid) {
			kept_profiles_drop_all(&follow->session[i].kept);
			live_event_let_go(follow->session[i].event);
		}
}
