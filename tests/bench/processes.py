# SPDX-License-Identifier: MIT
"""Processes that the bench starts, and what can be read about them.

Every process that starts here ends here: by itself, by close(), or at the latest when the bench
ends.
"""
import atexit
import os
import select
import signal
import subprocess
import time

_started = []


class Failed(Exception):
    """A trial that cannot be had; its text says why."""


def launch(command, **options):
    """Popen in a group of its own, known to end_all()."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    _started.append(process)
    return process


def has_ended(process):
    """Without reaping it: its number stays its own, and its group's."""
    return (
        process.returncode is not None
        or os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    )


def end(process, gently=signal.SIGTERM, seconds=20):
    """Ends it and waits for it. Sends SIGKILL if it does not end by itself, and to every process
    that it left in its group. Returns its exit status.
    """
    if process.returncode is None:
        if gently and not has_ended(process):
            os.kill(process.pid, gently)
        limit = time.monotonic() + seconds
        while not has_ended(process) and time.monotonic() < limit:
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    _started.remove(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        try:
            if stream:
                stream.close()
        except BrokenPipeError:
            pass  # what it was sent last, it did not live to read
    return process.returncode


@atexit.register
def end_all():
    for process in list(_started):
        end(process, signal.SIGKILL)


def line_from(stream, seconds, what):
    """The next line of an unbuffered binary pipe, or Failed."""
    line, limit = b"", time.monotonic() + seconds
    while not line.endswith(b"\n"):
        if not select.select([stream], [], [], max(0, limit - time.monotonic()))[0]:
            raise Failed(f"no answer from {what} for {seconds} s")
        byte = os.read(stream.fileno(), 1)
        if not byte:
            raise Failed(f"{what} ended")
        line += byte
    return line.decode(errors="replace").strip()


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def resident_bytes(pid):
    """Rss of smaps_rollup: what ps shows, without the lag of its counters."""
    for line in read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise Failed(f"no Rss of {pid}")


def peak_bytes(pid):
    """The most that a process ever had resident; 0 if it is gone."""
    try:
        status = read(f"/proc/{pid}/status")
    except OSError:
        return 0
    return next(
        (int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")),
        0,
    )


def children(pid):
    """Pids of the children of any thread of a process."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += read(f"/proc/{pid}/task/{thread}/children").split()
    except OSError:
        pass
    return [int(child) for child in found]


def cpu_ns(pid):
    """CPU time of all threads that live, from the scheduler. It is exact to the nanosecond;
    /proc/PID/stat has ticks of 10 ms.
    """
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            total += int(read(f"/proc/{pid}/task/{thread}/schedstat").split()[0])
        except OSError:
            pass
    return total
