# SPDX-License-Identifier: MIT
"""Writes profile.proto (github.com/google/pprof), from what other tools wrote: an implementation of
its own, so that it has no mistake in common with ours. Start at Writer."""
import gzip
import math
import os
import re
import subprocess

# What go pprof leaves out of the stacks of text heap profiles (profile/legacy_profile.go).
DROP = "|".join(
    """calloc cfree malloc free memalign do_memalign (__)?posix_memalign pvalloc valloc realloc
    tcmalloc::.* tc_calloc tc_cfree tc_malloc tc_free tc_memalign tc_posix_memalign tc_pvalloc
    tc_valloc tc_realloc tc_new tc_delete tc_newarray tc_deletearray tc_new_nothrow
    tc_newarray_nothrow malloc_zone_malloc malloc_zone_calloc malloc_zone_valloc
    malloc_zone_realloc malloc_zone_memalign malloc_zone_free runtime\\..* BaseArena::.*
    (::)?do_malloc_no_errno (::)?do_malloc_pages (::)?do_malloc DoSampledAllocation
    MallocedMemBlock::MallocedMemBlock _M_allocate __builtin_(vec_)?delete __builtin_(vec_)?new
    __gnu_cxx::new_allocator::allocate __libc_malloc __malloc_alloc_template::allocate allocate
    cpp_alloc operator\\x20new(\\[\\])? simple_alloc::allocate""".split()
).replace("\\x20", " ")
KEEP = r"runtime\.panic|runtime\.reflectcall|runtime\.call[0-9]*"


def varint(value):
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


class Writer:
    """add() samples, then write()."""

    def __init__(self, types, drop=False):
        self.types, self.drop = types, drop
        self.strings, self.functions, self.locations, self.samples = {"": 0}, {}, {}, []

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def location(self, address, lines):
        """lines: (function, file, line), the innermost first."""
        key = (address, tuple(lines))
        return self.locations.setdefault(key, len(self.locations) + 1)

    def add(self, stack, values, labels=None):
        """stack: (address, lines), leaf first; labels: key -> text or number"""
        ids = [self.location(*frame) for frame in stack]
        self.samples.append((ids, values, labels or {}))

    def encode(self):
        body = b""
        for name, unit in self.types:
            body += block(1, number(1, self.string(name)) + number(2, self.string(unit)))
        for ids, values, labels in self.samples:
            sample = block(1, b"".join(map(varint, ids))) + block(2, b"".join(map(varint, values)))
            for key, value in labels.items():
                kind = (2, self.string(value)) if isinstance(value, str) else (3, value)
                sample += block(3, number(1, self.string(key)) + number(*kind))
            body += block(2, sample)
        body += block(3, number(1, 1) + number(2, 0x1000) + number(3, 1 << 62) +
                      number(5, self.string("/opt/program")) + number(7, 1) + number(8, 1) +
                      number(9, 1) + number(10, 1))
        for (address, lines), name in self.locations.items():
            location = number(1, name) + number(2, 1) + number(3, address)
            for function, file, line in lines:
                place = self.functions.setdefault((function, file), len(self.functions) + 1)
                location += block(4, number(1, place) + number(2, line))
            body += block(4, location)
        for (function, file), name in self.functions.items():
            text = self.string(function)
            body += block(5, number(1, name) + number(2, text) + number(3, text) +
                          number(4, self.string(file)))
        if self.drop:
            body += number(7, self.string(f"{DROP}|{CONTAINERS}")) + number(8, self.string(KEEP))
        for text in self.strings:
            body += block(6, text.encode())
        return body

    def write(self, path):
        with gzip.open(path, "wb") as file:
            file.write(self.encode())


def scaled(count, size, rate):
    """What count samples of size bytes stand for, as go pprof rounds it."""
    if not count or not size:
        return 0, 0
    if rate <= 1:
        return count, size
    scale = 1 / (1 - math.exp(-size / count / rate))
    return int(count * scale), int(size * scale)


