#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""busy.py HEAPINJECT PROGRAM: busy.cc, of which nothing is leaked, and then just what is."""
import subprocess
import sys

from outside import leaks_of

LOST = 50


def check(heapinject, program, *arguments):
    process = subprocess.Popen(
        [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        process.stdout.readline()
        said = leaks_of(heapinject, process.pid)
    finally:
        process.stdin.close()
        process.wait(60)
    blocks = said["blocks"] + said["more_blocks"]
    want = LOST if arguments else 0
    print(f"busy: {blocks} of {said['blocks_in_use']} blocks leaked, by {said['looks']} looks")
    # Memory that was used before may still refer to one or the other.
    return 0 if want * 0.9 <= blocks <= want else 1


def main():
    heapinject, program = sys.argv[1:]
    return check(heapinject, program) or check(heapinject, program, "lose")


if __name__ == "__main__":
    sys.exit(main())
