/* SPDX-License-Identifier: MIT */
/*
 * live_sources.S - the sources in cmd/serve/page/ as bytes in the program's read-only data, each
 * ended by a NUL: const char hi_live_page[], hi_live_style[], hi_live_script[] of live_page.h,
 * hi_live_inspect_page[] and hi_live_inspect_script[] of inspect_page.h, and hi_live_views[], a
 * script that comes before either script. Of several files, later ones use earlier ones.
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

	embed inspect_page
	.incbin "cmd/serve/page/inspect.html"
	embedded inspect_page

	embed views
	.incbin "cmd/serve/page/theme.js"
	.incbin "cmd/serve/page/inspect_table.js"
	.incbin "cmd/serve/page/inspect_views.js"
	embedded views

	embed inspect_script
	.incbin "cmd/serve/page/inspect_alone.js"
	embedded inspect_script

	embed script
	.incbin "cmd/serve/page/inspect.js"
	.incbin "cmd/serve/page/live.js"
	embedded script

	.section .note.GNU-stack, "", @progbits
