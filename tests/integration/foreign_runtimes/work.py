# SPDX-License-Identifier: MIT
"""Calls of a known depth, JSON, regular expressions, until it is ended."""
import json
import re


def deeper(left):
    return deeper(left - 1) + "x" if left else "y" * 600


print("ready", flush=True)
while True:
    deeper(20)
    json.loads(json.dumps({str(i): "v" * i for i in range(700)}))
    re.sub(r"(\w+) (\w+)", lambda found: found[2] + found[1], "abc def " * 200)
    sorted(bytearray(900) for _ in range(20))
