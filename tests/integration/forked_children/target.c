/* SPDX-License-Identifier: MIT */
/*
 * A process that forks workers, which stay, and allocates as they do: two threads each. Commands:
 * fork KIND = a worker, plain, or "grand", the child of one that is gone, or "plugin", which loads
 * the library that is named as argument; answers its pid. use N = the N-th worker, 0 is this
 * process, frees what it has and allocates 4 MB anew; answers "right" if all was as it had been.
 * open, close = the library is loaded, or unloaded, in this process.
 */
#include "../target.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#define BLOCKS 4000
#define BLOCK_BYTES 1000
#define WORKERS 400
#define LIFETIME_SECONDS 250 /* of a worker that nobody ends */

static struct {
	int to, from;
} worker[WORKERS];
static int workers;
static unsigned char *block[BLOCKS];
static void *(*allocate_block)(size_t);

__attribute__((noinline)) static void *worker_allocate(size_t size)
{
	char *bytes = malloc(size);

	return bytes ? bytes : NULL;
}

static int use(void)
{
	int is_right = 1;

	for (int i = 0; i < BLOCKS; i++) {
		is_right &= !block[i] ||
			    (block[i][0] == i % 251 && block[i][BLOCK_BYTES - 1] == i % 251);
		free(block[i]);
	}
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = allocate_block(BLOCK_BYTES);
		memset(block[i], i % 251, BLOCK_BYTES);
	}
	return is_right;
}

static void *storm(void *unused)
{
	for (unsigned size = 1;; size = size % 2000 + 1) {
		unsigned char *one = malloc(size), *other;

		memset(one, 77, size);
		other = realloc(one, size + 100);
		if (other[0] != 77 || other[size - 1] != 77)
			abort();
		free(other);
		if (size % 100 == 0)
			usleep(1000);
	}
	return unused;
}

static void work(int from, int to, const char *library)
{
	pthread_t thread;
	char byte;

	alarm(LIFETIME_SECONDS);
	if (library)
		allocate_block =
			(void *(*)(size_t))dlsym(dlopen(library, RTLD_LAZY), "plugin_allocate");
	pthread_create(&thread, NULL, storm, NULL);
	while (read(from, &byte, 1) == 1) {
		byte = use() ? 'y' : 'n';
		if (write(to, &byte, 1) != 1)
			break;
	}
	for (;;)
		pause(); /* its parent is gone */
}

static pid_t start(const char *kind, const char *library)
{
	int to[2], from[2];
	pid_t pid;

	if (workers == WORKERS || pipe(to) || pipe(from))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		for (int i = 0; i < workers; i++)
			close(worker[i].to);
		if (strcmp(kind, "grand") == 0 && fork() > 0)
			_exit(0);
		pid = getpid();
		if (write(from[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		work(to[0], from[1], strcmp(kind, "plugin") == 0 ? library : NULL);
	}
	close(to[0]);
	close(from[1]);
	worker[workers].to = to[1];
	worker[workers++].from = from[0];
	if (strcmp(kind, "grand") == 0)
		waitpid(pid, NULL, 0);
	return read(from[0], &pid, sizeof(pid)) == sizeof(pid) ? pid : -1;
}

static const char *open_or_close(const char *library)
{
	static void *handle;

	if (handle)
		dlclose(handle);
	handle = library ? dlopen(library, RTLD_LAZY) : NULL;
	return handle || !library ? "right" : "wrong";
}

static int use_worker(int number)
{
	char byte = 'u';

	if (!number)
		return use();
	number--;
	return write(worker[number].to, &byte, 1) == 1 &&
	       read(worker[number].from, &byte, 1) == 1 && byte == 'y';
}

int main(int count, char **arguments)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	allocate_block = worker_allocate;
	use();
	pthread_create(&thread, NULL, storm, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (strncmp(command, "fork ", 5) == 0)
			target_say("%d\n", start(command + 5, arguments[count - 1]));
		else if (strcmp(command, "open") == 0 || strcmp(command, "close") == 0)
			target_say("%s\n",
				   open_or_close(command[0] == 'o' ? arguments[count - 1] : NULL));
		else
			target_say("%s\n", use_worker(atoi(command + 4)) ? "right" : "wrong");
	}
	return 0;
}
