# SPDX-License-Identifier: MIT
"""counted.py: compares a profile of the target with the target's own counts, function by function.

For blocks of s bytes with the sum S, sampled every R bytes, the estimate of S has a variance of at
most R * S (docs/sampling.md). A difference of more than SIGMAS standard deviations is not chance.
With R = 1 nothing may differ, and each stack begins with the function that called the allocator.
"""
import argparse
import math
import subprocess

SIGMAS = 6
# The order is that of the target's words.
KINDS = ("inuse-space", "inuse-objects", "alloc-space", "alloc-objects")
# The allocator may call the new handler from within a call that is counted, so heapinject may or
# may not see what the handler allocates. libstdc++ allocates exceptions itself.
LEFT_OUT = {"handle_want()", "handle_want", "__cxa_allocate_exception"}
NOT_DIRECT = ("alloc_strdup", "alloc_strndup", "alloc_new_elements", "alloc_new_after_refusal")


def stacks(options, kind):
    text = subprocess.run(
        [options.heapinject, "report", options.heap, "--collapsed", "--" + kind], check=True,
        capture_output=True, text=True,
    ).stdout
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        frames = stack.split(";")
        if not LEFT_OUT.intersection(frames):
            yield frames, float(value)


def sums(options, kind):
    """By function of the target, and of each that begins its stacks elsewhere where that is."""
    values, leaves = {}, {}
    for stack, value in stacks(options, kind):
        name = next((frame for frame in stack if frame.startswith("alloc_")), None)
        values[name] = values.get(name, 0) + value
        leaves.setdefault(name, set()).add(stack[-1])
    return values, leaves


def allowed(options, kind, truth):
    if options.interval == 1:
        return 0
    return SIGMAS * math.sqrt(options.interval * truth) if kind.endswith("space") else math.inf


def faults(options, truth):
    reported = {kind: sums(options, kind) for kind in KINDS}
    for number, kind in enumerate(KINDS):
        values = reported[kind][0]
        for name, counts in truth.items():
            if abs(values.get(name, 0) - counts[number]) > allowed(options, kind, counts[number]):
                yield f"{name}, {kind}: {values.get(name, 0):.0f}, want {counts[number]}"
        want, total = (
            sum(counts[number] for counts in truth.values()),
            sum(values.get(name, 0) for name in truth),
        )
        if abs(total - want) > allowed(options, kind, want):
            yield f"all, {kind}: {total:.0f}, want {want}"
    if options.interval > 1 or options.wrapped:
        return
    for name, leaves in reported["alloc-objects"][1].items():
        if name in truth and name not in NOT_DIRECT and leaves != {name}:
            yield f"{name}: its stacks begin with {leaves}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heapinject", required=True)
    parser.add_argument("--heap", required=True)
    parser.add_argument("--interval", type=int, required=True)
    parser.add_argument(
        "--wrapped", action="store_true", help="the allocator's own frames are in the stacks"
    )
    parser.add_argument("truth", nargs="+", metavar="NAME:LIVE-BYTES:LIVE-BLOCKS:BYTES:BLOCKS")
    options = parser.parse_args()
    truth = {
        name: [int(count) for count in counts]
        for name, *counts in (word.split(":") for word in options.truth)
    }
    found = list(faults(options, truth))
    print("\n".join(found) or f"right: {len(truth)} functions")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
