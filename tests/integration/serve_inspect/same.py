# SPDX-License-Identifier: MIT
"""Whether serve has sent what the command prints, and whether that is true.

  same.py COMMAND SERVED PRINTED LOG

Both are JSON; LOG is the output of target.cc, which stands still.
"""
import json
import sys

# They are of time, or of what the machine has free.
VARYING = ["seconds", "looks", "limit", "why", "remedy", "before"]


def read(path, command):
    with open(path, encoding="utf-8") as file:
        answer = json.load(file)
    for name in VARYING:
        answer.pop(name, None)
    if command == "explain":
        answer.pop("verdict")
        parts = answer["now"]["parts"]
        answer["now"] = {part: parts[part]["bytes"] for part in ("used", "heads", "free")}
    return answer


def main():
    command, served_path, printed_path, log = sys.argv[1:]
    served, printed = read(served_path, command), read(printed_path, command)
    assert served == printed, (served, printed)
    with open(log, encoding="ascii") as lines:
        orders, customers, lost = map(int, lines.readline().split())
    rows = served.get("rows", [])
    if command == "explain":
        assert served["now"]["used"] > orders + customers + lost, served
    elif command == "census":
        bytes_of = {row["class"]: row["bytes"] for row in rows}
        assert bytes_of["shop::order"] == orders, bytes_of
        assert bytes_of["shop::customer"] == customers, bytes_of
    elif command == "leaks":
        assert served["verdict"] == "leaks", served
        assert lost * 0.95 <= served["bytes"] <= lost, (served["bytes"], lost)
    else:
        retained = {row["name"].split()[0]: row["retained_bytes"] for row in rows if "name" in row}
        # an old pointer on a stack refers to some of them, too
        assert retained["orders"] > 0.95 * orders, retained


if __name__ == "__main__":
    main()
