# SPDX-License-Identifier: MIT
"""How long attach and detach take, and how long the target stops meanwhile.

The targets are redis with a million keys, and the big C++ program with 1 and with 64 threads. The
measurement is that of tests/torture/gap: a thread in the target wakes every 200 us and keeps the
longest gap, also in windows of rest of the same length.
"""
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import time

from processes import Failed
from profilers import BY_NAME

TARGETS = ("attach_redis", "big_1t", "big_64t")
TOOLS = ("hi_512K", "heaptrack_pid")
SETTLE_S = 0.5
BIG = os.path.join(os.environ.get("O", "build"), "bench", "big")


def load_gap():
    # gap has no suffix, so git would not ignore the compiled file that Python leaves beside it.
    sys.dont_write_bytecode = True
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torture", "gap")
    loader = importlib.machinery.SourceFileLoader("gap", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gap", loader))
    loader.exec_module(module)
    return module


gap = load_gap()


def missing(name):
    """Why a target cannot be had here, or an empty string."""
    if name == "attach_redis":
        return "" if shutil.which("redis-server") else "redis-server is not installed"
    return "" if os.path.exists(BIG) else "not built"


class Target(gap.Target):
    @staticmethod
    def start_own(name, _work, environment):
        process = subprocess.Popen(
            [BIG, name.split("_")[1].rstrip("t")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment,
        )
        process.stdout.readline()
        return process

    def close(self):
        super().close()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()


def cycle(target, tool, figures, work):
    """One attach and detach."""
    begin = target.gaps.begin
    window = begin()
    session = BY_NAME[tool].attach(target.process.pid, work)
    begin()
    attach = window, session.attach_s
    time.sleep(gap.ATTACHED_S)
    window = begin()
    facts = session.detach()
    begin()
    if not target.is_alive():
        raise Failed("the target died")
    figures.add(target, attach, (window, facts.detach_s))


def measure(name, tool, cycles, work):
    """gap.Figures of some cycles on one target."""
    figures, target = (
        gap.Figures(),
        Target("redis" if name == "attach_redis" else name, work, 8 * cycles + 8),
    )
    try:
        time.sleep(SETTLE_S)
        for _ in range(cycles):
            cycle(target, tool, figures, work)
    finally:
        target.close()
    return figures
