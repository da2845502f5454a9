# SPDX-License-Identifier: MIT
"""Checks that frames in the vdso have the names of the dynamic symbols around them.

  names.py FILE.heap IMAGE [none]

With none, no frame in the vdso has a name. The symbols come from the vdso of this process, by nm; a
copy of the vdso goes to IMAGE. Prints how many frames there are, by name.
"""
import collections
import re
import subprocess
import sys


def image():
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        low, high = next(
            [int(part, 16) for part in line.split()[0].split("-")]
            for line in maps
            if line.rstrip().endswith("[vdso]")
        )
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        memory.seek(low)
        return memory.read(high - low)


def functions(path):
    """(address, end, name) of the dynamic symbols; several may be at one address."""
    said = subprocess.run(
        ["nm", "-D", "-S", "--defined-only", path], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [TtWw] ([^@\n]+)", said, re.MULTILINE)
    return [
        (int(address, 16), int(address, 16) + int(size, 16), name) for address, size, name in found
    ]


def main():
    heap, copy, wants_none = sys.argv[1], sys.argv[2], sys.argv[3:] == ["none"]
    with open(copy, "wb") as file:
        file.write(image())
    known = functions(copy)
    with open(heap, encoding="utf-8") as file:
        text = file.read()
    modules = [
        (int(low, 16), int(high, 16), int(bias, 16))
        for low, high, bias in re.findall(
            r"^# module ([0-9a-f]+)-([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \S+ \[vdso\]$",
            text,
            re.MULTILINE,
        )
    ]
    names = dict(
        (int(address, 16), name)
        for address, name in re.findall(r"^# symbol 0x([0-9a-f]+) ([^\t]*)\t", text, re.MULTILINE)
    )
    if len(modules) != 1:
        sys.exit(f"{len(modules)} modules are the vdso")
    low, high, bias = modules[0]
    counts, wrong = collections.Counter(), 0
    stacks = re.findall(r"^ *\d+: +\d+ \[ *\d+: +\d+\] @(.*)$", text, re.MULTILINE)
    for address in {int(word, 16) for stack in stacks for word in stack.split()}:
        if not low <= address < high:
            continue
        # Behind a call; or where a signal came in, which may be before the first instruction.
        right = {name for begin, end, name in known if begin <= address - 1 - bias < end} or {
            name for begin, _, name in known if begin == address - bias
        }
        name = names.get(address)
        counts[name] += 1
        if (name is not None) if wants_none or not right else name not in right:
            print(f"{address - bias:#x}: named {name}, is in {right}")
            wrong += 1
    for name, count in counts.most_common():
        print(f"{count} {name}")
    named = any(name is not None for name in counts)
    return 0 if counts and not wrong and named != wants_none else 1


if __name__ == "__main__":
    sys.exit(main())
