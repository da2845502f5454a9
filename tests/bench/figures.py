# SPDX-License-Identifier: MIT
"""From trials to figures: medians over the rounds, what a profiler added, rows of tables."""
import statistics

from micro import WORKLOADS
from profilers import BY_NAME

MB = 1e6


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


class Results:
    """Trials by (target, configuration), failures by the same, reasons of what was skipped."""

    def __init__(self):
        self.trials, self.failures, self.skipped = {}, {}, {}

    def add(self, target, name, trial):
        self.trials.setdefault((target, name), []).append(trial)

    def fail(self, target, name, reason):
        self.failures.setdefault((target, name), []).append(str(reason))

    def get(self, target, name):
        return self.trials.get((target, name), [])

    def names(self, target):
        """Configurations of a target that have trials, in the order of the list."""
        return [name for name in BY_NAME if (target, name) in self.trials]


# ---- W1 and W2 -----------------------------------------------------------------------------------


class Micro:
    """The row of a workload under a configuration. Values are ns per operation, of CPU time unless
    the name says otherwise.
    """

    def __init__(self, results, workload, name):
        self.name, trials = name, results.get(workload.name, name)
        base = results.get(workload.name, BY_NAME[name].base)
        self.count = len(trials)
        self.cpu = median([trial.window.cpu for trial in trials])
        self.wall = median([trial.window.wall for trial in trials])
        if all(trial.rest for trial in trials):
            # In one process: before, while, after.
            self.base_cpu = median([trial.rest for trial in trials])
            self.each = [trial.window.cpu - trial.rest for trial in trials]
            self.added_wall = median([trial.window.wall - trial.rest_wall for trial in trials])
        else:
            self.base_cpu = median([trial.window.cpu for trial in base])
            base_wall = median([trial.window.wall for trial in base])
            self.each = [trial.window.cpu - self.base_cpu for trial in trials] if base else []
            self.added_wall = self.wall - base_wall if base else None
        self.added = median(self.each)
        self.share = self.added / self.base_cpu if self.added is not None else None
        self.per_sample = self.own_per_sample = self.drops = None
        self._samples(trials, workload, BY_NAME[name].rate)

    def _samples(self, trials, workload, rate):
        counts = [
            trial.facts.counts
            for trial in trials
            if trial.facts and trial.facts.counts.get("samples")
        ]
        if counts:
            # The payload's own clock runs on while its thread waits for a CPU, so the least value
            # of the rounds is the most accurate.
            self.own_per_sample = min(
                count["payload_cpu_ns"] / count["samples"] for count in counts
            )
            self.drops = median(
                [
                    (count["dropped_allocs"] + count["dropped_frees"] + count["live_set_full"])
                    / (
                        count["samples"]
                        + count["frees"]
                        + count["dropped_allocs"]
                        + count["dropped_frees"]
                    )
                    for count in counts
                ]
            )
            per_operation = median(
                [
                    trial.facts.counts["samples"] / trial.operations
                    for trial in trials
                    if trial.facts
                ]
            )
        else:
            per_operation = workload.samples_per_operation(rate)
        if per_operation and self.added is not None:
            self.per_sample = self.added / per_operation


def micro_rows(results, workload):
    return [Micro(results, workload, name) for name in results.names(workload.name)]


def micro_row(results, workload_name, name):
    if not results.get(workload_name, name):
        return None
    return Micro(
        results, next(workload for workload in WORKLOADS if workload.name == workload_name), name
    )


class Ways:
    """A workload hooked by slot and by entry, in turn in one process: what each adds, what entry
    adds more than slot, per operation, and the ratio of an operation's cost by entry to its cost by
    slot. All values come from the quickest pieces of windows, because the difference is a
    nanosecond.
    """

    def __init__(self, results, workload):
        slots, entries = (
            results.get(workload.name, "hi_slot"),
            results.get(workload.name, "hi_entry"),
        )
        by_slot, by_entry = (
            [trial.window.least - trial.rest_least for trial in trials]
            for trials in (slots, entries)
        )
        self.slot, self.entry = median(by_slot), median(by_entry)
        self.each = [entry - slot for slot, entry in zip(by_slot, by_entry)]
        self.more = median(self.each)
        # The standard error of the mean is about that of the median.
        self.noise = (
            statistics.stdev(self.each) / len(self.each) ** 0.5 if len(self.each) > 1 else 0
        )
        self.ratio = median(
            [
                (entry.window.least / entry.rest_least) / (slot.window.least / slot.rest_least)
                for slot, entry in zip(slots, entries)
            ]
        )