class Names:
    """The names of addresses, by addr2line from the files of a memory map."""

    def __init__(self, maps):
        self.maps, self.wanted, self.known = [], set(), {}
        for line in maps:
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S*x\S* ([0-9a-f]+) \S+ \d+ +(/.*)", line)
            if match:
                low, high, offset = (int(part, 16) for part in match.groups()[:3])
                self.maps.append((low, high, offset, match.group(4)))

    def want(self, addresses):
        self.wanted.update(addresses)

    @staticmethod
    def bias(path, offset, low):
        headers = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True,
                                 check=True).stdout
        for line in headers.splitlines():
            part = line.split()
            if part[:1] == ["LOAD"] and int(part[1], 16) & ~4095 == offset:
                return low - (int(part[2], 16) - int(part[1], 16) + offset)
        return low - offset

    @staticmethod
    def symbols(path):
        """The names of a file without debug information, with their ends: addr2line takes the
        name before an address, wherever that ends."""
        found = []
        for option in ("-S", "-DS"):
            lines = subprocess.run(["nm", option, "--defined-only", path], capture_output=True,
                                   text=True, check=False).stdout.splitlines()
            for line in lines:
                part = line.split()
                if len(part) == 4 and part[2] in "tTwWuiI":
                    begin, size = int(part[0], 16), int(part[1], 16)
                    found.append((begin, begin + size, part[3].partition("@")[0]))
        return found

    def look_up(self):
        for low, high, offset, path in self.maps:
            inside = sorted(address for address in self.wanted if low <= address < high)
            if not inside or not os.path.exists(path):
                continue
            bias = self.bias(path, offset, low)
            answer = subprocess.run(
                ["addr2line", "-fe", path], capture_output=True, text=True, check=True,
                input="".join(f"{address - bias:x}\n" for address in inside)).stdout.splitlines()
            names = []
            for address, function, place in zip(inside, answer[::2], answer[1::2]):
                file, _, line = place.partition(" ")[0].rpartition(":")
                if place.startswith("??"):
                    names = names or self.symbols(path) or [(0, 0, "")]
                    function = next((name for begin, end, name in names
                                     if begin <= address - bias < end), "??")
                if re.search(r"/lib(jemalloc|tcmalloc)[^/]*$", path):
                    function = "malloc"  # the file is stripped, so names in it are wrong
                if function != "??":
                    self.known[address] = ((function, file if file != "??" else "",
                                            int(line) if line.isdigit() else 0),)

    def lines(self, address):
        return self.known.get(address, ())


# Functions of containers, which we leave out in all files; only in ours does pprof know of them.
CONTAINERS = (
    r"std::allocator::allocate|std::allocator_traits::allocate.*|std::__new_allocator::allocate|"
    r"__gnu_cxx::__alloc_traits::allocate.*|std::_Vector_base::_M_allocate|"
    r"std::__cxx11::basic_string::_M_create"
)


def go_text(path, out):
    """Converts Go's heap profile as a text, with the names that it has."""
    with open(path, encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    rate = int(head.rpartition("/")[2]) // 2
    writer = Writer([("alloc_objects", "count"), ("alloc_space", "bytes"),
                     ("inuse_objects", "count"), ("inuse_space", "bytes")])
    bucket = re.compile(r"(\d+): (\d+) \[(\d+): (\d+)\] @")
    name = re.compile(r"#\s+0x([0-9a-f]+)\t+(\S+)\+0x[0-9a-f]+\t+(.*):(\d+)$")
    samples = []
    for line in lines:
        match, call = bucket.match(line), name.match(line)
        if match:
            samples.append(([int(part) for part in match.groups()], []))
        elif call:
            samples[-1][1].append((int(call.group(1), 16),
                                   ((call.group(2), call.group(3), int(call.group(4))),)))
    for values, stack in samples:
        size = values[1] // values[0] if values[0] else values[3] // max(values[2], 1)
        writer.add(stack, (*scaled(*values[2:], rate), *scaled(*values[:2], rate)),
                   {"bytes": size} if size else {})
    writer.write(out)


def text_profile(path, out):
    """Converts a heap profile of gperftools or jemalloc. Returns how many lines it has."""
    with open(path, encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    end = lines.index("MAPPED_LIBRARIES:")
    rate = int(head.rpartition("/")[2]) if "heap_v2/" in head else 1
    bucket = re.compile(r"\s*(?:t\*:)?\s*(\d+):\s*(\d+)\s*\[\s*(\d+):\s*(\d+)\]\s*(?:@(.*))?$")
    samples, stack = [], ""
    for line in lines[:end]:
        match = bucket.match(line)
        if line.startswith("@"):
            stack = line[1:]
        elif match and (match.group(5) or stack):
            samples.append(([int(part) for part in match.groups()[:4]],
                            [int(part, 16) - 1 for part in (match.group(5) or stack).split()]))
    names = Names(lines[end:])
    for _, addresses in samples:
        names.want(addresses)
    names.look_up()
    has_alloc = any(values[2] and values[:2] != values[2:] for values, _ in samples)
    types = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
             ("inuse_space", "bytes")] if has_alloc else [("objects", "count"), ("space", "bytes")]
    writer = Writer(types, drop=True)
    for values, addresses in samples:
        inuse, alloc = scaled(*values[:2], rate), scaled(*values[2:], rate)
        size = values[1] // values[0] if values[0] else values[3] // max(values[2], 1)
        writer.add([(address, names.lines(address)) for address in addresses],
                   (*alloc, *inuse) if has_alloc else inuse, {"bytes": size})
    writer.write(out)
    return len(samples), has_alloc
