/* SPDX-License-Identifier: MIT */
/*
 * file_service.c - see file_service.h. The thread runs serve(). Its handling of a dump begins at
 * on_dump_request.
 *
 * A hostile target may control the child. The child gets files to write only when a dump is
 * expected, and only two of them. It reports nothing but success or an errno. The injector chooses
 * the names.
 */
#include "file_service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define ERRNO_MAX 4095 /* as in the kernel */

/* ---- the thread ------------------------------------------------------------------------------ */

static enum dump_state state_of(struct file_service *service)
{
	pthread_mutex_lock(&service->lock);
	const enum dump_state state = service->state;
	pthread_mutex_unlock(&service->lock);
	return state;
}

static void set_state(struct file_service *service, enum dump_state state, int err)
{
	pthread_mutex_lock(&service->lock);
	service->state = state;
	service->err = err;
	pthread_cond_broadcast(&service->changed);
	pthread_mutex_unlock(&service->lock);
}

static int open_dump(struct file_service *service)
{
	if (!service->in_memory)
		return outputs_dump_open(service->outputs, &service->dump);
	service->dump = (struct outputs_dump){.pprof_fd = -ENOENT};
	service->dump.heap_fd = memfd_create("profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return service->dump.heap_fd < 0 ? -errno : 0;
}

/* Gives a complete dump to the session. On failure nothing is left. */
static int publish_dump(struct file_service *service)
{
	const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

	if (!service->in_memory)
		return outputs_dump_publish(service->outputs, &service->dump);
	/* the child has a descriptor of it, too */
	if (!fcntl(service->dump.heap_fd, F_ADD_SEALS, seals))
		return 0;
	const int err = -errno;
	close(service->dump.heap_fd);
	return err;
}

static void discard_dump(struct file_service *service)
{
	if (service->in_memory)
		close(service->dump.heap_fd);
	else
		outputs_dump_discard(service->outputs, &service->dump);
}

/* A descriptor that the service keeps, or negative errno. */
static int dump_file(struct file_service *service, uint32_t kind)
{
	if (state_of(service) == DUMP_EXPECTED) {
		int err = open_dump(service);
		if (err)
			return err;
		set_state(service, DUMP_OPEN, 0);
	}
	if (state_of(service) != DUMP_OPEN)
		return -EINVAL;
	return kind == HI_FILE_DUMP_HEAP ? service->dump.heap_fd : service->dump.pprof_fd;
}

/* error: the result that the child reports; 0 = both files are complete. */
static void finish_dump(struct file_service *service, int err)
{
	const enum dump_state state = state_of(service);

	if (state == DUMP_OPEN && !err)
		err = publish_dump(service);
	else if (state == DUMP_OPEN)
		discard_dump(service);
	else if (state == DUMP_EXPECTED)
		err = err ? err : -EPROTO; /* the child has not asked for the files */
	else
		return;
	set_state(service, DUMP_DONE, err);
}

static int on_dump_request(struct file_service *service, const struct hi_file_request *request)
{
	if (request->kind != HI_FILE_DUMP_DONE)
		return file_broker_answer(service->socket, dump_file(service, request->kind));
	finish_dump(service, request->place <= ERRNO_MAX ? -(int)request->place : -EPROTO);
	return 0;
}

static void *serve(void *argument)
{
	struct file_service *service = argument;
	struct pollfd waits[] = {{service->socket, POLLIN, 0}, {service->stop_fd, POLLIN, 0}};
	struct hi_file_request request;
	int served = 0;

	while (served != -EPIPE) {
		(void)poll(waits, 2, -1);
		if (waits[1].revents)
			break;
		if (!waits[0].revents)
			continue;
		served = file_broker_serve(service->broker, service->socket, &request);
		if (served == 1)
			served = on_dump_request(service, &request);
	}
	/*
	 * In this order: is_over first, so that no new dump is expected from now on; then the dump
	 * that is expected until now ends.
	 */
	pthread_mutex_lock(&service->lock);
	service->is_over = true;
	pthread_mutex_unlock(&service->lock);
	finish_dump(service, -EPIPE);
	return NULL;
}

/* ---- the session ----------------------------------------------------------------------------- */

/* The thread blocks all signals, so that the session's thread gets them. */
static int start_thread(struct file_service *service)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = -pthread_create(&service->thread, NULL, serve, service);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int file_service_open(struct file_service *service, int socket, struct file_broker *broker,
		      struct outputs *outputs)
{
	*service = (struct file_service){.broker = broker,
					 .outputs = outputs,
					 .lock = PTHREAD_MUTEX_INITIALIZER,
					 .changed = PTHREAD_COND_INITIALIZER};
	service->socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
	int err = service->socket < 0 ? -errno : 0;
	service->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!err && service->stop_fd < 0)
		err = -errno;
	if (!err)
		err = start_thread(service);
	service->is_running = !err;
	if (!err)
		return 0;
	if (service->socket >= 0)
		close(service->socket);
	if (service->stop_fd >= 0)
		close(service->stop_fd);
	return err;
}

void file_service_close(struct file_service *service)
{
	if (!service->is_running)
		return;
	(void)!eventfd_write(service->stop_fd, 1);
	pthread_join(service->thread, NULL);
	if (service->state == DUMP_DONE && !service->err && service->in_memory)
		close(service->dump.heap_fd); /* nobody has taken it */
	close(service->socket);
	close(service->stop_fd);
	service->is_running = false;
}

int file_service_expect(struct file_service *service, bool in_memory)
{
	pthread_mutex_lock(&service->lock);
	const int err = service->is_over ? -EPIPE : service->state == DUMP_NONE ? 0 : -EBUSY;
	if (!err) {
		service->state = DUMP_EXPECTED;
		service->in_memory = in_memory;
	}
	pthread_mutex_unlock(&service->lock);
	return err;
}

int file_service_result(struct file_service *service, int *out_error, struct outputs_dump *out_dump)
{
	pthread_mutex_lock(&service->lock);
	const bool is_done = service->state == DUMP_DONE;
	if (is_done) {
		*out_error = service->err;
		if (!service->err)
			*out_dump = service->dump;
		service->state = DUMP_NONE;
	}
	pthread_mutex_unlock(&service->lock);
	return is_done;
}

void file_service_wait(struct file_service *service)
{
	pthread_mutex_lock(&service->lock);
	while (service->state == DUMP_EXPECTED || service->state == DUMP_OPEN)
		pthread_cond_wait(&service->changed, &service->lock);
	pthread_mutex_unlock(&service->lock);
}
