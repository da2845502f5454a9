# SPDX-License-Identifier: MIT
"""Watches reports that wait for their input: watch.py HEAPINJECT WORK.

One report has a terminal as its standard error, the other has a pipe. The rest of the input comes
once the first report has shown its progress line.
"""
import os
import pty
import re
import select
import subprocess
import sys

CLEAR = b"\r\x1b[K"
PATIENCE_S = 60
FIRST, REST = (
    b"heap profile: 3: 300 [3: 300] @ heap_v2/1\n1: 100 [1: 100] @ 0x1000 0x2000\n",
    b"2: 200 [2: 200] @ 0x1000 0x3000\n\nMAPPED_LIBRARIES:\n",
)


def fail(text):
    sys.exit(f"FAIL: {text}")


def read_until(fd, wanted):
    """What comes up to there; wanted None: up to the end, which a terminal tells by an error."""
    got = b""
    while wanted is None or wanted not in got:
        if not select.select([fd], [], [], PATIENCE_S)[0]:
            fail(f"no {wanted} within {PATIENCE_S} s, but {got}")
        try:
            more = os.read(fd, 4096)
        except OSError:
            more = b""
        if not more:
            break
        got += more
    return got


class Report:
    """One that has had a part of its input."""

    def __init__(self, heapinject, work, errors):
        self.output = os.path.join(work, f"output.{errors}")
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [heapinject, "report", "-", "--collapsed"], stdin=subprocess.PIPE, stdout=output,
                stderr=errors, env={**os.environ, "TERM": "xterm"},
            )
        self.process.stdin.write(FIRST)
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.write(REST)
        self.process.stdin.close()
        if self.process.wait(timeout=PATIENCE_S):
            fail(f"status {self.process.returncode}")
        with open(self.output, "rb") as output:
            return output.read()


def main():
    heapinject, work = sys.argv[1:]
    ours, terminal = pty.openpty()
    here, there = os.pipe()
    watched, piped = Report(heapinject, work, terminal), Report(heapinject, work, there)
    os.close(terminal)
    os.close(there)
    shown = read_until(ours, b" s")
    if not re.match(re.escape(CLEAR) + rb"heapinject: reading, [0-9]+ s", shown):
        fail(f"the line is {shown}")
    first, second = watched.end(), piped.end()
    shown = read_until(ours, None)
    if not shown.endswith(CLEAR):
        fail(f"what stays on the terminal is {shown}")
    if first != second or b" 200\n" not in first or b"\x1b" in first:
        fail(f"the reports are {first} and {second}")
    said = read_until(here, None)
    if said:
        fail(f"into the pipe went {said}")


main()
