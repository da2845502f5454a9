/* SPDX-License-Identifier: MIT */
/*
 * probes_blob.S - the object with the probes as bytes in this program's read-only data.
 *
 * Interface: const uint8_t hi_probes_so[], hi_probes_so_end[]. PROBES_SO is the path of the built
 * object.
 */
	.section .rodata
	.balign 16
	.globl hi_probes_so
	.type hi_probes_so, @object
hi_probes_so:
	.incbin PROBES_SO
	.size hi_probes_so, . - hi_probes_so
	.globl hi_probes_so_end
	.type hi_probes_so_end, @object
hi_probes_so_end:
	.byte 0

	.section .note.GNU-stack, "", @progbits
