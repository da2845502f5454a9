# SPDX-License-Identifier: MIT
"""Checks the names that collapsed stacks take from a perf map: perf_names.py MAP COLLAPSED.

It fails if a frame is a bare address that the perf map names, or if no frame is a function of a
script.
"""
import bisect
import re
import sys


def main():
    with open(sys.argv[1], errors="replace") as file:
        ranges = sorted(
            (int(start, 16), int(start, 16) + int(size, 16), name)
            for start, size, name in (line.rstrip().split(" ", 2) for line in file)
        )
    with open(sys.argv[2], errors="replace") as file:
        frames = [frame for line in file for frame in line.rsplit(" ", 1)[0].split(";")]
    bare = [int(frame, 16) for frame in frames if re.fullmatch("0x[0-9a-f]+", frame)]
    missed = {}
    for pc in set(bare):
        place = bisect.bisect_left(ranges, (pc,)) - 1
        if place >= 0 and ranges[place][0] < pc <= ranges[place][1]:
            missed[hex(pc)] = ranges[place][2]
    scripted = sum("JS:" in frame for frame in frames)
    print(
        f"{len(frames)} frames, {scripted} of scripts, {len(bare)} without a name, "
        f"{len(missed)} of these in the map: {missed}"
    )
    return bool(missed) or not scripted


sys.exit(main())
