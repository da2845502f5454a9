# SPDX-License-Identifier: MIT
"""
litmus.py - programs whose outcomes are known from the literature: the machine allows what the model
allows, and nothing else.
"""
from machine import (RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST, Load, Store, Change, Fence, Wait,
                     add, Program, Explorer)


def outcomes(memory, *threads):
    found = set()
    explorer = Explorer(Program(memory, threads,
                                lambda results, last: found.add(tuple(results))), 100000)
    assert explorer.explore() is None
    return found


def message_passing(stored, loaded):
    def producer():
        yield Store("x", 1, RELAXED)
        yield Store("y", 1, stored)

    def consumer():
        y = yield Load("y", loaded)
        x = yield Load("x", RELAXED)
        return y, x

    return (None, (1, 0)) in outcomes({"x": 0, "y": 0}, producer, consumer)


def store_buffering(order):
    def thread(own, other):
        def body():
            yield Store(own, 1, RELAXED)
            if order:
                yield Fence(order)
            return (yield Load(other, RELAXED))
        return body

    return (0, 0) in outcomes({"x": 0, "y": 0}, thread("x", "y"), thread("y", "x"))


def independent_reads(order):
    def writer(at):
        def body():
            yield Store(at, 1, RELAXED)
        return body

    def reader(first, second):
        def body():
            a = yield Load(first, RELAXED)
            yield Fence(order)
            b = yield Load(second, RELAXED)
            return a, b
        return body

    return (None, None, (1, 0), (1, 0)) in outcomes({"x": 0, "y": 0}, writer("x"), writer("y"),
                                                     reader("x", "y"), reader("y", "x"))


def two_writes():
    def thread(first, second):
        def body():
            yield Store(first, 1, RELAXED)
            yield Store(second, 2, RELAXED)
        return body

    found = set()
    explorer = Explorer(Program({"x": 0, "y": 0}, (thread("x", "y"), thread("y", "x")),
                                lambda results, last: found.add((last["x"], last["y"]))), 100000)
    assert explorer.explore() is None
    return (1, 1) in found


# Of one location, two threads see the stores in one order.
def is_coherent():
    def writer(value):
        def body():
            yield Store("x", value, RELAXED)
        return body

    def reader():
        a = yield Load("x", RELAXED)
        b = yield Load("x", RELAXED)
        return a, b

    found = outcomes({"x": 0}, writer(1), writer(2), reader, reader)
    return not [row for row in found if row[2] == (1, 2) and row[3] == (2, 1)]


def counts_all():
    def thread():
        yield add("x", 1, RELAXED)

    found = set()
    explorer = Explorer(Program({"x": 0}, (thread, thread, thread),
                                lambda results, last: found.add(last["x"])), 100000)
    assert explorer.explore() is None
    return found == {3}


# An acquire that reads a relaxed change of what was released: a release sequence. No store goes on.
def sequence(is_change):
    def producer():
        yield Store("x", 1, RELAXED)
        yield Store("y", 1, RELEASE)

    def between():
        if is_change:
            yield Change("y", lambda found: 2 if found == 1 else None, RELAXED, RELAXED)
        else:
            yield Wait("y", lambda found: found == 1, RELAXED)
            yield Store("y", 2, RELAXED)

    def consumer():
        y = yield Load("y", ACQUIRE)
        x = yield Load("x", RELAXED)
        return y, x

    return any(row[2] == (2, 0) for row in outcomes({"x": 0, "y": 0}, producer, between, consumer))


def check():
    """Yields (what, whether it holds)."""
    yield "message passing, relaxed: seen", message_passing(RELAXED, RELAXED)
    yield "message passing, release alone: seen", message_passing(RELEASE, RELAXED)
    yield "message passing, acquire alone: seen", message_passing(RELAXED, ACQUIRE)
    yield "message passing, release and acquire: never", not message_passing(RELEASE, ACQUIRE)
    yield "store buffering: seen", store_buffering(None)
    yield "store buffering, acq_rel fences: seen", store_buffering(ACQ_REL)
    yield "store buffering, seq_cst fences: never", not store_buffering(SEQ_CST)
    yield "independent reads, acquire fences: seen", independent_reads(ACQUIRE)
    yield "independent reads, seq_cst fences: never", not independent_reads(SEQ_CST)
    yield "two writes in opposite orders: seen", two_writes()
    yield "one location, two orders: never", is_coherent()
    yield "changes of one location are never lost", counts_all()
    yield "release sequence, by a change: never stale", not sequence(True)
    yield "release sequence, by a store: stale", sequence(False)
