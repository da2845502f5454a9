#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares stacks of heapinject with those that backtrace() saw at the same allocations.

  compare.py [--spoil] RECORDS WITNESSED

RECORDS is a record stream of heapinject; WITNESSED is what libwitness.c wrote, which calls glibc's
backtrace(). Prints one line of figures, `compared=N identical=N further=N cut=N different=N
complete=N missing=N`, and then each kind of difference with an example.
    identical  all frames are the same
    further    the same as far as backtrace() got; it stopped at code without unwind information
               (JIT code, assembly), and heapinject's own walk went on to a proper end
    cut        the same, up to the depth that one of them records at most, or as far as
               heapinject got before it gave up
    different  anything else
    missing    records of witnessed allocations for which there is no testimony
--spoil first makes every tenth stack wrong, in one frame or by one missing frame. Then the
comparison must find exactly these; if it does not, the exit status is 1.
"""
import bisect
import collections
import os
import struct
import sys
from typing import NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from recorded import read_stream

WITNESS_DEPTH = 256
HEAD = struct.Struct("<QQQQ")


class Testimony(NamedTuple):
    address: int
    bytes: int
    frames: tuple


def read_witnessed(path):
    """tid -> testimonies, in the order in which the thread gave them"""
    threads = collections.defaultdict(list)
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + HEAD.size <= len(data):
        tid, address, count, frames = HEAD.unpack_from(data, at)
        at += HEAD.size
        if frames > WITNESS_DEPTH or at + 8 * frames > len(data):
            break
        threads[tid].append(Testimony(address, count, struct.unpack_from(f"<{frames}Q", data, at)))
        at += 8 * frames
    return threads


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


def pair(records, testimonies):
    """Yields (record, frames of its testimony or None).

    Both sides list what one thread did, in the order in which it did it, so this needs no clock. It
    matches as many of them as possible without a change of order. Some testimonies are from before
    the session or from after it, and the allocator may return an address again, sometimes for the
    same number of bytes. So more than one testimony may fit a record: the last record of the
    session may have another long after it, and a record beside lost ones may have another next to
    it. Then one that does not differ is good enough.
    """
    places = collections.defaultdict(list)
    for place, one in enumerate(testimonies):
        places[one.address, one.bytes].append(place)
    # The longest common subsequence. For each length this keeps the earliest place at which one can
    # end, and its elements.
    ends, chains = [], []
    for number, record in enumerate(records):
        for place in reversed(places.get((record.address, record.bytes), ())):
            length = bisect.bisect_left(ends, place)
            ends[length : length + 1] = [place]
            chains[length : length + 1] = [(number, place, chains[length - 1] if length else None)]
    chain, paired, behind = chains[-1] if chains else None, {}, len(testimonies)
    while chain:
        number, earliest, chain = chain
        record = records[number]
        left = [
            one
            for one in reversed(places[record.address, record.bytes])
            if earliest <= one < behind
        ]
        behind = paired[number] = next(
            (
                one
                for one in left
                if judge(record.frames[1:], testimonies[one].frames[1:], record.end)[0]
                != "different"
            ),
            left[0],
        )
    for number, record in enumerate(records):
        yield record, testimonies[paired[number]].frames if number in paired else None


class Names:
    def __init__(self, modules):
        self.modules = modules
        self.starts = [module[0] for module in modules]

    def module(self, address):
        place = bisect.bisect_right(self.starts, address) - 1
        return self.modules[place] if place >= 0 and address < self.modules[place][1] else None

    def of(self, address):
        module = self.module(address)
        return (
            f"{module[2].rsplit('/', 1)[-1]}+{address - module[3]:#x}"
            if module
            else f"{address:#x}"
        )


SPOIL = (
    lambda frames: frames[:-2] + (frames[-2] + 8,) + frames[-1:],
    lambda frames: frames[:2] + frames[3:],
    lambda frames: frames[:-1],
)


def main():
    spoils = sys.argv[1] == "--spoil"
    modules, allocs = read_stream(sys.argv[-2])
    witnessed = read_witnessed(sys.argv[-1])
    names = Names(modules)
    counts = collections.Counter()
    ends = collections.Counter()
    kinds = {}
    threads = collections.defaultdict(list)
    for alloc in allocs:
        caller = names.module(alloc.frames[0])
        # Libraries that were loaded later allocate without the witness.
        if caller and caller[2].endswith("libwitness.so"):
            threads[alloc.tid].append(alloc)
    for alloc, theirs in (
        both for tid, records in threads.items() for both in pair(records, witnessed.get(tid, []))
    ):
        if theirs is None:
            counts["missing"] += 1
            continue
        frames, end = alloc.frames, alloc.end
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
    print(
        *(f"{name}={counts[name]}" for name in figures),
        f"complete={ends['complete']}",
        f"missing={counts['missing']}",
    )
    for (verdict, end, place), (number, ours, theirs, common) in sorted(
        kinds.items(), key=lambda item: -item[1][0]
    )[:20]:
        print(f"{number} {verdict}, ended {end}, after frame {common + 1} at {place}")
        print("    heapinject:", *map(names.of, ours[1:][max(common - 2, 0) : common + 4]))
        print("    backtrace: ", *map(names.of, theirs[1:][max(common - 2, 0) : common + 4]))
    if spoils:
        print(f"{counts['spoilt']} made wrong, {counts['different']} found")
        sys.exit(counts["different"] != counts["spoilt"] or not counts["spoilt"])


main()
