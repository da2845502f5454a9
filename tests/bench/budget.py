# SPDX-License-Identifier: MIT
"""Sessions as they are used: with the default interval, half a minute long.

They show what the payload takes of its budget once the interval has settled, what that adds to the
wall time, and the CPU time that injector and analyzer use themselves. Attach, detach and the final
report are not in these figures.
"""
import statistics
import time

from micro import WORKLOADS, Target
from processes import cpu_ns
from servers import SERVERS, Redis, missing as server_missing

TOOLS = ("hi_auto", "hi_512K")
AT_FIXED_RATE = ("budget_idle", "budget_redis")  # of the subjects, those with hi_512K, too
SETTLE_S, WINDOW_S, REFERENCE_S = 5, 20, 5
LOAD_SHARE = 0.5  # of the requests of a load, at a time


class Idle:
    """redis with 100,000 keys, to which nobody speaks."""

    what = "redis, idle"

    def __init__(self, profiler, work, options):
        self.server = Redis(profiler, work, options)
        self.pid = self.server.pid

    def run(self, seconds):
        """Lets that much time pass. Returns how many operations it did in a second, or None."""
        time.sleep(seconds)

    def close(self):
        self.server.close()


class Loaded:
    """A server under the first of its loads, again and again."""

    def __init__(self, kind, profiler, work, options):
        self.server = kind(profiler, work, options)
        self.pid = self.server.pid

    def run(self, seconds):
        rates, limit = [], time.monotonic() + seconds
        while time.monotonic() < limit:
            rates.append(self.server.load(next(iter(self.server.tests)), LOAD_SHARE)[0].rps)
        return statistics.median(rates)

    def close(self):
        self.server.close()


class Micro:
    def __init__(self, workload, profiler, work, options):
        self.target = Target(workload, profiler, options.build, work)
        self.pid = self.target.process.pid

    def run(self, seconds):
        return 1e9 / self.target.run(seconds).wall

    def close(self):
        self.target.close()


def _subjects():
    yield "budget_idle", Idle.what, Idle
    for kind in SERVERS:
        yield (
            f"budget_{kind.name}", f"{kind.name}, {next(iter(kind.tests))}",
            lambda *rest, k=kind: Loaded(k, *rest),
        )
    for workload in WORKLOADS:
        yield f"budget_{workload.name}", workload.name, lambda *rest, w=workload: Micro(w, *rest)


SUBJECTS = {name: (what, make) for name, what, make in _subjects()}


def tools(name):
    return TOOLS if name in AT_FIXED_RATE else TOOLS[:1]


def missing(name):
    """Why a subject cannot be had here, or an empty string."""
    kinds = {"budget_idle": Redis, **{f"budget_{kind.name}": kind for kind in SERVERS}}
    return server_missing(kinds[name]) if name in kinds else ""


class Session:
    """Shares of one core over the window. slower: by how much an operation took longer than before
    and after the session, None where nothing ran.
    """

    def __init__(self, begin, end, rate, references):
        seconds = end.at - begin.at
        self.injector, self.analyzer, self.target, self.payload = (
            (now - then) / 1e9 / seconds for now, then in zip(end.cpu, begin.cpu)
        )
        self.slower = statistics.mean(references) / rate - 1 if rate else None


class Moment:
    """CPU times until now; those of the payload are in a dump."""

    def __init__(self, session, pid):
        payload_ns = session.dump()["payload_cpu_ns"]
        self.at, self.cpu = time.monotonic(), (*session.cpu(), cpu_ns(pid), payload_ns)


def measure(name, profiler, options, work):
    scale = 0.1 if options.quick else 1
    subject = SUBJECTS[name][1](profiler, work, options)
    try:
        references = [subject.run(REFERENCE_S * scale)]
        attached = profiler.attach(subject.pid, work)
        subject.run(SETTLE_S * scale)
        begin = Moment(attached, subject.pid)
        rate = subject.run(WINDOW_S * scale)
        end = Moment(attached, subject.pid)
        attached.detach()
        references.append(subject.run(REFERENCE_S * scale))
    finally:
        subject.close()
    return Session(begin, end, rate, references)
