#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Resident memory of a process's heap: its highest, and as it is now, in bytes.

The kernel keeps the highest resident size of the whole process. Files, the stacks and the data of
programs and libraries are not the heap's; they are taken off as they are now.
"""
import re
import sys


def field(text, name):
    return int(re.search(rf"^{name}:\s*(\d+) kB", text, re.M).group(1)) * 1024


def main():
    pid = sys.argv[1]
    heap = other = 0
    is_heap = False
    # Read at once: the process answers requests meanwhile.
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    for line in lines:
        mapping = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)", line)
        if mapping:
            is_heap = mapping.group(1) in ("", "[heap]") or mapping.group(1).startswith("[anon")
        elif line.startswith("Anonymous:"):
            size = int(line.split()[1]) * 1024
            heap += size if is_heap else 0
            other += 0 if is_heap else size
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = file.read()
    high = field(status, "VmHWM")
    print(high - field(status, "RssFile") - field(status, "RssShmem") - other, heap)


main()
