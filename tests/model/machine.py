# SPDX-License-Identifier: MIT
"""
machine.py - explores every execution of a small concurrent program under the memory model of C11.

The model is RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11,
PLDI 2017) in the form of a machine with views (Kang, Hur, Lahav, Vafeiadis, Dreyer: A Promising
Semantics for Relaxed-Memory Concurrency, POPL 2017), without promises:

- A location has all values that were ever stored there, in modification order. A store may take any
  place in it after the last one that its thread knows of, so a thread may see stores late, and two
  threads may see stores to different locations in different orders.
- A view says for each location which store is the oldest that may still be read. Each thread has
  one, and so has each store: what a thread learns that reads it with acquire.
- A release sequence goes on in read-modify-write operations alone, as in C++20.
- Where the C code stores and loads without atomics, programs say "relaxed", which is weaker than
  what a CPU does with an aligned word.

A relaxed load never returns a value that depends on itself, nor one of a store that comes later in
its thread ("load buffering"). Armv8 allows the latter where the store does not depend on the load.
None of the programs has a load whose result decides nothing before a store that matters.

A program is a list of threads, each a generator function that yields operations and is sent their
results. An `assert` that fails is a violation. A handler is a thread that interrupts another one,
at any operation, and runs to its end before that goes on.
"""
import collections

RELAXED, ACQUIRE, RELEASE = "relaxed", "acquire", "release"
ACQ_REL, SEQ_CST = "acq_rel", "seq_cst"

Load = collections.namedtuple("Load", "at order")
Store = collections.namedtuple("Store", "at value order")
# change: value -> new value, or None: the comparison failed. The result is the value that was read
Change = collections.namedtuple("Change", "at change order failed_order")
Fence = collections.namedtuple("Fence", "order")
# waits for a value for which until(value) is true, and reads it
Wait = collections.namedtuple("Wait", "at until order")
# the value of each location that is the last in modification order: of a debugger that has stopped
# all threads, and lets them go on
Stop = collections.namedtuple("Stop", "")
# what comes after the last operation
End = collections.namedtuple("End", "result")
Broken = collections.namedtuple("Broken", "promise")


def swap(at, expected, value, order, failed_order=RELAXED):
    return Change(at, lambda found: value if found == expected else None, order, failed_order)


def add(at, number, order):
    return Change(at, lambda found: found + number, order, RELAXED)


class Violation(Exception):
    pass


class TooMany(Exception):
    pass


Message = collections.namedtuple("Message", "value view is_followed")  # by a read-modify-write
# begun: whether the handler has begun
Thread = collections.namedtuple("Thread", "main handler begun current acquired released")


def acquires(order):
    return order in (ACQUIRE, ACQ_REL, SEQ_CST)


def releases(order):
    return order in (RELEASE, ACQ_REL, SEQ_CST)


def join(a, b):
    return tuple(map(max, a, b))


def raised(view, at, place):
    return view[:at] + (max(view[at], place),) + view[at + 1:]


class Program:
    """
    memory: initial value of each location. threads: generator functions of no argument. handlers:
    number of a thread -> the generator function that may interrupt it once. at_end: called with the
    results of all threads, and the last value of each location.
    """

    def __init__(self, memory, threads, at_end=None, handlers=None):
        self.names = list(memory)
        self.number = {name: number for number, name in enumerate(self.names)}
        self.memory = memory
        self.threads = threads
        self.handlers = handlers or {}
        self.at_end = at_end
        self.pending = {}

    def first(self):
        zero = (0,) * len(self.names)
        memory = tuple((Message(value, zero, False),) for value in self.memory.values())
        thread = Thread((), (), False, zero, zero, zero)
        return memory, (thread,) * len(self.threads), zero

    # The operation that comes after these results, or how the thread ends.
    def next_of(self, number, is_handler, results):
        key = number, is_handler, results
        if key not in self.pending:
            body = self.handlers[number] if is_handler else self.threads[number]
            generator = body()
            try:
                operation = next(generator)
                for result in results:
                    operation = generator.send(result)
            except StopIteration as end:
                operation = End(end.value)
            except AssertionError as error:
                operation = Broken(str(error))
            self.pending[key] = operation
        return self.pending[key]


# All views with this location's places moved on by one from `place`, which a new store takes.
def make_room(memory, threads, shared, at, place):
    def moved(view):
        return view if view[at] < place else view[:at] + (view[at] + 1,) + view[at + 1:]

    if place == len(memory[at]):
        return memory, threads, shared
    memory = tuple(tuple(message._replace(view=moved(message.view)) for message in location)
                   for location in memory)
    threads = tuple(thread._replace(current=moved(thread.current), acquired=moved(thread.acquired),
                                    released=moved(thread.released)) for thread in threads)
    return memory, threads, moved(shared)


