/* SPDX-License-Identifier: MIT */
/*
 * payload_blob.S - the payload's shared object as bytes in this program's read-only data, so that
 * one file is all a user copies.
 *
 * Interface: const uint8_t hi_payload_so[], hi_payload_so_end[]. PAYLOAD_SO is the path of the
 * built object.
 */
	.section .rodata
	.balign 4096
	.globl hi_payload_so
	.type hi_payload_so, @object
hi_payload_so:
	.incbin PAYLOAD_SO
	.size hi_payload_so, . - hi_payload_so
	.globl hi_payload_so_end
	.type hi_payload_so_end, @object
hi_payload_so_end:
	.byte 0

	.section .note.GNU-stack, "", @progbits
