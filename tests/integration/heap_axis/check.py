# SPDX-License-Identifier: MIT
"""check.py OUTPUT KIND USED FREE: what a session's answer says of the heap, against what the
allocator itself says (bytes that came into use, bytes that are free)."""
import json
import sys

SHARE = 0.02
SLACK = 64 << 10  # what the C library allocates for itself, and pages at the ends


def fail(*words):
    print("FAIL:", *words)
    sys.exit(1)


def near(what, got, wanted):
    print(f"{what}: {got}, the allocator says {wanted}")
    if abs(got - wanted) > SHARE * wanted + SLACK:
        fail(what, "is", got, "instead of", wanted)


output, kind, used, free = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open(output, encoding="utf-8", errors="replace") as file:
    answers = [json.loads(line) for line in file if line.startswith('{"verdict"')]
heap = answers[0].get("heap", {})
print(json.dumps(heap))
if kind == "unread":
    if not heap.get("unread") or set(heap) - {"allocator", "unread"}:
        fail("figures of a heap that cannot be read:", heap)
    sys.exit()
if heap.get("unread"):
    fail("not read:", heap["unread"])
if "grown" not in heap:
    fail("no growth is known")
grown = heap["grown"]
near("in use", grown["used_bytes"], used)
near("retained", grown["retained_bytes"], free)
near("retained in all", heap["free_resident_bytes"] + heap["cached_resident_bytes"], free)
if grown["is_retention"] != (kind == "peak"):
    fail("retention:", grown["is_retention"])
# The kernel's count of it is a sum over CPUs that is not always up to date.
if grown["anonymous_bytes"] < (used + free) * (1 - SHARE) - SLACK:
    fail("the process grew by less:", grown["anonymous_bytes"])
if heap["trimmable_bytes"] > heap["free_resident_bytes"]:
    fail("more would be given back than is free")
