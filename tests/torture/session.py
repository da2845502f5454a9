# SPDX-License-Identifier: MIT
"""heapinject as a child process.

It is started, watched by its own output, struck at a chosen instant, and waited for. Nothing here
sleeps where it could wait for a descriptor: a cycle must cost little more than the attach and the
detach themselves.
"""
import os
import re
import select
import signal
import subprocess
import time

from table import Broken

HANG_SECONDS = 60  # far more than any deadline within heapinject
ATTACHED = "heapinject: attached to "
CLEAN_UP_SECONDS = 15  # of trying again
HOOKED = re.compile(r"(\d+) functions at their entry, (\d+) GOT slots")
STOPS = re.compile(r"(\d+) stops of single threads, at most ([\d.]+) ms each, ([\d.]+) ms added up")


class Lines:
    """Lines from a pipe, with a time limit."""

    def __init__(self, pipe):
        self.pipe, self.rest, self.is_over = pipe, b"", False
        self.poll = select.poll()
        self.poll.register(pipe, select.POLLIN)

    def next(self, seconds):
        """Without the newline; None: none came, or the end of the pipe."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            if not self.poll.poll(max(0, end - time.monotonic()) * 1000):
                return None
            more = os.read(self.pipe.fileno(), 65536)
            if not more:
                self.is_over = True
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace")


class Session:
    """One `heapinject attach`. All its output is kept in .text; .code is its exit code once it has
    ended.
    """

    def __init__(
        self, heapinject, running, loader, hook, output="-", options=(), environment=None,
        stdout=None, prefix=(),
    ):
        target = running.target
        argv = [
            *prefix, *target.attach_wrapper, heapinject, "attach", str(running.pid), "-v",
            "--loader", loader, "--hook", hook, "-o", output, *target.attach, *options,
        ]
        # The record stream goes to /dev/null. With files, the standard output is worth keeping.
        stdout = stdout or (subprocess.DEVNULL if output == "-" else subprocess.PIPE)
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=stdout, cwd=running.directory,
            env={**os.environ, **(environment or {})},
            stderr=subprocess.PIPE if stdout != subprocess.PIPE else subprocess.STDOUT,
        )
        self.pipe = self.process.stderr or self.process.stdout
        self.pid, self.code, self.text = self.process.pid, None, ""
        self.is_terminated = False
        self.poll = select.poll()
        self.poll.register(self.pipe, select.POLLIN)

    @property
    def is_attached(self):
        return ATTACHED in self.text

    def listen(self, seconds, until=""):
        """Reads its output for the given time, or until it says the given words. Returns False once
        there is no more output because it has ended.
        """
        end = time.monotonic() + seconds
        while not (until and until in self.text):
            left = end - time.monotonic()
            if not self.poll.poll(max(0, left) * 1000):
                return True
            more = os.read(self.pipe.fileno(), 65536)
            if not more:
                return False
            self.text += more.decode(errors="replace")
        return True

    def wait_attached(self):
        """True: attached. False: it ended without."""
        self.listen(HANG_SECONDS, until=ATTACHED)
        if not self.is_attached and self.process.poll() is None and self.listen(0.2):
            raise Broken(f"no attach within {HANG_SECONDS} s: {self.text}")
        return self.is_attached

    def terminate(self):
        self.is_terminated = True
        self.send(signal.SIGTERM)

    def send(self, number):
        self.process.send_signal(number)  # nothing happens if it has been waited for

    def wait(self, seconds=HANG_SECONDS):
        """Its exit code; negative: the signal that killed it. Broken if it does not end."""
        if self.listen(seconds):
            raise Broken(f"heapinject does not end within {seconds} s: {self.text}")
        self.code = self.process.wait()
        return self.code

    def stops(self):
        """(longest, sum) of the stops of all threads, in seconds, from its receipt; None if it has
        no receipt.
        """
        found = STOPS.search(self.text)
        return (float(found.group(2)) / 1e3, float(found.group(3)) / 1e3) if found else None

    def hooked(self):
        """(functions at their entry, GOT slots), as said once it is attached; None before that."""
        found = HOOKED.search(self.text)
        return (int(found.group(1)), int(found.group(2))) if found else None

    def has_no_entries(self):
        """Some function cannot be hooked at its entry, and nowhere else was allowed."""
        return self.code == 3 and "cannot be hooked at their entry" in self.text

    def has_ended_by_itself(self):
        """It has said why, which it does not if it was told to end by a signal."""
        return "heapinject: ending:" in self.text

    def gave_up(self):
        return self.code == 3 and "no thread came to a safe point" in self.text

    def refused(self):
        return self.code == 3

    def close(self):
        """Whatever came before: afterwards it is gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.pipe.close()


def run_detach(heapinject, running, environment=None):
    """`heapinject detach PID` -> (exit code, what it said)."""
    try:
        done = subprocess.run(
            [*running.target.attach_wrapper, heapinject, "detach", str(running.pid)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=HANG_SECONDS, check=False,
            env={**os.environ, **(environment or {})},
        )
    except subprocess.TimeoutExpired as expired:
        raise Broken(
            f"heapinject detach does not end within {HANG_SECONDS} s: {expired.output}"
        ) from None
    return done.returncode, done.stdout


def clean_up(heapinject, running):
    """Removes what a dead injector left, as the messages tell a user to, who may have to try again.
    Returns all output.
    """
    all_said, end = "", time.monotonic() + CLEAN_UP_SECONDS
    while True:
        code, said = run_detach(heapinject, running)
        all_said += f"heapinject detach: {code}\n{said}"
        if not code or "nothing to detach" in said:
            return all_said
        if ("again" not in said and "temporarily" not in said) or time.monotonic() > end:
            raise Broken(f"heapinject detach fails: {all_said}")
        time.sleep(0.1)
