#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether stacks on standard input (collapsed, by bytes) are those of program.go after some rounds.

stacks.py ROUNDS
"""
import re
import sys
from collections import Counter

CALL = "_Cfunc_keep;runtime.cgocall;runtime.asmcgocall;keep"
DEEP = "main.work;" + "main.deep;" * 11 + "main.keepInC;main." + CALL
# C has called Go, whose runtime has some functions for that; of a stripped program it is not known
# that main.go_called_by_c is inlined in the last of them
BACK = (
    "main.work;main.throughC;main._Cfunc_call_go;runtime.cgocall;runtime.systemstack_switch;"
    ".*;_cgoexp_[0-9a-f]*_go_called_by_c;(main.go_called_by_c;)?main.keepInC;main." + CALL
)
GROWN = "main.work;main.grow;main.keepInC;main." + CALL
GOROUTINES, LOCKED = 3, 1


def main():
    rounds, found = int(sys.argv[1]), Counter()
    for line in sys.stdin:
        stack, _, bytes_ = line.rpartition(" ")
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
    print(dict(found))
    return found != wanted


if __name__ == "__main__":
    sys.exit(main())
