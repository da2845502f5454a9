# SPDX-License-Identifier: MIT
"""Checks the pages of two sessions of the target in a browser.

  checks.py BROWSER HEAPINJECT DIRECTORY

DIRECTORY has first.heap, second.heap, hostile.heap and empty.heap. The pages must agree with
`report --collapsed` and `--text` of the same files. The exit status is 77 if the browser cannot
start.
"""
import os
import re
import subprocess
import sys

from browser import Browser, CannotStart
from page_checks import check, number_of

TYPES = ["alloc-objects", "alloc-space", "inuse-objects", "inuse-space"]
IN_USE = 3


class Session:
    def __init__(self, heapinject, directory):
        self.heapinject, self.directory = heapinject, directory

    def report(self, *arguments):
        return subprocess.run(
            [self.heapinject, "report", *arguments], cwd=self.directory, check=True,
            capture_output=True, text=True,
        ).stdout

    def view(self, name, *arguments):
        """Writes a file whose ending says which view, and returns its address."""
        self.report(*arguments, "-o", name)
        check(os.path.getsize(f"{self.directory}/{name}") < 1000000, name, "is large")
        return f"file://{self.directory}/{name}"

    def stacks(self, heap, kind):
        lines = (
            line.rsplit(" ", 1)
            for line in self.report(heap, "--collapsed", f"--{kind}").splitlines()
        )
        return [(stack.split(";"), int(value)) for stack, value in lines]

    def shown(self, browser, name, *arguments, **wishes):
        address = self.view(name, *arguments)
        return browser.open(address + "#tab=flame" * name.endswith(".html"), **wishes)


def check_quiet(page):
    check(not page.complaints, "the browser complains:", page.complaints)
    check(
        len(page.requests) == 1 and page.requests[0].startswith("file:"),
        "it has asked for",
        page.requests,
    )


def of_function(stacks, name):
    return sum(value for stack, value in stacks if name in stack)


def click_element(page, selector):
    page.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
    x, y = page.evaluate(
        f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect(); "
        f"return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
    )
    page.click(x, y)
    page.settle()


# The node to which a list of names leads from main on, as an expression.
def node_at(*names):
    return (
        f"{list(names)!r}.reduce((at, name) => profile.tree.children[at]"
        ".find((c) => profile.nameOf(profile.tree.functionOf[c]) === name),"
        " profile.tree.functionOf.findIndex((f) => profile.nameOf(f) === 'main'))"
    )


def click_node(page, node):
    page.evaluate(f"graph.scrollTo(mainLayout(), {node})")
    x, y = page.evaluate(
        f"(() => {{ const b = graph.box(mainLayout(), {node}), "
        "c = graph.canvas.getBoundingClientRect();"
        " return [c.x + b.left + b.width / 2, c.y + b.top - graph.host.scrollTop + 10]; })()"
    )
    page.click(x, y)
    page.settle()


def focused(page):
    return page.evaluate(
        "document.activeElement.getAttribute('role') === 'treeitem' "
        "? document.activeElement.getAttribute('aria-label').split(',')[0] : null"
    )


def path(page):
    return page.evaluate(
        "Array.from(document.querySelectorAll('#path button, #path .here'), (step) => "
        "step.textContent)"
    )


# ---- what it shows ----


def check_header(page, session):
    text = page.evaluate("document.querySelector('header').innerText")
    report = session.report("first.heap")
    pid = re.search(r"\(pid (\d+)\)", report)[1]
    for part in (
        "target", f"pid {pid}", "one sample per 64", "Complete stacks", "95% interval",
        "In use, bytes",
    ):
        check(part in text, f"the header has no {part!r}:", text)
    shown, total = (
        page.evaluate("document.getElementById('sum').textContent"),
        re.search(r"^Total: (\S+)", report, re.M)[1],
    )
    check(number_of(shown) == number_of(total), shown, "is not", total)


def check_totals(page, session):
    for index, kind in enumerate(TYPES):
        stacks = session.stacks("first.heap", kind)
        total, shown = (
            sum(value for _, value in stacks),
            page.evaluate(f"profile.tree.now[{index}][0]"),
        )
        check(abs(total - shown) <= len(stacks), kind, shown, "is not", total)


