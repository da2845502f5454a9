#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py HEAPINJECT TARGET: what looks at a process say before, during and after a session."""
import json
import signal
import subprocess
import sys
import time

HEAPINJECT, TARGET = sys.argv[1], sys.argv[2]


def look(pid, *arguments):
    done = subprocess.run(
        [HEAPINJECT, arguments[0], str(pid), "--json", *arguments[1:]],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    if done.returncode or done.stderr:
        sys.exit(f"{arguments}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def rows_of(said):
    return {row["size"]: row for row in said["rows"]}


def want(what, is_so):
    if not is_so:
        sys.exit(f"not so: {what}")


def lost(pid):
    return rows_of(look(pid, "leaks", "--duration", "200ms"))


def want_lost(rows, times, when):
    want(f"{when}, {times} times 2000 lost: {rows[104]}", rows[104]["blocks"] == 2000 * times)
    want(f"{when}, {times} times 200 lost: {rows[3000]}", rows[3000]["blocks"] == 200 * times)


def want_stacks(row, shares):
    want(f"{sum(shares.values())} sampled: {row}", row["sampled"] == sum(shares.values()))
    for name, sampled in shares.items():
        found = [s for s in row["stacks"] if s["stack"].startswith(name + " ")]
        want(f"{sampled} by {name}: {row}", [s["sampled"] for s in found] == [sampled])
        want(f"to its end: {found}", found[0]["stack"].endswith("main"))


class Session:
    def __init__(self, target, rate):
        command = [HEAPINJECT, "attach", str(target.pid), "--duration", "120", "--output", "s"]
        self.process = subprocess.Popen(
            [*command, "--sample", rate], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for _ in range(300):
            done = subprocess.run(
                [HEAPINJECT, "status", str(target.pid)],
                capture_output=True,
                check=False,
                timeout=60,
            )
            if done.returncode == 0:
                return
            time.sleep(0.1)
        sys.exit("no session begins")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def allocate(target):
    target.stdin.write("more\n")
    target.stdin.flush()
    target.stdout.readline()
    time.sleep(1)


def check_all(pid):
    """Of a session that samples each block."""
    rows = lost(pid)
    want_lost(rows, 2, "while attached")
    want_stacks(rows[104], {"lose_session": 2000})
    want_stacks(rows[3000], {"lose_buffer": 200})
    for options in ["census"], ["census", "--duration", "200ms"], ["census", "--pins"]:
        rows = rows_of(look(pid, *options))
        want_stacks(rows[104], {"lose_session": 2000, "hold": 1000})
    shown = subprocess.run(
        [HEAPINJECT, "census", str(pid)], capture_output=True, encoding="utf-8", check=True
    ).stdout
    want(f"66.7 %: {shown}", "\n       66.7% of 3000 sampled: lose_session target.c:" in shown)
    want(f"what they are: {shown}", "Stacks: of 3200 of these " in shown)


def check_some(pid):
    """Of one whose payload knows blocks that are not freed yet."""
    rows = lost(pid)
    want_lost(rows, 3, "while some are sampled")
    sampled = rows[104]["sampled"]
    want(f"some are sampled: {sampled}", 500 < sampled <= 2000)
    want(f"by one stack: {rows[104]}", len(rows[104]["stacks"]) == 1)


def main():
    with subprocess.Popen(
        [TARGET], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii"
    ) as target:
        target.stdout.readline()
        rows = lost(target.pid)
        want_lost(rows, 1, "before")
        want("no stacks without a session", "stacks" not in rows[104])
        with Session(target, "1"):
            allocate(target)
            check_all(target.pid)
        with Session(target, "64"):
            allocate(target)
            check_some(target.pid)
        rows = lost(target.pid)
        want_lost(rows, 3, "afterwards")
        want("no stacks without a session", "stacks" not in rows[104])
        target.stdin.close()


if __name__ == "__main__":
    main()
