# SPDX-License-Identifier: MIT
"""Checks stacks of Taker.java: stacks.py INTEGRATION_DIRECTORY RECORDS COLLAPSED LEAST

LEAST: the share of the library's bytes whose Java frames have the names of the program's methods in
their order, be they compiled or interpreted.

Almost all are complete, and between the JVM and the library are as many Java frames as the program
has: a frame that was taken for larger or smaller than it is would leave some out, or add some.
"""

import collections
import sys

sys.path.insert(0, sys.argv[1])
from recorded import read_stream

# call stub, Thread.run, (runWith of later versions,) Taker.work or its lambda, areas, area, (deeper
# seven times,) take
DEPTHS = [{7, 14}, {8, 15}]
AREAS = ["int Taker.areas(Taker$Shape[], int)"]
TAKE = ["int Taker.take(int)"]
FLAT = AREAS + ["int Taker$Flat.area(int)"] + TAKE
DEEP = AREAS + ["int Taker$Deep.area(int)"] + 7 * ["int Taker$Deep.deeper(int, int)"] + TAKE

ends = collections.Counter(one.end for one in read_stream(sys.argv[2])[1])
print(f"  {dict(ends)}")
all_of_them, named, nameless = 0, 0, 0
depths = collections.Counter()
for line in open(sys.argv[3]):
    frames = line.rsplit(" ", 1)[0].split(";")
    if not frames[-1].startswith("Java_Taker_take"):
        continue
    size = int(line.rsplit(" ", 1)[1])
    all_of_them += size
    outer = [i for i, name in enumerate(frames) if name.startswith("JavaCalls::call_helper")]
    named += size * (frames[-1 - len(FLAT) : -1] == FLAT or frames[-1 - len(DEEP) : -1] == DEEP)
    nameless += size * any(name.startswith("0x") for name in frames)
    depths[len(frames) - 2 - outer[-1] if outer else -1] += size
right = max(sum(depths[depth] for depth in expected) for expected in DEPTHS)
share = right / max(all_of_them, 1)
print(f"  {share:.4f} of the library's bytes have the right depth: {dict(depths)}")
print(f"  {named / max(all_of_them, 1):.4f} with all names; {nameless} bytes without one")
sys.exit(
    sum(ends.values()) < 1000
    or ends["complete"] < 0.99 * sum(ends.values())
    or not all_of_them
    or right < 0.99 * all_of_them
    or named < float(sys.argv[4]) * all_of_them
    or nameless > 0.01 * all_of_them
)
