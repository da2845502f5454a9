# SPDX-License-Identifier: MIT
"""The limits that heapinject sets itself, and what a run reached of them.

A limit without a figure counts as not met, because the run did not measure it.
"""
import statistics

from budget import SUBJECTS
from figures import MemoryRow, ServerRow, budget_row, micro_row, noise, ways

PIPELINED = ("SET -P 16", "GET -P 16", "LPUSH -P 16")
NOISE_MAX = 0.5  # a noise that spans more than that hides what anybody would call a difference


class Line:
    """One limit: its text, the figure reached, and the verdict."""

    def __init__(self, number, text, reached="", verdict="not measured"):
        self.number, self.text, self.reached, self.verdict = number, text, reached, verdict


def verdict_of(is_met):
    return "met" if is_met else "NOT met"


def at_most(number, text, value, limit, form, noise_found=0):
    """noise_found is what the same measurement showed where there was nothing to show. A figure
    that this noise could have moved across the limit, in either direction, decides nothing.
    """
    if value is None:
        return Line(number, text)
    if noise_found > limit or abs(value - limit) < noise_found:
        return Line(
            number, text, f"{form.format(value)}, noise {form.format(noise_found)}",
            "NOT met" if value - noise_found > limit else "not resolved",
        )
    return Line(number, text, form.format(value), verdict_of(value <= limit))


def micro_line(results, number, text, workload, name, figure, limit, form):
    """figure is the name of an attribute of figures.Micro. Its noise is that of the two
    configurations without a profiler, in the unit of the figure.
    """
    row = micro_row(results, workload, name)
    value = row and getattr(row, figure)
    if value is None:
        return Line(number, text)
    scale = {
        "added": 1,
        "share": 1 / row.base_cpu,
        "per_sample": value / row.added if row.added else 0,
    }[figure]
    return at_most(number, text, value, limit, form, added_by_nobody(results, workload) * scale)


def added_by_nobody(results, workload):
    """ns: what the configurations without a profiler seem to add."""
    control = [micro_row(results, workload, other) for other in ("none", "none_again")]
    return max(
        (abs(other.added) for other in control if other and other.added is not None), default=0
    )


def ways_line(results, workload, threads):
    found, text = (
        ways(results, workload),
        f"W1, {threads}, 512K: hooked by entry at most 1 ns more per pair than by slot",
    )
    return at_most(10, text, found.more, 1, "{:.2f} ns", found.noise) if found else Line(10, text)


def micro_lines(results):
    for workload, threads in (("w1_1t", "1 thread"), ("w1_2t", "2 threads")):
        yield micro_line(
            results, 1, f"W1, {threads}, 512K: at most 0.9 ns added per pair", workload, "hi_512K",
            "added", 0.9, "{:.2f} ns",
        )
        yield micro_line(
            results, 1, f"W1, {threads}, 64K: at most 2.5 ns added per pair", workload, "hi_64K",
            "added", 2.5, "{:.2f} ns",
        )
    yield micro_line(
        results,
        2,
        "W2, no frame pointers: a 20-frame sample costs at most 700 ns (all that is added at 64K)",
        "w2",
        "hi_64K",
        "per_sample",
        700,
        "{:.0f} ns",
    )
    yield micro_line(
        results, 2, "W2, 512K: at most 2 % of an operation", "w2", "hi_512K", "share", 0.02,
        "{:.1%}",
    )
    yield micro_line(
        results, 2, "W2, 64K: at most 10 % of an operation", "w2", "hi_64K", "share", 0.10, "{:.1%}"
    )
    yield micro_line(
        results, 3, "W2, exact: at most 250 ns added per replace", "w2", "hi_exact", "added", 250,
        "{:.0f} ns",
    )
    row, text = micro_row(results, "w2", "hi_exact"), "W2, exact: no drops, or their share shown"
    yield (
        Line(3, text, f"{row.drops:.2%} dropped", "met")
        if row and row.drops is not None
        else Line(3, text)
    )


