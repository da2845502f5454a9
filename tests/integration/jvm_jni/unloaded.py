# SPDX-License-Identifier: MIT
"""Checks stacks of `Taker.java brief`: unloaded.py INTEGRATION_DIRECTORY RECORDS

The size of a block says which class took it. Its classes are unloaded all the time, and others take
their places in the JVM's memory. No block has the name of another class; those from just before an
unloading may have none.
"""

import re
import sys

sys.path.insert(0, sys.argv[1])
from recorded import read_code, read_stream

classes = {}
for lo, _, name in read_code(sys.argv[2]):
    found = re.fullmatch(r"void Taker\$B([0-9]{4})\.run\(\)", name)
    if found:
        classes[lo + 1] = int(found.group(1))
right, wrong, nameless, numbers = 0, 0, 0, set()
modules, allocs = read_stream(sys.argv[2])
lo, hi = next((lo, hi) for lo, hi, path, _ in modules if path.endswith("/libtaker.so"))
for one in allocs:
    if one.bytes < 1000 or not lo < one.frames[0] <= hi:
        continue
    number = (one.bytes - 1000) // 16
    named = [classes[frame] for frame in one.frames if frame in classes]
    if number in named:
        right += 1
        numbers.add(number)
    elif named:
        wrong += 1
    else:
        nameless += 1
print(f"  {right} blocks of {len(numbers)} classes have the right name, {wrong} another's")
print(f"  {nameless} have no name of these classes")
sys.exit(right < 200 or wrong > 0.001 * right or nameless > right)
