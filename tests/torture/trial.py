# SPDX-License-Identifier: MIT
"""One cycle: a running target, a loader, and a way to hook.

It has the means by which an event starts heapinject and strikes at a random instant of its session.
A session is cut into stages by what can be seen from outside. An event that strikes at any instant
draws the stage first, then the instant within it, so that it hits short stages as often as long
ones. The sessions before (Pace) show how long stages take on this target.
"""
import os
import signal
import statistics
import time

from observe import probes_files, trace_detector, trace_of
from session import Session, clean_up, run_detach
from table import Broken, Outcome, Skip

# mapping and patching are in it twice, because a random instant misses them more often.
STAGES = (
    "preparing", "mapping", "mapping", "patching", "patching", "sampling", "detaching", "detaching",
    "ending",
)
BEFORE_THE_END = STAGES[:-1]
SAMPLE_SECONDS = 0.03
MAPPING_SECONDS = 0.002  # from the first trace in the target to the last mapping


class Pace:
    """Times of the sessions with one target and loader, in seconds: from the start to the first
    trace in the target, to the end of the attach; from SIGTERM to the exit.
    """

    def __init__(self):
        self.traced, self.attached, self.ended = [0.01], [0.03], [0.02]

    def learn(self, name, seconds):
        values = getattr(self, name)
        values.append(seconds)
        del values[:-15]

    def window(self, stage):
        """(from, to) in seconds after the start, the first trace, the end of the attach, or
        SIGTERM, by the stage.
        """
        traced, attached, ended = (
            statistics.median(values) for values in (self.traced, self.attached, self.ended)
        )
        return {
            "preparing": (0, traced),
            "mapping": (0, MAPPING_SECONDS),
            "patching": (0, max(attached - traced, MAPPING_SECONDS)),
            "sampling": (0, SAMPLE_SECONDS),
            "detaching": (0, ended * 0.6),
            "ending": (ended * 0.8, ended),
        }[stage]


class Trial:
    def __init__(self, bench, running, loader, hook, pace, random, cell):
        self.bench, self.running, self.loader, self.hook, self.pace, self.random = (
            bench, running, loader, hook, pace, random,
        )
        self.index, self.wanted, self.operations = (
            cell["cycles"],
            cell["wanted"],
            cell["operations"],
        )
        # notes: more text for the evidence, should this cycle fail.
        self.sessions, self.notes = [], []
        self.stage = ""

    def nth_of(self, count):
        """1 to count, spread evenly over the cycles wanted."""
        return 1 + self.index * count // max(self.wanted, 1)

    # ---- heapinject ----

    def session(self, **how):
        """Starts `heapinject attach`. Its files, if it writes any, go to the target's scratch
        directory.
        """
        self.sessions.append(
            Session(
                how.pop("heapinject", self.bench.heapinject), self.running,
                how.pop("loader", self.loader), how.pop("hook", self.hook), **how,
            )
        )
        return self.sessions[-1]

    def detach(self, heapinject=None, environment=None):
        code, said = run_detach(heapinject or self.bench.heapinject, self.running, environment)
        self.notes.append(f"heapinject detach: {code}\n{said}")
        return code, said

    def clean_up(self, heapinject=None):
        self.notes.append(clean_up(heapinject or self.bench.heapinject, self.running))

    def clean_up_if_left(self):
        """For sessions that ended in trouble and said so."""
        if trace_of(self.running.pid) != "none" or probes_files(self.running.pid):
            self.clean_up()

    def prefix(self):
        return os.path.join(self.running.directory, "profile")

    def attach(self, session):
        """True: attached. False: it gave up, and has ended."""
        if session.wait_attached():
            self.pace.learn("attached", time.monotonic() - session.started)
            if self.running.target.copies:
                self.running.wait_for_copies()
            return True
        session.wait()
        return False

    def sample(self, session):
        session.listen(self.random.uniform(0, SAMPLE_SECONDS))

    def end(self, session):
        """The orderly end; its exit code."""
        begun = time.monotonic()
        session.terminate()
        code = session.wait()
        self.pace.learn("ended", time.monotonic() - begun)
        return code

    # ---- striking ----

    def start_and_reach(self, stages=STAGES, **how):
        """A session that has come to a random instant of a stage drawn from these. It may have
        ended or given up before.
        """
        session = self.session(**how)
        self.stage = self.random.choice(stages)
        if self.stage in ("mapping", "patching"):
            self.wait_for_trace(session)
        elif self.stage != "preparing" and self.attach(session) and self.stage != "sampling":
            self.sample(session)
            session.terminate()
        session.listen(self.random.uniform(*self.pace.window(self.stage)))
        return session

    def wait_for_trace(self, session):
        """Until something of ours can be seen in the target."""
        has_trace = trace_detector(self.running.pid)
        while not session.is_attached and session.listen(0.0001):
            if has_trace():
                self.pace.learn("traced", time.monotonic() - session.started)
                return

    def conclude(self, session, allowed=(0,)):
        """From wherever the session is to its end. Done, or gave up."""
        if not session.is_terminated and self.attach(session):
            self.sample(session)
            session.terminate()
        return self.judge(session, allowed)

    def judge(self, session, allowed=(0,)):
        code = session.wait() if session.code is None else session.code
        if session.is_terminated and session.has_ended_by_itself():
            allowed = (*allowed, -signal.SIGTERM)  # it has let the target go: a signal ends it
        if session.gave_up() and self.loader == "dlopen":
            return Outcome("gave-up", self.stage)
        if session.has_no_entries() and self.hook == "entry":
            raise Skip("some function of its allocator cannot be hooked at its entry")
        if code not in allowed or not session.text.strip() and code:
            raise Broken(
                f"heapinject ends with {code}, wanted "
                f"{' or '.join(str(each) for each in allowed)}: {session.text}"
            )
        return Outcome("done", self.stage)

    def told_stops(self):
        """The stops of the receipts, in microseconds: the longest, and the largest sum of one
        session. And the sum of all, in seconds, or None where one session has no receipt.
        """
        stops = [session.stops() for session in self.sessions]
        told = [each for each in stops if each]
        figures = {
            "stop_us": round(1e6 * max((longest for longest, _ in told), default=0)),
            "stops_us": round(1e6 * max((total for _, total in told), default=0)),
        }
        return figures, sum(total for _, total in told) if all(stops) else None

    def hooked(self):
        """The most that sessions have hooked: (functions at their entry, GOT slots)."""
        told = [each for each in (session.hooked() for session in self.sessions) if each]
        return {
            "entries": max((entries for entries, _ in told), default=0),
            "slots": max((slots for _, slots in told), default=0),
        }

    def close(self):
        for session in self.sessions:
            session.close()
