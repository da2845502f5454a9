#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""server.py HEAPINJECT NAME PID: explain, census and leaks of a real server under load. Its parts
must sum up to what is resident, and nothing has leaked.
"""
import json
import subprocess
import sys

SUM = 0.02
UNSURE = 0.25  # while thousands of blocks are replaced; most of them are read without
LEAKED = 0.001  # of the bytes in use: what a real server may have lost for good


def look(heapinject, command, pid, *options):
    done = subprocess.run(
        [heapinject, command, pid, "--json", *options],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    heapinject, name, pid = sys.argv[1:]
    failed = []
    said = look(heapinject, "explain", pid, "--duration", "2s")
    now = said["now"]
    resident = sum(part["resident"] for part in now["parts"].values())
    unsure = now["parts"]["unsure"]["bytes"]
    read = [found["name"] for found in now["allocators"] if not found["refusal"]]
    if not read:
        failed.append(f"no allocator was read: {now['allocators']}")
    if abs(resident - now["resident"]) > SUM * now["resident"]:
        failed.append(f"parts sum up to {resident} of {now['resident']}")
    if unsure > UNSURE * now["resident"]:
        failed.append(f"unsure of {unsure} of {now['resident']}")
    leaked = look(heapinject, "leaks", pid, "--duration", "2s")
    in_use = now["parts"]["used"]["bytes"]
    if leaked["bytes"] + leaked["more_bytes"] > LEAKED * in_use:
        failed.append(f"leaked: {leaked}")
    counted = look(heapinject, "census", pid)
    if not 0.5 * in_use < counted["bytes"] < 2 * in_use:
        failed.append(f"census: {counted['bytes']} bytes, explain: {in_use}")
    print(
        f"{name}: {', '.join(read)}: {said['verdict']}; {resident} of {now['resident']} resident, "
        f"{in_use} in {now['parts']['used']['count']} blocks in use, unsure {unsure}, leaked "
        f"{leaked['bytes'] + leaked['more_bytes']}"
    )
    for line in failed:
        print(f"{name}: {line}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
