# SPDX-License-Identifier: MIT
"""The ledger as tables: for the terminal, and in Markdown to be quoted.

Stops come from the receipts: the longest stop of one thread of the target, and the largest sum of
all stops of all threads in one session. The stops that the suite itself sees in /proc must not be
longer (run).
"""
from ledger import upper_bound

COLUMNS = (
    "target", "loader", "hook", "event", "entries, slots", "cycles", "gave up", "failures",
    "longest gap, us", "longest stop, us", "stops of a session, us", "EINTR", "lost signals",
    "failure rate below (95 %)",
)
TEXTS = 5  # columns that are


def percent(rate):
    return f"{100 * rate:.3g} %"


def line_of(row, loader, hook, event, cell):
    bound = percent(upper_bound(len(cell["failures"]), cell["cycles"]))
    hooked = f"{cell['entries']}, {cell['slots']}" if cell["entries"] or cell["slots"] else ""
    return (
        row, loader, hook, event, hooked, cell["cycles"], cell["gave_up"], len(cell["failures"]),
        cell["gap_us"] or "", cell.get("stop_us") or "", cell.get("stops_us") or "", cell["eintr"],
        cell["lost"], bound,
    )


def total(name, loader, hook, event, cells):
    """One line for many cells."""
    whole = {
        "cycles": 0, "gave_up": 0, "failures": [], "gap_us": 0, "stop_us": 0, "stops_us": 0,
        "entries": 0, "slots": 0, "eintr": 0, "lost": 0,
    }
    for cell in cells:
        for key in ("cycles", "gave_up", "failures", "eintr", "lost"):
            whole[key] = whole[key] + cell[key]
        for key in ("gap_us", "stop_us", "stops_us", "entries", "slots"):
            whole[key] = max(whole[key], cell.get(key, 0))
    return line_of(name, loader, hook, event, whole)


def totals(done, storms):
    lines = []
    for loader, hook in dict.fromkeys(
        (loader, hook)
        for (row, loader, hook, event), _ in done
        if row in storms and event == "cycle"
    ):
        cells = [
            cell
            for (row, *by, event), cell in done
            if row in storms and by == [loader, hook] and event == "cycle"
        ]
        lines.append(total("all storms", loader, hook, "cycle", cells))
    for hook, name in dict.fromkeys((hook, event) for (_, _, hook, event), _ in done):
        lines.append(
            total(
                "all", "both", hook, name,
                [cell for (_, _, by, event), cell in done if (by, event) == (hook, name)],
            )
        )
    return lines


def text_table(lines):
    widths = [max(len(str(line[i])) for line in [COLUMNS, *lines]) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            str(value).ljust(width) if i < TEXTS else str(value).rjust(width)
            for i, (value, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in [COLUMNS, *lines]
    )


def markdown_table(lines):
    rows = [COLUMNS, ("---",) * TEXTS + ("---:",) * (len(COLUMNS) - TEXTS), *lines]
    return "\n".join("| " + " | ".join(str(value) for value in row) + " |" for row in rows)


def stages(done, event):
    """In which stage of a session the event struck, over all targets."""
    counts = {}
    for (*_, name), cell in done:
        if name == event:
            for stage, count in cell["stages"].items():
                counts[stage] = counts.get(stage, 0) + count
    return ", ".join(
        f"{stage} {count}" for stage, count in sorted(counts.items(), key=lambda item: -item[1])
    )


def most(done, key):
    """Where a figure of the receipts is the largest, over all cells."""
    (where, cell) = max(done, key=lambda each: each[1].get(key, 0))
    return f"{cell.get(key, 0) / 1000:.2f} ms ({' '.join(where)})"


def summarize(cells, events, storms, facts):
    """Returns (text for the terminal, Markdown, (passed, failed, skipped)). cells are those of the
    whole ledger; facts are lines about the run.
    """
    split = [(tuple(key.split(" ")), cell) for key, cell in sorted(cells.items())]
    done = [(key, cell) for key, cell in split if cell["cycles"]]
    not_done = [
        (" ".join(key), cell["skipped"] or "not reached in the time allowed")
        for key, cell in split
        if not cell["cycles"]
    ]
    skipped = [
        f"{reason}: {', '.join(name for name, why in not_done if why == reason)}"
        for reason in dict.fromkeys(why for _, why in not_done)
    ]
    failed = [(key, cell) for key, cell in done if cell["failures"]]
    rows, sums = [line_of(*key, cell) for key, cell in done], totals(done, storms)
    struck = [
        f"{event.name} struck while: {where}"
        for event in events
        for where in [stages(done, event.name)]
        if where
    ]
    events_run = [
        f"{event.name}: {event.text}"
        for event in events
        if any(key[-1] == event.name for key, _ in done)
    ]
    failures = [
        f"{' '.join(key)}: {reason.splitlines()[0]}"
        for key, cell in failed
        for reason in cell["failures"][:5]
    ]
    builds = sorted({build for _, cell in done for build in cell["builds"]})
    if any(cell.get("stop_us") for _, cell in done):
        facts = [
            *facts,
            f"longest stop of any thread: {most(done, 'stop_us')}; "
            f"most that all stops of a session add up to: {most(done, 'stops_us')}",
        ]
    facts = [
        *facts,
        f"binary: {', '.join(builds)}"
        + (f" ({len(builds)} different ones are summed)" if len(builds) > 1 else ""),
    ]

    text = [text_table(rows + sums), "", *struck, *facts]
    text += ["", "skipped:", *skipped] if skipped else []
    text += ["", "failures:", *failures] if failures else []
    markdown = [
        "# Torture", "", *(f"- {fact}" for fact in facts), "", "## Events", "",
        *(f"- {line}" for line in events_run + struck), "", "## Totals", "", markdown_table(sums),
        "", "## Targets", "", markdown_table(rows), "",
    ]
    markdown += ["## Skipped", "", *(f"- {line}" for line in skipped), ""] if skipped else []
    markdown += ["## Failures", "", *(f"- {line}" for line in failures), ""] if failures else []
    return (
        "\n".join(text),
        "\n".join(markdown),
        (len(done) - len(failed), len(failed), len(not_done)),
    )
