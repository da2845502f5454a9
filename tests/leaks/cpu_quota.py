# SPDX-License-Identifier: MIT
"""A process that gets no more than a share of one CPU: a control group of its own (v1 or v2)."""
import contextlib
import os
import time

from processes import Failed

V1 = "/sys/fs/cgroup/cpu"
V2 = "/sys/fs/cgroup"
PERIOD_US = 20000


def _write(group, name, value):
    with open(os.path.join(group, name), "w", encoding="ascii") as file:
        file.write(str(value))


def begin(pid, percent):
    """From now on the process has `percent` of a CPU at most. Returns what end() needs."""
    is_v1 = os.path.exists(os.path.join(V1, "cpu.cfs_quota_us"))
    group = os.path.join(V1 if is_v1 else V2, f"heapinject-leaks-{pid}")
    quota = PERIOD_US * percent // 100
    try:
        os.mkdir(group)
        if is_v1:
            _write(group, "cpu.cfs_period_us", PERIOD_US)
            _write(group, "cpu.cfs_quota_us", quota)
        else:
            _write(group, "cpu.max", f"{quota} {PERIOD_US}")
        _write(group, "cgroup.procs", pid)
    except OSError as error:
        raise Failed(f"no CPU quota: {error}") from None
    return group


def end(group):
    """After the end of the process, which the kernel takes a moment to forget."""
    for _ in range(100):
        with contextlib.suppress(OSError):
            os.rmdir(group)
            return
        time.sleep(0.02)
