# SPDX-License-Identifier: MIT
"""Drives the live page of serve in a browser.

  checks.py BROWSER ADDRESS PID COMMANDS DIRECTORY OTHER TOKEN

A session of PID is served at ADDRESS, by all allocations, and a profile is kept every second; and
at the address OTHER to who has the token. What is written to COMMANDS the target does: "more" keeps
a hundred blocks of 5000 bytes. The exit status is 77 if the browser cannot start.
"""
import json
import sys
import time
import urllib.request

from browser import Browser, CannotStart
from page_checks import check

PATIENCE_SECONDS = 60
MORE_BYTES = 500000


class Live:
    def __init__(self, browser, at, pid, commands, directory):
        self.browser, self.at, self.pid, self.directory = browser, at, pid, directory
        self.address = f"{at}/pid/{pid}/"
        self.commands = commands

    def open(self, address=None, **how):
        page = self.browser.open(address or self.address, **how)
        wait(page, "live.count > 0 && live.profile !== null")
        return page

    def more(self):
        with open(self.commands, "w", encoding="ascii") as commands:
            commands.write("more\n")


def wait(page, condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while not page.evaluate(f"Boolean({condition})"):
        check(time.monotonic() < end, "never true:", condition, page.complaints)
        time.sleep(0.1)


def text_of(page, selector):
    return page.evaluate(f"document.querySelector({selector!r}).innerText")


def choose(page, name, value):
    page.evaluate(
        f"(byId({name!r}).value = {value!r}, byId({name!r}).dispatchEvent(new Event('change')))"
    )


# What the frame shows, once it has come.
def wait_report(page, condition):
    wait(
        page,
        "((inside) => inside && inside.readyState === 'complete' && inside.body"
        f" && ({condition}))(byId('report').contentDocument)",
    )


def times_of(page):
    return page.evaluate("live.event.profiles")


# From when the event that is shown has been received, until it is drawn.
def check_live(live, page):
    before = page.evaluate("live.profile.live")
    said = text_of(page, "#facts")
    live.more()
    wait(page, f"live.profile.live === {before} + {MORE_BYTES}")
    check(text_of(page, "#facts") != said, "the figures are those of before:", said)
    check("keeps_large" in text_of(page, "#answer-rows"), text_of(page, "#answer-rows"))
    check(
        page.evaluate("byId('answer-title').textContent === live.profile.answer.lines[0]"),
        "the answer is", text_of(page, "#answer-title"),
    )
    check("pid " + live.pid in text_of(page, "#title"), text_of(page, "#title"))


def check_memory(page):
    wait(page, "live.chart !== null")
    said = text_of(page, "#memory-said")
    for part in ("anonymous memory", "in use, seen", "not seen", "RSS"):
        check(part in said, part, "is not in", said)
    gap = page.evaluate(
        "((last) => formatBytes(Math.max(0, last[1] - last[3])))(live.profile.moments.at(-1))"
    )
    check(gap in said, "the gap is", gap, "and it says", said)
    check(page.evaluate("document.querySelectorAll('.gap').length") == 1, "no gap is drawn")


def check_view_and_diff(live, page):
    live.more()
    wait(page, "live.event.profiles.length > 5")
    times = times_of(page)
    choose(page, "view", str(times[-1]))
    wait_report(page, "inside.getElementById('sum')")
    wait(page, "new URL(location).searchParams.get('view') === " + repr(str(times[-1])))
    whole = page.evaluate("byId('report').contentDocument.getElementById('sum').textContent")
    check(whole.endswith("B"), "the profile is of", whole)
    choose(page, "base", str(times[0]))
    wait_report(page, "inside.getElementById('sum-change').textContent !== ''")
    shown = page.evaluate("byId('report').contentWindow.location.search")
    check(f"view={times[-1]}" in shown and f"base={times[0]}" in shown, "shown is", shown)


def check_display(page):
    choose(page, "display", "table")
    wait_report(page, "byId('report').contentWindow.location.hash.startsWith('#tab=table')")
    choose(page, "display", "text")
    wait_report(page, "inside.contentType === 'text/plain'"
                      " && inside.body.innerText.includes('keeps_large')")
    choose(page, "sample", "alloc_objects")
    wait_report(page, "byId('report').contentWindow.location.search.includes('alloc_objects')"
                      " && inside.contentType === 'text/plain'")
    choose(page, "display", "flame")
    choose(page, "sample", "inuse_space")
    wait_report(page, "inside.getElementById('sum')")


def check_link(live, page):
    address = page.evaluate("location.href")
    other = live.open(address)
    wait_report(other, "inside.getElementById('sum')")
    for what in ("byId('view').value", "byId('base').value", "byId('display').value"):
        one, two = page.evaluate(what), other.evaluate(what)
        check(one == two, "a link shows another", what, one, two)
    check(
        other.evaluate("byId('report').contentWindow.location.search")
        == page.evaluate("byId('report').contentWindow.location.search"),
        "a link shows another report",
    )
    check_quiet(live, other)
    alone = page.evaluate("byId('alone').href")
    with urllib.request.urlopen(
        urllib.request.Request(alone.split("#")[0], headers={"User-Agent": "curl/7"}), timeout=60
    ) as answer:
        check(b"<script" in answer.read(), "alone is no page:", alone)


def check_range(page):
    times = times_of(page)
    page.evaluate("byId('from').scrollIntoView({block: 'center'})")
    page.evaluate("(byId('from').focus(), byId('from').value = 0)")
    page.press("ArrowRight")
    wait(page, "chosen.base && live.event.profiles.includes(Number(chosen.base))")
    page.settle()
    page.evaluate("byId('memory-chart').scrollIntoView({block: 'center'})")
    page.settle()
    left, top, width = page.evaluate(
        "((box) => [box.x, box.y + 30, box.width])(byId('axis').getBoundingClientRect())"
    )
    page.drag((left + 0.3 * width, top), (left + width - 8, top))
    page.settle()
    view, base = page.evaluate("[chosen.view, chosen.base]")
    check(view and base and int(view) > int(base), "the range is", base, view, times)
    check(page.evaluate("document.querySelectorAll('.brush').length") == 1, "no range is drawn")
    wait_report(page, "inside.getElementById('sum')")
    # the nearest to where it began
    at = page.evaluate("live.profile.start") + 0.3 * page.evaluate("live.chart.time.at(-1)")
    nearest = min(times_of(page), key=lambda time: abs(time - at))
    check(abs(int(base) - nearest) <= 2, "the range begins at", base, "and not", nearest)


def check_keyboard(page):
    page.evaluate("byId('view').focus()")
    seen = []
    for _ in range(5):
        page.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
    check(seen == ["base", "display", "sample", "show", "alone"], "Tab leads to", seen)
    page.evaluate("(byId('report').dataset.address = '', byId('show').focus())")
    page.press("Enter")
    wait(page, "byId('report').dataset.address !== ''")


def check_sizes(live):
    for width, dark in ((1400, False), (390, True)):
        page = live.open(width=width, dark=dark)
        wait(page, "live.chart !== null")
        page.settle()
        wide = page.evaluate("document.documentElement.scrollWidth")
        check(wide <= width, "at", width, "the page is", wide, "wide")
        theme = page.evaluate("document.documentElement.dataset.theme")
        check(theme == ("dark" if dark else "light"), "it is", theme)
        page.screenshot(f"{live.directory}/live.{width}.png")
        page.evaluate("byId('theme').click()")
        changed = page.evaluate("document.documentElement.dataset.theme")
        check(changed != theme, "it stays", changed)
        check_quiet(live, page)


# Each of ten gets what all get, and when: printed, but not judged, as this machine may be busy.
def check_ten(live):
    pages = [live.open(apart=True) for _ in range(10)]
    for page in pages:
        page.evaluate(
            "((show) => { window.shown = {}; showEvent = (event) => { show(event);"
            " window.shown[event.time] = Date.now(); }; })(showEvent)"
        )
    live.more()
    time.sleep(1)
    for page in pages:
        wait(page, "Object.keys(window.shown).length > 1")
    shown = [page.evaluate("window.shown") for page in pages]
    common = set.intersection(*(set(times) for times in shown))
    check(common, "the ten have no event in common", shown)
    late = [
        max(times[event] for times in shown) - min(times[event] for times in shown)
        for event in common
    ]
    print("ten browsers at once, from the first to the last:", late, "ms")
    for page in pages:
        check_quiet(live, page)


def check_steering(live, page):
    def answer_to(button):
        page.evaluate(f"byId({button!r}).scrollIntoView()")
        page.evaluate(f"byId({button!r}).click()")
        check(page.evaluate("byId('sure').open"), "nobody asks before", button)

    answer_to("detach")
    page.press("Escape")
    wait(page, "!byId('sure').open")
    check(page.evaluate("byId('receipt-part').hidden"), "Escape detaches")
    answer_to("detach")
    page.evaluate("byId('yes').click()")
    wait(page, "!byId('receipt-part').hidden")
    check("restored" in text_of(page, "#receipt"), "no receipt:", text_of(page, "#receipt"))
    wait(page, "live.event.isMissing && !byId('attach').hidden")
    answer_to("attach")
    page.evaluate("byId('yes').click()")
    wait(page, "byId('receipt-title').textContent === 'Attached'")
    wait(page, "!live.event.isMissing && live.event.look !== null && !byId('detach').hidden")


def check_quiet(live, page):
    check(not page.complaints, "the browser complains:", page.complaints)
    elsewhere = [
        address for address in page.requests
        if not address.startswith((live.at + "/", "data:", "about:"))
    ]
    check(not elsewhere, "it has asked for", elsewhere)


# The page by an address that has the token: what it asks for has no address like that.
def check_token(live, at, token):
    page = live.open(f"http://any:{token}@{at.removeprefix('http://')}/pid/{live.pid}/")
    choose(page, "display", "text")
    wait_report(page, "inside.body.innerText.includes('keeps_large')")
    check(page.evaluate("location.search").endswith("sample_type=inuse_space"), "no address")
    check(not page.complaints, "the browser complains:", page.complaints)


def main():
    program, at, pid, commands, directory, at_token, token = sys.argv[1:]
    try:
        browser = Browser(program, directory)
    except CannotStart as error:
        print(error)
        return 77
    with browser:
        live = Live(browser, at, pid, commands, directory)
        page = live.open(width=1400)
        check_live(live, page)
        check_memory(page)
        check_view_and_diff(live, page)
        check_display(page)
        check_link(live, page)
        page.send("Page.bringToFront")
        check_range(page)
        check_keyboard(page)
        check_sizes(live)
        check_token(live, at_token, token)
        check_ten(live)
        page.send("Page.bringToFront")
        check_steering(live, page)
        check_quiet(live, page)
        print(json.dumps({"events": page.evaluate("live.count")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
