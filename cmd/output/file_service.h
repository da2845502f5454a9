/* SPDX-License-Identifier: MIT */
/*
 * file_service.h - a thread that answers the requests of the analyzer child (hi_files.h) as long as
 * a session lasts.
 *
 * It is a thread of its own so that no file system (the target's, or one that hangs) can keep the
 * session from storing its heartbeat. Opening, creating and renaming files may take its time here.
 * Only the session's thread calls the functions below. Each returns at once, except
 * file_service_wait and file_service_close.
 */
#ifndef HI_FILE_SERVICE_H
#define HI_FILE_SERVICE_H

#include <pthread.h>

#include "file_broker.h"
#include "outputs.h"

enum dump_state {
	DUMP_NONE,
	/* the child will ask for its files, or the DUMP record is about to be written */
	DUMP_EXPECTED,
	DUMP_OPEN, /* its files exist */
	DUMP_DONE, /* the result is ready for file_service_result */
};

struct file_service {
	int socket, stop_fd; /* socket: to the child. stop_fd: readable = the thread must end */
	struct file_broker *broker;
	struct outputs *outputs;
	pthread_t thread;
	bool is_running;
	/* protects the fields below. `dump` belongs to the thread alone unless the state is DONE */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum dump_state state;
	bool in_memory; /* the dump; does not change while one is expected */
	int err;        /* of a dump that is DONE: negative errno; 0 = it has its final name */
	bool is_over;   /* the child has gone, or the thread ends: no request will come any more */
	struct outputs_dump dump;
};

/* socket: is duplicated. outputs: while a dump is expected, only the thread may use it. */
must_check int file_service_open(struct file_service *service, int socket,
				 struct file_broker *broker, struct outputs *outputs);
/*
 * Waits for the operation that the thread is in, then ends the thread. A dump that is not complete
 * is dropped. May be called on a zeroed struct.
 */
void file_service_close(struct file_service *service);

/*
 * To be called before the DUMP record is written. in_memory: the .heap goes to memory, under no
 * name. -EBUSY: the previous dump is not complete; -EPIPE: the child has gone.
 */
must_check int file_service_expect(struct file_service *service, bool in_memory);
/*
 * 1 = the expected dump has ended. This is returned once per dump; *out_error is then 0 and
 * out_dump has the paths, or of a dump in memory heap_fd, sealed, which the caller closes; or
 * *out_error is negative errno. Otherwise 0.
 */
int file_service_result(struct file_service *service, int *out_error,
			struct outputs_dump *out_dump);
/*
 * Waits until no dump is expected any more. The stream must have been closed, so that the child
 * ends.
 */
void file_service_wait(struct file_service *service);

#endif
