# SPDX-License-Identifier: MIT
"""Prints how long a time slice the process has asked for (sched_getattr)."""
import ctypes
import sys

attributes = (ctypes.c_uint64 * 8)()
ctypes.CDLL(None).syscall(315, int(sys.argv[1]), attributes, 56, 0)
print(list(attributes))
