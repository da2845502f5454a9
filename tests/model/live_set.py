# SPDX-License-Identifier: MIT
"""
live_set.py - the live set (payload/live_set.c): a block that one thread is given and another frees,
beside a block that shares its entries and its occupancy byte; the allocator then gives the address
anew.
"""
from machine import RELAXED, ACQUIRE, RELEASE, ACQ_REL, Load, Store, swap, Program
from protocol import Barrier, Model, Protocol

FILE = "payload/live_set.c"
ENTRIES = 3


def add_occupancy(orders, number):
    old = yield Load("occupancy", RELAXED)
    while True:
        found = yield swap("occupancy", old, old + number, orders["occupancy changes"])
        if found == old:
            return
        old = found


def place(orders, block):
    room = None
    for number in range(ENTRIES):
        entry = yield Load(f"entry{number}", RELAXED)
        assert entry != block, "a block that is new is in the live set"
        if not entry and room is None:
            room = number
    assert room is not None, "no room is left"
    for number in range(room, ENTRIES):
        if (yield swap(f"entry{number}", 0, block, orders["entry is taken"])) == 0:
            return
    assert False, "no room is left"


def live_add(orders, block):
    yield from add_occupancy(orders, 1)
    yield from place(orders, block)


def live_take(orders, block):
    occupancy = yield Load("occupancy", RELAXED)
    assert occupancy, "a block is in the live set, and its occupancy byte says that none is"
    for number in range(ENTRIES):
        entry = yield Load(f"entry{number}", RELAXED)
        if entry == block:
            yield Store(f"entry{number}", 0, orders["entry is given back"])
            yield from add_occupancy(orders, -1)
            return
    assert False, "a block that was put into the live set is not found"


# `handed` and `freed` are the program's and the allocator's own.
def a_block_goes_round(orders):
    def allocates():
        yield from live_add(orders, 7)
        yield Store("handed", 1, RELEASE)

    def frees():
        if (yield Load("handed", ACQUIRE)):
            yield from live_take(orders, 7)
            yield Store("freed", 1, RELEASE)

    def is_given_it():
        if (yield Load("freed", ACQUIRE)):
            yield from live_add(orders, 7)

    def has_another():
        yield from live_add(orders, 9)
        yield from live_take(orders, 9)

    def at_end(results, last):
        there = sum(1 for number in range(ENTRIES) if last[f"entry{number}"])
        assert last["occupancy"] == there, f"{there} blocks, occupancy {last['occupancy']}"

    memory = {"occupancy": 0, "handed": 0, "freed": 0,
              **{f"entry{number}": 0 for number in range(ENTRIES)}}
    return Program(memory, (allocates, frees, is_given_it, has_another), at_end)


BY_PROGRAM = "the program itself orders the allocation before the free, or it would free what it " \
             "does not know; and no change of a word is lost, whatever its order"
PROTOCOL = Protocol(
    {
        "occupancy changes": Barrier(
            ACQ_REL, RELAXED, FILE,
            "__atomic_compare_exchange_n(byte, &old, (uint8_t)(old + change), false,", BY_PROGRAM),
        "entry is taken": Barrier(
            ACQ_REL, RELAXED, FILE,
            "__atomic_compare_exchange_n(room, &expected, address, false, __ATOMIC_ACQ_REL,",
            BY_PROGRAM),
        "entry is given back": Barrier(
            RELEASE, RELAXED, FILE, "__atomic_store_n(&window[i], 0, __ATOMIC_RELEASE);",
            BY_PROGRAM),
    },
    [Model("a block is found by the thread that frees it, and by no other", a_block_goes_round)])
