# SPDX-License-Identifier: MIT
"""What `heapinject explain` says of a process of shapes.c, compared with what its allocator says
inside it at the same moment (inside.h), with what it gives back when it is asked to, and with what
the kernel says that is resident.
"""
import contextlib
import os
import time

from shaped import Shaped, explain

SHAPES = (
    "aligned",
    "arenas",
    "caches",
    "churn",
    "churn_threads",
    "fragmentation",
    "fragmentation_large",
    "fragmentation_quarter",
    "handed",
    "huge",
    "large",
    "left_behind",
    "memory_file",
    "mixed",
    "nothing",
    "pool",
    "resized",
    "retention",
    "retention_fast",
    "retention_sparse",
    "retention_threshold",
    "small",
    "stacks",
    "system_v",
    "tmpfs",
)
RESIDENT, IN_USE, TRIM = 0.02, 0.01, 0.05
PAGE = 4096
HEAD = 8  # of a block of glibc
# What is read last is not of the moment of what is read first: printing allocates a kilobyte.
SLACK = 64 << 10
THREAD = 512  # the C library allocates a table of thread-local memory for each
LARGE = 1 << 20  # of less the worst deviation is not noted: SLACK would be much of it
# mimalloc 2.0 gives a page back 25 ms after it was freed, and 1 ms later for each page of the same
# segment, 511 at most, that was freed meanwhile. Before that mi_collect(true) leaves it.
MIMALLOC_SECONDS = 1


RESIDENT_OR_SWAPPED = bytes(byte & 0xC0 for byte in range(256))


def resident_pages(pid):
    """Of each mapping one byte a page, as a number: not 0 if it is in memory or in swap."""
    pages = {}
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, \
            open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for line in maps:
            lo, hi = (int(number, 16) // PAGE for number in line.split()[0].split("-"))
            if lo < 1 << 35:  # no vsyscall
                pagemap.seek(lo * 8)
                highest = pagemap.read((hi - lo) * 8)[7::8].translate(RESIDENT_OR_SWAPPED)
                pages[line.strip()] = int.from_bytes(highest, "big")
    return pages


def state_of(pid):
    """What explain must leave as it was."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        maps = file.read()
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = [
            line
            for line in file
            if line.split(":")[0] in ("RssAnon", "VmPTE", "VmSwap", "Threads", "TracerPid")
        ]
    fds = sorted(os.listdir(f"/proc/{pid}/fd"))
    return maps, status, fds


@contextlib.contextmanager
def changes(pid):
    """A list: at the end it has what is not as it was at the beginning."""
    changed, before, pages = [], state_of(pid), resident_pages(pid)
    yield changed
    changed += [pair for pair in zip(before, state_of(pid)) if pair[0] != pair[1]]
    changed += [
        line for line, after in resident_pages(pid).items() if after & ~pages.get(line, 0)
    ]


def figures_of(parts):
    """By the names of inside.h."""

    def with_heads(part):
        return parts[part]["bytes"] + HEAD * parts[part]["count"]

    # Heads of blocks in use are larger if these are aligned and have a mapping of their own.
    heads = parts["heads"]["bytes"] - HEAD * (parts["cached"]["count"] + parts["free"]["count"])
    return {
        "used": parts["used"]["bytes"],
        "cached": parts["cached"]["bytes"],
        "in_use": parts["used"]["bytes"] + heads + with_heads("cached")
        + parts["metadata"]["bytes"],
        "free": with_heads("free"),
    }


class Truth:
    """All shapes of one program."""

    def __init__(self, heapinject, program, reader="glibc", preload=None):
        self.heapinject, self.program, self.preload = heapinject, program, preload
        self.reader = reader  # how the name begins of the only allocator that may be there
        self.began_with = None  # bytes in use before the program has allocated any
        self.failures = []
        self.worst = {"resident": 0.0, "in use": 0.0, "trim": 0.0}

    def check(self, name, what, pair, share, slack=SLACK):
        said, want = pair
        difference = abs(said - want)
        if difference > max(share * want, slack):
            self.failures.append(f"{name}: {what}: {said}, not {want}")
        kind = what if what in self.worst else "in use"
        if want >= LARGE:
            self.worst[kind] = max(self.worst[kind], difference / want)

    def look(self, shaped):
        """Explains, and checks all that does not depend on the allocator."""
        pid, name = shaped.process.pid, shaped.name
        shaped.wait_until_it_rests()
        with changes(pid) as changed:
            now = explain(self.heapinject, pid, "--once")["now"]
        if changed:
            self.failures.append(f"{name}: the process is not as it was: {changed}")
        found = [found["refusal"] or found["name"] for found in now["allocators"]]
        if self.reader and not (len(found) == 1 and found[0].startswith(self.reader)):
            self.failures.append(f"{name}: not {self.reader} alone: {found}")
        if now["parts"]["unsure"]["bytes"]:
            self.failures.append(f"{name}: unsure of {now['parts']['unsure']['bytes']} bytes")
        resident = sum(part["resident"] for part in now["parts"].values())
        self.check(name, "resident", (resident, now["resident"]), RESIDENT)
        return now

    def start(self, name):
        return Shaped(self.program, name, ".", self.preload)

    def measure_begin(self):
        with self.start("nothing") as shaped:
            now = explain(self.heapinject, shaped.process.pid, "--once")["now"]
        self.began_with = now["parts"]["used"]["bytes"]

    def compare(self, name):
        if self.began_with is None:
            self.measure_begin()
        with self.start(name) as shaped:
            if self.reader == "mimalloc":
                time.sleep(MIMALLOC_SECONDS)
            now = self.look(shaped)
            inside = shaped.ask_figures("info")
            given = shaped.ask_figures("trim")["given"]
        said = figures_of(now["parts"])
        said["counted"] = said["used"] - self.began_with
        for figure, want in inside.items():
            slack = SLACK + (THREAD * now["threads"] if figure == "counted" else 0)
            self.check(name, figure, (said[figure], want), IN_USE, slack)
        self.check(name, "trim", (now["trimmable"], given), TRIM)
        agreed = ", ".join(f"{figure} {said[figure]} of {inside[figure]}" for figure in inside)
        resident = sum(part["resident"] for part in now["parts"].values())
        print(
            f"{os.path.basename(self.program)} {self.reader} {name}: {agreed}, trimmable "
            f"{now['trimmable']} of {given}, resident {resident} of {now['resident']}",
            flush=True,
        )
