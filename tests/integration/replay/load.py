#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands for redis-cli --pipe, the same each time: keys of many sizes, lists and hashes, half of
them overwritten or deleted, and larger ones in the gaps.
"""
import random
import sys

KEYS = 80000


def command(*arguments):
    """One command in Redis's protocol."""
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        text = argument if isinstance(argument, bytes) else str(argument).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(text), text))
    return b"".join(parts)


def main():
    chance = random.Random(7)
    out = sys.stdout.buffer
    for i in range(KEYS):
        out.write(command("SET", f"key:{i:08}", b"v" * chance.randrange(20, 900)))
        if i % 4 == 0:
            out.write(command("LPUSH", f"list:{i % 500}", b"l" * chance.randrange(5, 200)))
        if i % 4 == 1:
            out.write(command("HSET", f"hash:{i % 2000}", f"f{i}", b"h" * chance.randrange(5, 99)))
        if i % 3 == 0:
            key = f"key:{chance.randrange(i + 1):08}"
            out.write(command("SET", key, b"w" * chance.randrange(20, 900)))
    for i in range(KEYS):
        if chance.random() < 0.5:
            out.write(command("DEL", f"key:{i:08}"))
    for i in range(KEYS // 10):
        out.write(command("SET", f"large:{i}", b"x" * chance.randrange(1000, 1500)))


main()
