# SPDX-License-Identifier: MIT
"""Opens the pages that explain, census, leaks and owners have written.

  checks.py BROWSER DIRECTORY LOG

LOG is the output of target.cc. The exit status is 77 if the browser cannot start.
"""
import re
import sys

from browser import Browser, CannotStart
from page_checks import check

NAME = "</script><b>"


def open_page(browser, directory, name):
    page = browser.open(f"file://{directory}/{name}.html")
    check(not page.complaints, name, "complains:", page.complaints)
    others = [address for address in page.requests if not address.startswith(("file:", "data:"))]
    check(not others, name, "asks for", others)
    return page


# Of the first table: the name and the first figure of each row.
def rows_of(page):
    return page.evaluate(
        "Array.from(document.querySelector('tbody').rows, (row) => ["
        "(row.cells[0].querySelector('.named') || row.cells[0]).textContent,"
        " Number(row.cells[1].dataset.value)])"
    )


def check_page(page, name, figure):
    check(page.evaluate("byId('title').firstChild.data") == NAME, page.evaluate("document.title"))
    check(page.evaluate("document.querySelector('b')") is None, "the name is markup")
    answer = page.evaluate("JSON.parse(byId('data').textContent).answer")
    rows = rows_of(page)
    shown = sorted(value for _, value in rows)
    check(shown == sorted(figure(answer)), name, "shows", rows, "of", answer)
    return answer, dict(rows)


def check_grown(page):
    headings = page.evaluate(
        "Array.from(document.querySelectorAll('th[scope=col]'), (cell) => cell.textContent)"
    )
    check(headings == ["What", "Bytes", "Blocks", "Verdict", "Growth", "Blocks/s",
                       "Possible pointers in", "Kept by"], headings)
    rows = page.evaluate(
        "Array.from(document.querySelector('tbody').rows, (row) => "
        "Array.from(row.cells, (cell) => cell.textContent))"
    )
    order = next(row for row in rows if row[0] == "shop::order")
    check(order[3:6] == ["steady", "", ""], "of what is steady there is", order)
    # an old pointer refers to some of them, too
    check(re.match(r"orders in target \((4,9\d\d|5,000)\)", order[7]), "kept by", order[7])


def main():
    program, directory, log = sys.argv[1:]
    with open(log, encoding="ascii") as lines:
        orders, _, lost = map(int, lines.readline().split())
    try:
        browser = Browser(program, directory)
    except CannotStart as error:
        print(error)
        return 77
    with browser:
        _, census = check_page(
            open_page(browser, directory, "census"), "census",
            lambda answer: [row["bytes"] for row in answer["rows"]],
        )
        check(census["shop::order"] == orders, census, orders)
        leaks, _ = check_page(
            open_page(browser, directory, "leaks"), "leaks",
            lambda answer: [row["bytes"] for row in answer["rows"]],
        )
        check(0.95 * lost <= leaks["bytes"] <= lost, leaks, lost)
        _, owners = check_page(
            open_page(browser, directory, "owners"), "owners",
            lambda answer: [row["retained_bytes"] for row in answer["rows"]],
        )
        # an old pointer on a stack refers to some of them, too
        check(owners["orders in target"] > 0.95 * orders, owners)
        page = open_page(browser, directory, "explain")
        check_page(page, "explain", lambda answer: [
            part["resident"] for part in answer["now"]["parts"].values()
            if part["resident"] or part["swapped"]
        ])
        theme = page.evaluate("document.documentElement.dataset.theme")
        page.evaluate("byId('theme').click()")
        check(page.evaluate("document.documentElement.dataset.theme") != theme, "it stays", theme)
        page.screenshot(f"{directory}/explain.png")
        check_grown(open_page(browser, directory, "grown"))
        unknown = open_page(browser, directory, "unknown")
        said = unknown.evaluate("document.body.innerText")
        check("Cannot tell what it holds" in said, "of an unknown allocator it says", said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
