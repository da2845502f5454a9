# SPDX-License-Identifier: MIT
"""The tables, as Markdown that is also readable as plain text, and their part of
docs/benchmarks.md.
"""
import os
import platform
import statistics
import subprocess

import gate_report
from acceptance import lines
from budget import SUBJECTS, TOOLS as BUDGET_TOOLS
from figures import ServerRow, budget_row, memory_rows, micro_rows, noise, server_rows, ways
from micro import WORKLOADS
from processes import read
from profilers import BY_NAME
from servers import SERVERS
from standstill import TARGETS, TOOLS

BEGIN, END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"
PACKAGES = (
    "libc6", "gcc", "redis-server", "memcached", "nginx", "wrk", "libjemalloc2",
    "libgoogle-perftools4", "heaptrack", "bpftrace",
)


def table(head, rows, left=1):
    """Aligned; the first columns, so many, to the left, the others to the right."""
    cells = [head] + [
        [cell if isinstance(cell, str) else str(cell) for cell in row] for row in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]

    def line(row):
        return (
            "| "
            + " | ".join(
                cell.ljust(width) if column < left else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths))
            )
            + " |"
        )

    rule = (
        "|"
        + "|".join(
            "-" * (width + 2) if column < left else "-" * (width + 1) + ":"
            for column, width in enumerate(widths)
        )
        + "|"
    )
    return "\n".join([line(cells[0]), rule] + [line(row) for row in cells[1:]])


def number(value, form="{:.1f}"):
    return "" if value is None else form.format(value)


