# SPDX-License-Identifier: MIT
"""Checks the page of growth over the snapshots of a session in a browser.

  checks.py BROWSER HEAPINJECT DIRECTORY

DIRECTORY has out.PID.NNNN.heap, and the same with hostile names. The page must agree with `report
--json`, `--collapsed` and `--growth` of the same files, and with slopes that are computed here. The
exit status is 77 if the browser cannot start.
"""
import glob
import itertools
import json
import os
import re
import statistics
import subprocess
import sys

from browser import Browser, CannotStart
from page_checks import check, number_of


def is_near(one, other, part=0.002):
    return abs(one - other) <= part * max(abs(one), abs(other)) + 1e-9


class Session:
    def __init__(self, heapinject, directory):
        self.heapinject, self.directory = heapinject, directory
        self.files = sorted(os.path.basename(path) for path in glob.glob(f"{directory}/out.*.heap"))

    def report(self, *arguments):
        return subprocess.run(
            [self.heapinject, "report", *arguments], cwd=self.directory, check=True,
            capture_output=True, text=True,
        ).stdout

    def shown(self, browser, name, files, *arguments, **wishes):
        self.report("--growth", *arguments, "-o", name, *files)
        check(os.path.getsize(f"{self.directory}/{name}") < 1000000, name, "is large")
        return browser.open(f"file://{self.directory}/{name}", **wishes)

    def read(self):
        """By snapshot: time, total with its interval, and what the functions hold that allocate."""
        self.time, self.total, self.held = [], [], {"leak": [], "cache": [], "drain": []}
        for file in self.files:
            data = json.loads(self.report(file, "--json"))
            self.time.append(data["meta"]["duration_ns"] / 1e9)
            self.total.append(data["totals"][3])
            stacks = [line.rsplit(" ", 1) for line in self.report(file, "--collapsed").splitlines()]
            for name, values in self.held.items():
                values.append(
                    sum(int(value) for stack, value in stacks if stack.split(";")[-1] == name)
                )
        self.time = [time - self.time[0] for time in self.time]


