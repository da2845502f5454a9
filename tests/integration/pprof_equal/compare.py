#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares reports by two programs on the same profiles: compare.py DIRECTORY

DIRECTORY/reports lists the reports, one a line, with tabs between: KIND (text or tree); SLACK; flat
or cum, by which it is sorted; and a description. For report N, from 0 on, DIRECTORY/N.theirs and
DIRECTORY/N.ours are the outputs of `go tool pprof -unit=b` and `heapinject report --unit b`. Rows,
their order, their percentages, callers and callees must agree. A figure may differ by SLACK bytes
(or objects), because pprof adds up samples that it rounded one by one. SLACK is 0 for exact
profiles.

The known differences (docs/formats.md), and what this does with them:

- Code without a name: pprof has one row per module, "[NAME]"; we have one per function. This leaves
  out such rows, and calls from and to them; the sum of their flat values must agree. It does not
  compare sum% then, nor what is dropped or shown in all.
- pprof prints file and line behind the function. This leaves them out.
"""
import re
import sys

UNNAMED = re.compile(r"^\[.*\]$|^<unknown>$|^\S+\+0x[0-9a-f]+$|^0x[0-9a-f]+$|^main \[derived\]$")
PLACE = re.compile(r"  \S+:\d+$")
ROW = re.compile(
    r"^ *(-?[\d.]+)[A-Za-z]* +([\d.e+-]+)% +([\d.e+-]+)% +(-?[\d.]+)[A-Za-z]* +([\d.e+-]+)%  (.*)$"
)
NODE = re.compile(
    r"^ *(-?[\d.]+)[A-Za-z]* +([\d.e+-]+)% +([\d.e+-]+)% +(-?[\d.]+)[A-Za-z]* +([\d.e+-]+)% +\| "
    r"(.*)$"
)
EDGE = re.compile(r"^ *(-?[\d.]+)[A-Za-z]* +([\d.e+-]+)% \|   (.*)$")
SHOWN = re.compile(
    r"^Showing nodes accounting for (-?[\d.]+)[A-Za-z]*, ([\d.e+-]+)% of (-?[\d.]+)[A-Za-z]* total"
)

problems = []


class Row:
    def __init__(self, match, is_ours):
        self.flat, self.flat_percent, self.sum_percent, self.cum, self.cum_percent = map(
            float, match.groups()[:5]
        )
        self.name = PLACE.sub("", match.group(6)) if is_ours else match.group(6)
        self.calls, self.called = [], []  # (value, percent, name)


class Report:
    def __init__(self, path, is_ours):
        self.rows, self.notes, self.shown, self.total = [], [], 0, 0
        callers = []
        with open(path, encoding="utf-8") as file:
            for line in map(str.rstrip, file):
                row, edge, shown = (
                    NODE.match(line) or ROW.match(line),
                    EDGE.match(line),
                    SHOWN.match(line),
                )
                if line.startswith("-----"):
                    callers = []
                    current = None
                elif row:
                    current = Row(row, is_ours)
                    current.called = callers
                    self.rows.append(current)
                elif edge:
                    (callers if current is None else current.calls).append(
                        (float(edge.group(1)), float(edge.group(2)), edge.group(3))
                    )
                elif shown:
                    self.shown, self.total = float(shown.group(1)), float(shown.group(3))
                elif line.startswith(("Dropped", "Showing top")):
                    self.notes.append(re.sub(r"\(.*", "", line))
        if not self.total:
            problems.append(f"no report in {path}")
        self.nameless = sum(row.flat for row in self.rows if is_unnamed(row.name))
        self.has_nameless = any(is_unnamed(row.name) for row in self.rows)
        self.rows = [row for row in self.rows if not is_unnamed(row.name)]


def is_unnamed(name):
    return UNNAMED.match(re.sub(r"^[0-9a-f]{16} ", "", name)) is not None


def check(what, theirs, ours, slack):
    if abs(theirs - ours) > slack:
        problems.append(f"{what}: pprof {theirs:.15g}, ours {ours:.15g}")


def check_percent(what, theirs, ours, whole, slack):
    check(
        what + ", percent", theirs, ours, 0.011 + 200 * slack / abs(whole) if slack and whole else 0
    )


def check_order(theirs, ours, by_cum, slack):
    """The same rows in the same order, but for such as are equally heavy within the slack."""
    their_names, our_names = [row.name for row in theirs], [row.name for row in ours]
    if their_names == our_names:
        return
    heavy = {row.name for row in theirs + ours if max(abs(row.flat), abs(row.cum)) > slack}
    for name in sorted((set(their_names) ^ set(our_names)) & heavy):
        problems.append(f"only in {'pprof' if name in their_names else 'ours'}: {name}")
    by_name = {row.name: abs(row.cum if by_cum else row.flat) for row in theirs}
    weights = [by_name[name] for name in our_names if name in by_name]
    if not slack or any(after > before + 2 * slack for before, after in zip(weights, weights[1:])):
        problems.append(
            "another order: "
            + next(f"{a} / {b}" for a, b in zip(their_names + [""], our_names + [""]) if a != b)
        )


def check_edges(name, whole, theirs, ours, slack):
    theirs, ours = (
        [
            edge
            for edge in edges
            if abs(edge[0]) > slack and not is_unnamed(edge[2].replace(" (inline)", ""))
        ]
        for edges in (theirs, ours)
    )
    if not slack and [edge[2] for edge in theirs] != [edge[2] for edge in ours]:
        problems.append(
            f"{name}: pprof {[edge[2] for edge in theirs]}, ours {[edge[2] for edge in ours]}"
        )
    ours_by_name = {edge[2]: edge for edge in ours}
    if not slack and len(theirs) != len(ours):
        problems.append(f"{name}: {len(theirs)} and {len(ours)} calls")
    for value, percent, other in theirs:
        if other not in ours_by_name and abs(value) <= 2 * slack:
            continue
        if other not in ours_by_name:
            problems.append(f"{name}: no call from or to {other}")
            continue
        check(f"{name}, {other}", value, ours_by_name[other][0], slack)
        check_percent(f"{name}, {other}", percent, ours_by_name[other][1], whole, slack)


def compare(kind, theirs, ours, slack, by_cum):
    check("total", theirs.total, ours.total, slack)
    is_whole = not theirs.has_nameless and not ours.has_nameless
    if is_whole:
        check("shown", theirs.shown, ours.shown, slack)
        if not slack and theirs.notes != ours.notes:
            problems.append(f"pprof says {theirs.notes}, we {ours.notes}")
    else:
        check("code without names", theirs.nameless, ours.nameless, slack)
    check_order(theirs.rows, ours.rows, by_cum, slack)
    ours_by_name = {row.name: row for row in ours.rows}
    same_order = [row.name for row in theirs.rows] == [row.name for row in ours.rows]
    for row in theirs.rows:
        if row.name not in ours_by_name:
            continue
        mine = ours_by_name[row.name]
        check(f"{row.name}, flat", row.flat, mine.flat, slack)
        check(f"{row.name}, cum", row.cum, mine.cum, slack)
        check_percent(f"{row.name}, flat", row.flat_percent, mine.flat_percent, theirs.total, slack)
        check_percent(f"{row.name}, cum", row.cum_percent, mine.cum_percent, theirs.total, slack)
        if is_whole and same_order:
            check_percent(
                f"{row.name}, sum", row.sum_percent, mine.sum_percent, theirs.total, slack
            )
        if kind == "tree":
            check_edges(row.name, row.cum, row.called, mine.called, slack)
            check_edges(row.name, row.cum, row.calls, mine.calls, slack)
    if not theirs.rows:
        problems.append("nothing to compare")


def main():
    directory, rows, failed = sys.argv[1], 0, 0
    with open(f"{directory}/reports", encoding="utf-8") as file:
        reports = [line.rstrip("\n").split("\t") for line in file]
    for number, (kind, slack, order, what) in enumerate(reports):
        theirs, ours = (
            Report(f"{directory}/{number}.theirs", False),
            Report(f"{directory}/{number}.ours", True),
        )
        compare(kind, theirs, ours, float(slack), order == "cum")
        rows += len(theirs.rows)
        if problems:
            failed += 1
            print(f"{what}:", *problems[:20], sep="\n    ")
            problems.clear()
    print(f"{rows} rows of {len(reports) - failed} reports agree, {failed} reports differ")
    sys.exit(failed > 0 or not reports)


if __name__ == "__main__":
    main()