def versions():
    found = []
    for package in PACKAGES:
        done = subprocess.run(
            ["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True,
            check=False,
        )
        if done.returncode == 0 and done.stdout:
            found.append(f"{package} {done.stdout}")
    return ", ".join(found)


def commit():
    def git(*words):
        return subprocess.run(
            ["git", *words], capture_output=True, text=True, check=False
        ).stdout.strip()

    changed = [
        line
        for line in git("status", "--porcelain", "--untracked-files=no").splitlines()
        if not line.endswith("docs/benchmarks.md")
    ]
    return (git("log", "-1", "--format=%h of %cs") or "unknown") + (
        ", with changes that are not committed" if changed else ""
    )


def machine():
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in read("/proc/cpuinfo").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    memory_kb = int(read("/proc/meminfo").split()[1])
    system = next(
        (
            line.split("=", 1)[1].strip('"')
            for line in read("/etc/os-release").splitlines()
            if line.startswith("PRETTY_NAME=")
        ),
        "unknown",
    )
    return (
        f"{model}, {os.cpu_count()} CPUs, {memory_kb / 1024 / 1024:.0f} GB; "
        f"Linux {platform.release()}, {system}"
    )


def surroundings(run):
    load = " and ".join(f"{value:.1f}" for value in run.load)
    rows = [
        ("machine", machine()),
        ("versions", versions()),
        ("heapinject", f"commit {commit()}"),
        (
            "run",
            f"{run.began}, {run.minutes:.0f} minutes, {run.options.rounds} rounds, "
            f"windows of {run.options.window:g} s",
        ),
        (
            "load average before and after",
            load
            + (
                ": other programs ran, wall times and latencies say little"
                if run.load[0] > 1
                else ""
            ),
        ),
    ]
    return table(["what", "this run"], rows, 2)


def accepted(results):
    rows = [
        [str(line.number), line.text, line.reached, line.verdict]
        for line in lines(results, SERVERS)
    ]
    return table(["line", "limit", "reached", "verdict"], rows, 4)


def micro_section(results):
    head = [
        "configuration", "CPU ns/op", "wall ns/op", "base", "added CPU ns", "least .. most",
        "added", "added wall ns", "ns/sample", "its own clock", "dropped", "n",
    ]
    for workload in WORKLOADS:
        rows = []
        for row in micro_rows(results, workload):
            base = (
                "own windows"
                if BY_NAME[row.name].attach or row.name.startswith("none")
                else BY_NAME[row.name].base
            )
            spread = f"{min(row.each):+.2f} .. {max(row.each):+.2f}" if row.each else ""
            rows.append(
                [
                    row.name, number(row.cpu, "{:.2f}"), number(row.wall, "{:.2f}"), base,
                    number(row.added, "{:+.2f}"), spread, number(row.share, "{:+.1%}"),
                    number(row.added_wall, "{:+.2f}"), number(row.per_sample, "{:.0f}"),
                    number(row.own_per_sample, "{:.0f}"), number(row.drops, "{:.2%}"), row.count,
                ]
            )
        if rows:
            yield f"### {workload.name}: {workload.what}\n\n{table(head, rows)}"


def ways_section(results):
    """The two ways to hook."""
    rows = []
    for found, name in ((ways(results, workload.name), workload.name) for workload in WORKLOADS):
        if found:
            quarters = (
                statistics.quantiles(found.each, n=4) if len(found.each) > 1 else found.each * 3
            )
            rows.append(
                [
                    name, *(number(added, "{:+.2f}") for added in (found.slot, found.entry)),
                    number(found.more, "{:+.2f}"), f"{quarters[0]:+.2f} .. {quarters[2]:+.2f}",
                    number(found.ratio, "{:.3f}"), len(found.each),
                ]
            )
    if rows:
        yield "### Hooked by slot and by entry, in turn in one process, 512K\n\n" + table(
            [
                "workload", "slot adds, CPU ns", "entry adds", "entry less slot",
                "middle half of these", "ns/op, entry to slot", "n",
            ],
            rows,
        )
    rows = []
    for server in SERVERS:
        if results.get(server.name, "hi_slot") and results.get(server.name, "hi_entry"):
            for test in server.tests:
                slot, entry = (
                    ServerRow(results, server.name, name, test) for name in ("hi_slot", "hi_entry")
                )
                rows.append(
                    [
                        server.name,
                        test,
                        *(
                            number(entry.ratio(what) / slot.ratio(what), "{:.3f}")
                            for what in ("rps", "p99", "cpu")
                        ),
                        entry.count,
                    ]
                )
    if rows:
        yield (
            "### Servers hooked by entry, in parts of what they do hooked by slot, 512K\n\n"
            + table(["server", "test", "requests/s", "p99", "CPU us/request", "n"], rows, 2)
        )


def server_section(results):
    head = [
        "test", "configuration", "requests/s", "ratio", "p99 ms", "ratio", "CPU us/request",
        "ratio", "dropped", "n",
    ]
    for server in SERVERS:
        rows = []
        for row in server_rows(results, server):
            dropped = (
                "" if row.drops is None else f"{row.drops / row.events:.2%}" if row.events else "0"
            )
            rows.append(
                [
                    row.test, row.name, number(row.rps, "{:,.0f}"),
                    number(row.ratio("rps"), "{:.2f}"), number(row.p99, "{:.3f}"),
                    number(row.ratio("p99"), "{:.2f}"), number(row.cpu, "{:.2f}"),
                    number(row.ratio("cpu"), "{:.2f}"), dropped, row.count,
                ]
            )
        if not rows:
            continue
        bands = [
            (
                test,
                noise(results, server.name, test, "rps"),
                noise(results, server.name, test, "p99"),
            )
            for test in server.tests
        ]
        text = "; ".join(
            f"{test}: requests/s {rps[0]:.2f}..{rps[1]:.2f}, p99 {p99[0]:.2f}..{p99[1]:.2f}"
            for test, rps, p99 in bands
            if rps and p99
        )
        yield (
            f"### {server.name}\n\n{table(head, rows, 2)}\n\n"
            f"A/A noise, ratios of two loads without a profiler: {text}."
        )


def memory_section(results):
    rows = [
        [
            row.target, row.name, number(row.added), number(row.left), number(row.injector),
            number(row.analyzer), number(row.attach_ms, "{:.0f}"),
        ]
        for row in memory_rows(
            results, [workload.name for workload in WORKLOADS] + [server.name for server in SERVERS]
        )
    ]
    if rows:
        yield "### Memory\n\n" + table(
            [
                "target", "configuration", "added to it, MB", "left in it, MB", "injector, MB",
                "analyzer, MB", "attach, ms",
            ],
            rows,
            2,
        )


def budget_section(results):
    rows = []
    for subject, (what, _) in SUBJECTS.items():
        for row in (budget_row(results, subject, tool) for tool in BUDGET_TOOLS):
            if row:
                shares = (row.target, row.payload, row.injector, row.analyzer, row.own)
                rows.append(
                    [
                        what, row.name, *(number(share, "{:.2%}") for share in shares),
                        number(row.used, "{:.2f}") if row.name == "hi_auto" else "",
                        number(row.slower, "{:+.1%}"), row.count,
                    ]
                )
    if rows:
        yield "### CPU time of a session, in parts of one core\n\n" + table(
            [
                "beside", "configuration", "the process", "payload", "injector", "analyzer",
                "both", "payload, of its budget", "added wall time", "n",
            ],
            rows,
            2,
        )


def standstill_section(results):
    rows = []
    for target in TARGETS:
        for tool in TOOLS:
            for figures in results.get(target, tool):
                for event, gaps, rests, seconds in (
                    ("attach", figures.attach, figures.attach_rest, figures.attach_s),
                    ("detach", figures.detach, figures.detach_rest, figures.detach_s),
                ):
                    waits = [
                        [gap.whole_ms for gap in gaps],
                        [gap.stopped_ms for gap in gaps],
                        [gap.whole_ms for gap in rests],
                    ]
                    rows.append(
                        [
                            target,
                            tool,
                            event,
                            number(statistics.median(seconds) * 1000, "{:.0f}"),
                            number(max(seconds) * 1000, "{:.0f}"),
                            *(
                                number(shape(wait), "{:.2f}")
                                for wait in waits
                                for shape in (statistics.median, max)
                            ),
                            len(gaps),
                        ]
                    )
    if rows:
        head = [
            "target", "tool", "event", "takes, ms", "at most", "longest gap, ms", "worst",
            "less waits for a CPU", "worst", "at rest", "worst", "n",
        ]
        yield "### Attach and detach\n\n" + table(head, rows, 3)


def troubles(results):
    rows = [f"- {name}: skipped, {reason}" for name, reason in results.skipped.items()]
    for (target, name), reasons in results.failures.items():
        tried = len(reasons) + len(results.get(target, name))
        rows.append(f"- {target}, {name}: failed {len(reasons)} of {tried} times: {reasons[0]}")
    if rows:
        yield "### Skipped and failed\n\n" + "\n".join(rows)


def text(run):
    results = run.results
    parts = [
        surroundings(run),
        "### Limits, and what this run reached\n\n" + accepted(results),
        "### The way of a call that is not sampled\n\n" + gate_report.text(run.options.image),
        *micro_section(results),
        *ways_section(results),
        *server_section(results),
        *budget_section(results),
        *memory_section(results),
        *standstill_section(results),
        *troubles(results),
    ]
    return "\n\n".join(parts)


def write(path, figures, marks=(BEGIN, END)):
    """Between the two marks; what people wrote around them stays."""
    begin, end = marks
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(begin)
    after = rest.split(end)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n\n{figures}\n\n{end}{after}")
