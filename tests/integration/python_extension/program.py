# SPDX-License-Identifier: MIT
"""Says "ready", then obeys commands.

`load` imports C extensions. The name of one uses it, keeps the results, and says whether they are
right.
"""
import importlib
import sys

kept = []


def load():
    for name in ("sqlite3", "xml.etree.ElementTree", "lzma"):
        importlib.import_module(name)
    return True


def sqlite():
    import sqlite3

    database = sqlite3.connect(":memory:")
    database.execute("create table t (number integer, text text)")
    database.executemany("insert into t values (?, ?)", ((i, "text %d" % i) for i in range(30000)))
    kept.append(database)
    return database.execute("select sum(number), max(length(text)) from t").fetchone() == (
        30000 * 29999 // 2,
        10,
    )


def expat():
    import xml.etree.ElementTree

    tree = xml.etree.ElementTree.fromstring("<a>" + "<b c='d'>text</b>" * 20000 + "</a>")
    kept.append(tree)
    return len(tree) == 20000 and tree[19999].text == "text"


def xz():
    import lzma

    data = b"0123456789" * 100000
    return lzma.decompress(lzma.compress(data)) == data


print("ready", flush=True)
for line in sys.stdin:
    print("right" if globals()[line.strip()]() else "wrong", flush=True)
