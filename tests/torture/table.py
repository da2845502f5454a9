# SPDX-License-Identifier: MIT
"""The vocabulary of the torture suite: a table of targets, and what an event reports of one cycle.

A row (Target) says how to start a process and what is expected of it. Files rows_*.py next to this
one each export ROWS, a list of rows. A new row needs no other line anywhere. An event (events.py)
does one cycle to a running target. This file only describes; it starts nothing.

A self-checking program (targets/selfcheck.h) speaks on stdin and stdout, one line each. It prints
`ready`. It answers `state` by `state ok progress=N gap_us=G eintr=E lost=L ...` or `state bad
REASON`, and `end` by `end ok ...` or `end bad REASON` and its exit. For a target that does not
speak so (servers, python3, ...) the row has the callables start, probe and stop instead.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Optional, Sequence, Union


class Broken(Exception):
    """The target is not as it must be, so the cycle failed. Probe callables raise it, too, with the
    reason as text.
    """


class Skip(Exception):
    """This row or event cannot run here; the text says why."""


@dataclass
class Server:
    """What a row's start returns: the process to attach to, and what probe and stop need."""

    pid: int
    # subprocess.Popen objects that stop ends, last first, unless the row has a stop of its own.
    processes: list = field(default_factory=list)
    about: dict = field(default_factory=dict)  # ports, connections, ... for the row's own use


@dataclass(frozen=True)
class Target:
    name: str
    # argv of a self-checking program. If targets/WORD.c (or .cc) exists for a first word without a
    # slash, the program is built from that; anything else is run as it is. Every word may hold
    # {directory} (a scratch directory of this run of the target, removed afterwards) and {build}
    # (where the built targets lie).
    command: Sequence[str] = ()
    cflags: Sequence[str] = ()
    compiler: str = ""  # "" = $CC
    # Around the command: an argv prefix, or a function (argv, directory) -> argv. A prefix may fork
    # (unshare --fork): the target is the process that runs the program.
    wrapper: Union[Sequence[str], Callable, None] = None
    environment: dict = field(default_factory=dict)
    # (pid): acts on the program from outside when it is at full work, e.g. sets a limit that leaves
    # it no more room.
    once_ready: Optional[Callable] = None

    # Instead of a command: start(directory) -> Server; probe(server) -> text like a `state` line
    # without the first word (`ok progress=7`), or raises Broken; stop(server).
    start: Optional[Callable] = None
    probe: Optional[Callable] = None
    stop: Optional[Callable] = None

    loaders: Sequence[str] = ("map", "dlopen")
    # Ways to hook (auto, entry, slot): the row makes sense only with these, and runs with each of
    # them. () = the way that the run is asked for.
    hooks: Sequence[str] = ()
    attach: Sequence[str] = ()  # more options for `heapinject attach`
    # argv prefix of heapinject itself, e.g. to run it as another user.
    attach_wrapper: Sequence[str] = ()
    # works
    # refused: exit code 1 or 3, `words` in the message, the target as before
    # ends: the target exits or execs by itself at any moment
    expect: str = "works"
    words: Sequence[str] = ()
    # A target that ends by itself ends with one of these; negative: the signal.
    statuses: Sequence[int] = ()
    events: Optional[Sequence[str]] = None  # only these; None = all that make sense for `expect`
    # The row may stop for so many times the time of other rows by itself: so many threads that
    # never rest wait for a CPU, and for each other.
    patience: float = 1
    # What the program itself changes all the time, so that no comparison before and after is
    # possible: of maps, descriptors, threads, signals, got, code.
    varies: Sequence[str] = ()
    # The program copies the allocator's addresses, once in each session, to where nobody restores
    # them. This names a file in {directory}, mapped shared, in whose first eight bytes it counts
    # the copies. For each copy the page of plain jumps that detach leaves must stay, and nothing
    # else.
    copies: str = ""

    # Compare all code and all read-only data of the program and of its libraries, and not only the
    # code of the objects that define malloc.
    compares_all: bool = False

    weight: float = 1.0  # share of the cycles of N
    is_storm: bool = False
    in_slice: bool = True
    needs: Sequence[str] = ()  # programs that must be installed
    # () -> "" or the reason why the row cannot run here (kernel, rights).
    available: Optional[Callable] = None

    def __post_init__(self):
        assert self.expect in ("works", "refused", "ends"), self.name
        assert bool(self.command) != bool(self.start), f"{self.name}: a command or a start callable"


def parse_state(line: str) -> dict:
    """`ok progress=7 gap_us=80` -> {"progress": 7, "gap_us": 80}; Broken where it says bad."""
    words = line.split()
    if not words or words[0] != "ok":
        raise Broken(f"the target says: {line.strip() or 'nothing'}")
    values = {}
    for word in words[1:]:
        name, _, value = word.partition("=")
        values[name] = int(value) if value.lstrip("-").isdigit() else value
    return values


@dataclass
class Outcome:
    """Of one cycle that did not fail (a failing one raises Broken)."""

    # done
    # gave-up: dlopen found no safe point; this is counted apart
    # early: the session had ended before the event struck
    kind: str = "done"
    # The stage of the session in which the event struck, for events that strike at a random
    # instant.
    stage: str = ""


@dataclass(frozen=True)
class Event:
    name: str
    cycle: Callable  # (Trial) -> Outcome; raises Broken
    text: str  # for the summary
    share: float = 1.0  # cycles per N
    # (Trial) -> how many cycles there can be; fewer are spread evenly over them.
    count: Optional[Callable] = None
    expects: Sequence[str] = ("works",)  # rows of which expectation it is for
    only_storms: bool = False
    fresh: bool = False  # ends the target: each cycle needs a new one
    # Even a starved machine may stop the target for so long; 0: the event itself makes it longer.
    longest_gap_us: int = 3000000
    # Another program stops the target's threads, too, so their EINTRs do not come from heapinject.
    foreign_stops: bool = False
    needs: Sequence[str] = ()  # programs that must be installed
