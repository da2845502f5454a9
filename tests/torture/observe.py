# SPDX-License-Identifier: MIT
"""What heapinject must leave as it was, read from /proc alone.

That is mappings, descriptors, threads, signal state, tracer, GOT words, and the allocator's code.
This shares no code with heapinject. It leaves out what a program does for itself: heap, plain
anonymous memory, the stack's size, socket numbers. It keeps anonymous memory that is executable or
wiped on fork, because a forgotten gate or state would look like that.
"""
import os
import re
import sys
import time
from collections import Counter

from table import Broken

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import code_pages  # noqa: E402  (the directory is known only now)
import got_words  # noqa: E402

OURS = "memfd:heapinject"
PLACES = ("tmp", "var/tmp", "dev/shm", "run")  # of the file of the probes
KEPT_BYTES = 24576  # of the jumps that stay, and of the words behind them
SIGNALS = ("SigPnd", "SigBlk", "SigIgn", "SigCgt")
IO_WORKER = "iou-wrk-"  # io_uring's, of the kernel: they come and go, and take no signals
# SEGV, BUS, TERM: a thread that has all of these blocked, and did not before, is a borrowed thread
# that was forgotten.
FATAL_WHERE_BLOCKED = 1 << 10 | 1 << 6 | 1 << 14
# The C library's own signals: a thread that it has created, and that has not run yet, has them
# blocked.
LIBRARY_BLOCKED = 1 << 31 | 1 << 32
SETTLE_SECONDS = 3.0
BEGIN_SECONDS = 20.0
LOOKS = 10


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def tasks(pid):
    try:
        return sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))
    except FileNotFoundError:
        raise Broken(f"process {pid} is gone") from None


def task_status(pid, tid):
    """None: the thread has ended meanwhile."""
    try:
        return dict(re.findall(r"^(\w+):\s*(.*)$", read(f"/proc/{pid}/task/{tid}/status"), re.M))
    except (FileNotFoundError, ProcessLookupError):
        return None


def live_task(pid):
    """Directory of a thread that shows memory and descriptors: the leader, or another thread if the
    leader has ended.
    """
    for tid in sorted(tasks(pid), key=lambda tid: tid != pid):
        status = task_status(pid, tid)
        if status and status["State"][0] not in "ZX":
            return f"/proc/{pid}/task/{tid}"
    raise Broken(f"process {pid} is dead")


def split_maps(directory):
    """(lines of /proc/PID/maps, number of kept pages). The lines leave out these pages: detach
    leaves pages of plain jumps where it cannot restore copies of pointers.
    """
    lines, kept = [], 0
    for line in read(f"{directory}/maps").splitlines():
        if lines and is_kept(lines[-1], line):
            lines.pop()
            kept += 1
        else:
            lines.append(line)
    return lines, kept


def is_kept(jumps, words):
    """True for two lines: anonymous code, and right behind it as much memory of ours, which holds
    the addresses that these jumps lead to.
    """
    is_ours, jumps, words = OURS in words, jumps.split(), words.split()
    (start, middle), (behind, end) = (
        [int(each, 16) for each in fields[0].split("-")] for fields in (jumps, words)
    )
    return (
        is_ours
        and len(jumps) == 5
        and (jumps[1], words[1]) == ("r-xp", "rw-p")
        and middle == behind
        and middle - start == end - middle == KEPT_BYTES
    )


def kept_pages(pid):
    return split_maps(live_task(pid))[1]


def is_mapped(pid):
    """Is anything of ours, but for pages that stay?"""
    return any(OURS in line for line in split_maps(live_task(pid))[0])


def read_maps(directory, has_kept):
    """Lines of /proc/PID/maps that a program does not change by allocating. With has_kept it also
    leaves out pages that stay.
    """
    lines = []
    for line in split_maps(directory)[0] if has_kept else read(f"{directory}/maps").splitlines():
        fields = line.split(None, 5)
        name = fields[5] if len(fields) > 5 else ""
        if name == "[stack]":
            lines.append(f"{fields[1]} {name}")
        elif not (name == "[heap]" or name.startswith("[anon")) and (name or "x" in fields[1]):
            lines.append(line)
    flags = re.findall(r"^VmFlags:(.*)$", read(f"{directory}/smaps"), re.M)
    lines.append(
        f"{sum(bool({'wf', 'dc'} & set(each.split())) for each in flags)} mappings "
        "wiped or absent after fork"
    )
    return lines


