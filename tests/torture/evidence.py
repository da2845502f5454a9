# SPDX-License-Identifier: MIT
"""Evidence of a cycle that failed, collected while target and injector are still as they were
found.
"""
import glob
import os
import shutil
import signal
import subprocess

from observe import read, task_status, thread_report
from table import Broken

CORES_MAX = 5  # of living targets; they are large
CORE_SECONDS = 20


def keep(directory, trial, running, reason):
    """Writes it to a directory of its own, and returns that directory. It never fails: it keeps
    what it can still read.
    """
    os.makedirs(directory, exist_ok=True)
    write(directory, "reason", reason + "\n")
    if trial:
        write(
            directory,
            "sessions",
            "\n".join(
                f"{session.process.args} -> {session.code}, stage {trial.stage}\n{session.text}"
                for session in trial.sessions
            ),
        )
        write(directory, "notes", "\n".join(trial.notes))
        for session in trial.sessions:
            if session.process.poll() is None:
                attempt(
                    directory,
                    f"heapinject.{session.pid}.threads",
                    lambda pid=session.pid: thread_report(pid),
                )
    if running:
        write(directory, "target.errors", running.errors())
        write(directory, "target.figures", str(running.figures))
        if running.pid:
            attempt(directory, "target.maps", lambda: read(f"/proc/{running.pid}/maps"))
            attempt(directory, "target.threads", lambda: thread_report(running.pid))
            attempt(directory, "target.status", lambda: read(f"/proc/{running.pid}/status"))
            attempt(
                directory,
                "target.descriptors",
                lambda: subprocess.run(
                    ["ls", "-l", f"/proc/{running.pid}/fd"], capture_output=True, text=True,
                    check=False,
                ).stdout,
            )
            keep_cores(directory, running)
    return directory


def keep_cores(directory, running):
    for core in glob.glob(f"{running.directory}/core*"):
        shutil.move(core, directory)
    living = (
        task_status(running.pid, running.pid) if os.path.exists(f"/proc/{running.pid}") else None
    )
    is_free = living and living["State"][0] in "RSD" and living["TracerPid"] == "0"
    if (
        is_free
        and shutil.which("gdb")
        and len(glob.glob(os.path.join(os.path.dirname(directory), "*", "core.living"))) < CORES_MAX
    ):
        take_core(running.pid, os.path.join(directory, "core.living"))


def take_core(pid, path):
    """By a debugger that may hang: who is killed leaves the target stopped."""
    argv = ["gdb", "-nx", "-batch", "-readnever", "-p", str(pid), "-ex", f"gcore {path}"]
    try:
        subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=CORE_SECONDS, check=False,
        )
    except subprocess.TimeoutExpired:
        os.kill(pid, signal.SIGCONT)


def write(directory, name, text):
    with open(
        os.path.join(directory, name), "w", encoding="utf-8", errors="surrogateescape"
    ) as file:
        file.write(text)


def attempt(directory, name, get):
    try:
        write(directory, name, get())
    except (OSError, Broken) as error:
        write(directory, name, f"{error}\n")
