# SPDX-License-Identifier: MIT
"""call_paths.py PROGRAM COUNT FILE [SNAPSHOTS]: writes a heap profile of a program that never ran.

The profile has COUNT call paths along the program's own call graph, which comes from its
disassembly. With SNAPSHOTS it writes so many profiles of one session, FILE.000 and so on. Half of
the paths are in all of them, the others join one by one, and on one path in ten the bytes in use
grow.

Every frame is the return address of a real call instruction, and the next frame lies in the
function that is called there. A walk begins at a function that nobody calls directly, and ends at a
function of another file. Where the stack is not deep enough then, another walk follows, as when a
handler is called back. The result is the same each time.
"""
import os
import random
import re
import subprocess
import sys

LOAD = 0x555555554000
INTERVAL = 524288
DEPTH = (12, 40)

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
CALL = re.compile(r"\tcall +[0-9a-f]+ <(.*)>$")


def disassemble(program):
    """By name: the calls of each function, as (return address, name of the callee)."""
    calls, function, callee = {}, [], None
    with subprocess.Popen(
        ["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, text=True
    ) as objdump:
        for line in objdump.stdout:
            if callee and line.startswith(" "):
                function.append((int(line[: line.index(":")], 16), callee))
            callee = None
            if "\tcall " in line:
                called = CALL.search(line)
                callee = called[1] if called else None
            elif line.startswith("0"):
                named = FUNCTION.match(line)
                function = calls.setdefault(named[1], []) if named else function
    if objdump.returncode:
        raise RuntimeError(f"objdump: status {objdump.returncode}")
    return calls


class Walker:
    def __init__(self, program):
        self.program, self.calls = program, disassemble(program)
        called = {callee for function in self.calls.values() for _, callee in function}
        self.roots = [
            name for name, function in self.calls.items() if function and name not in called
        ]

    def path(self, numbers):
        """Addresses of the file, root first."""
        path, depth, function, pick = [], numbers.randint(*DEPTH), None, numbers.random
        while len(path) < depth:
            if not function:
                function = self.calls[self.roots[int(pick() * len(self.roots))]]
            address, callee = function[int(pick() * len(function))]
            path.append(address)
            function = self.calls.get(callee)
        return path

    def paths(self, count):
        """So many, no two alike."""
        numbers, seen = random.Random(1), set()
        while len(seen) < count:
            path = self.path(numbers)
            key = hash(tuple(path))
            if key not in seen:
                seen.add(key)
                yield path


def mapping(program):
    """The line of /proc/PID/maps for the program's code."""
    headers = subprocess.run(
        ["readelf", "-lW", program], capture_output=True, text=True, check=True
    ).stdout
    offset, address, _, size = (
        int(word, 16)
        for word in re.search(
            r"^  LOAD +(\w+) (\w+) (\w+) (\w+) \w+ R E", headers, re.MULTILINE
        ).groups()
    )
    status, low = os.stat(program), (LOAD + address) & ~4095
    high = (LOAD + address + size + 4095) & ~4095
    return (
        f"{low:x}-{high:x} r-xp {offset & ~4095:08x} "
        f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x} {status.st_ino} "
        f"{os.path.abspath(program)}\n"
    )


def counts(number):
    """What was sampled on each of so many paths: objects and bytes, live and all."""
    numbers = random.Random(number)
    for _ in range(number):
        live, size, freed = (
            numbers.randint(1, 4),
            16 * numbers.randint(1, 256),
            numbers.randint(0, 3),
        )
        yield live, live * size, live + freed, (live + freed) * size


def stack(path):
    """As a line has it, leaf first."""
    return " ".join([hex(LOAD + address) for address in reversed(path)])


def write(program, rows, stacks, file):
    """A profile in the format that jeprof, google-pprof and heapinject have in common. rows and
    stacks are functions, because this reads them twice and they may be long.
    """
    total = [sum(column) for column in zip(*rows())]
    with open(file, "w", encoding="ascii") as out:
        out.write("heap profile: {}: {} [{}: {}] @ heap_v2/{}\n".format(*total, INTERVAL))
        for row, line in zip(rows(), stacks()):
            out.write("{}: {} [{}: {}] @ ".format(*row) + line + "\n")
        out.write("\nMAPPED_LIBRARIES:\n" + mapping(program))


def rows_at(number, share):
    """What is there when that share of the session is over."""
    for index, (live, size, allocated, allocated_size) in enumerate(counts(number)):
        if index >= number * (1 + share) / 2:
            return
        more = round(20 * share) if index % 10 == 0 else 0
        each = size // live
        yield live + more, size + more * each, allocated + more, allocated_size + more * each


def write_snapshots(walker, number, file, snapshots):
    lines = [stack(path) for path in walker.paths(number)]
    for snapshot in range(snapshots):
        share = snapshot / max(1, snapshots - 1)
        write(
            walker.program, lambda share=share: rows_at(number, share), lambda: lines,
            f"{file}.{snapshot:03}",
        )


def main():
    program, number, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    walker = Walker(program)
    if len(sys.argv) > 4:
        write_snapshots(walker, number, file, int(sys.argv[4]))
    else:
        write(program, lambda: counts(number), lambda: map(stack, walker.paths(number)), file)


if __name__ == "__main__":
    main()