def read_descriptors(directory):
    links = []
    for name in os.listdir(f"{directory}/fd"):
        try:
            link = os.readlink(f"{directory}/fd/{name}")
        except FileNotFoundError:
            continue
        links.append("socket" if link.startswith("socket:") else link)
    return sorted(links)


def is_beginning(pid, tid):
    status = task_status(pid, tid)
    return bool(status) and int(status["SigBlk"], 16) & LIBRARY_BLOCKED == LIBRARY_BLOCKED


class Observer:
    """Observes one target. It looks up once the addresses of its GOT slots, and whose code is its
    allocator's, so that an observation costs little.
    """

    def __init__(self, pid, varies=(), has_kept=False, compares_all=False):
        self.pid, self.varies, self.has_kept = pid, frozenset(varies), has_kept
        self.compares_all = compares_all
        self.slots = (
            [] if "got" in self.varies else list(got_words.family_slots(self.place(), self.maps()))
        )
        self.compared = set()  # paths of the objects whose code is compared
        if "code" not in self.varies:
            objects = code_pages.objects if compares_all else code_pages.allocators
            self.compared = set(objects(self.place()))
            if not self.compared:
                raise Broken("none of its objects defines malloc: there is no code to be compared")
        self.before = self.settled_look()

    def settled_look(self):
        """A thread that is just beginning looks different for a moment, which may be long on a busy
        machine.
        """
        end = time.monotonic() + BEGIN_SECONDS
        while time.monotonic() < end and any(
            is_beginning(self.pid, tid) for tid in tasks(self.pid)
        ):
            time.sleep(0.02)
        end = time.monotonic() + SETTLE_SECONDS
        self.before = self.look()
        while time.monotonic() < end:
            time.sleep(0.1)
            now = self.look()
            if all(now[part] == self.before[part] for part in now if part != "masks"):
                break
            self.before = now
        return self.before

    def place(self):
        """Below /proc; not the process itself, whose leader may have ended."""
        return live_task(self.pid)[len("/proc/") :]

    def maps(self):
        return got_words.Maps(self.place())

    def read_slots(self, directory):
        words = {}
        with open(f"{directory}/mem", "rb", buffering=0) as memory:
            for name, where, symbol, address in self.slots:
                words[f"{name} {where:#x} {symbol}"] = got_words.read_slot(memory, address)
        return words

    def look(self):
        """Part -> what is there, for all that the program does not change by itself."""
        for _ in range(LOOKS - 1):
            try:
                return self.look_once()
            except (FileNotFoundError, ProcessLookupError):
                # The thread through which this read has ended.
                continue
        return self.look_once()

    def look_once(self):
        directory = live_task(self.pid)
        statuses = {
            tid: status
            for tid, status in ((tid, task_status(self.pid, tid)) for tid in tasks(self.pid))
            if status
        }
        seen = {
            "tracer": sorted({status["TracerPid"] for status in statuses.values()}),
            "state": [
                "stopped"
                if any(status["State"][0] in "Tt" for status in statuses.values())
                else "runs"
            ],
            "maps": read_maps(directory, self.has_kept),
            "descriptors": read_descriptors(directory),
            "threads": [str(len(statuses))],
            "signals": sorted(
                " ".join(f"{name} {status[name]}" for name in SIGNALS)
                for status in statuses.values()
            ),
            "masks": sorted(
                tid
                for tid, status in statuses.items()
                if int(status["SigBlk"], 16) & FATAL_WHERE_BLOCKED == FATAL_WHERE_BLOCKED
                and not status["Name"].startswith(IO_WORKER)
            ),
            "got": [
                f"{slot} {value:#x}"
                for slot, value in self.read_slots(directory).items()
                if value is not None
            ],
            "code": code_pages.look(directory[len("/proc/") :], self.compared, self.compares_all)
            if self.compared
            else [],
        }
        return {part: value for part, value in seen.items() if part not in self.varies}

    def differences(self):
        """Lines that tell what is not as before; what the program does in passing is waited for."""
        end = time.monotonic() + SETTLE_SECONDS
        self.blocked = None  # those that had their signals blocked each time we looked
        while True:
            different = self.compare(self.look())
            if not different or time.monotonic() > end:
                return different + leftovers(self.pid, self.has_kept)
            time.sleep(0.02)

    def compare(self, now):
        lines = []
        for part, before in self.before.items():
            if part == "masks":
                lines += self.compare_masks(now[part])
                continue
            was, is_now = Counter(before), Counter(now[part])
            if part == "got":
                was, is_now = self.without_resolved(was, is_now)
            lines += [f"{part}: was {line}" for line in (was - is_now).elements()] + [
                f"{part}: now {line}" for line in (is_now - was).elements()
            ]
        return lines

    def compare_masks(self, now):
        """A thread that starts a process blocks all signals meanwhile. A thread that was left with
        them blocked has them blocked at every observation.
        """
        self.blocked = self.blocked & set(now) if self.blocked is not None else set(now)
        # A thread was just starting a process at the first observation.
        if len(now) < len(self.before["masks"]):
            self.before["masks"] = now
        if len(self.blocked) <= len(self.before["masks"]):
            return []
        return [
            f"masks: blocked in {len(self.before['masks'])} threads before, "
            f"now in {' '.join(map(str, sorted(self.blocked)))}"
        ]

    def without_resolved(self, was, is_now):
        """A lazy slot that the program itself has resolved is no difference, and is the new state
        from now on.
        """
        maps = None
        before, after = (dict(line.rsplit(" ", 1) for line in words) for words in (was, is_now))
        for slot in [slot for slot in before.keys() & after.keys() if before[slot] != after[slot]]:
            maps = maps or self.maps()
            if got_words.is_resolved(
                slot.split(" ")[0],
                *(maps.describe(int(words[slot], 16)) for words in (before, after)),
            ):
                before[slot] = after[slot]
                self.before["got"] = [f"{s} {value}" for s, value in before.items()]
        return Counter(f"{s} {value}" for s, value in before.items()), Counter(
            f"{s} {value}" for s, value in after.items()
        )


