# SPDX-License-Identifier: MIT
"""Checks stacks of Taker.java: stacks.py INTEGRATION_DIRECTORY RECORDS COLLAPSED

Almost all are complete, and between the JVM and the library are as many Java frames as the program
has: a frame that was taken for larger or smaller than it is would leave some out, or add some.
"""

import collections
import sys

sys.path.insert(0, sys.argv[1])
from recorded import read_stream

# call stub, Thread.run, Taker.work or its lambda, areas, area, (deeper seven times,) take
DEPTHS = {7, 14}

ends = collections.Counter(one.end for one in read_stream(sys.argv[2])[1])
print(f"  {dict(ends)}")
all_of_them, right = 0, 0
others = collections.Counter()
for line in open(sys.argv[3]):
    frames = line.rsplit(" ", 1)[0].split(";")
    if not frames[-1].startswith("Java_Taker_take"):
        continue
    size = int(line.rsplit(" ", 1)[1])
    all_of_them += size
    outer = [i for i, name in enumerate(frames) if name.startswith("JavaCalls::call_helper")]
    depth = len(frames) - 2 - outer[-1] if outer else -1
    if depth in DEPTHS:
        right += size
    else:
        others[depth] += size
share = right / max(all_of_them, 1)
print(f"  {share:.4f} of the library's bytes have the right depth; others: {dict(others)}")
sys.exit(
    sum(ends.values()) < 1000
    or ends["complete"] < 0.99 * sum(ends.values())
    or not all_of_them
    or right < 0.99 * all_of_them
)
