# SPDX-License-Identifier: MIT
"""Rows of a script that tries containers, one after the other, and their sum."""
import re
import subprocess
import time

from processes import Failed
from roots import NoRoot
from table import Broken


def check(is_so, what):
    if not is_so:
        raise Broken(what)


def check_text(pattern, text, what):
    check(re.search(pattern, text), f"{what}: no {pattern} in:\n{text.strip()}")


class Sum:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def judge(self, name, function, *arguments):
        started = time.monotonic()
        try:
            said = function(*arguments)
        except (Broken, Failed, NoRoot, OSError, subprocess.SubprocessError) as why:
            self.failed += 1
            print(f"FAIL {name}: {why}", flush=True)
            return False
        self.passed += 1
        print(f"PASS {name} ({time.monotonic() - started:.0f} s): {said}", flush=True)
        return True