def ways(results, workload_name):
    """None where it was not measured."""
    if not (results.get(workload_name, "hi_slot") and results.get(workload_name, "hi_entry")):
        return None
    return Ways(results, next(workload for workload in WORKLOADS if workload.name == workload_name))


# ---- servers -------------------------------------------------------------------------------------


class ServerRow:
    """One test of a server under a configuration: ratios to the same server without it."""

    def __init__(self, results, server, name, test):
        self.name, self.test, trials = name, test, results.get(server, name)
        base = results.get(server, BY_NAME[name].base)
        self.count = len(trials)
        self.rps = median([trial.readings[test].rps for trial in trials])
        self.p99 = median([trial.readings[test].p99 for trial in trials])
        self.cpu = median([trial.readings[test].cpu for trial in trials])
        self.ratios = {what: self._ratios(trials, base, what) for what in ("rps", "p99", "cpu")}
        counts = [
            trial.facts.counts
            for trial in trials
            if trial.facts and trial.facts.counts.get("samples")
        ]
        self.drops = (
            sum(
                count["dropped_allocs"] + count["dropped_frees"] + count["live_set_full"]
                for count in counts
            )
            if counts
            else None
        )
        self.events = (
            sum(count["samples"] + count["frees"] for count in counts) + (self.drops or 0)
            if counts
            else None
        )

    def _ratios(self, trials, base, what):
        def value(reading):
            return getattr(reading, what)

        if all(trial.reference for trial in trials):
            return [
                value(trial.readings[self.test]) / value(trial.reference[self.test])
                for trial in trials
            ]
        reference = median([value(trial.readings[self.test]) for trial in base])
        return (
            [value(trial.readings[self.test]) / reference for trial in trials] if reference else []
        )

    def ratio(self, what):
        return median(self.ratios[what])


def server_rows(results, server):
    return [
        ServerRow(results, server.name, name, test)
        for test in server.tests
        for name in results.names(server.name)
    ]


def noise(results, server_name, test, what):
    """The least and the greatest ratio between two loads of this run without a profiler, or None if
    there are none.
    """
    ratios = [
        ratio
        for name in ("none", "none_again")
        if results.get(server_name, name)
        for ratio in ServerRow(results, server_name, name, test).ratios[what]
    ]
    return (min(ratios), max(ratios)) if ratios else None


# ---- memory --------------------------------------------------------------------------------------


class MemoryRow:
    """Resident MB that a configuration adds to the target, leaves in it, and uses itself."""

    def __init__(self, results, target, name):
        self.target, self.name, trials = (
            target,
            name,
            [trial for trial in results.get(target, name) if trial.resident],
        )
        # While it is there against right after it has gone: in between nothing runs in the target.
        self.added = median([(trial.resident[1] - trial.resident[2]) / MB for trial in trials])
        self.left = (
            median([(trial.resident[2] - trial.resident[0]) / MB for trial in trials])
            if target.startswith("w")
            else None
        )
        own = [trial.facts.resident for trial in trials if trial.facts]
        self.injector = median([pair[0] / MB for pair in own])
        self.analyzer = median([pair[1] / MB for pair in own])
        self.attach_ms = median([trial.attach_s * 1000 for trial in trials if trial.attach_s])


def memory_rows(results, targets):
    return [
        MemoryRow(results, target, name)
        for target in targets
        for name in results.names(target)
        if BY_NAME[name].attach and name.startswith("hi_")
    ]


# ---- the budget ----------------------------------------------------------------------------------

BUDGET, CORE_BUDGET = 0.01, 0.0025  # of the process's CPU time, and of one core: the more of both


class BudgetRow:
    """Sessions beside a subject: shares of one core, medians over the sessions. used is what the
    payload took, as a part of its budget.
    """

    def __init__(self, results, subject, name):
        trials = results.get(subject, name)
        self.subject, self.name, self.count = subject, name, len(trials)
        for part in ("injector", "analyzer", "payload", "target", "slower"):
            setattr(self, part, median([getattr(trial, part) for trial in trials]))
        self.own = median([trial.injector + trial.analyzer for trial in trials])
        self.used = median(
            [trial.payload / max(BUDGET * trial.target, CORE_BUDGET) for trial in trials]
        )


def budget_row(results, subject, name):
    return BudgetRow(results, subject, name) if results.get(subject, name) else None
