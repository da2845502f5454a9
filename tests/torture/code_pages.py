# SPDX-License-Identifier: MIT
"""The allocator's code in a live process, page by page.

For each page: its contents, how many pages are private copies, and the flags of its mapping. It
reads the executable file mappings of every object that defines malloc, from /proc alone, and shares
no code with heapinject. The Anonymous and Swap lines of smaps count the private copies.
Private_Dirty has them, too, but it also has pages of a file that was written and not yet saved.
"""
import hashlib
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import got_words  # noqa: E402  (the directory is known only now)

PAGE = 4096
DT_HASH, DT_GNU_HASH = 4, 0x6FFFFEF5
HEAD = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ (\d+) *(.*)")
COPIED = re.compile(r"^(?:Anonymous|Swap):\s*(\d+) kB", re.M)
FLAGS = re.compile(r"^VmFlags: *(.*)$", re.M)
PASSING_FLAGS = {"sd"}  # written since somebody reset what had been written: anybody may


def gnu_hash(name):
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def words(image, address, count, form="I"):
    return struct.unpack(f"<{count}{form}", image.read(address, count * struct.calcsize(form)))


def candidates(image, name):
    """Numbers of the symbols that may be the definition."""
    if DT_GNU_HASH in image.dynamic:
        table = image.address(DT_GNU_HASH)
        bucket_count, first, bloom_count, _ = words(image, table, 4)
        buckets = table + 16 + 8 * bloom_count
        (index,) = words(image, buckets + 4 * (gnu_hash(name) % bucket_count), 1)
        while index >= first:
            yield index
            (chained,) = words(image, buckets + 4 * bucket_count + 4 * (index - first), 1)
            if chained & 1:
                return
            index += 1
    elif DT_HASH in image.dynamic:
        yield from range(1, words(image, image.address(DT_HASH), 2)[1])


def defines(image, name):
    for index in candidates(image, name):
        _, _, section = struct.unpack(
            "<IBxH", image.read(image.address(got_words.DT_SYMTAB) + 24 * index, 8)
        )
        if section and image.symbol(index) == name:
            return True
    return False


def allocators(place):
    """Paths, as /proc has them, of the objects mapped that define malloc. place: below /proc."""
    with open(f"/proc/{place}/mem", "rb", buffering=0) as memory:
        for name, base in got_words.Maps(place).objects():
            try:
                if defines(got_words.Image(memory, base), "malloc"):
                    yield name
            except (ValueError, OSError, struct.error):
                continue  # not an object, or gone


def objects(place):
    """Paths of all objects mapped."""
    return [name for name, _ in got_words.Maps(place).objects()]


def mappings(place):
    """(low, high, permissions, offset, inode, path, the lines about it) of each mapping."""
    with open(f"/proc/{place}/smaps", encoding="utf-8", errors="surrogateescape") as file:
        parts = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", file.read(), flags=re.M)
    for part in parts:
        head = HEAD.match(part)
        if head:
            low, high, permissions, offset, inode, path = head.groups()
            yield int(low, 16), int(high, 16), permissions, int(offset, 16), inode, path, part


def look(place, paths, data_too=False):
    """Lines: one for each page of their code, with a digest of it, and one for each mapping.
    data_too: of all that is mapped from these files and cannot be written.
    """
    lines = []
    with open(f"/proc/{place}/mem", "rb", buffering=0) as memory:
        for low, high, permissions, offset, _, path, about in mappings(place):
            if path not in paths or ("w" in permissions if data_too else "x" not in permissions):
                continue
            where, copied = f"{path} {low:x}-{high:x}", sum(int(kb) for kb in COPIED.findall(about))
            flags = " ".join(sorted(set(FLAGS.search(about).group(1).split()) - PASSING_FLAGS))
            lines.append(f"{where} {permissions}: {copied} kB of private copies, {flags}")
            lines += [
                f"{path}+{offset + at:#x}: {digest}" for at, digest in pages(memory, low, high)
            ]
    return lines


def pages(memory, low, high):
    """(place in the mapping, digest). Pages that cannot be read, as behind the end of the file,
    have a mark instead.
    """
    memory.seek(low)
    try:
        code = memory.read(high - low)
    except OSError:
        code = b""
    for at in range(0, high - low, PAGE):
        page = code[at : at + PAGE]
        yield at, hashlib.blake2b(page, digest_size=8).hexdigest() if page else "cannot be read"
