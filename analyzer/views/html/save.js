// SPDX-License-Identifier: MIT
// save.js - what is on the screen as text for the clipboard, or as a picture in a file. Nothing leaves the browser.
"use strict";

function say(words) {
	byId("said").textContent = words;
}

// ---- text ----

// The stacks that are shown, as --collapsed writes them.
function collapsedText() {
	const { tree } = profile, lines = [], named = (node) => profile.nameOf(tree.functionOf[node]).replace(/;/g, ":");
	for (let node = 0; node < tree.count; node++) {
		const { now, old } = profile.self[state.type](node), names = [];
		if (!now && !old)
			continue;
		for (let at = node; at > 0; at = tree.parent[at])
			names.unshift(named(at));
		lines.push((names.join(";") || "[unknown]") + " " + (profile.isComparison ? Math.round(old) + " " : "") + Math.round(now));
	}
	return lines.join("\n") + "\n";
}

function tableText(tables) {
	const rowText = (row) => Array.from(row.cells, (cell) => cell.innerText.replace(/\s+/g, " ").trim()).join("\t");
	return tables.map((list) => Array.from(list.rows, rowText).join("\n")).join("\n\n") + "\n";
}

// The tables of the tab that is open; of one without tables the functions.
function shownText() {
	const panel = document.querySelector("[role=tabpanel]:not([hidden])");
	const tables = Array.from(panel.querySelectorAll("table")).filter((list) => list.offsetParent && list.rows.length > 1);
	if (tables.length)
		return panel.innerText.split("\n")[0] + "\n" + tableText(tables);
	const type = kind(), rows = profile.functionRows(state.type).sort((a, b) => b.self.now - a.self.now);
	const lines = rows.map((row) => [formatValue(row.self.now, type), formatValue(row.total.now, type), profile.nameOf(row.functionIndex)].join("\t"));
	return [typeName(type), "Self\tTotal\tFunction", ...lines].join("\n") + "\n";
}

// Where the clipboard is refused, as in some browsers for files, the old way.
async function copy(words, what) {
	try {
		await navigator.clipboard.writeText(words);
	} catch {
		const area = document.body.appendChild(make("textarea", { value: words, className: "hidden-text" }));
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	say(what + " copied.");
}

// ---- pictures ----

function textOf(x, y, words, color, size) {
	return makeSvg("text", { x: x.toFixed(1), y: y.toFixed(1), fill: color, "font-size": size || 12 }, words);
}

// The graph is laid out only where it can be seen: for that long its panel is shown, also from another tab.
function graphPicture() {
	const panel = byId("panel-graph"), isHidden = panel.hidden;
	panel.hidden = false;
	graph.arrange();
	const svg = drawGraph();
	panel.hidden = isHidden;
	return svg;
}

// The whole graph as it is zoomed, also what is scrolled out of sight.
function drawGraph() {
	const head = 30, svg = makeSvg("svg", { width: graph.width, height: graph.height + head + 6 }), style = getComputedStyle(document.documentElement);
	svg.append(makeSvg("rect", { width: "100%", height: "100%", fill: style.getPropertyValue("--card") }),
		textOf(5, 19, document.title + " \u00b7 " + typeName(kind()) + ", " + byId("sum").textContent, style.getPropertyValue("--ink"), 13));
	const drawing = makeSvg("g", { transform: `translate(0 ${head})` });
	for (const band of graph.bands)
		graph.eachBox(band, (node, box) => {
			const { tree } = band.layout, named = profile.nameOf(tree.functionOf[node]), sign = graph.signOf(tree, node);
			const width = Math.max(box.width - (box.width > 2 ? 1 : 0), 0.5), fill = colors.ofNode(tree, node, state.type);
			const words = graph.fitting((sign ? sign + " " : "") + named, width - 10, LETTERS_MIN).text, group = makeSvg("g", {});
			group.append(makeSvg("title", {}, named + "\n" + factsOf(tree, node)[0][1]),
				makeSvg("rect", { x: box.left.toFixed(2), y: box.top, width: width.toFixed(2), height: ROW_HEIGHT - 1.5, rx: 2, fill }));
			if (width >= LABEL_FROM && words)
				group.append(textOf(box.left + 5, box.top + 14, words, colors.text));
			drawing.append(group);
		});
	svg.append(drawing);
	return svg;
}

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "text-anchor"];

// A copy of a drawing of the page that needs no style sheet.
function standalone(drawn) {
	const svg = drawn.cloneNode(true), { width, height } = drawn.getBoundingClientRect(), from = drawn.querySelectorAll("*"), to = svg.querySelectorAll("*");
	from.forEach((element, i) => {
		const style = getComputedStyle(element);
		for (const property of PAINT)
			to[i].setAttribute(property, style.getPropertyValue(property));
		for (const attribute of ["tabindex", "role", "aria-label", "style"])
			to[i].removeAttribute(attribute);
	});
	if (drawn === byId("calls") && callsView.box) {
		const { left, top, width: boxWidth, height: boxHeight } = callsView.box;
		svg.setAttribute("viewBox", `${left} ${top} ${boxWidth} ${boxHeight}`);
		svg.setAttribute("width", Math.ceil(boxWidth));
		svg.setAttribute("height", Math.ceil(boxHeight));
	} else {
		svg.setAttribute("width", width);
		svg.setAttribute("height", height);
	}
	svg.removeAttribute("id");
	return svg;
}

// The drawing of the tab that is open; of one without a drawing the flame graph.
function picture() {
	const drawn = { calls: ["calls"], growth: ["stacks-chart", "ages-chart", "memory-chart"] }[state.tab] || [];
	const shown = drawn.map(byId).find((svg) => svg.getBoundingClientRect().width > 0 && svg.childNodes.length);
	const svg = shown ? standalone(shown) : graphPicture();
	svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	svg.setAttribute("font-family", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace");
	return { words: new XMLSerializer().serializeToString(svg), width: Number(svg.getAttribute("width")), height: Number(svg.getAttribute("height")) };
}

function download(blob, ending) {
	const name = document.title.split(" \u2013 ")[0].replace(/[^\w.-]+/g, "_") + "." + state.tab + ending;
	const address = URL.createObjectURL(blob), link = make("a", { href: address, download: name });
	link.click();
	setTimeout(() => URL.revokeObjectURL(address), 10000);
	say(name + " saved.");
}

function saveSvg() {
	download(new Blob([picture().words], { type: "image/svg+xml" }), ".svg");
}

// Twice as fine as the screen, as far as browsers have canvases of that size.
async function pngBlob() {
	const { words, width, height } = picture(), image = new Image(), scale = Math.min(2, 16000 / Math.max(width, height));
	const canvas = make("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
	image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(words);
	await image.decode();
	canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
	return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

function listenToSave() {
	const actions = {
		"copy-text": () => copy(shownText(), "The table"),
		"copy-collapsed": () => copy(collapsedText(), "Collapsed stacks"),
		"copy-link": () => copy(location.href, "The link"),
		"save-svg": saveSvg,
		"save-png": async () => download(await pngBlob(), ".png"),
	};
	for (const [id, act] of Object.entries(actions))
		byId(id).addEventListener("click", () => {
			act();
			byId("save").open = false;
			byId("save").querySelector("summary").focus();
		});
	document.addEventListener("click", (event) => {
		if (!byId("save").contains(event.target))
			byId("save").open = false;
	});
}
