# SPDX-License-Identifier: MIT
"""Heap profiles as text, of heapinject, gperftools and jemalloc, and the symbols of a program.

Nothing here is heapinject's: what its profile says is computed as any reader of the format does it.
"""
import bisect
import collections
import math
import re
import subprocess

from processes import Failed, read

NORMAL_95 = 1.96
LINE = re.compile(r"^\s*(\d+):\s*(\d+)\s*\[\s*(\d+):\s*(\d+)\]\s*@\s*(.*)$")
JEMALLOC_TOTAL = re.compile(r"^\s*t\*:\s*(\d+):\s*(\d+)\s*\[")


class Symbols:
    """The functions of a program that is not stripped, by address."""

    def __init__(self, path):
        self.path = path
        text = subprocess.run(
            ["nm", "--defined-only", path], check=True, capture_output=True, text=True
        ).stdout
        self.named = {}  # name -> address in the file
        self.names = collections.defaultdict(set)
        for line in text.splitlines():
            address, kind, name = line.split(maxsplit=2)
            if kind in "TtWwi":
                self.named[name] = int(address, 16)
                self.names[int(address, 16)].add(name)
        self.starts = sorted(self.names)

    def function(self, address):
        """The names of the function that has the address, all of them."""
        at = bisect.bisect_right(self.starts, address) - 1
        return self.names[self.starts[at]] if at >= 0 else set()


def program_mappings(maps, program):
    """(low, high, bias) of the program's code, of /proc/PID/maps or what a profile has of it. All
    our programs have segments at the same offset from file to address, so one bias serves.
    """
    found = []
    for line in maps.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[5].removesuffix(" (deleted)") == program:
            low, high = (int(number, 16) for number in fields[0].split("-"))
            found.append((low, high, int(fields[2], 16), fields[1]))
    return found


def is_fixed(path):
    """Is the program linked to fixed addresses?"""
    with open(path, "rb") as file:
        return file.read(18)[16] == 2  # ET_EXEC


def bias_of(maps, program):
    if is_fixed(program):
        return 0
    begins = [low for low, _, offset, _ in program_mappings(maps, program) if offset == 0]
    if not begins:
        raise Failed(f"no mapping of {program}")
    return min(begins)


class Profile:
    """rows: (objects, bytes, variance of the bytes, addresses leaf first), in use."""

    def __init__(self, path):
        self.text = read(path)
        head, _, self.maps = self.text.partition("MAPPED_LIBRARIES:")
        first = head.splitlines()[0] if head else ""
        rate = re.search(r"heap_v2/(\d+)", first)
        self.interval = int(rate.group(1)) if rate else 1  # gperftools' profiler counts all
        self.rows = []
        stack = None
        for line in head.splitlines()[1:]:
            if line.startswith("@"):  # jemalloc: the stack has a line of its own
                stack = line[1:]
            elif match := LINE.match(line):
                self.add(int(match[1]), int(match[2]), match[5])
            elif stack is not None and (match := JEMALLOC_TOTAL.match(line)):
                self.add(int(match[1]), int(match[2]), stack)
                stack = None

    def add(self, objects, size, stack):
        if not objects:
            return
        chance = -math.expm1(-size / objects / self.interval) if self.interval > 1 else 1
        variance = objects * (size / objects) ** 2 * (1 - chance) / chance**2
        addresses = [int(word, 16) for word in stack.split()]
        self.rows.append((objects / chance, size / chance, variance, addresses))


class Paths:
    """What a profile has in use by path: the innermost two functions of the server's own."""

    def __init__(self, profile, symbols, own, program):
        self.sizes = collections.Counter()
        self.total = self.variance = 0
        low_high = [
            (low, high) for low, high, _, _ in program_mappings(profile.maps, program)
        ]
        bias = bias_of(profile.maps, program)
        for _, size, variance, addresses in profile.rows:
            path = []
            for address in addresses:
                # a return address is that of the instruction after the call
                if any(low <= address - 1 < high for low, high in low_high):
                    path += sorted(symbols.function(address - 1 - bias) & own)[:1]
            if any("own_profile" in name for name in path):
                continue
            self.sizes[tuple(path[:2])] += size
            self.total += size
            self.variance += variance

    def interval(self):
        width = NORMAL_95 * math.sqrt(self.variance)
        return self.total - width, self.total + width

    def top(self, count=3):
        return [path for path, _ in self.sizes.most_common(count) if path]


def jemalloc_size(size, quantum):
    """What jemalloc gives for a request of so many bytes."""
    size = max(size, 1)
    if size <= 8:
        return 8
    if size <= 8 * quantum:
        return math.ceil(size / quantum) * quantum
    spacing = 1 << (math.ceil(math.log2(size)) - 3)
    return math.ceil(size / spacing) * spacing


def round_up(profile, quantum):
    """The profile in jemalloc's sizes, which are what its own profile counts."""
    profile.rows = [
        (objects, objects * jemalloc_size(size / objects, quantum), variance, addresses)
        for objects, size, variance, addresses in profile.rows
    ]