def check_table(page, session):
    """The same figures as in the graph, and as in the report: with intervals."""
    click_element(page, "#tab-table")
    if page.evaluate("!document.querySelector('.more').hidden"):
        click_element(page, ".more")
    rows = page.evaluate(
        "Array.from(document.querySelectorAll('#functions tbody tr'), (row) => "
        "({ name: row.cells[0].textContent,\n"
        "        self: Number(row.cells[3].dataset.value), total: "
        "Number(row.cells[4].dataset.value), interval: row.cells[5].textContent }))"
    )
    check(
        sum(row["self"] for row in rows) == page.evaluate("profile.tree.now[state.type][0]"),
        "the table's sum is another than the graph's",
    )
    stacks = session.stacks("first.heap", "inuse-space")
    for row in rows:
        wanted = of_function(stacks, row["name"])
        check(
            abs(wanted - row["total"]) <= len(stacks), row["name"], row["total"], "is not", wanted
        )
    text = session.report(
        "first.heap", "--text", "--intervals", "-n", "1000", "--nodefraction", "0"
    )
    compared = set()
    for row in rows:
        line = next(
            (
                line
                for line in text.splitlines()
                if re.search(rf"  {re.escape(row['name'])}(  | \(|$)", line)
            ),
            None,
        )
        if line:
            low, high = re.findall(r"(\S+) \.\. (\S+)", line)[1]
            shown = row["interval"].split("\u2026")
            for value, wanted in zip(shown, (low, high)):
                check(
                    abs(number_of(value) - number_of(wanted)) < 0.002 * number_of(high),
                    row["name"], "is", shown, "not", low, high,
                )
            compared.add(row["name"])
    check(
        compared >= {"keep_small", "keep_medium", "keep_seldom", "serve", "main"},
        "only these intervals are compared:",
        compared,
    )
    check(
        page.evaluate("document.querySelector('#functions th[aria-sort=descending]').textContent")
        == "Self",
        "not sorted by self",
    )
    check(
        [row["self"] for row in rows] == sorted((row["self"] for row in rows), reverse=True),
        "not sorted",
    )
    click_element(page, "#functions thead th:nth-child(1) button")
    names = page.evaluate(
        "Array.from(document.querySelectorAll('#functions tbody th'), (cell) => cell.textContent)"
    )
    check(
        names == sorted(names)
        and page.evaluate("document.querySelector('#functions thead th').ariaSort") == "ascending",
        "not sorted by name:",
        names,
    )


def check_types(page, session):
    click_element(page, "#types input[value='0']")
    check(
        page.evaluate("document.getElementById('sum-label').textContent") == "Allocated, objects",
        "another type is shown",
    )
    objects = sum(value for _, value in session.stacks("first.heap", "alloc-objects"))
    shown = number_of(page.evaluate("document.getElementById('sum').textContent"))
    check(abs(shown / objects - 1) < 0.001, shown, "is not", objects)
    click_element(page, f"#types input[value='{IN_USE}']")


# ---- what one does with it ----


def check_search(page, session):
    stacks = session.stacks("first.heap", "inuse-space")
    page.press("/")
    check(page.evaluate("document.activeElement.id") == "search", "/ does not lead to the search")
    page.send("Input.insertText", text="keep_(small|medium)$")
    page.settle()
    wanted = sum(
        value for stack, value in stacks if {"keep_small", "keep_medium"} & set(stack)
    ) / sum(value for _, value in stacks)
    shown = page.evaluate("document.getElementById('matched').textContent")
    check(abs(float(shown.split("%")[0]) - 100 * wanted) <= 0.051, shown, "is not", wanted)
    check(
        page.evaluate("document.querySelectorAll('#functions tbody tr').length") == 2,
        "the table shows others, too",
    )
    # What lies below a match counts once.
    page.evaluate("byId('search').select()")
    page.send("Input.insertText", text="^(serve|parse)$")
    wanted = sum(value for stack, value in stacks if {"serve", "parse"} & set(stack)) / sum(
        value for _, value in stacks
    )
    shown = page.evaluate("document.getElementById('matched').textContent")
    check(abs(float(shown.split("%")[0]) - 100 * wanted) <= 0.051, shown, "is not", wanted)
    page.evaluate("byId('search').select()")
    page.send("Input.insertText", text="(")
    check(
        page.evaluate("byId('search').ariaInvalid") == "true", "( is taken for a regular expression"
    )
    page.press("Escape")
    check(
        page.evaluate("byId('matched').textContent") == "" and focused(page),
        "Escape does not end the search",
    )


