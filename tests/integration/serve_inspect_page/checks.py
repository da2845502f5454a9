# SPDX-License-Identifier: MIT
"""Drives the tabs of serve's live page that explain, census, leaks and owners have, in a browser.

  checks.py BROWSER ADDRESS PID UNKNOWN LOG DIRECTORY

Both processes are served at ADDRESS; PID is of target.cc, whose output is LOG, and which this ends;
UNKNOWN has no known allocator. The exit status is 77 if the browser cannot start.
"""
import os
import re
import signal
import sys
import time

from browser import Browser, CannotStart
from page_checks import check, number_of

PATIENCE_SECONDS = 60
TABS = ["explain", "census", "leaks", "owners"]


def wait(page, condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while not page.evaluate(f"Boolean({condition})"):
        check(time.monotonic() < end, "never true:", condition, page.complaints)
        time.sleep(0.1)


def text_of(page, name, part):
    return page.evaluate(f"byId('inspect-{name}-{part}').textContent")


# Asks for it, and waits until it is there.
def look(page, name):
    page.evaluate(f"byId('tab-{name}').click()")
    page.evaluate(f"byId('inspect-{name}-look').click()")
    wait(page, "inspecting.running === null")


def answer_of(page, name):
    return page.evaluate(f"INSPECTIONS.find(({{ name }}) => name === '{name}').answer")


# By row: its name, and the figure and the text of each cell.
def rows_of(page, name):
    return page.evaluate(
        f"Array.from(byId('inspect-{name}-answer').querySelector('tbody').rows, (row) => ["
        "(row.cells[0].querySelector('.named') || row.cells[0]).textContent,"
        " ...Array.from(row.cells).slice(1).map((cell) => [Number(cell.dataset.value),"
        " cell.firstChild ? cell.firstChild.textContent : ''])])"
    )


def check_nothing_begins(page):
    check(page.evaluate("inspecting.running === null"), "it looks without being asked")
    for name in TABS:
        shown = page.evaluate(f"!byId('panel-{name}').hidden")
        check(shown == (name == "census"), "the address shows", name, shown)
        check(text_of(page, name, "look") == "Look", "the button of", name, "says otherwise")
        said = page.evaluate(f"byId('panel-{name}').innerText || byId('panel-{name}').textContent")
        check("no thread is stopped" in said, "what", name, "does:", said)
    asked = [address for address in page.requests if address.rsplit("/", 1)[-1] in TABS]
    check(not asked, "the page has asked for", asked)


def check_census(page, orders, customers):
    look(page, "census")
    answer, rows = answer_of(page, "census"), rows_of(page, "census")
    by_name = {row[0]: row for row in rows}
    check(by_name["shop::order"][1][0] == orders, "orders:", by_name["shop::order"], orders)
    check(by_name["shop::customer"][1][0] == customers, by_name["shop::customer"], customers)
    check(by_name["shop::order"][2] == [5000, "5,000"], by_name["shop::order"])
    shown = number_of(by_name["shop::order"][1][1])
    check(abs(shown - orders) <= orders * 0.01, "shown are", shown, "of", orders)
    check(len(rows) == len(answer["rows"]), len(rows), "rows of", len(answer["rows"]))
    for row, wanted in zip(rows, answer["rows"]):
        check(row[1][0] == wanted["bytes"] and row[2][0] == wanted["blocks"], row, wanted)
    check("Looked at " in text_of(page, "census", "status"), text_of(page, "census", "status"))
    check(text_of(page, "census", "look") == "Look again", text_of(page, "census", "look"))


def press_heading(page, name, column):
    page.evaluate(
        f"byId('inspect-{name}-answer').querySelectorAll('thead button')[{column}].click()"
    )


# Each time one heading is the one that sorts, and says how.
def check_sorting(page):
    def click(column):
        press_heading(page, "census", column)
        return page.evaluate(
            "Array.from(byId('inspect-census-answer').querySelectorAll('thead th'),"
            " (heading) => heading.getAttribute('aria-sort'))"
        )

    check(click(2) == ["none", "none", "descending"], "by blocks")
    blocks = [row[2][0] for row in rows_of(page, "census")]
    check(blocks == sorted(blocks, reverse=True) and blocks[0] == 5000, "by blocks:", blocks)
    check(click(2) == ["none", "none", "ascending"], "by blocks, again")
    blocks = [row[2][0] for row in rows_of(page, "census")]
    check(blocks == sorted(blocks) and blocks[0] < 5000, "by blocks, ascending:", blocks)
    check(click(0) == ["ascending", "none", "none"], "by name")
    names = [row[0] for row in rows_of(page, "census")]
    check(names == sorted(names), "by name:", names)


def check_growth(page):
    page.evaluate("byId('inspect-census-growth').value = '10'")
    page.evaluate("byId('inspect-census-look').click()")
    button = text_of(page, "census", "look")
    check(button == "Stop", "the button says", button)
    check(page.evaluate("byId('inspect-leaks-look').disabled"), "two looks at a time")
    check(text_of(page, "census", "status") == "Looking at the process", "it does not say so")
    wait(page, "/^[1-9]\\d* s$/.test(byId('inspect-census-elapsed').textContent)")
    page.evaluate("byId('inspect-census-look').click()")
    wait(page, "inspecting.running === null")
    said = text_of(page, "census", "status")
    check(said.startswith("Stopped; below is what was there at "), said)
    check(page.evaluate("byId('inspect-census-notice').hidden"), "a notice of what was asked for")
    check(rows_of(page, "census"), "what was seen before has gone")
    page.evaluate("byId('inspect-census-look').click()")
    wait(page, "inspecting.running === null")
    check(answer_of(page, "census")["seconds"] > 9, answer_of(page, "census")["seconds"])
    headings = page.evaluate("byId('inspect-census-answer').querySelector('thead').textContent")
    check("Growth" in headings, "the headings are", headings)


def check_leaks(page, lost):
    look(page, "leaks")
    answer, rows = answer_of(page, "leaks"), rows_of(page, "leaks")
    check(answer["verdict"] == "leaks", answer["verdict"])
    check(0.95 * lost <= answer["bytes"] <= lost, "leaked:", answer["bytes"], "of", lost)
    check(rows[0][1][0] == answer["rows"][0]["bytes"], rows[0], answer["rows"][0])
    title = page.evaluate("byId('inspect-leaks-answer').querySelector('h3').textContent")
    check(title.startswith("Leaked: "), title)
    check(f"{answer['blocks']} that nothing refers to" in title, title)


def check_owners(page, orders):
    look(page, "owners")
    answer, rows = answer_of(page, "owners"), rows_of(page, "owners")
    check(len(rows) == len(answer["rows"]), len(rows), "rows of", len(answer["rows"]))
    at = [row[0] for row in rows].index("orders in target")
    # an old pointer on a stack refers to some of them, too
    check(rows[at][1][0] > 0.95 * orders, "orders retain", rows[at], orders)
    below = [row[0] for row in rows[at + 1 : at + 3]]
    is_order = re.fullmatch("(4,9\\d\\d|5,000) \u00d7 shop::order", below[1])
    check(is_order, "below it there is", below)
    # what is below stays below, by whatever it is sorted
    press_heading(page, "owners", 1)
    turned = rows_of(page, "owners")
    at = [row[0] for row in turned].index("orders in target")
    check([row[0] for row in turned[at + 1 : at + 3]] == below, "sorted, below it there is", turned)
    depths = page.evaluate(
        "Array.from(byId('inspect-owners-answer').querySelectorAll('tbody th'),"
        " (heading) => Number(heading.style.getPropertyValue('--depth')))"
    )
    check(depths[at : at + 3] == [0, 1, 2], "the depths are", depths)


def check_memory(page):
    look(page, "explain")
    answer, rows = answer_of(page, "explain"), rows_of(page, "explain")
    parts = {part: sum for part, sum in answer["now"]["parts"].items() if sum["resident"]}
    names = page.evaluate("PARTS")
    for part, figures in parts.items():
        row = next(row for row in rows if row[0] == names[part])
        check(row[1][0] == figures["resident"], "the row of", part, "is", row, figures)
    pieces = page.evaluate(
        "Array.from(document.querySelectorAll('.parts i'),"
        " (piece) => piece.getBoundingClientRect().width)"
    )
    check(len(pieces) == len(parts), len(pieces), "pieces of", len(parts), "parts")
    whole = sum(figures["resident"] for figures in parts.values())
    for width, figures in zip(pieces, parts.values()):
        share = figures["resident"] / whole
        check(abs(width / sum(pieces) - share) < 0.02, "a piece is", width, "for", share)
    title = page.evaluate("byId('inspect-explain-answer').querySelector('h3').textContent")
    check(title == answer["verdict"] + ": " + answer["why"], title)
    check(answer["remedy"] in text_of(page, "explain", "answer"), "no remedy")


# What a session has sampled stands below the name of the row.
def check_stacks(page):
    said = page.evaluate(
        "viewLeaks({ verdict: 'leaks', blocks: 9, bytes: 900, more_blocks: 0, more_bytes: 0,"
        " blocks_in_use: 10, looks: 2, seconds: 5, allocators: [{ name: 'a', refusal: '' }],"
        " rows: [{ kind: 'text', class: '', size: 100, blocks: 9, bytes: 900, more_blocks: 0,"
        " more_bytes: 0, sampled: 4, stacks: [{ sampled: 3, stack: 'keeps < main' },"
        " { sampled: 1, stack: 'loses < main' }] }] }).map((part) => part.textContent).join('|')"
    )
    for part in ("Stacks of 4 sampled", "75% keeps < main", "25% loses < main"):
        check(part in said, part, "is not in", said)
    check("attach to it" not in said, "it names a remedy that is there already:", said)


def focused(page):
    return page.evaluate("document.activeElement.id")


def check_keyboard(page):
    page.evaluate("byId('tab-explain').click()")
    page.evaluate("byId('tab-explain').focus()")
    for key, wanted in (("ArrowRight", "census"), ("ArrowLeft", "explain"), ("ArrowLeft", "owners"),
                        ("ArrowRight", "explain"), ("ArrowRight", "census"), ("Home", "explain")):
        page.press(key)
        check(focused(page) == "tab-" + wanted, key, "leads to", focused(page))
        chosen = page.evaluate("document.querySelector('[role=tab][aria-selected=true]').id")
        check(chosen == "tab-" + wanted, key, "selects", chosen)
        check(page.evaluate(f"!byId('panel-{wanted}').hidden"), "its panel is hidden:", wanted)
    check(page.evaluate("location.hash") == "#explain", page.evaluate("location.hash"))
    check(page.evaluate("inspecting.running === null"), "keys begin a look")
    # the next to have the focus is the panel, and then its button, which Enter presses
    page.press("Tab")
    check(focused(page) == "panel-explain", "Tab leads elsewhere")
    page.press("Tab")
    check(focused(page) == "inspect-explain-look", "Tab leads elsewhere")
    page.press("Enter")
    wait(page, "inspecting.running !== null")
    wait(page, "inspecting.running === null")


def check_narrow(browser, address, directory):
    page = browser.open(address + "#explain", width=390, dark=True)
    look(page, "explain")
    page.settle()
    wide = page.evaluate("document.documentElement.scrollWidth")
    check(wide <= 390, "the page is", wide, "wide")
    headings, cells = page.evaluate(
        "['thead tr', 'tbody tr'].map((row) => Array.from(byId('inspect-explain-answer')"
        ".querySelector(row).cells).filter((cell) => cell.offsetWidth).length)"
    )
    check(headings == cells == 5, headings, "headings of", cells, "columns")
    page.screenshot(f"{directory}/explain.390.png")
    check(not page.complaints, "the browser complains:", page.complaints)


def check_unknown(page):
    for name in ("census", "owners", "leaks"):
        look(page, name)
        said = text_of(page, name, "answer")
        check("annot tell" in said, name, "says", said)
        check("Known are the heaps of glibc" in said, name, "has no remedy:", said)
        rows = page.evaluate(f"byId('inspect-{name}-answer').querySelectorAll('tr').length")
        check(not rows, "rows of nothing")
    look(page, "explain")
    check("No allocator was found" in text_of(page, "explain", "answer"), "explain of no allocator")


# The answer of before stays, and it is said that it is one.
def check_gone(page, pid):
    os.kill(pid, signal.SIGTERM)
    look(page, "census")
    notice = text_of(page, "census", "notice")
    check("no such process" in notice, "the notice says", notice)
    check(not page.evaluate("byId('inspect-census-notice').hidden"), "the notice is hidden")
    said = text_of(page, "census", "status")
    check(said.startswith("It could not be looked at; below is what was there at "), said)
    check(rows_of(page, "census"), "what was seen before has gone")


def main():
    program, at, pid, unknown, log, directory = sys.argv[1:]
    with open(log, encoding="ascii") as lines:
        orders, customers, lost = map(int, lines.readline().split())
    try:
        browser = Browser(program, directory)
    except CannotStart as error:
        print(error)
        return 77
    with browser:
        page = browser.open(f"{at}/pid/{pid}/#census", width=1400)
        check_nothing_begins(page)
        check_census(page, orders, customers)
        check_sorting(page)
        check_growth(page)
        check_leaks(page, lost)
        check_owners(page, orders)
        check_memory(page)
        check_stacks(page)
        check_keyboard(page)
        # serve needs half a second to see that the look was stopped, and the page asks again
        complaints = [text for text in page.complaints if "503" not in text]
        check(not complaints, "the browser complains:", complaints)
        own = (at + "/", "data:", "about:")
        elsewhere = [address for address in page.requests if not address.startswith(own)]
        check(not elsewhere, "it has asked for", elsewhere)
        check_narrow(browser, f"{at}/pid/{pid}/", directory)
        other = browser.open(f"{at}/pid/{unknown}/")
        check_unknown(other)
        check(not other.complaints, "the browser complains:", other.complaints)
        page.send("Page.bringToFront")
        check_gone(page, int(pid))
    return 0


if __name__ == "__main__":
    sys.exit(main())
