/* SPDX-License-Identifier: MIT */
/*
 * gate_layout.h - the numbers of hi_wire.h and arch.h that gate.S needs; arch.c compares them with
 * the structures.
 */
#ifndef PAYLOAD_GATE_LAYOUT_H
#define PAYLOAD_GATE_LAYOUT_H

#define GATE_BYTES 65536
#define GATE_STRIDE 192
#define GATE_EXIT_BYTES 16
/* in halves, as an instruction takes them */
#define GATE_HASH_LOW 0x8647
#define GATE_HASH_HIGH 0x61c8
#define THREAD_HASH_LOW 0xde3d
#define THREAD_HASH_HIGH 0x233b
#define THREAD_HASH_SHIFT 30

#define WORDS_ORIGINAL 0
#define WORDS_HOOK 8
#define WORDS_THREAD_SLOTS 16
#define WORDS_OCCUPANCY 24
#define WORDS_STATE 32
#define WORDS_OCCUPANCY_MASK 48
#define WORDS_RESTORE_AT 64
#define WORDS_RESTORE_VALUE 72
#define WORDS_RETURN_REGISTER 84
#define WORDS_RETURN_GADGET 152
#define RETURN_SIGNED_BIT 8

#define STATE_ARMED 65536 /* a multiple of 4096, as an instruction takes it */

#define SLOT_BITS 14
#define SLOT_BYTES_LOG2 6
#define SLOT_FAST_OWNER 0
#define SLOT_COUNTDOWN 8

#define CALL_ARGUMENT2 16
#define CALL_ARGUMENT4 32
#define CALL_ARGUMENT6 48
#define CALL_RESULT_AT 64
#define CALL_GUARD 72
#define CALL_WORDS 80
#define CALL_BP 96
#define CALL_KEPT 112
#define CALL_BYTES 192

#define STACK_ARGUMENTS 32 /* an even number: the stack stays aligned */

#endif