def leftovers(pid, has_kept):
    """Lines that name whatever of ours is mapped or open."""
    directory = live_task(pid)
    lines = [
        f"left: {line}"
        for line in (
            split_maps(directory)[0] if has_kept else read(f"{directory}/maps").splitlines()
        )
        if OURS in line
    ]
    lines += [
        f"left: descriptor of {link}" for link in read_descriptors(directory) if OURS in link
    ]
    return lines + [f"left: {path}" for path in probes_files(pid)]


def probes_files(pid):
    """The files of its probes that have a name."""
    paths = (f"/proc/{pid}/root/{place}/heapinject-otel-{pid}.so" for place in PLACES)
    return [path for path in paths if os.path.lexists(path)]


def trace_of(pid):
    """How far an injector that has died came, by what it left: none, descriptor, mapped."""
    if is_mapped(pid):
        return "mapped"
    return (
        "descriptor" if any(OURS in link for link in read_descriptors(live_task(pid))) else "none"
    )


def trace_detector(pid):
    """A function that quickly says whether it sees anything of ours, or a descriptor that was not
    there before.
    """
    before = len(os.listdir(f"/proc/{pid}/fd"))
    return lambda: len(os.listdir(f"/proc/{pid}/fd")) != before or is_mapped(pid)


def thread_report(pid):
    """Where every thread of a process is, for the evidence of a failure."""
    lines = []
    for tid in tasks(pid):
        status = task_status(pid, tid) or {}
        lines.append(
            f"{tid} {status.get('Name')} {status.get('State')} tracer {status.get('TracerPid')} "
            f"blocked {status.get('SigBlk')} pending {status.get('SigPnd')}"
        )
        for name in ("wchan", "syscall", "stack"):
            try:
                lines.append(
                    f"    {name}: "
                    + read(f"/proc/{pid}/task/{tid}/{name}").strip().replace("\n", "\n        ")
                )
            except OSError as error:
                lines.append(f"    {name}: {error.strerror}")
    return "\n".join(lines) + "\n"
