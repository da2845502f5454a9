# SPDX-License-Identifier: MIT
"""Files that no tool makes.

    forge.py circle LIBRARY   its first version definition points back to itself, by a negative
                              distance
    forge.py headers FILE     an object with 65,534 program headers: code, notes, code, ...
    forge.py sections FILE    an object that claims 40 million sections, in a file with holes
"""
import struct
import sys

PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
DT_VERDEF = 0x6FFFFFFC
X86_64, SHARED = 62, 3


def circle(path):
    with open(path, "r+b") as file:
        data = file.read()
        (table,) = struct.unpack_from("<Q", data, 32)
        (count,) = struct.unpack_from("<H", data, 56)
        segments = [struct.unpack_from("<IIQQQQQQ", data, table + 56 * i) for i in range(count)]
        dynamic = next(s for s in segments if s[0] == PT_DYNAMIC)
        tags = dict(struct.iter_unpack("<QQ", data[dynamic[2] : dynamic[2] + dynamic[5]]))
        at = next(
            tags[DT_VERDEF] - s[3] + s[2]
            for s in segments
            if s[0] == PT_LOAD and s[3] <= tags[DT_VERDEF] < s[3] + s[5]
        )
        (step,) = struct.unpack_from("<I", data, at + 16)
        file.seek(at + step + 16)
        file.write(struct.pack("<i", -step))


def header(sections_at, headers):
    return struct.pack(
        "<4sBBB9sHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, b"", SHARED, X86_64, 1, 0, 64, sections_at, 0,
        64, 56, headers, 64, 0, 0,
    )


def headers(path):
    count = 65534
    code = struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, 65536, 65536, 4096)
    notes = struct.pack("<IIQQQQQQ", PT_NOTE, 4, 4096, 4096, 4096, 1 << 20, 1 << 20, 4)
    with open(path, "wb") as file:
        file.write(header(0, count) + (code + notes) * (count // 2))
        file.truncate(1 << 22)


def sections(path):
    count, at = 40_000_000, 65536
    with open(path, "wb") as file:
        file.write(
            header(at, 1) + struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, 65536, 65536, 4096)
        )
        file.seek(at)
        # The number of sections is in the first one.
        file.write(struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count, 0, 0, 0, 0))
        file.truncate(at + 64 * count)


if __name__ == "__main__":
    {"circle": circle, "headers": headers, "sections": sections}[sys.argv[1]](sys.argv[2])
