# SPDX-License-Identifier: MIT
"""protocol.py - what the file of a protocol says of it, in PROTOCOL."""
import collections

# An order, and what is put in its place to see it fail. The model is void if the C file does not
# have that text any more. unneeded: why no model goes wrong without it; None: one does
Barrier = collections.namedtuple("Barrier", "order weaker file text unneeded", defaults=(None,))

# promise: what no execution breaks. build(orders): the Program, where orders[name] is the order of
# the barrier of that name
Model = collections.namedtuple("Model", "promise build")

# barriers: name -> Barrier
Protocol = collections.namedtuple("Protocol", "barriers models")
