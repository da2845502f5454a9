# SPDX-License-Identifier: MIT
"""
countdown.py - the countdown to a thread's next sample (payload/arch/*/gate.S), and a signal handler
that allocates in between, at any operation. On x86-64 one instruction counts, and no byte is lost.
On aarch64 the countdown is loaded and then stored: what the handler has done with it is lost.
"""
from machine import RELAXED, Load, Store, Change, Program
from protocol import Barrier, Model, Protocol

INTERVAL = 5  # every distance that is drawn
SIZES = 3, 2  # what the thread allocates
BY_HANDLER = 4
FIRST = range(1, 7)  # countdowns at the start
X86_64, AARCH64 = "payload/arch/x86_64/gate.S", "payload/arch/aarch64/gate.S"


def count_at_once(size):
    return (yield Change("countdown", lambda found: found - size, RELAXED, RELAXED))


def count_in_two_steps(orders, size):
    found = yield Load("countdown", RELAXED)
    if orders["what is stored is what is compared"]:
        yield Store("countdown", found - size, RELAXED)
    else:
        again = yield Load("countdown", RELAXED)
        yield Store("countdown", again - size, RELAXED)
    return found


# Returns what the hook has added to the countdown, 0: it was not called. The hook stores what it
# draws, whatever is there. A handler that comes before that finds a countdown which is over.
def allocate(orders, count, size):
    found = yield from count(size)
    is_after = found <= 0 and orders["the comparison has no sign"]
    if is_after or found > size:
        return 0
    assert found > 0, "an allocation behind the point is a sample, whatever its size"
    left = yield Change("countdown", lambda _: INTERVAL, RELAXED, RELAXED)
    return INTERVAL - left


def with_a_handler(orders, count, error_max):
    def thread():
        first = yield Load("chosen", RELAXED)
        yield Store("countdown", first, RELAXED)
        yield Store("has_begun", 1, RELAXED)
        expected = first
        for size in SIZES:
            expected += (yield from allocate(orders, count, size)) - size
        return expected

    def handler():
        if not (yield Load("has_begun", RELAXED)):
            return
        added = yield from allocate(orders, count, BY_HANDLER)
        yield Store("by_handler", added - BY_HANDLER, RELAXED)

    def chooses():
        for first in FIRST[1:]:
            yield Store("chosen", first, RELAXED)

    def at_end(results, last):
        error = last["countdown"] - results[0] - last["by_handler"]
        assert last["countdown"] > 0, "a countdown stays below zero, and no sample is taken again"
        assert abs(error) <= error_max, f"the countdown is wrong by {error} bytes"

    return Program({"chosen": FIRST[0], "countdown": 0, "has_begun": 0, "by_handler": 0},
                   (thread, chooses), at_end, {0: handler})


def on_x86_64(orders):
    one = orders["one instruction counts"]
    return with_a_handler(
        orders, count_at_once if one else lambda size: count_in_two_steps(orders, size), 0)


def on_aarch64(orders):
    return with_a_handler(orders, lambda size: count_in_two_steps(orders, size),
                          max(INTERVAL, BY_HANDLER))


PROTOCOL = Protocol(
    {
        "one instruction counts": Barrier(
            True, False, X86_64, "1:\tsub \\size, SLOT_COUNTDOWN(%r11)\n\tjbe 3f"),
        "what is stored is what is compared": Barrier(
            True, False, AARCH64,
            "1:\tsubs x13, x13, \\size\n\tstr x13, [x11, #SLOT_COUNTDOWN]\n\tb.ls 3f"),
        "the comparison has no sign": Barrier(True, False, AARCH64, "b.ls 3f"),
    },
    [
        Model("on x86-64 no byte is lost", on_x86_64),
        Model("on aarch64 an allocation of a handler, or one interval, is lost at most",
              on_aarch64),
    ])
