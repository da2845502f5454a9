#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py HEAPINJECT NAME CLASS LIBRARY PROGRAM SHAPE...: starts the program of target.c with each
shape, asks `heapinject census --pins` what its sessions pin, has it free them, and compares what
went back with what was said. CLASS: of the sessions, or - if they are text. LIBRARY: an allocator,
or -.
"""
import json
import os
import subprocess
import sys

LEAST = 3 << 20  # less would not show
TOLERANCE = 0.1
# Freed memory goes back at once, not after some time.
AT_ONCE = {"MIMALLOC_DECOMMIT_DELAY": "0", "MIMALLOC_PURGE_DELAY": "0"}


class Target:
    def __init__(self, program, library, shape):
        environment = {**os.environ, **AT_ONCE}
        if library != "-":
            environment["LD_PRELOAD"] = library
        self.process = subprocess.Popen(
            [program, shape],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="ascii",
        )
        self.hear("ready")

    def hear(self, word):
        line = self.process.stdout.readline().strip()
        if line != word:
            raise RuntimeError(f"it says {line}")

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.hear("done")

    def resident(self):
        """Bytes of its own memory, which are in no file."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Anonymous:"):
                    return int(line.split()[1]) * 1024
        raise RuntimeError("no smaps_rollup")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def pins(heapinject, pid):
    done = subprocess.run(
        [heapinject, "census", str(pid), "--pins", "--json"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"census: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def wrong_of(said, went_back, want):
    """What does not agree, one sentence each."""
    first, rows = said["rows"][0], said["rows"]
    if (first["kind"], first["class"]) != want:
        yield f"first is {first}"
    if not abs(went_back - first["goes_back"]) <= TOLERANCE * went_back:
        yield f"{went_back} bytes went back, not {first['goes_back']}"
    if went_back < LEAST:
        yield f"only {went_back} bytes went back: this shows nothing"
    if sum(row["pinned"] for row in rows) != said["pinned"]:
        yield "the rows do not have all that is pinned"
    if not first["pinned"] <= said["pinned"] <= said["free"]:
        yield f"more is pinned than free: {said['pinned']} of {said['free']}"
    # What goes back is what they pin and what they are themselves, but for what others pin, too.
    if first["goes_back"] > 1.02 * (first["pinned"] + first["bytes"]) + 32 * first["blocks"]:
        yield f"they are and pin less than what would go back: {first}"
    pinned_by_others = said["pinned"] - first["pinned"]
    if pinned_by_others > first["pinned"] / 2:
        yield f"the others pin {pinned_by_others}"


def check(heapinject, name, want, target, shape):
    target.ask("trim")
    before = target.resident()
    said = pins(heapinject, target.process.pid)
    if target.resident() > before:
        yield "the look has touched memory"
    target.ask("end")
    went_back = before - target.resident()
    first = said["rows"][0]
    print(
        f"{name} {shape}: {first['blocks']} blocks, {first['bytes']} bytes, pin {first['pinned']}"
        f" of {said['pinned']}; {first['goes_back']} would go back, {went_back} did"
    )
    yield from wrong_of(said, went_back, want)


def main():
    heapinject, name, class_name, library, program, *shapes = sys.argv[1:]
    want = ("text", "") if class_name == "-" else ("object", class_name)
    failed = False
    for shape in shapes:
        with Target(program, library, shape) as target:
            for wrong in check(heapinject, name, want, target, shape):
                print(f"{name} {shape}: {wrong}", file=sys.stderr)
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
