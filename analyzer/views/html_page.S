/* SPDX-License-Identifier: MIT */
/*
 * html_page.S - the sources in analyzer/views/html/ as bytes in the program's read-only data, so
 * that the program is a single file. See html_page.h.
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
	.incbin "analyzer/views/html/page.html"
	embedded page

	embed style
	.incbin "analyzer/views/html/page.css"
	.incbin "analyzer/views/html/tabs.css"
	.incbin "analyzer/views/html/growth.css"
	embedded style

	/* One script of several files. Later files use earlier ones; html/page.js is the last. */
	embed script
	.incbin "analyzer/views/html/format.js"
	.incbin "analyzer/views/html/model.js"
	.incbin "analyzer/views/html/profile.js"
	.incbin "analyzer/views/html/colors.js"
	.incbin "analyzer/views/html/graph.js"
	.incbin "analyzer/views/html/table.js"
	.incbin "analyzer/views/html/state.js"
	.incbin "analyzer/views/html/flame.js"
	.incbin "analyzer/views/html/callgraph.js"
	.incbin "analyzer/views/html/growth_chart.js"
	.incbin "analyzer/views/html/growth.js"
	.incbin "analyzer/views/html/ages.js"
	.incbin "analyzer/views/html/answer.js"
	.incbin "analyzer/views/html/source.js"
	.incbin "analyzer/views/html/modules.js"
	.incbin "analyzer/views/html/about.js"
	.incbin "analyzer/views/html/filters.js"
	.incbin "analyzer/views/html/keys.js"
	.incbin "analyzer/views/html/save.js"
	.incbin "analyzer/views/html/page.js"
	embedded script

	/* What another page needs of it to draw a chart. */
	embed chart_script
	.incbin "analyzer/views/html/format.js"
	.incbin "analyzer/views/html/growth_chart.js"
	embedded chart_script

	embed svg_style
	.incbin "analyzer/views/html/flame_svg.css"
	embedded svg_style

	embed svg_script
	.incbin "analyzer/views/html/flame_svg.js"
	embedded svg_script

	embed graph_script
	.incbin "analyzer/views/html/graph_svg.js"
	embedded graph_script

	embed weblist
	.incbin "analyzer/views/html/weblist.html"
	embedded weblist

	.section .note.GNU-stack, "", @progbits
