# SPDX-License-Identifier: MIT
"""
stack_table.py - the stacks that records refer to by number (payload/stack_table.c,
injector/stream/pump_stacks.c): two threads meet the same new stack, and each sends a record of it.
"""
from machine import RELAXED, ACQUIRE, RELEASE, Load, Store, swap, Program
from protocol import Barrier, Model, Protocol

FILE = "payload/stack_table.c"
FRAMES = 2


def number_of_stack(orders):
    entry = yield Load("place", orders["an entry is read"])
    if not entry:
        used = yield Load("used", RELAXED)
        while True:
            found = yield swap("used", used, used + 1, RELAXED)
            if found == used:
                break
            used = found
        number = used + 1
        yield Store(f"head{number}", FRAMES, RELAXED)
        yield Store(f"frame{number}", 8, RELAXED)
        entry = yield swap("place", 0, number, orders["an entry is taken"],
                           orders["an entry was taken by another"])
        if not entry:
            return number
    return entry


def a_stack_is_new_to_two(orders):
    def sender(ring):
        def body():
            number = yield from number_of_stack(orders)
            yield Store(ring, number, orders["a record is committed"])
        return body

    def reader():
        for ring in ("ring0", "ring1"):
            number = yield Load(ring, orders["a record is read"])
            if number:
                head = yield Load(f"head{number}", orders["a stack is read"])
                frame = yield Load(f"frame{number}", RELAXED)
                assert (head, frame) == (FRAMES, 8), "a record is there, and its stack is not"

    memory = {"place": 0, "used": 0, "ring0": 0, "ring1": 0,
              **{f"{word}{number}": 0 for word in ("head", "frame") for number in (1, 2)}}
    return Program(memory, (sender("ring0"), sender("ring1"), reader))


PROTOCOL = Protocol(
    {
        "an entry is read": Barrier(ACQUIRE, RELAXED, FILE,
                                    "__atomic_load_n(place, __ATOMIC_ACQUIRE)"),
        "an entry is taken": Barrier(
            RELEASE, RELAXED, FILE,
            "__atomic_compare_exchange_n(place, &entry, tag | own, false,"),
        "an entry was taken by another": Barrier(ACQUIRE, RELAXED, FILE,
                                                 "__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))"),
        "a record is committed": Barrier(RELEASE, RELAXED, "payload/ring.h",
                                         "found = arch_swap_alone(to, busy, first);"),
        "a record is read": Barrier(
            ACQUIRE, RELAXED, "injector/stream/ring_reader.c",
            "__atomic_load_n(word_at(reader, lane, lane->tail), __ATOMIC_ACQUIRE)"),
        "a stack is read": Barrier(
            ACQUIRE, RELAXED, "injector/stream/pump_stacks.c",
            "const uint64_t head = __atomic_load_n(word, __ATOMIC_ACQUIRE);",
            "the record was read before, with acquire"),
    },
    [Model("the stack of a record that is read is there", a_stack_is_new_to_two)])
