# SPDX-License-Identifier: MIT
"""measure.py SECONDS COMMAND...: runs COMMAND and says on the last line how it ended: status (or -signal), seconds, megabytes at most resident.

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
megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f"measured {status} {time.monotonic() - started:.1f} {megabytes}", flush=True)
