# SPDX-License-Identifier: MIT
"""pages.py CHROMIUM DIRECTORY dh_view PAGE FILE: FILE as a person would open it in valgrind's
viewer: bytes and blocks in all, bytes and blocks at the end.

pages.py CHROMIUM DIRECTORY speedscope PAGE FILE FUNCTION: the same in speedscope: the profile
shown, without spaces, how many there are, and the total of the function, as shown.
"""
import re
import sys
import time

from browser import Browser

SECONDS = 60


def give(page, path):
    """Chooses the file in the page's dialog."""
    root = page.send("DOM.getDocument")["root"]["nodeId"]
    node = page.send("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
    assert node, "the page has no input for a file"
    page.send("DOM.setFileInputFiles", nodeId=node, files=[path])


def wait_for(page, pattern):
    """The match in the text of the page, once it is there."""
    end = time.monotonic() + SECONDS
    while True:
        text = page.evaluate("document.body.innerText")
        found = re.search(pattern, text, re.MULTILINE)
        if found:
            return found
        assert time.monotonic() < end, f"no {pattern} in: {text[:1000]}"
        time.sleep(0.05)


def dh_view(page, path):
    give(page, path)
    figures = r"([\d,]+) bytes \(.*?\) in ([\d,]+) blocks"
    whole = wait_for(page, rf"Total: +{figures}[^\n]*\n.*\n *At t-end: +{figures}")
    return [number.replace(",", "") for number in whole.groups()]


def speedscope(page, path, function):
    wait_for(page, "speedscope")
    give(page, path)
    shown = wait_for(page, r"^(.*) \(\d+/(\d+)\)$")
    page.send("Input.dispatchKeyEvent", type="keyDown", key="3", code="Digit3", text="3")
    row = wait_for(page, rf"^([\d.]+ \w+) \(\d+%\)\s+[^\n]*\s+{re.escape(function)}$")
    return [shown[1].replace(" ", ""), shown[2], row[1].replace(" ", "")]


def main():
    chromium, directory, viewer, address, path = sys.argv[1:6]
    with Browser(chromium, directory) as browser:
        page = browser.open(f"file://{address}")
        print(*globals()[viewer](page, path, *sys.argv[6:]))
        errors = [text for text in page.complaints if "WebGL" not in text]
        assert not errors, errors


main()
