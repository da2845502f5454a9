#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py HEAPINJECT PROGRAMS WORK: builds each program twice, with LeakSanitizer and without,
and compares what LeakSanitizer reports, what `heapinject run --fail-if-leaks` reports, and what the
program says that it leaks. What is compared are sets of (direct or indirect, function that calls
the allocator, bytes, blocks), and exit statuses.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

LEAKS, UNSURE = 23, 5
FATAL = re.compile(r"LeakSanitizer has encountered a fatal error")
# Each report is complete: whole stacks, all leaks.
LSAN_OPTIONS = "fast_unwind_on_malloc=0:max_leaks=0:exitcode=23:allocator_may_return_null=1"


class Program:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="ascii") as file:
            self.text = file.read()
        self.functions = set(
            re.findall(r"^static APART [^(]*?\*?(\w+)\(", self.text, re.MULTILINE)
        ) | set(re.findall(r"^static (?:__attribute__.*? )?void (\w+)\(", self.text, re.MULTILINE))
        self.status = int(self.said("status") or 0)
        self.lsan = self.said("lsan")
        self.flags = (self.said("flags") or "").split()
        self.want = parse_want(self.said("want"))

    def said(self, word):
        return ", ".join(re.findall(rf"^// {word}: (.*)$", self.text, re.MULTILINE)) or None

    def owner(self, frames):
        """The first function of a stack that is the program's own."""
        for frame in frames:
            name = frame.split("(")[0]
            if name in self.functions:
                return name
        return "<".join(frames[:4])


def parse_want(text):
    """None: not known."""
    if text == "unknown":
        return None
    leaks = {}
    for part in text.split(", ") if text != "nothing" else []:
        kind, function, size, blocks = part.split()
        leaks[(kind, function)] = (int(size), int(blocks))
    return leaks


def summed(parts):
    sums = collections.defaultdict(lambda: (0, 0))
    for key, size, blocks in parts:
        if blocks:
            sums[key] = (sums[key][0] + size, sums[key][1] + blocks)
    return dict(sums)


def run(command, cwd, **environment):
    return subprocess.run(
        command, cwd=cwd, check=False, capture_output=True, text=True, timeout=120,
        env={**os.environ, **environment},
    )


def build(program, output, *flags):
    compiler = "g++" if program.path.endswith(".cc") else "gcc"
    built = run(
        [compiler, "-g", "-O1", "-D_GNU_SOURCE", "-pthread", *program.flags, *flags, "-o", output,
         program.path, "-ldl"],
        ".",
    )
    if built.returncode:
        sys.exit(f"FAIL: {program.name} does not build: {built.stderr}")


def lsan_leaks(program, binary, work):
    """What LeakSanitizer reports, and the exit status."""
    ran = run([binary], work, LSAN_OPTIONS=LSAN_OPTIONS)
    if FATAL.search(ran.stderr):
        sys.exit(f"FAIL: {program.name}: {ran.stderr}")
    parts = []
    for block in re.split(r"\n(?=Direct leak|Indirect leak)", ran.stderr)[1:]:
        head = re.match(r"(\w+) leak of (\d+) byte\(s\) in (\d+) object", block)
        frames = re.findall(r"^ +#\d+ 0x\w+ in (.*) \S+$", block, re.MULTILINE)
        key = (head.group(1).lower(), program.owner(frames[1:]))
        parts.append((key, int(head.group(2)), int(head.group(3))))
    return summed(parts), ran.returncode


def our_leaks(program, heapinject, binary, work):
    ran = run(
        [heapinject, "run", "--fail-if-leaks", "--json", "-q", "-o", f"{work}/{program.name}", "--",
         binary],
        work,
    )
    try:
        answer = json.loads(ran.stdout.splitlines()[-1])
        leaks = answer["leaks"]
    except (IndexError, ValueError, KeyError):
        sys.exit(f"FAIL: {program.name}: no answer: {ran.stdout} {ran.stderr}")
    if leaks["verdict"] == "cannot tell":
        return None, ran
    parts = []
    for stack in leaks["stacks"]:
        for kind in ("direct", "indirect"):
            key = (kind, program.owner(stack["stack"]))
            parts.append((key, stack[f"{kind}_bytes"], stack[f"{kind}_blocks"]))
    for kind in ("direct", "indirect"):
        of_kind = [part for part in parts if part[0][0] == kind]
        totals = leaks[f"{kind}_bytes"], leaks[f"{kind}_blocks"]
        if totals != (sum(part[1] for part in of_kind), sum(part[2] for part in of_kind)):
            sys.exit(f"FAIL: {program.name}: totals are not the sum of the stacks: {leaks}")
    return summed(parts), ran


def show(leaks):
    if leaks is None:
        return "unknown"
    parts = [f"{key[0]} {key[1]} {sums[0]} {sums[1]}" for key, sums in sorted(leaks.items())]
    return ", ".join(parts) or "nothing"


def check(program, heapinject, work):
    """Returns what is wrong, in words."""
    plain, sanitized = f"{work}/{program.name}.plain", f"{work}/{program.name}.lsan"
    build(program, plain)
    ours, ran = our_leaks(program, heapinject, plain, work)
    wrong = []
    if ours != program.want:
        wrong.append(f"leaks {show(program.want)}; heapinject says {show(ours)}")
    status = program.status or (UNSURE if ours is None else LEAKS if ours else 0)
    if ran.returncode != status:
        wrong.append(f"status {ran.returncode} and not {status}: {ran.stderr}")
    if program.flags:
        return wrong
    build(program, sanitized, "-fsanitize=leak")
    lsan, lsan_status = lsan_leaks(program, sanitized, work)
    if program.lsan or program.want is None:
        if lsan:
            wrong.append(f"LeakSanitizer was to say nothing, and says {show(lsan)}")
    elif lsan != ours:
        wrong.append(f"LeakSanitizer says {show(lsan)}; heapinject says {show(ours)}")
    elif lsan_status != (LEAKS if lsan else program.status):
        wrong.append(f"LeakSanitizer exits with {lsan_status}")
    return wrong


def main():
    heapinject, programs, work = sys.argv[1:]
    failed, compared = 0, 0
    for name in ("libplugin.so", "libplugin_too.so"):
        run(["gcc", "-g", "-O1", "-fPIC", "-shared", "-o", f"{work}/{name}",
             f"{programs}/libplugin.c"], ".")
    paths = glob.glob(f"{programs}/*.c") + glob.glob(f"{programs}/*.cc")
    for path in sorted(paths):
        if os.path.basename(path) == "libplugin.c":
            continue
        program = Program(path)
        wrong = check(program, heapinject, work)
        failed += bool(wrong)
        compared += 1
        cause = f" (not of LeakSanitizer: {program.lsan})" if program.lsan else ""
        print(f"{'FAIL' if wrong else 'ok'} {program.name}: {show(program.want)}{cause}")
        for line in wrong:
            print(f"     {line}")
    print(f"{compared} programs, {failed} failed")
    return 1 if failed or compared < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
