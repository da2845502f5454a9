/* SPDX-License-Identifier: MIT */
/*
 * memcached_load PORT SECONDS - one get or (one time in ten) set at a time on each of CONNECTIONS
 * connections to 127.0.0.1. Prints `REQUESTS_PER_SECOND P50_MS P99_MS ALL`, where ALL requests are
 * those before the clock started, too.
 *
 * A request is sent on every connection, then every answer is read, and its time noted. Keys are
 * the same in each run, and all are there before the clock starts.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 16
#define KEYS 20000u
#define VALUE_BYTES 200
#define ANSWER_MAX 1024
#define STEP_NS 2000 /* grain of the histogram */
#define STEPS 100000

static int connection[CONNECTIONS];
static uint32_t histogram[STEPS];
static uint64_t state = 88172645463325252u;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static unsigned next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return (unsigned)((state ^= state << 17) >> 20);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void open_connections(const char *port)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons((uint16_t)atoi(port)),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int one = 1;

	for (int i = 0; i < CONNECTIONS; i++) {
		connection[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connection[i] < 0 ||
		    connect(connection[i], (const struct sockaddr *)&address, sizeof(address)))
			fail("connect");
		setsockopt(connection[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	}
}

static void ask(int fd, unsigned key, int is_set)
{
	char request[ANSWER_MAX];
	int length;

	if (is_set)
		length = snprintf(request, sizeof(request), "set key%u 0 0 %d\r\n%0*u\r\n", key,
				  VALUE_BYTES, VALUE_BYTES, key);
	else
		length = snprintf(request, sizeof(request), "get key%u\r\n", key);
	if (write(fd, request, (size_t)length) != length)
		fail("write");
}

/* An answer ends with the line STORED or END; values are digits. */
static void read_answer(int fd)
{
	char answer[ANSWER_MAX + 1];
	size_t length = 0;

	for (;;) {
		const ssize_t got = read(fd, answer + length, ANSWER_MAX - length);

		if (got <= 0)
			fail("read");
		length += (size_t)got;
		answer[length] = 0;
		if (strstr(answer, "STORED\r\n") || strstr(answer, "END\r\n"))
			return;
		if (length == ANSWER_MAX || strstr(answer, "ERROR")) {
			fprintf(stderr, "memcached_load: unexpected answer: %.60s\n", answer);
			exit(1);
		}
	}
}

static void note(int64_t took_ns)
{
	const int64_t step = took_ns / STEP_NS;

	histogram[step < STEPS ? step : STEPS - 1]++;
}

static uint64_t run(double seconds)
{
	const int64_t end = now_ns() + (int64_t)(seconds * 1e9);
	uint64_t requests = 0;

	while (now_ns() < end) {
		int64_t began[CONNECTIONS];

		for (int i = 0; i < CONNECTIONS; i++) {
			began[i] = now_ns();
			ask(connection[i], next_random() % KEYS, next_random() % 10 == 0);
		}
		for (int i = 0; i < CONNECTIONS; i++) {
			read_answer(connection[i]);
			note(now_ns() - began[i]);
		}
		requests += CONNECTIONS;
	}
	return requests;
}

static double quantile_ms(uint64_t requests, double share)
{
	uint64_t seen = 0;

	for (unsigned step = 0; step < STEPS; step++)
		if ((double)(seen += histogram[step]) >= share * (double)requests)
			return (step + 0.5) * STEP_NS / 1e6;
	return STEPS * STEP_NS / 1e6;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	const double seconds = atof(argv[2]);

	open_connections(argv[1]);
	for (unsigned key = 0; key < KEYS; key++) {
		ask(connection[key % CONNECTIONS], key, 1);
		read_answer(connection[key % CONNECTIONS]);
	}
	const int64_t began = now_ns();
	const uint64_t requests = run(seconds);

	printf("%.0f %.4f %.4f %llu\n", (double)requests * 1e9 / (double)(now_ns() - began),
	       quantile_ms(requests, 0.5), quantile_ms(requests, 0.99),
	       (unsigned long long)(requests + KEYS));
	return 0;
}
