# SPDX-License-Identifier: MIT
"""What a command costs."""
import os
import statistics
import subprocess
import time


class Cost:
    """Of one command, run so many times: wall and CPU time in seconds, memory in MB."""

    def __init__(self, command):
        self.command, self.wall, self.cpu, self.memory, self.status, self.lines = (
            command, [], [], [], 0, 0,
        )

    def run(self):
        with open(os.devnull, "wb") as nothing:
            began = time.monotonic()
            with subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=nothing) as process:
                self.lines = sum(
                    chunk.count(b"\n") for chunk in iter(lambda: process.stdout.read(1 << 20), b"")
                )
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
        self.wall.append(time.monotonic() - began)
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.memory.append(usage.ru_maxrss / 1024)
        self.status = self.status or process.returncode

    def medians(self):
        return statistics.median(self.wall), statistics.median(self.cpu), max(self.memory)
