# SPDX-License-Identifier: MIT
"""The vocabulary of the torture suite: a table of targets, and what an event reports of one cycle.

A row (Target) says how to start a process and what is expected of it. Files rows_*.py next to this one each export ROWS, a list of rows; a new row needs no other
line anywhere. An event (events.py) does one cycle to a running target. This file only describes; it starts nothing.

A self-checking program (targets/selfcheck.h) speaks on stdin and stdout, one line each: it prints `ready`; `state` is answered by
`state ok progress=N gap_us=G eintr=E lost=L ...` or `state bad REASON`; `end` by `end ok ...` or `end bad REASON` and its exit. Whatever does not speak so (servers,
python3, ...) has the callables start, probe and stop instead.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Optional, Sequence, Union


class Broken(Exception):
    """The target is not as it must be: the cycle failed. Raised by probe callables, too, with the reason as text."""


class Skip(Exception):
    """This row or event cannot run here; the text says why."""


@dataclass
class Server:
    """What a row's start callable returns: the process to attach to, and whatever probe and stop need."""
    pid: int
    processes: list = field(default_factory=list)  # subprocess.Popen objects that stop ends, last first, unless the row has a stop of its own
    about: dict = field(default_factory=dict)      # ports, connections, ... for the row's own use


@dataclass(frozen=True)
class Target:
    name: str
    # argv of a self-checking program. A first word without a slash for which targets/WORD.c (or .cc) exists is built from that; anything else is run as it is.
    # Every word may hold {directory} (a scratch directory of this run of the target, removed afterwards) and {build} (where the built targets lie).
    command: Sequence[str] = ()
    cflags: Sequence[str] = ()
    compiler: str = ""  # "" = $CC
    # Around the command: an argv prefix, or a function (argv, directory) -> argv. A prefix that forks (unshare --fork) is fine: the target is the process that runs the program.
    wrapper: Union[Sequence[str], Callable, None] = None
    environment: dict = field(default_factory=dict)
    once_ready: Optional[Callable] = None  # (pid): what is done to the program from outside when it is in full swing, e.g. a limit that leaves it no more room

    # Instead of a command: start(directory) -> Server; probe(server) -> text like a `state` line without the first word (`ok progress=7`), or raises Broken; stop(server).
    start: Optional[Callable] = None
    probe: Optional[Callable] = None
    stop: Optional[Callable] = None

    loaders: Sequence[str] = ("map", "dlopen")
    # Ways to hook (auto, entry, slot) by which alone the row makes sense, or each of which it is to show. () = by whichever the run is asked for.
    hooks: Sequence[str] = ()
    attach: Sequence[str] = ()         # more options for `heapinject attach`
    attach_wrapper: Sequence[str] = ()  # argv prefix of heapinject itself, e.g. to run it as somebody else
    expect: str = "works"              # works | refused (exit code 1 or 3 and `words` in the message, target as before) | ends (the target exits or execs by itself at any moment)
    words: Sequence[str] = ()
    statuses: Sequence[int] = ()       # with which a target ends that ends by itself; negative: the signal
    events: Optional[Sequence[str]] = None  # only these; None = all that make sense for `expect`
    patience: float = 1  # times as long a standstill as in other rows is its own affair: so many threads that never rest wait for a CPU, and for each other
    # What the program itself changes all the time, and cannot be compared before and after: of maps, descriptors, threads, signals, got, code.
    varies: Sequence[str] = ()
    # It copies the allocator's addresses, once in each session, to where nobody turns them back: a file of this name in {directory}, mapped shared, at whose beginning it keeps
    # count of that, in eight bytes. For each copy the page of plain jumps must stay that detach leaves, and nothing else.
    copies: str = ""

    weight: float = 1.0  # share of the cycles of N
    is_storm: bool = False
    in_slice: bool = True
    needs: Sequence[str] = ()  # programs that must be installed
    available: Optional[Callable] = None  # () -> "" or the reason why the row cannot run here (kernel, rights)

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
    kind: str = "done"  # done | gave-up (dlopen found no safe point: counted apart) | early (the session had ended before the event struck)
    stage: str = ""     # of the session in which the event struck, for those that strike at a random instant


@dataclass(frozen=True)
class Event:
    name: str
    cycle: Callable  # (Trial) -> Outcome; raises Broken
    text: str        # for the summary
    share: float = 1.0                   # cycles per N
    count: Optional[Callable] = None     # (Trial) -> how many cycles there can be; fewer are spread evenly over them
    expects: Sequence[str] = ("works",)  # rows of which expectation it is for
    only_storms: bool = False
    fresh: bool = False                  # ends the target: each cycle needs a new one
    longest_gap_us: int = 3000000        # that even a starved machine may make the target stand still; 0: the event itself makes it longer
    foreign_stops: bool = False          # somebody else stops the target's threads, too: its EINTRs are not our doing
    needs: Sequence[str] = ()            # programs that must be installed
