#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py HEAPINJECT WORK: `heapinject owners` of programs that say what their owners retain."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "explain"))
# pylint: disable=wrong-import-position
import devtools  # noqa: E402
from snapshot import Snapshot, check  # noqa: E402
from truth import state_of  # noqa: E402

# What the C++ library and malloc have for a thread, beside what the program knows.
SLACK = 4096


@contextlib.contextmanager
def running(program):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process.pid, json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(60)


def owners(heapinject, pid, *options):
    done = subprocess.run(
        [heapinject, "owners", str(pid), *options],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    check(done.returncode == 0, "owners: status", done.returncode, done.stderr, done.stdout)
    return done.stdout


def places_of(said):
    return {(row["kind"], row["name"]): row for row in said["rows"] if not row["depth"]}


def below(said, place):
    """The rows of classes right below a place."""
    at = said["rows"].index(place) + 1
    while at < len(said["rows"]) and said["rows"][at]["depth"]:
        if said["rows"][at]["depth"] == 1:
            yield said["rows"][at]
        at += 1


def check_retained(places, key, truth, slack=0):
    check(key in places, "no row of", key, "among", list(places))
    row = places[key]
    more = row["retained_bytes"] - truth["bytes"]
    check(0 <= more <= slack, key, "retains", row["retained_bytes"], "and not", truth["bytes"])
    if not slack:
        check(row["retained_blocks"] == truth["blocks"], key, "blocks:", row["retained_blocks"])
    return row


def check_sums(said, places):
    check(not said["cut"] and said["conservative"], "cut, or not conservative")
    for kind in ("bytes", "blocks"):
        found = sum(row[f"retained_{kind}"] for row in places.values())
        check(found == said[kind], kind, "of all places:", found, "and not", said[kind])


def check_owned(said, truth):
    places = places_of(said)
    check_sums(said, places)
    sessions = check_retained(places, ("variable", "net::sessions in owned"), truth["sessions"])
    held = sessions["held"][0]
    check(held["blocks"] == 2000 and held["bytes"] >= 2000 * 1000, "sessions hold first", held)
    classes = list(below(said, sessions))
    check(len(classes) == 1 and classes[0]["count"] == 500, "below the sessions:", classes)
    check(classes[0]["retained_bytes"] == truth["sessions"]["bytes"], classes)
    at = said["rows"].index(classes[0])
    for depth, (kind, count) in enumerate((("object", 500), ("other", 2000)), 2):
        row = said["rows"][at + depth - 1]
        check((row["depth"], row["kind"], row["count"]) == (depth, kind, count), row)

    stack = next(key for key in places if key[1].startswith("stack of holder ("))
    row = check_retained(places, stack, truth["list"], SLACK)
    check(row["held"][0]["blocks"] == truth["list"]["blocks"], "the stack holds", row["held"])

    # Each of its two owners alone does not keep it.
    row = places[("object", "owned")]
    check(row["own_bytes"] == truth["shared"]["bytes"] and row["count"] == 1, "shared:", row)
    check(not any(name.startswith("owner_") for _, name in places), "an owner retains it alone")

    check_retained(places, ("variable", "ring in owned"), truth["ring"])
    nothing = places[("nothing", "nothing that was found")]
    # Memory that was used before may still refer to one or the other.
    for kind in ("bytes", "blocks"):
        found, want = nothing[f"retained_{kind}"], truth["lost"][kind]
        check(0.9 * want <= found <= want + SLACK, kind, "that nothing keeps:", found, want)


def check_paths(heapinject, pid, truth):
    why = json.loads(owners(heapinject, pid, "--why", "net::session", "--json"))["why"]
    # By the root of the tree and, where that is shorter, by its first and its last node.
    check(why["blocks"] == 500 and 1 <= len(why["paths"]) <= 3, "paths to sessions:", why)
    check(400 <= why["paths"][0]["blocks"] <= 500, "paths to sessions:", why)
    check(sum(path["blocks"] for path in why["paths"]) == 500, "paths to sessions:", why)
    for path, offset in zip(why["paths"], (0x10, None, None)):
        steps = path["steps"]
        check([step["name"] for step in steps] ==
              ["net::sessions in owned", "pointers of 56B", "net::session"], steps)
        check(steps[1]["offset"] == (offset or steps[1]["offset"]), steps)
        check(steps[2]["offset"] == 0x28, steps)

    why = json.loads(owners(heapinject, pid, "--why", truth["ring_at"], "--json"))["why"]
    steps = why["paths"][0]["steps"]
    check(why["blocks"] == 1 and steps[0]["name"] == "ring in owned", why)
    check((steps[-1]["times"], steps[-1]["address"]) == (2, truth["ring_at"]), steps)

    text = owners(heapinject, pid, "--why", "net::session")
    want = r"^ +4\d\d  net::sessions in owned \+0x10 -> pointers of 56B( \(\d+ times\))? \+0x28 -> "
    check(re.search(want + r"net::session; 0x[0-9a-f]+$", text, re.M), "the path is not in", text)


def check_table(text):
    check(re.search(r"^ .* net::sessions in owned: \d+% other of ", text, re.M), text)
    check(re.search(r"^ .*  500 x net::session$", text, re.M), "no sessions in", text)
    check(re.search(r"^ .* several in owned: ", text, re.M), "nothing is shared in", text)
    check("looks like the address of a block" in text, "it is not said to be conservative")
    check("an old one that was not written over" in text, "old pointers are not named")
    check("what moved meanwhile" in text, "it is not said that the process runs")


def check_snapshot(heapinject, pid, truth, work):
    path = f"{work}/owned.heapsnapshot"
    said = json.loads(owners(heapinject, pid, "--json", "-o", path))
    snapshot = Snapshot(path)
    everything = snapshot.reached()
    check(len(everything) == len(snapshot.nodes), "only", len(everything), "nodes are reached")
    check(snapshot.size(everything) == said["bytes"], "its sizes:", snapshot.size(everything))
    names = [snapshot.name(node) for node in snapshot.nodes]
    check(names.count("net::session") == 500, names.count("net::session"), "sessions")
    for name, key in (("net::sessions in owned", "sessions"), ("ring in owned", "ring")):
        found = snapshot.retained(name)
        check(found == truth[key]["bytes"], name, "retains in the snapshot", found)
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    print(devtools.load(browser, work, path, said, truth) if browser else "no chromium")


def check_cached(heapinject, program, name):
    with running(program) as (pid, truth):
        said = json.loads(owners(heapinject, pid, "--json"))
        places = places_of(said)
        check_sums(said, places)
        keys = [key for key in places if re.fullmatch(name, key[1])]
        keys.sort(key=lambda key: -places[key]["retained_bytes"])
        check(keys, "no row is", name, "but", list(places))
        check_retained(places, keys[0], truth["cache"])
        why = json.loads(owners(heapinject, pid, "--why", "text of 200B", "--json"))["why"]
        steps = why["paths"][0]["steps"]
        check(why["blocks"] == why["paths"][0]["blocks"] == 1000, "paths to texts:", why)
        check(re.fullmatch(name, steps[0]["name"]) and len(steps) == 5, steps)
        check([steps[i]["offset"] for i in (1, 2, 4)] == [0, 0x10, 8], steps)
        print(f"{program}: {keys[0][1]} retains {places[keys[0]]['retained_bytes']} bytes")


def main():
    heapinject, work = sys.argv[1:]
    with running(f"{work}/owned") as (pid, truth):
        before = state_of(pid)
        check_owned(json.loads(owners(heapinject, pid, "--json")), truth)
        check_paths(heapinject, pid, truth)
        check_table(owners(heapinject, pid))
        check_snapshot(heapinject, pid, truth, work)
        check(state_of(pid) == before, "the process is not as it was:", before, state_of(pid))
    check_cached(heapinject, f"{work}/cached", r"cache in cached")
    check_cached(heapinject, f"{work}/stripped", r"\.bss of stripped\+0x[0-9a-f]+")


if __name__ == "__main__":
    main()