def check_zoom(page):
    outer, inner = node_at("serve"), node_at("serve", "serve")
    whole = page.evaluate("graph.window.to - graph.window.from")
    click_node(page, outer)
    check(path(page)[-2:] == ["main", "serve"], "a click leads to", path(page))
    check(
        page.evaluate(
            f"graph.window.to - graph.window.from === profile.tree.now[state.type][{outer}]"
        ),
        "it is not as wide as the graph",
    )
    click_node(page, inner)
    check(path(page)[-3:] == ["main", "serve", "serve"], "a click leads to", path(page))
    page.press("Escape")
    check(path(page)[-2:] == ["main", "serve"], "Escape leads to", path(page))
    click_element(page, "#home")
    check(page.evaluate("graph.window.to - graph.window.from") == whole, "Reset does not show all")


def check_keyboard(page):
    children = page.evaluate(
        f"mainLayout().children[{node_at()}].map((node) => "
        "profile.nameOf(profile.tree.functionOf[node]))"
    )
    page.evaluate(f"focusOn(mainLayout(), {node_at()}, true)")
    seen = []
    for key in (
        "ArrowUp", "ArrowRight", "ArrowLeft", "ArrowDown", "Enter", "Backspace", "Enter", "Home",
    ):
        page.press(key)
        seen.append((key, focused(page), path(page)[-1:]))
    first, second = children[:2]
    wanted = [
        ("ArrowUp", first, []), ("ArrowRight", second, []), ("ArrowLeft", first, []),
        ("ArrowDown", "main", []), ("Enter", "main", ["main"]), ("Backspace", "all", []),
        ("Enter", "all", []), ("Home", "all", []),
    ]
    check(seen == wanted, "keys lead to", seen, "not to", wanted)
    page.evaluate("document.querySelector('[value=icicle]').click(); graph.item.focus()")
    page.press("ArrowDown")
    check(focused(page) not in (None, "all"), "down leads to", focused(page), "in an icicle")
    page.press("ArrowUp")
    check(focused(page) == "all", "up leads to", focused(page), "in an icicle")
    page.evaluate("document.querySelector('[value=flame]').click()")


def check_sandwich(page, session):
    stacks = session.stacks("first.heap", "inuse-space")
    page.evaluate(f"focusOn(mainLayout(), {node_at('parse')}, true)")
    page.press("s")
    page.settle()
    check(
        page.evaluate("byId('graph-title').textContent") == "Callers and callees"
        and path(page) == ["parse"],
        "S shows",
        path(page),
    )
    read = (
        "Object.fromEntries({0}.children[0].map((n) => [profile.nameOf({0}.functionOf[n]), "
        "{0}.now[state.type][n]]))"
    )
    callers, callees = (
        page.evaluate(read.format(f"graph.bands[{band}].layout.tree")) for band in (0, 1)
    )
    wanted_callers, wanted_callees = {}, {}
    for stack, value in stacks:
        if "parse" in stack:
            at = stack.index("parse")
            wanted_callers[stack[at - 1]] = wanted_callers.get(stack[at - 1], 0) + value
            wanted_callees[stack[at + 1]] = wanted_callees.get(stack[at + 1], 0) + value
    for shown, wanted in ((callers, wanted_callers), (callees, wanted_callees)):
        check(shown.keys() == wanted.keys(), shown, "are not", wanted)
        check(
            all(abs(shown[name] - value) <= len(stacks) for name, value in wanted.items()),
            shown,
            "are not",
            wanted,
        )
    check(
        wanted_callers.keys() == {"main", "serve"}
        and wanted_callees.keys() == {"keep_small", "keep_medium"},
        wanted_callers,
        wanted_callees,
    )
    page.press("ArrowUp")
    check(focused(page) in wanted_callers, "up leads to", focused(page))
    page.press("Enter")
    check(path(page) and path(page)[0] in wanted_callers, "Enter leads to", path(page))
    page.press("Escape")
    page.press("Escape")
    check(
        page.evaluate("byId('graph-title').textContent") == "Call tree", "Escape does not lead back"
    )


