# SPDX-License-Identifier: MIT
"""
published.py - the lists that the injector publishes in two copies (injector/arena/publish.c,
payload/published.h, payload/regions.c): three versions, so that a copy is written that a thread may
still be reading.
"""
from machine import RELAXED, ACQUIRE, RELEASE, SEQ_CST, Load, Store, Fence, Program
from protocol import Barrier, Model, Protocol

WRITER, READER, FINDER = "injector/arena/publish.c", "payload/published.h", "payload/regions.c"


# Both words of a version are its number.
def a_list_changes(orders):
    def writer():
        generation = [0, 0]
        for version in (1, 2, 3):
            which = version % 2
            yield Store(f"generation{which}", generation[which] | 1, RELAXED)
            if orders["a change begins"]:
                yield Fence(orders["a change begins"])
            yield Store(f"lo{which}", version, RELAXED)
            yield Store(f"hi{which}", version, RELAXED)
            generation[which] += 2
            yield Store(f"generation{which}", generation[which], orders["a change ends"])
            yield Store("current", which, orders["a copy is current"])

    def reader():
        current = yield Load("current", orders["reader reads which is current"])
        generation = yield Load(f"generation{current}", orders["reader reads the generation"])
        lo = yield Load(f"lo{current}", RELAXED)
        hi = yield Load(f"hi{current}", RELAXED)
        if orders["reader reads the generation again"]:
            yield Fence(orders["reader reads the generation again"])
        again = yield Load(f"generation{current}", RELAXED)
        if generation % 2 or again != generation:
            return
        assert lo == hi, f"half of version {lo}, half of {hi}"
        assert not current or lo, "a copy is current that was not written yet"

    memory = {"current": 0, **{f"{word}{which}": 0 for word in ("generation", "lo", "hi")
                               for which in (0, 1)}}
    return Program(memory, (writer, reader))


# The bounds of code that comes and goes grow downward, from [8, 10) to [4, 10): 9 stays within.
def bounds_grow(orders):
    def writer():
        size = Store("bytes", 6, RELEASE)
        place = Store("lo", 4, orders["a place is stored after the size"] or RELEASE)
        for store in (size, place) if orders["a place is stored after the size"] else (place, size):
            yield store

    def reader():
        lo = yield Load("lo", orders["a place is read before the size"])
        size = yield Load("bytes", RELAXED)
        assert lo <= 9 < lo + size, f"[{lo}, {lo + size}) leaves out what was within"

    return Program({"lo": 8, "bytes": 2}, (writer, reader))


EARLY = "the list that a thread finds too early fails at its generation"
PROTOCOL = Protocol(
    {
        "a change begins": Barrier(SEQ_CST, None, WRITER,
                                   "__atomic_thread_fence(__ATOMIC_SEQ_CST);"),
        "a change ends": Barrier(
            RELEASE, RELAXED, WRITER,
            "__atomic_store_n(generation, *generation + 1, __ATOMIC_RELEASE);"),
        "a copy is current": Barrier(RELEASE, RELAXED, WRITER,
                                     "__atomic_store_n(current, which, __ATOMIC_RELEASE);", EARLY),
        "reader reads which is current": Barrier(
            ACQUIRE, RELAXED, FINDER,
            "__atomic_load_n(&control->current_regions, __ATOMIC_ACQUIRE)", EARLY),
        "reader reads the generation": Barrier(
            ACQUIRE, RELAXED, FINDER, "__atomic_load_n(&regions->generation, __ATOMIC_ACQUIRE)"),
        "reader reads the generation again": Barrier(
            ACQUIRE, None, READER, "__atomic_thread_fence(__ATOMIC_ACQUIRE);"),
        "a place is stored after the size": Barrier(
            RELEASE, None, WRITER,
            "__ATOMIC_RELEASE);\n\t__atomic_store_n(&control->code_lo, first, __ATOMIC_RELEASE);"),
        "a place is read before the size": Barrier(
            ACQUIRE, RELAXED, "payload/stack.c",
            "walk->code_lo = __atomic_load_n(&control_of(walk)->code_lo, __ATOMIC_ACQUIRE);"),
    },
    [
        Model("a list is used as it was published, or not at all", a_list_changes),
        Model("code that comes and goes stays within its bounds", bounds_grow),
    ])
