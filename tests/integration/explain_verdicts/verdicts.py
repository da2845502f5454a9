#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verdicts.py HEAPINJECT SHAPES: what `heapinject explain` says of processes whose memory has one
known reason. A wrong verdict is a failure; "unknown" is one, too, but for shapes that have no one
reason.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "explain"))
# pylint: disable=wrong-import-position
from shaped import Shaped, explain  # noqa: E402

WANT = {
    "leak": "grows",
    "leak_large": "grows",
    "leak_threads": "grows",
    "maps_grow": "mappings",
    "small": "held",
    "large": "held",
    "bounded": "held",
    "retention": "retention",
    "retention_fast": "retention",
    "retention_sparse": "retention",
    "retention_threshold": "retention",
    "fragmentation": "fragmentation",
    "fragmentation_large": "fragmentation",
    "fragmentation_quarter": "fragmentation",
    "arenas": "arenas",
    "caches": "thread-caches",
    "huge_pages": "huge-pages",
    "stacks": "stacks",
    "files": "files",
    "files_shared": "files",
    "tmpfs": "shared-memory",
    "memory_file": "shared-memory",
    "system_v": "shared-memory",
    "pool": "mappings",
    "mixed": "unknown",
}


def main():
    failed = 0
    for name, want in WANT.items():
        with Shaped(sys.argv[2], name, ".") as shaped:
            if "no huge pages" in shaped.said:
                print(f"{name}: left out: the kernel has no huge pages")
                continue
            said = explain(sys.argv[1], shaped.process.pid, "--duration", "2s")
        is_right = said["verdict"] == want
        failed += not is_right
        print(f"{name}: {said['verdict']}: {said['why']}")
        if not is_right:
            print(f"{name}: {said['verdict']}, not {want}: {said['now']['parts']}", file=sys.stderr)
    print(f"{len(WANT) - failed} of {len(WANT)} verdicts are right")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
