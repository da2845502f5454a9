/* SPDX-License-Identifier: MIT */
/*
 * unit.h - a unit-test harness in one header.
 *
 *     UNIT_TEST(name) { CHECK_EQ(add(1, 2), 3); }
 *     UNIT_MAIN()
 *
 * Each case runs in a forked child with a time limit, so that a crash, a hang or a leaked
 * descriptor is that case's failure only. The first failing check ends its case. argv[1] = run only
 * the cases whose name it matches: a part of the name, or an extended regular expression. Output:
 * `ok name` (with its seconds if it took one or more), `FAIL name file:line: what`, `skip name:
 * reason`, and last `N passed, N failed, N skipped`. Exit status 1 if one failed.
 *
 * A case that takes more than a second and a half alone on a quiet machine is a UNIT_SLOW_TEST.
 * DAILY=1 in the environment, which is what `make check` sets, leaves these out.
 */
#ifndef HI_UNIT_H
#define HI_UNIT_H

#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * A machine with more to do than it can leaves a whole session without a CPU for seconds. What must
 * come is waited for with this patience; that is also the deadline for code under test that is to
 * succeed. Neither costs anything when all is well. A case may have to wait more than once.
 */
#define UNIT_PATIENCE_MS 30000
#define UNIT_TIME_LIMIT_S 240u
/*
 * Exit codes of a case that has said itself what happened. Any other is a surprise: a sanitizer's,
 * or the code under test has exited.
 */
enum { UNIT_EXIT_FAIL = 76, UNIT_EXIT_SKIP = 77 };

struct unit_case {
	const char *name;
	void (*run)(void);
	bool is_slow;
	struct unit_case *next;
};

static struct unit_case *unit_first, **unit_last = &unit_first;
static const char *unit_current;

static inline void unit_register(struct unit_case *unit_case)
{
	*unit_last = unit_case;
	unit_last = &unit_case->next;
}

/* Cases register themselves before main, in the order of the file. */
#define UNIT_CASE(name_, is_slow_)                                             \
	static void unit_run_##name_(void);                                    \
	static struct unit_case unit_case_##name_ = {                          \
		.name = #name_, .run = unit_run_##name_, .is_slow = is_slow_}; \
	__attribute__((constructor)) static void unit_register_##name_(void)   \
	{                                                                      \
		unit_register(&unit_case_##name_);                             \
	}                                                                      \
	static void unit_run_##name_(void)

#define UNIT_TEST(name_) UNIT_CASE(name_, false)
#define UNIT_SLOW_TEST(name_) UNIT_CASE(name_, true)

#define UNIT_FAIL(...)                                                       \
	do {                                                                 \
		printf("FAIL %s %s:%d: ", unit_current, __FILE__, __LINE__); \
		printf(__VA_ARGS__);                                         \
		putchar('\n');                                               \
		fflush(stdout);                                              \
		_exit(UNIT_EXIT_FAIL);                                       \
	} while (0)

#define SKIP(...)                                  \
	do {                                       \
		printf("skip %s: ", unit_current); \
		printf(__VA_ARGS__);               \
		putchar('\n');                     \
		fflush(stdout);                    \
		_exit(UNIT_EXIT_SKIP);             \
	} while (0)

#define CHECK(expr)                             \
	do {                                    \
		if (!(expr))                    \
			UNIT_FAIL("%s", #expr); \
	} while (0)

/* Integers (and pointers cast to uintptr_t); a mismatch shows both values, signed and in hex. */
#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		const int64_t unit_a = (int64_t)(a), unit_b = (int64_t)(b);                        \
		if (unit_a != unit_b)                                                              \
			UNIT_FAIL("%s == %s (a=%" PRId64 " 0x%" PRIx64 " b=%" PRId64 " 0x%" PRIx64 \
				  ")",                                                             \
				  #a, #b, unit_a, (uint64_t)unit_a, unit_b, (uint64_t)unit_b);     \
	} while (0)

#define CHECK_STR(a, b)                                                                    \
	do {                                                                               \
		const char *unit_a = (a), *unit_b = (b);                                   \
		if (!unit_a || !unit_b || strcmp(unit_a, unit_b) != 0)                     \
			UNIT_FAIL("%s == %s (a=\"%s\" b=\"%s\")", #a, #b,                  \
				  unit_a ? unit_a : "(null)", unit_b ? unit_b : "(null)"); \
	} while (0)

static inline uint64_t unit_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/*
 * Goes on as soon as the expression is true, and fails if it has not become so after all patience.
 * With commas in it, the last part is what counts.
 */
#define WAIT_FOR(...)                                                                          \
	do {                                                                                   \
		const uint64_t unit_end = unit_now_ms() + UNIT_PATIENCE_MS;                    \
		for (;;) {                                                                     \
			const int unit_is_late =                                               \
				unit_now_ms() >= unit_end; /* before the last look */          \
			if (__VA_ARGS__)                                                       \
				break;                                                         \
			if (unit_is_late)                                                      \
				UNIT_FAIL("after %d s still not: %s", UNIT_PATIENCE_MS / 1000, \
					  #__VA_ARGS__);                                       \
			usleep(1000);                                                          \
		}                                                                              \
	} while (0)

/* Runs one case in a child of its own. Returns its wait status. */
static inline int unit_fork(const struct unit_case *unit_case)
{
	fflush(NULL);
	const pid_t child = fork();
	if (child < 0) {
		perror("fork");
		exit(1);
	}
	if (child == 0) {
		unit_current = unit_case->name;
		alarm(UNIT_TIME_LIMIT_S);
		unit_case->run();
		fflush(NULL);
		/* exit, not _exit: leak checkers report from exit handlers. */
		exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return status;
}

/* Says what became of a case; one that was skipped or that failed a check has said it itself. */
static inline void unit_report(const char *name, int status, uint64_t ms)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && ms < 1000)
		printf("ok %s\n", name);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		printf("ok %s (%.1f s)\n", name, (double)ms / 1000);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("FAIL %s: no end after %u s\n", name, UNIT_TIME_LIMIT_S);
	else if (WIFSIGNALED(status))
		printf("FAIL %s: killed by signal %d (%s)\n", name, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != UNIT_EXIT_FAIL && WEXITSTATUS(status) != UNIT_EXIT_SKIP)
		printf("FAIL %s: exit status %d\n", name, WEXITSTATUS(status));
}

static inline int unit_main(int argc, char **argv)
{
	const char *daily = getenv("DAILY");
	const bool without_slow = daily && strcmp(daily, "1") == 0;
	unsigned passed = 0, failed = 0, skipped = 0;
	regex_t filter;

	if (regcomp(&filter, argc > 1 ? argv[1] : "", REG_EXTENDED | REG_NOSUB)) {
		fprintf(stderr, "%s: no regular expression: %s\n", argv[0], argv[1]);
		return 2;
	}
	for (const struct unit_case *unit_case = unit_first; unit_case;
	     unit_case = unit_case->next) {
		if (regexec(&filter, unit_case->name, 0, NULL, 0) != 0)
			continue;
		if (unit_case->is_slow && without_slow)
			continue;
		const uint64_t begun = unit_now_ms();
		const int status = unit_fork(unit_case);

		unit_report(unit_case->name, status, unit_now_ms() - begun);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			passed++;
		else if (WIFEXITED(status) && WEXITSTATUS(status) == UNIT_EXIT_SKIP)
			skipped++;
		else
			failed++;
	}
	regfree(&filter);
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0;
}

#define UNIT_MAIN()                           \
	int main(int argc, char **argv)       \
	{                                     \
		return unit_main(argc, argv); \
	}

#endif
