# SPDX-License-Identifier: MIT
"""Which allocation functions of a program are hooked right now, by its memory: the first bytes of a
function that is hooked at its entry are not those of its file.
"""
import os
import re
import struct
import subprocess

from processes import read
from profiles import bias_of

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "..", "include", "hi_hooks.h")
JUMP, JUMP_BYTES = 0xE9, 5
COMPARED_BYTES = JUMP_BYTES  # what follows a short function may be padding that serves the next one
# What else an allocator calls its functions; the names of gperftools are no prefixes of these.
PREFIXES = ("", "je_")
GPERFTOOLS = {
    "tc_malloc", "tc_free", "tc_calloc", "tc_realloc", "tc_cfree", "tc_memalign", "tc_valloc",
    "tc_pvalloc", "tc_posix_memalign", "tc_new", "tc_newarray", "tc_delete", "tc_deletearray",
    "tc_new_nothrow", "tc_newarray_nothrow", "tc_delete_nothrow", "tc_deletearray_nothrow",
    "tc_delete_sized", "tc_deletearray_sized", "tc_free_sized", "tc_new_aligned",
    "tc_newarray_aligned", "tc_delete_aligned", "tc_deletearray_aligned",
}


def names_of_interest():
    symbols = re.findall(r'^\s*X\(\d+, \w+, \w+,\s*"(\w+)"', read(TABLE), re.M)
    assert len(symbols) > 30
    return {prefix + symbol for prefix in PREFIXES for symbol in symbols} | GPERFTOOLS


class Functions:
    """The allocation functions of a program, by the symbols of the build that is not stripped."""

    def __init__(self, symbols):
        self.symbols = symbols
        wanted = names_of_interest()
        self.names = {}  # address -> names
        for name in sorted(wanted & symbols.named.keys()):
            self.names.setdefault(symbols.named[name], []).append(name)
        self.code = self.read_code()
        self.sizes = self.read_sizes()

    def read_sizes(self):
        text = subprocess.run(
            ["nm", "-S", "--defined-only", self.symbols.path], check=True, capture_output=True,
            text=True,
        ).stdout
        sizes = {int(words[0], 16): int(words[1], 16)
                 for words in map(str.split, text.splitlines()) if len(words) == 4}
        return {address: sizes.get(address, 0) for address in self.names}

    def read_code(self):
        """The first bytes of each, of the file."""
        headers = subprocess.run(
            ["readelf", "-lW", self.symbols.path], check=True, capture_output=True, text=True
        ).stdout
        segments = [
            [int(word, 16) for word in line.split()[1:6]]
            for line in headers.splitlines()
            if line.split()[:1] == ["LOAD"]
        ]
        code = {}
        with open(self.symbols.path, "rb") as file:
            for address in self.names:
                for offset, at, _, size, _ in segments:
                    if at <= address < at + size:
                        file.seek(offset + address - at)
                        code[address] = file.read(COMPARED_BYTES)
        return code

    def changed(self, pid, program):
        """Addresses in the file of those whose code in memory is another one."""
        bias = bias_of(read(f"/proc/{pid}/maps"), program)
        found = set()
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for address, code in self.code.items():
                memory.seek(bias + address)
                if memory.read(COMPARED_BYTES) != code:
                    found.add(address)
        return found

    def covered(self, changed):
        """Those that only jump to one that is hooked, or allocate by a call of such a one."""
        found = set()
        for address, code in self.code.items():
            if address in changed:
                continue
            targets = self.calls(address)
            if code[0] == JUMP:
                targets.add(
                    address + JUMP_BYTES + struct.unpack("<i", code[1:JUMP_BYTES])[0])
            if targets & changed:
                found.add(address)
        return found

    def calls(self, address):
        """Where the direct calls and the last jumps of a function lead."""
        text = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", f"--start-address={address}",
             f"--stop-address={address + self.sizes[address]}", self.symbols.path],
            check=True, capture_output=True, text=True,
        ).stdout
        return {int(at, 16) for at in re.findall(r"\t(?:call|jmp)\s+([0-9a-f]+) <", text)}

    def shown(self, addresses):
        """One name of each: that which a program calls it by, where it has several."""
        names = []
        for address in addresses:
            known = sorted(self.names[address], key=lambda name: name.startswith("tc_"))
            names.append("=".join(known[:3]) + ("=..." if len(known) > 3 else ""))
        return " ".join(sorted(names)) or "-"


def exported(path):
    """Names of the functions that the dynamic linker sees."""
    text = subprocess.run(
        ["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    return {line.split()[2].split("@")[0] for line in text.splitlines()}
