# SPDX-License-Identifier: MIT
"""What is kept of a cycle that failed, collected while target and injector are still as they were found."""
import glob
import os
import shutil
import signal
import subprocess

from observe import read, task_status, thread_report
from table import Broken

CORES_MAX = 5  # of living targets; they are large
CORE_SECONDS = 20


def keep(folder, trial, running, reason):
    """Writes it to a folder of its own; returns that folder. Never fails: evidence is what can still be had."""
    os.makedirs(folder, exist_ok=True)
    write(folder, "reason", reason + "\n")
    if trial:
        write(folder, "sessions", "\n".join(f"{session.process.args} -> {session.code}, stage {trial.stage}\n{session.text}" for session in trial.sessions))
        write(folder, "notes", "\n".join(trial.notes))
        for session in trial.sessions:
            if session.process.poll() is None:
                attempt(folder, f"heapinject.{session.pid}.threads", lambda pid=session.pid: thread_report(pid))
    if running:
        write(folder, "target.errors", running.errors())
        write(folder, "target.figures", str(running.figures))
        if running.pid:
            attempt(folder, "target.maps", lambda: read(f"/proc/{running.pid}/maps"))
            attempt(folder, "target.threads", lambda: thread_report(running.pid))
            attempt(folder, "target.status", lambda: read(f"/proc/{running.pid}/status"))
            attempt(folder, "target.descriptors", lambda: subprocess.run(["ls", "-l", f"/proc/{running.pid}/fd"], capture_output=True, text=True, check=False).stdout)
            keep_cores(folder, running)
    return folder


def keep_cores(folder, running):
    for core in glob.glob(f"{running.folder}/core*"):
        shutil.move(core, folder)
    living = task_status(running.pid, running.pid) if os.path.exists(f"/proc/{running.pid}") else None
    is_free = living and living["State"][0] in "RSD" and living["TracerPid"] == "0"
    if is_free and shutil.which("gdb") and len(glob.glob(os.path.join(os.path.dirname(folder), "*", "core.living"))) < CORES_MAX:
        take_core(running.pid, os.path.join(folder, "core.living"))


def take_core(pid, path):
    """By a debugger that may hang: who is killed leaves the target stopped."""
    argv = ["gdb", "-nx", "-batch", "-readnever", "-p", str(pid), "-ex", f"gcore {path}"]
    try:
        subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=CORE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        os.kill(pid, signal.SIGCONT)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def attempt(folder, name, get):
    try:
        write(folder, name, get())
    except (OSError, Broken) as error:
        write(folder, name, f"{error}\n")