# Relative luminance and contrast, as WCAG defines them.
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
    "    const fills = [...profile.name.keys()].map((f) => colors.ofFunction(f))"
    ".concat([-1, -0.5, -0.1, 0, 0.1, 0.5, 1].map((c) => colors.ofChange(c)));\n"
    "    const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name)"
    ".trim();\n"
    "    return Math.min(...fills.map((fill) => contrast(fill, colors.text)), "
    "...['--ink', '--quiet', '--accent', '--less', '--more'].flatMap((name) =>\n"
    "        [contrast(css(name), css('--card')), contrast(css(name), css('--page'))]));\n"
    "})()"
)


def check_themes(page, session, browser):
    background = "getComputedStyle(document.body).backgroundColor"
    check(page.evaluate(CONTRAST) >= 4.5, "contrast is", page.evaluate(CONTRAST), "when light")
    light = page.evaluate(background)
    click_element(page, "#theme")
    dark = page.evaluate(background)
    check(
        light != dark and page.evaluate("byId('theme').ariaPressed") == "true",
        "the button changes nothing",
    )
    check(page.evaluate(CONTRAST) >= 4.5, "contrast is", page.evaluate(CONTRAST), "when dark")
    click_element(page, "#theme")
    check(page.evaluate(background) == light, "it does not go back")
    # By the system's wish; and with motion, which ends where it has to.
    other = session.shown(browser, "dark.html", "first.heap", dark=True, calm=False)
    check(other.evaluate(background) == dark, "the system's wish changes nothing")
    click_node(other, node_at("serve"))
    other.evaluate(
        "new Promise((done) => { const look = () => graph.window.to - graph.window.from === "
        "profile.tree.now[state.type]"
        f"[{node_at('serve')}] ? done() : requestAnimationFrame(look); look(); }})"
    )
    check_quiet(other)


def names_by_role(page):
    """What a screen reader is told of the tab that is open."""
    found = {}
    for node in page.send("Accessibility.getFullAXTree")["nodes"]:
        if not node.get("ignored"):
            name = node.get("name", {}).get("value", "")
            found.setdefault(node["role"]["value"], []).append(name)
    return found


def check_names(page):
    click_element(page, "#tab-table")
    table = names_by_role(page)
    click_element(page, "#tab-flame")
    found = names_by_role(page)
    for role in ("table", "columnheader", "rowheader"):
        check(table.get(role), f"nothing has the role {role}:", sorted(table))
    for role in (
        "tree", "treeitem", "searchbox", "radio", "toolbar", "status", "button", "group", "tab",
        "tablist", "tabpanel", "combobox",
    ):
        check(found.get(role), f"nothing has the role {role}:", sorted(found))
    for role in (
        "tree", "treeitem", "searchbox", "radio", "button", "toolbar", "tab", "tablist", "tabpanel",
        "combobox",
    ):
        check(all(found[role]), f"a {role} without a name:", found[role])
    check(all(table["table"] + table["columnheader"]), "a table or a column without a name:", table)
    check(
        "Flame graph" in found["tree"][0]
        and "Functions" in table["table"]
        and found["treeitem"][0].startswith("all, "),
        found["treeitem"],
    )
    for name in ("Sample type", "Shape", "Order of siblings"):
        check(name in found["group"], name, "is not in", found["group"])


# ---- other pages ----


def check_hostile(session, browser):
    page = session.shown(browser, "hostile.html", "hostile.heap")
    name = "</script><img src=x onerror=alert(1)>&quot;"
    check(page.evaluate("profile.name").count(name) == 1, "its name is lost")
    check(
        page.evaluate("document.images.length") == 0
        and page.evaluate("document.scripts.length") == 2,
        "it has become an element",
    )
    check(
        name in page.evaluate("document.querySelector('#functions tbody').textContent"),
        "its name is not shown",
    )
    check_quiet(page)


