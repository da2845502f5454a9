# SPDX-License-Identifier: MIT
"""
ring.py - the rings (payload/ring.h, injector/stream/ring_reader.c): four records of two producers
in a ring that has room for two, so that room is used again; records in two rings, of which one
follows from the other; and a signal handler that interrupts the only producer of a ring.
"""
from machine import RELAXED, ACQUIRE, RELEASE, ACQ_REL, Load, Store, Wait, swap, Program
from protocol import Barrier, Model, Protocol

CAPACITY = 2
RING, READER = "payload/ring.h", "injector/stream/ring_reader.c"
BUSY = 100  # + the record's number, which stands for its size and type

# A ring of CAPACITY records of two words. A record that is cut off reads as one of another number.
def memory_of(ring):
    return {f"{ring}.{word}": 0 for word in ("head", "tail", "first0", "first1", "rest0", "rest1")}


# Returns the record's number, or None: no room.
def put(orders, ring, record, swap_alone=None):
    tail = yield Load(f"{ring}.tail", orders["producer reads tail"])
    head = yield Load(f"{ring}.head", RELAXED)
    for _ in range(2):
        if head - tail >= CAPACITY:
            return None
        if swap_alone:
            found = yield from swap_alone(f"{ring}.head", head, head + 1)
        else:
            found = yield swap(f"{ring}.head", head, head + 1, orders["producer moves head"])
        if found == head:
            break
        head = found
    else:
        return None
    cell = head % CAPACITY
    yield Store(f"{ring}.first{cell}", BUSY + record, orders["producer begins a record"])
    yield Store(f"{ring}.rest{cell}", record, orders["producer fills a record"])
    yield swap(f"{ring}.first{cell}", BUSY + record, record, orders["producer commits"])
    return record


# Takes the record at this position, which was reserved.
def take(orders, ring, position):
    cell = position % CAPACITY
    record = yield Wait(f"{ring}.first{cell}", lambda first: 0 < first < BUSY,
                        orders["reader reads a first word"])
    rest = yield Load(f"{ring}.rest{cell}", RELAXED)
    assert rest == record, f"record {record} ends as {rest}"
    yield Store(f"{ring}.first{cell}", 0, RELAXED)
    yield Store(f"{ring}.rest{cell}", 0, RELAXED)
    yield Store(f"{ring}.tail", position + 1, orders["reader gives room back"])
    return record


def room_is_used_again(orders):
    def producer(*records):
        def body():
            done = []
            for record in records:
                done.append((yield from put(orders, "ring", record)))
            return [record for record in done if record]
        return body

    def reader():
        taken = []
        for position in range(4):
            head = yield Load("ring.head", orders["reader reads head"])
            if head <= position:
                break
            taken.append((yield from take(orders, "ring", position)))
        return taken

    def at_end(results, last):
        sent = sorted(results[0] + results[1])
        left = [last[f"ring.first{position % CAPACITY}"]
                for position in range(len(results[2]), last["ring.head"])]
        assert sorted(results[2] + left) == sent, \
            f"{sent} were sent, {results[2]} taken, {left} left"

    return Program(memory_of("ring"), (producer(1, 2), producer(3, 4), reader), at_end)


# ORDER, fact 1 of hi_wire.h: what was reserved before a mark was read is found before a limit that
# is read later, and so is all that it follows from.
def one_follows_from_another(orders):
    def allocates():
        yield from put(orders, "a", 1)
        yield Store("block", 1, RELEASE)  # the program's own

    def frees():
        block = yield Load("block", ACQUIRE)
        if block:
            yield from put(orders, "b", 2)

    def reader():
        mark = yield Load("b.head", orders["reader reads head"])
        limit = yield Load("a.head", orders["reader reads head"])
        assert limit >= mark, "a free is taken without its allocation"

    return Program({**memory_of("a"), **memory_of("b"), "block": 0}, (allocates, frees, reader))


# One thread alone reserves, and its signal handler does so in between.
def handler_reserves(orders):
    def swap_alone(at, expected, to):
        if orders["the swap of an own ring is indivisible"]:
            return (yield swap(at, expected, to, RELEASE))
        found = yield Load(at, RELAXED)
        if found == expected:
            yield Store(at, to, RELEASE)
        return found

    def producer(record):
        def body():
            return (yield from put(orders, "own", record, swap_alone))
        return body

    def reader():
        taken = []
        for position in range(2):
            head = yield Load("own.head", ACQUIRE)
            if head <= position:
                break
            taken.append((yield from take(orders, "own", position)))
        return taken

    return Program(memory_of("own"), (producer(1), reader), handlers={0: producer(2)})


PROTOCOL = Protocol(
    {
        "producer reads tail": Barrier(
            ACQUIRE, RELAXED, RING, "__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE)"),
        "producer moves head": Barrier(
            ACQ_REL, RELAXED, RING,
            "__atomic_compare_exchange_n(&ring->head, &head, to, false, __ATOMIC_ACQ_REL,"),
        "producer begins a record": Barrier(
            RELEASE, RELAXED, RING, "__atomic_store_n(to, first, __ATOMIC_RELEASE)",
            "the commit is a release, and the reader takes nothing before it"),
        "producer fills a record": Barrier(
            RELEASE, RELAXED, RING, "__atomic_store_n(to + i, word[i], __ATOMIC_RELEASE)",
            "the commit is a release, and the reader takes nothing before it"),
        "producer commits": Barrier(
            RELEASE, RELAXED, RING, "found = arch_swap_alone(to, busy, first);"),
        "the swap of an own ring is indivisible": Barrier(
            True, False, RING, "return arch_swap_alone(&ring->head, head, to);"),
        "reader reads head": Barrier(
            ACQUIRE, RELAXED, READER,
            "return __atomic_load_n(&lane->ring->head, __ATOMIC_ACQUIRE);"),
        "reader reads a first word": Barrier(
            ACQUIRE, RELAXED, READER,
            "__atomic_load_n(word_at(reader, lane, lane->tail), __ATOMIC_ACQUIRE)"),
        "reader gives room back": Barrier(
            RELEASE, RELAXED, READER,
            "__atomic_store_n(&lane->ring->tail, lane->tail, __ATOMIC_RELEASE)"),
    },
    [
        Model("a record is taken whole, once, or left; none is overwritten", room_is_used_again),
        Model("what follows from another is not taken without it", one_follows_from_another),
        Model("the record of a signal handler is one of its own", handler_reserves),
    ])
