# SPDX-License-Identifier: MIT
"""Compares our names of addresses with those of addr2line and llvm-symbolizer.

  equal.py HEAPINJECT PROGRAM COUNT SEED DIRECTORY

It takes COUNT random addresses of the program. It prints the shares that are equal, and how many
differences of each class there are. The exit status is 1 if a difference is of no class.
"""
import collections
import os
import random
import re
import subprocess
import sys

LOAD = 0x555555554000
UNKNOWN = "??"


def output(*command, given=None):
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def code_of(program):
    """(address, size) of the sections that hold code."""
    found = re.findall(
        r"^ +\[ *\d+\] (\S+) +PROGBITS +(\w+) \w+ (\w+) \w+ +AX ",
        output("readelf", "-SW", program),
        re.MULTILINE,
    )
    return [
        (int(address, 16), int(size, 16))
        for name, address, size in found
        if not name.startswith(".plt")
    ]


def choose(program, count, seed):
    sections, numbers = code_of(program), random.Random(seed)
    weights = [size for _, size in sections]
    return sorted(
        {
            address + numbers.randrange(size)
            for address, size in numbers.choices(sections, weights, k=count)
        }
    )


def write_profile(program, addresses, file):
    """A frame holds a return address; the call that is looked up stands one byte before it."""
    headers = output("readelf", "-lW", program)
    offset, low, _, size = (
        int(word, 16)
        for word in re.search(
            r"^  LOAD +(\w+) (\w+) (\w+) (\w+) \w+ R E", headers, re.MULTILINE
        ).groups()
    )
    with open(file, "w", encoding="ascii") as out:
        out.write(
            f"heap profile: {len(addresses)}: {len(addresses)} "
            f"[{len(addresses)}: {len(addresses)}] @ heapprofile\n"
        )
        for address in addresses:
            out.write(f"1: 1 [1: 1] @ {LOAD + address + 1:#x}\n")
        low, high = (LOAD + low) & ~4095, (LOAD + low + size + 4095) & ~4095
        out.write(
            "\nMAPPED_LIBRARIES:\n"
            f"{low:x}-{high:x} r-xp {offset & ~4095:08x} 00:00 {os.stat(program).st_ino} "
            f"{program}\n"
        )


def call(name, file, line):
    """Without debug information the other programs still name a file, from the symbol table, and no
    line.
    """
    number = int(line) if line.isdigit() else 0
    return (name or UNKNOWN), (os.path.normpath(file) if file and number else UNKNOWN), number