def check_empty(session, browser):
    page = session.shown(browser, "empty.html", "empty.heap")
    check(
        not page.evaluate("byId('nothing').hidden")
        and page.evaluate("byId('sum').textContent") == "0\u202fB",
        "an empty profile is not told",
    )
    page.evaluate("graph.item.focus()")
    for key in ("ArrowUp", "Enter", "s", "Escape"):
        page.press(key)
    check_quiet(page)


def check_differences(session, browser):
    page = session.shown(browser, "second.html", "second.heap", "--as-is", "--base", "first.heap")
    old, new = (session.stacks(heap, "inuse-space") for heap in ("first.heap", "second.heap"))
    check(
        abs(page.evaluate("profile.tree.now[3][0]") - sum(value for _, value in new)) <= len(new),
        "the new side is another",
    )
    check(
        abs(page.evaluate("profile.tree.old[3][0]") - sum(value for _, value in old)) <= len(old),
        "the base is another",
    )
    signs = page.evaluate(
        "Object.fromEntries(profile.name.map((name, index) => { const sum = profile.sumOf((f) => "
        "f === index, 3);"
        " return [name, [formatChange(sum), parseInt(colors.ofChange(changeOf(sum)).slice(1), "
        "16)]]; }))"
    )
    for name, sign, is_orange in (
        ("keep_small", "\u2212", False), ("keep_medium", "+", True), ("only_second", "new", True),
        ("only_first", "gone", False),
    ):
        text, color = signs[name]
        check(
            text.startswith(sign) and ((color >> 16) > (color & 255)) == is_orange, name, "is",
            text, hex(color),
        )
    gone = node_at("only_first")
    check(page.evaluate(f"mainLayout().width[{gone}]") == 0, "what has vanished is drawn unasked")
    click_element(page, "#vanished")
    width, was = page.evaluate(f"mainLayout().width[{gone}]"), of_function(old, "only_first")
    check(abs(width - was) <= len(old), "what has vanished is drawn as", width, "not", was)
    click_node(page, gone)
    check(
        "gone" in page.evaluate("byId('detail').textContent"),
        page.evaluate("byId('detail').textContent"),
    )
    check_quiet(page)


def check_picture(session, browser):
    page = session.shown(browser, "first.flame.svg", "first.heap")
    width = (
        "(() => {{ const g = Array.from(document.querySelectorAll('.f')).find((g) => "
        "g.textContent.startsWith({0!r} + '\\n'));"
        " return Number(g.querySelector('rect').getAttribute('width')); }})()"
    )
    before = page.evaluate(width.format("serve"))
    x, y = page.evaluate(
        "(() => { const g = Array.from(document.querySelectorAll('.f')).find((g) => "
        "g.textContent.startsWith('serve\\n'));"
        " const b = g.querySelector('rect').getBoundingClientRect(); return [b.x + b.width / 2, "
        "b.y + b.height / 2]; })()"
    )
    page.click(x, y)
    check(
        before < 1000 and abs(page.evaluate(width.format("serve")) - 1176) < 1,
        "a click does not zoom:", before, page.evaluate(width.format("serve")),
    )
    stacks = session.stacks("first.heap", "inuse-space")
    wanted = 100 * of_function(stacks, "keep_small") / sum(value for _, value in stacks)
    page.answer_to_prompt = "^keep_small$"
    page.press("/")
    shown = page.evaluate("document.getElementById('matched').textContent")
    check(abs(float(re.search(r"[\d.]+", shown)[0]) - wanted) < 0.7, shown, "is not", wanted)
    page.press("Escape")
    check(abs(page.evaluate(width.format("serve")) - before) < 1, "Escape does not show all")
    check_quiet(page)


def main():
    program, heapinject, directory = sys.argv[1:]
    session = Session(heapinject, directory)
    try:
        browser = Browser(program, directory)
    except CannotStart as reason:
        print(reason)
        sys.exit(77)
    with browser:
        print(browser.version)
        page = session.shown(browser, "first.html", "first.heap")
        check_header(page, session)
        check_totals(page, session)
        check_names(page)
        check_types(page, session)
        check_search(page, session)
        check_zoom(page)
        check_keyboard(page)
        check_sandwich(page, session)
        check_table(page, session)
        check_themes(page, session, browser)
        check_quiet(page)
        check_hostile(session, browser)
        check_empty(session, browser)
        check_differences(session, browser)
        check_picture(session, browser)


main()
