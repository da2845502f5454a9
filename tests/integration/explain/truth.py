#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""truth.py HEAPINJECT PROGRAM... : compares what `heapinject explain` says of processes of known
shapes with what glibc says inside them at the same moment (mallinfo2), with what malloc_trim then
gives back, and with what the kernel says that is resident.
"""
import os
import sys

from shaped import Shaped, explain

SHAPES = (
    "aligned",
    "arenas",
    "caches",
    "churn",
    "churn_threads",
    "fragmentation",
    "fragmentation_large",
    "fragmentation_quarter",
    "large",
    "nothing",
    "pool",
    "resized",
    "retention",
    "retention_fast",
    "retention_sparse",
    "retention_threshold",
    "small",
    "stacks",
    "system_v",
    "tmpfs",
)
HEAD = 8
# What is read last is not of the moment of what is read first: printing allocates a kilobyte.
SLACK = 64 << 10
failures = []


def check(name, what, said, want, share):
    is_right = abs(said - want) <= max(share * want, SLACK)
    if not is_right:
        failures.append(f"{name}: {what}: {said}, not {want}")
    return is_right


def state_of(pid):
    """What explain must leave as it was."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        maps = file.read()
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = [
            line
            for line in file
            if line.split(":")[0] in ("RssAnon", "VmPTE", "VmSwap", "Threads", "TracerPid")
        ]
    fds = sorted(os.listdir(f"/proc/{pid}/fd"))
    return maps, status, fds


def compare(heapinject, program, name):
    with Shaped(program, name, ".") as shaped:
        pid = shaped.process.pid
        used, mapped, free, mapped_count = shaped.ask("info")
        before = state_of(pid)
        said = explain(heapinject, pid, "--once")["now"]
        if state_of(pid) != before:
            failures.append(f"{name}: the process is not as it was")
        given = shaped.ask("trim")[0]
    parts = said["parts"]

    def with_heads(part):
        return parts[part]["bytes"] + HEAD * parts[part]["count"]

    # Heads of blocks in use are larger if these are aligned and have a mapping of their own.
    heads = parts["heads"]["bytes"] - HEAD * (parts["cached"]["count"] + parts["free"]["count"])
    in_use = parts["used"]["bytes"] + heads + with_heads("cached") + parts["metadata"]["bytes"]
    check(name, "in use", in_use, used + mapped, 0.01)
    check(name, "free", with_heads("free"), free, 0.01)
    check(name, "trimmable", said["trimmable"], given, 0.05)
    resident = sum(part["resident"] for part in parts.values())
    check(name, "resident", resident, said["resident"], 0.02)
    if parts["unsure"]["bytes"]:
        failures.append(f"{name}: unsure of {parts['unsure']['bytes']} bytes")
    print(
        f"{os.path.basename(program)} {name}: in use {in_use} of {used + mapped}, trimmable "
        f"{said['trimmable']} of {given}, resident {resident} of {said['resident']}, "
        f"{mapped_count} blocks by mmap"
    )


def main():
    for program in sys.argv[2:]:
        for name in SHAPES:
            compare(sys.argv[1], program, name)
    for failure in failures:
        print(failure, file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
