/* SPDX-License-Identifier: MIT */
/* Threads that check what they hold, and that all of them go on: as in the case of faults. */
#include "../fault/target.c"
