# SPDX-License-Identifier: MIT
"""truth.py: compares reports with what the target counted itself, for many seeds.

For each seed it attaches to the target, makes the target allocate, and compares. Seeds are
independent, so several targets work on them at a time, two for each CPU, because a session waits
for much of its time. The results are added up in the order of the seeds.

With --full each claim of docs/sampling.md gets a verdict: 93 to 97 % of the 95 % intervals contain
the true value at the sites that chance decides; the mean error of each site, and of all sites
together, cannot be told from zero; --sample 1 is exact. Without --full it runs few seeds, and the
limits are so wide (six standard deviations) that chance alone does not cross them.
"""
import argparse
import concurrent.futures
import glob
import math
import os
import queue
import re
import resource
import subprocess
import sys
import time

KINDS = ("in use, bytes", "in use, objects", "allocated, bytes", "allocated, objects")
# The target says them in the order live bytes, live blocks, bytes, blocks.
TRUTH = (0, 1, 2, 3)
UNSEEN = 2.9957  # -ln(0.05), in intervals: what a site may hold that no sample was taken of
KIB = 1024
# These are for attach and detach. On a busy machine they may not stop a thread in time; they then
# say so, and ask to try again.
ATTEMPTS = 5
EXIT_REFUSED = 3  # include/hi_exit.h
# A budget that is exceeded for this long leads to another rate: twice STATS_EVERY_NS of
# cmd/session/session_loop.c.
CHANGE_S = 0.5
TARGETS_MAX = 4  # each holds 220 MB
# Standard deviations that a mean error may be off: of one of some forty sites, and of all sites
# together.
SITE_LIMIT, ALL_LIMIT = 4, 3.3


class Failure(Exception):
    pass


