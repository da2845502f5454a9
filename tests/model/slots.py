# SPDX-License-Identifier: MIT
"""
slots.py - the slots of threads (payload/thread_slot.c), and the cache of unwind rules that threads
fill without a lock (payload/rules.h, payload/rules.c).
"""
from machine import RELAXED, ACQUIRE, ACQ_REL, Load, Store, swap, Program
from protocol import Barrier, Model, Protocol

SLOT = "payload/thread_slot.c"
OLD, NEW = 1, 100


# A slot of a thread that has not come for long, which two others want.
def a_slot_is_taken_over(orders):
    def claims(thread):
        def body():
            owner = yield Load("owner", orders["an owner is read"])
            last_seen = yield Load("last_seen", RELAXED)
            assert owner == 1 or last_seen == NEW, "a slot that was just taken is taken again"
            if last_seen == NEW:
                return False
            yield Store("last_seen", NEW, RELAXED)
            return (yield swap("owner", owner, thread, orders["a slot is taken"])) == owner
        return body

    def at_end(results, last):
        assert results.count(True) == 1 and results.index(True) + 2 == last["owner"], \
            "a slot has two owners, or none"

    return Program({"owner": 1, "last_seen": OLD}, (claims(2), claims(3)), at_end)


# A slot that was free, which two want. The first owner's calls find each other by its scratch.
def a_free_slot_is_taken(orders):
    def claims(thread):
        def body():
            if (yield Load("owner", RELAXED)):
                return
            if orders["a scratch stays"]:
                yield swap("scratch", 0, thread, RELAXED)
            else:
                yield Store("scratch", thread, RELAXED)
            if (yield swap("owner", 0, thread, orders["a slot is taken"])):
                return
            outer = yield Load("scratch", RELAXED)
            nested = yield Load("scratch", RELAXED)
            assert outer, "the first owner has no scratch"
            assert nested == outer, "a call has another scratch than the one that it is nested in"
        return body

    return Program({"owner": 0, "scratch": 0}, (claims(1), claims(2)))


# Two threads put different rules into one entry. `check` ties a rule to its pc.
def an_entry_has_two_rules(orders):
    def adds(pc, rule):
        def body():
            yield Store("value", rule, RELAXED)
            yield Store("check", pc ^ rule if orders["check covers the value"] else pc, RELAXED)
        return body

    def finds():
        check = yield Load("check", RELAXED)
        value = yield Load("value", RELAXED)
        if not orders["check covers the value"]:
            value_pc = check
        else:
            value_pc = check ^ value
        assert value_pc != 64 or value == 3, "the rule of another pc is used"

    return Program({"value": 0, "check": 0}, (adds(64, 3), adds(128, 5), finds))


PROTOCOL = Protocol(
    {
        "an owner is read": Barrier(ACQUIRE, RELAXED, SLOT,
                                    "__atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE)"),
        "a slot is taken": Barrier(
            ACQ_REL, RELAXED, SLOT,
            "__atomic_compare_exchange_n(&slot->owner, &from, to, false, __ATOMIC_ACQ_REL,"),
        "a scratch stays": Barrier(True, False, SLOT,
                                   "__atomic_compare_exchange_n(&slot->scratch, &none,"),
        "check covers the value": Barrier(True, False, "payload/rules.c",
                                          "pc_and_mark ^ value * HI_HASH"),
    },
    [
        Model("a slot has one new owner", a_slot_is_taken_over),
        Model("a slot's first owner has one scratch", a_free_slot_is_taken),
        Model("the rule of a pc is its own", an_entry_has_two_rules),
    ])
