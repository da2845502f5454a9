# SPDX-License-Identifier: MIT
"""Checks the tabs of the page over one session of the target, in a browser.

  checks.py BROWSER HEAPINJECT DIRECTORY

DIRECTORY has 0.heap, 1.heap and 2.heap, snapshots of one session, last.pb.gz, the last of them with
its threads, and large.collapsed. Figures must agree with `report --collapsed` of the same files.
The exit status is 77 if the browser cannot start.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

from browser import Browser, CannotStart
from firefox import Firefox
from page_checks import check, number_of

OWN_BYTES_MAX = 150000  # of a page without its data
OPEN_SECONDS_MAX = 2.5  # half a second on a machine that has nothing else to do
TABS = (
    "answer", "flame", "callers", "table", "calls", "source", "growth", "modules", "about",
)


def is_near(one, other, part=0.005):
    return abs(one - other) <= part * max(abs(one), abs(other)) + 2


class Session:
    def __init__(self, heapinject, directory):
        self.heapinject, self.directory = heapinject, directory

    def report(self, *arguments):
        return subprocess.run(
            [self.heapinject, "report", *arguments], cwd=self.directory, check=True,
            capture_output=True, text=True,
        ).stdout

    def stacks(self, heap, *arguments):
        lines = (
            line.rsplit(" ", 1)
            for line in self.report(heap, "--collapsed", *arguments).splitlines()
        )
        return [(stack.split(";"), int(value)) for stack, value in lines]

    def page(self, name, *files):
        self.report(*files, "-o", name)
        return f"file://{self.directory}/{name}"


def total_of(stacks, *names):
    return sum(value for stack, value in stacks if not names or set(names) & set(stack))


def check_quiet(page):
    check(not page.complaints, "the browser complains:", page.complaints)
    # A PNG is drawn of an image that the page holds itself.
    asked = [address for address in page.requests if not address.startswith("data:")]
    check(len(asked) == 1 and asked[0].startswith("file:"), "it has asked for", asked)


def centre(page, selector):
    page.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
    return page.evaluate(
        f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect(); "
        f"return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
    )


def click(page, selector):
    page.click(*centre(page, selector))
    page.settle()


def open_tab(page, name):
    click(page, f"#tab-{name}")
    opened = page.evaluate("state.tab")
    check(opened == name, "a click on", name, "opens", opened)


def text_of(page, selector):
    return page.evaluate(f"document.querySelector({selector!r}).innerText")


def whole(page):
    return page.evaluate("profile.tree.now[state.type][0]")


def names(page):
    return set(
        page.evaluate(
            "profile.functionRows(state.type).map((row) => profile.nameOf(row.functionIndex))"
        )
    )


def drag(page, start, end):
    page.drag(start, end)
    page.settle()


def type_into(page, selector, text):
    page.evaluate(f"document.querySelector({selector!r}).select()")
    if text:
        page.write(text)
    else:
        page.press("Backspace")
    page.settle()


# ---- the tabs themselves ----


def check_tabs(page):
    shown = page.evaluate(
        "Array.from(document.querySelectorAll('[role=tab]:not([hidden])'), (tab) => tab.id)"
    )
    check(shown == ["tab-" + name for name in TABS], "there are", shown)
    check(page.evaluate("state.tab") == "answer", "first is", page.evaluate("state.tab"))
    page.evaluate("byId('tab-answer').focus()")
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft"):
        page.press(key)
        seen.append(page.evaluate("document.activeElement.id.slice(4)"))
    check(seen == ["flame", "callers", "flame", "answer", "about"], "keys lead to", seen)
    state = page.evaluate(
        "[document.querySelectorAll('[aria-selected=true]').length, "
        "document.querySelectorAll('[role=tabpanel]:not([hidden])').length, "
        "document.querySelectorAll('[role=tab][tabindex=\"0\"]').length]"
    )
    check(state == [1, 1, 1], "selected, shown and in the tab order are", state)


def check_answer(page, session):
    open_tab(page, "answer")
    said = " ".join(session.report("2.heap", "--leaks").split())
    title = text_of(page, "#answer-title")
    check(title in said, "the answer is", title, "and --leaks says", said)


def check_about(page, session):
    open_tab(page, "about")
    text = text_of(page, "#panel-about")
    for line in session.report("2.heap", "--leaks").splitlines()[:4]:
        check(line in text, line, "is not in", text)
    for part in ("Sampling", "Not seen", "Dropped", "Ended", "by heapinject detach", "Receipt",
                 "Keyboard"):
        check(part in text, part, "is not in", text)
    with open(f"{session.directory}/2.heap", encoding="utf-8") as file:
        hooked = re.findall("^# hooked (.*)$", file.read(), re.M)
    check(
        any(re.match(r"glibc in /\S+libc\.so\.6: \d+ functions at their entry", line)
            for line in hooked), "no allocator is hooked:", hooked,
    )
    for line in hooked:
        check(line in text, line, "is not in", text)


# ---- what they show ----


def check_calls(page, session):
    open_tab(page, "calls")
    stacks = session.stacks("2.heap")
    pairs = page.evaluate(
        "callGraphOf(state.type, 40).edges.map((edge) => [profile.nameOf(edge.from.functionIndex), "
        "profile.nameOf(edge.to.functionIndex), edge.now])"
    )
    found = {(caller, callee): value for caller, callee, value in pairs}
    for caller, callee in (("main", "serve"), ("serve", "keep_early"), ("keep_late", "keep")):
        wanted = sum(
            value for stack, value in stacks if (caller, callee) in zip(stack, stack[1:])
        )
        check(
            is_near(found.get((caller, callee), 0), wanted), caller, callee, found, "not", wanted
        )
    boxes = page.evaluate(
        "Array.from(document.querySelectorAll('#calls .box'), (box) => { "
        "const r = box.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"
    )
    check(len(boxes) >= 6, "only", len(boxes), "boxes")
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            is_apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            check(is_apart, "boxes overlap:", a, b)
    view = "byId('calls').getAttribute('viewBox').split(' ').map(Number)"
    before = page.evaluate(view)
    page.evaluate("byId('calls').scrollIntoView()")
    left, top = page.evaluate(
        "(() => { const r = byId('calls').getBoundingClientRect(); return [r.left, r.top]; })()"
    )
    drag(page, (left + 30, top + 200), (left + 80, top + 240))
    moved = page.evaluate(view)
    check(
        abs((before[0] - moved[0]) / (before[1] - moved[1]) - 50 / 40) < 0.01,
        "it is dragged from", before, "to", moved,
    )
    page.wheel(left + 30, top + 200, -100)
    page.settle()
    check(page.evaluate(view)[2] < moved[2] * 0.9, "the wheel does not zoom:", page.evaluate(view))
    page.evaluate("fitCalls(0.05)")
    page.move(*centre(page, "#calls [aria-label^='keep_early '] rect"))
    page.settle()
    tip = text_of(page, "#tip")
    check("keep_early" in tip and "target.c:" in tip and "Self" in tip, "its tooltip is", tip)
    page.evaluate("byId('calls').focus()")
    page.press("ArrowRight")
    check(page.evaluate(view)[0] > moved[0], "arrow keys do not move it")
    page.evaluate("document.querySelector('#calls [aria-label^=\"keep_early \"]').focus()")
    page.press("Enter")
    page.settle()
    check(
        page.evaluate("[state.tab, profile.nameOf(state.view.around)]")
        == ["callers", "keep_early"],
        "Enter leads to", page.evaluate("state.tab"),
    )


def check_source(page, session):
    open_tab(page, "source")
    page.evaluate(
        "byId('source-function').value = 'leak'; "
        "byId('source-function').dispatchEvent(new Event('change'))"
    )
    hot = page.evaluate(
        "Array.from(document.querySelectorAll('.source .hot'), (row) => "
        "Array.from(row.cells, (cell) => cell.textContent))"
    )
    check(len(hot) == 1 and "malloc(5000)" in hot[0][3], "its lines are", hot)
    wanted = total_of(session.stacks("2.heap"), "leak")
    check(is_near(number_of(hot[0][0]), wanted), hot, "is not", wanted)
    line = next(
        line for line in session.report("2.heap", "--list", "^leak$").splitlines()
        if "malloc(5000)" in line
    )
    check(f" {hot[0][2]}:" in line, hot, "and --list says", line)
    # The same line in the tooltip, and a way from the graph to it.
    node = "profile.tree.functionOf.findIndex((f) => profile.nameOf(f) === 'leak')"
    origin = page.evaluate(f"originOf(profile.tree, {node})")
    check(origin.endswith(f"target.c:{hot[0][2]}"), "the graph says", origin)
    open_tab(page, "flame")
    page.evaluate(f"focusOn(mainLayout(), {node}, true)")
    check(
        f"target.c:{hot[0][2]}" in text_of(page, "#detail"), "no line in", text_of(page, "#detail")
    )
    click(page, "#show-source")
    check(page.evaluate("state.source") == "leak", "Source leads to", page.evaluate("state.source"))


def check_range(page, session):
    """What was allocated in a range and is still in use."""
    open_tab(page, "growth")
    before = whole(page)
    parts = page.evaluate(
        "(() => { const svg = byId('ages-chart'); svg.scrollIntoView({ block: 'center' }); "
        "const at = svg.getBoundingClientRect(), scale = agesScale(svg); "
        "const isEarly = (node) => profile.nameOf(profile.meta.nodes.function[node]) === "
        "'keep_early' || node > 0 && isEarly(profile.parent[node]); "
        "const slice = Math.max(...ages.node.map((node, i) => isEarly(node) ? ages.slice[i] : "
        "-1)); return { slice, "
        "x: at.left + scale.x(sliceTime(slice + 1) + ages.width / 2), "
        "end: at.left + scale.right - 1, y: at.top + 60 }; })()"
    )
    check(parts["slice"] >= 0, "keep_early's blocks are of no age", parts)
    drag(page, (parts["x"], parts["y"]), (parts["end"], parts["y"]))
    late, shown = whole(page), names(page)
    check(
        page.evaluate("state.range[0]") == parts["slice"] + 1
        and "keep_late" in shown and "leak" in shown and "keep_early" not in shown,
        "the range", page.evaluate("state.range"), "shows", shown,
    )
    check(0 < late < before, "in the range is", late, "of", before)
    check("still in use" in text_of(page, "#chips"), "no chip:", text_of(page, "#chips"))
    check(
        page.evaluate("document.querySelector('#types input[value=\"1\"]').disabled"),
        "what was allocated and freed has no age, but can be chosen",
    )
    page.evaluate("byId('ages-to').focus()")
    page.evaluate("setRange([0, state.range[0] - 1])")
    check(
        abs(whole(page) + late - before) <= 3, "both parts are", whole(page), late, "of", before
    )
    check("keep_early" in names(page), "the first part shows", names(page))
    page.press("ArrowRight")
    check(
        page.evaluate("state.range") == [0, parts["slice"] + 1], "a key leads to",
        page.evaluate("state.range"),
    )
    click(page, "#chips button")
    check(whole(page) == before, "the chip does not end it")


def check_threads(browser, session):
    page = browser.open(session.page("threads.html", "last.pb.gz") + "#tab=modules")
    open_tab(page, "about")
    about = text_of(page, "#session")
    check("functions at their entry" in about, "in the .pb.gz is only", about)
    open_tab(page, "modules")
    before, wanted = whole(page), 100 * 10000
    row = page.evaluate(
        "Array.from(document.querySelectorAll('[aria-label=Threads] tbody tr'), (row) => "
        "Array.from(row.cells, (cell) => cell.innerText))"
    )
    worker = next(cells for cells in row if cells[0].startswith("worker"))
    figure = number_of(re.match(r"\S+\s\w+", worker[1])[0])
    check(is_near(figure, wanted, 0.05), worker, "is not", wanted)
    page.evaluate(
        "Array.from(document.querySelectorAll('[aria-label=Threads] .link')).find((link) => "
        "link.textContent.startsWith('worker')).click()"
    )
    page.settle()
    check(
        is_near(whole(page), figure) and "keep_by_thread" in names(page)
        and "serve" not in names(page),
        "the thread shows", whole(page), names(page),
    )
    click(page, "#chips button")
    check(whole(page) == before, "the chip does not end it")
    page.evaluate(
        "Array.from(document.querySelectorAll('[aria-label=Files] .link')).find((link) => "
        "link.textContent.endsWith('target.c')).click()"
    )
    check(is_near(whole(page), before), "its file has only", whole(page), "of", before)
    check_quiet(page)


# ---- what one does with it ----


def check_filters(page, session):
    open_tab(page, "flame")
    stacks, before, folded = session.stacks("2.heap"), whole(page), names(page)
    click(page, "#filter")
    for field, pattern, wanted, gone in (
        ("focus", "^keep_early$", total_of(stacks, "keep_early"), "keep_late"),
        ("ignore", "^keep_early$", total_of(stacks) - total_of(stacks, "keep_early"), "keep_early"),
        ("hide", "^keep$", total_of(stacks), "keep"),
        ("focus", r"/target\.c$", total_of(stacks), None),
    ):
        type_into(page, f"#{field}", pattern)
        check(
            is_near(whole(page), wanted) and gone not in names(page), field, pattern, "leaves",
            whole(page), names(page), "not", wanted,
        )
        check(field in text_of(page, "#chips"), "no chip of", field)
        type_into(page, f"#{field}", "")
        check(whole(page) == before, field, "does not end")
    type_into(page, "#focus", "(")
    check(
        page.evaluate("byId('focus').ariaInvalid") == "true" and whole(page) == before,
        "( is taken for a regular expression",
    )
    type_into(page, "#focus", "")
    click(page, "#fold")
    check(
        folded < names(page) and any("start" in name for name in names(page) - folded)
        and whole(page) == before,
        "unfolded are only", names(page) - folded,
    )
    unfolded = {name for stack, value in stacks if value for name in stack}
    check(names(page) - {"all"} == unfolded, names(page), "is not", unfolded)
    click(page, "#fold")
    check(names(page) == folded, "it does not fold again")


def check_search(page):
    open_tab(page, "flame")
    node = "profile.tree.functionOf.findIndex((f) => profile.nameOf(f) === 'keep_early')"
    page.evaluate(f"goTo({{ zoom: {node}, around: null }})")
    type_into(page, "#search", "^keep_(early|late)$")
    check("1 more outside" in text_of(page, "#matched"), "it says", text_of(page, "#matched"))
    for pattern in (r"target\.c$", "^target$"):
        type_into(page, "#search", pattern)
        share = float(text_of(page, "#matched").split("%")[0])
        check(share > 99, "by file or module", pattern, "only", share)
    page.press("Escape")
    page.evaluate("goHome()")


def check_colors(page):
    open_tab(page, "flame")
    births = page.evaluate(
        "['keep_early', 'keep_late'].map((name) => profile.birth[profile.tree.functionOf.findIndex("
        "(f) => profile.nameOf(f) === name)])"
    )
    check(0 <= births[0] < births[1] <= 1, "they were allocated at", births)
    seen = {}
    for mode in ("module", "namespace", "age", "growth"):
        page.evaluate(
            f"byId('color').value = '{mode}'; byId('color').dispatchEvent(new Event('change'))"
        )
        check(page.evaluate("colors.mode") == mode, mode, "is not chosen")
        seen[mode] = page.evaluate(
            "profile.tree.functionOf.map((_, node) => "
            "colors.ofNode(profile.tree, node, state.type)).join()"
        )
    check(len(set(seen.values())) == 4, "two modes look alike:", seen)
    for dark in ("false", "true"):
        worst = page.evaluate(
            f"(() => {{ setTheme({dark}); const light = (hex) => [1, 3, 5].map((at) => "
            "parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => c <= 0.03928 ? c / 12.92 : "
            "((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + [0.2126, 0.7152, 0.0722][i]"
            " * c, 0); const contrast = (a, b) => (Math.max(a, b) + 0.05) / "
            "(Math.min(a, b) + 0.05); return Math.min(...[0, 0.25, 0.5, 0.75, 1].map((part) => "
            "contrast(light(colors.ofAge(part)), light(colors.text)))); })()"
        )
        check(worst >= 4.5, "contrast of ages is", worst)
    page.evaluate("setTheme(false); state.color = 'module'; showColors()")


def shown_state(page):
    return page.evaluate(
        "JSON.stringify([{ ...state, pattern: String(state.pattern), history: [] }, graph.window, "
        "colors.mode, byId('matched').textContent, byId('sum').textContent])"
    )


def check_motion(browser, address):
    """A move in the graph ends with the graph."""
    if isinstance(browser, Firefox):
        return  # nothing moves there
    page = browser.open(address + "#tab=flame", calm=False)
    page.evaluate(
        "goTo({ zoom: profile.tree.functionOf.findIndex("
        "(f) => profile.nameOf(f) === 'keep_early'), around: null }); setFilter('hide', '^keep$')"
    )
    shown = "[graph.window.from, graph.window.to]"
    at_once = page.evaluate(shown)
    page.evaluate("new Promise((done) => setTimeout(done, 2 * MOVE_MS))")
    page.settle()
    check(page.evaluate(shown) == at_once, "it goes on to", page.evaluate(shown))
    check_quiet(page)


def check_link(page, browser, session):
    address = session.page("linked.html", "0.heap", "1.heap", "2.heap")
    one = browser.open(address)
    one.evaluate(
        "selectTab('flame', true); state.type = 2; state.isFlame = false; state.snapshot = 1; "
        "state.ignore = 'leak;&=%\u00e9'; state.color = 'age'; state.range = null; refilter(); "
        "goTo({ zoom: profile.tree.functionOf.findIndex("
        "(f) => profile.nameOf(f) === 'keep_early'), around: null }); search('early|late')"
    )
    fragment = one.evaluate("location.hash")
    check("#" in fragment and "type=2" in fragment, "the address has", fragment)
    other = browser.open(address + fragment)
    check(shown_state(one) == shown_state(other), shown_state(one), "is not", shown_state(other))
    one.evaluate("showAround(profile.name.indexOf('keep'))")
    other.evaluate(f"location.hash = {one.evaluate('location.hash')!r}")
    other.settle()
    check(
        other.evaluate("[state.tab, state.view.around]") == one.evaluate(
            "[state.tab, state.view.around]"
        ),
        "another fragment leads to", other.evaluate("location.hash"),
    )
    odd = browser.open(
        address + "#tab=nothing&type=9&snapshot=7&range=4&zoom=-3&around=x&focus=%&calls=0"
    )
    check(odd.evaluate("state.calls === atFirst.calls"), "no functions are shown")
    check(odd.evaluate("state.tab") == "flame", "nonsense leads to", odd.evaluate("state.tab"))
    # Opened there, the page has not shown the graph yet when it is saved.
    table = browser.open(address + "#tab=table")
    table.evaluate("download = (blob) => { window.saved = blob; }; byId('save-svg').click()")
    text = table.evaluate("saved.text()")
    width = float(xml.etree.ElementTree.fromstring(text).get("width"))
    check("keep_early" in text and width > 300, "the picture from the table is", text)
    check(table.evaluate("byId('panel-graph').hidden"), "the graph is shown below the table")
    for opened in (one, other, odd, table):
        check_quiet(opened)


def check_copies(page, session):
    page.evaluate(
        "state.fold = false; refilter(); window.copied = null; "
        "navigator.clipboard.writeText = async (words) => { copied = words; }; "
        "download = (blob, ending) => { window.saved = { blob, ending }; }"
    )
    click(page, "#save summary")
    click(page, "#copy-collapsed")
    lines = dict(line.rsplit(" ", 1) for line in page.evaluate("copied").splitlines())
    wanted = {";".join(stack): value for stack, value in session.stacks("2.heap") if value}
    check(
        lines.keys() == wanted.keys()
        and all(abs(int(lines[stack]) - value) <= 2 for stack, value in wanted.items()),
        lines, "is not", wanted,
    )
    open_tab(page, "table")
    page.evaluate("byId('copy-text').click()")
    check(
        any(line.startswith("keep\t") for line in page.evaluate("copied").splitlines()),
        "copied is", page.evaluate("copied"),
    )
    page.evaluate("byId('copy-link').click()")
    check(page.evaluate("copied === location.href"), "the link is", page.evaluate("copied"))
    for tab in ("flame", "calls", "growth"):
        open_tab(page, tab)
        page.evaluate("byId('save-svg').click()")
        text = page.evaluate("saved.blob.text()")
        root = xml.etree.ElementTree.fromstring(text)
        words = " ".join(element.text or "" for element in root.iter())
        check(root.tag.endswith("svg"), "no picture of", tab)
        check(tab == "growth" or "keep_early" in words, tab, "has only", words)
        check("var(" not in text and "script" not in text, tab, "needs more than itself")
    page.evaluate("window.saved = null; byId('save-png').click()")
    head = page.evaluate(
        "new Promise((done) => { const look = async () => saved ? done(btoa(String.fromCharCode("
        "...new Uint8Array(await saved.blob.slice(0, 8).arrayBuffer())))) : setTimeout(look, 20); "
        "look(); })"
    )
    check(base64.b64decode(head) == b"\x89PNG\r\n\x1a\n", "no PNG:", head)
    page.evaluate("state.fold = true; refilter()")


def check_keyboard(page):
    open_tab(page, "flame")
    page.evaluate("goHome(); graph.item.focus()")
    focused = "profile.nameOf(graph.focused.layout.tree.functionOf[graph.focused.node])"
    seen = []
    for key in ("ArrowUp", "ArrowUp", "ArrowDown", "Enter"):
        page.press(key)
        page.settle()
        seen.append(page.evaluate(focused))
    check(
        seen[0] != seen[1] and seen[0] == seen[2] == seen[3], "arrows lead to", seen,
    )
    check(page.evaluate("profile.nameOf(profile.tree.functionOf[state.view.zoom])") == seen[3],
          "Enter zooms to", page.evaluate("state.view.zoom"))
    page.press("s")
    page.settle()
    check(
        page.evaluate("[state.tab, profile.nameOf(state.view.around)]") == ["callers", seen[3]],
        "S leads to", page.evaluate("state.tab"),
    )
    page.press("Escape")
    page.press("Home")
    page.settle()
    check(
        page.evaluate("[state.tab, state.view.zoom, state.view.around]") == ["flame", 0, None],
        "Escape and Home lead to", page.evaluate("[state.tab, state.view]"),
    )
    page.press("/")
    check(page.evaluate("document.activeElement.id") == "search", "/ does not search")
    page.write("keep_late")
    page.press("Escape")
    check(
        page.evaluate("byId('search').value === '' && document.activeElement === graph.item"),
        "Escape does not end the search",
    )


# ---- several profiles ----


def check_several(browser, session):
    page = browser.open(session.page("several.html", "0.heap", "1.heap", "2.heap") + "#tab=flame")
    totals = [total_of(session.stacks(f"{i}.heap")) for i in range(3)]
    check(is_near(whole(page), totals[2]), "first it shows", whole(page), "not", totals[2])
    click(page, "#filter")

    def choose(field, value):
        page.evaluate(
            f"byId('{field}').value = '{value}'; byId('{field}').dispatchEvent(new Event('change'))"
        )
        page.settle()

    for i in (0, 1):
        choose("snapshot", i)
        check(is_near(whole(page), totals[i]), i, "is", whole(page), "not", totals[i])
    choose("against", 0)
    difference = page.evaluate("profile.tree.now[3][0] - profile.tree.old[3][0]")
    check(is_near(difference, totals[1] - totals[0], 0.02), difference, "is not", totals)
    check(
        page.evaluate("profile.isComparison") and "against" in text_of(page, ".sum")
        and page.evaluate("colors.mode") == "change",
        "it is no comparison",
    )
    open_tab(page, "table")
    check(
        "Change of total" in text_of(page, "#functions thead"), text_of(page, "#functions thead")
    )
    for _ in range(2):
        click(page, "#chips button")
    check(
        is_near(whole(page), totals[2]) and not page.evaluate("profile.isComparison"),
        "the chips lead to", whole(page),
    )
    open_tab(page, "growth")
    check(page.evaluate("data.snapshots") == 3, "it has", page.evaluate("data.snapshots"))
    check_quiet(page)


def check_many(browser, session):
    """Twenty profiles, and more: then some are left out, but not the last."""
    for count in (20, 23):
        files = [f"many.{i:02}.heap" for i in range(count)]
        for i, name in enumerate(files):
            shutil.copy(f"{session.directory}/{2 if i == count - 1 else 0}.heap",
                        f"{session.directory}/{name}")
        address = session.page("many.html", *files, "--sum")
        page = browser.open(address + "#tab=table")
        there = page.evaluate("profile.meta.snapshots.map(({ file }) => file)")
        check(len(there) == 20 and there[-1] == files[-1], count, "files are", there)
        page.evaluate("setFilter('snapshot', 19)")
        wanted = total_of(session.stacks("2.heap"))
        check(is_near(whole(page), wanted), "the last is", whole(page), "not", wanted)
        page.evaluate("setFilter('against', 0)")
        change = page.evaluate("profile.tree.now[3][0] - profile.tree.old[3][0]")
        wanted -= total_of(session.stacks("0.heap"))
        check(is_near(change, wanted, 0.02), "the change is", change, "not", wanted)
        check_quiet(page)


def check_hostile(browser, session):
    """Names are text in every tab."""
    page = browser.open(session.page("hostile.html", "hostile.0.heap", "hostile.2.heap"))
    name = "</script><img src=x onerror=alert(1)>&quot;"
    for tab in page.evaluate("shownTabs().map((tab) => tab.name)"):
        page.evaluate(f"selectTab('{tab}', true)")
        page.settle()
        check(
            page.evaluate("document.images.length + document.querySelectorAll('h1 b').length") == 0
            and page.evaluate("document.scripts.length") == 2,
            "a name has become an element in", tab,
        )
        if tab in ("table", "calls"):
            panel = "document.querySelector('[role=tabpanel]:not([hidden])')"
            shown = page.evaluate(f"{panel}.innerHTML")
            check("&lt;/script&gt;&lt;img" in shown, tab, "does not show it")
    check(name in names(page), names(page))
    page.evaluate("download = (blob) => { window.saved = blob; }; selectTab('flame', true)")
    page.evaluate("byId('save-svg').click()")
    root = xml.etree.ElementTree.fromstring(page.evaluate("saved.text()"))
    check(
        not any(element.tag.endswith(("script", "img")) for element in root.iter()),
        "the picture has elements of a name",
    )
    check_quiet(page)


# ---- on other screens ----


def check_screens(browser, session, address):
    for width, dark in ((390, True), (1400, False)):
        page = browser.open(address, width=width, height=844, dark=dark)
        for name in TABS:
            page.evaluate(f"selectTab('{name}', true)")
            page.settle()
            check(
                page.evaluate("document.documentElement.scrollWidth") <= width,
                name, "is wider than", width, "by",
                page.evaluate("document.documentElement.scrollWidth"),
            )
            unnamed = page.evaluate(
                "Array.from(document.querySelectorAll('main button, main select, main input, "
                ".toolbar button, .toolbar input'), (e) => e).filter((e) => e.offsetParent && "
                "!(e.textContent.trim() || e.ariaLabel || e.labels && e.labels.length && "
                "e.labels[0].textContent.trim())).map((e) => e.outerHTML)"
            )
            check(not unnamed, name, "has unnamed controls:", unnamed)
        check_quiet(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    check(
        page.evaluate(
            "byId('panel-graph').offsetHeight > 0 && byId('panel-table').offsetHeight > 0"
        ),
        "not both are printed",
    )
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    check(page.evaluate("byId('panel-table').offsetHeight") == 0, "afterwards both are there")


def check_large(browser, session):
    address = session.page("large.html", "large.collapsed")
    with open(f"{session.directory}/large.html", encoding="utf-8") as file:
        text = file.read()
    data = re.search(r'id="profile">\n(.*?)</script>', text, re.S)[1]
    own = len(text.encode()) - len(data.encode())
    print(f"the page is {own} bytes and {len(data.encode())} of data")
    check(own < OWN_BYTES_MAX, "the page alone has", own, "bytes")
    check(json.loads(data)["version"] == 2, "another version")
    page = browser.open(address)
    count, seconds = page.evaluate(
        "[profile.count, performance.getEntriesByType('navigation')[0].domComplete / 1000]"
    )
    print(f"{count} nodes are there after {seconds:.3f} s")
    check(count == 12000 and seconds < OPEN_SECONDS_MAX, count, "nodes took", seconds, "s")
    page.evaluate("selectTab('flame', true)")
    seconds = page.evaluate(
        "new Promise((done) => { const from = performance.now(); search('f1.3$'); "
        "requestAnimationFrame(() => requestAnimationFrame(() => "
        "done((performance.now() - from) / 1000))); })"
    )
    print(f"a search in them is drawn after {seconds:.3f} s")
    check(
        "matched" in text_of(page, "#matched") and seconds < OPEN_SECONDS_MAX, "a search took",
        seconds, "s:", text_of(page, "#matched"),
    )
    check_quiet(page)


def check_graph_svg(browser, session):
    """The picture of graphviz, which moves."""
    if not shutil.which("dot"):
        return
    page = browser.open(session.page("graph.svg", "2.heap"))
    view = "document.documentElement.getAttribute('viewBox').split(' ').map(Number)"
    outside = page.evaluate(
        "Array.from(document.querySelectorAll('g.node'), (node) => { "
        "const box = node.querySelector('polygon').getBBox(); return Array.from("
        "node.querySelectorAll('text')).filter((text) => { const r = text.getBBox(); "
        "return r.x < box.x || r.x + r.width > box.x + box.width || r.y < box.y || "
        "r.y + r.height > box.y + box.height; }).map((text) => text.textContent); }).flat()"
    )
    check(not outside, "wider than their boxes are", outside)
    before = page.evaluate(view)
    drag(page, (300, 300), (360, 340))
    dragged = page.evaluate(view)
    check(
        abs((before[0] - dragged[0]) / (before[1] - dragged[1]) - 60 / 40) < 0.01,
        "it is dragged from", before, "to", dragged,
    )
    page.wheel(300, 300, -100)
    page.settle()
    zoomed = page.evaluate(view)
    check(zoomed[2] < dragged[2] * 0.9, "the wheel does not zoom:", dragged, zoomed)
    page.press("0")
    everything = page.evaluate(view)
    box = page.evaluate(
        "(() => { const b = document.querySelector('.graph').getBoundingClientRect(); "
        "return [b.left, b.top, b.right - innerWidth, b.bottom - innerHeight]; })()"
    )
    check(
        min(box[:2]) > -2 and max(box[2:]) < 2, "0 does not show all:", everything, box
    )
    page.press("Home")
    check(page.evaluate(view) == before, "Home leads to", page.evaluate(view), "not", before)
    check_quiet(page)


def main():
    program, heapinject, directory = sys.argv[1:]
    session = Session(heapinject, directory)
    try:
        opened = Firefox if "firefox" in os.path.basename(program) else Browser
        browser = opened(program, directory)
    except CannotStart as reason:
        print(reason)
        sys.exit(77)
    with browser:
        print(browser.version)
        address = session.page("2.html", "2.heap")
        check(os.path.getsize(f"{directory}/2.html") < 1000000, "2.html is large")
        page = browser.open(address)
        check_tabs(page)
        check_answer(page, session)
        check_about(page, session)
        check_calls(page, session)
        check_source(page, session)
        check_range(page, session)
        check_filters(page, session)
        check_search(page)
        check_colors(page)
        check_keyboard(page)
        check_copies(page, session)
        check_quiet(page)
        check_motion(browser, address)
        check_link(page, browser, session)
        check_threads(browser, session)
        check_several(browser, session)
        check_many(browser, session)
        check_hostile(browser, session)
        check_screens(browser, session, address)
        check_large(browser, session)
        check_graph_svg(browser, session)


main()
