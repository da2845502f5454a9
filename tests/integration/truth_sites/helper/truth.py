# SPDX-License-Identifier: MIT
"""
truth.py - attaches to the target once for each seed, has it allocate, and holds what is reported against what it has counted itself.

With --full the limits are those of docs/sampling.md: 93 to 97 % of the intervals hold the truth where chance decides, and the mean error of a site is within its
standard error's reach. Without, few seeds are run and the limits are so wide (six standard deviations) that chance alone does not cross them.
"""
import argparse
import glob
import math
import os
import re
import subprocess
import sys

KINDS = ("in use, bytes", "in use, objects", "allocated, bytes", "allocated, objects")
TRUTH = (0, 1, 2, 3)  # live bytes, live blocks, bytes, blocks: the order in which the target says them
UNSEEN = 2.9957  # -ln(0.05), in intervals: what a site may hold that no sample was taken of
KIB = 1024
ATTEMPTS = 5  # at attach and detach, on a machine so busy that no thread can be stopped in time: they say so, and to try again
EXIT_REFUSED = 3  # include/hi_exit.h


class Failure(Exception):
    pass


class Target:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect("ready")

    def expect(self, word):
        line = self.process.stdout.readline().split()
        if not line or line[0] != word:
            raise Failure(f"the target said {line}, not {word}")
        return line[1:]

    def ask(self, command, word):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.expect(word)

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


