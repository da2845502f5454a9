/* SPDX-License-Identifier: MIT */
/*
 * html_page.S - the sources in analyzer/html/ as bytes in this program's read-only data, so that one file is all a user copies. See html_page.h.
 */
	.section .rodata

	.macro embed name
	.globl hi_html_\name, hi_html_\name\()_end
	.type hi_html_\name, @object
hi_html_\name:
	.endm

	.macro embedded name
	.size hi_html_\name, . - hi_html_\name
hi_html_\name\()_end:
	.byte 0
	.endm

	embed page
	.incbin "analyzer/html/page.html"
	embedded page

	embed style
	.incbin "analyzer/html/page.css"
	embedded style

	/* One script of several files: what comes first is used by what follows. */
	embed script
	.incbin "analyzer/html/model.js"
	.incbin "analyzer/html/colors.js"
	.incbin "analyzer/html/graph.js"
	.incbin "analyzer/html/table.js"
	.incbin "analyzer/html/page.js"
	embedded script

	embed svg_style
	.incbin "analyzer/html/flame_svg.css"
	embedded svg_style

	embed svg_script
	.incbin "analyzer/html/flame_svg.js"
	embedded svg_script

	.section .note.GNU-stack, "", @progbits
