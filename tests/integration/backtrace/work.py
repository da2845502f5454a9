# SPDX-License-Identifier: MIT
"""Work of many kinds, each with calls from C to Python and back, until something stops it.

Once all modules are loaded it creates a file of the given name.
"""
import functools
import json
import re
import sqlite3
import sys
import xml.etree.ElementTree
import zlib
import random


@functools.total_ordering
class Key:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return bytearray(600) and self.value < other.value


def nested(depth):
    return (
        bytearray(700)
        if depth == 0
        else sorted([depth, 1], key=lambda value: len(nested(depth - 1)) * 0 + value)
    )


def lengths():
    base = sqlite3.connect(":memory:")
    base.create_function("twice", 1, lambda text: text * 2)
    base.execute("create table words (word text)")
    base.executemany(
        "insert into words values (?)", ((str(number) * 100,) for number in range(200))
    )
    return sum(len(row[0]) for row in base.execute("select twice(word) from words order by word"))


def work():
    nested(8)
    sorted(Key(random.random()) for _ in range(100))
    lengths()
    json.loads(json.dumps([{"a": [str(number) * 80] * 3} for number in range(100)]))
    re.sub(r"(\d+)", lambda match: match.group(1) * 200, "1 22 333 " * 20)
    xml.etree.ElementTree.fromstring("<a>" + "<b c='d'>text</b>" * 300 + "</a>")
    zlib.decompress(zlib.compress(bytes(100000)))


work()
open(sys.argv[1], "w", encoding="ascii").close()
while True:
    work()
