# SPDX-License-Identifier: MIT
"""What the cases that drive pages of `report` in a browser have in common."""
import re

UNITS = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
MINUS = "\u2212"


def check(is_so, *what):
    if not is_so:
        raise AssertionError(" ".join(str(part) for part in what))


def number_of(text):
    """Bytes of "1.50MB" or "+1.50 MB/s", with whatever space and minus."""
    match = re.fullmatch(rf"([-+{MINUS}]?)([\d.,]+)\s*([a-zA-Z]*)(/\w+)?", text.strip())
    check(match, "no figure:", text)
    return (
        (-1 if match[1] in ("-", MINUS) else 1)
        * float(match[2].replace(",", ""))
        * UNITS.get(match[3], 1)
    )
