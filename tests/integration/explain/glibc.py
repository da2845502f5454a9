#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""glibc.py HEAPINJECT PROGRAM... : all shapes, built with glibc, by truth.py."""
import sys

from truth import SHAPES, Truth


def main():
    failures = []
    for program in sys.argv[2:]:
        truth = Truth(sys.argv[1], program)
        for name in SHAPES:
            truth.compare(name)
        failures += truth.failures
    for failure in failures:
        print(failure, file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
