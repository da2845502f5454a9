# SPDX-License-Identifier: MIT
"""W1 to W4: nanoseconds per operation by the workload's own clocks.

The windows lie before, during and after the attach of a profiler.
"""
import math
import os
import statistics
import subprocess

from processes import Failed, end, has_ended, launch, line_from, resident_bytes
from profilers import BY_NAME

WARM_S = 0.2
PIECE_S = 0.1
SHORT_PIECE_S = 0.02  # of which some are not disturbed, however busy the machine is
SMALLEST, PAIRS_LARGEST, REPLACE_LARGEST = 16, 512, 4096  # as in workload.c


class Workload:
    """profilers: the configurations under which it runs; empty = all of its kind."""

    def __init__(
        self, name, program, arguments, what, sizes, is_unsteady=False, profilers=(), kind="micro"
    ):
        self.name, self.program, self.arguments, self.what, self.sizes = (
            name, program, arguments, what, sizes,
        )
        self.profilers, self.kind = profilers, kind
        # It waits for memory, whose speed changes from one second to the next.
        self.is_unsteady = is_unsteady

    def samples_per_operation(self, rate):
        """Expected, for a sampler of this mean distance."""
        if rate <= 1:
            return float(rate)
        return sum(1 - math.exp(-size / rate) for size in self.sizes) / len(self.sizes)


EVENLY = list(range(SMALLEST, PAIRS_LARGEST + 1))
BY_LOGARITHM = [int(SMALLEST * (REPLACE_LARGEST / SMALLEST) ** (i / 8191)) for i in range(8192)]
MAPPED = 64 << 10
OURS = ("none", "none_again", "hi_512K")
WORKLOADS = [
    Workload("w1_1t", "workload", ["pairs", "1"], "malloc+free pairs, 1 thread", EVENLY),
    Workload("w1_2t", "workload", ["pairs", "2"], "malloc+free pairs, 2 threads", EVENLY),
    Workload(
        "w2", "workload", ["replace"],
        "replace one of 100,000 blocks, 20 frames, no frame pointers", BY_LOGARITHM,
        is_unsteady=True,
    ),
    Workload(
        "w1_linked", "workload_linked", ["pairs", "1"], "W1 with jemalloc linked in", EVENLY,
        profilers=OURS,
    ),
    Workload(
        "w1_island", "workload_island", ["pairs", "1"],
        "the same, beside libc's allocator, so that its functions lead to the gate by an island",
        EVENLY, profilers=OURS,
    ),
    Workload("w2_fp", "workload_fp", ["replace"], "the same with frame pointers", BY_LOGARITHM),
    Workload(
        "w3", "workload", ["maps", "1"], "mmap of 64 KB, a page touched, munmap", [MAPPED],
        kind="maps",
    ),
    Workload(
        "w4_1t", "workload", ["pools", "1"], "a block of a pool, 1 thread", EVENLY, kind="pools"
    ),
    Workload(
        "w4_2t", "workload", ["pools", "2"], "a block of a pool, 2 threads", EVENLY, kind="pools"
    ),
]


class Window:
    """CPU and wall time per operation, the number of operations, and the CPU time of the quickest
    pieces.

    The times are medians over some pieces of the window, so that a burst of another program does
    not count. The quickest pieces are taken without a tenth of them: they show the cost where
    another program never rests.
    """

    def __init__(self, lines):
        pieces = [[int(word) for word in line.split()] for line in lines]
        self.operations = sum(piece[0] for piece in pieces)
        self.cpu = statistics.median(cpu_ns / operations for operations, cpu_ns, _ in pieces)
        self.wall = statistics.median(wall_ns / operations for operations, _, wall_ns in pieces)
        self.least = sorted(cpu_ns / operations for operations, cpu_ns, _ in pieces)[
            len(pieces) // 10
        ]


class Trial:
    """What one turn of a workload under one profiler showed."""

    def __init__(self):
        self.window = None  # with the profiler
        # CPU ns per operation before and after; None if the profiler was there all the time.
        self.rest = None
        self.rest_wall = self.rest_least = None
        self.operations = None  # all that the profiler saw
        self.attach_s = None
        self.facts = None
        self.resident = None  # bytes before, while, after


class Target:
    """A workload that waits for its next window."""

    def __init__(self, workload, profiler, build, work):
        variables, self.helper = profiler.environment(work)
        self.process = launch(
            [os.path.join(build, workload.program)] + workload.arguments, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, **variables),
        )
        self.name, self.piece_s = workload.name, SHORT_PIECE_S if profiler.beside else PIECE_S
        line_from(self.process.stdout, 120, self.name)

    def run(self, seconds):
        return Window(
            [
                self._run_piece(min(self.piece_s, seconds))
                for _ in range(max(1, round(seconds / self.piece_s)))
            ]
        )

    def _run_piece(self, seconds):
        try:
            self.process.stdin.write(f"{seconds}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Failed(f"{self.name} has died") from error
        return line_from(self.process.stdout, 60, self.name)

    def resident(self):
        return resident_bytes(self.process.pid)

    def close(self):
        if not has_ended(self.process):
            self.process.stdin.close()
        end(self.process, None, 10)
        if self.helper:
            end(self.helper)


def measure(workload, profiler, options, work):
    """(name of the configuration, trial), one or more, all of one process."""
    target = Target(workload, profiler, options.build, work)
    turns, share = profiler.turns if workload.is_unsteady or profiler.beside else (1, 1)
    in_turn = [profiler, BY_NAME[profiler.beside]] if profiler.beside else [profiler]
    try:
        return [
            (each.name, run_trial(target, each, options.window * share, work))
            for _ in range(turns)
            for each in in_turn
        ]
    finally:
        target.close()


def run_trial(target, profiler, window_s, work):
    trial = Trial()
    target.run(WARM_S)
    if profiler.variables and not profiler.attach:
        trial.window = target.run(window_s)
        return trial
    before = target.run(window_s / 2)
    resident_before = target.resident()
    session = profiler.attach(target.process.pid, work) if profiler.attach else None
    warm = target.run(WARM_S)
    trial.window = target.run(window_s)
    trial.operations = warm.operations + trial.window.operations
    resident_while = target.resident()
    if session:
        trial.attach_s = session.attach_s
        trial.facts = session.detach()
    resident_after = target.resident()
    after = target.run(window_s / 2)
    trial.rest = (before.cpu + after.cpu) / 2
    trial.rest_wall = (before.wall + after.wall) / 2
    trial.rest_least = min(before.least, after.least)
    trial.resident = (resident_before, resident_while, resident_after)
    return trial
