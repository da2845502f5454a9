# SPDX-License-Identifier: MIT
"""A program in Python that answers each line of its standard input with one of its own, and passes
the line's number of bytes through a C extension, which loses them.
"""
import collections
import json
import sys

import leak_python

KEPT = 300


def answer(size, recent):
    request = {"size": size, "fields": [{"key": f"key {i}", "value": i} for i in range(20)]}
    text = json.dumps(request)
    recent.append(json.loads(text))
    return leak_python.decode(text.encode().ljust(size)[:size])


def main():
    recent = collections.deque(maxlen=KEPT)
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(int(line), recent), flush=True)


if __name__ == "__main__":
    main()