def exact_redis_lines(results):
    texts = (
        "redis, exact: 0.80 of its throughput or better",
        "redis, exact: p99 at most 1.5 times",
        "redis, exact: no drops, or their share shown",
    )
    if not results.get("redis", "hi_exact"):
        return [Line(3, text) for text in texts]
    rows = [ServerRow(results, "redis", "hi_exact", test) for test in PIPELINED]
    slowest, latest = (
        min(rows, key=lambda row: row.ratio("rps")),
        max(rows, key=lambda row: row.ratio("p99")),
    )
    lines = [
        Line(
            3, texts[0], f"{slowest.ratio('rps'):.2f} ({slowest.test})",
            verdict_of(slowest.ratio("rps") >= 0.8),
        ),
        Line(
            3, texts[1], f"{latest.ratio('p99'):.2f} ({latest.test})",
            verdict_of(latest.ratio("p99") <= 1.5),
        ),
    ]
    drops, events = rows[0].drops, rows[0].events
    return lines + [
        Line(3, texts[2], f"{drops / events:.2%} dropped", "met") if events else Line(3, texts[2])
    ]


def noise_line(results, server):
    text = f"{server.name}, 512K: throughput and p99 inside the A/A noise of this run"
    outside, inside, widest = [], [], 0
    for test in server.tests:
        for what in ("rps", "p99"):
            band = noise(results, server.name, test, what)
            if not band or not results.get(server.name, "hi_512K"):
                return Line(4, text)
            ratio = ServerRow(results, server.name, "hi_512K", test).ratio(what)
            # A ratio that is better than the noise is no fault.
            is_inside = band[0] <= ratio if what == "rps" else ratio <= band[1]
            widest = max(widest, band[1] / band[0] - 1)
            (inside if is_inside else outside).append(
                f"{test} {what} {ratio:.2f} (A/A {band[0]:.2f}..{band[1]:.2f})"
            )
    if outside:
        return Line(4, text, "; ".join(outside), "NOT met")
    return Line(
        4, text, f"all {len(inside)} ratios; the widest noise spans {widest:.0%}",
        "met" if widest <= NOISE_MAX else "not resolved",
    )


def memory_lines(results):
    rows = [
        MemoryRow(results, target, "hi_512K")
        for target in ("w1_1t", "w1_2t", "w2", "w2_fp", "redis")
        if results.get(target, "hi_512K")
    ]
    rows = [row for row in rows if row.added is not None]
    most = max(rows, key=lambda row: row.added, default=None)
    text = "512K: at most 4 MB resident added to the target"
    yield (
        Line(8, text, f"{most.added:.1f} MB ({most.target})", verdict_of(most.added <= 4))
        if most
        else Line(8, text)
    )
    redis = next((row for row in rows if row.target == "redis"), None)
    yield at_most(
        8, "redis, 512K: injector and analyzer at most 40 MB resident",
        redis and redis.injector + redis.analyzer, 40, "{:.1f} MB",
    )


def attach_lines(results):
    for target, limit_ms, what in (
        ("attach_redis", 60, "redis"),
        ("big_64t", 200, "the big program with 64 threads"),
    ):
        trials = results.get(target, "hi_512K")
        value = statistics.median(trials[0].attach_s) * 1000 if trials else None
        yield at_most(
            9, f"attach to {what} takes at most {limit_ms} ms", value, limit_ms, "{:.0f} ms"
        )


def budget_lines(results):
    for subject, name, limit, what in (
        ("budget_idle", "hi_auto", 0.002, "an idle redis, default interval"),
        ("budget_redis", "hi_512K", 0.005, "redis under load, 512K"),
    ):
        row = budget_row(results, subject, name)
        yield at_most(
            11, f"injector and analyzer use at most {limit:.1%} of a core beside {what}",
            row and row.own, limit, "{:.2%}",
        )
    text = "default interval: the payload keeps to its budget beside each"
    rows = [row for row in (budget_row(results, name, "hi_auto") for name in SUBJECTS) if row]
    most = max(rows, key=lambda row: row.used, default=None)
    yield (
        Line(12, text, f"{most.used:.2f} of it ({SUBJECTS[most.subject][0]})",
             verdict_of(most.used <= 1))
        if most
        else Line(12, text)
    )


def lines(results, servers):
    return [
        *micro_lines(results),
        *exact_redis_lines(results),
        *(noise_line(results, server) for server in servers),
        *memory_lines(results),
        *attach_lines(results),
        *budget_lines(results),
        *(ways_line(results, *which) for which in (("w1_1t", "1 thread"), ("w1_2t", "2 threads"))),
    ]