class Explorer:
    def __init__(self, program, states_max):
        self.program = program
        self.states_max = states_max
        self.seen = set()
        self.ends = 0

    def explore(self):
        """Returns None, or the violation and the path of operations that leads there."""
        first = self.program.first()
        stack = [(first, None)]
        self.seen.add(first)
        while stack:
            state, path = stack.pop()
            try:
                successors = self.successors(state)
            except Violation as violation:
                return str(violation), self.unroll(path)
            for label, successor in successors:
                if successor in self.seen:
                    continue
                if len(self.seen) >= self.states_max:
                    raise TooMany()
                self.seen.add(successor)
                stack.append((successor, (label, path)))
        return None

    @staticmethod
    def unroll(path):
        steps = []
        while path:
            steps.append(path[0])
            path = path[1]
        return steps[::-1]

    def successors(self, state):
        program = self.program
        found, is_over, results = [], True, []
        for number, thread in enumerate(state[1]):
            operation = program.next_of(number, False, thread.main)
            if number in program.handlers and thread.begun:
                handler = program.next_of(number, True, thread.handler)
                if not isinstance(handler, End):
                    found += self.step(state, number, True, handler)
                    is_over = False
                    continue
            elif number in program.handlers and not isinstance(operation, End):
                found.append((f"thread {number} is interrupted", self.replaced(
                    state, number, thread._replace(begun=True))))
            if isinstance(operation, End):
                results.append(operation.result)
                continue
            is_over = False
            found += self.step(state, number, False, operation)
        if is_over:
            self.ends += 1
            if program.at_end:
                last = {name: state[0][at][-1].value for at, name in enumerate(program.names)}
                try:
                    program.at_end(results, last)
                except AssertionError as error:
                    raise Violation(str(error)) from None
        elif not found:
            raise Violation("no thread can go on")
        return found

    @staticmethod
    def replaced(state, number, thread):
        memory, threads, shared = state
        return memory, threads[:number] + (thread,) + threads[number + 1:], shared

    # The state after the operation, of which this was the result.
    @staticmethod
    def went_on(state, number, is_handler, result, **views):
        memory, threads, shared = state
        thread = threads[number]._replace(**views)
        if is_handler:
            thread = thread._replace(handler=thread.handler + (result,))
        else:
            thread = thread._replace(main=thread.main + (result,))
        return memory, threads[:number] + (thread,) + threads[number + 1:], shared

    def step(self, state, number, is_handler, operation):
        if isinstance(operation, Broken):
            raise Violation(operation.promise)
        name = f"thread {number}{' (handler)' if is_handler else ''}"
        kind = type(operation)
        if kind is Fence:
            return [(f"{name}: fence {operation.order}",
                     self.fence(state, number, is_handler, operation.order))]
        if kind is Stop:
            return [(f"{name}: stops all", self.stop(state, number, is_handler))]
        at = self.program.number[operation.at]
        if kind is Store:
            return [(f"{name}: {operation.at} = {operation.value}, {operation.order}", successor)
                    for successor in self.store(state, number, is_handler, at, operation)]
        return [(f"{name}: {operation.at} is {value}, {operation.order}", successor)
                for value, successor in self.read(state, number, is_handler, at, operation)]

    def fence(self, state, number, is_handler, order):
        memory, threads, shared = state
        thread = threads[number]
        current, released = thread.current, thread.released
        if acquires(order):
            current = join(current, thread.acquired)
        if order == SEQ_CST:
            current = shared = join(current, shared)
        if releases(order):
            released = current
        return self.went_on((memory, threads, shared), number, is_handler, None, current=current,
                            acquired=join(thread.acquired, current), released=released)

    # A debugger's stop is a barrier on both sides, for it and for all that it stops.
    def stop(self, state, number, is_handler):
        memory, threads, shared = state
        last = tuple(len(location) - 1 for location in memory)
        values = tuple((name, memory[at][-1].value) for at, name in enumerate(self.program.names))
        threads = tuple(thread._replace(current=last, acquired=last, released=last)
                        for thread in threads)
        return self.went_on((memory, threads, join(shared, last)), number, is_handler, values)

    def store(self, state, number, is_handler, at, operation):
        for place in range(state[1][number].current[at] + 1, len(state[0][at]) + 1):
            if state[0][at][place - 1].is_followed:
                continue
            yield self.put(state, number, is_handler, at, place, operation.value, operation.order,
                           None, None, False)

    # What is read is `base`, or None: no read-modify-write.
    def put(self, state, number, is_handler, at, place, value, order, base, result, is_change):
        memory, threads, shared = make_room(*state, at, place)
        thread = threads[number]
        current, acquired = thread.current, thread.acquired
        if is_change:
            acquired = join(acquired, base.view)
            if acquires(order):
                current = join(current, base.view)
        current, acquired = raised(current, at, place), raised(acquired, at, place)
        view = raised(current if releases(order) else thread.released, at, place)
        if is_change:
            view = join(view, base.view)
        location = memory[at]
        before = location[:place]
        if is_change:
            before = before[:-1] + (before[-1]._replace(is_followed=True),)
        location = before + (Message(value, view, False),) + location[place:]
        memory = memory[:at] + (location,) + memory[at + 1:]
        return self.went_on((memory, threads, shared), number, is_handler, result, current=current,
                            acquired=acquired)

    def read(self, state, number, is_handler, at, operation):
        memory, threads, _ = state
        thread = threads[number]
        for place in range(thread.current[at], len(memory[at])):
            message = memory[at][place]
            order = operation.order
            if isinstance(operation, Wait) and not operation.until(message.value):
                continue
            if isinstance(operation, Change):
                value = operation.change(message.value)
                if value is not None:
                    if not message.is_followed:
                        base = memory[at][place]
                        yield message.value, self.put(state, number, is_handler, at, place + 1,
                                                      value, order, base, message.value, True)
                    continue
                order = operation.failed_order
            acquired = raised(join(thread.acquired, message.view), at, place)
            current = raised(join(thread.current, message.view) if acquires(order)
                             else thread.current, at, place)
            yield message.value, self.went_on(state, number, is_handler, message.value,
                                              current=current, acquired=acquired)