class Target:
    def __init__(self, path):
        self.process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
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
        command = [
            heapinject, "attach", str(pid), "-v", "-q", "-s", "600", "-o", self.prefix,
        ] + options
        for _ in range(ATTEMPTS):
            self.process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            said = []
            for line in self.process.stderr:
                said.append(line)
                if "attached to" in line:
                    return
            if self.process.wait() != EXIT_REFUSED or "try again" not in said[-1]:
                break
        raise Failure("attach: " + "".join(said))

    def detach(self):
        return subprocess.run(
            [self.heapinject, "detach", str(self.pid)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )

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


def run_seed(options, target, seed, attach_options, rounds=1, pace="go"):
    """A list of (site, truth[4], reported[4] or None, intervals[4]), and the profile's text."""
    target.ask("clear", "clear")
    session = Session(options.heapinject, target.process.pid, options.work, attach_options)
    for i in range(rounds):
        if rounds > 1 and i == rounds - 1:
            time.sleep(CHANGE_S)
        told = target.ask(f"{pace} {seed * 1000 + i}", "truth")
    heap = session.end()
    lines = subprocess.run(
        [options.intervals, heap], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    with open(heap) as file:
        text = file.read()
    os.unlink(heap)
    if re.search(
        r"^# (dropped_allocs|dropped_frees|live_set_full|no_thread_slot) [1-9]", text, re.M
    ):
        raise Failure(
            "records were lost: "
            + str(re.findall(r"^# (?:dropped.*|live_set.*|no_thread.*)", text, re.M))
        )
    reported = {}
    for line in lines:
        name, *numbers = line.split()
        reported[name] = [tuple(float(n) for n in numbers[3 * k : 3 * k + 3]) for k in range(4)]
    sites = []
    for word in told:
        name, *truth = word.split(":")
        sites.append((name, [int(t) for t in truth], reported.get(name)))
    return sites, text


def run_seeds(options, targets, seeds, attach_options, rounds=1, pace="go"):
    """run_seed() of each seed, in order, by as many targets at a time as there are."""
    free = queue.Queue()
    for target in targets:
        free.put(target)

    def run_one(seed):
        target = free.get()
        try:
            return run_seed(options, target, seed, attach_options, rounds, pace)
        finally:
            free.put(target)

    with concurrent.futures.ThreadPoolExecutor(len(targets)) as pool:
        futures = [pool.submit(run_one, seed) for seed in seeds]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


class Tally:
    """What came of all seeds at one rate."""

    def __init__(self, interval):
        self.interval, self.inside, self.cases, self.errors, self.truth, self.counts = (
            interval, {}, {}, {}, {}, {},
        )

    def add(self, sites):
        for name, truth, reported in sites:
            for kind in range(4):
                value, low, high = (
                    reported[kind]
                    if reported
                    else (0, 0, UNSEEN * self.interval if kind in (0, 2) else math.inf)
                )
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
        spread = math.sqrt(
            sum((e - mean) ** 2 for e in errors) / max(len(errors) - 1, 1) / len(errors)
        )
        return 100 * mean / self.truth[key], 100 * spread / self.truth[key]

    def theory(self, key):
        """The standard error of the mean in per cent, by sampling theory: sqrt((1 - p) / (n p)) for
        blocks of one size.
        """
        samples, missed = self.chance(*key)
        return 100 * math.sqrt(missed / (samples + missed) / samples / len(self.errors[key]))

    def deviation_of_all(self, kind):
        """The sum of the mean errors of the sites that chance decides, each in its own standard
        errors, divided by the standard error of that sum. An error that all sites share shows here
        first.
        """
        keys = [
            (name, kind)
            for name in self.sites()
            if self.truth[name, kind] and self.is_decided_by_chance(name, kind)
        ]
        total = sum(
            mean / max(spread, self.theory(key))
            for key in keys
            for mean, spread in (self.bias(key),)
        )
        return total / math.sqrt(len(keys))

    def grain(self, key):
        """What one block more or less, in one of the seeds, does to the mean, in per cent. Where
        misses are rare their number is far from normally distributed.
        """
        samples, missed = self.chance(*key)
        return 100 / samples / len(self.errors[key]) if missed < samples else 0

    def share(self, kind, chosen):
        keys = [(name, kind) for name in self.sites() if chosen(name, kind)]
        return sum(self.inside[k] for k in keys), sum(self.cases[k] for k in keys)

    def print(self, title):
        print(
            f"{title}\n{'site':14}{'live bytes':>12}{'samples':>9}"
            + "".join(f"{k:>28}" for k in ("in use, bytes", "allocated, bytes"))
        )
        for name in self.sites():
            line = f"{name:14}{self.counts[name][0]:12}{self.chance(name, 0)[0]:9.1f}"
            for kind in (0, 2):
                key = name, kind
                inside = 100 * self.inside[key] / self.cases[key]
                line += f"   {inside:5.1f} %" + (
                    " bias %+5.2f +- %.2f %%" % self.bias(key) if self.truth[key] else " " * 20
                )
            print(line)
        for kind, what in enumerate(KINDS):
            decided, cases = self.share(kind, self.is_decided_by_chance)
            all_inside, all_cases = self.share(kind, lambda *_: True)
            print(
                f"{what}: the interval holds the truth in {decided} of {cases} cases that chance "
                f"decides ({100 * decided / max(cases, 1):.1f} %), "
                f"{all_inside} of all {all_cases} ({100 * all_inside / max(all_cases, 1):.1f} %)"
            )
        sys.stdout.flush()


class Verdicts:
    """What is said about each claim; the wrong ones once more at the end."""

    def __init__(self):
        self.wrong = []

    def say(self, is_right, text):
        print(f"{'holds' if is_right else 'WRONG'}: {text}", flush=True)
        if not is_right:
            self.wrong.append(text)


def tail(deviations):
    """Chance to be further off than that."""
    return math.erfc(deviations / math.sqrt(2))


def check_coverage(tally, kind, full, verdicts):
    inside, cases = tally.share(kind, tally.is_decided_by_chance)
    share, spread = inside / cases, math.sqrt(0.95 * 0.05 / cases)
    margin = max(0.02, 2.4 * spread)  # 2 % from 100 seeds on; fewer cannot show as much
    low, high = (0.95 - margin, 0.95 + margin) if full else (0.95 - 6 * spread, 1)
    verdicts.say(
        low <= share <= high,
        f"{tally.interval // KIB}K, {KINDS[kind]}: {inside} of {cases} intervals hold the truth, "
        f"{100 * share:.2f} % (wanted {100 * low:.1f} to {100 * high:.1f} %; "
        f"if it is 95 %, so many cases show it to +- {100 * spread:.2f} %"
        + (
            f", and lie outside of that once in {1 / tail(margin / spread):.0f} runs)"
            if full
            else ")"
        ),
    )


def check_bias(tally, kind, full, verdicts):
    what, limits = f"{tally.interval // KIB}K, {KINDS[kind]}", []
    for name in tally.sites():
        key = name, kind
        if not tally.truth[key]:
            if any(tally.errors[key]) and kind == 0:
                verdicts.say(False, f"{what}: nothing of {name} is live, something is reported")
            continue
        # Where misses are rare or seeds are few, theory gives the better spread. Sizes vary at two
        # sites, which makes it a little wider.
        mean, spread = tally.bias(key)[0], max(tally.bias(key)[1], tally.theory(key))
        limit = (
            SITE_LIMIT * spread + 2 * tally.grain(key)
            if full
            else 6 * 1.3 * tally.theory(key) + 3 * tally.grain(key) + 0.1
        )
        limits.append(
            (abs(mean) / limit, f"{name} by {mean:+.2f} % +- {spread:.2f} %, limit {limit:.2f} %")
        )
    wrong = [text for share, text in limits if share > 1]
    verdicts.say(
        not wrong,
        f"{what}: no site's mean error can be told from zero; furthest off is {max(limits)[1]}"
        + "".join(f"; off is {text}" for text in wrong),
    )
    of_all, limit = tally.deviation_of_all(kind), ALL_LIMIT if full else 6
    verdicts.say(
        abs(of_all) <= limit,
        f"{what}: all sites together are {of_all:+.2f} standard deviations off (wanted at most "
        f"{limit})",
    )


def check_tally(tally, full, verdicts):
    for kind in (0, 2):
        check_coverage(tally, kind, full, verdicts)
        check_bias(tally, kind, full, verdicts)


def check_exact(sites, verdicts):
    wrong = []
    for name, truth, reported in sites:
        for kind in range(4):
            if not reported or reported[kind] != (truth[kind],) * 3:
                wrong.append(
                    f"{name}, {KINDS[kind]}: {truth[kind]} is true, reported is "
                    f"{reported and reported[kind]}"
                )
    verdicts.say(
        not wrong,
        f"--sample 1: {len(sites)} sites, bytes and objects, in use and allocated, exact"
        + "".join(f"; {text}" for text in wrong),
    )


def check_changes(text):
    """The intervals that the samples of a profile were drawn with."""
    drawn = set(re.findall(r"^# row (\d+) ", text, re.M))
    if not re.search(r"^# interval \d+ \d+$", text, re.M) or len(drawn) < 2:
        raise Failure(f"the rate did not change in the middle: samples drawn with {sorted(drawn)}")
    return drawn


def run(options, targets, verdicts):
    for interval in options.rates:
        tally, done = Tally(interval * KIB), 0
        try:
            for sites, _ in run_seeds(
                options, targets, range(1, options.seeds + 1), ["-c", f"{interval}K"]
            ):
                tally.add(sites)
                done += 1
        finally:
            tally.print(f"--sample {interval}K, {done} seeds")
        check_tally(tally, options.full, verdicts)
    run_changing(options, targets, verdicts)
    # This runs one session at a time, and slowly. A reader that shares its CPU may fall behind, and
    # the result is exact only if it misses nothing.
    for sites, _ in run_seeds(
        options, targets[:1], range(1, 4 if options.full else 2), ["-c", "1"], pace="slow"
    ):
        check_exact(sites, verdicts)


def sampled_share(text):
    """Of the target's CPU time, in per cent."""
    payload, target = (
        int(re.search(rf"^# {name}_cpu_ns (\d+)$", text, re.M)[1]) for name in ("payload", "target")
    )
    return 100 * payload / target


def run_changing(options, targets, verdicts):
    # The first rounds show what samples cost; the last one has the rate that follows from it.
    rate, rounds = ["-c", "16K"], 3
    # Whether a budget is exceeded depends on the machine, so each target first shows what it costs
    # without one. Its memory is new to it then, so its share is smaller than it will be later.
    free_share = min(
        sampled_share(text)
        for _, text in run_seeds(options, targets, range(len(targets)), rate, rounds)
    )
    budget = f"{free_share * 2 / 3:.2f}%"
    tally, drawn = Tally(16 * KIB), set()
    seeds = max(options.seeds // 4, 3)
    for sites, text in run_seeds(
        options, targets, range(seeds), [*rate, "--max-overhead", budget], rounds
    ):
        tally.add(sites)
        drawn |= check_changes(text)
    tally.print(
        f"--sample 16K --max-overhead {budget}, {seeds} seeds; samples drawn with "
        f"{', '.join(sorted(drawn, key=int))}"
    )
    check_changing(tally, options.full, verdicts)


def check_changing(tally, full, verdicts):
    """The machine chooses the rate, so theory does not know the spread. This checks only shares,
    and means against their own spread.
    """
    for kind in (0, 2):
        keys = [
            (name, kind)
            for name in tally.sites()
            if tally.truth[name, kind] and tally.chance(name, kind)[1] >= 1
        ]
        inside, cases = sum(tally.inside[k] for k in keys), sum(tally.cases[k] for k in keys)
        low = 0.95 - (4 if full else 6) * math.sqrt(0.95 * 0.05 / cases)
        verdicts.say(
            inside / cases >= low,
            f"changing rate, {KINDS[kind]}: {inside} of {cases} intervals hold the truth, "
            f"{100 * inside / cases:.2f} % (wanted at least {100 * low:.1f} %)",
        )
        for key in keys if full and len(tally.errors[keys[0]]) >= 20 else ():
            mean, error = tally.bias(key)
            if abs(mean) > 4 * error + 0.01:
                verdicts.say(
                    False,
                    f"changing rate, {KINDS[kind]}: mean error of {key[0]} {mean:+.2f} % +- "
                    f"{error:.2f} %",
                )


def main():
    parser = argparse.ArgumentParser()
    for name in ("--target", "--intervals", "--work"):
        parser.add_argument(name, required=True)
    parser.add_argument("--heapinject", default=os.environ["HEAPINJECT"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rates", type=int, nargs="*", default=[512, 64], help="in KiB")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    verdicts, targets, began = Verdicts(), [], time.monotonic()
    try:
        targets += [
            Target(options.target)
            for _ in range(min(2 * len(os.sched_getaffinity(0)), TARGETS_MAX))
        ]
        run(options, targets, verdicts)
    except Failure as failure:
        verdicts.say(False, str(failure))
    finally:
        for target in targets:
            target.close()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{time.monotonic() - began:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU, "
        f"{len(targets)} targets at a time"
    )
    print(
        "all claims hold"
        if not verdicts.wrong
        else "\n".join(f"wrong: {text}" for text in verdicts.wrong)
    )
    return 1 if verdicts.wrong else 0


sys.exit(main())
