/* SPDX-License-Identifier: MIT */
/* hold_register.h - x86-64: a loop without end that has a value in a general register. */
#ifndef HI_HOLD_REGISTER_H
#define HI_HOLD_REGISTER_H

#define HOLD_FOREVER(value) __asm__ volatile("1: pause\n\tjmp 1b" : : "a"(value))

#endif
