#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the GOT slots of the malloc family in a live process, independently of heapinject.

    got_words.py PID              one line a slot: object, offset of the slot, symbol, what it
                                  holds (as object+offset)
    got_words.py --compare A B    exit 1 and show the differences, except for lazy slots that got
                                  resolved from A to B

It reads only /proc/PID/{maps,mem,root} and the ELF program headers, writes nothing, and stops
nobody.
"""
import struct
import sys

FAMILY = set(
    "malloc calloc realloc reallocarray free free_sized free_aligned_sized cfree posix_memalign "
    "aligned_alloc memalign valloc pvalloc\n"
    "mallocx rallocx xallocx dallocx sdallocx _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm".split()
)
SLOT_RELOCATIONS = {1: "R_X86_64_64", 6: "GLOB_DAT", 7: "JUMP_SLOT"}
PT_LOAD, PT_DYNAMIC = 1, 2
DT_PLTRELSZ, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL = 2, 5, 6, 7, 8, 23


class Maps:
    def __init__(self, pid):
        self.lines = []
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.rstrip("\n").split(None, 5)
                low, high = (int(part, 16) for part in fields[0].split("-"))
                self.lines.append(
                    (low, high, int(fields[2], 16), fields[5] if len(fields) > 5 else "")
                )

    def objects(self):
        """(name, lowest address) of every mapped file."""
        bases = {}
        for low, _, offset, name in self.lines:
            if name.startswith("/") and offset == 0:
                bases.setdefault(name, low)
        return sorted(bases.items())

    def describe(self, address):
        for low, high, offset, name in self.lines:
            if low <= address < high:
                return f"{name or 'anonymous'}+{address - low + offset:#x}"
        return f"{address:#x}"


class Image:
    """The dynamic section of an object in memory at base. Raises ValueError if it is not a 64-bit
    ELF object.
    """

    def __init__(self, memory, base):
        self.memory, self.base = memory, base
        header = self.read(base, 64)
        if header[:5] != b"\x7fELF\x02":
            raise ValueError("not an ELF-64 object")
        (offset,) = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        segments = [
            struct.unpack("<IIQQQQQQ", self.read(base + offset + i * size, 56))
            for i in range(count)
        ]
        first = min(s[3] for s in segments if s[0] == PT_LOAD)
        self.bias = base - (first & ~0xFFF)
        self.dynamic = {}
        for segment in segments:
            if segment[0] == PT_DYNAMIC:
                data = self.read(self.bias + segment[3], segment[6])
                for tag, value in struct.iter_unpack("<QQ", data[: len(data) // 16 * 16]):
                    if tag == 0:
                        break
                    self.dynamic.setdefault(tag, value)

    def read(self, address, size):
        self.memory.seek(address)
        data = self.memory.read(size)
        if len(data) != size:
            raise ValueError("short read")
        return data

    def address(self, tag):
        # ld.so has made it absolute, except in read-only dynamic sections (vdso, some libcs).
        value = self.dynamic.get(tag, 0)
        return value if value >= self.bias else value + self.bias

    def symbol(self, index):
        (name,) = struct.unpack("<I", self.read(self.address(DT_SYMTAB) + 24 * index, 4))
        text = self.read(self.address(DT_STRTAB) + name, 24)
        return text.split(b"\0")[0].decode("latin-1")

    def slots(self):
        for table, size in ((DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)):
            if table not in self.dynamic:
                continue
            for where, info, addend in struct.iter_unpack(
                "<QQq", self.read(self.address(table), self.dynamic[size])
            ):
                if info & 0xFFFFFFFF in SLOT_RELOCATIONS and addend == 0 and info >> 32:
                    yield where, self.symbol(info >> 32)


def family_slots(pid, maps):
    """(object, offset, symbol, address) of every slot of the malloc family."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for name, base in maps.objects():
            try:
                image = Image(memory, base)
                for where, symbol in image.slots():
                    if symbol in FAMILY:
                        yield name, where, symbol, image.bias + where
            except (ValueError, OSError, struct.error):
                continue  # not an object, or gone


def read_slot(memory, address):
    """None where nothing is mapped any more."""
    try:
        memory.seek(address)
        return struct.unpack("<Q", memory.read(8))[0]
    except (OSError, struct.error):
        return None


def dump(pid):
    maps = Maps(pid)
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for name, where, symbol, address in family_slots(pid, maps):
            value = read_slot(memory, address)
            if value is not None:
                print(f"{name} {where:#x} {symbol} {maps.describe(value)}")


def is_resolved(owner, before, after):
    """True if the program itself resolved a lazy slot of this object. Then the slot pointed to the
    object's own stub before, and now points into another file.
    """
    return (
        before.startswith(owner + "+")
        and after.startswith("/")
        and not after.startswith(owner + "+")
        and "memfd:" not in after
    )


def compare(path_before, path_after):
    def load(path):
        with open(path, encoding="utf-8") as file:
            return dict(line.rstrip("\n").rsplit(" ", 1) for line in file)

    before, after = load(path_before), load(path_after)
    differences = 0
    for slot in sorted(before.keys() & after.keys()):
        if before[slot] != after[slot] and not is_resolved(
            slot.split(" ")[0], before[slot], after[slot]
        ):
            print(f"{slot}: {before[slot]} -> {after[slot]}")
            differences += 1
    for slot in sorted(after):
        if "heapinject" in after[slot]:
            print(f"{slot}: still {after[slot]}")
            differences += 1
    return 1 if differences else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--compare":
        sys.exit(compare(sys.argv[2], sys.argv[3]))
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    dump(int(sys.argv[1]))
