#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""glibc.py HEAPINJECT PROGRAM... : all shapes, built with glibc, by truth.py; and whether other
commands leave a process as it was, too.
"""
import subprocess
import sys

from truth import SHAPES, Truth, changes

COMMANDS = (
    ["explain", "--duration", "1s"],
    ["census"],
    ["census", "--duration", "1s"],
    ["census", "--owner"],
    ["census", "--pins"],
    ["owners"],
    ["leaks", "--duration", "1s"],
    ["explain", "--freeze", "5s"],
    ["leaks", "--freeze", "5s"],
)


def run_commands(truth):
    with truth.start("churn_threads") as shaped:
        shaped.wait_until_it_rests()
        for command, *options in COMMANDS:
            with changes(shaped.process.pid) as changed:
                subprocess.run(
                    [truth.heapinject, command, str(shaped.process.pid), *options], check=True,
                    stdout=subprocess.DEVNULL, timeout=120,
                )
            if changed:
                truth.failures.append(f"{command}: the process is not as it was: {changed}")


def main():
    failures = []
    for program in sys.argv[2:]:
        truth = Truth(sys.argv[1], program)
        for name in SHAPES:
            truth.compare(name)
        run_commands(truth)
        failures += truth.failures
    for failure in failures:
        print(failure, file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
