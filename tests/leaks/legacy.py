# SPDX-License-Identifier: MIT
"""What `report --leaks --details` prints, as the rows that `attach --json` would have."""
import glob
import os
import re
import subprocess

import trial
from processes import Failed

CANNOT_TELL = 5  # exit status
ROW = re.compile(
    r"(grows|steady|too few samples|cannot tell) +(\S+) +(\S+) \.\. (\S+) +\S+ +\d+ +(\d+) "
)
FRAME = re.compile(r" {8}(\S.*?)(?: (\S+):\d+)?$")
INTERVAL = re.compile(r"^Window: .*one sample per (\S+);", re.M)
RATE = re.compile(r"(-?[\d.]+)([kMGT]?)B/([sh])$")
FACTORS = {"": 1, "k": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# A wrapper is known by its name, as one that reads a report would know it.
WRAPPER = re.compile(r"[a-z]?[xz]?(m|c|re)alloc|operator new.*")
SOURCES = {
    os.path.basename(path)
    for path in glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "*.c*"))
}


def parse_rate(text):
    """Bytes per second, None for a question mark."""
    found = RATE.match(text)
    if not found:
        return None
    value, prefix, unit = found.groups()
    return float(value) * FACTORS[prefix] / (3600 if unit == "h" else 1)


def function_of(frames):
    """The first frame that a programmer would call his own."""
    for name, file in frames:
        if file in SOURCES and not WRAPPER.fullmatch(name):
            return name
    return frames[0][0] if frames else ""


def parse(text):
    rows, frames = [], []
    for line in text.splitlines():
        row, frame = ROW.match(line), FRAME.match(line)
        if row:
            verdict, slope, low, high, samples = row.groups()
            frames.append([])
            rows.append(
                trial.Row(
                    verdict, "", parse_rate(slope), parse_rate(low), parse_rate(high), int(samples)
                )
            )
        elif frame and rows:
            frames[-1].append((frame.group(1), frame.group(2)))
    for row, stack in zip(rows, frames):
        row.function, row.stack = function_of(stack), [name for name, _ in stack]
    return rows


def report(options, path):
    done = subprocess.run(
        [options.heapinject, "report", path, "--leaks", "--details"], check=False,
        capture_output=True, text=True, errors="replace", timeout=300,
    )
    if done.returncode not in (0, CANNOT_TELL):
        raise Failed(f"report: exit status {done.returncode}: {done.stderr.strip()}")
    rows, interval = parse(done.stdout), INTERVAL.search(done.stdout)
    if done.returncode == CANNOT_TELL:
        verdict = "cannot tell"
    else:
        verdict = rows[0].verdict if rows else "nothing"
    return trial.Report(verdict, rows, "", interval.group(1) if interval else "")