def ours(heapinject, program, addresses, directory):
    """By address: the calls, innermost first, functions as in the symbol table."""
    given, named = os.path.join(directory, "random.heap"), os.path.join(directory, "named.heap")
    write_profile(program, addresses, given)
    output(heapinject, "report", "--symbolize", given, "-o", named)
    found = collections.defaultdict(list)
    with open(named, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("# symbol "):
                fields = line.rstrip("\n").split("\t")
                _, _, address, name = fields[0].split(" ", 3)
                path, number = fields[1].rsplit(":", 1)
                found[int(address, 16) - LOAD - 1].append(
                    call(fields[2] if len(fields) > 2 else name, path, number)
                )
    return found


def theirs(command, addresses):
    """Of tools that print as addr2line -a -f -i does."""
    found, calls, name = {}, None, None
    for line in output(
        *command, given="".join(f"{address:#x}\n" for address in addresses)
    ).splitlines():
        line = re.sub(r" \(discriminator \d+\)$", "", line)
        if re.fullmatch(r"0x[0-9a-f]+", line):
            calls, name = found.setdefault(int(line, 16), []), None
        elif name is None:
            name = line
        else:
            path, number = line.rsplit(":", 1)
            calls.append(call(name, path, number))
            name = None
    return found


def last_part(name):
    return name.rsplit("::", 1)[-1]


def is_same_name(mine, other):
    """For functions that other files cannot see, the debug information has the source name alone;
    we add the scopes.
    """
    return mine == other or (not mine.startswith("_Z") and last_part(mine) == last_part(other))


def is_same(mine, other):
    return len(mine) == len(other) and all(
        is_same_name(a[0], b[0]) and a[1:] == b[1:] for a, b in zip(mine, other)
    )


def is_unknown(calls):
    return all(name == UNKNOWN and path == UNKNOWN for name, path, _ in calls)


def is_equal(mine, other):
    return is_same(mine, other) or (is_unknown(mine) and is_unknown(other))


def differ_by_owner(mine, other):
    """In nothing but the name of the outermost function."""
    return (
        len(mine) == len(other) > 0
        and is_same(mine[:-1], other[:-1])
        and mine[-1][1:] == other[-1][1:]
    )


def differ_by_innermost(mine, other):
    return (
        len(mine) == len(other) > 1 and mine[0][1:] == other[0][1:] and is_same(mine[1:], other[1:])
    )


def leaves_calls_out(mine, other):
    """True if it has some of the calls, in their order and with their places, and the innermost
    place for the first of them.
    """
    if not other or len(other) >= len(mine) or mine[0][1:] != other[0][1:]:
        return False
    rest = iter(mine)
    return all(
        any(is_same_name(a[0], b[0]) and (b is other[0] or a[1:] == b[1:]) for a in rest)
        for b in other
    )


def is_symbol_of(function, symbol, aliases):
    """Another one at the same address, or of a part that was split off."""
    return symbol.split(".")[0] == function or function in aliases.get(symbol, ())


def class_of(mine, other, third, aliases):
    """Of a difference to one tool, beside what the other one says; None if it is of no class."""
    owners = (mine[-1][0], other[-1][0]) if mine and other else (UNKNOWN, UNKNOWN)
    if differ_by_owner(mine, other):
        if mine[-1][1] == UNKNOWN and owners[0] == UNKNOWN or is_unknown(mine):
            return "between two functions: named after the one before"
        if owners[1].split(".")[0] == owners[0]:
            return "a clone: named as in the symbol table, not as in the source"
        if is_symbol_of(*owners, aliases):
            return "one of several symbols at the same address"
        if owners[0] == UNKNOWN:
            return "between two functions, with a line: named after the one before"
    if differ_by_innermost(mine, other) and is_symbol_of(mine[-1][0], other[0][0], aliases):
        return "the innermost call named as the function that it was inlined into"
    if is_equal(mine, third) and leaves_calls_out(mine, other):
        return "some of the inlined calls left out, which the other tool has, too"
    if is_unknown(mine) and all(path == UNKNOWN for _, path, _ in other):
        return "between two functions: named after the one before"
    return "said by this one alone" if is_equal(mine, third) else None


def aliases_of(program):
    """By symbol: all at its address."""
    names, found = collections.defaultdict(set), {}
    for line in output("nm", program).splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in "TtWwiu":
            names[fields[0]].add(fields[2])
    for alike in names.values():
        found.update(dict.fromkeys(alike, alike))
    return found


def show(address, *said):
    print(f"    {address:#x}")
    for calls in said:
        print(f"      {calls}"[:600])


def compare(tool, mine, other, third, aliases):
    """Prints the share and the classes; whether each difference is explained."""
    classes = collections.defaultdict(list)
    for address in other:
        if not is_equal(mine[address], other[address]):
            classes[class_of(mine[address], other[address], third[address], aliases)].append(
                address
            )
    different = sum(len(found) for found in classes.values())
    print(f"  {tool}: {(len(other) - different) / len(other):.2%} equal")
    for name, found in classes.items():
        print(f"    {len(found)} {name or 'UNEXPLAINED (ours, its, the other one)'}")
        for address in found[: 0 if name else 5]:
            show(address, mine[address], other[address], third[address])
    return None not in classes


def main():
    heapinject, program, count, seed, directory = (
        sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5],
    )
    addresses = choose(program, count, seed)
    mine = ours(heapinject, program, addresses, directory)
    others = {
        "addr2line": theirs(("addr2line", "-a", "-f", "-i", "-e", program), addresses),
        "llvm-symbolizer": theirs(
            (
                "llvm-symbolizer", "--output-style=GNU", "-a", "-f", "-i", "--no-demangle",
                f"--obj={program}",
            ),
            addresses,
        ),
    }
    inlined = sum(len(calls) > 1 for calls in mine.values())
    print(f"{os.path.basename(program)}: {len(addresses)} addresses, {inlined} with inlined calls")
    aliases = aliases_of(program)
    explained = [
        compare(tool, mine, calls, others[third], aliases)
        for tool, calls, third in (
            ("addr2line", others["addr2line"], "llvm-symbolizer"),
            ("llvm-symbolizer", others["llvm-symbolizer"], "addr2line"),
        )
    ]
    return 0 if all(explained) else 1


if __name__ == "__main__":
    sys.exit(main())
