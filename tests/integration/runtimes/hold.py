# SPDX-License-Identifier: MIT
"""Holds some 50 MB of small objects, and 12 MB of large ones."""
import sys

print("ready", flush=True)
sys.stdin.readline()
kept = []
for i in range(96):
    kept.append(bytes(125 << 10))
    kept.append(tuple(f"{i}.{k}" * 8 for k in range(5000)))
print("done", flush=True)
sys.stdin.readline()
