# SPDX-License-Identifier: MIT
"""What kept a target from running, as /proc shows it from outside.

That is threads that a tracer held, and threads that had no CPU. From inside both look the same: a
thread that wakes five thousand times a second did not wake. Only the first can come from
heapinject. The second can take seconds on a machine that the suite itself fills. (Seen on Linux
6.18: all threads of one session ready to run, and another session's, which keeps getting signals,
on both CPUs.) A thread that waits for one without a CPU, such as for the lock of the address space
in fork, does not even count as waiting for a CPU itself.
"""
import contextlib
import os
import threading
import time

LOOK_SECONDS = 0.2
LOOKS_MIN = 5  # of one stop: else it may be several


def threads(pid):
    with contextlib.suppress(OSError):
        return os.listdir(f"/proc/{pid}/task")
    return []


class Stops:
    """Looks at the threads of a process until close(). It is a thread of ours."""

    def __init__(self, pid):
        self.pid, self.since, self.longest_s = pid, {}, 0.0
        self.is_over = threading.Event()
        self.looker = threading.Thread(target=self.look_on, daemon=True)
        self.looker.start()

    def look_on(self):
        while not self.is_over.wait(LOOK_SECONDS):
            self.look()

    def is_held(self, tid):
        try:
            with open(
                f"/proc/{self.pid}/task/{tid}/stat", encoding="utf-8", errors="replace"
            ) as stat:
                return stat.read().rpartition(")")[2].split()[0] == "t"
        except OSError:
            return False

    def look(self):
        now, held = time.monotonic(), {}
        for tid in threads(self.pid):
            if self.is_held(tid):
                first, looks = self.since.get(tid, (now, 0))
                held[tid] = first, looks + 1
                if looks + 1 >= LOOKS_MIN:
                    self.longest_s = max(self.longest_s, now - first)
        self.since = held

    def take_longest_s(self):
        """The longest time that one thread was held without a break, since the last call; to a
        fifth of a second.
        """
        longest, self.longest_s = self.longest_s, 0.0
        return longest

    def close(self):
        self.is_over.set()
        self.looker.join()


class Starved:
    """For how long threads of a process were ready to run and had no CPU."""

    def __init__(self):
        self.before_us = {}

    def take_longest_us(self, pid):
        """Of the thread that waited the longest since the last call. Stops that all of them shared
        are not in it.
        """
        now_us = {}
        for tid in threads(pid):
            with contextlib.suppress(OSError), open(
                f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii"
            ) as schedstat:
                now_us[tid] = int(schedstat.read().split()[1]) // 1000
        longest = max((us - self.before_us.get(tid, 0) for tid, us in now_us.items()), default=0)
        self.before_us = now_us
        return max(longest, 0)
