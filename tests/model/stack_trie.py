# SPDX-License-Identifier: MIT
"""
stack_trie.py - the stack trie (payload/stack_trie.c): a thread adds the node of a caller, and the
stack that ends there, while two others walk by it; the return address that they find on their
stacks is that of the node, or zero.
"""
from machine import RELAXED, ACQUIRE, RELEASE, Load, Store, Change, swap, Program
from protocol import Barrier, Model, Protocol

FILE = "payload/stack_trie.c"
PC, RULE, STACK, WORDS = 5, 6, 7, 8
NEXT = 16


# The callee is there from the start, the node of its caller is the next in memory.
def a_node_is_added(orders):
    def adds():
        yield Store("stack words", WORDS, RELAXED)
        yield Store("node.pc", PC, RELAXED)
        yield Store("node.rule", RULE, RELAXED)
        yield Store("node.stack", STACK, RELAXED)
        yield Store("node.caller", 0, RELAXED)
        yield swap("callee.caller", 0, 1, orders["a node is linked in"])
        yield Change("callee.kind", lambda kind: kind | NEXT, orders["a node is said to be next"],
                     RELAXED)

    def walker(return_address, may_be_next):
        def body():
            is_next = may_be_next and (yield Load("callee.kind", orders["a rule is read"]))
            if not is_next and not (yield Load("callee.caller", orders["a link is read"])):
                return
            if (yield Load("node.pc", RELAXED)) != return_address:
                return
            if (yield Load("node.rule", orders["a rule is read"])) != RULE:
                return
            stack = yield Load("node.stack", RELAXED)
            if not stack:
                return
            assert return_address == PC, "a walk takes the stack of another one"
            words = yield Load("stack words", RELAXED)
            assert words == WORDS, "a walk returns a stack that is not there yet"
        return body

    # another thread that adds a caller to the new node
    def adds_to_it():
        if (yield Load("callee.caller", orders["a link is read"])):
            yield swap("node.caller", 0, 9, RELEASE)
            return True
        return False

    def at_end(results, last):
        assert not results[-1] or last["node.caller"] == 9, "a link is lost"

    memory = {"stack words": 0, "node.pc": 0, "node.rule": 0, "node.stack": 0, "node.caller": 0,
              "callee.caller": 0, "callee.kind": 0}
    return Program(memory, (adds, walker(PC, True), walker(0, True), adds_to_it), at_end)


PROTOCOL = Protocol(
    {
        "a node is linked in": Barrier(
            RELEASE, RELAXED, FILE,
            "__atomic_compare_exchange_n(link, &none, place, false, __ATOMIC_RELEASE,"),
        "a node is said to be next": Barrier(
            RELEASE, RELAXED, FILE, "NEXT,\n\t\t\t\t  __ATOMIC_RELEASE);"),
        "a link is read": Barrier(ACQUIRE, RELAXED, FILE,
                                  "return __atomic_load_n(link, __ATOMIC_ACQUIRE);"),
        "a rule is read": Barrier(ACQUIRE, RELAXED, FILE,
                                  "__atomic_load_n(&node->rule, __ATOMIC_ACQUIRE)"),
    },
    [Model("a walk by the trie returns the stack that is there", a_node_is_added)])
