# SPDX-License-Identifier: MIT
"""Prints what a report says of addresses of PROGRAM, one "address function place" a line.

  names.py HEAPINJECT ORIGINAL PROGRAM OUT [OPTION...]

PROGRAM has the code of ORIGINAL. The addresses are spread over the functions of ORIGINAL, and the
profile has the build-id of ORIGINAL. The standard error of heapinject goes to OUT.err.
"""
import os
import re
import subprocess
import sys

LOAD = 0x555555554000
EACH = 6


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def addresses(program):
    """Some in each function."""
    found = set()
    for address, size in re.findall(
        r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] ", output("nm", "-S", program), re.MULTILINE
    ):
        low, length = int(address, 16), int(size, 16)
        found.update(low + length * part // EACH for part in range(EACH))
    return sorted(found)


def profile(program, path, chosen):
    """The code is PROGRAM's, and lies at PATH."""
    note = re.search(r"Build ID: (\w+)", output("readelf", "-n", program))
    headers = output("readelf", "-lW", program)
    offset, low, _, size = (
        int(word, 16)
        for word in re.search(
            r"^  LOAD +(\w+) (\w+) (\w+) (\w+) \w+ R E", headers, re.MULTILINE
        ).groups()
    )
    yield (
        f"heap profile: {len(chosen)}: {len(chosen)} [{len(chosen)}: {len(chosen)}] @ heapprofile\n"
    )
    yield (
        f"# module {LOAD + low:x}-{LOAD + low + size:x} {offset:x} {LOAD:x} "
        f"{note[1] if note else '-'} {path}\n"
    )
    for address in chosen:
        yield f"1: 1 [1: 1] @ {LOAD + address + 1:#x}\n"
    yield "\nMAPPED_LIBRARIES:\n"


def main():
    heapinject, original, program, out = sys.argv[1:5]
    given, named = out + ".given.heap", out + ".heap"
    with open(given, "w", encoding="ascii") as file:
        file.writelines(profile(original, program, addresses(original)))
    with open(out + ".err", "w", encoding="utf-8") as errors:
        status = subprocess.run(
            [heapinject, "report", given, "--symbolize", "-o", named, *sys.argv[5:]],
            stderr=errors,
            check=False,
        ).returncode
    if status:
        return status
    with open(named, encoding="utf-8") as file, open(out, "w", encoding="utf-8") as said:
        for line in file:
            if line.startswith("# symbol "):
                _, _, address, rest = line.rstrip("\n").split(" ", 3)
                name, place, *_ = rest.split("\t")
                said.write(
                    f"{int(address, 16) - LOAD - 1:x} {name.replace(' ', '_')} "
                    f"{os.path.basename(place)}\n"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
