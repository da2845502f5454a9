/* SPDX-License-Identifier: MIT */
/* hold_register.h - aarch64: a loop without end that has a value in a general register. */
#ifndef HI_HOLD_REGISTER_H
#define HI_HOLD_REGISTER_H

#define HOLD_FOREVER(value) __asm__ volatile("1: yield\n\tb 1b" : : "r"(value))

#endif
