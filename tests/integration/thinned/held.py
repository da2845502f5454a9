# SPDX-License-Identifier: MIT
"""Reads `report --json` from standard input; its arguments are what each site keeps. Prints how
many 95 % intervals hold that."""
import json
import sys

UNSEEN = 2.9957  # -ln(0.05), in sampling intervals: what may be there and give no sample

profile = json.load(sys.stdin)
coarsest = max(row["interval"] for row in profile["rows"])
truth = {f"site_{i // 8}{i % 8}": int(kept) for i, kept in enumerate(sys.argv[1:])}
said = {name: (0, UNSEEN * coarsest) for name in truth}
for stack in profile["stacks"]:
    functions = {
        line["function"] for frame in stack["frames"] for line in profile["frames"][frame]["lines"]
    }
    for name in functions & truth.keys():
        space = stack["estimates"][3]
        said[name] = (space["low"], space["high"])
print(sum(low - 1 <= truth[name] <= high + 1 for name, (low, high) in said.items()))
