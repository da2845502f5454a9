#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions between a call of malloc or free and the function itself.

It follows the gate's entries from their start along the path on which nothing is sampled. That path
takes no conditional jump and ends with the tail jump to the original. Both facts hold for the
gate.S of each CPU, and are checked here. So is that no instruction of the path is atomic, and that
there are no more operations than OPERATIONS_MAX.

An instruction that computes with an operand in memory is one on x86-64 and several on a CPU that
only loads and stores. So operations are counted, too: each load, store and computation is one.

  gate_report [payload.so]
"""
import collections
import os
import re
import subprocess
import sys

# entry -> the most operations of its path, on any CPU
OPERATIONS_MAX = {"hi_gate_alloc": 15, "hi_gate_free": 11, "hi_gate_size2": 18,
                  "hi_gate_realloc": 24}
STORES_MEMORY = ("sub", "add", "dec", "inc")
# as many letters of the name as tell what it does; ldar and stlr have an order, but no lock
A64_ATOMIC = re.compile(r"ld(a?xr|a?xp)|stl?x[rp]|casp?|swp|ld(add|clr|eor|set|[su](max|min))")


def x86_64_jumps(name, operands):
    return name == "jmp" and "*" in operands


def x86_64_has_memory(step):
    return "(" in step and not step.startswith("lea") or "%fs:" in step


def x86_64_operations(step):
    """Of `sub %rdi,8(%r11)`: a load, a subtraction and a store."""
    name, operands = step.split(" ", 1)
    if not x86_64_has_memory(step) or name.startswith("mov"):
        return 1
    return 3 if name.startswith(STORES_MEMORY) and operands.endswith(")") else 2


def aarch64_jumps(name, operands):
    return name == "br" and operands == "x16"


Cpu = collections.namedtuple(
    "Cpu", "objdump jumps is_end has_memory operations branch atomic never")
CPUS = {
    "X86-64": Cpu("objdump", re.compile("jmp$"), x86_64_jumps, x86_64_has_memory,
                  x86_64_operations, re.compile("j(?!mp)"),
                  re.compile("lock|xchg|cmpxchg|xadd"), re.compile("(call|ret|push|pop)")),
    "AArch64": Cpu("aarch64-linux-gnu-objdump", re.compile("br?$"), aarch64_jumps,
                   re.compile("ld|st").match, lambda step: 1, re.compile(r"b\.|[ct]bn?z"),
                   A64_ATOMIC, re.compile("(bl|blr|ret|svc)$")),
}


def cpu_of(image):
    header = subprocess.run(["readelf", "-h", image], capture_output=True, text=True,
                            check=True).stdout
    for name, cpu in CPUS.items():
        if re.search(rf"Machine:.*{name}", header):
            return cpu
    sys.exit(f"gate_report: {image}: a CPU that is not known here")


def disassemble(cpu, image, entry):
    """The entry and its exit, which is a function of its own to objdump where it can be called."""
    shown = subprocess.run([cpu.objdump, "-d", "--no-show-raw-insn", image], capture_output=True,
                           text=True, check=True).stdout
    found = re.search(rf"<{entry}>:\n(.*?)\n\n[0-9a-f]+ <(?!{entry}_exit>)", shown, re.S)
    return found[1] if found else ""


def path_of(image, entry):
    """Instructions of the path: list of text."""
    cpu = cpu_of(image)
    path = []
    for line in disassemble(cpu, image, entry).splitlines():
        found = re.match(r"\s+[0-9a-f]+:\s+(\S+)\s*([^#]*|[^/]*)", line.split("//")[0])
        if not found:
            continue
        name, operands = found[1], found[2].strip()
        path.append(f"{name} {operands}")
        if cpu.is_end(name, operands):
            return path
        if cpu.jumps.match(name):
            sys.exit(f"gate_report: {entry}: the path ends in a jump that is none to the original")
        if cpu.never.match(name):
            sys.exit(f"gate_report: {entry}: {name} on the path")
    sys.exit(f"gate_report: no {entry} in {image}")


Facts = collections.namedtuple("Facts", "entry instructions memory branches atomic operations")


def facts(image):
    """Facts of each entry. memory: instructions with a memory operand; branches: conditional."""
    cpu = cpu_of(image)
    for entry in OPERATIONS_MAX:
        path = path_of(image, entry)
        yield Facts(entry, len(path), sum(bool(cpu.has_memory(step)) for step in path),
                    sum(bool(cpu.branch.match(step)) for step in path),
                    sum(bool(cpu.atomic.match(step)) for step in path),
                    sum(cpu.operations(step) for step in path))


def faults(image):
    for fact in facts(image):
        if fact.atomic:
            yield f"{fact.entry}: {fact.atomic} atomic instructions on the path without a sample"
        if fact.operations > OPERATIONS_MAX[fact.entry]:
            yield (f"{fact.entry}: {fact.operations} operations on the path without a sample, "
                   f"at most {OPERATIONS_MAX[fact.entry]}")


def text(image):
    return "\n".join(
        f"- `{fact.entry}`: {fact.instructions} instructions to the original, "
        f"{fact.memory} of them with a memory operand, "
        f"{fact.branches} conditional jumps (not taken), {fact.atomic} atomic; "
        f"{fact.operations} operations"
        for fact in facts(image)
    )


def main(image):
    print(text(image))
    found = list(faults(image))
    for fault in found:
        print(f"FAILED: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1
                  else os.path.join(os.environ.get("O", "build"), "payload.so")))
