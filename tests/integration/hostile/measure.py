# SPDX-License-Identifier: MIT
"""Runs COMMAND and says on the last line how it ended: measure.py SECONDS COMMAND...

The line has the status (or -signal), seconds, seconds of CPU time, and megabytes at most resident.
A command that has not ended after SECONDS is killed, and its status is "late".
"""
import resource
import subprocess
import sys
import time

started = time.monotonic()
process = subprocess.Popen(sys.argv[2:])
try:
    status = process.wait(timeout=float(sys.argv[1]))
except subprocess.TimeoutExpired:
    process.kill()
    process.wait()
    status = "late"
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(
    f"measured {status} {time.monotonic() - started:.1f} {usage.ru_utime + usage.ru_stime:.1f} "
    f"{usage.ru_maxrss // 1024}",
    flush=True,
)
