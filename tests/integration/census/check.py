#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py HEAPINJECT PROGRAM...: compares `heapinject census` of objects.cc with what it holds."""
import json
import subprocess
import sys

# class, or kind and size: blocks, bytes that each has at least
WANT = {
    ("object", "net::secure_session", 0): 3000,
    ("object", "(anonymous namespace)::hidden", 0): 1500,
    ("object", "table<int, std::vector<char, std::allocator<char> > >", 0): 2000,
    ("other", "", 24): 4000,
    ("text", "", 56): 2500,
    ("zeros", "", 600): 700,
    ("pointers", "", 408): 300,
}
GROWING = ("object", "net::session", 0)
GROWTH = 200  # objects a second
failures = []


def census(heapinject, pid, *options):
    done = subprocess.run(
        [heapinject, "census", str(pid), *options],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    if done.returncode:
        raise RuntimeError(f"census: status {done.returncode}: {done.stderr}")
    return done.stdout


def rows_of(said):
    return {(row["kind"], row["class"], row["size"]): row for row in said["rows"]}


def check(heapinject, program):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        said = json.loads(census(heapinject, process.pid, "--json"))
        rows = rows_of(said)
        for key, blocks in WANT.items():
            # The program has a few blocks of its own, of the C++ library and of stdio.
            found = rows.get(key, {"blocks": 0})["blocks"]
            if not blocks <= found <= blocks + 2:
                failures.append(f"{program}: {key}: {found} blocks, not {blocks}")
        if sum(row["blocks"] for row in said["rows"]) != said["blocks"]:
            failures.append(f"{program}: rows have not all blocks")
        if "secret" in census(heapinject, process.pid, "--json", "--all"):
            failures.append(f"{program}: data is shown that nobody asked for")
        if "secret number" not in census(heapinject, process.pid, "--show-data"):
            failures.append(f"{program}: no data with --show-data")
        said = json.loads(census(heapinject, process.pid, "--json", "--duration", "3s"))
        row = said["rows"][0]
        rate = row["blocks_per_second"]
        if (row["kind"], row["class"], row["size"]) != GROWING:
            failures.append(f"{program}: first of what grows: {row}")
        if not 0.5 * GROWTH < rate < 1.1 * GROWTH:
            failures.append(f"{program}: {rate} objects a second, not {GROWTH}")
        print(f"{program}: {len(WANT)} classes and kinds, {rate:.0f} sessions a second")
        table = census(heapinject, process.pid)
        if "net::secure_session" not in table or "3000" not in table:
            failures.append(f"{program}: the table: {table}")
    finally:
        process.stdin.close()
        process.wait()


def main():
    for program in sys.argv[2:]:
        check(sys.argv[1], program)
    for failure in failures:
        print(failure, file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
