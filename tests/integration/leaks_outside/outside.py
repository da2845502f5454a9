#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""outside.py HEAPINJECT PROGRAMS WORK: programs of run_leaks, whose leaks are known and are those
that LeakSanitizer finds, held at their end: `heapinject leaks` has to find the same blocks in the
running process, that it has not seen before.
"""
import glob
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run_leaks"))
# pylint: disable=wrong-import-position
from compare import Program, build, run  # noqa: E402

OTHERWISE = {
    "aborts": "it ends by a signal",
    "fails": "it ends as any other",
    "forks": "its child leaks, too, and is gone",
    "register": "registers are not read",
    "static": "nothing can be preloaded",
}
# What is known not to be the same, and why: (bytes, blocks) that nothing refers to, and the others.
KNOWN = {
    "interior": ("what was asked for is not known, and a pointer behind it leads inside",
                 (96, 1), (0, 0)),
    "mapped": ("what mmap gave is a root", (0, 0), (0, 0)),
    "ring": ("of a ring, one block is in the place of the others", (80, 2), (68, 3)),
}
ROUNDING = 32


def wanted(program, kind):
    if program.name in KNOWN:
        return KNOWN[program.name][1 if kind == "direct" else 2]
    sums = [sums for key, sums in program.want.items() if key[0] == kind]
    return sum(size for size, _ in sums), sum(blocks for _, blocks in sums)


def wait_for(path, process):
    end = time.monotonic() + 60
    while not os.path.exists(path):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError("it was not held at its end")
        time.sleep(0.02)


def leaks_of(heapinject, pid):
    done = subprocess.run(
        [heapinject, "leaks", str(pid), "--json", "--duration", "0.3s"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    if done.returncode:
        raise RuntimeError(f"leaks: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def check(program, heapinject, work):
    binary, held = f"{work}/{program.name}.plain", f"{work}/{program.name}.held"
    build(program, binary)
    environment = {**os.environ, "HOLD_FILE": held, "LD_PRELOAD": f"{work}/hold.so"}
    process = subprocess.Popen(
        [binary], cwd=work, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(held, process)
        said = leaks_of(heapinject, process.pid)
    finally:
        if os.path.exists(held):
            os.unlink(held)
        process.wait(60)
    wrong = []
    for kind, prefix in (("direct", ""), ("indirect", "more_")):
        size, blocks = wanted(program, kind)
        found = said[prefix + "blocks"], said[prefix + "bytes"]
        if found[0] != blocks or not size <= found[1] <= size + blocks * ROUNDING + 4096:
            wrong.append(f"{kind}: {found[1]} bytes in {found[0]} blocks, not {size} in {blocks}")
    return wrong


def main():
    heapinject, programs, work = sys.argv[1:]
    failed, compared = 0, 0
    for name in ("libplugin.so", "libplugin_too.so"):
        run(["gcc", "-g", "-O1", "-fPIC", "-shared", "-o", f"{work}/{name}",
             f"{programs}/libplugin.c"], ".")
    for path in sorted(glob.glob(f"{programs}/*.c") + glob.glob(f"{programs}/*.cc")):
        program = Program(path) if os.path.basename(path) != "libplugin.c" else None
        if not program or program.want is None:
            continue
        if program.name in OTHERWISE:
            print(f"left out: {program.name}: {OTHERWISE[program.name]}")
            continue
        wrong = check(program, heapinject, work)
        failed += bool(wrong)
        compared += 1
        known = f" (otherwise: {KNOWN[program.name][0]})" if program.name in KNOWN else ""
        print(f"{'FAIL' if wrong else 'ok'} {program.name}{known}")
        for line in wrong:
            print(f"     {line}")
    print(f"{compared} programs, {failed} failed")
    return 1 if failed or compared < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
