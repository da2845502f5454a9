# SPDX-License-Identifier: MIT
"""Reads the record stream of `heapinject attach -o -` (include/hi_stream.h), on its own."""
import struct

HEADER, MODULE, ALLOC = 1, 2, 6
ENDS = {0: "complete", 1: "depth", 2: "region", 3: "no-row", 4: "bad-frame", 5: "lost"}


def read_stream(path):
    """Modules as sorted (lo, hi, path, bias), allocations as (unix ns, address, bytes, how the stack ended, frames)."""
    modules, allocs, start = {}, [], 0
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 8 <= len(data):
        size, kind, flags = struct.unpack_from("<IHH", data, at)
        if size < 8 or at + size > len(data):
            break
        if kind == HEADER:
            start = struct.unpack_from("<Q", data, at + 32)[0]
        elif kind == MODULE:
            _, build_id, _, lo, hi, _, bias, _, _, path_size, _ = struct.unpack_from("<IIQQQQQQQII", data, at + 8)
            name = data[at + 80 + build_id:at + 80 + build_id + path_size].decode(errors="replace")
            modules[lo] = (lo, hi, name, bias)
        elif kind == ALLOC:
            time, address, count, _, _, frames = struct.unpack_from("<QQQIHH", data, at + 8)
            allocs.append((start + time, address, count, ENDS.get(flags & 0xff, "?"), struct.unpack_from(f"<{frames}Q", data, at + 40)))
        at += size
    return sorted(modules.values()), allocs
