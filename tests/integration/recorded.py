# SPDX-License-Identifier: MIT
"""Reads the record stream of `heapinject attach -o -` (include/hi_stream.h), on its own."""
import struct
from typing import NamedTuple

HEADER, MODULE, THREAD, ALLOC, STACK, EVENTS, CODE = 1, 2, 5, 6, 12, 13, 28
ALLOC_BYTES, STACK_BYTES, EVENTS_BYTES = 56, 16, 32  # without what varies
FREE_EVENT_BYTES, ALLOC_EVENT_BYTES, ADDRESS_BITS = 16, 32, 56
ENDS = {0: "complete", 1: "depth", 2: "region", 3: "no-row", 4: "bad-frame", 5: "lost"}


class Alloc(NamedTuple):
    unix_ns: int
    address: int
    bytes: int
    end: str  # how the stack ended
    frames: tuple
    tid: int  # 0 = not known


def read_events(data, at, size):
    """Allocations of an EVENTS record, as (ns, address, thread, bytes, number of the stack)."""
    (base,) = struct.unpack_from("<Q", data, at + 8)
    event, end = at + EVENTS_BYTES, at + size
    while event < end:
        what, after, thread = struct.unpack_from("<QII", data, event)
        if not what >> ADDRESS_BITS:
            event += FREE_EVENT_BYTES
            continue
        count, stack = struct.unpack_from("<II", data, event + 16)
        yield base + after, what & (1 << ADDRESS_BITS) - 1, thread, count, stack
        event += ALLOC_EVENT_BYTES


def read_code(path):
    """Names of code, as (lo, hi, name), in the order of the stream."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 8 <= len(data):
        size, kind, _ = struct.unpack_from("<IHH", data, at)
        if size < 8 or at + size > len(data):
            break
        if kind == CODE:
            lo, hi, name_size = struct.unpack_from("<QQI", data, at + 16)
            yield lo, hi, data[at + 40 : at + 40 + name_size].decode(errors="replace")
        at += size


def read_stream(path):
    """Modules as sorted (lo, hi, path, bias), and allocations in their order."""
    modules, allocs, stacks, tids, start = {}, [], {}, {}, 0
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
            _, build_id, _, lo, hi, _, bias, _, _, path_size, _ = struct.unpack_from(
                "<IIQQQQQQQII", data, at + 8
            )
            name = data[at + 80 + build_id : at + 80 + build_id + path_size].decode(
                errors="replace"
            )
            modules[lo] = (lo, hi, name, bias)
        elif kind == THREAD:
            number, tid = struct.unpack_from("<II", data, at + 8)
            tids[number] = tid
        elif kind == STACK:
            number, count = struct.unpack_from("<II", data, at + 8)
            stacks[number] = (
                flags & 0xFF,
                struct.unpack_from(f"<{count}Q", data, at + STACK_BYTES),
            )
        elif kind == ALLOC:
            time, address, count, thread, _, frames, _, _, number = struct.unpack_from(
                "<QQQIHHQII", data, at + 8
            )
            end, stack = (
                stacks[number]
                if number
                else (flags & 0xFF, struct.unpack_from(f"<{frames}Q", data, at + ALLOC_BYTES))
            )
            allocs.append(
                Alloc(start + time, address, count, ENDS.get(end, "?"), stack, tids.get(thread, 0))
            )
        elif kind == EVENTS:
            for time, address, thread, count, number in read_events(data, at, size):
                end, stack = stacks[number]
                allocs.append(
                    Alloc(
                        start + time, address, count, ENDS.get(end, "?"), stack, tids.get(thread, 0)
                    )
                )
        at += size
    return sorted(modules.values()), allocs
