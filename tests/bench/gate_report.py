#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions between a call of malloc or free and the function itself.

It follows the gate's entries from their start along the path on which nothing is sampled. That path
takes no conditional jump and ends with the tail jump to the original. Both facts hold for
payload/arch/x86_64/gate.S, and are checked here.

  gate_report [payload.so]
"""
import os
import re
import subprocess
import sys

ENTRIES = ("hi_gate_alloc", "hi_gate_free", "hi_gate_size2", "hi_gate_realloc")


def path_of(image, entry):
    """Instructions of the path: list of text."""
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", f"--disassemble={entry}", image],
        capture_output=True, text=True, check=True,
    ).stdout
    path = []
    for line in text.splitlines():
        found = re.match(r"\s+[0-9a-f]+:\s+(\S+)\s*([^#]*)", line)
        if not found:
            continue
        path.append(f"{found[1]} {found[2].strip()}")
        if found[1] == "jmp":
            if "*" not in found[2]:
                sys.exit(
                    f"gate_report: {entry}: the path ends in a jump that is none to the original"
                )
            return path
        if found[1] in ("call", "ret", "push", "pop"):
            sys.exit(f"gate_report: {entry}: {found[1]} on the path")
    sys.exit(f"gate_report: no {entry} in {image}")


def facts(image):
    """For each entry: (entry, instructions, those with a memory operand, conditional jumps, atomic
    ones).
    """
    for entry in ENTRIES:
        path = path_of(image, entry)
        memory = sum("(" in step and not step.startswith("lea") or "%fs:" in step for step in path)
        branches = sum(step.startswith("j") for step in path) - 1
        atomic = sum(step.startswith(("lock", "xchg", "cmpxchg", "xadd")) for step in path)
        yield entry, len(path), memory, branches, atomic


def text(image):
    return "\n".join(
        f"- `{entry}`: {instructions} instructions to the original, "
        f"{memory} of them with a memory operand, "
        f"{branches} conditional jumps (not taken), {atomic} atomic"
        for entry, instructions, memory, branches, atomic in facts(image)
    )


if __name__ == "__main__":
    print(
        text(
            sys.argv[1]
            if len(sys.argv) > 1
            else os.path.join(os.environ.get("O", "build"), "payload.so")
        )
    )