def slope_of(time, value):
    """Theil and Sen's."""
    return statistics.median(
        (b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.combinations(zip(time, value), 2)
    )


def check_quiet(page):
    check(not page.complaints, "the browser complains:", page.complaints)
    check(
        len(page.requests) == 1 and page.requests[0].startswith("file:"),
        "it has asked for",
        page.requests,
    )


def click_element(page, selector):
    page.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
    x, y = page.evaluate(
        f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect(); "
        f"return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
    )
    page.click(x, y)
    page.settle()


def rows(page):
    """The table as one reads it, the total first."""
    return page.evaluate(
        "Array.from(document.querySelectorAll('#stacks tbody tr'), (row) => "
        "({ name: row.cells[1].querySelector('summary, span').textContent,\n"
        "        calls: Array.from(row.querySelectorAll('li'), (call) => call.textContent), "
        "verdict: row.cells[2].textContent, slope: row.cells[3].textContent,\n"
        "        interval: row.cells[4].textContent, last: row.cells[5].textContent, isDrawn: "
        "row.cells[0].querySelector('input').checked }))"
    )


def row_of(page, name):
    return next(row for row in rows(page) if row["name"].split(" ")[0] == name)


def box_of(name):
    """A selector of the checkbox in a stack's row."""
    return f"#stacks input[aria-label^='Draw {name}']"


def drawing(page, chart="stacks-chart"):
    """What a chart shows, as a reader with a ruler measures it: ticks by their text, and the
    corners of the shapes of each series.
    """
    return page.evaluate(
        "((svg) => ({ ticks: Array.from(svg.querySelectorAll('text[text-anchor=end]'), (t) => "
        "[t.textContent, Number(t.getAttribute('y')) - 4]),\n"
        "        series: Array.from(svg.querySelectorAll(':scope > g[clip-path]'), (group) => "
        "Object.fromEntries(Array.from(group.querySelectorAll('path'),\n"
        "            (path) => [path.getAttribute('class'), path.getAttribute('d')"
        ".replace('Z', '').split(/[ML]/).slice(1)"
        ".map((point) => point.split(' ').map(Number))]))) }))"
        f"(byId('{chart}'))"
    )


def ruler(drawn):
    """From heights in the chart to values, by the labels of its axis."""
    (low_text, low), (high_text, high) = drawn["ticks"][0], drawn["ticks"][-1]
    check(number_of(low_text) == 0, "the axis begins with", low_text)
    return lambda y: number_of(high_text) * (low - y) / (low - high)


def is_drawn_as(drawn, points, values):
    """Within a pixel."""
    value_of, pixel = ruler(drawn), abs(ruler(drawn)(0) - ruler(drawn)(1))
    return len(points) == len(values) and all(
        abs(value_of(y) - value) <= pixel for (_, y), value in zip(points, values)
    )


# ---- what it shows ----


def check_header(page, session):
    text = page.evaluate("document.querySelector('header').innerText")
    pid = session.files[0].split(".")[1]
    for part in (
        "target", f"pid {pid}", f"{len(session.files)} over ", "Slope of the total", "95% interval",
        "Peak", "about ",
    ):
        check(part in text, f"the header has no {part!r}:", text)
    wanted = slope_of(session.time, [total["value"] for total in session.total])
    check(
        is_near(number_of(page.evaluate("byId('sum').textContent")), wanted, 0.01),
        page.evaluate("byId('sum').textContent"), "is not", wanted,
    )


def check_values(page, session):
    check(
        all(
            is_near(shown, wanted)
            for shown, wanted in zip(page.evaluate("data.time"), session.time)
        ),
        "times are",
        page.evaluate("data.time"),
    )
    values, intervals = (
        page.evaluate("whole.value"),
        page.evaluate("data.time.map((_, i) => whole.interval(i))"),
    )
    for shown, interval, wanted in zip(values, intervals, session.total, strict=True):
        check(abs(shown - wanted["value"]) <= 1, "the total is", shown, "not", wanted)
        check(
            is_near(interval["low"], wanted["low"]) and is_near(interval["high"], wanted["high"]),
            "its interval is",
            interval,
            "not",
            wanted,
        )
    for name, wanted in session.held.items():
        shown = page.evaluate(
            f"stacks.find((series) => series.name.startsWith({name + ' '!r})).value"
        )
        check(
            len(shown) == len(wanted) and all(abs(a - b) <= 2 for a, b in zip(shown, wanted)),
            name,
            "is",
            shown,
            "not",
            wanted,
        )


def check_table(page, session):
    for name, verdict in (("leak", "grows"), ("cache", "steady"), ("drain", "shrinks")):
        row, wanted = row_of(page, name), slope_of(session.time, session.held[name])
        check(row["verdict"] == verdict, name, row["verdict"])
        low, high = (number_of(bound) for bound in row["interval"].split("\u2026"))
        check(low <= wanted <= high, name, row["interval"], "is not around", wanted)
        check(is_near(number_of(row["slope"]), wanted, 0.01), name, row["slope"], "is not", wanted)
        check(
            is_near(number_of(row["last"]), session.held[name][-1], 0.01), name, row["last"],
            "is not", session.held[name][-1],
        )
        check(
            any(call.startswith("serve target.c:") for call in row["calls"]) or name == "drain",
            name,
            "is called by",
            row["calls"],
        )
    shown = rows(page)
    check(
        shown[0]["name"] == "Total" and shown[1]["name"].startswith("leak"),
        "the first ones are",
        shown[:2],
    )
    text = session.report("--growth", *session.files)
    verdicts = {
        line.split("  ")[-1].split(" < ")[0].strip(): line.split()[0]
        for line in text.splitlines()
        if " < " in line
    }
    check(
        all(verdicts[row["name"].split(" < ")[0]] == row["verdict"] for row in shown[1:]),
        verdicts,
        "in the text, but",
        shown,
    )


def check_lines(page, session):
    (stacks, whole_chart), total = (drawing(page), drawing(page, "whole-chart")), session.total
    check(
        [row["name"].split(" ")[0] for row in rows(page) if row["isDrawn"]] == ["Total", "leak"],
        "drawn are",
        rows(page),
    )
    (leak,), (whole,) = stacks["series"], whole_chart["series"]
    last = page.evaluate(
        "({ leak: stacks[0].slope * data.time.at(-1) + stacks[0].level, "
        "total: whole.slope * data.time.at(-1) + whole.level })"
    )
    for what, drawn, points, wanted in (
        ("leak", stacks, leak["line"], session.held["leak"]),
        ("the total", whole_chart, whole["line"], [value["value"] for value in total]),
        (
            "its band",
            whole_chart,
            whole["band"],
            [value["high"] for value in total] + [value["low"] for value in reversed(total)],
        ),
        ("leak's slope", stacks, leak["fit"][1:], [last["leak"]]),
        ("the total's slope", whole_chart, whole["fit"][1:], [last["total"]]),
    ):
        check(
            is_drawn_as(drawn, points, wanted), what, "is drawn at",
            [ruler(drawn)(y) for _, y in points], "not", wanted,
        )
    across = [x for x, _ in whole["line"]]
    parts = [(x - across[0]) / (across[-1] - across[0]) for x in across]
    check(
        all(abs(part - time / session.time[-1]) < 0.002 for part, time in zip(parts, session.time)),
        "times are drawn at",
        parts,
    )
    labels = page.evaluate(
        "Array.from(document.querySelectorAll('#plot .chart text.label'), "
        "(label) => label.textContent)"
    )
    check(
        [label.split(" ")[0] for label in sorted(labels)] == ["Total", "leak"],
        "the lines are called",
        labels,
    )


# ---- what one does with it ----


def check_choices(page, session):
    click_element(page, box_of("cache"))
    drawn = drawing(page)
    check(
        len(drawn["series"]) == 2
        and is_drawn_as(drawn, drawn["series"][1]["line"], session.held["cache"]),
        "cache is not drawn",
    )
    page.evaluate(f"document.querySelector(\"{box_of('cache')}\").focus()")
    page.press(" ")
    page.settle()
    check(len(drawing(page)["series"]) == 1, "Space does not take it away")
    height = (
        "[byId('whole-chart').getBoundingClientRect().height, "
        "byId('cursor').getBoundingClientRect().height]"
    )
    before = page.evaluate(height)
    click_element(page, "#whole input")
    after = page.evaluate(height)
    check(
        before[0] > 100 and after[0] == 0 and abs(before[1] - after[1] - before[0]) < 1,
        "the total's chart, and the cursor over it, are",
        before,
        "high, then",
        after,
    )
    click_element(page, "#whole input")
    check(page.evaluate(height) == before, "the total does not come back")
    for switch, shape in (("#bands + span", "band"), ("#slopes + span", "fit")):
        for is_there in (True, False, True):
            shown = [
                shape in series
                for chart in ("whole-chart", "stacks-chart")
                for series in drawing(page, chart)["series"]
            ]
            check(shown == [is_there] * 2, switch, "leads to", shown, "of", shape)
            click_element(page, switch)
        click_element(page, switch)
    click_element(page, "#rows tr:first-child summary")
    check(page.evaluate("document.querySelector('#rows details').open"), "the calls do not open")


def moment(page):
    return page.evaluate("[Number(byId('cursor').ariaValueNow), byId('cursor').ariaValueText]")


def check_cursor(page, session):
    count = len(session.files)
    page.evaluate("byId('tab-growth').focus(); scrollTo(0, 0)")
    for _ in range(15):
        page.press("Tab")
        if page.evaluate("document.activeElement.id") == "cursor":
            break
    check(page.evaluate("document.activeElement.id") == "cursor", "Tab does not lead to the chart")
    for key, wanted in (
        ("Home", 1), ("ArrowLeft", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2),
        ("End", count), ("ArrowRight", count),
    ):
        page.press(key)
        now, text = moment(page)
        total, leak = session.total[wanted - 1]["value"], session.held["leak"][wanted - 1]
        check(now == wanted and f"snapshot {wanted} of {count}" in text, key, "leads to", now, text)
        figures = re.search(r"Total ([\d.]+\s\w+), 95% interval .*; leak \S+ ([\d.]+\s\w+)", text)
        check(
            figures
            and is_near(number_of(figures[1]), total, 0.01)
            and is_near(number_of(figures[2]), leak, 0.01),
            text,
            "is not",
            total,
            leak,
        )
    x, y = page.evaluate(
        "(() => { const b = byId('stacks-chart').getBoundingClientRect(); "
        "return [b.x + chart.x(data.time[4]) + 2, b.y + b.height / 2]; })()"
    )
    page.move(x, y)
    page.settle()
    check(
        moment(page)[0] == 5 and "snapshot 5 of" in page.evaluate("byId('moment').textContent"),
        "the pointer leads to",
        moment(page),
    )


def check_twin(page, session):
    click_element(page, "#values summary")
    head = page.evaluate(
        "Array.from(document.querySelectorAll('#values thead th'), (cell) => cell.textContent)"
    )
    body = page.evaluate(
        "Array.from(document.querySelectorAll('#values tbody tr'), (row) => "
        "Array.from(row.cells, (cell) => cell.textContent))"
    )
    check(
        [text.split(" ")[0] for text in head] == ["Time", "Total", "leak"]
        and len(body) == len(session.files),
        "the chart's table has",
        head,
        len(body),
    )
    for cells, total, leak in zip(body, session.total, session.held["leak"]):
        check(
            is_near(number_of(cells[1].split(" ")[0]), total["value"], 0.01)
            and is_near(number_of(cells[2].split(" ")[0]), leak, 0.01),
            cells,
            "is not",
            total,
            leak,
        )


def check_order(page):
    click_element(page, "#stacks thead th:nth-child(6) button")
    last = [number_of(row["last"]) for row in rows(page)[1:]]
    check(
        last == sorted(last, reverse=True)
        and page.evaluate("document.querySelector('#stacks th[aria-sort=descending]').textContent")
        == "At last",
        "sorted as",
        last,
    )
    click_element(page, "#stacks thead th:nth-child(2) button")
    names = [row["name"] for row in rows(page)[1:]]
    check(
        names == sorted(names)
        and page.evaluate("document.querySelector('#stacks th[aria-sort=ascending]').textContent")
        == "Stack",
        "sorted as",
        names,
    )


# Relative luminance and contrast, as WCAG defines them: of texts, and of lines.
CONTRAST = (
    "(() => {\n"
    "    const probe = document.createElement('canvas')"
    ".getContext('2d', { willReadFrequently: true });\n"
    "    const luminance = (color) => {\n"
    "        probe.fillStyle = color;\n"
    "        probe.fillRect(0, 0, 1, 1);\n"
    "        const [r, g, b] = Array.from(probe.getImageData(0, 0, 1, 1).data, "
    "(byte) => byte / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);\n"
    "        return 0.2126 * r + 0.7152 * g + 0.0722 * b;\n"
    "    };\n"
    "    const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05)"
    " / (Math.min(luminance(a), luminance(b)) + 0.05);\n"
    "    const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name)"
    ".trim();\n"
    "    const lines = SERIES_HUES.map((_, slot) => colorOf({ slot })).concat(colorOf(whole))"
    ".map((color) => contrast(color, css('--card')));\n"
    "    return [Math.min(...['--ink', '--quiet', '--less', '--more']"
    ".map((name) => contrast(css(name), css('--card')))), Math.min(...lines)];\n"
    "})()"
)


def check_themes(page, session, browser):
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    for _ in range(2):
        texts, lines = page.evaluate(CONTRAST)
        check(texts >= 4.5 and lines >= 3, "contrast is", texts, lines)
        click_element(page, "#theme")
    check(page.evaluate(background) == light, "the button does not lead back")
    other = session.shown(browser, "dark.html", session.files, dark=True)
    check(
        other.evaluate(background) != light
        and other.evaluate("byId('theme').ariaPressed") == "true",
        "the system's wish changes nothing",
    )
    check_quiet(other)


def check_names(page):
    """What a screen reader is told."""
    nodes = [
        node
        for node in page.send("Accessibility.getFullAXTree")["nodes"]
        if not node.get("ignored")
    ]
    found = {}
    for node in nodes:
        found.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in (
        "image", "slider", "table", "columnheader", "rowheader", "checkbox", "button", "group",
    ):
        check(found.get(role), f"nothing has the role {role}:", sorted(found))
        check(
            role in ("group", "rowheader") or all(found[role]),
            f"a {role} without a name:",
            found[role],
        )
    check(
        any(
            name.startswith("Bytes in use over time") and "at last" in name
            for name in found["image"]
        ),
        found["image"],
    )
    check(
        "Snapshot" in found["slider"] and "Stacks" in found["table"],
        found["slider"],
        found["table"],
    )
    check(
        "Draw Total" in found["checkbox"]
        and any(name.startswith("Draw leak") for name in found["checkbox"]),
        found["checkbox"],
    )


# ---- other pages ----


def check_hostile(session, browser):
    page = session.shown(browser, "hostile.html", ["hostile." + file for file in session.files])
    name = "</script><img src=x onerror=alert(1)>&quot;"
    check(
        page.evaluate("document.images.length") == 0
        and page.evaluate("document.scripts.length") == 2
        and not page.evaluate("document.querySelector('h1 b')"),
        "a name has become an element",
    )
    check(
        name in row_of(page, "leak")["name"]
        and "<b>bold</b>" in page.evaluate("byId('title').textContent"),
        "names are not shown",
    )
    check_quiet(page)


def check_untimed(session, browser):
    """Many files of another tool, which has counted every allocation and gives no times."""
    files = [f"untimed.{i:03}.heap" for i in range(300)]
    for i, file in enumerate(files):
        with open(f"{session.directory}/{file}", "w", encoding="ascii") as out:
            out.write(
                f"heap profile: {10 + i}: {(10 + i) * 1000} [0: 0] @ heap_v2/1\n"
                f"{10 + i}: {(10 + i) * 1000} [0: 0] @ 0x11 0x99\n\nMAPPED_LIBRARIES:\n"
            )
    page = session.shown(browser, "untimed.html", files)
    check(
        "do not say when" in page.evaluate("byId('notice').textContent")
        and "240 of 300 snapshots are drawn" in page.evaluate("byId('notice').textContent"),
        page.evaluate("byId('notice').textContent"),
    )
    check(
        page.evaluate("[data.time[0], data.time.at(-1), data.time.length]") == [0, 299, 240]
        and page.evaluate("stacks[0].value.at(-1)") == 309000,
        "drawn are others",
    )
    check(
        page.evaluate("byId('sum').textContent").replace("\u202f", "") == "+1000B/file"
        and row_of(page, "0x10")["verdict"] == "grows",
        page.evaluate("byId('sum').textContent"),
    )
    check(
        page.evaluate("byId('bands-switch').hidden")
        and not any("band" in series for series in drawing(page)["series"]),
        "what is exact has a band",
    )
    check_quiet(page)
    few = session.shown(browser, "few.html", files[:4], "--inuse-objects")
    check(
        "fewer than 6" in few.evaluate("byId('notice').textContent")
        and row_of(few, "0x10")["verdict"] == "too few files",
        few.evaluate("byId('notice').textContent"),
    )
    check(
        row_of(few, "0x10")["last"] == "13" and row_of(few, "0x10")["interval"] == "? \u2026 ?",
        row_of(few, "0x10"),
    )
    check_quiet(few)


def check_negative(session, browser):
    """Totals below zero, as in files of differences, are inside the chart."""
    values = [3000, 2000, 1000, 0, -1000, -2000]
    files = [f"negative.{i}.heap" for i in range(len(values))]
    for value, file in zip(values, files):
        with open(f"{session.directory}/{file}", "w", encoding="ascii") as out:
            out.write(
                "heap profile: 1: 3000 [0: 0] @ heap_v2/1\n"
                f"{1 if value >= 0 else -1}: {value} [0: 0] @ 0x11\n\nMAPPED_LIBRARIES:\n"
            )
    page = session.shown(browser, "negative.html", files)
    chart = drawing(page, "whole-chart")
    heights = [y for _, y in chart["series"][0]["line"]]
    ticks = {number_of(text): y for text, y in chart["ticks"]}
    check(
        max(ticks.values()) >= heights[-1] > ticks[0] > heights[0] >= min(ticks.values()),
        "drawn at", heights, "with ticks", ticks,
    )
    check_quiet(page)


def check_ways(session):
    """All ways to ask for it lead to the same page, and to no other."""
    page = session.report("--growth", "--html", *session.files)
    check(
        "<title>heapinject</title>" in page and '"isGrowth":true' in page,
        "--growth --html gives",
        page[:80],
    )
    check(
        page == session.report("--html", "--growth", *session.files),
        "--html --growth gives something else",
    )
    session.report("--growth", "-o", "same.html", *session.files)
    with open(f"{session.directory}/same.html", encoding="utf-8") as file:
        check(page == file.read(), "-o same.html gives something else")
    session.report("--growth", "-o", "same.txt", *session.files)
    with open(f"{session.directory}/same.txt", encoding="utf-8") as file:
        check(file.read().startswith("Snapshots:"), "-o same.txt gives no text")


def main():
    program, heapinject, directory = sys.argv[1:]
    session = Session(heapinject, directory)
    check_ways(session)
    session.read()
    try:
        browser = Browser(program, directory)
    except CannotStart as reason:
        print(reason)
        sys.exit(77)
    with browser:
        print(browser.version)
        page = session.shown(browser, "growth.html", session.files)
        check_header(page, session)
        check_values(page, session)
        check_names(page)
        check_table(page, session)
        check_lines(page, session)
        check_choices(page, session)
        check_cursor(page, session)
        check_twin(page, session)
        check_order(page)
        check_themes(page, session, browser)
        check_quiet(page)
        check_hostile(session, browser)
        check_untimed(session, browser)
        check_negative(session, browser)


main()
