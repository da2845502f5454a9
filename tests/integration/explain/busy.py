#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""busy.py HEAPINJECT SHAPES: looks again and again at a process whose threads allocate and free as
fast as they can. Its parts must sum up to what is resident, and little may be unsure.
"""
import sys

from shaped import Shaped, explain

LOOKS = 20
UNSURE = 0.05
# The heap grows and shrinks between the first and the last read of a look.
SHARE = 0.1


def main():
    failed = 0
    unsure = []
    with Shaped(sys.argv[2], "storm", ".") as shaped:
        for _ in range(LOOKS):
            now = explain(sys.argv[1], shaped.process.pid, "--once")["now"]
            parts = now["parts"]
            resident = sum(part["resident"] for part in parts.values())
            if abs(resident - now["resident"]) > SHARE * now["resident"]:
                print(f"storm: {resident} of {now['resident']} resident", file=sys.stderr)
                failed += 1
            unsure.append(parts["unsure"]["bytes"] / now["resident"])
            if not parts["used"]["count"] > 20000:
                print(f"storm: {parts['used']['count']} blocks", file=sys.stderr)
                failed += 1
    unsure.sort()
    print(f"storm: unsure of {unsure[len(unsure) // 2]:.2%}, at most of {unsure[-1]:.2%}")
    return bool(failed or unsure[len(unsure) // 2] > UNSURE)


if __name__ == "__main__":
    sys.exit(main())
