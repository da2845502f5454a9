# SPDX-License-Identifier: MIT
"""page.py CHROMIUM PAGE DIRECTORY: the chart of the memory has the lines of the heap."""
import os
import sys
import time

from browser import Browser, CannotStart

LINES = ("anonymous memory", "retained, a trim gives back", "in use, allocator's count")
PATIENCE_S = 60

program, page_path, directory = sys.argv[1:]
try:
    with Browser(program, directory) as browser:
        page = browser.open("file://" + os.path.abspath(page_path) + "#tab=growth")
        end = time.monotonic() + PATIENCE_S
        said = ""
        while not said and time.monotonic() < end:
            said = page.evaluate("byId('memory-said').textContent")
        bands = page.evaluate("document.querySelectorAll('#memory-chart .band').length")
        lines = page.evaluate("document.querySelectorAll('#memory-chart .line').length")
        complaints = page.complaints
except CannotStart as reason:
    print(f"the page is not checked: {reason}")
    sys.exit()
print(said)
missing = [line for line in LINES if line not in said]
if missing or bands < 1 or lines < 4 or complaints:
    print(f"FAIL: missing {missing}, {bands} bands, {lines} lines, complaints {complaints}")
    sys.exit(1)
