# SPDX-License-Identifier: MIT
"""
inside.py - who is inside (hi_wire.h; payload/place.c, payload/hook_scope.c): the place of a thread
that has no slot of its own, and its scratch, pass from thread to thread; a thread alone in the
hooks learns of a second one; the injector looks, while all are stopped, whether anybody is inside.
"""
from machine import (RELAXED, ACQUIRE, RELEASE, ACQ_REL, Load, Store, Change, Fence, Stop, swap,
                     add, Program)
from protocol import Barrier, Model, Protocol


def a_place_is_passed_on(orders):
    def guest(mark):
        def body():
            word = yield Load("place", RELAXED)
            if word or (yield swap("place", 0, mark, orders["a place is taken"])):
                return
            yield Store("scratch", mark, RELAXED)
            found = yield Load("scratch", RELAXED)
            assert found == mark, "two threads have one scratch"
            yield Store("scratch", 0, RELAXED)
            yield Change("place", lambda found: 0, orders["a place is given back"], RELAXED)
        return body

    return Program({"place": 0, "scratch": 0}, (guest(1), guest(2)))


# The first thread takes the time without a clock only as long as it is the only one.
def a_second_thread_comes(orders):
    def first():
        learned = yield Load("shared", RELAXED)  # the program's own
        if orders["a thread asks whether it is alone"]:
            yield Fence(orders["a thread asks whether it is alone"])
        threads = yield Load("threads", RELAXED)
        assert not learned or threads == 2, \
            "a record that follows from another thread's is timed without a clock"

    def second():
        yield add("threads", 1, ACQ_REL)
        yield Store("record", 1, RELEASE)
        yield Store("shared", 1, RELEASE)

    return Program({"threads": 1, "record": 0, "shared": 0}, (first, second))


# The count of a slot: its thread alone changes it, without a lock, and the code that it runs in
# between is what detach is about to unmap.
def all_are_stopped(orders):
    def thread():
        yield Store("count", 1, RELAXED)
        yield Store("is_inside", 1, RELAXED)
        yield Store("is_inside", 0, RELAXED)
        yield Store("count", 0, RELAXED)

    def injector():
        if orders["all are stopped"]:
            last = dict((yield Stop()))
            count, is_inside = last["count"], last["is_inside"]
        else:
            count = yield Load("count", ACQUIRE)
            is_inside = yield Change("is_inside", lambda found: found, ACQ_REL, ACQUIRE)
        assert count or not is_inside, "a thread is inside, and no count says so"

    return Program({"count": 0, "is_inside": 0}, (thread, injector))


PLACE, SCOPE = "payload/place.c", "payload/hook_scope.h"
PROTOCOL = Protocol(
    {
        "a place is taken": Barrier(ACQ_REL, RELAXED, PLACE,
                                    "__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))"),
        "a place is given back": Barrier(
            ACQ_REL, RELAXED, "payload/hook_scope.c",
            "__atomic_fetch_sub(scope->call->guard, 1, __ATOMIC_ACQ_REL);"),
        "a thread asks whether it is alone": Barrier(ACQUIRE, None, SCOPE,
                                                     "__atomic_thread_fence(__ATOMIC_ACQUIRE);"),
        "all are stopped": Barrier(True, False, "injector/attach/quiesce.c", "frames_in_flight("),
    },
    [
        Model("a place and its scratch are one thread's at a time", a_place_is_passed_on),
        Model("only records that follow from no other thread's are timed without a clock",
              a_second_thread_comes),
        Model("no thread is inside where the counts say so", all_are_stopped),
    ])
