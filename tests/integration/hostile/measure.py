# SPDX-License-Identifier: MIT
"""measure.py SECONDS COMMAND...: runs COMMAND and says on the last line how it ended: status (or -signal), seconds, seconds of CPU time, megabytes at most resident.

Whoever is not done after SECONDS is killed: status "late".
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
print(f"measured {status} {time.monotonic() - started:.1f} {usage.ru_utime + usage.ru_stime:.1f} {usage.ru_maxrss // 1024}", flush=True)
