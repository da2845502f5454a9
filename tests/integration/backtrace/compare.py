#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py [--spoil] RECORDS WITNESSED: stacks that heapinject recorded (record stream) against those that glibc's backtrace() saw (libwitness.c) at the same allocations.

Prints one line of figures, `compared=N identical=N further=N cut=N different=N complete=N missing=N`, and then each kind of difference with an example.
    identical  the same frames to the last
    further    the same as far as backtrace() got; it stopped at code without unwind information (JIT code, assembly), and heapinject's own walk went on to a proper end
    cut        the same, up to the depth that one of them records at most, or as far as heapinject got before it gave up
    different  anything else
    missing    records of witnessed allocations for which there is no testimony
With --spoil every tenth stack is made wrong first, in one frame or by one frame too few, and all the comparison finds must be these: else the exit status is 1.
"""
import bisect
import collections
import os
import statistics
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from recorded import read_stream

WITNESS_DEPTH = 256
FAR_NS = 200_000_000  # by which the clocks may differ
STRETCH_NS = 100_000_000
NEAR_NS = 100_000      # once that is known


def read_witnessed(path):
    """(address, bytes) -> sorted [(unix ns before, after, frames)]"""
    seen = collections.defaultdict(list)
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 40 <= len(data):
        address, count, begin, end, frames = struct.unpack_from("<QQQQQ", data, at)
        if frames > WITNESS_DEPTH or at + 40 + 8 * frames > len(data):
            break
        seen[address, count].append((begin, end, struct.unpack_from(f"<{frames}Q", data, at + 40)))
        at += 40 + 8 * frames
    return seen


def distance(testimony, time):
    return max(testimony[0] - time, time - testimony[1], 0)


def nearest(testimonies, time):
    return min(testimonies, key=lambda one: distance(one, time), default=None)


class Clocks:
    """The record stream counts from a start of its own, by another clock that runs at another speed: what it is ahead by, stretch by stretch, from allocations that cannot be mistaken."""

    def __init__(self, allocs, witnessed):
        ahead = collections.defaultdict(list)
        for time, address, count, _, _ in allocs:
            near = [one for one in witnessed.get((address, count), ()) if distance(one, time) < FAR_NS]
            if len(near) == 1:
                ahead[time // STRETCH_NS].append((time, time - (near[0][0] + near[0][1]) // 2))
        known = [(statistics.median(at for at, _ in pairs), statistics.median(by for _, by in pairs)) for pairs in ahead.values() if len(pairs) > 8]
        self.times = sorted(known)

    def right(self, time):
        """By the straight line through the two medians around it."""
        if len(self.times) < 2:
            return time - (self.times[0][1] if self.times else 0)
        place = min(max(bisect.bisect_left(self.times, (time,)), 1), len(self.times) - 1)
        (t0, by0), (t1, by1) = self.times[place - 1:place + 1]
        return time - int(by0 + (by1 - by0) * (time - t0) / (t1 - t0))


class Names:
    def __init__(self, modules):
        self.modules = modules
        self.starts = [module[0] for module in modules]

    def module(self, address):
        place = bisect.bisect_right(self.starts, address) - 1
        return self.modules[place] if place >= 0 and address < self.modules[place][1] else None

    def of(self, address):
        module = self.module(address)
        return f"{module[2].rsplit('/', 1)[-1]}+{address - module[3]:#x}" if module else f"{address:#x}"


def judge(ours, theirs, end):
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    if common == len(ours) == len(theirs):
        return "identical", common
    if common == len(theirs) and (end == "complete" or len(theirs) == WITNESS_DEPTH - 1):
        return "further", common
    if common == len(ours) and end != "complete":
        return "cut", common
    return "different", common


SPOIL = (lambda frames: frames[:-2] + (frames[-2] + 8,) + frames[-1:], lambda frames: frames[:2] + frames[3:], lambda frames: frames[:-1])


def main():
    spoils = sys.argv[1] == "--spoil"
    modules, allocs = read_stream(sys.argv[-2])
    witnessed = read_witnessed(sys.argv[-1])
    names = Names(modules)
    clocks = Clocks(allocs, witnessed)
    counts = collections.Counter()
    ends = collections.Counter()
    kinds = {}
    for time, address, count, end, frames in allocs:
        caller = names.module(frames[0])
        if not caller or not caller[2].endswith("libwitness.so"):
            continue
        time = clocks.right(time)
        # An address is now and then given out twice in so short a time, and for as many bytes: then either will do.
        far = [one for one in witnessed.get((address, count), ()) if distance(one, time) <= FAR_NS]
        near = far if len(far) == 1 else [one for one in far if distance(one, time) <= NEAR_NS]
        theirs = next((one[2] for one in near if one[2][1:] == frames[1:]), nearest(near, time)[2] if near else None)
        if theirs is None:
            counts["missing"] += 1
            continue
        if spoils and counts["compared"] % 10 == 0 and len(theirs) == len(frames) > 3:
            frames = SPOIL[counts["spoilt"] % len(SPOIL)](frames)
            counts["spoilt"] += 1
        verdict, common = judge(frames[1:], theirs[1:], end)
        counts["compared"] += 1
        counts[verdict] += 1
        ends[end] += 1
        if verdict != "identical" or end != "complete":
            last = frames[common] if verdict != "identical" else frames[-1]
            kind = (verdict, end, names.of(last))
            kinds.setdefault(kind, [0, frames, theirs, common])[0] += 1
    figures = ["compared", "identical", "further", "cut", "different"]
    print(*(f"{name}={counts[name]}" for name in figures), f"complete={ends['complete']}", f"missing={counts['missing']}")
    for (verdict, end, place), (number, ours, theirs, common) in sorted(kinds.items(), key=lambda item: -item[1][0])[:20]:
        print(f"{number} {verdict}, ended {end}, after frame {common + 1} at {place}")
        print("    heapinject:", *map(names.of, ours[1:][max(common - 2, 0):common + 4]))
        print("    backtrace: ", *map(names.of, theirs[1:][max(common - 2, 0):common + 4]))
    if spoils:
        print(f"{counts['spoilt']} made wrong, {counts['different']} found")
        sys.exit(counts["different"] != counts["spoilt"] or not counts["spoilt"])


main()
