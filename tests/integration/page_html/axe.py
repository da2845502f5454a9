# SPDX-License-Identifier: MIT
"""Looks for what hinders users of assistive technology, on all tabs of a page, by axe-core.

  axe.py BROWSER AXE DIRECTORY PAGE...

AXE is axe.min.js. Each tab is looked at in light and in dark, on a wide screen and on a phone's.
"""
import sys

from browser import Browser

RUN = (
    "axe.run(document, { resultTypes: ['violations'] }).then((found) => "
    "found.violations.flatMap(({ id, nodes }) => "
    "nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}\\n${failureSummary}`)))"
)


def main():
    program, axe, directory, *addresses = sys.argv[1:]
    looked_at, findings = 0, []
    with open(axe, encoding="utf-8") as file:
        script = file.read()
    with Browser(program, directory) as browser:
        for address in addresses:
            for width, dark in ((1400, False), (1400, True), (390, False), (390, True)):
                page = browser.open(f"file://{address}", width=width, dark=dark)
                page.evaluate(script + "; openFilters(true); byId('save').open = true")
                for tab in page.evaluate("shownTabs().map((tab) => tab.name)"):
                    page.evaluate(f"selectTab('{tab}', true)")
                    page.settle()
                    looked_at += 1
                    findings += [
                        f"{tab}, {width} pixels, {'dark' if dark else 'light'}: {finding}"
                        for finding in page.evaluate(RUN)
                    ]
    print("\n".join(findings + [f"{looked_at} views, {len(findings)} findings"]))
    sys.exit(1 if findings or not looked_at else 0)


main()
