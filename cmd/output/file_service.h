/* SPDX-License-Identifier: MIT */
/*
 * file_service.h - a thread that answers the analyzer child (hi_files.h) as long as a session lasts.
 *
 * It is a thread of its own so that no file system, be it the target's or one that hangs, can keep the session from beating its heart: what is opened, created
 * and renamed here may take its time. All calls are the session's; each returns at once, but for file_service_wait and _close.
 */
#ifndef HI_FILE_SERVICE_H
#define HI_FILE_SERVICE_H

#include <pthread.h>

#include "file_broker.h"
#include "outputs.h"

enum dump_state {
	DUMP_NONE,
	DUMP_EXPECTED, /* by the child, or about to be */
	DUMP_OPEN,     /* its files exist */
	DUMP_DONE,     /* the result waits to be taken */
};

struct file_service {
	int socket, stop_fd; /* stop_fd readable = the thread is to end */
	struct file_broker *broker;
	struct outputs *outputs;
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock; /* of what follows; `dump` is the thread's alone unless DONE */
	pthread_cond_t changed;
	enum dump_state state;
	int error;    /* of a dump that is DONE; 0 = it has its name */
	bool is_over; /* nobody asks any more */
	struct outputs_dump dump;
};

/* socket: is copied. outputs: while a dump is expected nobody else uses them. */
must_check int file_service_open(struct file_service *service, int socket, struct file_broker *broker, struct outputs *outputs);
/* Waits for what is being done to be done. A dump that is not, is dropped. Works on a zeroed one. */
void file_service_close(struct file_service *service);

/* To be called before the DUMP record goes out. -EBUSY: the last one is not done; -EPIPE: the child has gone. */
must_check int file_service_expect(struct file_service *service);
/* 1 = the dump that was expected has come to its end: then, and once, *out_error is 0 and out_dump has its paths, or negative errno. Else 0. */
int file_service_result(struct file_service *service, int *out_error, struct outputs_dump *out_dump);
/* Until none is expected any more. The stream has been closed: so the child comes to its end. */
void file_service_wait(struct file_service *service);

#endif
