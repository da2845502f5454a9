#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether stacks on standard input (collapsed, by bytes) are those of program.go after some rounds.

stacks.py ROUNDS [OPTION of go build...]
"""
import re
import sys
from collections import Counter

CALL = "_Cfunc_keep;runtime.cgocall;runtime.asmcgocall;keep"
DEEP = "main.work;" + "main.deep;" * 11 + "main.keepInC;main." + CALL
# C has called Go, whose runtime has some functions for that
BACK = (
    "main.work;main.throughC;main._Cfunc_call_go;runtime.cgocall;runtime.systemstack_switch;"
    ".*;main.go_called_by_c;main.keepInC;main." + CALL
)
GROWN = "main.work;main.grow;main.keepInC;main." + CALL
GOROUTINES, LOCKED = 3, 1


def main():
    rounds, options = int(sys.argv[1]), sys.argv[2:]
    found, depths = Counter(), Counter()
    for line in sys.stdin:
        stack, _, bytes_ = line.rpartition(" ")
        depths[stack.count(";") + 1] += int(bytes_)
        stack = re.sub(r"\.abi0", "", stack)
        for name, pattern in (("deep", DEEP), ("back", BACK), ("grown", GROWN)):
            if re.fullmatch(f"runtime.goexit;main.main.func1;{pattern}", stack):
                found[name] += int(bytes_)
            elif re.fullmatch(f"runtime.goexit;main.main.func2;main.workLocked;{pattern}", stack):
                found[name + ", locked"] += int(bytes_)
    wanted = {}
    for name, bytes_ in (("deep", 100 * rounds), ("back", 200 * rounds), ("grown", 300)):
        wanted[name] = GOROUTINES * bytes_
        wanted[name + ", locked"] = LOCKED * bytes_
    if any("-s" in option.split("=")[-1].split() for option in options):
        # the bytes of the frames of such stacks: goexit, func1, work, and so on
        named = len(f"runtime.goexit;main.main.func1;{DEEP}".split(";"))
        print(f"frames: {dict(depths)}")
        return depths[named] < wanted["deep"] or depths[named + 1] < wanted["deep, locked"]
    print(dict(found))
    return found != wanted


if __name__ == "__main__":
    sys.exit(main())
