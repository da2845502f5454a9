# SPDX-License-Identifier: MIT
"""Says how soon the stacks were complete: share.py RECORDS.

It fails if less than 99 % of the stacks in the second half of the time were complete. It ignores
the first half, because a loaded machine may need longer than a second.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from recorded import read_stream

_, allocs = read_stream(sys.argv[1])
# The program's own preparations come first, and are few.
start, end = (allocs[1].unix_ns, allocs[-1].unix_ns) if len(allocs) > 1 else (0, 0)


def share(lo, hi):
    chosen = [one.end == "complete" for one in allocs if lo <= one.unix_ns <= hi]
    return f"{sum(chosen)} of {len(chosen)}", bool(chosen) and sum(chosen) >= 0.99 * len(chosen)


last_cut = max((one.unix_ns for one in allocs if one.end != "complete"), default=start)
text, is_good = share((start + end) // 2, end)
print(
    f"complete in the first second {share(start, start + 10**9)[0]}, "
    f"from then on {share(start + 10**9, end)[0]}, in the second half {text}; "
    f"the last incomplete one after {(last_cut - start) / 1e9:.3f} s"
)
sys.exit(not is_good)
