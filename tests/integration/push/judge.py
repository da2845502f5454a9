# SPDX-License-Identifier: MIT
"""Judges what a server got: judge.py LOG COUNT [OPTION=VALUE...].

COUNT profiles were taken, each once, and nothing that was wrong came. Options: inuse=a,b,...: bytes
in use of the profiles, by time; label.NAME=VALUE; id.twice=N: so many came again under their id and
time after they were taken; authorization=..., tenant=...; refused=N: so many requests with this
status were not taken.
"""
import json
import sys


def fail(*what):
    print(*what)
    sys.exit(1)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    wanted = dict(one.split("=", 1) for one in sys.argv[3:])
    wrong = [entry["wrong"] for entry in entries if "wrong" in entry]
    if wrong:
        fail("the server refuses:", wrong)
    taken = [entry for entry in entries if entry["taken"]]
    kinds = {}
    for entry in taken:
        key = (entry.get("id"), entry["time"], json.dumps(entry["labels"]))
        kinds.setdefault(key, []).append(entry)
    again = sum(len(kind) - 1 for kind in kinds.values())
    if again != int(wanted.get("id.twice", 0)):
        fail(f"{again} came again")
    if len(kinds) != int(sys.argv[2]):
        fail(f"{len(kinds)} profiles, not {sys.argv[2]}:", json.dumps(taken, indent=1))
    if len({key[1] for key in kinds}) != len(kinds):
        fail("two profiles have the same time")
    for entry in taken:
        has_stacks = entry["keeps"] == (entry["inuse"] > 0)
        if entry["duration"] or entry["period"] != "space" or not has_stacks:
            fail("what is in the profile:", entry)
        for key, value in wanted.items():
            if key.startswith("label.") and entry["labels"].get(key[6:], "") != value:
                fail(key, entry["labels"])
        for key in ("authorization", "tenant"):
            if key in wanted and entry[key] != wanted[key]:
                fail(key, entry[key])
    if "inuse" in wanted:
        inuse = [key_entries[0]["inuse"] for _, key_entries in
                 sorted(kinds.items(), key=lambda item: item[0][1])]
        if inuse != [int(one) for one in wanted["inuse"].split(",")]:
            fail("in use:", inuse)
    print(len(kinds), "profiles, each once")


main()
