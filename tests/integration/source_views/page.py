# SPDX-License-Identifier: MIT
"""Reads a page of --weblist as a browser does, and prints "row FUNCTION LINE FLAT CUM", with line 0
for the function itself. page.py PAGE OBJDUMP: instructions must be among "address name" of that,
those with figures must be calls, and the page must need nothing but itself.
"""
import html.parser
import re
import sys

VOID = {"meta", "link", "br"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems = [], []
        self.function, self.text, self.rows, self.code = "", "", [], []

    def problem(self, text):
        self.problems.append(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "href") and not value.startswith("data:"):
                self.problem(f"it fetches {value}")
            if name.startswith("on"):
                self.problem(f"{tag} has {name}")
        if tag not in VOID:
            self.open.append(tag)
        if tag != "b":
            self.text = ""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problem(f"{tag} is closed, and was not open")
        if tag == "h2":
            self.function = self.text
        elif tag == "p" and "(flat, cum)" in self.text:
            self.rows.append((self.function, 0, *self.text.split()[:2]))
        elif tag in ("summary", "div"):
            row = re.match(r" *(\S+) +(\S+) +(\d+):", self.text)
            if row and "section" in self.open:
                self.rows.append((self.function, int(row[3]), row[1], row[2]))
        elif tag == "pre" and "details" in self.open:
            self.code += self.text.splitlines()
        if tag != "b":
            self.text = ""

    def handle_data(self, data):
        self.text += data


def main():
    page = Page()
    with open(sys.argv[1], encoding="utf-8") as file:
        page.feed(file.read())
    with open(sys.argv[2], encoding="utf-8") as file:
        there = dict(line.split()[:2] for line in file)
    calls = shown = 0
    for line in page.code:
        part = line.split()
        if "..." in part:
            continue
        address = part[2].rstrip(":")
        shown += 1
        if address not in there:
            page.problem(f"no instruction: {line}")
        elif part[:2] != [".", "."]:
            calls += 1
            if not there[address].startswith("call") or not part[3].startswith("call"):
                page.problem(f"no call: {line}")
    if page.open:
        page.problem(f"not closed: {page.open}")
    for row in page.rows:
        print("row", *row)
    print(f"page: {shown} instructions, {calls} calls with figures, {len(page.rows)} rows")
    print(*page.problems, sep="\n")
    sys.exit(bool(page.problems) or shown < 20 or calls < 5)


main()
