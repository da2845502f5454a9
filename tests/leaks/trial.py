# SPDX-License-Identifier: MIT
"""One session on one program of the leak suite: what was said of it, and what was true."""
import dataclasses
import json
import os
import signal
import struct
import subprocess
import time

import cpu_quota
import legacy
from processes import Failed, end, launch, line_from, read, resident_bytes

READY_SECONDS = 60
PATIENCE_SECONDS = 180  # for attach, detach and the files, beside the session
LOOK_SECONDS = 0.25
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Program:
    name: str
    kind: str  # leaky or healthy
    answers: str  # function names, separated by commas
    about: str


@dataclasses.dataclass
class Row:
    """What a report says of one leak, in bytes and bytes per second; None: it does not say."""

    verdict: str
    function: str
    slope: float = None
    low: float = None
    high: float = None
    samples: int = None
    stack: list = None


@dataclasses.dataclass
class Report:
    verdict: str
    rows: list
    sentence: str = ""
    interval: str = ""  # between samples, where it is known


@dataclasses.dataclass
class Trial:
    program: Program
    seed: int
    failure: str = ""
    report: Report = None
    true_rate: float = 0  # bytes per second, in the mean of the window
    cpu_share: float = 0  # of one core
    looks: list = None  # (seconds since attach began, bytes leaked, bytes resident)


def from_json(line):
    said = json.loads(line)
    rows = []
    for row in said.get("rows", []):
        slope = row.get("slope") or {}
        rows.append(
            Row(
                row["verdict"], row.get("function") or "", slope.get("value"), slope.get("low"),
                slope.get("high"), row.get("samples"), row.get("stack"),
            )
        )
    return Report(said["verdict"], rows, said.get("sentence", ""))


def cpu_seconds(pid):
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def leaked_bytes(ledger):
    with open(ledger, "rb") as file:
        return struct.unpack("=q", file.read(8))[0]


def watch(session, target, ledger, seconds):
    """Looks at the program until the session has ended."""
    looks, began = [], time.monotonic()
    while session.poll() is None:
        elapsed = time.monotonic() - began
        if elapsed > seconds + PATIENCE_SECONDS:
            raise Failed(f"attach does not end within {elapsed:.0f} s")
        looks.append((round(elapsed, 2), leaked_bytes(ledger), resident_bytes(target.pid)))
        time.sleep(LOOK_SECONDS)
    return looks


def true_rate(looks, seconds):
    """Over the window, which begins a fraction of a second after the command does."""
    within = [look for look in looks if look[0] <= seconds]
    if len(within) < 2:
        return 0
    return (within[-1][1] - within[0][1]) / (within[-1][0] - within[0][0])


def attach(options, target, prefix, ledger):
    """Returns what the program was seen to do. The outputs are in PREFIX.out and PREFIX.err."""
    mode = ["-q"] if options.legacy else ["--json"]
    command = [
        options.heapinject, "attach", str(target.pid), "-s", str(options.seconds), *mode, "-o",
        prefix, *options.attach_options,
    ]
    with open(prefix + ".out", "wb") as out, open(prefix + ".err", "wb") as err:
        session = launch(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            looks = watch(session, target, ledger, options.seconds)
        finally:
            code = end(session)
    if code:
        said = (read(prefix + ".err") or read(prefix + ".out")).strip().splitlines()
        raise Failed(f"attach: exit status {code}: {said[-1] if said else ''}")
    return looks


def json_report(path):
    """The answer of attach --json, whose output is in the file."""
    lines = read(path).strip().splitlines()
    try:
        return from_json(lines[-1])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise Failed(f"no answer in JSON ({type(error).__name__}: {error})") from None


def report(options, target, prefix):
    if options.legacy:
        return legacy.report(options, f"{prefix}.{target.pid}.0001.heap")
    return json_report(prefix + ".out")


def look_at(options, trial, target, prefix, ledger):
    cpu, began = cpu_seconds(target.pid), time.monotonic()
    trial.looks = attach(options, target, prefix, ledger)
    if target.poll() is not None:
        raise Failed(f"the program has ended, with {target.returncode}")
    trial.cpu_share = (cpu_seconds(target.pid) - cpu) / (time.monotonic() - began)
    trial.true_rate = true_rate(trial.looks, options.seconds)
    trial.report = report(options, target, prefix)


def run_session(options, trial, prefix):
    ledger, group = prefix + ".ledger", ""
    target = launch(
        [options.programs, trial.program.name, ledger, str(trial.seed)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, bufsize=0,
    )
    try:
        if line_from(target.stdout, READY_SECONDS, trial.program.name) != "ready":
            raise Failed("it is not ready")
        if options.quota:
            group = cpu_quota.begin(target.pid, options.quota)
        look_at(options, trial, target, prefix, ledger)
    finally:
        end(target, signal.SIGKILL)
        if group:
            cpu_quota.end(group)


def run(options, program, seed, directory):
    trial = Trial(program, seed)
    prefix = os.path.join(directory, program.name + (f".{seed}" if options.repeat > 1 else ""))
    try:
        run_session(options, trial, prefix)
    except Failed as error:
        trial.failure = str(error)
    except Exception as error:  # whatever it is: the other programs are worth having
        trial.failure = f"{type(error).__name__}: {error}"
    return trial
