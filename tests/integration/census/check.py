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
SHRINKING = ("object", "net::expiring", 0)
BOUNDED = ("object", "net::request", 0)
LOOKS_MIN = 6  # that an interval takes
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


def check_intervals(program, said):
    for row in said["rows"]:
        for what in "blocks", "bytes":
            low, high = (row[f"{what}_per_second_{end}"] for end in ("low", "high"))
            if low is not None and not low <= row[f"{what}_per_second"] <= high:
                failures.append(f"{program}: not within its interval: {row}")
        includes = low is None or low <= 0 <= high
        if row["verdict"] in ("grows", "shrinks") and includes:
            failures.append(f"{program}: its interval includes 0: {row}")


def check_growth(heapinject, program, pid):
    """What grows comes first, with an interval; what shrinks and what is bounded does not grow."""
    said = json.loads(census(heapinject, pid, "--json", "--duration", "3s"))
    rows, row = rows_of(said), said["rows"][0]
    rate = row["blocks_per_second"]
    if said["looks"] < LOOKS_MIN:
        failures.append(f"{program}: {said['looks']} looks")
    if (row["kind"], row["class"], row["size"]) != GROWING or row["verdict"] != "grows":
        failures.append(f"{program}: first of what grows: {row}")
    if not 0.5 * GROWTH < rate < 1.1 * GROWTH:
        failures.append(f"{program}: {rate} objects a second, not {GROWTH}")
    if rows[SHRINKING]["verdict"] != "shrinks" or rows[SHRINKING]["blocks_per_second_high"] >= 0:
        failures.append(f"{program}: it does not shrink: {rows[SHRINKING]}")
    if rows[BOUNDED]["verdict"] not in ("steady", "cannot tell"):
        failures.append(f"{program}: it is bounded: {rows[BOUNDED]}")
    check_intervals(program, said)
    return rate


def check_two_looks(heapinject, program, pid):
    """Too short for as many looks as an interval takes: nothing is said to grow."""
    said = json.loads(census(heapinject, pid, "--json", "--duration", "1ms"))
    if said["looks"] != 2 or {row["verdict"] for row in said["rows"]} - {"steady", "too few looks"}:
        failures.append(f"{program}: by two looks: {said}")
    if any(row["bytes_per_second_low"] is not None for row in said["rows"]):
        failures.append(f"{program}: an interval by two looks: {said}")
    table = census(heapinject, pid, "--duration", "1ms")
    if "These are too few to say what grows" not in table or "grows  " in table:
        failures.append(f"{program}: the table of two looks: {table}")


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
        rate = check_growth(heapinject, program, process.pid)
        print(f"{program}: {len(WANT)} classes and kinds, {rate:.0f} sessions a second")
        check_two_looks(heapinject, program, process.pid)
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
