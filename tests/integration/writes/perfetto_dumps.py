# SPDX-License-Identifier: MIT
"""perfetto_dumps.py TRACE: what Perfetto's trace processor makes of the heap dumps in a trace, one
line a dump: time, bytes allocated, bytes in use, objects allocated, objects in use, all since the
start.

The trace processor itself cannot be had from a package. This applies its rules (ProfileModule,
ProfilePacketSequenceState, StackProfileSequenceState): all numbers are defined before or with their
use, indices of packets have no gap, and of each stack and process neither what was allocated nor
what was freed becomes less. What breaks a rule, which the trace processor drops, ends this.
"""
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """A dictionary of lists, by field number."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        assert key & 7 in (0, 2), f"wire type {key & 7}"
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
            assert at <= len(data), "cut off"
        found.setdefault(key >> 3, []).append(value)
    return found


def one(message, number, default=0):
    return message.get(number, [default])[0]


class Names:
    """The interned data of the sequence."""

    def __init__(self):
        self.tables = {kind: {} for kind in (5, 6, 7, 17, 19)}

    def add(self, message):
        for kind, table in self.tables.items():
            for entry in map(fields, message.get(kind, [])):
                iid = one(entry, 1)
                assert iid and iid not in table, f"number {iid} of {kind} is 0 or there already"
                table[iid] = entry

    def stack(self, iid):
        frames = []
        for number in self.tables[7][iid][2]:
            frame = self.tables[6][number]
            mapping = self.tables[19][one(frame, 3)]
            path = b"".join(b"/" + one(self.tables[17][part], 2) for part in mapping[7])
            frames.append((one(self.tables[5][one(frame, 2)], 2).decode(), path.decode()))
        assert frames, f"stack {iid} is empty"
        return tuple(frames)


def main():
    names, totals, before, index = Names(), {}, 0, 0
    clocks, named = None, set()
    with open(sys.argv[1], "rb") as file:
        trace = fields(file.read())
    for packet in map(fields, trace[1]):
        assert one(packet, 10), "no sequence"
        if 6 in packet:
            clocks = {one(clock, 1): one(clock, 2)
                      for clock in map(fields, fields(one(packet, 6))[1])}
        for process in map(fields, fields(one(packet, 2, b"")).get(1, [])):
            assert process[3][0], "no command"
            named.add(one(process, 1))
        if 37 not in packet:
            continue
        assert clocks and {4, 6} <= set(clocks), "the clock of dumps is not known"
        assert one(packet, 13) & 1 == (index == 0), "state is cleared once, at first"
        names.add(fields(one(packet, 12, b"")))
        profile = fields(one(packet, 37))
        assert one(profile, 7) == index, "a gap in the packets"
        index += 1
        for dump in map(fields, profile[5]):
            pid, time = one(dump, 1), one(dump, 9)
            assert pid in named and one(dump, 11) == b"libc.malloc"
            assert time == one(packet, 8) and time >= max(before, clocks[6]), "time goes back"
            before = time
            for sample in map(fields, dump.get(2, [])):
                key = pid, names.stack(one(sample, 1))
                now = [one(sample, number) for number in (2, 3, 5, 6)]
                last = totals.get(key, [0] * 4)
                assert all(a <= b for a, b in zip(last, now)), "less than before"
                totals[key] = now
            bytes_in, bytes_out, objects_in, objects_out = map(sum, zip(*totals.values()))
            print(time, bytes_in, bytes_in - bytes_out, objects_in, objects_in - objects_out)
    functions = {frame[0] for _, stack in totals for frame in stack}
    assert "main" in functions, functions


main()
