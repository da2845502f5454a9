# SPDX-License-Identifier: MIT
"""Says "ready", then for each line does some work whose results stay, other amounts each time."""
import json
import re
import sys

kept = []
count = 0

print("ready", flush=True)
for line in sys.stdin:
    count += 1
    kept.append({str(i): [i] * (i % 40) for i in range(1500 * count)})
    kept.append(json.loads(json.dumps(kept[-1])))
    kept.append(re.compile("|".join("word%d" % i for i in range(100 * count))))
    if count > 2:
        kept.pop(0)
    print("done", flush=True)
