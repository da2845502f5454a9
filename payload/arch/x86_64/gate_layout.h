/* SPDX-License-Identifier: MIT */
/*
 * gate_layout.h - the numbers of hi_wire.h and arch.h that gate.S needs; arch.c compares them with
 * the structures.
 */
#ifndef PAYLOAD_GATE_LAYOUT_H
#define PAYLOAD_GATE_LAYOUT_H

#define GATE_BYTES 24576
#define GATE_STRIDE 192
#define GATE_EXIT_BYTES 16
#define GATE_HASH 0x61c88647 /* without suffix, for the assembler; positive as a signed factor */
#define THREAD_HASH 0x233bde3d
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

#define STATE_ARMED 4096

#define SLOT_BITS 14
#define SLOT_BYTES_LOG2 6
#define SLOT_FAST_OWNER 0
#define SLOT_COUNTDOWN 8
/*
 * bit that is set in the addresses of counts that several threads change, and not in that of
 * in_flight
 */
#define SLOT_SHARED_COUNT 4

#define CALL_ARGUMENT2 16
#define CALL_ARGUMENT4 32
#define CALL_ARGUMENT5 40
#define CALL_GUARD 48
#define CALL_WORDS 56
#define CALL_KEPT 72
#define CALL_BP 112
#define CALL_BYTES 128

#define STACK_ARGUMENTS 32 /* an even number: the stack stays aligned */

#endif
