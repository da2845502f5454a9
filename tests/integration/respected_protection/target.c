/* SPDX-License-Identifier: MIT */
/*
 * target.c - that of the case `escaped`, linked with full RELRO: its slots and some of its copies
 * lie in read-only pages.
 */
#include "../escaped/target.c"
