# SPDX-License-Identifier: MIT
"""What an event needs around heapinject: a full disk, a wall clock that jumps.

A run makes them once, and removes them at its end.
"""
import atexit
import os
import subprocess
import threading

from table import Skip

made = {}
lock = threading.Lock()

# The clocks that no program may rely on jump by up to a day, forth and back, at every read. Clocks
# that only go forward stay as they are.
CLOCK_JUMP = (
    r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long jump(void)
{
	static unsigned looks;

	return (long)(__atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED) * 2654435761u % 172800)"""
    r""" - 86400;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int status = (int)syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)
		now->tv_sec += jump();
	return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	const int status = (int)syscall(SYS_gettimeofday, now, zone);

	now->tv_sec += jump();
	return status;
}

time_t time(time_t *out)
{
	const time_t now = syscall(SYS_time, NULL) + jump();

	if (out)
		*out = now;
	return now;
}
"""
)


def once(make):
    """make(bench) is called by whoever needs it first."""

    def get(bench):
        with lock:
            if make not in made:
                made[make] = make(bench)
            return made[make]

    return get


@once
def clock_jump(bench):
    """A library to be preloaded into heapinject."""
    library = os.path.join(bench.builder.directory, "clock_jump.so")
    done = subprocess.run(
        [bench.builder.compiler, "-shared", "-fPIC", "-x", "c", "-o", library, "-"],
        input=CLOCK_JUMP,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Skip(f"clock_jump does not build: {done.stderr}")
    return library


@once
def full_disk(bench):
    """A directory on a disk that is full."""
    directory = os.path.join(bench.directory, f"full.{os.getpid()}")
    os.makedirs(directory)
    atexit.register(os.rmdir, directory)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=1000", "torture", directory],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Skip(f"a small disk cannot be mounted: {done.stderr.strip()}")
    atexit.register(subprocess.run, ["umount", directory], check=False)
    with open(f"{directory}/filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return directory
