/* SPDX-License-Identifier: MIT */
/*
 * live_sources.S - the sources in cmd/serve/page/ as bytes in the program's read-only data, each
 * ended by a NUL: const char hi_live_page[], hi_live_style[], hi_live_script[]. See live_page.h.
 */
	.section .rodata

	.macro embed name, file
	.globl hi_live_\name
	.type hi_live_\name, @object
hi_live_\name:
	.incbin "\file"
	.byte 0
	.size hi_live_\name, . - hi_live_\name
	.endm

	embed page, "cmd/serve/page/live.html"
	embed style, "cmd/serve/page/live.css"
	embed script, "cmd/serve/page/live.js"

	.section .note.GNU-stack, "", @progbits
