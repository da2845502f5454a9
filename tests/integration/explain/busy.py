#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""busy.py HEAPINJECT SHAPES: looks again and again at a process whose threads allocate and free as
fast as they can. Its parts must sum up to what is resident, and little may be unsure.
"""
import sys
import time

from shaped import Shaped, explain

LOOKS = 20
BLOCKS = 20000  # that it holds at least, once all threads have begun
PATIENCE_SECONDS = 60
UNSURE = 0.05
# The heap grows and shrinks between the first and the last read of a look.
SHARE = 0.1


def wait_for_blocks(pid):
    """On a busy machine threads begin late."""
    end = time.monotonic() + PATIENCE_SECONDS
    while explain(sys.argv[1], pid, "--once")["now"]["parts"]["used"]["count"] < 2 * BLOCKS:
        if time.monotonic() > end:
            sys.exit("storm: its threads do not begin")
        time.sleep(0.1)


def main():
    failed = 0
    unsure = []
    with Shaped(sys.argv[2], "storm", ".") as shaped:
        wait_for_blocks(shaped.process.pid)
        for _ in range(LOOKS):
            now = explain(sys.argv[1], shaped.process.pid, "--once")["now"]
            parts = now["parts"]
            resident = sum(part["resident"] for part in parts.values())
            if abs(resident - now["resident"]) > SHARE * now["resident"]:
                print(f"storm: {resident} of {now['resident']} resident", file=sys.stderr)
                failed += 1
            unsure.append(parts["unsure"]["bytes"] / now["resident"])
            if not parts["used"]["count"] > BLOCKS:
                print(f"storm: {parts['used']['count']} blocks: {now['allocators']}",
                      file=sys.stderr)
                failed += 1
    unsure.sort()
    print(f"storm: unsure of {unsure[len(unsure) // 2]:.2%}, at most of {unsure[-1]:.2%}")
    return bool(failed or unsure[len(unsure) // 2] > UNSURE)


if __name__ == "__main__":
    sys.exit(main())
