#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py HEAPINJECT BUSY: looks at a stopped process, again and again; see busy.c."""
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time

HELD, LOST = 54321, 43210
KILLS = 50
PATIENCE_SECONDS = 60
# The clocks of the monitor are read one after the other, and the kernel's figure is up to date by a
# tick only.
SLACK_US = 15000
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17

heapinject = sys.argv[1]
failures = []


def check(ok, *what):
    if not ok:
        print(*what, file=sys.stderr)
        failures.append(what)


class Busy:
    def __init__(self):
        self.can_break = False  # a call that the kernel does not restart, see docs/safety.md
        self.process = subprocess.Popen(
            [sys.argv[2]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii"
        )
        self.pid = self.process.pid
        self.first = self.hear()

    def hear(self):
        words = self.process.stdout.readline().split()
        return {name: int(value) for name, value in (word.split("=") for word in words)}

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        said = self.hear()
        check(said["interrupted"] == 0, "calls were broken off:", said)
        check(said["broken"] == 0 or self.can_break, "waits were broken off:", said)
        return said

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_SECONDS)

    def states(self):
        """Of its threads: the state, and who traces it."""
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/status", encoding="utf-8") as file:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            yield fields["State"][0], fields["TracerPid"]

    def check_free(self, what):
        """No thread is stopped or traced. A killed tracer is gone a little later."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            states = set(self.states())
            if not any(state in "tT" or tracer != "0" for state, tracer in states):
                break
            if time.monotonic() > end:
                check(False, what, states)
                break
            time.sleep(0.01)
        before = self.ask()["allocated"]
        while self.ask()["allocated"] == before:
            if time.monotonic() > end:
                check(False, what, "it does not go on")
                break
            time.sleep(0.01)


def run(*arguments):
    return subprocess.run(
        [heapinject, *map(str, arguments)],
        capture_output=True, timeout=120, encoding="utf-8", check=False,
    )


def look(busy, command, *options):
    done = run(command, busy.pid, *options, "--json")
    check(done.returncode == 0, command, options, done.returncode, done.stderr)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def stop_of(said):
    return said.get("now", said)


def check_stops(busy):
    """It is stopped for as long as is said, and no longer; without the option not at all."""
    for command in (("explain",), ("census",), ("census", "--pins"), ("owners",), ("leaks",)):
        before = busy.ask()["stopped_us"]
        said = stop_of(look(busy, *command, "--freeze", "5s"))
        after = busy.ask()["stopped_us"]
        if not said:
            continue
        most = said["stopped_times"] * said["stopped_ms"] * 1000
        print(command, "said", said["stopped_times"], "x", said["stopped_ms"], "ms, seen",
              (after - before) / 1000, "ms")
        check(said["stopped_times"] >= 1 and said["stopped_ms"] > 0, command, "not stopped")
        check(after - before <= most + SLACK_US, command, "stopped for longer than is said")
        unsure = said["parts"]["unsure"]["bytes"] if "parts" in said else said["unsure_bytes"]
        check(unsure == 0, command, "unsure of", unsure)
        busy.check_free(command)
    before = busy.ask()["stopped_us"]
    said = look(busy, "explain", "--once")
    after = busy.ask()["stopped_us"]
    check(after - before <= SLACK_US, "stopped without --freeze:", after - before)
    check(stop_of(said).get("stopped_times") == 0, "says that it was stopped")


def check_registers(busy):
    """What only a register refers to is kept, and what nothing refers to has leaked."""
    def sizes(said):
        return {row["size"] // 100 for row in said.get("rows", ())}

    said = look(busy, "leaks", "--freeze", "5s")
    check(said.get("looks") == 1, "more than one look")
    check(LOST // 100 in sizes(said), "the lost block is not found:", said)
    check(HELD // 100 not in sizes(said), "a block that a register refers to has leaked:", said)
    owners = look(busy, "owners", "--freeze", "5s", "--all")
    named = {row.get("name") for row in owners.get("rows", ())}
    check(any("registers" in (name or "") for name in named), "owners has no registers:", named)


def check_words(busy):
    done = run("explain", busy.pid, "--freeze", "5s")
    check(" (9 threads); nothing in it was changed" in done.stdout, done.stdout, done.stderr)
    done = run("leaks", busy.pid, "--freeze", "5s")
    check("\nstopped " in done.stdout and "as they were at one moment" in done.stdout,
          done.stdout, done.stderr)
    for options in (["--freeze", "5s", "--duration", "1s"], ["--freeze", "1ms"],
                    ["--freeze", "never"]):
        for command in ("explain", "census", "leaks"):
            done = run(command, busy.pid, *options)
            check(done.returncode == 2 and "--freeze" in done.stderr, options, done)


def check_refused():
    """Who is traced by somebody else is left alone; who is stopped by a signal stays so. A signal
    that stops a process breaks off its epoll_wait, whoever looks at it or not: signal(7)."""
    busy = Busy()
    busy.can_break = True
    libc = ctypes.CDLL(None, use_errno=True)
    check(libc.ptrace(PTRACE_SEIZE, busy.pid, None, None) == 0, "cannot trace it")
    done = run("explain", busy.pid, "--freeze", "1s")
    check(done.returncode == 3 and "traced by" in done.stderr, "traced:", done)
    os.kill(busy.pid, signal.SIGSTOP)
    os.waitpid(busy.pid, 0)
    check(libc.ptrace(PTRACE_DETACH, busy.pid, None, signal.SIGSTOP) == 0,
          "cannot let it go")
    end = time.monotonic() + PATIENCE_SECONDS
    while {state for state, _ in busy.states()} != {"T"} and time.monotonic() < end:
        time.sleep(0.01)
    done = run("explain", busy.pid, "--freeze", "5s")
    check(done.returncode == 0, "stopped by a signal:", done)
    # A thread that is let go stops itself again, within the kernel.
    end = time.monotonic() + PATIENCE_SECONDS
    while (states := set(busy.states())) != {("T", "0")} and time.monotonic() < end:
        time.sleep(0.01)
    check(states == {("T", "0")}, "not stopped any more:", states)
    os.kill(busy.pid, signal.SIGCONT)
    busy.check_free("after SIGCONT")
    busy.end()


def check_kills(busy):
    rng = random.Random(1)
    busy.ask()
    busy.can_break = True
    for _ in range(KILLS):
        command = rng.choice(("explain", "census", "leaks", "owners"))
        with subprocess.Popen(
            [heapinject, command, str(busy.pid), "--freeze", "5s"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:
            time.sleep(rng.random() * 0.15)
            process.kill()
        busy.check_free(f"{command} was killed")


def check_session(busy):
    with subprocess.Popen(
        [heapinject, "attach", str(busy.pid), "-o", "-", "-s", "60"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as session:
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            with open(f"/proc/{busy.pid}/maps", encoding="utf-8") as maps:
                if "heapinject" in maps.read():
                    break
            time.sleep(0.05)
        look(busy, "leaks", "--freeze", "5s")
        session.send_signal(signal.SIGINT)
    busy.check_free("beside a session")


def main():
    busy = Busy()
    check_stops(busy)
    check_registers(busy)
    check_words(busy)
    check_refused()
    check_kills(busy)
    check_session(busy)
    busy.ask()
    busy.end()
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
