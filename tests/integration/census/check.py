#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py HEAPINJECT PROGRAM...: compares `heapinject census` of objects.cc with what it holds."""
import json
import os
import re
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
    ("object", "net::parent", 0): 400,
    ("object", "net::child", 0): 400,
    ("object", "net::local", 0): 250,
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
    said = json.loads(census(heapinject, pid, "--json", "--duration", "4s"))
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


def first_of(row, member):
    """What is first in a list of a row, if it has all of its blocks, within 1 %; else None."""
    first = (row[member] or [{"blocks": 0}])[0]
    return first if row["blocks"] - first["blocks"] <= row["blocks"] // 100 else None


def check_owners(heapinject, program, pid):
    """Whose pointers lead to classes of which that is known."""
    name = os.path.basename(program)
    variable = rf"\.bss of {name}\+0x[0-9a-f]+" if "stripped" in name else f"{{}} in {name}"
    stack = r"stack of holder \(\d+\)"
    want = {
        # class: class or kind of what has the pointers, what keeps it, its module
        "net::child": ("net::parent", variable.format("kept"), name),
        "net::expiring": ("pointers", variable.format("expiring"), name),
        "net::local": ("stack", stack, stack),
    }
    said = json.loads(census(heapinject, pid, "--json", "--owner"))
    rows = rows_of(said)
    for key, (pointers, place, module) in want.items():
        row = rows["object", key, 0]
        found = [first_of(row, member) for member in ("pointers", "places", "modules")]
        if None in found:
            failures.append(f"{program}: not all blocks of {key}: {row}")
            continue
        if pointers not in (found[0].get("class"), found[0]["kind"]):
            failures.append(f"{program}: no pointers in {pointers}: {row}")
        if not re.fullmatch(place, found[1]["name"]) or not re.fullmatch(module, found[2]["name"]):
            failures.append(f"{program}: {place} of {module} does not keep {row}")
    for row in said["rows"]:
        for member in "pointers", "places", "modules":
            if len(row[member]) > 3 or any(one["blocks"] > row["blocks"] for one in row[member]):
                failures.append(f"{program}: too much of it: {row}")
    of_library = [row for row in said["rows"] if row["modules"][0]["name"].startswith("libstdc++")]
    if not said["conservative"] or bool(of_library) != ("static" not in name):
        failures.append(f"{program}: no library keeps anything, or it is not conservative: {said}")


def check_owner_tables(heapinject, program, pid):
    for options in [], ["--duration", "200ms"]:
        table = census(heapinject, pid, "--owner", "--all", *options)
        if not re.search(r"net::child\n +pointers in: (100\.0|99\.\d)% net::parent", table):
            failures.append(f"{program}: no parents in {options}: {table}")
        if not re.search(r"net::local\n.*\n +kept by: (100\.0|99\.\d)% stack of holder", table):
            failures.append(f"{program}: no holder in {options}: {table}")
        if "there are possible pointers" not in table or "looks like the address" not in table:
            failures.append(f"{program}: it is not said to be conservative: {table}")
    if "\n      kept by: " not in census(heapinject, pid, "--owner", "--pins"):
        failures.append(f"{program}: no owners of what pins")
    rows = json.loads(census(heapinject, pid, "--owner", "--json", "--pins"))["rows"]
    if not all("pinned" in row and "places" in row for row in rows):
        failures.append(f"{program}: pins without owners: {rows}")
    if "pointers in" in census(heapinject, pid):
        failures.append(f"{program}: owners that nobody asked for")


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
        check_owners(heapinject, program, process.pid)
        check_owner_tables(heapinject, program, process.pid)
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
