/* SPDX-License-Identifier: MIT */
/*
 * live_sources.S - the sources in cmd/serve/page/ as bytes in the program's read-only data, each
 * ended by a NUL: const char hi_live_page[], hi_live_style[], hi_live_script[]. See live_page.h.
 * The script is of several files: later ones use earlier ones.
 */
	.section .rodata

	.macro embed name
	.globl hi_live_\name
	.type hi_live_\name, @object
hi_live_\name:
	.endm

	.macro embedded name
	.byte 0
	.size hi_live_\name, . - hi_live_\name
	.endm

	embed page
	.incbin "cmd/serve/page/live.html"
	embedded page

	embed style
	.incbin "cmd/serve/page/live.css"
	embedded style

	embed script
	.incbin "cmd/serve/page/inspect_table.js"
	.incbin "cmd/serve/page/inspect_views.js"
	.incbin "cmd/serve/page/inspect.js"
	.incbin "cmd/serve/page/live.js"
	embedded script

	.section .note.GNU-stack, "", @progbits
