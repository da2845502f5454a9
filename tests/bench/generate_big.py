#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the sources of the big program: generate_big.py DIRECTORY.

It makes PARTS files, each of which instantiates the templates of big.h for KINDS types, and the
table of the parts.
"""
import os
import sys

PARTS = 19
KINDS = 25


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for part in range(PARTS):
        kinds = "".join(
            f"\tHandler<Request<{part * KINDS + kind}>>::handle,\n" for kind in range(KINDS)
        )
        with open(os.path.join(directory, f"part_{part:02d}.cc"), "w", encoding="utf-8") as file:
            file.write(
                f'#include "big.h"\nextern const Handle part_{part:02d}[];\n'
                f'const Handle part_{part:02d}[] = {{\n{kinds}\tnullptr,\n}};\n'
            )
    declarations = "".join(f"extern const Handle part_{part:02d}[];\n" for part in range(PARTS))
    entries = "".join(f"part_{part:02d}, " for part in range(PARTS))
    with open(os.path.join(directory, "parts.cc"), "w", encoding="utf-8") as file:
        file.write(
            '#include "big.h"\n'
            f'{declarations}const Handle *const big_parts[] = {{{entries}nullptr}};\n'
        )


if __name__ == "__main__":
    main()