class Session:
    """One attach, from the moment that samples are taken to the file."""

    def __init__(self, heapinject, pid, work, options):
        self.heapinject, self.pid, self.prefix = heapinject, pid, os.path.join(work, "out")
        command = [heapinject, "attach", str(pid), "-v", "-q", "-s", "600", "-o", self.prefix] + options
        for _ in range(ATTEMPTS):
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = []
            for line in self.process.stderr:
                said.append(line)
                if "attached to" in line:
                    return
            if self.process.wait() != EXIT_REFUSED or "try again" not in said[-1]:
                break
        raise Failure("attach: " + "".join(said))

    def detach(self):
        return subprocess.run([self.heapinject, "detach", str(self.pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def end(self):
        detach = self.detach()
        said = self.process.stderr.read()
        is_bad = self.process.wait(60) != 0
        for _ in range(ATTEMPTS):
            if "`heapinject detach` again" not in detach.stdout:
                break
            detach, is_bad = self.detach(), False
        if detach.returncode or is_bad:
            raise Failure(f"the session ended badly: {detach.stdout} {said}")
        (heap,) = glob.glob(f"{self.prefix}.{self.pid}.*.heap")
        for path in glob.glob(f"{self.prefix}.{self.pid}.*"):
            if path != heap:
                os.unlink(path)
        return heap


def run_seed(options, target, seed, attach_options, rounds=1):
    """One list of (site, truth[4], reported[4] or None, intervals[4]) and the text of the profile."""
    target.ask("clear", "clear")
    session = Session(options.heapinject, target.process.pid, options.work, attach_options)
    for i in range(rounds):
        told = target.ask(f"go {seed * 1000 + i}", "truth")
    heap = session.end()
    lines = subprocess.run([options.intervals, heap], check=True, capture_output=True, text=True).stdout.splitlines()
    with open(heap) as file:
        text = file.read()
    os.unlink(heap)
    if re.search(r"^# (dropped_allocs|dropped_frees|live_set_full|no_thread_slot) [1-9]", text, re.M):
        raise Failure("records were lost: " + str(re.findall(r"^# (?:dropped.*|live_set.*|no_thread.*)", text, re.M)))
    reported = {}
    for line in lines:
        name, *numbers = line.split()
        reported[name] = [tuple(float(n) for n in numbers[3 * k : 3 * k + 3]) for k in range(4)]
    sites = []
    for word in told:
        name, *truth = word.split(":")
        sites.append((name, [int(t) for t in truth], reported.get(name)))
    return sites, text


class Tally:
    """What came of all seeds at one rate."""

    def __init__(self, interval):
        self.interval, self.inside, self.cases, self.errors, self.truth, self.counts = interval, {}, {}, {}, {}, {}

    def add(self, sites):
        for name, truth, reported in sites:
            for kind in range(4):
                value, low, high = reported[kind] if reported else (0, 0, UNSEEN * self.interval if kind in (0, 2) else math.inf)
                key = name, kind
                self.cases[key] = self.cases.get(key, 0) + 1
                # Ends are rounded to whole numbers where they are printed.
                self.inside[key] = self.inside.get(key, 0) + (low - 1 <= truth[kind] <= high + 1)
                self.errors.setdefault(key, []).append(value - truth[kind])
                self.truth[key] = truth[kind]
            self.counts[name] = truth

    def sites(self):
        return list(self.counts)

    def chance(self, name, kind):
        """Expected samples, and expected blocks that are no samples."""
        size_kind = kind // 2 * 2
        blocks, size = self.counts[name][size_kind + 1], self.counts[name][size_kind]
        if not blocks:
            return 0, 0
        p = -math.expm1(-size / blocks / self.interval)
        return blocks * p, blocks * (1 - p)

    def is_decided_by_chance(self, name, kind):
        return self.chance(name, kind)[0] >= 1 and self.chance(name, kind)[1] >= 1

    def bias(self, key):
        """Mean error and its standard error, in per cent of the truth."""
        errors = self.errors[key]
        mean = sum(errors) / len(errors)
        spread = math.sqrt(sum((e - mean) ** 2 for e in errors) / max(len(errors) - 1, 1) / len(errors))
        return 100 * mean / self.truth[key], 100 * spread / self.truth[key]

    def theory(self, key):
        """Standard error of the mean in per cent, as sampling theory has it: sqrt((1 - p) / (n p)) for blocks of one size."""
        samples, missed = self.chance(*key)
        return 100 * math.sqrt(missed / (samples + missed) / samples / len(self.errors[key]))

    def grain(self, key):
        """What one block more or less, in one of the seeds, does to the mean, in per cent: where misses are rare their number is far from normally distributed."""
        samples, missed = self.chance(*key)
        return 100 / samples / len(self.errors[key]) if missed < samples else 0

    def share(self, kind, chosen):
        keys = [(name, kind) for name in self.sites() if chosen(name, kind)]
        return sum(self.inside[k] for k in keys), sum(self.cases[k] for k in keys)

    def print(self, title):
        print(f"{title}\n{'site':14}{'live bytes':>12}{'samples':>9}" + "".join(f"{k:>28}" for k in ("in use, bytes", "allocated, bytes")))
        for name in self.sites():
            line = f"{name:14}{self.counts[name][0]:12}{self.chance(name, 0)[0]:9.1f}"
            for kind in (0, 2):
                key = name, kind
                inside = 100 * self.inside[key] / self.cases[key]
                line += f"   {inside:5.1f} %" + (" bias %+5.2f +- %.2f %%" % self.bias(key) if self.truth[key] else " " * 20)
            print(line)
        for kind, what in enumerate(KINDS):
            decided, cases = self.share(kind, self.is_decided_by_chance)
            all_inside, all_cases = self.share(kind, lambda *_: True)
            print(f"{what}: the interval holds the truth in {decided} of {cases} cases that chance decides ({100 * decided / max(cases, 1):.1f} %), "
                  f"{all_inside} of all {all_cases} ({100 * all_inside / max(all_cases, 1):.1f} %)")
        sys.stdout.flush()


def check_tally(tally, full, failures):
    for kind in (0, 2):
        inside, cases = tally.share(kind, tally.is_decided_by_chance)
        share, spread = inside / cases, math.sqrt(0.95 * 0.05 / cases)
        low, high = (0.93, 0.97) if full else (0.95 - 6 * spread, 1)
        if not low <= share <= high:
            failures.append(f"{KINDS[kind]} at {tally.interval}: {100 * share:.1f} % of the intervals hold the truth, wanted {100 * low:.1f} to {100 * high:.1f} %")
        for name in tally.sites():
            key = name, kind
            if not tally.truth[key]:
                if any(tally.errors[key]) and kind == 0:
                    failures.append(f"{name}: nothing is live, something is reported")
                continue
            mean, spread = tally.bias(key)
            # Where a miss is rare, or seeds are few, the spread is better known from theory; sizes vary at two sites, which widens it a little.
            limit = 3.5 * max(spread, tally.theory(key)) + 2 * tally.grain(key) if full else 6 * 1.3 * tally.theory(key) + 3 * tally.grain(key) + 0.1
            if abs(mean) > limit:
                failures.append(f"{name}, {KINDS[kind]} at {tally.interval}: bias {mean:+.2f} % +- {spread:.2f} %, limit {limit:.2f} %")


def check_exact(sites, failures):
    before = len(failures)
    for name, truth, reported in sites:
        for kind in range(4):
            if not reported or reported[kind] != (truth[kind],) * 3:
                failures.append(f"{name}, {KINDS[kind]}: {truth[kind]} is true, reported is {reported and reported[kind]} with --sample 1")
    print(f"--sample 1: {len(sites)} sites, bytes and objects, in use and allocated: " + ("exact" if len(failures) == before else "NOT EXACT"))


def check_changes(text, failures):
    changes = re.findall(r"^# interval \d+ (\d+)$", text, re.M)
    drawn = set(re.findall(r"^# row (\d+) ", text, re.M))
    if not changes or len(drawn) < 2:
        failures.append(f"the rate did not change in the middle: changes {changes}, samples drawn with {sorted(drawn)}")
    return drawn


def run(options, target, failures):
    for interval in options.rates:
        tally, done = Tally(interval * KIB), 0
        try:
            for done in range(1, options.seeds + 1):
                tally.add(run_seed(options, target, done, ["-c", f"{interval}K"])[0])
        finally:
            tally.print(f"--sample {interval}K, {done} seeds")
        check_tally(tally, options.full, failures)
    run_changing(options, target, failures)
    check_exact(run_seed(options, target, 1, ["-c", "1"])[0], failures)


def run_changing(options, target, failures):
    # Several rounds, so that there is time for the payload's cost to be seen and the rate to follow.
    tally, drawn = Tally(16 * KIB), set()
    seeds = max(options.seeds // 4, 3)
    for seed in range(seeds):
        sites, text = run_seed(options, target, seed, ["-c", "16K", "--max-overhead", "2%"], rounds=3)
        tally.add(sites)
        drawn |= check_changes(text, failures)
    tally.print(f"--sample 16K --max-overhead 2%, {seeds} seeds; samples drawn with {', '.join(sorted(drawn, key=int))}")
    check_changing(tally, options.full, failures)


def check_changing(tally, full, failures):
    """The rate is the machine's to choose, so theory does not know the spread: only shares, and means against their own."""
    for kind in (0, 2):
        keys = [(name, kind) for name in tally.sites() if tally.truth[name, kind] and tally.chance(name, kind)[1] >= 1]
        inside, cases = sum(tally.inside[k] for k in keys), sum(tally.cases[k] for k in keys)
        spread = math.sqrt(0.95 * 0.05 / cases)
        if inside / cases < 0.95 - (4 if full else 6) * spread:
            failures.append(f"{KINDS[kind]} at a changing rate: {inside} of {cases} intervals hold the truth")
        for key in keys if full else ():
            mean, error = tally.bias(key)
            if abs(mean) > 4 * error + 0.01:
                failures.append(f"{key[0]}, {KINDS[kind]} at a changing rate: bias {mean:+.2f} % +- {error:.2f} %")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--target", "--intervals", "--work"):
        parser.add_argument(name, required=True)
    parser.add_argument("--heapinject", default=os.environ["HEAPINJECT"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rates", type=int, nargs="*", default=[512, 64], help="in KiB")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    failures = []
    target = Target(options.target)
    try:
        run(options, target, failures)
    except Failure as failure:
        failures.append(str(failure))
    finally:
        target.close()
    for failure in failures:
        print("wrong:", failure)
    return 1 if failures else 0


sys.exit(main())
